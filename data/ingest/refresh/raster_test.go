package refresh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/store"
)

// A testExtractor reads files with one line: a product, a day, a version, and a value for all lakes. It reads in small parts.
type testExtractor struct {
	mu   sync.Mutex
	read []string // names of files, in order
	// during, if not nil, is called while a file is being read.
	during func(name string) error
}

func (e *testExtractor) Extract(ctx context.Context, f RasterFile, lakes Lakes, w io.Writer) (Extracted, error) {
	e.mu.Lock()
	e.read = append(e.read, f.Name)
	e.mu.Unlock()
	text := make([]byte, f.Size)
	for i := range text {
		if _, err := f.ReadAt(text[i:i+1], int64(i)); err != nil {
			return Extracted{}, errors.New("no header") // as a reader of formats says it
		}
		if i == 3 && e.during != nil {
			if err := e.during(f.Name); err != nil {
				return Extracted{}, err
			}
		}
	}
	var found Extracted
	var day, value string
	if _, err := fmt.Sscan(string(text), &found.Product, &day, &found.Version, &value); err != nil {
		return found, fmt.Errorf("found %q: want a product, a day, a version and a value", text)
	}
	var err error
	if found.Date, err = data.ParseDate(day); err != nil {
		return found, err
	}
	if found.Product == "panic" {
		panic("hostile")
	}
	fmt.Fprintln(w, "lake_id,date,chl,data_type,source,version")
	err = lakes(ctx, func(l data.Lake) error {
		found.Lakes++
		_, err := fmt.Fprintf(w, "%s,%s,%s,satellite,%s,%s\n", l.ID, day, value, found.Product, found.Version)
		return err
	})
	return found, err
}

// reads returns the names of the files that were read since the last call.
func (e *testExtractor) reads() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	names := strings.Join(e.read, " ")
	e.read = nil
	return names
}

var dayInName = regexp.MustCompile(`\d{8}`)

func testDateOf(name string) (data.Date, bool) {
	day, err := time.Parse("20060102", dayInName.FindString(name))
	return data.DateOf(day), err == nil
}

// A rasterRig is a rig that reads satellite files.
type rasterRig struct {
	*rig
	*testExtractor
	dir string
}

func newRasterRig(t *testing.T, s store.Store, opts Options, from ...string) *rasterRig {
	t.Helper()
	e := new(testExtractor)
	opts.Extractor, opts.DateOf = e, testDateOf
	g := &rasterRig{testExtractor: e, dir: t.TempDir()}
	if len(from) == 0 {
		from = []string{g.dir}
	}
	g.rig = newRig(t, s, from, opts)
	return g
}

// scene returns the content of a satellite file.
func scene(day, version string, value float64) string {
	return fmt.Sprintf("LWQ %s %s %v", day, version, value)
}

// refreshed refreshes and checks the error, the files that were read, and the counts.
func (g *rasterRig) refreshed(t *testing.T, wantErr, reads string, want data.RasterCounts) (Result, data.Refresh) {
	t.Helper()
	result, err := g.RunOnce(t.Context())
	if (err == nil) != (wantErr == "") || err != nil && !strings.Contains(err.Error(), wantErr) {
		t.Errorf("RunOnce = %v, want an error that contains %q", err, wantErr)
	}
	if got := g.reads(); got != reads {
		t.Errorf("the files %s were read, want %s", got, reads)
	}
	state, err := g.store.Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := state.Rasters.RasterCounts; got != want || !state.HeldUntil.IsZero() {
		t.Errorf("the state is %+v with the counts %+v, want %+v", state, got, want)
	}
	return result, state
}

