package joinwrites

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// newServer starts a server whose connections join writes.
func newServer(h http.Handler) *httptest.Server {
	server := httptest.NewUnstartedServer(h)
	server.Listener = Listener(server.Listener)
	server.Config.ConnContext = ConnContext
	server.Start()
	return server
}

// After a panic nothing is held: an outer handler that recovers can still answer.
func TestPanicHoldsNothing(t *testing.T) {
	server := newServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if recover() != nil {
				http.Error(w, "sorry", http.StatusInternalServerError)
			}
		}()
		Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("mistake") })).ServeHTTP(w, r)
	}))
	defer server.Close()
	resp, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusInternalServerError || string(body) != "sorry\n" {
		t.Errorf("answer %s %q, %v, want 500 sorry", resp.Status, body, err)
	}
}

// Over real connections: answers of all lengths around the size of net/http's buffer, one after the other on one connection,
// and one whose handler fails in the middle.
func TestAnswersOverRealConnections(t *testing.T) {
	before := goleak.IgnoreCurrent()
	content := bytes.Repeat([]byte("0123456789abcdef"), 4<<10)
	server := newServer(Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/half" {
			w.Header().Set("Content-Length", "100000")
			_, _ = w.Write(content[:5000])
			panic(http.ErrAbortHandler)
		}
		n, _ := strconv.Atoi(r.URL.Path[1:])
		w.Header().Set("Content-Type", "image/png")
		w.Header().Set("Content-Length", strconv.Itoa(n))
		w.WriteHeader(http.StatusOK)
		if _, err := w.Write(content[:n]); err != nil {
			t.Error(err)
		}
	})))
	client := server.Client()
	lengths := []int{0, 1, 100, 2047, 2048, 2049, len(content)}
	for n := maxHeld - 400; n <= maxHeld+10; n++ { // the header is some 130 bytes long
		lengths = append(lengths, n)
	}
	for _, n := range lengths {
		resp, err := client.Get(server.URL + "/" + strconv.Itoa(n))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !bytes.Equal(got, content[:n]) || resp.ContentLength != int64(n) {
			t.Fatalf("answer of %d bytes: %d arrived, %v, Content-Length %d", n, len(got), err, resp.ContentLength)
		}
	}
	resp, err := client.Get(server.URL + "/half")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(resp.Body); !errors.Is(err, io.ErrUnexpectedEOF) || !strings.HasPrefix(string(got), "0123") {
		t.Errorf("half an answer: %d bytes and %v, want the start and io.ErrUnexpectedEOF", len(got), err)
	}
	resp.Body.Close()
	client.CloseIdleConnections()
	server.Close()
	goleak.VerifyNone(t, before)
}

// accepted returns the two ends of a connection, the one that l accepts first.
func accepted(t *testing.T, l net.Listener) (ours, theirs net.Conn) {
	t.Helper()
	theirs, err := net.Dial(l.Addr().Network(), l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if ours, err = Listener(l).Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close(); theirs.Close(); l.Close() })
	return ours, theirs
}

// Connections other than TCP send each write at once.
func TestOtherConnectionsAreNotChanged(t *testing.T) {
	l, err := net.Listen("unix", t.TempDir()+"/s")
	if err != nil {
		t.Fatal(err)
	}
	if c, _ := accepted(t, l); c.(*net.UnixConn) == nil || ConnContext(t.Context(), c) != t.Context() {
		t.Errorf("a Unix connection became a %T", c)
	}
}

// A connection holds the first of two writes, and returns their errors. One that another package has wrapped is written as its TCP
// connection, and read and closed as what it is.
func TestConnections(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c, theirs := accepted(t, wrappingListener{inner})
	ours, r := c.(*conn), httptest.NewRequest(http.MethodGet, "/", nil)
	r = r.WithContext(ConnContext(t.Context(), c))
	handle := func(f func()) {
		Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { f() })).ServeHTTP(httptest.NewRecorder(), r)
	}
	handle(func() {
		if _, err := c.Write([]byte("header")); err != nil || ours.held == nil {
			t.Errorf("the first write is held: %t, %v", ours.held != nil, err)
		}
		if _, err := c.Write([]byte(" and body")); err != nil || ours.held != nil {
			t.Errorf("the second write is held: %t, %v", ours.held != nil, err)
		}
	})
	handle(func() {
		Stop(r)
		if _, err := c.Write([]byte(", at once")); err != nil || ours.held != nil {
			t.Errorf("after Stop a write is held: %t, %v", ours.held != nil, err)
		}
	})
	if _, err := theirs.Write([]byte("request")); err != nil {
		t.Fatal(err)
	}
	wrapper := ours.NetConn().(*wrapper)
	if n, err := c.Read(make([]byte, 7)); n != 7 || err != nil || wrapper.reads != 1 {
		t.Errorf("reading: %d, %v, the wrapper was read %d times", n, err, wrapper.reads)
	}
	if err := c.Close(); err != nil || wrapper.closes != 1 {
		t.Errorf("closing: %v, the wrapper was closed %d times", err, wrapper.closes)
	}
	if got, err := io.ReadAll(theirs); err != nil || string(got) != "header and body, at once" {
		t.Errorf("arrived %q, %v", got, err)
	}
	handle(func() {
		if _, err := c.Write([]byte("held")); err != nil {
			t.Errorf("a write that is held: %v", err)
		}
		if _, err := c.Write([]byte("sent")); !errors.Is(err, net.ErrClosed) {
			t.Errorf("writing to a closed connection: %v, want net.ErrClosed", err)
		}
	})
}

type wrappingListener struct{ net.Listener }

func (l wrappingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return &wrapper{Conn: c}, err
}

type wrapper struct {
	net.Conn
	reads, closes int
}

func (w *wrapper) TCP() *net.TCPConn { return w.Conn.(*net.TCPConn) }

func (w *wrapper) Read(b []byte) (int, error) {
	w.reads++
	return w.Conn.Read(b)
}

func (w *wrapper) Close() error {
	w.closes++
	return w.Conn.Close()
}
