package data

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/paulmach/orb"
)

// A Box is a part of the globe between two latitudes and two longitudes in degrees, bounds included. If West is east of East, it
// crosses the antimeridian (RFC 7946, section 5.2).
type Box struct {
	South, West, North, East float64
}

// WholeWorld returns the box of the whole globe.
func WholeWorld() Box { return Box{South: -90, West: -180, North: 90, East: 180} }

var errBox = errors.New("is not west,south,east,north: four numbers of degrees, -180 to 180 and -90 to 90")

// ParseBox reads west,south,east,north in degrees.
func ParseBox(s string) (Box, error) {
	var b Box
	bounds := [...]struct {
		value   *float64
		highest float64
	}{{&b.West, 180}, {&b.South, 90}, {&b.East, 180}, {&b.North, 90}}
	texts := strings.Split(s, ",")
	if len(texts) != len(bounds) {
		return b, errBox
	}
	for i, text := range texts {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || strings.Trim(text, "+-.0123456789eE") != "" || f < -bounds[i].highest || f > bounds[i].highest {
			return b, errBox
		}
		*bounds[i].value = f
	}
	if b.South > b.North {
		return b, fmt.Errorf("has south, %v, greater than north, %v", b.South, b.North)
	}
	return b, nil
}

// String returns what ParseBox reads.
func (b Box) String() string {
	var texts []string
	for _, f := range []float64{b.West, b.South, b.East, b.North} {
		texts = append(texts, strconv.FormatFloat(f, 'f', -1, 64))
	}
	return strings.Join(texts, ",")
}

// Contains reports whether a point is in the box.
func (b Box) Contains(lon, lat float64) bool {
	if lat < b.South || lat > b.North {
		return false
	}
	if b.West > b.East {
		return lon >= b.West || lon <= b.East
	}
	return lon >= b.West && lon <= b.East
}

// Includes reports whether all of bound, which does not cross the antimeridian, is in the box.
func (b Box) Includes(bound orb.Bound) bool {
	if bound.Min.Lat() < b.South || bound.Max.Lat() > b.North {
		return false
	}
	west, east := bound.Min.Lon(), bound.Max.Lon()
	if b.West > b.East {
		return west >= b.West || east <= b.East
	}
	return west >= b.West && east <= b.East
}
