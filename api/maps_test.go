package api

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"strings"
	"sync"
	"testing"

	"limnomap/tiles/admission"
)

// A picture has the size, the place and the background that were asked for.
func TestMaps(t *testing.T) {
	s := testServer(t)
	half := color.NRGBA{200, 0, 0, 128}
	for _, tt := range []struct {
		target        string
		width, height int
		color         color.NRGBA
	}{
		{pathMap + "?bbox=11,48,13,54&width=300&height=200", 300, 200, half},
		{pathMap + "?bbox=11,48,13,54&height=300", 100, 300, half},
		{pathMap + "?bbox=48,11,54,13&bbox-crs=EPSG:4326&width=30", 30, 90, half},
		{pathMap + "?bbox=1000000,6000000,2000000,7000000&bbox-crs=EPSG:3857&width=77&transparent=false", 77, 77, color.NRGBA{227, 127, 127, 255}},
		{pathMap + "?bbox=2700000,4300000,2800000,4500000&bbox-crs=EPSG:3035&width=50&transparent=false&bgcolor=0x000000", 50, 25, color.NRGBA{100, 0, 0, 255}},
		{pathMap + "?bbox=11,48,13,54&crs=EPSG:25832&width=100&date=2026-11-16&style=dots", 100, 402, half},
		{pathMap, 1024, 205, half},
		{"/ogc/map?bbox=11,48,13,54&width=20&datetime=2026-11-16", 20, 60, half},
		{"/ogc/map?f=png&width=64", 64, 13, half},
	} {
		w := get(t, s, http.StatusOK, tt.target)
		picture, err := png.Decode(w.Body)
		if err != nil {
			t.Fatalf("%s: %v", tt.target, err)
		}
		if size := picture.Bounds().Size(); size != image.Pt(tt.width, tt.height) {
			t.Errorf("%s: %v, want %d x %d", tt.target, size, tt.width, tt.height)
		}
		if c := color.NRGBAModel.Convert(picture.At(tt.width/2, tt.height/2)); c != tt.color {
			t.Errorf("%s: %v, want %v", tt.target, c, tt.color)
		}
		if strings.HasPrefix(tt.target, "/ogc") && w.Header().Get("Content-Crs") != "<http://www.opengis.net/def/crs/OGC/1.3/CRS84>" {
			t.Errorf("%s: Content-Crs %q", tt.target, w.Header().Get("Content-Crs"))
		}
	}
	for query, parameter := range map[string]string{
		"bbox=1,2,3": "bbox", "bbox=2,2,1,3": "bbox", "bbox-crs=EPSG:1": "bbox-crs", "width=2049": "width", "height=0": "height", "bgcolor=red&transparent=false": "bgcolor",
		"transparent=1": "transparent", "style=jet": "style", "date=never": "date", "bbox=1000000,6000000,2000000,7000000&bbox-crs=EPSG:3857&crs=EPSG:25832": "crs",
		"bbox=-170,-80,-160,-70&crs=EPSG:25832": "crs",
	} {
		wantProblem(t, do(s, http.MethodGet, pathMap+"?"+query), http.StatusBadRequest, parameter)
	}
}

// Pictures that wait for their turn take no memory: a crowd of clients gets them all with what a few take.
func TestCrowdOfMaps(t *testing.T) {
	opts := testOptions(t)
	opts.Memory = admission.NewBudget(32 << 20)
	s := newServer(t, opts, testSource(t))
	var crowd sync.WaitGroup
	for i := range 12 {
		crowd.Go(func() {
			if w := do(s, http.MethodGet, fmt.Sprintf("%s?bbox=%d.5,48,13,54&width=256&height=256", pathMap, i%10)); w.Code != http.StatusOK {
				t.Errorf("picture %d: %d %s", i, w.Code, w.Body)
			}
		})
	}
	crowd.Wait()
}
