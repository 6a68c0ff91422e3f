package refresh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/paulmach/orb"

	"limnomap/data"
	"limnomap/data/ingest"
	"limnomap/data/ingest/satellite"
	"limnomap/data/ingest/satellite/satellitetest"
	"limnomap/data/store"
	"limnomap/data/store/storetest"
)

// A rasterRig is a rig that remembers which satellite files it reads.
type rasterRig struct {
	*rig
	dir  string
	mu   sync.Mutex
	read []string // names of files, in order
	// during, if not nil, is called when a file is being read.
	during func(name string) error
}

// reads returns the names of the files that were read since the last call.
func (g *rasterRig) reads() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	names := strings.Join(g.read, " ")
	g.read = nil
	return names
}

// watch makes a Refresher remember what it reads. Its requests are not repeated.
func (g *rasterRig) watch(r *Refresher) {
	extract := r.extractFile
	r.extractFile = func(ctx context.Context, f satellite.File, lakes []satellite.Lake, opts *satellite.Options) (*satellite.Values, error) {
		g.mu.Lock()
		g.read = append(g.read, f.Name)
		g.mu.Unlock()
		if g.during != nil {
			if err := g.during(f.Name); err != nil {
				return nil, err
			}
		}
		return extract(ctx, f, lakes, opts)
	}
	r.ranges.Attempts, r.ranges.BlockBytes = 1, 512
}

func newRasterRig(t *testing.T, s *store.Store, opts Options, from ...string) *rasterRig {
	t.Helper()
	g := &rasterRig{dir: t.TempDir()}
	if len(from) == 0 {
		from = []string{g.dir}
	}
	g.rig = newRig(t, s, from, opts)
	g.watch(g.Refresher)
	return g
}

// scene returns the content of a satellite file with that value in all pixels; cloud is a gap.
func scene(value float64) string {
	const size = 26
	f := satellitetest.TIFF{Width: size, Height: size, X0: 9.875, Y0: 51.125, Step: 0.05, Unit: "mg m-3", NoData: "-9999"}
	for range size * size {
		f.Floats = append(f.Floats, float32(value))
	}
	return string(f.Encode())
}

const cloud = -9999

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
	must(t, err)
	if got := state.Rasters.RasterCounts; got != want || !state.LeasedUntil.IsZero() {
		t.Errorf("the state is %+v with the counts %+v, want %+v", state, got, want)
	}
	return result, state
}

func recordsOf(t *testing.T, s *store.Store) map[string]data.RasterRecord {
	t.Helper()
	records, err := s.RasterRecords(t.Context())
	must(t, err)
	byName := make(map[string]data.RasterRecord)
	for _, r := range records {
		byName[r.Name] = r
	}
	return byName
}

// Files are read newest first, after the lakes of the same refresh, and each one once until it changes.
func TestRastersAreTakenOnce(t *testing.T) {
	g := newRasterRig(t, storetest.New(t), Options{})
	write(t, g.dir, "lakes.csv", lakes)
	write(t, g.dir, "b_20240711_V1.nc", scene(2))
	write(t, g.dir, "a_20240701.tif", scene(1))
	write(t, g.dir, "c_20240721.TIFF", scene(3))
	write(t, g.dir, ".d_20240731.nc", "hidden")
	result, state := g.refreshed(t, "", "c_20240721.TIFF b_20240711_V1.nc a_20240701.tif", data.RasterCounts{})
	holds(t, g.store, 4, 2, "1", "2", "3", "1", "2", "3")
	if state.Rows.Added != 8 || state.Rasters.Taken != 3 || state.Rasters.LastProduct != "chlorophyll raster" || state.Rasters.LastTaken.IsZero() {
		t.Errorf("the state is %+v, want 8 rows added of 3 files", state)
	}
	if len(result.Rasters) != 3 || result.Rasters[0].Lakes != 2 || result.Rasters[0].Report.Added != 2 || result.Rasters[0].Bytes < int64(len(scene(3)))/2 {
		t.Errorf("the result is %+v", result.Rasters)
	}
	if r := recordsOf(t, g.store)["b_20240711_V1.nc"]; !r.Taken() || r.Product != "chlorophyll raster" || r.Version != "V1" || r.Date.String() != "2024-07-11" || r.Lakes != 2 || r.Written != 2 || r.Bytes == 0 {
		t.Errorf("the record is %+v", r)
	}
	if result, _ := g.refreshed(t, "", "", data.RasterCounts{}); !result.Unchanged {
		t.Errorf("without news: %+v", result)
	}
	write(t, g.dir, "b_20240711_V1.nc", scene(5.5))
	if result, state := g.refreshed(t, "", "b_20240711_V1.nc", data.RasterCounts{}); result.Unchanged || state.Rows.Changed != 2 {
		t.Errorf("with a file that changed: %+v, %+v", result, state)
	}
	holds(t, g.store, 5, 2, "1", "5.5", "3", "1", "5.5", "3")
	must(t, os.Remove(filepath.Join(g.dir, "c_20240721.TIFF")))
	g.refreshed(t, "", "", data.RasterCounts{})
	holds(t, g.store, 5, 2, "1", "5.5", "3", "1", "5.5", "3")
}

