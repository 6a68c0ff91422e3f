package rangefile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"limnomap/data/fetchguard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// content returns bytes that do not repeat.
func content(n int) []byte {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// serve starts a server with a handler, and returns the URL of a file on it.
func serve(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL + "/data/file.nc?key=secret"
}

// A request is what a server was asked for.
type request struct{ rng, ifRange string }

// A recorder serves a file as http.ServeContent does, and records requests.
type recorder struct {
	file     []byte
	etag     string
	modified time.Time

	mu       sync.Mutex
	requests []request
}

func (s *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, request{r.Header.Get("Range"), r.Header.Get("If-Range")})
	etag, file := s.etag, s.file
	s.mu.Unlock()
	if etag != "" {
		w.Header().Set("ETag", etag)
	}
	http.ServeContent(w, r, "file.nc", s.modified, bytes.NewReader(file))
}

func (s *recorder) taken() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.requests
	s.requests = nil
	return taken
}

// open opens a file that is closed at the end of the test, without waits between attempts.
func open(t testing.TB, rawURL string, opts *Options) *File {
	t.Helper()
	f, err := Open(t.Context(), newClient(t), rawURL, opts)
	if err != nil {
		t.Fatal(err)
	}
	f.sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// newClient returns a client whose idle connections end with the test.
func newClient(t testing.TB) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 8}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// serveThen starts a server of a file of 20,000 bytes whose answers after the first are those of then.
func serveThen(t *testing.T, then http.HandlerFunc) string {
	first := true
	file := &recorder{file: content(20_000)}
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		if first {
			first = false
			file.ServeHTTP(w, r)
			return
		}
		then(w, r)
	})
}

func checkRead(t testing.TB, f *File, want []byte, off, n int) {
	t.Helper()
	p := make([]byte, n)
	k, err := f.ReadAt(p, int64(off))
	end := min(off+n, len(want))
	if off+n > len(want) {
		if err != io.EOF {
			t.Errorf("ReadAt of %d bytes at %d: error %v, want EOF", n, off, err)
		}
	} else if err != nil {
		t.Fatalf("ReadAt of %d bytes at %d: %v", n, off, err)
	}
	if off < end && !bytes.Equal(p[:k], want[off:end]) || k != max(0, end-off) {
		t.Fatalf("ReadAt of %d bytes at %d returned %d other bytes", n, off, k)
	}
}

func TestReadAt(t *testing.T) {
	for _, size := range []int{1, 999, 1000, 1001, 54321} {
		s := &recorder{file: content(size), etag: `"a"`}
		f := open(t, serve(t, s.ServeHTTP), &Options{BlockBytes: 1000, CacheBytes: 7000, MaxRequestBytes: 5000})
		if f.Size() != int64(size) || f.ETag() != `"a"` || f.LastModified() != "" {
			t.Fatalf("size %d, ETag %s, want %d", f.Size(), f.ETag(), size)
		}
		rng := rand.New(rand.NewPCG(2, 3))
		for range 300 {
			off, n := rng.IntN(size+2), rng.IntN(3000)
			if rng.IntN(10) == 0 {
				n = rng.IntN(20000)
			}
			checkRead(t, f, s.file, off, n)
		}
		checkRead(t, f, s.file, 0, size)
		if _, err := f.ReadAt(make([]byte, 1), -1); err == nil || !strings.Contains(err.Error(), "negative") {
			t.Errorf("a negative offset: error %v", err)
		}
		if n, err := f.ReadAt(nil, 1<<60); n != 0 || err != nil {
			t.Errorf("reading nothing: %d, %v", n, err)
		}
	}
}

func TestEmptyFile(t *testing.T) {
	f := open(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Range", "bytes */0")
		http.Error(w, "empty", http.StatusRequestedRangeNotSatisfiable)
	}), nil)
	checkRead(t, f, nil, 0, 10)
	if f.Size() != 0 {
		t.Errorf("size %d, want 0", f.Size())
	}
}

