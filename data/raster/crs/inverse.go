package crs

import (
	"fmt"
	"math"
)

// An Inverse finds longitude and latitude from projected coordinates, by Newton's method.
type Inverse struct {
	system   *System
	lon, lat float64 // what was found last, where the next search begins
}

// NewInverse returns the inverse of a system. It begins at a place where the system is defined.
func NewInverse(s *System) (*Inverse, error) {
	for lat := 50.; lat > -90; lat -= 5 {
		for lon := 10.; lon < 370; lon += 5 {
			if _, _, ok := s.Project(wrap(lon), lat); ok {
				return &Inverse{s, wrap(lon), lat}, nil
			}
		}
	}
	return nil, fmt.Errorf("%w: %s is nowhere defined", ErrUnsupported, s.Name())
}

// near is how near, in metres, a place must be that is found.
const near = 0.01

// At returns the longitude and latitude of projected coordinates, NaN where there are none.
func (inv *Inverse) At(x, y float64) (lon, lat float64) {
	const small = 1e-6 // degrees: a tenth of a metre, of which the slope is taken
	lon, lat = inv.lon, inv.lat
	for range 30 {
		px, py, ok := inv.system.Project(lon, lat)
		if !ok {
			break
		}
		dx, dy := x-px, y-py
		if math.Hypot(dx, dy) < near {
			inv.lon, inv.lat = lon, lat
			return lon, lat
		}
		ex, ey, okEast := inv.system.Project(lon+small, lat)
		nx, ny, okNorth := inv.system.Project(lon, lat+small)
		if !okEast || !okNorth {
			break
		}
		ex, ey, nx, ny = (ex-px)/small, (ey-py)/small, (nx-px)/small, (ny-py)/small
		det := ex*ny - nx*ey
		if det == 0 {
			break
		}
		east, north := (dx*ny-nx*dy)/det, (ex*dy-dx*ey)/det
		// A step of some degrees at most: far away the slope is another one.
		part := min(1, 10/max(math.Abs(east), math.Abs(north)))
		lon, lat = wrap(lon+east*part), min(max(lat+north*part, -89.9), 89.9)
	}
	return math.NaN(), math.NaN()
}
