package api

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"limnomap/api/answer"
)

// A conditional is a request with conditions, where TAG is replaced by the answer's tag without its quotes.
type conditional struct {
	method string
	header []string // names and values
	status int
	part   func(whole string) string // what a 206 holds
}

// sliced returns the part of a body between two offsets.
func sliced(from, to int) func(string) string {
	return func(whole string) string {
		if to < 0 {
			to = len(whole)
		}
		return whole[from:to]
	}
}

const longAgo, farAhead = "Mon, 06 Nov 1995 08:49:37 GMT", "Fri, 06 Nov 2195 08:49:37 GMT"

func conditionals() []conditional {
	var list []conditional
	add := func(status int, header ...string) {
		list = append(list, conditional{http.MethodGet, header, status, nil}, conditional{http.MethodHead, header, status, nil})
	}
	for _, field := range []string{
		`"TAG"`, `W/"TAG"`, `"other", "TAG"`, `W/"other" ,W/"TAG"`, "\t\"TAG\"\t", `,, "TAG",`, `"TAG", "other"`, `"", "TAG"`, `"a,b","TAG"`, `"W/", "TAG"`, "*", " * ",
	} {
		add(304, "If-None-Match", field)
	}
	for _, field := range []string{
		`"other"`, `"TAG`, `TAG"`, `TAG`, `""`, ``, `"TAG-gzip"`, `"aTAG"`, `"TAGa"`, `w/"TAG"`, `W/ "TAG"`, `W/W/"TAG"`, `W/`, `W/"`, `"`,
		`"x"TAG"y"`,       // the quotes around TAG belong to other tags
		`"x" "TAG"`,       // no comma
		`unquoted, "TAG"`, // the meaning is unknown
		`*, "TAG"`, `**`,  // no list has an asterisk
		`"TAG"garbage`, // no tag
		`<"TAG">`, `"'TAG"`, "\u00a0\"TAG\"",
	} {
		add(200, "If-None-Match", field)
	}
	add(304, "If-None-Match", `"other"`, "If-None-Match", `"TAG"`)
	add(200, "If-None-Match", `"other"`, "If-None-Match", `"another"`)

	for _, field := range []string{`"TAG"`, `"other", "TAG"`, `"other","TAG" , "x"`, "*"} {
		add(200, "If-Match", field)
	}
	for _, field := range []string{`"other"`, `W/"TAG"`, `TAG`, ``, `"x"TAG"y"`} {
		add(412, "If-Match", field)
	}
	add(200, "If-Match", `"other"`, "If-Match", `"TAG"`)

	// If-Match is checked before If-None-Match (RFC 9110, section 13.2.2).
	add(412, "If-Match", `"other"`, "If-None-Match", `"TAG"`)
	add(304, "If-Match", `"TAG"`, "If-None-Match", `"TAG"`)

	// No answer has a time of modification, so there is nothing to compare these with.
	add(200, "If-Modified-Since", farAhead)
	add(200, "If-Modified-Since", "yesterday")
	add(200, "If-Unmodified-Since", longAgo)
	add(304, "If-None-Match", `"TAG"`, "If-Modified-Since", longAgo)
	add(200, "If-None-Match", `"other"`, "If-Modified-Since", farAhead)

	part := func(status int, part func(string) string, header ...string) {
		list = append(list, conditional{http.MethodGet, header, status, part},
			// Range has a meaning only with GET.
			conditional{http.MethodHead, header, 200, nil})
	}
	part(206, sliced(2, 6), "Range", "bytes=2-5")
	part(206, sliced(0, 1), "Range", "bytes=0-0")
	part(206, sliced(7, -1), "Range", "bytes=7-")
	part(206, sliced(3, -1), "Range", "bytes=3-99999999")
	part(206, func(whole string) string { return whole[len(whole)-4:] }, "Range", "bytes=-4")
	part(206, sliced(0, -1), "Range", "bytes=-99999999")
	part(206, sliced(2, 6), "Range", "bytes=2-5", "If-Range", `"TAG"`)
	part(206, sliced(2, 6), "Range", "bytes=2-5", "If-None-Match", `"other"`)
	part(206, sliced(2, 6), "Range", "bytes=2-5", "If-Match", `"other"`, "If-Match", `"TAG"`)
	part(206, sliced(2, 6), "Range", "bytes=2-5", "If-Modified-Since", farAhead)
	part(416, nil, "Range", "bytes=99999999-")
	part(416, nil, "Range", "bytes=5-2")
	part(416, nil, "Range", "bytes=two-")
	for _, ifRange := range []string{`"other"`, `W/"TAG"`, longAgo, farAhead, `TAG`} {
		part(200, nil, "Range", "bytes=2-5", "If-Range", ifRange)
	}
	part(200, nil, "Range", "bytes=99999999-", "If-Range", `"other"`)
	part(200, nil, "Range", "lines=2-5") // an unknown unit is ignored (RFC 9110, section 14.2)
	part(200, nil, "Range", "2-5")
	part(200, nil, "Range", "bytes=0-1", "Range", "bytes=2-5") // not a list, so it is ignored
	part(200, nil, "If-Range", `"TAG"`)
	part(200, nil, "Range", "bytes=0-,0-") // more than there is
	part(200, nil, "Range", "bytes=0-0"+strings.Repeat(",2-2", 16))
	add(304, "Range", "bytes=2-5", "If-None-Match", `"TAG"`)
	add(412, "Range", "bytes=2-5", "If-Match", `"other"`)
	return list
}