func TestNewestRasters(t *testing.T) {
	g := newRasterRig(t, storetest.New(t), Options{Newest: 2})
	write(t, g.dir, "lakes.csv", lakes)
	for day := range 5 { // two files a day
		for _, tile := range []string{"east", "west"} {
			write(t, g.dir, fmt.Sprintf("%s_2024070%d.nc", tile, day+1), scene(float64(day)))
		}
	}
	g.refreshed(t, "", "west_20240705.nc east_20240705.nc west_20240704.nc east_20240704.nc", data.RasterCounts{Skipped: 6})
	write(t, g.dir, "west_20240706.nc", scene(6))
	g.refreshed(t, "", "west_20240706.nc", data.RasterCounts{Skipped: 6}) // those of July 4 were taken
}

// A file that cannot be used does not stop the others, and is read again when it changes, or after a growing time.
func TestRasterThatCannotBeUsed(t *testing.T) {
	g := newRasterRig(t, storetest.New(t), Options{})
	now := time.Now()
	g.now = func() time.Time { return now }
	g.during = func(name string) error {
		if name == "panic_20240710.nc" {
			panic("hostile")
		}
		return nil
	}
	write(t, g.dir, "lakes.csv", lakes)
	write(t, g.dir, "levels.csv", "lake_id,date,chl,data_type,source,who_level\na,2024-07-09,5,satellite,chlorophyll raster,2\nb,2024-07-09,5,satellite,chlorophyll raster,2\n")
	write(t, g.dir, "bad_20240711.nc", "no raster")
	write(t, g.dir, "panic_20240710.nc", scene(1))
	write(t, g.dir, "row_20240709.nc", scene(cloud)) // a gap would take the level away
	write(t, g.dir, "good_20240701.nc", scene(1))
	const all = "bad_20240711.nc panic_20240710.nc row_20240709.nc good_20240701.nc"
	failing := data.RasterCounts{Failing: 3}
	_, state := g.refreshed(t, `neither NetCDF nor GeoTIFF: it begins with "no raste"`, all, failing)
	if state.LastError != "" || state.Rasters.Failed != 3 || state.Rasters.Taken != 1 {
		t.Errorf("the state is %+v, want a successful refresh with 3 failed files", state)
	}
	holds(t, g.store, 2, 2, "1", "5", "1", "5")
	r := recordsOf(t, g.store)
	if got := r["bad_20240711.nc"]; got.Error != `neither NetCDF nor GeoTIFF: it begins with "no raste"` || got.Failures != 1 {
		t.Errorf("the record is %+v", got)
	}
	if got := describe(errors.New("x.nc: dimension \x1b[2J\u202e\x9b is empty"), "x.nc"); got != `dimension \u001b[2J\u202e\x9b is empty` {
		t.Errorf("an error of a file is stored as %q", got)
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
		must(t, err)
		if _, err := g.refresh(t.Context(), state, false, week); err != nil {
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
	g.refreshed(t, "no raste", bad, failing)
	for range 20 {
		now = now.Add(lastRasterRetry + time.Second)
		by(bad, failing)
	}
	now = now.Add(lastRasterRetry - time.Minute)
	write(t, g.dir, "bad_20240711.nc", scene(4))
	by("bad_20240711.nc", data.RasterCounts{Failing: 2})
	holds(t, g.store, 3, 2, "1", "5", "4", "1", "5", "4")
}

// An error of the database, or the end of the process, leaves nothing of the file in progress and keeps those before.
func TestRasterIsInterrupted(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	g := newRasterRig(t, storetest.New(t), Options{})
	write(t, g.dir, "lakes.csv", lakes)
	for day := range 3 {
		write(t, g.dir, fmt.Sprintf("x_2024070%d.nc", day+1), scene(float64(day+1)))
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
		st.put("x_19990701.nc", scene(1))
		g := &rasterRig{during: func(string) error {
			runtime.Goexit() // as if killed: nothing is stored after it
			return nil
		}}
		r, err := New(st.s, sourcesOf(st.dir), nil)
		must(t, err)
		g.watch(r)
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
				if _, err := r.refresh(t.Context(), state, false, week); err != nil {
					t.Error(err)
				}
			}()
			<-done
			if g.reads() != "" {
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
		g.during = nil
		if _, err := r.RunOnce(t.Context()); err != nil {
			t.Error(err)
		}
		if got := recordsOf(t, st.s)["x_19990701.nc"]; !got.Taken() || got.Failures != 0 {
			t.Errorf("the record is %+v", got)
		}
		holds(t, st.s, 2, 2, "1", "1")
	})
}

// The mask beside a file in a folder counts, and a new one makes the file be read again.
func TestRasterMask(t *testing.T) {
	g := newRasterRig(t, storetest.New(t), Options{})
	const name = "chl_20240701.tif"
	write(t, g.dir, "lakes.csv", lakes)
	write(t, g.dir, name, scene(12))
	g.refreshed(t, "", name, data.RasterCounts{})
	mask := satellitetest.TIFF{Width: 26, Height: 26, Step: 1, Bytes: make([]byte, 26*26)}
	if r := recordsOf(t, g.store)[name]; r.Lakes != 2 {
		t.Errorf("without a mask the record is %+v, want two lakes", r)
	}
	write(t, g.dir, name+".msk", string(mask.Encode()))
	g.refreshed(t, "", name, data.RasterCounts{})
	if r := recordsOf(t, g.store)[name]; r.Lakes != 0 || r.Gaps != 2 {
		t.Errorf("with a mask the record is %+v, want two gaps", r)
	}
	g.refreshed(t, "", "", data.RasterCounts{})
	write(t, g.dir, name+".msk", "no mask")
	g.refreshed(t, name+".msk", name, data.RasterCounts{Failing: 1})
}

// The mask and the metadata beside a file of a URL count too, if the server has them.
func TestRasterMaskOfURL(t *testing.T) {
	const name = "chl_20240701.tif"
	hidden := string(satellitetest.TIFF{Width: 26, Height: 26, Step: 1, Bytes: make([]byte, 26*26)}.Encode())
	const beyond = `<PAMDataset><PAMRasterBand band="1"><Scale>1e6</Scale></PAMRasterBand></PAMDataset>`
	page := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<h1>Not found</h1>")
	}
	for _, test := range []struct {
		name   string
		ending string
		serve  http.HandlerFunc
		lakes  int64
		err    string // after the address
		counts data.RasterCounts
		reason string
	}{
		{"none", ".msk", code(404), 2, "", data.RasterCounts{}, ""},
		{"none, by a server that forbids it", ".msk", code(403), 2, "", data.RasterCounts{}, ""},
		{"none, by a server with a page for it", ".aux.xml", page, 2, "", data.RasterCounts{}, ""},
		{"a mask", ".msk", plain(hidden), 0, "", data.RasterCounts{}, ""},
		{"a mask at the second attempt", ".msk", failing(1, code(503), plain(hidden)), 0, "", data.RasterCounts{}, ""},
		{"a scale beyond all water", ".aux.xml", plain(beyond), 0, "", data.RasterCounts{}, ""},
		{"no answer", ".msk", code(500), 0, ` answers "500`, data.RasterCounts{Waiting: 1}, answerReason},
		{"no answer about the metadata", ".aux.xml", code(503), 0, ` answers "503`, data.RasterCounts{Waiting: 1}, answerReason},
		{"too large", ".msk", plain(strings.Repeat("x", 5000)), 0, " has more bytes: at most 4000 are allowed", data.RasterCounts{Failing: 1}, ""},
		{"no mask", ".msk", plain("no mask"), 0, "", data.RasterCounts{Failing: 1}, ""},
	} {
		for _, ranges := range []bool{true, false} {
			t.Run(fmt.Sprint(test.name, ", ranges ", ranges), func(t *testing.T) {
				temp := t.TempDir()
				t.Setenv("TMPDIR", temp)
				web := serveRasters(t)
				web.ranges = ranges
				web.put("/lakes.csv", lakes)
				web.put("/"+name, scene(12))
				web.serve("/"+name+test.ending, test.serve)
				g := newRasterRig(t, storetest.New(t), Options{MaxBytes: 4000}, web.URL+"/lakes.csv", web.URL+"/"+name+"?token=hidden")
				want := ""
				if test.err != "" {
					want = web.URL + "/" + name + test.ending + test.err
				} else if test.counts.Failing > 0 {
					want = "the mask " + name + ".msk beside it cannot be used"
				}
				_, state := g.refreshed(t, want, name, test.counts)
				if r := recordsOf(t, g.store)[name]; r.Lakes != test.lakes || state.LastError != test.reason || strings.Contains(g.log.String(), "token") {
					t.Errorf("the record is %+v, the reason %q, want %d lakes and %q\n%s", r, state.LastError, test.lakes, test.reason, g.log)
				}
				if !slices.Contains(web.asked, "/"+name+test.ending+"?token=hidden") {
					t.Errorf("the server was asked for %q", web.asked)
				}
				if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
					t.Errorf("temporary files are left: %v, %v", left, err)
				}
			})
		}
	}
}

