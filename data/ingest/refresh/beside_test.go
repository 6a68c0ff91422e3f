package refresh

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/store/storetest"
)

// A drip is a server that sends the files of its paths in parts of that many bytes a second, also in the fake time of a bubble.
type drip struct {
	files  map[string]string
	pace   int
	ranges bool
	block  int    // of requests of ranges; 0 for the default
	hangs  string // a path without an answer
}

func (d *drip) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Path == d.hangs {
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	text, ok := d.files[req.URL.Path]
	resp := &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Request: req, ContentLength: int64(len(text)), Header: http.Header{"Etag": {`"1"`}}}
	var first, last int
	_, err := fmt.Sscanf(req.Header.Get("Range"), "bytes=%d-%d", &first, &last)
	switch {
	case !ok:
		resp.StatusCode, resp.Status = http.StatusNotFound, "404 Not Found"
	case d.ranges && err == nil:
		last = min(last, len(text)-1)
		resp.StatusCode, resp.Status, resp.ContentLength = http.StatusPartialContent, "206 Partial Content", int64(last-first+1)
		resp.Header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, last, len(text)))
		text = text[first : last+1]
	}
	pace := d.pace
	if req.URL.Host == "slow.example" {
		pace = 2
	}
	resp.Body = &dripBody{req.Context(), pace, strings.NewReader(text)}
	return resp, nil
}

type dripBody struct {
	ctx  context.Context
	pace int
	r    io.Reader
}

func (b *dripBody) Read(p []byte) (int, error) {
	if err := sleep(b.ctx, time.Second); err != nil {
		return 0, err
	}
	return b.r.Read(p[:min(len(p), b.pace)])
}

func (b *dripBody) Close() error { return nil }

// besides runs a Refresher of the station's folder and of URLs on the server, every minute until stop is called.
func (st *station) besides(d *drip, log *logBuffer, urls ...string) (stop func()) {
	r := st.beside(d, log, urls...)
	ctx, cancel := context.WithCancel(st.t.Context())
	done := make(chan struct{})
	go func() { // ends with cancel
		defer close(done)
		r.Run(ctx, every(time.Minute))
	}()
	return func() { cancel(); <-done }
}

func (st *station) beside(d *drip, log *logBuffer, urls ...string) *Refresher {
	st.t.Helper()
	r := st.refresher(st.s, log)
	r.client, r.ranges.BlockBytes = newClient(d), d.block
	from, err := parseSources(sourcesOf(append([]string{st.dir}, urls...)...))
	if err != nil {
		st.t.Fatal(err)
	}
	r.from = from
	return r
}

const closure = "id,lake_id,kind,cause,issuer,issued,valid_from,valid_until\ns1,a,closure,bacteria,Amt,2024-07-01,2024-07-01,\n"

func (st *station) closures() int {
	st.t.Helper()
	all, _, err := st.s.Advisories(st.t.Context())
	if err != nil {
		st.t.Fatal(err)
	}
	return len(all)
}

// A statement is imported by the schedule while a satellite file or a list of them is being received, however it is received.
func TestStatementsDoNotWaitForSatelliteFiles(t *testing.T) {
	list := "id,name,url\n" + strings.Repeat("1,x,http://space.example/x_19990701.nc\n", 200_000)
	for name, test := range map[string]struct {
		path   string
		ranges bool
	}{
		"download":  {"/x_19990701.nc", false},
		"by ranges": {"/x_19990701.nc", true},
		"list":      {"/list.csv", false},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, st *station) {
				st.put("lakes.csv", lakes)
				d := &drip{files: map[string]string{"/list.csv": list, "/x_19990701.nc": strings.Repeat(scene(1), 1000)}, pace: 5 << 10, ranges: test.ranges, block: 2 << 20}
				log := new(logBuffer)
				stop := st.besides(d, log, "http://space.example"+test.path)
				if r := st.after(10 * time.Second); r.Rows.Added != 2 || r.LastSuccess.IsZero() {
					t.Errorf("after the tables: %+v, want the lakes", r)
				}
				st.put("statements.csv", closure)
				r := st.after(2*time.Minute + 10*time.Second)
				if st.closures() != 1 {
					t.Errorf("the closure has not been imported after two minutes: %+v\n%s", r, log)
				}
				if r.LeasedUntil.IsZero() || st.begun(r) < time.Minute || r.LastSuccess.Before(r.LastAttempt) || r.Turn != 1 {
					t.Errorf("the state is %+v, want one refresh that is not over, and has imported the tables last after more than a minute", r)
				}
				st.put("statements.csv", closure+"s2,nowhere,closure,bacteria,Amt,2024-07-01,2024-07-01,\n")
				if r := st.after(4*time.Minute + 10*time.Second); r.LastError != rowsReason || r.Failures == 0 {
					t.Errorf("with a wrong table: %+v, want %q", r, rowsReason)
				}
				stop()
			})
		})
	}
}

