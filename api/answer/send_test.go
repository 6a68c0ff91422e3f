package answer

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"limnomap/tiles/admission"
)

// newSender returns a Sender with enough memory for all, unless the options say otherwise.
func newSender(tb testing.TB, o Options) *Sender {
	if o.Memory == nil {
		o.Memory = admission.NewBudget(1 << 30)
	}
	if o.Turns == nil {
		o.Turns = admission.NewTurns(admission.TurnsOptions{Count: 2, Waiting: 100})
		tb.Cleanup(o.Turns.Close)
	}
	return NewSender(o)
}

// TestSendSources sends the same content from each kind of source, in each coding that it comes in.
func TestSendSources(t *testing.T) {
	plain := `{"numbers":[` + strings.Repeat("7,", 2000) + "7]}\n"
	list := List{Head: []byte(`{"numbers":[`), Append: func(b []byte, _ int) []byte { return append(b, '7') }, Between: ",", Tail: "]}\n", Len: 2001}
	sender, long := newSender(t, Options{}), newSender(t, Options{HeldItems: -1})
	kind := NewKind(TypeJSON, CacheMinute)
	body, err := sender.Prepare(kind, []byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	longBody, err := long.PrepareList(kind, list)
	if err != nil {
		t.Fatal(err)
	}
	if v := longBody.variants[Identity]; v.content != nil || v.pieces == nil {
		t.Errorf("a long prepared list holds %d bytes of its plain form, want none", len(v.content))
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte(plain))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	type sending func(http.ResponseWriter, *http.Request) error
	prepared := func(s *Sender, b *Body) sending {
		return func(w http.ResponseWriter, r *http.Request) error { return s.SendBody(w, r, kind, b) }
	}
	items := func(s *Sender) sending {
		return func(w http.ResponseWriter, r *http.Request) error {
			return s.SendList(w, r, kind, list.Len, func() List { return list })
		}
	}
	for _, test := range []struct {
		name   string
		send   sending
		coding string
		etag   string // of the plain form; empty: the hash
	}{
		{"prepared", prepared(sender, body), "br", ""},
		{"prepared list", prepared(long, longBody), "zstd", ""},
		{"bytes", func(w http.ResponseWriter, r *http.Request) error {
			return sender.SendBytes(w, r, kind, []byte(plain))
		}, "zstd", ""},
		{"JSON", func(w http.ResponseWriter, r *http.Request) error {
			return sender.SendJSON(w, r, kind, map[string]json.RawMessage{"numbers": json.RawMessage(plain[11 : len(plain)-2])})
		}, "zstd", ""},
		{"items", items(sender), "zstd", ""},
		{"long items", items(long), "zstd", ""},
		{"stored", func(w http.ResponseWriter, r *http.Request) error {
			return sender.SendStored(w, r, kind, zipped.Bytes(), Gzip, NewStoredFields(zipped.Bytes(), Gzip, "7e57"))
		}, "gzip", `"7e57"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			send := func(header ...string) *httptest.ResponseRecorder {
				r := httptest.NewRequest(http.MethodGet, "/", nil)
				r.Header.Set(header[0], header[1])
				w := httptest.NewRecorder()
				if err := test.send(w, r); err != nil {
					t.Fatal(err)
				}
				return w
			}
			want := test.etag
			if want == "" {
				want = etagOf(xxhash.Sum64String(plain), Identity)
			}
			w := send("Accept-Encoding", "identity")
			if w.Body.String() != plain || w.Header().Get("ETag") != want {
				t.Errorf("plain: %d bytes with ETag %s, want %d with %s", w.Body.Len(), w.Header().Get("ETag"), len(plain), want)
			}
			if got := send("If-None-Match", want); got.Code != http.StatusNotModified || got.Body.Len() > 0 {
				t.Errorf("with its ETag: %d and %d bytes, want 304 and none", got.Code, got.Body.Len())
			}
			if got := send("Range", "bytes=2-8"); got.Code != http.StatusPartialContent || got.Body.String() != "numbers" {
				t.Errorf("bytes 2-8: %d %q, want 206 \"numbers\"", got.Code, got.Body)
			}
			coded := send("Accept-Encoding", "gzip, br, zstd")
			if got := coded.Header().Get("Content-Encoding"); got != test.coding || coded.Body.Len() >= len(plain) {
				t.Errorf("coded: %s, %d bytes, want %s and fewer than %d", got, coded.Body.Len(), test.coding, len(plain))
			}
			if got := coded.Header().Get("ETag"); got == want {
				t.Errorf("coded: ETag %s of the plain form", got)
			}
		})
	}
}

// An empty answer with status 200 would be cached.
func TestSendNothingIsAnError(t *testing.T) {
	w := httptest.NewRecorder()
	err := newSender(t, Options{}).SendBytes(w, httptest.NewRequest(http.MethodGet, "/", nil), NewKind(TypeJSON, CacheMinute), nil)
	if err == nil || w.Body.Len() > 0 || len(w.Header()) > 0 {
		t.Errorf("nil: error %v, header %v, body %q, want an error only", err, w.Header(), w.Body)
	}
}