// TestRequests says which requests are made.
func TestRequests(t *testing.T) {
	s := &recorder{file: content(100_000), etag: `"a"`}
	f := open(t, serve(t, s.ServeHTTP), &Options{BlockBytes: 1000, MaxRequestBytes: 8000})
	check := func(what string, want ...string) {
		t.Helper()
		f.work.Wait() // for what is read ahead
		var got []string
		for _, r := range s.taken() {
			got = append(got, strings.TrimPrefix(r.rng, "bytes="))
			if r.ifRange != `"a"` && r.rng != "bytes=0-999" {
				t.Errorf("%s: If-Range is %s", what, r.ifRange)
			}
		}
		slices.Sort(got) // requests of one read are made at once
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: ranges %v, want %v", what, got, want)
		}
	}
	check("opening", "0-999")
	checkRead(t, f, s.file, 0, 1000)
	check("the beginning again")
	checkRead(t, f, s.file, 50_500, 3000)
	check("adjacent blocks in one request", "50000-53999")
	checkRead(t, f, s.file, 51_000, 2000)
	check("blocks that are there")
	checkRead(t, f, s.file, 49_500, 6000)
	check("both sides of blocks that are there", "49000-49999", "54000-57999") // the latter follows another request, so it reads ahead
	checkRead(t, f, s.file, 99_990, 100)
	check("the end", "99000-99999")

	for off := 20_000; off < 60_000; off += 500 {
		checkRead(t, f, s.file, off, 500)
		f.work.Wait()
	}
	check("reads that follow each other", "20000-20999", "21000-22999", "23000-26999", "27000-34999", "35000-42999", "43000-48999", "58000-63999")
	if n := f.Bytes(); n != 46_000 {
		t.Errorf("%d bytes, want 46,000", n)
	}

	checkRead(t, f, s.file, 70_000, 20_000)
	f.work.Wait()
	for _, r := range s.taken() {
		var first, last int
		if _, err := fmt.Sscanf(r.rng, "bytes=%d-%d", &first, &last); err != nil || last-first >= 9000 {
			t.Errorf("a large read requests %s, want at most 9 blocks", r.rng)
		}
	}
}

// TestTwoStreams reads two sequences by turns. Both must grow.
func TestTwoStreams(t *testing.T) {
	s := &recorder{file: content(200_000), etag: `"a"`}
	f := open(t, serve(t, s.ServeHTTP), &Options{BlockBytes: 1000, MaxRequestBytes: 16_000})
	for off := 0; off < 50_000; off += 1000 {
		checkRead(t, f, s.file, 10_000+off, 1000)
		checkRead(t, f, s.file, 110_000+off, 1000)
		f.work.Wait()
	}
	if n := len(s.taken()); n > 15 {
		t.Errorf("%d requests for two sequences of 50 blocks", n)
	}
}

func TestCacheIsBounded(t *testing.T) {
	s := &recorder{file: content(100_000)}
	f := open(t, serve(t, s.ServeHTTP), &Options{BlockBytes: 1000, CacheBytes: 10_000, MaxRequestBytes: 4000})
	checkRead(t, f, s.file, 0, 100_000)
	f.work.Wait()
	if f.cache.Len() > 10 || len(f.pending) != 0 {
		t.Errorf("%d blocks are kept and %d pending, want at most 10 and none", f.cache.Len(), len(f.pending))
	}
}

// TestConcurrent lets many goroutines read. Each block is requested once.
func TestConcurrent(t *testing.T) {
	s := &recorder{file: content(300_000), etag: `"a"`}
	var now, most atomic.Int64
	f := open(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for {
			old := most.Load()
			if n <= old || most.CompareAndSwap(old, n) {
				break
			}
		}
		s.ServeHTTP(w, r)
	}), &Options{BlockBytes: 1000, MaxRequests: 3})
	var readers sync.WaitGroup
	for i := range 16 {
		readers.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 1))
			for range 200 {
				checkRead(t, f, s.file, rng.IntN(300_000), rng.IntN(5000))
			}
		})
	}
	readers.Wait()
	f.work.Wait()
	if f.Bytes() > 300_000 {
		t.Errorf("%d bytes of a file of 300,000, which fits into the cache", f.Bytes())
	}
	if n := most.Load(); n > 3 {
		t.Errorf("%d requests at once, want at most 3", n)
	}
}

