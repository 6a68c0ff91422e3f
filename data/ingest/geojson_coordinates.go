package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"limnomap/data"

	"github.com/paulmach/orb"
)

// coordinates parses the member "coordinates" of a geometry, which is known to be valid JSON. encoding/json would accept [10]
// or [10, null] as longitude 10 and latitude 0, and allocate a slice for each point.
type coordinates struct {
	rest   []byte
	points int
}

// maxDimensions allows longitude, latitude, height, and one more in files older than RFC 7946.
const maxDimensions = 4

func (c *coordinates) polygon() (orb.Polygon, error) { return list(c, "ring", c.ring) }

func (c *coordinates) ring() (orb.Ring, error) { return list(c, "point", c.position) }

// list reads an array of at least one element.
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
		if !c.skip(',') {
			c.skip(']') // valid JSON has nothing else here
			return all, nil
		}
	}
}

var errNoPosition = errors.New("want an array of two numbers, longitude and latitude")

func (c *coordinates) position() (orb.Point, error) {
	if c.points++; c.points > data.MaxOutlinePoints {
		return orb.Point{}, fmt.Errorf("want at most %d points", data.MaxOutlinePoints)
	}
	if !c.skip('[') || c.skip(']') {
		return orb.Point{}, errNoPosition
	}
	var numbers [maxDimensions]float64
	for i := range numbers {
		if i > 0 && !c.skip(',') {
			return orb.Point{}, errNoPosition
		}
		var err error
		if numbers[i], err = c.number(); err != nil {
			return orb.Point{}, err
		}
		if i > 0 && c.skip(']') {
			return orb.Point{numbers[0], numbers[1]}, nil
		}
	}
	return orb.Point{}, fmt.Errorf("want at most %d numbers", maxDimensions)
}

func (c *coordinates) number() (float64, error) {
	c.rest = bytes.TrimLeft(c.rest, jsonSpace)
	n := 0
	for n < len(c.rest) && (c.rest[n] >= '0' && c.rest[n] <= '9' || bytes.IndexByte([]byte("+-.eE"), c.rest[n]) >= 0) {
		n++
	}
	if n == 0 {
		var other json.RawMessage
		if err := json.NewDecoder(bytes.NewReader(c.rest)).Decode(&other); err != nil {
			return 0, err // not possible in valid JSON
		}
		return 0, fmt.Errorf("%s: want a number", quoteJSON(other))
	}
	f, err := strconv.ParseFloat(string(c.rest[:n]), 64)
	if err != nil { // JSON does not limit numbers
		return 0, fmt.Errorf("%.40q: want a number in the range of floating point", c.rest[:n])
	}
	c.rest = c.rest[n:]
	return f, nil
}

// skip skips white space and then b, and reports whether b was there.
func (c *coordinates) skip(b byte) bool {
	c.rest = bytes.TrimLeft(c.rest, jsonSpace)
	if len(c.rest) == 0 || c.rest[0] != b {
		return false
	}
	c.rest = c.rest[1:]
	return true
}

// jsonSpace is the white space of JSON (RFC 8259, section 2).
const jsonSpace = " \t\r\n"
