package api

import (
	"bufio"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"limnomap/api/answer"
)

// A conditional is a request with conditions, where TAG is replaced by the answer's tag without its quotes.
type conditional struct {
	status   int
	header   []string // names and values
	from, to int      // what a 206 has; from is negative: the last bytes; to is 0: up to the end
}

const longAgo, farAhead = "Mon, 06 Nov 1995 08:49:37 GMT", "Fri, 06 Nov 2195 08:49:37 GMT"

func conditionals() (list []conditional) {
	add := func(status int, header ...string) { list = append(list, conditional{status: status, header: header}) }
	for _, field := range []string{`"TAG"`, `W/"TAG"`, `"other", "TAG"`, `W/"other" ,W/"TAG"`, "\t\"TAG\"\t", `,, "TAG",`, `"", "TAG"`, `"a,b","TAG"`, "*", " * "} {
		add(304, "If-None-Match", field)
	}
	for _, field := range []string{
		`"other"`, `"TAG`, `TAG`, ``, `"TAG-gzip"`, `"aTAG"`, `w/"TAG"`, `W/ "TAG"`, `W/W/"TAG"`, `W/`, `"`,
		`"x"TAG"y"`,       // the quotes around TAG belong to other tags
		`"x" "TAG"`,       // no comma
		`unquoted, "TAG"`, // the meaning is unknown
		`*, "TAG"`,        // no list has an asterisk
		`"TAG"garbage`,    // no tag
	} {
		add(200, "If-None-Match", field)
	}
	add(304, "If-None-Match", `"other"`, "If-None-Match", `"TAG"`)
	for _, field := range []string{`"TAG"`, `"other", "TAG"`, "*"} {
		add(200, "If-Match", field)
	}
	for _, field := range []string{`"other"`, `W/"TAG"`, ``, `"x"TAG"y"`} {
		add(412, "If-Match", field)
	}
	// If-Match is checked before If-None-Match (RFC 9110, section 13.2.2).
	add(412, "If-Match", `"other"`, "If-None-Match", `"TAG"`)
	add(304, "If-Match", `"TAG"`, "If-None-Match", `"TAG"`)
	// No answer has a time of modification, so there is nothing to compare these with.
	add(200, "If-Modified-Since", farAhead)
	add(200, "If-Unmodified-Since", longAgo)
	add(304, "If-None-Match", `"TAG"`, "If-Modified-Since", longAgo)

	part := func(from, to int, header ...string) { list = append(list, conditional{206, header, from, to}) }
	part(2, 6, "Range", "bytes=2-5")
	part(7, 0, "Range", "bytes=7-")
	part(3, 0, "Range", "bytes=3-99999999")
	part(-4, 0, "Range", "bytes=-4")
	part(0, 0, "Range", "bytes=-99999999")
	part(2, 6, "Range", "bytes=2-5", "If-Range", `"TAG"`)
	part(2, 6, "Range", "bytes=2-5", "If-None-Match", `"other"`)
	add(416, "Range", "bytes=99999999-")
	add(416, "Range", "bytes=5-2")
	for _, ifRange := range []string{`"other"`, `W/"TAG"`, farAhead} {
		add(200, "Range", "bytes=2-5", "If-Range", ifRange)
	}
	add(200, "Range", "lines=2-5")                       // an unknown unit is ignored (RFC 9110, section 14.2)
	add(200, "Range", "bytes=0-1", "Range", "bytes=2-5") // not a list, so it is ignored
	add(200, "If-Range", `"TAG"`)
	add(200, "Range", "bytes=0-,0-") // more than there is
	add(200, "Range", "bytes=0-0"+strings.Repeat(",2-2", 16))
	add(304, "Range", "bytes=2-5", "If-None-Match", `"TAG"`)
	add(412, "Range", "bytes=2-5", "If-Match", `"other"`)
	return list
}

// An asker sends requests.
type asker func(method, target string, header http.Header) (*http.Response, string)

// connected sends requests to net/http's server over one connection, where a wrong length would spoil the next answer.
func connected(t *testing.T, h http.Handler) asker {
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	answers := bufio.NewReader(conn)
	return func(method, target string, header http.Header) (*http.Response, string) {
		t.Helper()
		if _, err := fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: localhost\r\n", method, target); err != nil {
			t.Fatal(err)
		}
		if err := header.Write(conn); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, "\r\n"); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(answers, &http.Request{Method: method})
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode == http.StatusOK && resp.ContentLength < 0 {
			t.Errorf("%s %s %v comes without its length", method, target, header)
		}
		return resp, string(body)
	}
}

