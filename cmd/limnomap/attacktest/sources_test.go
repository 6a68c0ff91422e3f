//go:build linux

package attacktest

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/ingest/satellite/satellitetest"
	"limnomap/data/testsize"
)

// A sourceFolder is what a source of a refresh has: handlers by the name of a file.
type sourceFolder struct {
	raster  []byte // a right one
	asked   sync.Map
	forever chan struct{} // closed when the test ends
}

// honestLake has the only outline that the honest raster covers.
const honestLake = `{"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {"id": "honest", "name": "Honest Lake"}, "geometry": {"type": "Polygon", "coordinates":
  [[[-109.9001, -62.0999], [-109.7999, -62.0999], [-109.7999, -62.2001], [-109.9001, -62.2001], [-109.9001, -62.0999]]]}}]}`

// honestRaster has 60 µg/l in the honest lake.
func honestRaster() []byte {
	const size = 40
	f := satellitetest.TIFF{Width: size, Height: size, X0: -110, Y0: -62, Step: 0.01, Unit: "mg m-3", NoData: "-9999"}
	for range size * size {
		f.Floats = append(f.Floats, 60)
	}
	return f.Encode()
}

// ranges answers as a right server of ranges does, with a tag.
func (s *sourceFolder) ranges(w http.ResponseWriter, r *http.Request, tag string) {
	w.Header().Set("ETag", tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.raster))
}

// trickle sends a byte now and then until the client leaves.
func (s *sourceFolder) trickle(w http.ResponseWriter, r *http.Request, text string) {
	out := http.NewResponseController(w)
	for i := 0; ; i++ {
		if _, err := io.WriteString(w, text[i%len(text):i%len(text)+1]); err != nil || out.Flush() != nil {
			return
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-r.Context().Done():
			return
		case <-s.forever:
			return
		}
	}
}

// endless sends a text again and again until the client leaves.
func (s *sourceFolder) endless(w http.ResponseWriter, r *http.Request, head, text string) {
	_, err := io.WriteString(w, head)
	for piece := strings.Repeat(text, 1+4096/len(text)); err == nil && r.Context().Err() == nil; {
		select {
		case <-s.forever:
			return
		default:
			_, err = io.WriteString(w, piece)
		}
	}
}

// A hostileSource is a file of a source, and how the server of the source answers requests for it.
type hostileSource struct {
	file   string
	answer func(s *sourceFolder, w http.ResponseWriter, r *http.Request)
}

const (
	listHead      = "id,name,url,content_length\n"
	statementHead = "id,lake_id,kind,cause,issuer,issued,valid_from,valid_until,text_en\n"
)