func recordsOf(t *testing.T, s store.Store) map[string]data.RasterRecord {
	t.Helper()
	records, err := s.RasterRecords(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	byName := make(map[string]data.RasterRecord)
	for _, r := range records {
		byName[r.Name] = r
	}
	return byName
}

// Files are read newest first, after the lakes of the same refresh, and each one once until it changes.
func TestRastersAreTakenOnce(t *testing.T) {
	g := newRasterRig(t, openStore(t), Options{})
	write(t, g.dir, "lakes.csv", lakes)
	write(t, g.dir, "b_20240711.nc", scene("2024-07-11", "V1", 2))
	write(t, g.dir, "a_20240701.tif", scene("2024-07-01", "V1", 1))
	write(t, g.dir, "c_20240721.TIFF", scene("2024-07-21", "V1", 3))
	write(t, g.dir, ".d_20240731.nc", "hidden")
	result, state := g.refreshed(t, "", "c_20240721.TIFF b_20240711.nc a_20240701.tif", data.RasterCounts{})
	holds(t, g.store, 4, 2, "1", "2", "3", "1", "2", "3")
	if state.Rows.Added != 8 || state.Rasters.Taken != 3 || state.Rasters.LastProduct != "LWQ" || state.Rasters.LastTaken.IsZero() {
		t.Errorf("the state is %+v, want 8 rows added of 3 files", state)
	}
	if len(result.Rasters) != 3 || result.Rasters[0].Lakes != 2 || result.Rasters[0].Report.Added != 2 || result.Rasters[0].Bytes != int64(len(scene("2024-07-21", "V1", 3))) {
		t.Errorf("the result is %+v", result.Rasters)
	}
	if r := recordsOf(t, g.store)["b_20240711.nc"]; !r.Taken() || r.Product != "LWQ" || r.Version != "V1" || r.Date.String() != "2024-07-11" || r.Lakes != 2 || r.Written != 2 || r.Bytes == 0 {
		t.Errorf("the record is %+v", r)
	}
	if result, _ := g.refreshed(t, "", "", data.RasterCounts{}); !result.Unchanged {
		t.Errorf("without news: %+v", result)
	}
	write(t, g.dir, "b_20240711.nc", scene("2024-07-11", "V2", 5.5))
	if result, state := g.refreshed(t, "", "b_20240711.nc", data.RasterCounts{}); result.Unchanged || state.Rows.Changed != 2 {
		t.Errorf("with a file that changed: %+v, %+v", result, state)
	}
	holds(t, g.store, 5, 2, "1", "5.5", "3", "1", "5.5", "3")
	if err := os.Remove(filepath.Join(g.dir, "c_20240721.TIFF")); err != nil {
		t.Fatal(err)
	}
	g.refreshed(t, "", "", data.RasterCounts{})
	holds(t, g.store, 5, 2, "1", "5.5", "3", "1", "5.5", "3")
}

func TestNewestRasters(t *testing.T) {
	g := newRasterRig(t, openStore(t), Options{Newest: 2})
	write(t, g.dir, "lakes.csv", lakes)
	for day := range 5 { // two files a day
		for _, tile := range []string{"east", "west"} {
			write(t, g.dir, fmt.Sprintf("%s_2024070%d.nc", tile, day+1), scene(fmt.Sprintf("2024-07-0%d", day+1), "V1", float64(day)))
		}
	}
	g.refreshed(t, "", "west_20240705.nc east_20240705.nc west_20240704.nc east_20240704.nc", data.RasterCounts{Skipped: 6})
	write(t, g.dir, "west_20240706.nc", scene("2024-07-06", "V1", 6))
	g.refreshed(t, "", "west_20240706.nc", data.RasterCounts{Skipped: 6}) // those of July 4 were taken
}

// A file that cannot be used does not stop the others, and is read again when it changes, or after a growing time.
func TestRasterThatCannotBeUsed(t *testing.T) {
	g := newRasterRig(t, openStore(t), Options{})
	now := time.Now()
	g.now = func() time.Time { return now }
	write(t, g.dir, "lakes.csv", lakes)
	write(t, g.dir, "bad_20240711.nc", "no raster")
	write(t, g.dir, "panic_20240710.nc", "panic 2024-07-10 V1 1")
	write(t, g.dir, "row_20240709.nc", scene("2124-07-09", "V1", 1)) // in the future
	write(t, g.dir, "good_20240701.nc", scene("2024-07-01", "V1", 1))
	const all = "bad_20240711.nc panic_20240710.nc row_20240709.nc good_20240701.nc"
	failing := data.RasterCounts{Failing: 3}
	_, state := g.refreshed(t, `found "no raster": want a product`, all, failing)
	if state.LastError != "" || state.Rasters.Failed != 3 || state.Rasters.Taken != 1 {
		t.Errorf("the state is %+v, want a successful refresh with 3 failed files", state)
	}
	holds(t, g.store, 2, 2, "1", "1")
	r := recordsOf(t, g.store)
	if got := r["bad_20240711.nc"]; got.Error != `found "no raster": want a product, a day, a version and a value` || got.Failures != 1 {
		t.Errorf("the record is %+v", got)
	}
	if got := r["panic_20240710.nc"].Error; got != "the reader failed: hostile" {
		t.Errorf("a panic is stored as %q", got)
	}
	if got := r["row_20240709.nc"].Error; got != rowsReason {
		t.Errorf("rejected rows are stored as %q", got)
	}
	for what, n := range map[string]int{"satellite file imported": 1, "satellite file was not imported": 3, "row rejected": 2} {
		if got := strings.Count(g.log.String(), what); got != n {
			t.Errorf("the log says %d times %q, want %d:\n%s", got, what, n, g.log)
		}
	}

	// The server, which has a schedule, waits longer each time. The command reads the files again.
	by := func(reads string, want data.RasterCounts) {
		t.Helper()
		state, err := g.store.Refresh(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.refresh(t.Context(), state, false); err != nil {
			t.Fatal(err)
		}
		if got := g.reads(); got != reads {
			t.Errorf("after %v the files %q were read, want %q", now, got, reads)
		}
	}
	now = now.Add(59 * time.Minute)
	by("", failing)
	now = now.Add(2 * time.Minute)
	const bad = "bad_20240711.nc panic_20240710.nc row_20240709.nc"
	by(bad, failing)
	now = now.Add(119 * time.Minute)
	by("", failing)
	now = now.Add(2 * time.Minute)
	by(bad, failing)
	g.refreshed(t, "no raster", bad, failing)
	for range 20 {
		now = now.Add(lastRasterRetry + time.Second)
		by(bad, failing)
	}
	now = now.Add(lastRasterRetry - time.Minute)
	write(t, g.dir, "bad_20240711.nc", scene("2024-07-11", "V1", 4))
	by("bad_20240711.nc", data.RasterCounts{Failing: 2})
	holds(t, g.store, 3, 2, "1", "4", "1", "4")
}

// An error of the database, or the end of the process, leaves nothing of the file in progress and keeps those before.
func TestRasterIsInterrupted(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	g := newRasterRig(t, openStore(t), Options{})
	write(t, g.dir, "lakes.csv", lakes)
	for day := range 3 {
		write(t, g.dir, fmt.Sprintf("x_2024070%d.nc", day+1), scene(fmt.Sprintf("2024-07-0%d", day+1), "V1", float64(day+1)))
	}
	ctx, cancel := context.WithCancel(t.Context())
	g.during = func(name string) error {
		if name == "x_20240702.nc" {
			cancel()
			return ctx.Err()
		}
		return nil
	}
	if _, err := g.RunOnce(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("RunOnce = %v, want %v", err, context.Canceled)
	}
	holds(t, g.store, 2, 2, "3", "3")
	if r := recordsOf(t, g.store); len(r) != 2 || r["x_20240702.nc"].Error != interruptedReason || r["x_20240702.nc"].Failures != 0 {
		t.Errorf("the records are %+v, want one of a file that was taken, and one that was interrupted", r)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
	g.during = nil
	g.reads()
	g.refreshed(t, "", "x_20240702.nc x_20240701.nc", data.RasterCounts{})
	holds(t, g.store, 4, 2, "1", "2", "3", "1", "2", "3")
}

// A file during which the process ends is read again at once two times, and then later: a server must not end again and again.
func TestRasterThatEndsTheProcess(t *testing.T) {
	inBubble(t, func(t *testing.T, st *station) {
		st.put("lakes.csv", lakes)
		st.put("x_19990701.nc", scene("2024-07-01", "V1", 1))
		e := &testExtractor{during: func(string) error {
			runtime.Goexit() // as if killed: nothing is stored after it
			return nil
		}}
		r, err := New(st.s, []string{st.dir}, &Options{Extractor: e})
		if err != nil {
			t.Fatal(err)
		}
		var began []time.Duration
		start := time.Now()
		for time.Since(start) < 5*time.Hour {
			done := make(chan struct{})
			go func() { // ends with the refresh
				defer close(done)
				state, err := st.s.Refresh(t.Context())
				if err != nil {
					t.Error(err)
				}
				if _, err := r.refresh(t.Context(), state, false); err != nil {
					t.Error(err)
				}
			}()
			<-done
			if e.reads() != "" {
				began = append(began, time.Since(start).Round(time.Minute))
			}
			time.Sleep(5 * time.Minute) // longer than the claim
		}
		if want := []time.Duration{0, 5 * time.Minute, 10 * time.Minute, 70 * time.Minute, 190 * time.Minute}; !slices.Equal(began, want) {
			t.Errorf("the file was read after %v, want %v", began, want)
		}
		if got := recordsOf(t, st.s)["x_19990701.nc"]; got.Taken() || got.Failures != 5 {
			t.Errorf("the record is %+v", got)
		}
		holds(t, st.s, 1, 2)
		e.during = nil
		if _, err := r.RunOnce(t.Context()); err != nil {
			t.Error(err)
		}
		if got := recordsOf(t, st.s)["x_19990701.nc"]; !got.Taken() || got.Failures != 0 {
			t.Errorf("the record is %+v", got)
		}
		holds(t, st.s, 2, 2, "1", "1")
	})
}

func TestRasterThatChanges(t *testing.T) {
	g := newRasterRig(t, openStore(t), Options{})
	write(t, g.dir, "lakes.csv", lakes)
	path := write(t, g.dir, "x_20240701.nc", scene("2024-07-01", "V1", 1))
	g.during = func(string) error {
		write(t, g.dir, "x_20240701.nc", scene("2024-07-01", "V1", 12))
		return nil
	}
	_, state := g.refreshed(t, "changed while it was read", "x_20240701.nc", data.RasterCounts{Waiting: 1})
	if state.LastError != changingReason || state.Failures != 1 {
		t.Errorf("the state is %+v, want a refresh that is repeated soon", state)
	}
	holds(t, g.store, 1, 2)
	g.during = nil
	soon := time.Now()
	if err := os.Chtimes(path, soon, soon); err != nil {
		t.Fatal(err)
	}
	g.waited = nil
	if _, state := g.refreshed(t, "", "x_20240701.nc", data.RasterCounts{}); state.LastError != "" || !slices.Equal(g.waited, []time.Duration{settleTime}) {
		t.Errorf("the state is %+v after %v", state, g.waited)
	}
	holds(t, g.store, 2, 2, "12", "12")
}

// Without lakes, files wait: they would not be read again.
func TestRastersWaitForLakes(t *testing.T) {
	g := newRasterRig(t, openStore(t), Options{})
	write(t, g.dir, "x_20240701.nc", scene("2024-07-01", "V1", 1))
	if _, state := g.refreshed(t, "the database has no lakes", "", data.RasterCounts{Waiting: 1}); state.LastError != noLakesReason || state.Rasters.Failed != 0 {
		t.Errorf("the state is %+v", state)
	}
	write(t, g.dir, "lakes.csv", lakes)
	g.refreshed(t, "", "x_20240701.nc", data.RasterCounts{})
}

func TestRasterChecksum(t *testing.T) {
	g := newRasterRig(t, openStore(t), Options{RequireChecksum: true})
	write(t, g.dir, "lakes.csv", lakes)
	write(t, g.dir, "lakes.csv.sha256", sumText(lakes, "lakes.csv"))
	content := scene("2024-07-01", "V1", 1)
	write(t, g.dir, "x_20240701.nc", content)
	g.refreshed(t, "x_20240701.nc.sha256 is missing", "", data.RasterCounts{Failing: 1})
	write(t, g.dir, "x_20240701.nc.sha256", sumText("other", "x_20240701.nc"))
	g.refreshed(t, "its SHA-256 is", "", data.RasterCounts{Failing: 1})
	write(t, g.dir, "x_20240701.nc.sha256", sumText(content, "x_20240701.nc"))
	g.refreshed(t, "", "x_20240701.nc", data.RasterCounts{})
}

func TestRastersWithoutExtractor(t *testing.T) {
	s, dir := openStore(t), t.TempDir()
	write(t, dir, "lakes.csv", lakes)
	write(t, dir, "x_20240701.nc", scene("2024-07-01", "V1", 1))
	g := newRig(t, s, []string{dir}, Options{})
	if _, _, err := g.once(t, rasterReason); err == nil || !strings.Contains(err.Error(), "x_20240701.nc is a satellite file") {
		t.Errorf("RunOnce = %v", err)
	}
	holds(t, s, 0, 0)
	if _, err := New(s, []string{"https://example.org/a.nc?token=hidden"}, nil); err == nil || !strings.Contains(err.Error(), "https://example.org/a.nc is a satellite file") {
		t.Errorf("New = %v", err)
	}
}

// A rasterServer serves files, and counts the bytes of their content that it sends.
type rasterServer struct {
	*httptest.Server
	mu    sync.Mutex
	files map[string]string // by path
	asked []string
	down  bool
	noTag bool
}

func serveRasters(t *testing.T) *rasterServer {
	s := &rasterServer{files: make(map[string]string)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked = append(s.asked, r.URL.Path)
		content, ok := s.files[r.URL.Path]
		switch {
		case s.down:
			w.WriteHeader(http.StatusServiceUnavailable)
		case !ok:
			http.NotFound(w, r)
		default:
			if !s.noTag {
				w.Header().Set("ETag", fmt.Sprintf("%q", sumText(content, "")[:16]))
			}
			io.WriteString(w, content)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *rasterServer) put(path, content string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[path] = content
}

func TestRasterURL(t *testing.T) {
	web := serveRasters(t)
	web.put("/lakes.csv", lakes)
	web.put("/x_20240701.nc", scene("2024-07-01", "V1", 1))
	g := newRasterRig(t, openStore(t), Options{}, web.URL+"/lakes.csv", web.URL+"/x_20240701.nc?token=hidden")
	result, _ := g.refreshed(t, "", "x_20240701.nc", data.RasterCounts{})
	holds(t, g.store, 2, 2, "1", "1")
	if r := result.Rasters[0]; r.Name != web.URL+"/x_20240701.nc" || r.Bytes == 0 {
		t.Errorf("the result is %+v", r)
	}
	g.refreshed(t, "", "", data.RasterCounts{})
	web.put("/x_20240701.nc", scene("2024-07-01", "V1", 2))
	g.refreshed(t, "", "x_20240701.nc", data.RasterCounts{})
	web.noTag = true
	g.refreshed(t, "", "x_20240701.nc", data.RasterCounts{}) // its content is the tag
	g.refreshed(t, "", "", data.RasterCounts{})
	holds(t, g.store, 3, 2, "2", "2")

	g.opts.MaxRasterBytes = 3
	web.noTag = false
	web.put("/x_20240701.nc", scene("2024-07-01", "V1", 3))
	g.refreshed(t, "at most 3 are allowed (max-raster-bytes)", "", data.RasterCounts{Failing: 1})
	web.down = true
	inbox := t.TempDir()
	g = newRasterRig(t, g.store, Options{}, inbox, web.URL+"/x_20240701.nc?token=hidden")
	write(t, inbox, "y_20240702.nc", scene("2024-07-02", "V1", 7))
	_, state := g.refreshed(t, "503", "y_20240702.nc", data.RasterCounts{Waiting: 1})
	if state.LastError != answerReason || strings.Contains(g.log.String(), "hidden") {
		t.Errorf("the state is %+v\n%s", state, g.log)
	}
	web.down = false
	g.refreshed(t, "", "x_20240701.nc", data.RasterCounts{})
	holds(t, g.store, 5, 2, "3", "7", "3", "7")
}

// A testRange is a RangeFile that fails after some reads.
type testRange struct {
	*strings.Reader
	fail  error
	bytes int64
}

func (f *testRange) ReadAt(p []byte, off int64) (int, error) {
	if f.fail != nil && off > 2 {
		return 0, f.fail
	}
	f.bytes += int64(len(p))
	return f.Reader.ReadAt(p, off)
}

func (f *testRange) Tag() string  { return "one" }
func (f *testRange) Bytes() int64 { return f.bytes + 100 }
func (f *testRange) Close() error { return nil }

func TestRasterByRanges(t *testing.T) {
	var open func(u string) (RangeFile, error)
	web := serveRasters(t)
	web.put("/x_20240701.nc", scene("2024-07-01", "V1", 1))
	s := openStore(t)
	g := newRasterRig(t, s, Options{OpenRanges: func(_ context.Context, client *http.Client, u string) (RangeFile, error) {
		if client == nil {
			t.Error("there is no client")
		}
		return open(u)
	}})
	write(t, g.dir, "lakes.csv", lakes)
	g.refreshed(t, "", "", data.RasterCounts{})
	address := web.URL + "/x_20240701.nc?token=hidden"
	var err error
	if g.from, err = parseSources([]string{address}); err != nil {
		t.Fatal(err)
	}
	g.opts.Extractor = g.testExtractor
	ranges := func(fail error) func(string) (RangeFile, error) {
		return func(u string) (RangeFile, error) {
			if u != address {
				t.Errorf("the address is %s, want %s", u, address)
			}
			return &testRange{strings.NewReader(scene("2024-07-01", "V1", 1)), fail, 0}, nil
		}
	}
	fails := func(err error) func(string) (RangeFile, error) {
		return func(string) (RangeFile, error) { return nil, err }
	}
	for _, test := range []struct {
		open   func(string) (RangeFile, error)
		err    string
		reads  string
		reason string
		counts data.RasterCounts
	}{
		{fails(fmt.Errorf("get: %w", ErrNoFile)), "gives no such file", "", "", data.RasterCounts{Failing: 1}},
		{fails(&url.Error{Op: "Get", URL: address, Err: errors.New("no route")}), "no route", "", awayReason, data.RasterCounts{Waiting: 1}},
		{fails(fmt.Errorf("get %s: no route", address)), "/x_20240701.nc: the request failed", "", awayReason, data.RasterCounts{Waiting: 1}},
		{fails(fmt.Errorf("%s/x_20240701.nc: no host", web.URL)), "/x_20240701.nc: no host", "", awayReason, data.RasterCounts{Waiting: 1}},
		{fails(errors.New("wrong token=hidden")), "the request failed", "", awayReason, data.RasterCounts{Waiting: 1}},
		{ranges(fmt.Errorf("block 3: %w", ErrChanged)), "changed while it was read", "x_20240701.nc", changingReason, data.RasterCounts{Waiting: 1}},
		{ranges(errors.New("reset")), "reset", "x_20240701.nc", awayReason, data.RasterCounts{Waiting: 1}},
		{ranges(nil), "", "x_20240701.nc", "", data.RasterCounts{}},
		{ranges(nil), "", "", "", data.RasterCounts{}},
	} {
		open = test.open
		result, state := g.refreshed(t, test.err, test.reads, test.counts)
		if state.LastError != test.reason {
			t.Errorf("with %q: the reason is %q, want %q", test.err, state.LastError, test.reason)
		}
		if len(result.Rasters) == 1 && test.err == "" && result.Rasters[0].Bytes != 100+int64(len(scene("2024-07-01", "V1", 1))) {
			t.Errorf("%d bytes were fetched", result.Rasters[0].Bytes)
		}
	}
	if strings.Contains(g.log.String(), "hidden") {
		t.Errorf("the log has the token:\n%s", g.log)
	}
	holds(t, s, 2, 2, "1", "1")
	web.asked = nil
	open = fails(ErrNoRanges)
	g.refreshed(t, "", "x_20240701.nc", data.RasterCounts{})
	if !slices.Contains(web.asked, "/x_20240701.nc") {
		t.Error("without ranges the file is not downloaded")
	}
}
