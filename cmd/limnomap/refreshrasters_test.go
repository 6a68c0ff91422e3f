package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// A refresh takes the lakes and the satellite files of a folder, each file once.
func TestRefreshRasters(t *testing.T) {
	dir, in := t.TempDir(), t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	writeRaster(t, in, "chl_2026-06-30.tif", 10)
	if out, _, err := runCommand(t, "refresh", "--db", db, "--from", in); out != "" || err == nil || !strings.Contains(err.Error(), "has no lakes") {
		t.Errorf("without lakes: %v\n%s", err, out)
	}
	limnomaptest.WriteFile(t, in, "lakes.geojson", rasterLakes)
	writeRaster(t, in, "chl_2026-07-07.tif", 60)
	limnomaptest.WriteFile(t, in, "chl_2026-07-14.nc", "not NetCDF")
	out, _, err := runCommand(t, "refresh", "--db", db, "--from", in)
	if err == nil || !strings.Contains(err.Error(), "chl_2026-07-14.nc: ") || strings.Contains(err.Error(), "chl_2026-07-14.nc: chl_2026-07-14.nc") {
		t.Errorf("the error is %v, want one that names the bad file once", err)
	}
	if want := "chl_2026-07-07.tif: chlorophyll raster of 2026-07-07: 2 lakes with a value, 1 without; "; !strings.Contains(out, want) {
		t.Errorf("the report lacks %q:\n%s", want, out)
	}
	if got := observationsOf(t, db, "bloom"); len(got) != 2 || got[0].Chlorophyll.Float() != 60 || got[0].Source != "chlorophyll raster" || !got[0].Details.ValidPixels.Known {
		t.Errorf("the observations are %+v", got)
	}
	mustDo(t, os.Remove(filepath.Join(in, "chl_2026-07-14.nc")))
	if out := mustRun(t, "refresh", "--db", db, "--from", in); !strings.Contains(out, "Nothing new") {
		t.Errorf("the second time:\n%s", out)
	}
	writeRaster(t, in, "chl_2026-07-21.tif", 70)
	// Each source has its own settings, and the server has those of the command.
	second := t.TempDir()
	writeRaster(t, second, "chl_2026-07-28.tif", 80)
	file := configured(t, "db: "+db+"\nrefresh:\n  - "+in+"\n  - from: "+second+" # theirs\n    scale: 0.5\n    source: ours\n")
	if out := mustRun(t, "refresh", "--config", file); !strings.Contains(out, "chl_2026-07-21.tif: chlorophyll raster of 2026-07-21") || !strings.Contains(out, "chl_2026-07-28.tif: ours of 2026-07-28") {
		t.Errorf("with a list of sources:\n%s", out)
	}
	if got := observationsOf(t, db, "bloom"); got[0].Chlorophyll.Float() != 40 || got[0].Source != "ours" || got[1].Chlorophyll.Float() != 70 {
		t.Errorf("with a list of sources the newest observations are %+v", got[:2])
	}
	if out := mustRun(t, "config", "--config", file); !strings.Contains(out, "\n  refresh-from: ["+in+", {from: "+second+", scale: 0.5, source: ours}] # "+file+":2\n") {
		t.Errorf("config prints\n%s", out)
	}
}

// The list of sources in a configuration file: each item is a folder or URL, or has settings of its own, which are checked. Errors show no
// passwords.
func TestRefreshList(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		name, text string
		want       string // what config prints, or the error after the name of the file
	}{
		{"texts", "[a, b]", "[a, b]"},
		{"one text", "a", "[a]"},
		{"defaults", "[{from: a, product: auto, shore: auto, min-share: 0.1, band: 0}]", "[a]"},
		{"all settings", "[{from: a, product: chl, variable: v, band: 2, scale: 0.5, source: s, inside: centre, shore: 3, min-pixels: 4, min-share: 0.5, without-outline: disc:500, statistic: p90}]",
			"[{from: a, product: chl, variable: v, band: 2, scale: 0.5, source: s, inside: centre, shore: \"3\", min-pixels: 4, min-share: 0.5, without-outline: 'disc:500', statistic: p90}]"},
		{"a password", "[{from: 'https://u:geheim@h/x', statistic: mean}]", "[{from: •••, statistic: mean}]"},
		{"dots of config", "[{from: •••}]", "--refresh-from: ••• was printed instead of a secret"},
		{"out of range", "[a, {from: b, min-share: 2}]", ":3: refresh[1].min-share: 2: want 0 to 1"},
		{"not allowed", "[{from: a, product: lqw}]", `:3: refresh[0].product: "lqw" is none of auto, lwq,`},
		{"statistic", "[{from: a, statistic: mode}]", ":3: refresh[0].statistic: "},
		{"of another type", "[{from: a, min-pixels: many}]", ":3: refresh[0].min-pixels: want a whole number"},
		{"no value", "[{from: a, min-pixels: }]", ":3: refresh[0].min-pixels: the value is missing"},
		{"several values", "[{from: [a, b]}]", ":3: refresh[0].from: want one value"},
		{"unknown", "[{from: a, prodct: lwq}]", ":3: refresh[0].prodct: want one of from, product, variable,"},
		{"twice", "[{from: a, band: 1, band: 2}]", ":3: refresh[0].band: want one of"},
		{"no source", "[{product: lwq}]", ":3: refresh[0].from: the value is missing"},
		{"a reference", "[&a {from: a}, {from: *a}]", ":3: refresh[1].from: want one value"},
		{"a key with a password", "[{'https://u:geheim@h': a}]", ":3: refresh[0].key: want a word"},
		{"a list in a list", "[[a]]", ":3: refresh in the section serve: want a text"},
		{"under both names", "[a]\n  refresh-from: [b]", ":4: refresh-from is the setting in line 3: want it once"},
		{"absent", "[absent]", "absent"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(dir)
			for _, name := range []string{"a", "b"} {
				mustDo(t, os.MkdirAll(name, 0o700))
			}
			file := configured(t, "serve:\n  db: a.db\n  refresh: "+tt.text+"\n")
			out, _, err := runCommand(t, "config", "--config", file)
			if err != nil {
				out = err.Error()
			}
			if !strings.Contains(out, tt.want) || strings.Contains(out, "geheim") {
				t.Errorf("%s: want %q in\n%s", tt.text, tt.want, out)
			}
			if err != nil {
				return
			}
			first, err := parsed(t, "serve", "--config", file)
			mustDo(t, err)
			if !strings.Contains(out, "•••") { // the output is the same configuration
				again, err := parsed(t, "serve", "--config", configured(t, out))
				mustDo(t, err)
				if _, kept := again.Keep(first.Invocation); slices.Contains(kept, "refresh-from") {
					t.Errorf("%v have other values in\n%s", kept, out)
				}
			}
			other, err := parsed(t, "serve", "--db", "a.db", "--config", configured(t, "refresh: [{from: a, min-pixels: 7}]\n"))
			mustDo(t, err)
			if _, kept := other.Keep(first.Invocation); !slices.Contains(kept, "refresh-from") {
				t.Errorf("the settings %v differ, want the sources", kept)
			}
		})
	}
}

