package answer

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"limnomap/tiles/admission"
)

// A blockedWriter is a client that does not read until it may.
type blockedWriter struct {
	*httptest.ResponseRecorder
	began chan<- struct{}
	read  <-chan struct{}
}

func (w *blockedWriter) Write(b []byte) (int, error) {
	select {
	case w.began <- struct{}{}:
	default: // it has begun
	}
	<-w.read
	return w.ResponseRecorder.Write(b)
}

// requestFrom returns a request of the client with that address.
func requestFrom(addr string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = addr + ":1234"
	return r
}

// TestSlowReadersShareTheMemory has clients that do not read ask for answers that take 300 kB each, of a budget of 1 MB. One
// client gets one; another gets one beside it; a third is refused; prepared answers go on; and all goes on when they have
// read.
func TestSlowReadersShareTheMemory(t *testing.T) {
	kind := NewKind(TypeJSON, CacheMinute)
	long := numbers(20*pieceItems, 1)
	long.Memory = 290_000
	for name, large := range map[string]func(*Sender, http.ResponseWriter, *http.Request) error{
		"bytes": func(s *Sender, w http.ResponseWriter, r *http.Request) error {
			return s.SendBytes(w, r, kind, make([]byte, 300_000))
		},
		"items": func(s *Sender, w http.ResponseWriter, r *http.Request) error {
			return s.SendList(w, r, kind, long.Len, func() List { return long })
		},
	} {
		t.Run(name, func(t *testing.T) {
			memory := admission.NewBudget(1_000_000)
			sender := newSender(t, Options{Memory: memory})
			prepared, err := sender.Prepare(kind, make([]byte, 1_000_000))
			if err != nil {
				t.Fatal(err)
			}
			began, read, done := make(chan struct{}, 1), make(chan struct{}), make(chan *httptest.ResponseRecorder)
			slow := func(addr string) {
				go func() { // until read is closed, below
					w := &blockedWriter{httptest.NewRecorder(), began, read}
					if err := large(sender, w, requestFrom(addr)); err != nil {
						t.Errorf("a slow reader at %s: %v", addr, err)
					}
					done <- w.ResponseRecorder
				}()
				<-began
			}
			slow("192.0.2.1")
			if err := large(sender, httptest.NewRecorder(), requestFrom("192.0.2.1")); !errors.Is(err, admission.ErrBusy) {
				t.Errorf("more for the client that holds 300 kB = %v, want ErrBusy", err)
			}
			slow("192.0.2.2")
			if err := large(sender, httptest.NewRecorder(), requestFrom("192.0.2.3")); !errors.Is(err, admission.ErrBusy) {
				t.Errorf("300 kB for a third client = %v, want ErrBusy", err)
			}
			if err := sender.SendBody(httptest.NewRecorder(), requestFrom("192.0.2.1"), kind, prepared); err != nil {
				t.Errorf("a prepared answer: %v", err)
			}
			if err := sender.SendBytes(httptest.NewRecorder(), requestFrom("192.0.2.1"), kind, []byte("small")); err != nil {
				t.Errorf("a small answer: %v", err)
			}
			close(read)
			for range 2 {
				if w := <-done; w.Code != http.StatusOK || w.Header().Get("Content-Length") == "" || w.Body.Len() < 100_000 {
					t.Errorf("a slow reader got %d with %d bytes", w.Code, w.Body.Len())
				}
			}
			if got := memory.Used(); got != 0 {
				t.Errorf("afterwards %d bytes are held, want none", got)
			}
			if err := large(sender, httptest.NewRecorder(), requestFrom("192.0.2.1")); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// TestListThatCannotBeCompleted has the turns refuse a piece when the answer has begun: the connection must end, or the client
// would take the part for the whole.
func TestListThatCannotBeCompleted(t *testing.T) {
	l := numbers(3*pieceItems, 1)
	p, err := newPieces(t.Context(), l, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	v := &variant{pieces: p, etag: []string{`"1"`}}
	for _, header := range []string{"", "bytes=10-"} {
		turns := 0
		turn := func(f func() error) error {
			if turns++; turns == 3 {
				return admission.ErrBusy
			}
			return f()
		}
		r, w := requestFrom("192.0.2.1"), httptest.NewRecorder()
		if header != "" {
			r.Header.Set("Range", header)
		}
		func() {
			defer func() {
				if p := recover(); p != http.ErrAbortHandler {
					t.Errorf("with Range %q: panic %v, want http.ErrAbortHandler", header, p)
				}
			}()
			_ = send(w, r, NewKind(TypeJSON, CacheMinute), v, turn)
		}()
		if w.Body.Len() == 0 || int64(w.Body.Len()) >= p.size() {
			t.Errorf("with Range %q: %d bytes were sent before, want a part of %d", header, w.Body.Len(), p.size())
		}
	}
}
