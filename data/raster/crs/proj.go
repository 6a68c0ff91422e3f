package crs

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The projections as PROJ names them.
var projNames = [...]string{geographic: "longlat", transverseMercator: "tmerc", albersEqualArea: "aea", lambertAzimuthalEqualArea: "laea", pseudoMercator: "webmerc"}

// projParameters are the parameters of a definition as PROJ names them, in the order in which Proj writes them.
var projParameters = []struct {
	name string
	of   func(*definition) *float64
}{
	{"a", func(d *definition) *float64 { return &d.ellipsoid.a }},
	{"rf", func(d *definition) *float64 { return &d.ellipsoid.rf }},
	{"lat_0", func(d *definition) *float64 { return &d.lat0 }},
	{"lon_0", func(d *definition) *float64 { return &d.lon0 }},
	{"lat_1", func(d *definition) *float64 { return &d.parallel1 }},
	{"lat_2", func(d *definition) *float64 { return &d.parallel2 }},
	{"k_0", func(d *definition) *float64 { return &d.scale }},
	{"x_0", func(d *definition) *float64 { return &d.falseEasting }},
	{"y_0", func(d *definition) *float64 { return &d.falseNorthing }},
}

// Proj returns the parameters of the system as PROJ writes them, such as
// "+proj=laea +a=6378137 +rf=298.257222101 +lat_0=52 +lon_0=10 +k_0=1 +x_0=4321000 +y_0=3210000".
// [Parse] reads it: both systems project to the same coordinates.
func (s *System) Proj() string {
	var b strings.Builder
	fmt.Fprintf(&b, "+proj=%s", projNames[s.of.method])
	for _, p := range projParameters {
		if v := *p.of(&s.of); !math.IsNaN(v) {
			fmt.Fprintf(&b, " +%s=%s", p.name, strconv.FormatFloat(v, 'g', -1, 64))
		}
	}
	return b.String()
}

// Text returns the system as text, which [Parse] reads: its code, such as EPSG:3035, or [System.Proj].
func (s *System) Text() string {
	if known, ok := definitionOf(s.code); ok {
		if t, err := known.system(); err == nil && t.Proj() == s.Proj() {
			return fmt.Sprintf("EPSG:%d", s.code)
		}
	}
	return s.Proj()
}

// Parse reads what [System.Text] or [System.Proj] return. It reads nothing else that PROJ knows.
func Parse(text string) (*System, error) {
	if number, ok := strings.CutPrefix(text, "EPSG:"); ok {
		code, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("%w: %.40q", ErrFormat, text)
		}
		return FromEPSG(code)
	}
	return fromProj(text)
}

// maxProj bounds the length of a text for fromProj. The longest that Proj writes has some 200 bytes.
const maxProj = 1000

// fromProj returns the system of a text that [System.Proj] has written.
func fromProj(text string) (*System, error) {
	if len(text) > maxProj {
		return nil, fmt.Errorf("%w: %d bytes, want at most %d", ErrFormat, len(text), maxProj)
	}
	d := definition{name: text, method: -1, parameters: missing}
	for field := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(strings.TrimPrefix(field, "+"), "=")
		if !d.setProj(name, value) {
			return nil, fmt.Errorf("%w: %.40q in %.200q", ErrFormat, field, text)
		}
	}
	if d.method < 0 || d.ellipsoid == (ellipsoid{}) {
		return nil, fmt.Errorf("%w: %.200q has no proj or no ellipsoid", ErrFormat, text)
	}
	return d.system()
}

// setProj sets a parameter of PROJ. It reports false if it is not known.
func (d *definition) setProj(name, value string) bool {
	if name == "proj" {
		for m, known := range projNames {
			if value == known {
				d.method = method(m)
				return true
			}
		}
		return false
	}
	for _, p := range projParameters {
		if name == p.name {
			var err error
			*p.of(d), err = strconv.ParseFloat(value, 64)
			return err == nil
		}
	}
	return false
}
