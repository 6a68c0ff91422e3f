package ingest

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/paulmach/orb"

	"limnomap/data/outline"
)

// maxDimensions allows longitude, latitude, height, and one more in files older than RFC 7946.
const maxDimensions = 4

// coordinates parse the member "coordinates" of a geometry.
type coordinates struct {
	rest          []byte // what is not parsed
	points, rings int    // so far
}

func (c *coordinates) polygon() (orb.Polygon, error) { return list(c, "ring", c.ring) }

func (c *coordinates) ring() (orb.Ring, error) {
	if c.rings++; c.rings > outline.MaxRings {
		return nil, fmt.Errorf("want at most %d rings in all: leave out the smallest islands", outline.MaxRings)
	}
	return list(c, "point", c.position)
}

// list parses an array of at least one element.
func list[T any](c *coordinates, name string, element func() (T, error)) ([]T, error) {
	if !c.skip('[') {
		return nil, fmt.Errorf("want an array of %ss", name)
	}
	if c.skip(']') {
		return nil, fmt.Errorf("no %s: want 1 or more", name)
	}
	var all []T
	for {
		e, err := element()
		if err != nil {
			return nil, fmt.Errorf("%s %d: %w", name, len(all)+1, err)
		}
		all = append(all, e)
		if c.skip(']') {
			return all, nil
		}
		c.skip(',')
	}
}

var errNoPosition = errors.New("want an array of two numbers, longitude and latitude")

func (c *coordinates) position() (orb.Point, error) {
	if c.points++; c.points > outline.MaxPoints {
		return orb.Point{}, fmt.Errorf("want at most %d points", outline.MaxPoints)
	}
	if !c.skip('[') || c.skip(']') {
		return orb.Point{}, errNoPosition
	}
	var numbers [maxDimensions]float64
	for i := range numbers {
		var err error
		if numbers[i], err = c.float(); err != nil {
			return orb.Point{}, err
		}
		switch {
		case !c.skip(']'):
			c.skip(',')
		case i == 0:
			return orb.Point{}, errNoPosition
		default:
			return orb.Point{numbers[0], numbers[1]}, nil
		}
	}
	return orb.Point{}, fmt.Errorf("want at most %d numbers", maxDimensions)
}

func (c *coordinates) float() (float64, error) {
	c.rest = trimSpace(c.rest)
	value := c.rest[:valueEnd(c.rest)]
	if b := value[0]; b != '-' && b-'0' > 9 {
		return 0, fmt.Errorf("%s: want a number", quoteJSON(value))
	}
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil { // JSON does not limit numbers
		return 0, fmt.Errorf("%.40q: want a number in the range of floating point", value)
	}
	c.rest = c.rest[len(value):]
	return f, nil
}

// skip reports whether the next byte is the given one, and skips it.
func (c *coordinates) skip(mark byte) bool {
	c.rest = trimSpace(c.rest)
	if len(c.rest) == 0 || c.rest[0] != mark {
		return false
	}
	c.rest = c.rest[1:]
	return true
}
