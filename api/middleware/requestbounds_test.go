package middleware

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
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

func TestRequestBoundsDoNotWaitForABody(t *testing.T) {
	server := httptest.NewServer(RequestBounds(NoBody)(apitest.OK))
	defer server.Close()
	for _, head := range []string{"GET / HTTP/1.1\r\nContent-Length: 9", "POST / HTTP/1.1\r\nContent-Length: 9", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked"} {
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
