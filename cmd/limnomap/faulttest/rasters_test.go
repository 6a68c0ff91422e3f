//go:build unix && long

package faulttest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/ingest/satellite/satellitetest"
)

// scene returns a GeoTIFF of chlorophyll in which the lake of sceneLakes has that value.
func scene(value float32) string {
	const size = 30
	f := satellitetest.TIFF{Width: size, Height: size, X0: 10, Y0: 50, Step: 0.01, Unit: "mg m-3", NoData: "-9999"}
	for range size * size {
		f.Floats = append(f.Floats, value)
	}
	return string(f.Encode())
}

const sceneLakes = `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"id":"lake","name":"Lake"},"geometry":{"type":"Polygon","coordinates":
[[[10.0999,49.9001],[10.2001,49.9001],[10.2001,49.7999],[10.0999,49.7999],[10.0999,49.9001]]]}}]}`

// TestRefreshOfSatelliteFiles drops a satellite file into the folder of a running server: its map changes, and its state names the
// product. A file that cannot be used is counted, and changes nothing else.
func TestRefreshOfSatelliteFiles(t *testing.T) {
	t.Parallel()
	in := t.TempDir()
	putFile(t, in, "lakes.geojson", sceneLakes)
	s := start(t, "--db", filepath.Join(t.TempDir(), "lakes.db"), "--refresh-from", in, "--refresh-every", "1s")
	limnomaptest.Within(t, patience, "the server shows the lake", func() bool { return totalLakes(t, s) == 1 })
	version := s.Metric(t, "limnomap_snapshot_revision")
	putFile(t, in, "bad_2024-07-02.tif", "no TIFF")
	putFile(t, in, "chl_2024-07-01.tif", scene(33))
	type state struct {
		Refresh struct {
			LastError *string `json:"last_error"`
			Rasters   *struct {
				Taken, Failed, Failing int
				BytesRead              int `json:"bytes_read"`
				Product, Date          *string
			}
		}
	}
	var got state
	limnomaptest.Within(t, patience, "/readyz tells of both files", func() bool {
		limnomaptest.GetJSON(t, s.Base+"/readyz", &got)
		r := got.Refresh.Rasters
		return r != nil && r.Taken == 1 && r.Failing == 1
	})
	if r := got.Refresh.Rasters; r.Failed != 1 || r.BytesRead == 0 || *r.Product != "chlorophyll raster" || *r.Date != "2024-07-01" || got.Refresh.LastError != nil {
		t.Errorf("/readyz has %+v", r)
	}
	limnomaptest.Within(t, patience, "the server shows the value", func() bool { return s.Metric(t, `limnomap_lakes{state="with_data"}`) == 1 })
	if n := s.Metric(t, "limnomap_snapshot_revision"); n != version+1 {
		t.Errorf("the revision is %v, want %v", n, version+1)
	}
	for name, want := range map[string]float64{
		`limnomap_refresh_rasters_total{result="taken"}`: 1, `limnomap_refresh_rasters_total{result="failed"}`: 1,
		`limnomap_refresh_raster_files{state="failing"}`: 1, `limnomap_refresh_raster_files{state="waiting"}`: 0, "limnomap_refresh_consecutive_failures": 0,
	} {
		if n := s.Metric(t, name); n != want {
			t.Errorf("%s = %v, want %v", name, n, want)
		}
	}
	if !strings.Contains(s.Log.String(), "bad_2024-07-02.tif") {
		t.Errorf("the log does not name the bad file:\n%s", s.Log)
	}
	s.Stop(t)
}

// TestRefreshOfSatelliteFilesKilled kills a refresh while it downloads its second file. The values of the first one stay, nothing is left of the
// second, and the next refresh reads only that.
func TestRefreshOfSatelliteFilesKilled(t *testing.T) {
	t.Parallel()
	dir, in, temp := t.TempDir(), t.TempDir(), t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	putFile(t, in, "lakes.geojson", sceneLakes)
	putFile(t, in, "chl_2024-07-11.tif", scene(11))
	asked, proceed := make(chan bool, 100), make(chan bool)
	older := scene(1)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, ".tif") {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", `"older"`)
		_, _ = io.WriteString(w, older[:1000])
		w.(http.Flusher).Flush()
		if r.Header.Get("Range") == "" {
			asked <- true
			select {
			case <-proceed:
			case <-r.Context().Done():
			}
		}
		_, _ = io.WriteString(w, older[1000:])
	}))
	defer web.Close()
	flags := []string{"refresh", "--db", db, "--from", in, "--from", web.URL + "/chl_2024-07-01.tif"}
	cmd := limnomaptest.Command(t, flags...)
	cmd.Env = append(cmd.Env, "TMPDIR="+temp)
	must(t, cmd.Start())
	<-asked
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
	values := func() string { return limnomaptest.Run(t, "export", "observations", "-", "--db", db) }
	if got := values(); !strings.Contains(got, "lake,2024-07-11,11,") || strings.Contains(got, "2024-07-01") {
		t.Errorf("after the kill there are the values\n%s", got)
	}
	close(proceed)
	expireClaim(t, db)
	out := limnomaptest.Run(t, flags...)
	if strings.Contains(out, "chl_2024-07-11") || !strings.Contains(out, "chl_2024-07-01.tif: ") || !strings.Contains(values(), "lake,2024-07-01,1,") {
		t.Errorf("the next refresh:\n%s\n%s", out, values())
	}
}
