package ingest

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/paulmach/orb"

	"limnomap/data/outline"
)

// coordinates hold the member "coordinates" of a geometry, which may come before the geometry's type: brackets and numbers.
// They end at the first value that is neither, which is an error in any geometry.
type coordinates struct {
	marks      []byte // '[', ']', '0' for a number, 'x' for the other value
	numbers    []float64
	other      []byte // that value's beginning
	outOfRange bool   // whether that value is a number outside the range of floating point

	mark, number  int // the position of the parser in marks and in numbers
	points, rings int // so far
}

const (
	// maxDimensions allows longitude, latitude, height, and one more in files older than RFC 7946.
	maxDimensions = 4
	// maxMarks is more than any valid polygons have. What follows is read, but not kept.
	maxMarks = (2+maxDimensions)*(outline.MaxPoints+1) + 8*(outline.MaxRings+1)
	// maxQuoted is more bytes of a value than an error message quotes.
	maxQuoted = 200
)

func (c *coordinates) reset() {
	*c = coordinates{marks: c.marks[:0], numbers: c.numbers[:0], other: c.other[:0]}
}

// read reads the member's value.
func (c *coordinates) read(j *jsonReader) error {
	c.reset()
	depth := j.StackDepth()
	for {
		full := len(c.marks) == maxMarks || len(c.other) > 0
		switch kind := j.PeekKind(); {
		case kind == '[' || kind == ']' || kind == '0':
			_, raw, err := j.next()
			if err != nil {
				return err
			}
			if !full {
				c.add(kind, raw)
			}
		case full:
			if err := j.skip(); err != nil {
				return err
			}
		default:
			var err error
			if c.other, err = j.value(c.other, maxQuoted); err != nil {
				return err
			}
			c.marks = append(c.marks, 'x')
		}
		if j.StackDepth() <= depth {
			return nil
		}
	}
}

// add adds a bracket or a number.
func (c *coordinates) add(kind jsontext.Kind, raw jsontext.Value) {
	if kind != '0' {
		c.marks = append(c.marks, byte(kind))
		return
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil { // JSON does not limit numbers
		c.marks, c.other, c.outOfRange = append(c.marks, 'x'), append(c.other, raw[:min(len(raw), maxQuoted)]...), true
		return
	}
	c.marks, c.numbers = append(c.marks, '0'), append(c.numbers, f)
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
		if i == 1 && c.skip(']') {
			return orb.Point{}, errNoPosition
		}
		var err error
		if numbers[i], err = c.float(); err != nil {
			return orb.Point{}, err
		}
		if i > 0 && c.skip(']') {
			return orb.Point{numbers[0], numbers[1]}, nil
		}
	}
	return orb.Point{}, fmt.Errorf("want at most %d numbers", maxDimensions)
}

func (c *coordinates) float() (float64, error) {
	if c.skip('0') {
		return c.numbers[c.number-1], nil
	}
	if c.outOfRange && c.mark < len(c.marks) && c.marks[c.mark] == 'x' {
		return 0, fmt.Errorf("%.40q: want a number in the range of floating point", c.other)
	}
	return 0, fmt.Errorf("%s: want a number", quoteJSON(c.value()))
}

// skip reports whether the next mark is the given one, and skips it.
func (c *coordinates) skip(mark byte) bool {
	if c.mark == len(c.marks) || c.marks[c.mark] != mark {
		return false
	}
	if mark == '0' {
		c.number++
	}
	c.mark++
	return true
}

// value returns the beginning of the next value as JSON, for error messages.
func (c *coordinates) value() []byte {
	var b []byte
	depth, number := 0, c.number
	for _, mark := range c.marks[c.mark:] {
		if n := len(b); n > 0 && mark != ']' && b[n-1] != '[' {
			b = append(b, ',')
		}
		switch mark {
		case '[':
			depth++
			b = append(b, mark)
		case ']':
			depth--
			b = append(b, mark)
		case '0':
			b = strconv.AppendFloat(b, c.numbers[number], 'f', -1, 64)
			number++
		default:
			b = append(b, c.other...)
		}
		if depth <= 0 || len(b) > maxQuoted {
			break
		}
	}
	return b
}