// hostileSources are rasters over ranges, and lists of rasters. The first one of each kind is in the short form.
var hostileSources = map[string][]hostileSource{
	"rasters": {
		{"other_2025-08-04.tif", func(s *sourceFolder, w http.ResponseWriter, _ *http.Request) { // another range than was asked for
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 100-199/%d", len(s.raster)))
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(s.raster[100:200])
		}},
		{"trickle_2025-08-01.tif", func(s *sourceFolder, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-65535/%d", 1<<33))
			w.WriteHeader(http.StatusPartialContent)
			s.trickle(w, r, "II*\x00")
		}},
		{"length_2025-08-02.tif", func(s *sourceFolder, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", "bytes 0-65535/1152921504606846975")
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(bytes.Repeat(s.raster, 1+65536/len(s.raster))[:65536])
		}},
		{"changes_2025-08-03.tif", func(s *sourceFolder, w http.ResponseWriter, r *http.Request) {
			s.ranges(w, r, fmt.Sprintf(`"%d"`, time.Now().UnixNano()))
		}},
		{"endless_2025-08-05.tif", func(s *sourceFolder, w http.ResponseWriter, r *http.Request) {
			s.endless(w, r, "II*\x00", "\x08\x00\x00\x00")
		}},
		{"short_2025-08-06.tif", func(s *sourceFolder, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "5000")
			w.Header().Set("Content-Range", "bytes 0-4999/5000")
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(s.raster[:1000])
		}},
		{"negative_2025-08-07.tif", func(_ *sourceFolder, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", "bytes 5--1/-1")
			w.WriteHeader(http.StatusPartialContent)
		}},
		{"hang_2025-08-08.tif", func(s *sourceFolder, _ http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-s.forever:
			}
		}},
		{"loop_2025-08-09.tif", func(_ *sourceFolder, w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path+"?again", http.StatusFound)
		}},
		{"metadata_2025-08-10.tif", func(_ *sourceFolder, w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/", http.StatusFound)
		}},
		{"packed_2025-08-11.tif", func(s *sourceFolder, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed(s.raster))
		}},
		{"later_2025-08-12.tif", func(_ *sourceFolder, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT")
			w.WriteHeader(http.StatusServiceUnavailable)
		}},
		{"page_2025-08-13.tif", func(_ *sourceFolder, w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "<!doctype html><script>alert(1)</script>")
		}},
	},
	"lists": {
		{"elsewhere.csv", func(_ *sourceFolder, w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, listHead)
			for i, address := range []string{"http://169.254.169.254/chl_2025-08-20.tif", "file:///etc/passwd", "http://[::ffff:169.254.169.254]/chl_2025-08-21.tif", "ftp://example.invalid/chl_2025-08-20.tif", "http://user:secret@example.invalid/chl_2025-08-20.tif",
				"//example.invalid/chl_2025-08-20.tif", "http://example.invalid:99999/chl_2025-08-20.tif", "http://\u202e.example.invalid/chl_2025-08-20.tif", "javascript:alert(1)//chl_2025-08-20.tif"} {
				_, _ = fmt.Fprintf(w, "%d,chl_2025-08-20.tif,%s,1\n", i, address)
			}
		}},
		{"trickle.csv", func(s *sourceFolder, w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, listHead)
			s.trickle(w, r, "1,chl_2025-08-20.tif,https://example.invalid/chl_2025-08-20.tif,1\n")
		}},
		{"endless.csv", func(s *sourceFolder, w http.ResponseWriter, r *http.Request) {
			s.endless(w, r, listHead, "1,chl_2025-08-20.tif,https://example.invalid/chl_2025-08-20.tif,1\n")
		}},
		{"itself.csv", func(_ *sourceFolder, w http.ResponseWriter, r *http.Request) { // its rows lead to lists, and to itself
			_, _ = fmt.Fprintf(w, "%s1,itself.csv,http://%s/itself.csv,1\n2,chl_2025-08-21.tif,http://%[2]s/itself.csv?x=chl_2025-08-21.tif,1\n3,endless.csv,http://%[2]s/endless.csv,1\n", listHead, r.Host)
		}},
		{"line.csv", func(s *sourceFolder, w http.ResponseWriter, r *http.Request) { s.endless(w, r, listHead, "a") }},
		{"many.csv", func(_ *sourceFolder, w http.ResponseWriter, r *http.Request) { // all of one server that hangs
			_, _ = io.WriteString(w, listHead)
			for i := range 5000 {
				_, _ = fmt.Fprintf(w, "%d,chl_2025-08-%02d.tif,http://%s/hang_2025-08-08.tif?%[1]d,1\n", i, 1+i%28, r.Host)
			}
		}},
		{"types.csv", func(_ *sourceFolder, w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, listHead+"\x00,\xff\xfe,{},[]\n,,,,,,,,\n\"unclosed,chl_2025-08-20.tif,1\n1,\x1b[2J,http://example.invalid/\x1b[2J.tif,-99999999999999999999\n")
		}},
	},
}