// TestNoRanges opens files on servers that do not serve ranges.
func TestNoRanges(t *testing.T) {
	for _, c := range []struct {
		name   string
		handle http.HandlerFunc
	}{
		{"status 200", func(w http.ResponseWriter, r *http.Request) { w.Write(content(100_000)) }},
		{"unknown size", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Range", "bytes 0-999/*")
			w.WriteHeader(http.StatusPartialContent)
			w.Write(content(1000))
		}},
		{"an encoding", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			(&recorder{file: content(1000)}).ServeHTTP(w, r)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Open(t.Context(), newClient(t), serve(t, c.handle), nil)
			if !errors.Is(err, ErrNoRanges) || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "/data/file.nc") {
				t.Errorf("error %v, want %v", err, ErrNoRanges)
			}
		})
	}
}

func TestChanged(t *testing.T) {
	for _, c := range []struct {
		name   string
		before *recorder
		change func(*recorder)
	}{
		{"ETag", &recorder{etag: `"a"`}, func(s *recorder) { s.etag = `"b"` }},
		{"weak ETag", &recorder{etag: `W/"a"`}, func(s *recorder) { s.etag = `W/"b"` }},
		{"date", &recorder{modified: time.Unix(1e9, 0)}, func(s *recorder) { s.modified = time.Unix(1e9+1, 0) }},
		{"size", &recorder{}, func(s *recorder) { s.file = content(20_001) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := c.before
			s.file = content(20_000)
			f := open(t, serve(t, s.ServeHTTP), &Options{BlockBytes: 1000})
			checkRead(t, f, s.file, 10_000, 1000)
			s.mu.Lock()
			c.change(s)
			s.mu.Unlock()
			for _, off := range []int64{5000, 10_000} { // a block that is there too
				if _, err := f.ReadAt(make([]byte, 10), off); !errors.Is(err, ErrChanged) {
					t.Errorf("ReadAt: error %v, want %v", err, ErrChanged)
				}
			}
		})
	}

	t.Run("precondition", func(t *testing.T) {
		f := open(t, serveThen(t, func(w http.ResponseWriter, r *http.Request) { http.Error(w, "", http.StatusPreconditionFailed) }), &Options{BlockBytes: 1000})
		if _, err := f.ReadAt(make([]byte, 10), 5000); !errors.Is(err, ErrChanged) {
			t.Errorf("ReadAt: error %v, want %v", err, ErrChanged)
		}
	})
}

// TestIfRange says which validators are sent.
func TestIfRange(t *testing.T) {
	const date, later, sooner = "Sun, 09 Sep 2001 01:46:40 GMT", "Sun, 09 Sep 2001 01:46:41 GMT", "Sun, 09 Sep 2001 01:46:40 GMT"
	for _, c := range []struct{ etag, modified, date, want string }{
		{`"a"`, date, later, `"a"`},
		{`W/"a"`, date, later, ""},
		{"", date, later, date},
		{"", date, sooner, ""},
		{"", date, "", ""},
		{"", "soon", later, ""},
		{"", "", later, ""},
		{`"` + strings.Repeat("a", 2000) + `"`, "", later, ""},
	} {
		h := http.Header{}
		for name, v := range map[string]string{"ETag": c.etag, "Last-Modified": c.modified, "Date": c.date} {
			if v != "" {
				h.Set(name, v)
			}
		}
		if got := identityOf(h).ifRange; got != c.want {
			t.Errorf("%+v: If-Range %q, want %q", c, got, c.want)
		}
	}
}

// TestHostile reads from servers that answer otherwise than they were asked to.
func TestHostile(t *testing.T) {
	part := func(header string, n int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Range", header)
			w.WriteHeader(http.StatusPartialContent)
			w.(http.Flusher).Flush() // no Content-Length
			w.Write(make([]byte, n))
		}
	}
	for _, c := range []struct {
		name    string
		handle  http.HandlerFunc
		message string
	}{
		{"another range", part("bytes 0-999/20000", 1000), "want bytes 5000-5999"},
		{"a longer range", part("bytes 5000-6999/20000", 2000), "want bytes 5000-5999"},
		{"no range", part("", 1000), "want bytes 5000-5999/20000"},
		{"too long a body", part("bytes 5000-5999/20000", 1<<20), "more than the 1000 bytes"},
		{"too short a body", part("bytes 5000-5999/20000", 999), "unexpected EOF"},
		{"status 200", func(w http.ResponseWriter, r *http.Request) { w.Write(make([]byte, 20_000)) }, ErrNoRanges.Error()},
		{"status 404", http.NotFound, "status 404"},
		{"status 503", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "", http.StatusServiceUnavailable) }, "status 503"},
		{"status 429 for long", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "99999999999999")
			http.Error(w, "", http.StatusTooManyRequests)
		}, "status 429"},
		{"endless redirects", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/secret", http.StatusFound)
		}, "10 redirects"},
		{"a redirect to an invalid address", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://secret:1x/")
			w.WriteHeader(http.StatusFound)
		}, "invalid address"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := open(t, serveThen(t, c.handle), &Options{BlockBytes: 1000})
			n, err := f.ReadAt(make([]byte, 10), 5000)
			if c.name == "too long a body" && err == nil { // the block itself is whole
				n, err = f.ReadAt(make([]byte, 2000), 8000)
				if n != 2000 && err == nil {
					t.Errorf("read %d bytes", n)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.message) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%d bytes, error %v, want %q", n, err, c.message)
			}
			if f.Bytes() > 10_000 {
				t.Errorf("%d bytes were read", f.Bytes())
			}
		})
	}
}

// TestRetry reads from a server that breaks off most responses.
func TestRetry(t *testing.T) {
	s := &recorder{file: content(50_000), etag: `"a"`}
	n := 0
	f := open(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch n++; n % 4 {
		case 1, 2:
			s.ServeHTTP(w, r)
		case 3:
			http.Error(w, "", http.StatusBadGateway)
		default:
			s.ServeHTTP(&cutWriter{w, 2500}, r)
		}
	}), &Options{BlockBytes: 1000, MaxRequestBytes: 10_000, MaxRequests: 1})
	checkRead(t, f, s.file, 500, 49_000)
	var blocks int64
	for _, r := range s.taken() {
		var first, last int64
		if _, err := fmt.Sscanf(r.rng, "bytes=%d-%d", &first, &last); err != nil {
			t.Fatal(err)
		}
		blocks += (last-first)/1000 + 1
	}
	if blocks <= 50 {
		t.Errorf("%d blocks were requested, want some of them twice", blocks)
	}
	if f.Bytes() > 60_000 {
		t.Errorf("%d bytes were read, want whole blocks only once", f.Bytes())
	}
}

// A cutWriter breaks off a response.
type cutWriter struct {
	http.ResponseWriter
	left int
}

func (c *cutWriter) Write(p []byte) (int, error) {
	if len(p) > c.left {
		c.ResponseWriter.Write(p[:c.left])
		c.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	c.left -= len(p)
	return c.ResponseWriter.Write(p)
}

// TestWaits checks the waits between attempts, without waiting.
func TestWaits(t *testing.T) {
	for _, c := range []struct {
		name, retryAfter string
		attempts         int
		least, most      []time.Duration
	}{
		{"growing", "", 4, []time.Duration{250, 500, 1000}, []time.Duration{500, 1000, 2000}},
		{"as asked for", "7", 3, []time.Duration{7000, 7000}, []time.Duration{7000, 7000}},
		{"not so long", "61", 4, nil, nil},
		{"a date", "Sun, 09 Sep 2001 01:46:40 GMT", 2, []time.Duration{250}, []time.Duration{500}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := open(t, serveThen(t, func(w http.ResponseWriter, r *http.Request) {
				if c.retryAfter != "" {
					w.Header().Set("Retry-After", c.retryAfter)
				}
				http.Error(w, "", http.StatusServiceUnavailable)
			}), &Options{BlockBytes: 1000, Attempts: c.attempts})
			var waits []time.Duration
			f.sleep = func(_ context.Context, d time.Duration) error {
				waits = append(waits, d)
				return nil
			}
			if _, err := f.ReadAt(make([]byte, 1), 5000); err == nil || !strings.Contains(err.Error(), "503") {
				t.Errorf("error %v, want status 503", err)
			}
			if len(waits) != len(c.least) {
				t.Fatalf("waits %v, want %d", waits, len(c.least))
			}
			for i, d := range waits {
				if d < c.least[i]*time.Millisecond || d > c.most[i]*time.Millisecond {
					t.Errorf("wait %d is %v, want %d to %d ms", i, d, c.least[i], c.most[i])
				}
			}
			waits = nil
			if _, err := f.ReadAt(make([]byte, 1), 5000); err == nil { // an error is not kept
				t.Error("no error")
			} else if len(waits) != len(c.least) {
				t.Error("the second read made no requests")
			}
		})
	}
}

// A pipeTransport serves requests in the process, so that synctest can run its clock.
type pipeTransport struct {
	handle func(*http.Request) (*http.Response, error)
}

func (p pipeTransport) RoundTrip(r *http.Request) (*http.Response, error) { return p.handle(r) }

// dripBody brings its bytes at intervals, until the request ends.
type dripBody struct {
	ctx   context.Context
	every time.Duration
	left  int
}

func (d *dripBody) Read(p []byte) (int, error) {
	if d.left == 0 {
		return 0, io.EOF
	}
	select {
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	case <-time.After(d.every):
	}
	d.left--
	p[0] = 1
	return 1, nil
}

func (*dripBody) Close() error { return nil }

// TestSlow reads from servers that bring nothing, or too little.
func TestSlow(t *testing.T) {
	for _, c := range []struct {
		name  string
		every time.Duration
		want  error
	}{
		{"stalled", time.Hour, ErrStalled},
		{"slow", 20 * time.Second, ErrPace},
		{"slower than the pace", 1001 * time.Microsecond, ErrPace},
		{"slow enough", 900 * time.Microsecond, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := &http.Client{Transport: pipeTransport{func(r *http.Request) (*http.Response, error) {
					var first, last int
					if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &first, &last); err != nil {
						return nil, err
					}
					every := c.every
					if first == 0 {
						every = 0
					}
					return &http.Response{StatusCode: http.StatusPartialContent, Request: r, ContentLength: -1,
						Header: http.Header{"Content-Range": {fmt.Sprintf("bytes %d-%d/400000", first, last)}},
						Body:   &dripBody{r.Context(), every, last - first + 1}}, nil
				}}}
				f, err := Open(t.Context(), client, "http://example.org/", &Options{BlockBytes: 100_000})
				if err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				if _, err := f.ReadAt(make([]byte, 10), 300_000); !errors.Is(err, c.want) {
					t.Errorf("error %v, want %v", err, c.want)
				}
				if took := time.Since(start); took > 21*time.Minute {
					t.Errorf("it took %v", took)
				}
				f.Close()
			})
		})
	}
}

// Close, and the end of the context, end requests that would take forever.
func TestClose(t *testing.T) {
	for _, want := range []error{ErrClosed, context.Canceled} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		asked := make(chan struct{})
		f, err := Open(ctx, newClient(t), serveThen(t, func(w http.ResponseWriter, r *http.Request) {
			close(asked)
			<-r.Context().Done()
		}), &Options{BlockBytes: 1000})
		if err != nil {
			t.Fatal(err)
		}
		result := make(chan error)
		go func() {
			_, err := f.ReadAt(make([]byte, 10), 5000)
			result <- err
		}()
		<-asked
		if want == ErrClosed {
			f.Close()
		} else {
			cancel()
		}
		if err := <-result; !errors.Is(err, want) {
			t.Errorf("error %v, want %v", err, want)
		}
		f.Close()
		if _, err := f.ReadAt(make([]byte, 10), 0); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: error %v, want %v", err, ErrClosed)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") // a port at which no one listens
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://user:secret@" + listener.Addr().String() + "/f"
	listener.Close()
	guarded := &http.Client{Transport: fetchguard.New(&http.Transport{})}
	for _, c := range []struct {
		name, url string
		client    *http.Client
		message   string
	}{
		{"not a URL", "http://secret\x7f/", newClient(t), "invalid URL"},
		{"no host", "http:///secret", newClient(t), "invalid URL"},
		{"no one listens", closed, newClient(t), "connect"},
		{"a refused address", "http://169.254.169.254/f?secret", guarded, fetchguard.ErrRefused.Error()},
		{"not found", serve(t, http.NotFound), newClient(t), ErrNoFile.Error() + ": status 404"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Open(t.Context(), c.client, c.url, &Options{Attempts: 1})
			if err == nil || !strings.Contains(err.Error(), c.message) || strings.Contains(err.Error(), "secret") {
				t.Errorf("error %v, want %q", err, c.message)
			}
		})
	}
}

// TestRedirect reads a file by a redirect, which each request follows again.
func TestRedirect(t *testing.T) {
	s := &recorder{file: content(20_000), etag: `"a"`}
	redirects := 0
	f := open(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/data/file.nc" {
			redirects++
			http.Redirect(w, r, "/store/file.nc", http.StatusFound)
			return
		}
		s.ServeHTTP(w, r)
	}), &Options{BlockBytes: 1000})
	checkRead(t, f, s.file, 5000, 3000)
	if taken := s.taken(); redirects != 2 || len(taken) != 2 || taken[1] != (request{"bytes=5000-7999", `"a"`}) {
		t.Errorf("%d redirects, requests %v", redirects, taken)
	}
}

func FuzzContentRange(f *testing.F) {
	for _, s := range []string{"bytes 0-1/2", "bytes */0", "bytes 0-18446744073709551615/1", "bytes  1-2/3", "bytes=1-2/3", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		first, last, size, ok := ContentRange(s)
		if ok && !(0 <= first && first <= last && last < size && size <= maxSize) {
			t.Fatalf("%q is %d-%d/%d", s, first, last, size)
		}
	})
}