// A server that sends less than the least pace is left alone until the next refresh, and the state says so.
func TestSlowServersAreLeft(t *testing.T) {
	for _, pace := range []int{2, 700} {
		for _, ranges := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d bytes a second, ranges: %t", pace, ranges), func(t *testing.T) {
				inBubble(t, func(t *testing.T, st *station) {
					st.put("lakes.csv", lakes)
					d := &drip{files: map[string]string{"/x_19990701.nc": strings.Repeat(scene(1), 1000)}, pace: pace, ranges: ranges}
					stop := st.besides(d, new(logBuffer), "http://space.example/x_19990701.nc")
					r := st.after(10 * time.Minute)
					if r.LastError != paceReason || r.Failures == 0 || r.Rasters.Waiting != 1 {
						t.Errorf("the state is %+v, want %q and a waiting file", r, paceReason)
					}
					stop()
				})
			})
		}
	}
}

// A file is received within Options.Timeout, whatever the number of attempts.
func TestTimeoutOfAllAttempts(t *testing.T) {
	inBubble(t, func(t *testing.T, st *station) {
		r := st.refresher(st.s, new(logBuffer))
		r.opts.Timeout = 10 * time.Minute
		r.client = newClient(&drip{files: map[string]string{"/lakes.csv": strings.Repeat("x", 10<<20)}, pace: 2 << 10})
		p, err := parseSource("http://land.example/lakes.csv")
		must(t, err)
		began := time.Now()
		_, err = r.fetch(t.Context(), p, data.RefreshFile{}, 1<<30, true)
		if took := time.Since(began); err == nil || reasonOf(err) != timeoutReason || took > 10*time.Minute {
			t.Errorf("fetch = %v after %v, want %q after ten minutes", err, took, timeoutReason)
		}
	})
}

// A download that was cut continues where it was, if the server proves that the file is the same; otherwise it begins again.
func TestDownloadsContinue(t *testing.T) {
	text := lakes + strings.Repeat("# a line that is no lake\n", 2000)
	sum := sha256.Sum256([]byte(text))
	const strong, weak = `"1"`, `W/"1"`
	for name, test := range map[string]struct {
		etags     [2]string // of the responses
		answer    func(w http.ResponseWriter, r *http.Request) bool
		ranges    string // of the requests
		digest    bool
		continues bool
	}{
		"same file":        {etags: [2]string{strong, strong}, ranges: " bytes=20000-", continues: true},
		"with a digest":    {etags: [2]string{strong, strong}, ranges: " bytes=20000-", digest: true, continues: true},
		"other file":       {etags: [2]string{strong, `"2"`}, ranges: " bytes=20000-"},
		"weak tag":         {etags: [2]string{weak, weak}, ranges: " "},
		"no tag":           {ranges: " "},
		"another range":    {etags: [2]string{strong, strong}, ranges: " bytes=20000- ", answer: wrongRange("bytes 19999-20001/52034")},
		"another length":   {etags: [2]string{strong, strong}, ranges: " bytes=20000- ", answer: wrongRange("bytes 20000-20002/20003")},
		"not the end":      {etags: [2]string{strong, strong}, ranges: " bytes=20000- ", answer: wrongRange(fmt.Sprintf("bytes 20000-20002/%d", len(text)))},
		"no range":         {etags: [2]string{strong, strong}, ranges: " bytes=20000- ", answer: wrongRange("")},
		"range not served": {etags: [2]string{strong, strong}, ranges: " bytes=20000- ", answer: func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(416); return true }},
	} {
		t.Run(name, func(t *testing.T) {
			s, o := storetest.New(t), newOffice(t)
			var mu sync.Mutex
			var asked []string
			o.serve("/lakes.csv", func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				n := len(asked)
				asked = append(asked, r.Header.Get("Range"))
				mu.Unlock()
				if etag := test.etags[min(n, 1)]; etag != "" {
					w.Header().Set("ETag", etag)
				}
				if test.digest && n == 0 {
					w.Header().Set("Repr-Digest", fmt.Sprintf("sha-256=:%s:", base64.StdEncoding.EncodeToString(sum[:])))
				}
				if n == 0 {
					w.Header().Set("Content-Length", fmt.Sprint(len(text)))
					io.WriteString(w, text[:20_000])
					return
				}
				if n == 1 && test.answer != nil && test.answer(w, r) {
					return
				}
				http.ServeContent(w, r, "", time.Time{}, bytes.NewReader([]byte(text)))
			})
			g := newRig(t, s, []string{o.URL + "/lakes.csv"}, Options{SkipBad: true})
			p, err := parseSource(o.URL + "/lakes.csv")
			must(t, err)
			f, err := g.fetch(t.Context(), p, data.RefreshFile{}, 1<<30, true)
			must(t, err)
			defer f.Close()
			if got, size, err := digestFile(t.Context(), f.File); err != nil || got != sum || got != f.SHA256 || size != f.size {
				t.Errorf("the file has %d bytes, %v: want those of the server", size, err)
			}
			mu.Lock()
			defer mu.Unlock()
			if got := strings.Join(asked, " "); got != test.ranges {
				t.Errorf("the ranges %q were requested, want %q", got, test.ranges)
			}
			if got := strings.Contains(g.log.String(), "continuing a download"); got != test.continues {
				t.Errorf("it continues: %v, want %v\n%s", got, test.continues, g.log)
			}
		})
	}
}

// wrongRange answers with three bytes and that Content-Range.
func wrongRange(field string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Range", field)
		w.WriteHeader(http.StatusPartialContent)
		io.WriteString(w, "bad")
		return true
	}
}