// With other settings of a source its files are read again, though they have not changed.
func TestSettingsThatChange(t *testing.T) {
	const name, table = "chl_20240701.tif", "id,name,lat,lon\na,Jezioro \xe8,50,10\nb,B,51,11\n" // è in windows-1252, č in windows-1250
	disc := satellite.Disc(20_000)
	western, central := ingest.TableFormat{Encoding: "windows-1252"}, ingest.TableFormat{Encoding: "windows-1250"}
	steps := []struct {
		name    string
		options satellite.Options
		format  ingest.TableFormat
		reads   string
		changed int // lakes
		value   string
	}{
		{"at first", satellite.Options{WithoutOutline: disc}, western, name, 0, "12"},
		{"the same", satellite.Options{WithoutOutline: disc}, western, "", 0, "12"},
		{"a scale", satellite.Options{WithoutOutline: disc, Scale: 2}, western, name, 0, "24"},
		{"an encoding", satellite.Options{WithoutOutline: disc, Scale: 2}, central, "", 1, "24"},
		{"what is the default", satellite.Options{WithoutOutline: disc, Scale: 2, MinPixels: 3, MinShare: data.Known(0.1)}, central, "", 0, "24"},
		{"none", satellite.Options{WithoutOutline: disc}, central, name, 0, "12"},
		{"an expression", satellite.Options{WithoutOutline: disc, Valid: "b1 > 50"}, central, name, 0, "12"}, // a gap replaces no value
	}
	for _, kind := range []string{"a folder", "ranges", "whole files", "a list"} {
		t.Run(kind, func(t *testing.T) {
			s, web, dir := storetest.New(t), serveRasters(t), t.TempDir()
			web.ranges = kind == "ranges"
			from := []string{web.URL + "/lakes.csv", web.URL + "/" + name}
			web.publish("/lakes.csv", table)
			web.put("/"+name, scene(12))
			switch kind {
			case "a folder":
				from = []string{dir}
				write(t, dir, "lakes.csv", table)
				write(t, dir, name, scene(12))
			case "a list":
				from[1] = web.URL + "/list.csv"
				web.publish("/list.csv", "id,name,url\n1,x,"+web.URL+"/"+name+"\n")
			}
			for _, step := range steps {
				var sources []Source
				for _, address := range from {
					sources = append(sources, Source{From: address, Satellite: &step.options, Table: &step.format})
				}
				r, err := New(s, sources, nil)
				must(t, err)
				g := &rasterRig{rig: &rig{Refresher: r, store: s, log: new(logBuffer)}}
				g.watch(r)
				result, _ := g.refreshed(t, "", step.reads, data.RasterCounts{})
				if got := result.Reports.Lakes.Changed; got != step.changed {
					t.Errorf("%s: %d lakes have changed, want %d", step.name, got, step.changed)
				}
				var values []string
				if _, err := s.Scan(t.Context(), func(data.Lake) error { return nil }, func(o data.Observation) error {
					values = append(values, fmt.Sprint(o.Chlorophyll.Float()))
					return nil
				}); err != nil || !slices.Equal(values, []string{step.value, step.value}) {
					t.Errorf("%s: the values are %v, %v, want two of %s", step.name, values, err, step.value)
				}
			}
		})
	}
}

