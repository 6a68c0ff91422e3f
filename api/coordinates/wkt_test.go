package coordinates

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"limnomap/data/raster/crs"
)

// Each well-known text, without its code, is of a system that has the same coordinates.
func TestWKT(t *testing.T) {
	for _, s := range Systems {
		text := s.WKT()
		code := strings.TrimPrefix(s.Name, "EPSG:")
		if _, err := strconv.Atoi(code); err == nil && !strings.HasSuffix(text, `,AUTHORITY["EPSG","`+code+`"]]`) {
			t.Errorf("%s: the code is not in %s", s.Name, text)
		}
		if first, second := strings.Index(text, ",NORTH]"), strings.Index(text, ",EAST]"); first < 0 || second < 0 || first < second != s.NorthFirst {
			t.Errorf("%s: the order of axes in %s", s.Name, text)
		}
		read, err := crs.FromWKT(strings.Replace(text, `,AUTHORITY["EPSG","`+code+`"]`, "", 1))
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		if s.CRS == nil {
			if !read.Geographic() {
				t.Errorf("%s is not geographic", s.Name)
			}
			continue
		}
		x, y, _ := read.Project(12, 52)
		if wantX, wantY, _ := s.CRS.Project(12, 52); !(math.Hypot(x-wantX, y-wantY) < 1e-3) {
			t.Errorf("%s: 12, 52 is at %v, %v, want %v, %v", s.Name, x, y, wantX, wantY)
		}
	}
}
