package middleware

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strconv"
	"strings"
	"testing"
	"time"

	"limnomap/api/apitest"
)

func TestRequestBounds(t *testing.T) {
	lines := func(n int) *http.Request {
		r := httptest.NewRequest("GET", "/", nil)
		for i := range n {
			r.Header.Add("X-"+strconv.Itoa(i%7), "v")
		}
		return r
	}
	chunked := httptest.NewRequest("GET", "/", io.MultiReader(strings.NewReader("x")))
	for _, tt := range []struct {
		name string
		r    *http.Request
		want int
	}{
		{"plain", httptest.NewRequest("GET", "/", nil), 200},
		{"head", httptest.NewRequest("HEAD", "/", nil), 200},
		{"longest address", httptest.NewRequest("GET", "/"+strings.Repeat("a", maxURI-1), nil), 200},
		{"address too long", httptest.NewRequest("GET", "/"+strings.Repeat("a", maxURI), nil), 414},
		{"query too long", httptest.NewRequest("GET", "/?q="+strings.Repeat("a", maxURI), nil), 414},
		{"most lines", lines(maxHeaderLines), 200},
		{"too many lines", lines(maxHeaderLines + 1), 431},
		{"body", httptest.NewRequest("GET", "/", strings.NewReader("{}")), 413},
		{"chunked body", chunked, 413},
		{"chunked body without octets", httptest.NewRequest("GET", "/", io.MultiReader()), 200},
		{"chunked body of HEAD without octets", httptest.NewRequest("HEAD", "/", io.MultiReader()), 200},
		{"body of HEAD", httptest.NewRequest("HEAD", "/", strings.NewReader("{}")), 413},
		{"body of OPTIONS", httptest.NewRequest("OPTIONS", "/", strings.NewReader("{}")), 413},
		{"other methods are for the router to refuse", httptest.NewRequest("POST", "/", strings.NewReader("{}")), 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			resp := apitest.Serve(t, RequestBounds(NoBody)(apitest.OK), tt.r)
			if resp.StatusCode != tt.want {
				t.Fatalf("status = %d, want %d", resp.StatusCode, tt.want)
			}
			if tt.want != 200 && tt.r.Method != "HEAD" {
				if detail, _ := apitest.Problem(t, resp)["detail"].(string); !strings.Contains(detail, "allowed") {
					t.Errorf("detail %q does not name the bound", detail)
				}
			}
		})
	}
}

func TestRequestBoundsHideTheBody(t *testing.T) {
	var err error
	h := RequestBounds(NoBody)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, err = io.ReadAll(r.Body) }))
	apitest.Serve(t, h, httptest.NewRequest("POST", "/", strings.NewReader("endless")))
	if tooLarge := new(http.MaxBytesError); !errors.As(err, &tooLarge) {
		t.Errorf("reading a body: error %v, want a MaxBytesError", err)
	}
}

// A body without octets is none, however it is framed. A connection of HTTP/1 is closed after the answer: nothing after it is another request.
func TestRequestBoundsCountOctets(t *testing.T) {
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		var served http.Protocols
		served.SetHTTP1(proto == "HTTP/1.1")
		served.SetUnencryptedHTTP2(proto == "HTTP/2.0")
		server := httptest.NewUnstartedServer(RequestBounds(NoBody)(apitest.OK))
		server.Config.Protocols = &served
		server.Start()
		defer server.Close()
		transport := &http.Transport{Protocols: &served}
		defer transport.CloseIdleConnections()
		for i, tt := range []struct {
			method, body string
			want         int
		}{{"GET", "", 200}, {"HEAD", "", 200}, {"OPTIONS", "", 200}, {"GET", "x", 413}, {"GET", "", 200}} {
			// The client sends a body of unknown length only if it is not a type that it knows.
			r, err := http.NewRequest(tt.method, server.URL, io.MultiReader(strings.NewReader(tt.body)))
			if err != nil {
				t.Fatal(err)
			}
			r.TransferEncoding = []string{"chunked"}
			var reused bool
			r = r.WithContext(httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) { reused = c.Reused }}))
			resp, err := transport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.Proto != proto || resp.StatusCode != tt.want {
				t.Errorf("%s: a chunked %s of %q: %s by %s, want %d", proto, tt.method, tt.body, resp.Status, resp.Proto, tt.want)
			}
			if resp.Close != (proto == "HTTP/1.1") || 0 < i && i < 3 && reused != (proto == "HTTP/2.0") {
				t.Errorf("%s: the answer to a chunked %s of %q closes the connection: %v; it is used again: %v", proto, tt.method, tt.body, resp.Close, reused)
			}
		}
	}
}

func TestRequestBoundsDoNotWaitForABody(t *testing.T) {
	server := httptest.NewServer(RequestBounds(NoBody)(apitest.OK))
	defer server.Close()
	for _, head := range []string{"GET / HTTP/1.1\r\nContent-Length: 9", "POST / HTTP/1.1\r\nContent-Length: 9", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked", "GET / HTTP/1.1\r\nTransfer-Encoding: chunked"} {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := conn.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "%s\r\nHost: lakes\r\n\r\n", head)
		reader := bufio.NewReader(conn)
		resp, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Errorf("%q, without its body: %v, want an answer", head, err)
			continue
		}
		if !resp.Close {
			t.Errorf("%q: the connection stays open for the body", head)
		}
		if _, err := io.Copy(io.Discard, reader); err != nil {
			t.Errorf("%q: the server waits for the body: %v", head, err)
		}
	}
}
