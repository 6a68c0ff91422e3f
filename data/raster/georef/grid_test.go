package georef_test

import (
	"math"
	"testing"

	"github.com/paulmach/orb"

	"limnomap/data/raster/crs"
	"limnomap/data/raster/georef"
)

// A grid that is written and read is the same, and the point of a column and a row is there.
func TestGridsAreRead(t *testing.T) {
	for _, test := range []struct {
		code      int
		transform [6]float64
		near      orb.Point
	}{
		{4326, [6]float64{-180, 1. / 360, 0, 90, 0, -1. / 360}, orb.Point{9.4, 47.6}},
		{32632, [6]float64{399960, 20, 0, 5300040, 0, -20}, orb.Point{9.1, 47.2}},
		{3035, [6]float64{4e6, 300, 0, 3e6, 0, -300}, orb.Point{9.4, 47.6}},
		{5070, [6]float64{-2e6, 300, 1, 3e6, 2, -300}, orb.Point{-81, 41.7}},
		{3857, [6]float64{-2e7, 300, 0, 2e7, 0, -300}, orb.Point{172, -43}},
	} {
		s, err := crs.FromEPSG(test.code)
		if err != nil {
			t.Fatal(err)
		}
		g, err := georef.New(130000, 65000, test.transform, s)
		if err != nil {
			t.Fatal(err)
		}
		read, err := georef.Parse(g.String())
		if err != nil || read.String() != g.String() || read.Grid != g.Grid || read.Transform() != g.Transform() {
			t.Errorf("%d: %v is read as %v, %v", test.code, &g, &read, err)
		}
		for _, shift := range []float64{0, 0.31, -0.2} {
			want := orb.Point{test.near[0] + shift, test.near[1] + shift/2}
			pixel, ok := read.PixelOf(want, read.TurnOf(want[0]))
			if !ok {
				t.Fatalf("%d: %v is nowhere", test.code, want)
			}
			got, ok := read.LonLat(pixel[0], pixel[1], test.near)
			if !ok || math.Abs(got[0]-want[0]) > 1e-8 || math.Abs(got[1]-want[1]) > 1e-8 {
				t.Errorf("%d: pixel %v is at %v (%t), want %v", test.code, pixel, got, ok, want)
			}
			column, row, ok := read.Cell(want, read.TurnOf(want[0]))
			if !ok || float64(column) != math.Floor(pixel[0]) || float64(row) != math.Floor(pixel[1]) {
				t.Errorf("%d: %v is in cell %d, %d", test.code, want, column, row)
			}
		}
	}
	for _, bad := range []string{"", "1 2 3", "a 300 6 0.5 0 47 0 -0.5 EPSG:4326", "400 0 6 0.5 0 47 0 -0.5 EPSG:4326", "400 1.5 6 0.5 0 47 0 -0.5 EPSG:4326",
		"400 300 6 0 0 47 0 -0.5 EPSG:4326", "400 300 6 0.5 0 Inf 0 -0.5 EPSG:4326", "400 300 6 0.5 0 47 0 -0.5 EPSG:1", "400 300 6 0.5 0 47 0 -0.5"} {
		if g, err := georef.Parse(bad); err == nil {
			t.Errorf("%q is read as %v, want an error", bad, &g)
		}
	}
}
