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

// coordinates read a geometry's member of that name, of which is known that it is JSON. encoding/json would take [10] or
// [10, null] for longitude 10 and latitude 0, and a slice for each point.
type coordinates struct {
	rest   []byte
	points int
}

// maxDimensions is longitude, latitude, height and, in files older than RFC 7946, one more.
const maxDimensions = 4

func (c *coordinates) polygon() (orb.Polygon, error) { return list(c, "ring", c.ring) }

func (c *coordinates) ring() (orb.Ring, error) { return list(c, "point", c.position) }

// list reads an array of one element or more.
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
			c.skip(']') // nothing else can be there
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
			return 0, err // cannot be, as it is JSON
		}
		return 0, fmt.Errorf("%s: want a number", shown(other))
	}
	f, err := strconv.ParseFloat(string(c.rest[:n]), 64)
	if err != nil { // as JSON sets numbers no bound
		return 0, fmt.Errorf("%.40q: want a number that floating point can hold", c.rest[:n])
	}
	c.rest = c.rest[n:]
	return f, nil
}

// skip reports whether the next byte that is not white space is b, and if so skips it.
func (c *coordinates) skip(b byte) bool {
	c.rest = bytes.TrimLeft(c.rest, jsonSpace)
	if len(c.rest) == 0 || c.rest[0] != b {
		return false
	}
	c.rest = c.rest[1:]
	return true
}

// jsonSpace is what JSON allows between values (RFC 8259, section 2).
const jsonSpace = " \t\r\n"
