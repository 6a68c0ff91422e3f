package crs

import (
	"errors"
	"fmt"
	"math"
)

// ErrUnsupported is in the error for a valid coordinate system that this package does not know.
var ErrUnsupported = errors.New("unsupported coordinate system")

// ErrFormat is in the error for a definition that is damaged or incomplete.
var ErrFormat = errors.New("invalid definition of a coordinate system")

// A System is a coordinate reference system.
type System struct {
	name string
	code int
	of   definition
	lon0 float64    // degrees
	proj projection // nil if the system is geographic
	// The false origin, in metres.
	falseEasting, falseNorthing float64
}

// A projection maps the longitude from its central meridian and the latitude, in radians, to the plane, in metres and without a
// false origin.
type projection interface {
	forward(lambda, phi float64) (x, y float64, ok bool)
}

// Name returns the name of the system, such as "WGS 84 / UTM zone 32N". It may come from the file.
func (s *System) Name() string { return s.name }

// Code returns the EPSG code, or 0 if it is not known.
func (s *System) Code() int { return s.code }

// Geographic reports whether x and y are longitude and latitude.
func (s *System) Geographic() bool { return s.proj == nil }

// Project converts a longitude of -360 to 360 degrees and a latitude. It returns false for a point that is not on the Earth, or
// so far from the area of the projection that the result would be wrong. If the system is geographic, x and y are lon and lat.
func (s *System) Project(lon, lat float64) (x, y float64, ok bool) {
	if !(math.Abs(lon) <= 360 && math.Abs(lat) <= 90) { // NaN too
		return 0, 0, false
	}
	if s.proj == nil {
		return lon, lat, true
	}
	x, y, ok = s.proj.forward(wrap(lon-s.lon0)*(math.Pi/180), lat*(math.Pi/180))
	if !ok {
		return 0, 0, false
	}
	return x + s.falseEasting, y + s.falseNorthing, true
}

// wrap returns the equivalent longitude of -180 to 180 degrees.
func wrap(lon float64) float64 {
	if lon >= -180 && lon <= 180 {
		return lon
	}
	return math.Remainder(lon, 360)
}

// unsupported returns an ErrUnsupported for what was found.
func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s; convert the file first: gdalwarp -t_srs EPSG:4326 IN OUT", ErrUnsupported, fmt.Sprintf(format, args...))
}
