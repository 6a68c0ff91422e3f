package joinwrites

import (
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

// All writes arrive complete and in order, within Do and outside of it, and outside of Do nothing is held.
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
			for _, n := range sizes.Draw(t, "outside Do") {
				if err := write(n); err != nil {
					t.Fatal(err)
				}
				if ours.held != nil {
					t.Fatal("a write is held outside of Do")
				}
			}
			within := sizes.Draw(t, "within Do")
			if err := Do(requestOf(ctx), func() error {
				for _, n := range within {
					if err := write(n); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if ours.held != nil || ours.joining {
				t.Fatal("a write is still held after Do")
			}
		}
		ours.Close()
		got, err := io.ReadAll(theirs)
		if err != nil || !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("%d bytes arrived, %v, want the %d that were written", len(got), err, want.Len())
		}
	})
}

func TestDoHoldsTheFirstWrite(t *testing.T) {
	ours, theirs := connPair(t)
	err := Do(requestOf(ConnContext(t.Context(), ours)), func() error {
		if _, err := ours.Write([]byte("header")); err != nil {
			return err
		}
		if ours.held == nil {
			t.Error("the first write was not held")
		}
		_, err := ours.Write([]byte(" and body"))
		return err
	})
	if err != nil || ours.held != nil {
		t.Errorf("error %v, write held: %t, want neither", err, ours.held != nil)
	}
	ours.Close()
	if got, err := io.ReadAll(theirs); err != nil || string(got) != "header and body" {
		t.Errorf("arrived %q, %v", got, err)
	}
}

// A closed connection is an error, whether a write is held until the next one or until the end of Do.
func TestDoReturnsErrors(t *testing.T) {
	for _, parts := range []int{1, 2} {
		ours, _ := connPair(t)
		ours.TCPConn.Close()
		err := Do(requestOf(ConnContext(t.Context(), ours)), func() error {
			for range parts {
				if _, err := ours.Write([]byte("part")); err != nil {
					return err
				}
			}
			return nil
		})
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("writing %d times to a closed connection: %v, want net.ErrClosed", parts, err)
		}
	}
}

// Over real connections: answers of all lengths around the size of net/http's buffer, one after the other on one connection,
// and one whose handler fails in the middle.
func TestAnswersOverRealConnections(t *testing.T) {
	before := goleak.IgnoreCurrent()
	content := bytes.Repeat([]byte("0123456789abcdef"), 4<<10)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/half" {
			w.Header().Set("Content-Length", "100000")
			_ = Do(r, func() error {
				_, err := w.Write(content[:5000])
				return err
			})
			panic(http.ErrAbortHandler)
		}
		n, _ := strconv.Atoi(r.URL.Path[1:])
		w.Header().Set("Content-Type", "image/png")
		w.Header().Set("Content-Length", strconv.Itoa(n))
		w.WriteHeader(http.StatusOK)
		if err := Do(r, func() error {
			_, err := w.Write(content[:n])
			return err
		}); err != nil {
			t.Error(err)
		}
	}))
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

// requestOf returns an HTTP/1 request on the connection of that context.
func requestOf(ctx context.Context) *http.Request {
	return httptest.NewRequest(http.MethodGet, "/", nil).WithContext(ctx)
}

// Connections other than TCP send each write at once.
func TestOtherConnectionsAreNotChanged(t *testing.T) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	ctx := ConnContext(t.Context(), ours)
	done := make(chan error, 1)
	go func() { // ends with the read below
		done <- Do(requestOf(ctx), func() error {
			_, err := ours.Write([]byte("at once"))
			return err
		})
	}()
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