func TestRasterThatChanges(t *testing.T) {
	g := newRasterRig(t, storetest.New(t), Options{})
	write(t, g.dir, "lakes.csv", lakes)
	path := write(t, g.dir, "x_20240701.nc", scene(1))
	g.during = func(string) error {
		write(t, g.dir, "x_20240701.nc", scene(12))
		return nil
	}
	_, state := g.refreshed(t, "changed while it was read", "x_20240701.nc", data.RasterCounts{Waiting: 1})
	if state.LastError != changingReason || state.Failures != 1 {
		t.Errorf("the state is %+v, want a refresh that is repeated soon", state)
	}
	holds(t, g.store, 1, 2)
	g.during = nil
	soon := time.Now()
	must(t, os.Chtimes(path, soon, soon))
	g.waited = nil
	if _, state := g.refreshed(t, "", "x_20240701.nc", data.RasterCounts{}); state.LastError != "" || !slices.Equal(g.waited, []time.Duration{settleTime}) {
		t.Errorf("the state is %+v after %v", state, g.waited)
	}
	holds(t, g.store, 2, 2, "12", "12")
}

// Without lakes, files wait: they would not be read again.
func TestRastersWaitForLakes(t *testing.T) {
	g := newRasterRig(t, storetest.New(t), Options{})
	write(t, g.dir, "x_20240701.nc", scene(1))
	if _, state := g.refreshed(t, "the database has no lakes", "", data.RasterCounts{Waiting: 1}); state.LastError != noLakesReason || state.Rasters.Failed != 0 {
		t.Errorf("the state is %+v", state)
	}
	write(t, g.dir, "lakes.csv", lakes)
	g.refreshed(t, "", "x_20240701.nc", data.RasterCounts{})
}