func TestConditionalRequests(t *testing.T) {
	ask := connected(t, testServer(t))
	for _, target := range []struct{ path, coding string }{
		{tileURL, ""}, {statusURL, ""}, {statusURL, "br"}, {statusURL + "?min_lat=0", "zstd"}, {"/api/v1/legend.png", ""}, {"/assets/app-1234.js", "br"},
	} {
		plain := http.Header{}
		if target.coding != "" {
			plain.Set("Accept-Encoding", target.coding)
		}
		full, whole := ask(http.MethodGet, target.path, plain)
		if full.StatusCode != http.StatusOK || len(whole) < 8 || full.Header.Get("Content-Encoding") != target.coding {
			t.Fatalf("GET %s in %q: %s, %d bytes in %q", target.path, target.coding, full.Status, len(whole), full.Header.Get("Content-Encoding"))
		}
		for _, c := range conditionals() {
			header := plain.Clone()
			for i := 0; i < len(c.header); i += 2 {
				header.Add(c.header[i], strings.ReplaceAll(c.header[i+1], "TAG", strings.Trim(full.Header.Get("ETag"), `"`)))
			}
			resp, body := ask(http.MethodGet, target.path, header)
			want, fields := whole, full.Header
			switch c.status {
			case http.StatusNotModified:
				want = ""
			case http.StatusPartialContent:
				if c.from < 0 {
					c.from += len(whole)
				}
				if c.to == 0 {
					c.to = len(whole)
				}
				want = whole[c.from:c.to]
				if got, want := resp.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-%d/%d", c.from, c.to-1, len(whole)); got != want {
					t.Errorf("%s %q: Content-Range %q, want %q", target.path, c.header, got, want)
				}
			case http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable:
				want, fields = body, http.Header{"Cache-Control": {"no-store"}}
				if resp.Header.Get("Content-Type") != answer.ProblemType || c.status == 416 && resp.Header.Get("Content-Range") != fmt.Sprintf("bytes */%d", len(whole)) && c.header[1] != "bytes=5-2" {
					t.Errorf("%s %q: refused with %v", target.path, c.header, resp.Header)
				}
			}
			if resp.StatusCode != c.status || body != want {
				t.Errorf("%s %q: %s, %.60q, want %d, %.60q", target.path, c.header, resp.Status, body, c.status, want)
			}
			for _, name := range []string{"Etag", "Cache-Control"} {
				if got, want := resp.Header.Get(name), fields.Get(name); got != want {
					t.Errorf("%s %q: %s %q, want %q", target.path, c.header, name, got, want)
				}
			}
			// Range has a meaning only with GET.
			head, _ := ask(http.MethodHead, target.path, header)
			if c.header[0] == "Range" && (c.status == 206 || c.status == 416) {
				c.status = http.StatusOK
			}
			if head.StatusCode != c.status {
				t.Errorf("HEAD %s %q: %s, want %d", target.path, c.header, head.Status, c.status)
			}
		}
	}
}

func TestSeveralRanges(t *testing.T) {
	ask := connected(t, testServer(t))
	for _, coding := range []string{"identity", "gzip"} {
		_, whole := ask(http.MethodGet, statusURL, http.Header{"Accept-Encoding": {coding}})
		resp, body := ask(http.MethodGet, statusURL, http.Header{"Accept-Encoding": {coding}, "Range": {"bytes=0-3, 10-19,-5"}})
		media, parameters, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
		if resp.StatusCode != http.StatusPartialContent || media != "multipart/byteranges" || err != nil || resp.ContentLength != int64(len(body)) {
			t.Fatalf("%s: %s, %s, %v, length %d of %d", coding, resp.Status, media, err, len(body), resp.ContentLength)
		}
		parts := multipart.NewReader(strings.NewReader(body), parameters["boundary"])
		size := len(whole)
		for _, want := range [][2]int{{0, 3}, {10, 19}, {size - 5, size - 1}} {
			part, err := parts.NextPart()
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(part)
			if err != nil || string(text) != whole[want[0]:want[1]+1] {
				t.Errorf("%s, bytes %v: %q, %v, want %q", coding, want, text, err, whole[want[0]:want[1]+1])
			}
			if got, want := part.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-%d/%d", want[0], want[1], size); got != want {
				t.Errorf("Content-Range = %q, want %q", got, want)
			}
		}
	}
}

// Answers to OPTIONS have no tag and no ranges.
func TestOPTIONSIgnoresConditions(t *testing.T) {
	ask := connected(t, testServer(t))
	for _, header := range []http.Header{{"If-None-Match": {"*"}}, {"If-Match": {`"other"`}}, {"Range": {"bytes=0-3"}}} {
		resp, body := ask(http.MethodOptions, statusURL, header)
		if resp.StatusCode != http.StatusNoContent || body != "" || resp.Header.Get("Allow") == "" || resp.Header.Get("ETag") != "" {
			t.Errorf("OPTIONS %v: %s, %v", header, resp.Status, resp.Header)
		}
	}
}

// Conditions do not change errors.
func TestErrorsIgnoreConditions(t *testing.T) {
	ask := connected(t, testServer(t))
	for target, status := range map[string]int{
		"/nowhere": 404, statusURL + "?risk=none": 400, "/api/v1/monitor/lakes": 401, "/api/v1/tiles/3/9/9.png": 404,
	} {
		for _, header := range []http.Header{{"If-None-Match": {"*"}}, {"If-Match": {`"other"`}}, {"Range": {"bytes=0-3"}}} {
			if resp, _ := ask(http.MethodGet, target, header); resp.StatusCode != status || resp.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("GET %s %v: %s, %v, want %d, never kept", target, header, resp.Status, resp.Header, status)
			}
		}
	}
}
