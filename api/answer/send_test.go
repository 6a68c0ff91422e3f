package answer

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// BenchmarkSend sends a tile of 12 kB over a connection, by send and by http.ServeContent.
func BenchmarkSend(b *testing.B) {
	content := bytes.Repeat([]byte("0123456789abcdef"), 12<<10/16)
	kind := NewKind(TypePNG, CacheMinute)
	fields := NewStoredFields(content, Identity, "7e57")
	sender := NewSender(Options{})
	for name, h := range map[string]http.HandlerFunc{
		"send": func(w http.ResponseWriter, r *http.Request) {
			if err := sender.Send(Track(w), r, kind, Stored(content, Identity, fields)); err != nil {
				b.Error(err)
			}
		},
		"ServeContent": func(w http.ResponseWriter, r *http.Request) {
			h := w.Header()
			h["Etag"], h["Cache-Control"], h["Content-Type"] = fields.etag[:], kind.cacheControl, kind.contentType
			http.ServeContent(Track(w), r, "", time.Time{}, bytes.NewReader(content))
		},
	} {
		b.Run(name, func(b *testing.B) {
			server := httptest.NewUnstartedServer(h)
			server.Start()
			defer server.Close()
			c, err := net.Dial("tcp", server.Listener.Addr().String())
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			request := []byte("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n")
			answer := make([]byte, 64<<10)
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Write(request); err != nil {
					b.Fatal(err)
				}
				for n := 0; ; {
					read, err := c.Read(answer[n:])
					if err != nil {
						b.Fatal(err)
					}
					n += read
					if end := bytes.Index(answer[:n], []byte("\r\n\r\n")); end >= 0 && n >= end+4+len(content) {
						break
					}
				}
			}
		})
	}
}
