package crs

import (
	"fmt"
	"math"
	"strings"
)

// A method is a kind of projection.
type method int

const (
	geographic method = iota
	transverseMercator
	albersEqualArea
	lambertAzimuthalEqualArea
	pseudoMercator
)

// methods has the names of projections in CF, as simplified by simple, and a variant.
var methods = map[string]method{
	"transversemercator":        transverseMercator,
	"albersconicequalarea":      albersEqualArea,
	"albersconicalequalarea":    albersEqualArea,
	"lambertazimuthalequalarea": lambertAzimuthalEqualArea,
}

// A definition has all that determines a System. Angles are in degrees, lengths in metres. Parameters that were not given are NaN.
type definition struct {
	name      string
	code      int
	method    method
	ellipsoid ellipsoid
	parameters
}

type parameters struct {
	lon0, lat0                  float64
	parallel1, parallel2        float64
	scale                       float64
	falseEasting, falseNorthing float64
}

// missing are parameters of which none was given. Formats leave out false origins of zero.
var missing = parameters{lon0: math.NaN(), lat0: math.NaN(), parallel1: math.NaN(), parallel2: math.NaN(), scale: math.NaN()}

// set sets the parameter with a name of CF or keyParameters, if there is one.
func (p *parameters) set(name string, value float64) {
	switch simple(name) {
	case "centralmeridian", "longitudeofcentralmeridian", "longitudeofprojectionorigin":
		p.lon0 = value
	case "latitudeoforigin", "latitudeofprojectionorigin":
		p.lat0 = value
	case "standardparallel1":
		p.parallel1 = value
	case "standardparallel2":
		p.parallel2 = value
	case "scalefactor", "scalefactoratcentralmeridian", "scalefactoratprojectionorigin":
		p.scale = value
	case "falseeasting":
		p.falseEasting = value
	case "falsenorthing":
		p.falseNorthing = value
	}
}

// simple returns the ASCII letters and digits of a name, in lower case.
func simple(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return -1
	}, name)
}

// system returns the System of a definition after checking it.
func (d *definition) system() (*System, error) {
	if !d.ellipsoid.modern() {
		return nil, unsupported("%.80q is on an ellipsoid with a radius of %.10g m and a flattening of 1/%.12g, want that of WGS 84 or GRS 1980", d.name, d.ellipsoid.a, d.ellipsoid.rf)
	}
	const maxName = 120
	s := &System{name: strings.ToValidUTF8(d.name[:min(len(d.name), maxName)], ""), code: d.code, of: *d}
	s.of.name = s.name
	if d.method == geographic {
		return s, nil
	}
	s.lon0, s.falseEasting, s.falseNorthing = d.lon0, d.falseEasting, d.falseNorthing

	const length = 1e9 // some national grids put the number of the zone, in millions, in front of the easting
	err := d.check("longitude of the origin", d.lon0, 360)
	err = first(err, d.check("false easting", d.falseEasting, length))
	err = first(err, d.check("false northing", d.falseNorthing, length))
	if d.method != pseudoMercator {
		err = first(err, d.check("latitude of the origin", d.lat0, 90))
	}
	if d.method == albersEqualArea {
		err = first(err, d.check("first standard parallel", d.parallel1, 90))
		err = first(err, d.check("second standard parallel", d.parallel2, 90))
	}
	if d.method == transverseMercator {
		err = first(err, d.check("scale factor", d.scale, 2))
		if err == nil && d.scale < 0.5 {
			err = fmt.Errorf("%w: scale factor of %.80q is %g, want 0.5 to 2", ErrFormat, d.name, d.scale)
		}
	} else if d.scale != 1 && !math.IsNaN(d.scale) {
		err = first(err, unsupported("%.80q has a scale factor of %g, want 1", d.name, d.scale))
	}
	if err != nil {
		return nil, err
	}

	const radians = math.Pi / 180
	switch d.method {
	case transverseMercator:
		s.proj = newTransverseMercator(d.ellipsoid, d.lat0*radians, d.scale)
	case albersEqualArea:
		p, err := newAlbers(d.ellipsoid, d.lat0*radians, d.parallel1*radians, d.parallel2*radians)
		if err != nil {
			return nil, fmt.Errorf("%.80q: %w", d.name, err)
		}
		s.proj = p
	case lambertAzimuthalEqualArea:
		s.proj = newLambertAzimuthal(d.ellipsoid, d.lat0*radians)
	case pseudoMercator:
		// Its other parameters are 0 wherever this projection is in use.
		if d.lat0 != 0 && !math.IsNaN(d.lat0) || d.parallel1 != 0 && !math.IsNaN(d.parallel1) {
			return nil, unsupported("%.80q is a pseudo-Mercator projection that is true to scale at %g or %g degrees, want 0", d.name, d.lat0, d.parallel1)
		}
		s.proj = webMercator{}
	}
	return s, nil
}

// check returns an error if a parameter is missing or not within the limit.
func (d *definition) check(name string, value, limit float64) error {
	switch {
	case math.IsNaN(value):
		return fmt.Errorf("%w: %.80q has no %s", ErrFormat, d.name, name)
	case math.Abs(value) > limit:
		return fmt.Errorf("%w: %s of %.80q is %g, want -%g to %g", ErrFormat, name, d.name, value, limit, limit)
	}
	return nil
}

// first returns the first error.
func first(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
