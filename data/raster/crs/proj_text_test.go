package crs_test

import (
	"math"
	"strings"
	"testing"

	"limnomap/data/raster/crs"
)

// A system that is written as PROJ's text and read again projects each point to the same bits.
func TestProjIsRead(t *testing.T) {
	systems := map[string]*crs.System{}
	for _, code := range []int{4326, 4258, 3857, 3035, 6931, 5070, 3577, 2193, 3006, 32632, 32733, 25832} {
		s, err := crs.FromEPSG(code)
		if err != nil {
			t.Fatal(err)
		}
		systems[s.Name()] = s
	}
	own, err := crs.FromCF(map[string]any{"grid_mapping_name": "albers_conical_equal_area", "standard_parallel": []float64{43.25, 47.75},
		"longitude_of_central_meridian": 10.1, "latitude_of_projection_origin": 45.3, "false_easting": 1e5, "semi_major_axis": 6378137.0, "inverse_flattening": 298.257222101})
	if err != nil {
		t.Fatal(err)
	}
	systems["own"] = own
	for name, s := range systems {
		for _, text := range []string{s.Proj(), s.Text()} {
			read, err := crs.Parse(text)
			if err != nil {
				t.Errorf("%s: %s: %v", name, text, err)
				continue
			}
			if text == s.Text() && (read.Code() != s.Code() || strings.HasPrefix(text, "EPSG:") != (s != own)) {
				t.Errorf("%s is %s, which has the code %d", name, text, read.Code())
			}
			for _, p := range [][2]float64{{10.123, 47.5}, {-120.7, 41.25}, {170.5, -43.1}} {
				x, y, ok := s.Project(p[0], p[1])
				x2, y2, ok2 := read.Project(p[0], p[1])
				if ok != ok2 || math.Float64bits(x) != math.Float64bits(x2) || math.Float64bits(y) != math.Float64bits(y2) {
					t.Errorf("%s: %v is at %v, %v by the system and %v, %v by its text %s", name, p, x, y, x2, y2, text)
				}
			}
		}
	}
	for _, bad := range []string{"", "EPSG:", "EPSG:x", "EPSG:27700", "+proj=longlat", "+proj=utm +zone=32 +ellps=WGS84", "+proj=longlat +a=x +rf=298.257223563",
		"+proj=tmerc +a=6378137 +rf=298.257223563 +k_0=9 +lon_0=9 +lat_0=0", "+a=6378137 +rf=298.257223563", "+proj=longlat +a=6377397.155 +rf=299.1528128",
		"+proj=longlat +towgs84=1,2,3 +a=6378137 +rf=298.257223563"} {
		if s, err := crs.Parse(bad); err == nil {
			t.Errorf("%q is read as %s, want an error", bad, s.Proj())
		}
	}
}