// An asker sends requests.
type asker func(method, target string, header http.Header) (*http.Response, string)

// recorded sends requests to the handler itself.
func recorded(t *testing.T, h http.Handler) asker {
	return func(method, target string, header http.Header) (*http.Response, string) {
		t.Helper()
		r := httptest.NewRequest(method, target, nil)
		r.Header = header
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Result(), w.Body.String()
	}
}

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

// lasting returns a header without the fields that differ between answers.
func lasting(h http.Header) http.Header {
	h = maps.Clone(h)
	delete(h, "Date")
	delete(h, "X-Request-Id")
	return h
}

func equalHeaders(a, b http.Header) bool { return maps.EqualFunc(a, b, slices.Equal) }

func TestConditionalRequests(t *testing.T) {
	for name, make := range map[string]func(*testing.T, http.Handler) asker{"handler": recorded, "connection": connected} {
		t.Run(name, func(t *testing.T) {
			ask := make(t, testServer(t))
			for _, target := range []struct{ path, coding string }{
				{"/api/v1/tiles/6/33/21.png", ""},
				{statusURL, ""},
				{statusURL, "br"},
				{statusURL + "?min_lat=0", ""},
				{statusURL + "?min_lat=0", "zstd"},
				{"/api/v1/legend.png", ""},
				{"/api/v1/legend.svg", "gzip"},
				{"/api/v1/legend.json", ""},
				{"/assets/app-1234.js", "br"},
				{"/", ""},
			} {
				plain := http.Header{}
				if target.coding != "" {
					plain.Set("Accept-Encoding", target.coding)
				}
				full, whole := ask(http.MethodGet, target.path, plain)
				if full.StatusCode != http.StatusOK || len(whole) < 8 || full.Header.Get("Content-Encoding") != target.coding {
					t.Fatalf("GET %s in %q: %s, %d bytes in %q", target.path, target.coding, full.Status, len(whole), full.Header.Get("Content-Encoding"))
				}
				head, _ := ask(http.MethodHead, target.path, plain)
				if !equalHeaders(lasting(head.Header), lasting(full.Header)) {
					t.Errorf("HEAD %s: %v, want GET's %v", target.path, head.Header, full.Header)
				}
				for _, c := range conditionals() {
					header := plain.Clone()
					tag := strings.Trim(full.Header.Get("ETag"), `"`)
					for i := 0; i < len(c.header); i += 2 {
						header.Add(c.header[i], strings.ReplaceAll(c.header[i+1], "TAG", tag))
					}
					resp, body := ask(c.method, target.path, header)
					if resp.StatusCode != c.status {
						t.Errorf("%s %s %q: %s, want %d", c.method, target.path, c.header, resp.Status, c.status)
						continue
					}
					checkConditional(t, c, target.path, full, whole, resp, body)
				}
			}
		})
	}
}

// checkConditional checks an answer against the one without conditions.
func checkConditional(t *testing.T, c conditional, path string, full *http.Response, whole string, resp *http.Response, body string) {
	t.Helper()
	want := lasting(full.Header)
	wantBody := whole
	switch c.status {
	case http.StatusNotModified:
		wantBody = ""
		for _, name := range []string{"Content-Type", "Content-Length", "Content-Encoding", "Accept-Ranges"} {
			delete(want, name)
		}
	case http.StatusPartialContent:
		wantBody = c.part(whole)
		from := strings.Index(whole, wantBody)
		if spec := c.header[1]; spec != "bytes=-4" {
			_, err := fmt.Sscanf(spec, "bytes=%d-", &from)
			if err != nil || from < 0 {
				from = 0
			}
		} else {
			from = len(whole) - 4
		}
		want.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, from+len(wantBody)-1, len(whole)))
		want.Set("Content-Length", fmt.Sprint(len(wantBody)))
	case http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable:
		for _, name := range []string{"Etag", "Accept-Ranges", "Content-Encoding", "Last-Modified"} {
			if got := resp.Header.Get(name); got != "" {
				t.Errorf("%s %s %q: %s of a refusal = %q, want none", c.method, path, c.header, name, got)
			}
		}
		if resp.Header.Get("Cache-Control") != "no-store" || resp.Header.Get("Content-Type") != answer.ProblemType {
			t.Errorf("%s %s %q: refusal with %v", c.method, path, c.header, resp.Header)
		}
		if got, want := resp.Header.Get("Content-Range"), fmt.Sprintf("bytes */%d", len(whole)); c.status == 416 && got != want && c.header[1] == "bytes=99999999-" {
			t.Errorf("%s %s %q: Content-Range = %q, want %q", c.method, path, c.header, got, want)
		}
		return
	}
	if c.method == http.MethodHead {
		wantBody = ""
	}
	if body != wantBody {
		t.Errorf("%s %s %q: body %.60q, want %.60q", c.method, path, c.header, body, wantBody)
	}
	if got := lasting(resp.Header); !equalHeaders(got, want) {
		t.Errorf("%s %s %q: header\n%v, want\n%v", c.method, path, c.header, got, want)
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