func TestRasterChecksum(t *testing.T) {
	g := newRasterRig(t, storetest.New(t), Options{RequireChecksum: true})
	write(t, g.dir, "lakes.csv", lakes)
	write(t, g.dir, "lakes.csv.sha256", sumText(lakes, "lakes.csv"))
	content := scene(1)
	write(t, g.dir, "x_20240701.nc", content)
	g.refreshed(t, "x_20240701.nc.sha256 is missing", "", data.RasterCounts{Failing: 1})
	write(t, g.dir, "x_20240701.nc.sha256", sumText("other", "x_20240701.nc"))
	g.refreshed(t, "its SHA-256 is", "", data.RasterCounts{Failing: 1})
	write(t, g.dir, "x_20240701.nc.sha256", sumText(content, "x_20240701.nc"))
	g.refreshed(t, "", "x_20240701.nc", data.RasterCounts{})
}

// A rasterServer is an office that serves files by ranges or not.
type rasterServer struct {
	*office
	wholes []string // paths of requests that ask for no range
	down   bool
	noTag  bool
	ranges bool // serve them
}

func serveRasters(t *testing.T) *rasterServer { return &rasterServer{office: newOffice(t)} }

// put sets the content of a path, "" for a file that is not there.
func (s *rasterServer) put(path, content string) {
	s.serve(path, func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if r.Header.Get("Range") == "" {
			s.wholes = append(s.wholes, path)
		}
		switch {
		case s.down:
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		case content == "":
			http.NotFound(w, r)
			return
		case !s.noTag:
			w.Header().Set("ETag", fmt.Sprintf("%q", sumText(content, "")[:16]))
		}
		if s.ranges {
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader(content))
		} else {
			io.WriteString(w, content)
		}
	})
}

func TestRasterURL(t *testing.T) {
	web := serveRasters(t)
	web.put("/lakes.csv", lakes)
	web.put("/x_20240701.nc", scene(1))
	g := newRasterRig(t, storetest.New(t), Options{}, web.URL+"/lakes.csv", web.URL+"/x_20240701.nc?token=hidden")
	result, _ := g.refreshed(t, "", "x_20240701.nc", data.RasterCounts{})
	holds(t, g.store, 2, 2, "1", "1")
	if r := result.Rasters[0]; r.Name != web.URL+"/x_20240701.nc" || r.Bytes == 0 {
		t.Errorf("the result is %+v", r)
	}
	g.refreshed(t, "", "", data.RasterCounts{})
	web.put("/x_20240701.nc", scene(2))
	g.refreshed(t, "", "x_20240701.nc", data.RasterCounts{})
	web.noTag = true
	g.refreshed(t, "", "x_20240701.nc", data.RasterCounts{}) // its content is the tag
	g.refreshed(t, "", "", data.RasterCounts{})
	holds(t, g.store, 3, 2, "2", "2")

	g.opts.MaxRasterBytes = 3
	web.noTag = false
	web.put("/x_20240701.nc", scene(3))
	g.refreshed(t, "at most 3 are allowed", "", data.RasterCounts{Failing: 1})
	web.down = true
	inbox := t.TempDir()
	g = newRasterRig(t, g.store, Options{}, inbox, web.URL+"/x_20240701.nc?token=hidden")
	write(t, inbox, "y_20240702.nc", scene(7))
	_, state := g.refreshed(t, "503", "y_20240702.nc", data.RasterCounts{Waiting: 1})
	if state.LastError != awayReason || strings.Contains(g.log.String(), "hidden") {
		t.Errorf("the state is %+v\n%s", state, g.log)
	}
	web.down = false
	g.refreshed(t, "", "x_20240701.nc", data.RasterCounts{})
	holds(t, g.store, 5, 2, "3", "7", "3", "7")
}

