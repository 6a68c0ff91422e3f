package features

import (
	"fmt"
	"slices"
	"strings"

	"github.com/paulmach/orb"

	"limnomap/data/raster/crs"
)

// A System is a system of coordinates in which features are asked for and answered.
type System struct {
	URI     string
	system  *crs.System // nil: longitude and latitude
	swapped bool        // northing or latitude comes first, as the EPSG registry has it
}

// CRS84 is WGS 84 with longitude first.
const CRS84 = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"

var systems = func() []System {
	all := []System{{URI: CRS84}, {URI: epsg(4326), swapped: true}}
	for _, code := range []int{3857, 25832, 25833, 3035} {
		s, err := crs.FromEPSG(code)
		if err != nil {
			panic("features: " + err.Error())
		}
		all = append(all, System{URI: epsg(code), system: s, swapped: code == 3035})
	}
	return all
}()

func epsg(code int) string { return fmt.Sprintf("http://www.opengis.net/def/crs/EPSG/0/%d", code) }

// URIs returns the addresses of all systems, the default first.
func URIs() (all []string) {
	for _, s := range systems {
		all = append(all, s.URI)
	}
	return all
}

// parseSystem reads the address of a system; or its code, as EPSG:3857.
func parseSystem(s string) (*System, error) {
	s = strings.Trim(s, "<>[]")
	if code, ok := strings.CutPrefix(strings.ToUpper(s), "EPSG:"); ok {
		s = "http://www.opengis.net/def/crs/EPSG/0/" + code
	}
	i := slices.IndexFunc(systems, func(known System) bool { return known.URI == s })
	if i < 0 {
		return nil, fmt.Errorf("unknown")
	}
	return &systems[i], nil
}

var mistakeInSystem = "is none of " + strings.Join(URIs(), ", ")

// decimals is how many decimals coordinates have: a centimetre in metres, and about that in degrees.
func (s *System) decimals() int {
	if s.system == nil {
		return 7
	}
	return 2
}

// project returns the coordinates of a point of longitude and latitude in the order of the system's axes.
func (s *System) project(p orb.Point) (x, y float64, ok bool) {
	x, y, ok = p[0], p[1], true
	if s.system != nil {
		x, y, ok = s.system.Project(x, y)
	}
	if s.swapped {
		x, y = y, x
	}
	return x, y, ok
}