// hostileStatements are files of official statements of which no part may be stored. The first one is in the short form.
var hostileStatements = []hostileSource{
	{"bomb.csv.gz", func(_ *sourceFolder, w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(packed(append([]byte(statementHead), bytes.Repeat([]byte("x,honest,closure,bacteria,Bomb,2025-08-01,2025-08-01,,\n"), size(2_000_000, 50_000))...)))
	}},
	{"many.csv", func(_ *sourceFolder, w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, statementHead)
		for i := range 1_000_000 {
			if _, err := fmt.Fprintf(w, "m%d,honest,closure,bacteria,Million,2025-08-01,2025-08-01,,\n", i); err != nil {
				return
			}
		}
	}},
	{"endless.json", func(s *sourceFolder, w http.ResponseWriter, r *http.Request) {
		s.endless(w, r, `{"advisories":[`, `{"a":1},`)
	}},
	{"deep.json", func(_ *sourceFolder, w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"advisories":`+strings.Repeat("[", 1<<20))
	}},
	{"controls.csv", func(_ *sourceFolder, w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, statementHead+"c1,honest,closure,bacteria,Con\u202etrols,2025-08-01,2025-08-01,,\x1b[2J\n")
	}},
	{"future.csv", func(_ *sourceFolder, w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, statementHead+"f1,honest,closure,bacteria,Future,9999-12-31,9999-12-31,,\nf2,honest,closure,bacteria,Past,0001-01-01,-0001-01-01,,\n")
	}},
	{"trickle.csv", func(s *sourceFolder, w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, statementHead)
		s.trickle(w, r, "t1,honest,closure,bacteria,Trickle,2025-08-01,2025-08-01,,\n")
	}},
}

func packed(text []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(text) // a buffer accepts all
	_ = w.Close()
	return b.Bytes()
}

// serve starts a server with one file and returns its address. A server that fails is not asked for other files, so each has one.
func (s *sourceFolder) serve(t *testing.T, file string, answer http.HandlerFunc) (address string) {
	t.Helper()
	n := new(atomic.Int64)
	s.asked.Store(file, n)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/"+file { // a checksum or a mask beside it
			http.NotFound(w, r)
			return
		}
		n.Add(1)
		answer(w, r)
	}))
	server.Config.ErrorLog = discarded
	server.Start()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL + "/" + file
}

// TestHostileSources has a server refresh its data from hostile sources of all kinds and from honest ones beside them. All that honest ones say is shown,
// closures are told meanwhile, and the server stops while the others still send.
func TestHostileSources(t *testing.T) {
	s := &sourceFolder{raster: honestRaster(), forever: make(chan struct{})}
	db := filepath.Join(t.TempDir(), "lakes.db")
	limnomaptest.Run(t, "import", "lakes", limnomaptest.WriteFile(t, t.TempDir(), "honest.geojson", honestLake), "--db", db)
	target := &target{db: db}
	var from []string
	for _, list := range hostileSources {
		if !testsize.Long {
			list = list[:1]
		}
		for _, one := range list {
			from = append(from, s.serve(t, one.file, func(w http.ResponseWriter, r *http.Request) { one.answer(s, w, r) }))
		}
	}
	hostile := len(from)
	// The honest ones are last.
	raster := s.serve(t, "chl_2025-08-24.tif", func(w http.ResponseWriter, r *http.Request) { s.ranges(w, r, `"honest"`) })
	for file, text := range map[string]string{
		"statements.csv": statementHead + "h1,honest,closure,bacteria,Honest office,2025-08-01,2025-08-01,,\n",
		"list.csv":       listHead + "1,chl_2025-08-24.tif," + raster + ",1\n",
	} {
		from = append(from, s.serve(t, file, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }))
	}
	args := []string{"--refresh-every", "3s", "--refresh-timeout", "20s", "--refresh-max-bytes", "64MiB"}
	for _, address := range from {
		args = append(args, "--refresh-from", address)
	}
	t.Cleanup(func() {
		close(s.forever)
		if t.Failed() && target.Server != nil {
			t.Logf("the log of the server: %.20000s", target.Log)
		}
	})
	target.launch(t, args...)
	watched := target.watch()
	target.closures.begin(t)
	started := time.Now()
	shown := func(text string) time.Duration {
		limnomaptest.Within(t, size(20*time.Minute, patience), text+" of an honest source is shown", func() bool {
			time.Sleep(500 * time.Millisecond)
			_, body := limnomaptest.Get(t, target.Base+statusPath+"?max_lat=-61")
			return bytes.Contains(body, []byte(text))
		})
		return time.Since(started)
	}
	closed, measured := shown(`"issuer":"Honest office"`), shown(`"chl":60`)
	limnomaptest.Within(t, size(20*time.Minute, patience), "all hostile sources are asked", func() bool {
		all := true
		s.asked.Range(func(_, n any) bool {
			all = n.(*atomic.Int64).Load() > 0
			return all
		})
		return all
	})
	told := target.closures.end(t)
	most, err := watched.stop()
	must(t, err)
	if most.resident > mayPeak {
		t.Errorf("peak %.0f MB", most.resident/1e6)
	}
	for _, raw := range []string{"\x1b[2J", "\u202e"} {
		if strings.Contains(target.Log.String(), raw) {
			t.Errorf("the log has %q", raw)
		}
	}
	stopping := time.Now()
	stopCleanly(t, target)
	text := fmt.Sprintf("\n%d hostile sources of a refresh: a closure of an honest one shown after %.1f s, a value after %.1f s; %s; peak %.0f MB, stopped in %.1f s\n", hostile, closed.Seconds(), measured.Seconds(), told,
		most.resident/1e6, time.Since(stopping).Seconds())
	t.Log(text)
	results.addText(text)
}

// TestHostileStatements has a process refresh a database from each of the hostile files of statements. It ends with an error, takes little memory, and
// stores nothing.
func TestHostileStatements(t *testing.T) {
	from := &sourceFolder{forever: make(chan struct{})}
	t.Cleanup(func() { close(from.forever) })
	s := &target{Server: &limnomaptest.Server{Cmd: limnomaptest.Command(t)}, db: filepath.Join(t.TempDir(), "lakes.db")}
	limnomaptest.Run(t, "import", "lakes", limnomaptest.WriteFile(t, t.TempDir(), "honest.geojson", honestLake), "--db", s.db)
	list := hostileStatements
	if !testsize.Long {
		list = list[:1]
	}
	for _, one := range list {
		address := from.serve(t, one.file, func(w http.ResponseWriter, r *http.Request) { one.answer(from, w, r) })
		a := &assault{target: s}
		outcome, memory, took := a.importFile("refresh", "--from", address, "--timeout", "20s", "--max-bytes", "256MiB")
		text := fmt.Sprintf("hostile statements, %s: %s, %.0f MB, %.1f s", one.file, outcome, memory/1e6, took.Seconds())
		t.Log(text)
		results.addText("\n" + text + "\n")
		if outcome != "rejected" || memory > mayPeak {
			t.Error(text)
		}
	}
	db, err := sql.Open("sqlite", s.db)
	must(t, err)
	defer db.Close()
	var n int
	must(t, db.QueryRow(`SELECT count(*) FROM advisories`).Scan(&n))
	if n != 0 {
		t.Errorf("%d statements are stored", n)
	}
}
