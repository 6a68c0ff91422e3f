package zonal

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"
)

// fuzzPolygons reads polygons from bytes: three bits of each first byte say whether a ring or a polygon begins, and how the coordinates are
// coded.
func fuzzPolygons(raw []byte) []Polygon {
	polygons := []Polygon{{nil}}
	for len(raw) >= 5 {
		p := &polygons[len(polygons)-1]
		switch {
		case raw[0]&7 == 1:
			polygons = append(polygons, Polygon{nil})
			p = &polygons[len(polygons)-1]
		case raw[0]&7 == 2:
			*p = append(*p, nil)
		}
		x, y := float64(int16(binary.LittleEndian.Uint16(raw[1:]))), float64(int16(binary.LittleEndian.Uint16(raw[3:])))
		switch raw[0] >> 3 & 3 {
		case 0: // corners and centres of pixels
			x, y = math.Mod(x, 64)/2, math.Mod(y, 64)/2
		case 1:
			x, y = x/1024, y/1024
		case 2:
			x, y = x/7, y/7
		case 3:
			y /= 64
			if raw[0]>>5 == 7 {
				x = math.Float64frombits(binary.LittleEndian.Uint64(append(slices.Clone(raw[:5]), 0, 0x40, 0x41)))
			}
		}
		ring := &(*p)[len(*p)-1]
		*ring = append(*ring, Point{x, y})
		raw = raw[5:]
	}
	return polygons
}

func FuzzNewMask(f *testing.F) {
	f.Add([]byte("\x00\x03\x00\x03\x00\x00\x09\x00\x03\x00\x00\x09\x00\x09\x00\x00\x03\x00\x09\x00"))
	f.Add([]byte("\x10\x03\x00\x03\x00\x10\xf9\x00\x03\x00\x10\x09\x00\xf9\x00\x12\x03\x00\x09\x00\x10\x73\x00\x09\x00\x10\x73\x00\x49\x00"))
	f.Add([]byte("\x18\x03\x70\x03\x00\x18\x09\x00\x03\x70\x19\x09\x00\x09\x00\xf8\xff\xff\x09\x00\xf8\x03\x00\x09\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		polygons := fuzzPolygons(raw)
		centre, err := NewMask(polygons, Centre)
		if err != nil {
			return
		}
		checkMask(t, centre)
		full, err := NewMask(polygons, Full)
		if err != nil {
			if !errors.Is(err, ErrTooLarge) { // a pixel more may be looked at in each row
				t.Fatalf("Full of %v: %v", polygons, err)
			}
			return
		}
		checkMask(t, full)
		full.Each(func(y, x0, x1 int) {
			if !centre.Has(x0, y) || !centre.Has(x1-1, y) {
				t.Errorf("Full of %v has pixels %d to %d of row %d, Centre has not", polygons, x0, x1, y)
			}
		})
		inner := full.Erode(2)
		checkMask(t, inner)
	})
}
