package api

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
)

// net/http sends an answer through a buffer of 4 KiB: the header and the start of the body fill it and leave by one system
// call, the rest of the body by another. A tile that lies ready in memory can leave by one, which makes a fifth more of
// them in the same time. Only who writes an answer knows that there is more to come; so it is they who say so, and a
// connection that was not told holds nothing back.

// Joined returns a listener whose connections can send the parts of an answer together. Its http.Server needs
// [ConnContext].
func Joined(l net.Listener) net.Listener { return joinedListener{l} }

// ConnContext is for http.Server: by it, those who answer know the connection.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	if joined, ok := c.(*joinedConn); ok {
		return context.WithValue(ctx, joinedKey{}, joined)
	}
	return ctx // TLS, whose records are parts of its own
}

// joinedKey is the context key of a *joinedConn.
type joinedKey struct{}

// writeTogether writes the answer to r by write, so that its first parts leave together where the connection can do that.
// A connection of HTTP/2, which may come without TLS, carries many answers at once and is written by none of those who
// answer.
func writeTogether(r *http.Request, write func() error) error {
	c, ok := r.Context().Value(joinedKey{}).(*joinedConn)
	if !ok || r.ProtoMajor != 1 {
		return write()
	}
	c.joining = true
	err := write()
	if flushed := c.release(); err == nil {
		err = flushed
	}
	return err
}

// joinWrites has the parts of each answer leave together where the connection can do that. No handler streams: what it
// flushes would wait for its next write.
func joinWrites(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = writeTogether(r, func() error {
			next.ServeHTTP(w, r)
			return nil
		})
	})
}

type joinedListener struct{ net.Listener }

// Accept returns the next connection.
func (l joinedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok {
		return &joinedConn{TCPConn: tcp}, err
	}
	return c, err
}

// maxHeld is what net/http's buffer holds. Were that one larger, its parts would leave one by one.
const maxHeld = 4 << 10

// A heldPart is room for a part that waits for the next. A connection has one only while an answer is written, since most
// connections are idle.
type heldPart struct {
	bytes   [maxHeld]byte
	n       int
	both    [2][]byte
	buffers net.Buffers // of both: here, since the system call would have it allocated
}

var heldParts = sync.Pool{New: func() any { return new(heldPart) }}

// A joinedConn is a TCP connection that can send two parts by one system call. Everything but reading belongs to the one
// goroutine that answers a request, as net/http has it for HTTP/1.
type joinedConn struct {
	*net.TCPConn
	joining bool      // more is to come
	held    *heldPart // nil while nothing is held
}

// Write sends what is held and p, or holds p if it may.
func (c *joinedConn) Write(p []byte) (int, error) {
	if c.held == nil {
		if !c.joining || len(p) > maxHeld {
			return c.TCPConn.Write(p)
		}
		c.held = heldParts.Get().(*heldPart)
		c.held.n = copy(c.held.bytes[:], p)
		return len(p), nil
	}
	held := c.held
	c.held = nil
	held.both = [2][]byte{held.bytes[:held.n], p}
	held.buffers = held.both[:]
	sent, err := held.buffers.WriteTo(c.TCPConn)
	ofP := max(int(sent)-held.n, 0)
	held.both = [2][]byte{} // p is not ours to keep
	heldParts.Put(held)
	return ofP, err
}

// release sends what is held, and lets nothing be held any more.
func (c *joinedConn) release() error {
	c.joining = false
	if c.held == nil {
		return nil
	}
	_, err := c.Write(nil)
	return err
}

// ReadFrom serves sendfile, which must not overtake what is held.
func (c *joinedConn) ReadFrom(r io.Reader) (int64, error) {
	if err := c.release(); err != nil {
		return 0, err
	}
	return c.TCPConn.ReadFrom(r)
}
