package main

import (
	"fmt"
	"image/color"
	"path/filepath"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// A database of years ago is stale on all surfaces, which say how new its values are, and the log says what to do. As an archive it is as
// it was, and all surfaces say so.
func TestArchiveOnAllSurfaces(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	mustRun(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.csv", lakesCSV), "--db", db)
	mustRun(t, "import", "observations", limnomaptest.WriteFile(t, dir, "obs.csv", obsCSV), "--db", db)
	for _, tt := range []struct {
		flag, asOf, dataDate string
		chl                  string
		stale, warned        bool
		opacity              string // of the lake's pixel: grey without a value, faint or full
	}{
		{"", "", "2024-11-11", "null", true, true, "grey"},
		{"data", "2024-11-11", "2024-11-11", "62.5", false, false, "full"},
		{"2024-11-26", "2024-11-26", "2024-11-11", "62.5", false, false, "faint"}, // 15 days old
		{"2024-12-31", "2024-12-31", "2024-11-11", "null", true, true, "grey"},
		{"2024-11-10", "2024-11-10", "", "null", false, false, "grey"}, // the day before
	} {
		t.Run("as of "+tt.flag, func(t *testing.T) {
			args := []string{"--db", db}
			if tt.flag != "" {
				args = append(args, "--as-of", tt.flag)
			}
			base, log := startServer(t, args...)
			var status struct {
				DataDate *string `json:"data_date"`
				Lakes    []struct {
					Chl   *float64
					Stale bool
				}
			}
			resp := limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/status", &status)
			chl := "null"
			if c := status.Lakes[0].Chl; c != nil {
				chl = fmt.Sprint(*c)
			}
			if chl != tt.chl || status.Lakes[0].Stale != tt.stale {
				t.Errorf("status has %s, stale %v, want %s, %v", chl, status.Lakes[0].Stale, tt.chl, tt.stale)
			}
			text := func(s *string) string {
				if s == nil {
					return ""
				}
				return *s
			}
			if got := text(status.DataDate) + " " + resp.Header.Get("X-Data-Date") + " " + resp.Header.Get("X-As-Of"); got != tt.dataDate+" "+tt.dataDate+" "+tt.asOf {
				t.Errorf("status and its headers have %q, want the data of %s as of %q", got, tt.dataDate, tt.asOf)
			}
			for _, address := range []string{"/api/v1/tiles.json", "/api/v1/tiles/vector.json"} {
				var description struct {
					DataDate *string `json:"data_date"`
					AsOf     string  `json:"as_of"`
				}
				limnomaptest.GetJSON(t, base+address, &description)
				if text(description.DataDate) != tt.dataDate || description.AsOf != tt.asOf {
					t.Errorf("%s has %+v", address, description)
				}
			}
			var page struct {
				AsOf string `json:"as_of"`
			}
			if limnomaptest.GetJSON(t, base+"/page.json", &page); page.AsOf != tt.asOf {
				t.Errorf("the page counts from %q, want %q", page.AsOf, tt.asOf)
			}
			for _, address := range []string{"/wmts/1.0.0/WMTSCapabilities.xml", "/ogc"} {
				_, body := limnomaptest.Get(t, base+address)
				if strings.Contains(string(body), "Archive as of "+tt.asOf) != (tt.asOf != "") || strings.Contains(string(body), "Newest measurement: "+tt.dataDate) != (tt.dataDate != "") {
					t.Errorf("%s does not say how new the data are: %s", address, body)
				}
			}
			img, x, y := tileAt(t, base, loneZoom, 52.4383, 13.6461)
			opacity := "none"
			switch c := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA); {
			case isNoData(c):
				opacity = "grey"
			case c.A >= 128:
				opacity = "full"
			case c.A > 0:
				opacity = "faint"
			}
			if opacity != tt.opacity {
				t.Errorf("the lake's pixel is %s, want %s", opacity, tt.opacity)
			}
			warned := func() bool { return strings.Contains(log.String(), "no lake has a current value") }
			if tt.warned {
				limnomaptest.Within(t, patience, "the log warns", warned)
			} else if warned() {
				t.Errorf("the log warns without a reason: %s", log)
			}
		})
	}
}
