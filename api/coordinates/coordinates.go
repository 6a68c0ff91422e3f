// Package coordinates has the systems of coordinates in which clients of OGC's services may ask and be answered.
package coordinates

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/paulmach/orb"

	"limnomap/data/raster/crs"
)

// A System is a system of coordinates.
type System struct {
	Name string      // such as EPSG:3857; CRS:84 is WGS 84 with longitude first
	CRS  *crs.System // nil: longitude and latitude
	// NorthFirst is set where northing or latitude is the first axis, as the EPSG registry has it.
	NorthFirst bool
}

// CRS84 is the address of WGS 84 with longitude first.
const CRS84 = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"

// Systems are all systems, the default first.
var Systems = func() []*System {
	all := []*System{{Name: "CRS:84"}, {Name: "EPSG:4326", NorthFirst: true}}
	for _, code := range []int{3857, 25832, 25833, 3035} {
		s, err := crs.FromEPSG(code)
		if err != nil {
			panic("coordinates: " + err.Error())
		}
		all = append(all, &System{Name: "EPSG:" + strconv.Itoa(code), CRS: s, NorthFirst: code == 3035})
	}
	return all
}()

// Of returns the system in which data are: one of Systems, or a zone of UTM, whose axes are easting and northing. It reports false for others, of which the
// order of axes is not known here.
func Of(system *crs.System) (*System, bool) {
	code := system.Code()
	if code == 4326 {
		return Systems[0], true
	}
	name := "EPSG:" + strconv.Itoa(code)
	for _, s := range Systems {
		if s.Name == name {
			return s, true
		}
	}
	zone := code % 100
	return &System{Name: name, CRS: system}, zone >= 1 && zone <= 60 && (code/100 == 326 || code/100 == 327) // of WGS 84, north and south
}

// URI returns the address of the system.
func (s *System) URI() string {
	if code, ok := strings.CutPrefix(s.Name, "EPSG:"); ok {
		return "http://www.opengis.net/def/crs/EPSG/0/" + code
	}
	return CRS84
}

// URIs returns the addresses of all systems, the default first.
func URIs() (all []string) {
	for _, s := range Systems {
		all = append(all, s.URI())
	}
	return all
}

// Mistake says what a text is not that Parse does not read.
var Mistake = "is none of " + strings.Join(URIs(), ", ")

// Parse reads a system: its address, its URN, or its name.
func Parse(text string) (*System, error) {
	bare := strings.Trim(text, "<>[]")
	for _, s := range Systems {
		if bare == s.URI() || strings.EqualFold(bare, s.Name) || strings.EqualFold(bare, "urn:ogc:def:crs:"+strings.Replace(s.Name, ":", "::", 1)) {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%.60q %s", text, Mistake)
}

// Decimals is how many decimals coordinates have: a centimetre in metres, and about that in degrees.
func (s *System) Decimals() int {
	if s.CRS == nil {
		return 7
	}
	return 2
}

// Project returns the coordinates of a point of longitude and latitude in the order of the axes. It reports false for one too far from the area of the
// system.
func (s *System) Project(p orb.Point) (first, second float64, ok bool) {
	x, y, ok := p[0], p[1], true
	if s.CRS != nil {
		x, y, ok = s.CRS.Project(x, y)
	}
	if s.NorthFirst {
		x, y = y, x
	}
	return x, y, ok
}

// Unproject returns longitude and latitude of a place whose coordinates are in the order of the axes. It reports false where there are none.
func (s *System) Unproject(p orb.Point) (orb.Point, bool) {
	if s.NorthFirst {
		p[0], p[1] = p[1], p[0]
	}
	if s.CRS != nil {
		inverse, err := crs.NewInverse(s.CRS)
		if err != nil {
			return p, false
		}
		p[0], p[1] = inverse.At(p[0], p[1])
	}
	return p, math.Abs(p[0]) <= 180 && math.Abs(p[1]) <= 90 // not NaN
}

// ParseBox reads the corners of a box in the order of the axes, and returns them with x first. Of six numbers the third and the last, which are
// heights, are ignored.
func (s *System) ParseBox(text string) (min, max orb.Point, err error) {
	var n []float64
	for part := range strings.SplitSeq(text, ",") {
		f, err := strconv.ParseFloat(part, 64)
		if err != nil || strings.Trim(part, "+-.0123456789eE") != "" || len(n) == 6 {
			return min, max, errBox
		}
		n = append(n, f)
	}
	if len(n) == 6 {
		n = []float64{n[0], n[1], n[3], n[4]}
	}
	if len(n) != 4 {
		return min, max, errBox
	}
	if s.NorthFirst {
		n = []float64{n[1], n[0], n[3], n[2]}
	}
	return orb.Point{n[0], n[1]}, orb.Point{n[2], n[3]}, nil
}

var errBox = errors.New("is not four numbers")

// MistakeInBox says what a text is not that ParseBox does not read.
const MistakeInBox = "is not four numbers with commas between them, in the order of the axes of its system: the smaller ones, then the greater ones"