// Of a large file on a server little is fetched, or all of it if the server sends whole files only.
func TestRefreshRastersOverHTTP(t *testing.T) {
	dir, web := t.TempDir(), t.TempDir()
	whole, err := os.ReadFile(writeRaster(t, web, "chl_2026-07-07.tif", 60))
	mustDo(t, err)
	// The tags are where they were: much follows the raster.
	limnomaptest.WriteFile(t, web, "chl_2026-07-07.tif", string(whole)+strings.Repeat("\x00", 8<<20))
	limnomaptest.WriteFile(t, web, "list.csv", "id;name;s3_path\n1;chl_2026-07-07;s3://bucket/chl_2026-07-07.tif\n")
	lakes := limnomaptest.WriteFile(t, dir, "lakes.geojson", rasterLakes)
	var ranges atomic.Bool
	var sent atomic.Int64
	files := http.FileServer(http.Dir(web))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = strings.TrimPrefix(r.URL.Path, "/bucket")
		counted := &countedResponse{ResponseWriter: w, sent: &sent}
		if !ranges.Load() {
			r.Header.Del("Range")
		}
		files.ServeHTTP(counted, r)
	}))
	defer server.Close()
	for _, from := range []string{"/chl_2026-07-07.tif", "/list.csv"} {
		for _, parts := range []bool{true, false} {
			ranges.Store(parts)
			sent.Store(0)
			db := filepath.Join(t.TempDir(), "lakes.db")
			mustRun(t, "import", "lakes", lakes, "--db", db)
			args := []string{"refresh", "--db", db, "--from", server.URL + from, "--catalogue-base", server.URL}
			if out := mustRun(t, args...); !strings.Contains(out, "2 lakes with a value") {
				t.Errorf("%s by parts %v:\n%s", from, parts, out)
			}
			if n := sent.Load(); parts != (n < 1<<20) {
				t.Errorf("%s by parts %v: %d bytes were sent", from, parts, n)
			}
			if got := observationsOf(t, db, "bloom"); len(got) != 1 || got[0].Chlorophyll.Float() != 60 {
				t.Errorf("%s: the observations are %+v", from, got)
			}
			if out := mustRun(t, args...); !strings.Contains(out, "Nothing new") {
				t.Errorf("%s by parts %v, again:\n%s", from, parts, out)
			}
		}
	}
	db := filepath.Join(t.TempDir(), "lakes.db")
	mustRun(t, "import", "lakes", lakes, "--db", db)
	if _, _, err := runCommand(t, "refresh", "--db", db, "--from", server.URL+"/missing.tif"); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("a missing file: %v", err)
	}
	if _, _, err := runCommand(t, "refresh", "--db", db, "--from", server.URL+"/list.csv"); err == nil || !strings.Contains(err.Error(), "set catalogue-base") {
		t.Errorf("a list without a gateway: %v", err)
	}
	if _, _, err := runCommand(t, "refresh", "--db", db, "--from", dir, "--catalogue-base", "ftp://me:secret@example.org"); err == nil || !strings.Contains(err.Error(), "--catalogue-base: it is not an http") {
		t.Errorf("a gateway by ftp: %v", err)
	}
}

// A countedResponse counts the bytes of bodies.
type countedResponse struct {
	http.ResponseWriter
	sent *atomic.Int64
}

func (w *countedResponse) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.sent.Add(int64(n))
	return n, err
}
