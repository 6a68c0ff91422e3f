package api

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

	"limnomap/api/answer"
)

// A tester is what testing and rapid have in common.
type tester interface {
	Helper()
	Fatal(...any)
	Cleanup(func())
}

// joinedPair returns the two ends of a connection, ours first.
func joinedPair(tb tester) (*joinedConn, net.Conn) {
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
	ours, err := Joined(l).Accept()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { ours.Close(); theirs.Close() })
	return ours.(*joinedConn), theirs
}

// Whatever is written, told of or not, arrives whole and in order, and nothing is held when nobody said that more comes.
func TestJoinedConnKeepsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ours, theirs := joinedPair(t)
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
			clear(part) // whoever writes may use the bytes again
			if written != int64(n) {
				t.Errorf("%d of %d bytes written", written, n)
			}
			return err
		}
		sizes := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 7, maxHeld - 1, maxHeld, maxHeld + 1, 9000}), 0, 4)
		for range rapid.IntRange(1, 4).Draw(t, "answers") {
			for _, n := range sizes.Draw(t, "alone") {
				if err := write(n); err != nil {
					t.Fatal(err)
				}
				if ours.held != nil {
					t.Fatal("a part is held though nobody said that more comes")
				}
			}
			together := sizes.Draw(t, "together")
			if err := writeTogether(requestOf(ctx), func() error {
				for _, n := range together {
					if err := write(n); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if ours.held != nil || ours.joining {
				t.Fatal("a part is held behind the end of an answer")
			}
		}
		ours.Close()
		got, err := io.ReadAll(theirs)
		if err != nil || !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("%d bytes arrived, %v, want the %d that were written", len(got), err, want.Len())
		}
	})
}

func TestJoinedConnHoldsTheFirstPart(t *testing.T) {
	ours, theirs := joinedPair(t)
	err := writeTogether(requestOf(ConnContext(t.Context(), ours)), func() error {
		if _, err := ours.Write([]byte("header")); err != nil {
			return err
		}
		if ours.held == nil {
			t.Error("the first part has left alone")
		}
		_, err := ours.Write([]byte(" and body"))
		return err
	})
	if err != nil || ours.held != nil {
		t.Errorf("error %v, something held: %t, want neither", err, ours.held != nil)
	}
	ours.Close()
	if got, err := io.ReadAll(theirs); err != nil || string(got) != "header and body" {
		t.Errorf("arrived %q, %v", got, err)
	}
}

// A client that has left is noticed, whether a part waits for the next or for the end.
func TestJoinedConnTellsErrors(t *testing.T) {
	for _, parts := range []int{1, 2} {
		ours, _ := joinedPair(t)
		ours.TCPConn.Close()
		err := writeTogether(requestOf(ConnContext(t.Context(), ours)), func() error {
			for range parts {
				if _, err := ours.Write([]byte("part")); err != nil {
					return err
				}
			}
			return nil
		})
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("writing %d parts to a closed connection: %v, want net.ErrClosed", parts, err)
		}
	}
}

// Over real connections: answers of all lengths around net/http's buffer, one behind the other on one connection, and with
// a handler that fails in the middle of one.
func TestAnswersOverJoinedConnections(t *testing.T) {
	before := goleak.IgnoreCurrent()
	content := bytes.Repeat([]byte("0123456789abcdef"), 4<<10)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/half" {
			w.Header().Set("Content-Length", "100000")
			_ = writeTogether(r, func() error {
				_, err := w.Write(content[:5000])
				return err
			})
			panic(http.ErrAbortHandler)
		}
		n, _ := strconv.Atoi(r.URL.Path[1:])
		if err := writeTogether(r, func() error {
			return answer.NewSender(answer.Options{}).Send(w, r, tileKind, answer.Stored(content[:n], answer.Identity, answer.NewStoredFields(content[:n], answer.Identity, "7e57")))
		}); err != nil {
			t.Error(err)
		}
	}))
	server.Listener = Joined(server.Listener)
	server.Config.ConnContext = ConnContext
	server.Start()
	client := server.Client()
	lengths := []int{0, 1, 100, 2047, 2048, 2049, len(content)}
	for n := maxHeld - 400; n <= maxHeld+10; n++ { // the header is some 250 bytes long
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

// requestOf returns a request of HTTP/1 on the connection of that context.
func requestOf(ctx context.Context) *http.Request {
	return httptest.NewRequest(http.MethodGet, "/", nil).WithContext(ctx)
}

// Connections that are no TCP, or hidden under TLS, are answered as ever.
func TestOtherConnectionsAreNotJoined(t *testing.T) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	ctx := ConnContext(t.Context(), ours)
	done := make(chan error, 1)
	go func() { // ends with the read below
		done <- writeTogether(requestOf(ctx), func() error {
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
	c, err := Joined(l).Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, ok := c.(*net.UnixConn); !ok {
		t.Errorf("a Unix connection became a %T", c)
	}
}
