package joinwrites

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

// A tester has the methods that testing.TB and rapid.T share.
type tester interface {
	Helper()
	Fatal(...any)
	Cleanup(func())
}

// connPair returns the two ends of a connection, the server's first.
func connPair(tb tester) (*conn, net.Conn) {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	theirs, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	ours, err := Listener(l).Accept()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { ours.Close(); theirs.Close() })
	return ours.(*conn), theirs
}

// All writes arrive complete and in order, within Handler and outside of it, and outside of it nothing is held.
func TestWritesKeepTheirOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ours, theirs := connPair(t)
		ctx := ConnContext(t.Context(), ours)
		var want bytes.Buffer
		next := byte(0)
		write := func(n int) error {
			next++
			part := bytes.Repeat([]byte{next}, n)
			want.Write(part)
			var written int64
			var err error
			if next%5 == 0 { // as sendfile would
				written, err = ours.ReadFrom(bytes.NewReader(part))
			} else {
				var w int
				w, err = ours.Write(part)
				written = int64(w)
			}
			clear(part) // the caller may use the bytes again
			if written != int64(n) {
				t.Errorf("%d of %d bytes written", written, n)
			}
			return err
		}
		sizes := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 7, maxHeld - 1, maxHeld, maxHeld + 1, 9000}), 0, 4)
		for range rapid.IntRange(1, 4).Draw(t, "answers") {
			for _, n := range sizes.Draw(t, "outside") {
				if err := write(n); err != nil {
					t.Fatal(err)
				}
				if ours.held != nil {
					t.Fatal("a write is held outside of Handler")
				}
			}
			within := sizes.Draw(t, "within")
			handle(ctx, func() {
				for _, n := range within {
					if err := write(n); err != nil {
						t.Fatal(err)
					}
				}
			})
			if ours.held != nil || ours.joining {
				t.Fatal("a write is still held after Handler")
			}
		}
		ours.Close()
		got, err := io.ReadAll(theirs)
		if err != nil || !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("%d bytes arrived, %v, want the %d that were written", len(got), err, want.Len())
		}
	})
}

func TestHandlerHoldsTheFirstWrite(t *testing.T) {
	ours, theirs := connPair(t)
	handle(ConnContext(t.Context(), ours), func() {
		if _, err := ours.Write([]byte("header")); err != nil {
			t.Error(err)
		}
		if ours.held == nil {
			t.Error("the first write was not held")
		}
		if _, err := ours.Write([]byte(" and body")); err != nil {
			t.Error(err)
		}
	})
	if ours.held != nil {
		t.Error("a write is still held")
	}
	ours.Close()
	if got, err := io.ReadAll(theirs); err != nil || string(got) != "header and body" {
		t.Errorf("arrived %q, %v", got, err)
	}
}

func TestWriteReturnsErrors(t *testing.T) {
	ours, _ := connPair(t)
	ours.TCPConn.Close()
	handle(ConnContext(t.Context(), ours), func() {
		if _, err := ours.Write([]byte("held")); err != nil {
			t.Errorf("a write that is held: %v", err)
		}
		if _, err := ours.Write([]byte("sent")); !errors.Is(err, net.ErrClosed) {
			t.Errorf("writing to a closed connection: %v, want net.ErrClosed", err)
		}
	})
}

// After a panic nothing is held: an outer handler that recovers can still answer.
func TestPanicHoldsNothing(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if recover() != nil {
				http.Error(w, "sorry", http.StatusInternalServerError)
			}
		}()
		Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("mistake") })).ServeHTTP(w, r)
	}))
	server.Listener = Listener(server.Listener)
	server.Config.ConnContext = ConnContext
	server.Start()
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
	server := httptest.NewUnstartedServer(Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	server.Listener = Listener(server.Listener)
	server.Config.ConnContext = ConnContext
	server.Start()
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

// handle runs f as an HTTP/1 handler on the connection of that context.
func handle(ctx context.Context, f func()) {
	h := Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { f() }))
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil).WithContext(ctx))
}

// Connections other than TCP send each write at once.
func TestOtherConnectionsAreNotChanged(t *testing.T) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	ctx := ConnContext(t.Context(), ours)
	done := make(chan error, 1)
	go handle(ctx, func() { // ends with the read below
		_, err := ours.Write([]byte("at once"))
		done <- err
	})
	got := make([]byte, 16)
	n, err := theirs.Read(got)
	if err != nil || string(got[:n]) != "at once" || <-done != nil {
		t.Errorf("arrived %q, %v", got[:n], err)
	}
	l, err := net.Listen("unix", t.TempDir()+"/s")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	c, err := Listener(l).Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, ok := c.(*net.UnixConn); !ok {
		t.Errorf("a Unix connection became a %T", c)
	}
}

// BenchmarkAnswers sends answers of the length of a tile over one connection, with and without joined writes.
func BenchmarkAnswers(b *testing.B) {
	tile := make([]byte, 12<<10)
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		w.Header().Set("Content-Length", strconv.Itoa(len(tile)))
		_, _ = w.Write(tile)
	})
	for _, joined := range []bool{false, true} {
		b.Run("joined="+strconv.FormatBool(joined), func(b *testing.B) {
			server := httptest.NewUnstartedServer(Handler(answer))
			if joined {
				server.Listener = Listener(server.Listener)
				server.Config.ConnContext = ConnContext
			}
			server.Start()
			defer server.Close()
			c, err := net.Dial("tcp", server.Listener.Addr().String())
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			in := bufio.NewReaderSize(c, 64<<10)
			for b.Loop() {
				if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: lakes\r\n\r\n"); err != nil {
					b.Fatal(err)
				}
				resp, err := http.ReadResponse(in, nil)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, resp.Body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A connection that another package has wrapped is written as its TCP connection, and read and closed as what it is.
func TestWrappedConnections(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close()
	theirs, err := net.Dial("tcp", inner.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	c, err := Listener(wrappingListener{inner}).Accept()
	if err != nil {
		t.Fatal(err)
	}
	ours, ok := c.(*conn)
	if !ok {
		t.Fatalf("a wrapped TCP connection became a %T", c)
	}
	wrapper := ours.NetConn().(*wrapper)
	handle(ConnContext(t.Context(), c), func() {
		if _, err := c.Write([]byte("header")); err != nil || ours.held == nil {
			t.Errorf("the first write is held: %t, %v", ours.held != nil, err)
		}
		if _, err := c.Write([]byte(" and body")); err != nil {
			t.Error(err)
		}
	})
	if _, err := theirs.Write([]byte("request")); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Read(make([]byte, 7)); n != 7 || err != nil || wrapper.reads != 1 {
		t.Errorf("reading: %d, %v, the wrapper was read %d times", n, err, wrapper.reads)
	}
	if err := c.Close(); err != nil || wrapper.closes != 1 {
		t.Errorf("closing: %v, the wrapper was closed %d times", err, wrapper.closes)
	}
	if got, err := io.ReadAll(theirs); err != nil || string(got) != "header and body" {
		t.Errorf("arrived %q, %v", got, err)
	}
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