// A faultyTransport sends requests until it has sent some, and then fails.
type faultyTransport struct {
	sends int
	err   error
}

func (f *faultyTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if f.sends--; f.sends < 0 && f.err != nil {
		return nil, f.err
	}
	return http.DefaultTransport.RoundTrip(req)
}

func TestRasterByRanges(t *testing.T) {
	web := serveRasters(t)
	web.ranges = true
	content := scene(1)
	web.put("/x_20240701.nc", content)
	address := web.URL + "/x_20240701.nc?token=hidden"
	transport := new(faultyTransport)
	s := storetest.New(t)
	g := newRasterRig(t, s, Options{Transport: transport}, address)
	if err := s.Import(t.Context(), func(tx store.Tx) error {
		_, err := tx.PutLakes(t.Context(), []data.Lake{{ID: "a", Name: "A", Point: orb.Point{10, 50}}, {ID: "b", Name: "B", Point: orb.Point{11, 51}}}, store.LakeColumns{})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	const x = "x_20240701.nc"
	away := func(sends int, text string) func() {
		return func() { transport.sends, transport.err = sends, errors.New(text) }
	}
	for _, test := range []struct {
		before func()
		err    string
		reads  string
		reason string
		counts data.RasterCounts
	}{
		{func() { web.put("/"+x, "") }, "404", "", "", data.RasterCounts{Failing: 1}},
		{func() { web.put("/"+x, content); away(0, "no route")() }, "no route", "", awayReason, data.RasterCounts{Waiting: 1}},
		{away(0, "get "+address+": no route"), "/x_20240701.nc: ", "", awayReason, data.RasterCounts{Waiting: 1}},
		{away(0, "wrong token=hidden"), "the request failed", "", awayReason, data.RasterCounts{Waiting: 1}},
		{away(1, "reset"), "reset", x, awayReason, data.RasterCounts{Waiting: 1}},
		{func() {
			transport.err = nil
			g.during = func(string) error { web.put("/"+x, scene(2)); return nil }
		}, "changed while it was read", x, changingReason, data.RasterCounts{Waiting: 1}},
		{func() { g.during = nil; web.put("/"+x, content) }, "", x, "", data.RasterCounts{}},
		{func() {}, "", "", "", data.RasterCounts{}},
	} {
		test.before()
		result, state := g.refreshed(t, test.err, test.reads, test.counts)
		if state.LastError != test.reason {
			t.Errorf("with %q: the reason is %q, want %q", test.err, state.LastError, test.reason)
		}
		if n := int64(len(content)); len(result.Rasters) == 1 && test.err == "" && (result.Rasters[0].Bytes < n/2 || result.Rasters[0].Bytes > 2*n) {
			t.Errorf("%d bytes were fetched of %d", result.Rasters[0].Bytes, n)
		}
	}
	if strings.Contains(g.log.String(), "hidden") {
		t.Errorf("the log has the token:\n%s", g.log)
	}
	holds(t, s, 2, 2, "1", "1")
	if slices.Contains(web.wholes, "/"+x) {
		t.Errorf("the whole file was requested")
	}
}

// Without ranges, or without a tag that says whether the file has changed, it is downloaded.
func TestRasterWithoutRanges(t *testing.T) {
	for _, noTag := range []bool{false, true} {
		web := serveRasters(t)
		web.ranges, web.noTag = noTag, noTag
		web.put("/lakes.csv", lakes)
		web.put("/x_20240701.nc", scene(1))
		g := newRasterRig(t, storetest.New(t), Options{}, web.URL+"/lakes.csv", web.URL+"/x_20240701.nc")
		g.refreshed(t, "", "x_20240701.nc", data.RasterCounts{})
		if !slices.Contains(web.wholes, "/x_20240701.nc") {
			t.Errorf("without tags %v the file is not downloaded", noTag)
		}
	}
}
