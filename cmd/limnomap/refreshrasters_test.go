package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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
	if err := os.Remove(filepath.Join(in, "chl_2026-07-14.nc")); err != nil {
		t.Fatal(err)
	}
	if out := mustRun(t, "refresh", "--db", db, "--from", in); !strings.Contains(out, "Nothing new") {
		t.Errorf("the second time:\n%s", out)
	}
	writeRaster(t, in, "chl_2026-07-21.tif", 70)
	if out := mustRun(t, "refresh", "--db", db, "--from", in, "--scale", "0.5", "--source", "ours"); !strings.Contains(out, "chl_2026-07-21.tif: ours of 2026-07-21") {
		t.Errorf("with options:\n%s", out)
	}
	if got := observationsOf(t, db, "bloom"); got[0].Chlorophyll.Float() != 35 || got[0].Source != "ours" {
		t.Errorf("with options the newest observation is %+v", got[0])
	}
}

// Of a large file on a server little is fetched, or all of it if the server sends whole files only.
func TestRefreshRastersOverHTTP(t *testing.T) {
	dir, web := t.TempDir(), t.TempDir()
	whole, err := os.ReadFile(writeRaster(t, web, "chl_2026-07-07.tif", 60))
	if err != nil {
		t.Fatal(err)
	}
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
