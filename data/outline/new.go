package outline

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
)

// worthStoring: a section is stored only if it is at most this percentage of the next finer section's size. Without that
// limit, a shore of few points would be stored eight times, nearly unchanged. Drawing takes at most a third more points.
const worthStoring = 75

// New returns the outline of a lake with these polygons, each an outer ring followed by its holes, wound in either
// direction. A ring need not be closed. A lake that crosses the antimeridian is either cut in two there (RFC 7946,
// section 3.1.9) or has longitudes that continue beyond ±180; in both cases its parts are moved next to each other.
//
// An error names the polygon, ring and point, counted from 1, and the allowed values.
func New(polygons orb.MultiPolygon) (Outline, error) {
	shores, err := shoresOf(polygons)
	if err != nil {
		return "", err
	}
	bound, err := joinShores(shores)
	if err != nil {
		return "", err
	}
	var sections [sectionCount][]byte
	var finer []byte
	line := newShoreline(shores)
	for i := sectionCount - 1; i >= 0; i-- {
		if err := line.simplify(FirstZoom + maptile.Zoom(i)); err != nil {
			return "", err
		}
		if section := appendSection(nil, line.rings(), bound.min); finer == nil || len(section) <= len(finer)*worthStoring/100 {
			sections[i], finer = section, section
		}
	}
	return encode(bound, &sections), nil
}

// A shore is a polygon: an outer ring and holes, without the closing point of each ring.
type shore [][]point

// shoresOf checks polygons point by point.
func shoresOf(polygons orb.MultiPolygon) ([]shore, error) {
	if len(polygons) == 0 {
		return nil, errors.New("no polygon: want 1 or more")
	}
	total, rings := 0, 0
	shores := make([]shore, len(polygons))
	for i, polygon := range polygons {
		if len(polygon) == 0 {
			return nil, fmt.Errorf("polygon %d has no ring: want an outer ring, and then any holes", i+1)
		}
		for j, ring := range polygon {
			if total += len(ring); total > MaxPoints {
				return nil, fmt.Errorf("polygon %d, ring %d: more than %d points so far: simplify the outline", i+1, j+1, MaxPoints)
			}
			if rings++; rings > MaxRings {
				return nil, fmt.Errorf("polygon %d, ring %d: more than %d rings so far: leave out the smallest islands", i+1, j+1, MaxRings)
			}
			points, err := ringPoints(ring)
			if err != nil {
				return nil, fmt.Errorf("polygon %d, ring %d%w", i+1, j+1, err)
			}
			shores[i] = append(shores[i], points)
		}
	}
	return shores, nil
}

// ringPoints returns the points of a ring without its closing point. The text of an error is appended to the ring's number.
func ringPoints(ring orb.Ring) ([]point, error) {
	points := make([]point, len(ring))
	for i, p := range ring {
		// Written so that NaN fails too.
		if lon := p.Lon(); !(lon >= -360 && lon <= 360) {
			return nil, fmt.Errorf(", point %d: lon %v: want degrees from -180 to 180, or up to ±360 for a lake across the antimeridian", i+1, lon)
		}
		if lat := p.Lat(); !(lat >= -90 && lat <= 90) {
			return nil, fmt.Errorf(", point %d: lat %v: want degrees from -90 to 90", i+1, lat)
		}
		points[i] = point{int64(math.Round(p.Lon() * unitsPerDegree)), int64(math.Round(p.Lat() * unitsPerDegree))}
	}
	if n := len(points); n > 1 && points[0] == points[n-1] {
		points = points[:n-1]
	}
	if distinct := distinctPoints(ring); distinct < 3 {
		return nil, fmt.Errorf(" has %d distinct points: want 3 or more", distinct)
	}
	return points, nil
}

// distinctPoints counts the distinct points of a ring, up to 3.
func distinctPoints(ring orb.Ring) int {
	var found [3]orb.Point
	n := 0
next:
	for _, p := range ring {
		for _, f := range found[:n] {
			if p == f {
				continue next
			}
		}
		found[n] = p
		if n++; n == len(found) {
			break
		}
	}
	return n
}

// joinShores moves shores by whole turns, each next to those before it, and then all of them so that the west of their
// bound, which it returns, is from -180 to 180.
func joinShores(shores []shore) (all corners, err error) {
	for i, s := range shores {
		b := boundOfRings(s)
		if width := b.max.x - b.min.x; width > halfTurn {
			return all, fmt.Errorf("polygon %d is %.4g degrees wide: want at most 180; where it crosses the antimeridian, cut it in two there (RFC 7946, section 3.1.9) or let longitudes continue beyond 180", i+1, float64(width)/unitsPerDegree)
		}
		if i == 0 {
			all = b
		}
		// Doubled, the centres are whole numbers.
		apart := float64((all.min.x + all.max.x) - (b.min.x + b.max.x))
		shift := int64(math.Round(apart/(2*fullTurn))) * fullTurn
		moveRings(s, shift)
		b.min.x, b.max.x = b.min.x+shift, b.max.x+shift
		all = all.extend(b.min).extend(b.max)
	}
	if width := all.max.x - all.min.x; width > halfTurn {
		return all, fmt.Errorf("polygons together are %.4g degrees wide: want at most 180 for one lake", float64(width)/unitsPerDegree)
	}
	shift := int64(math.Floor(float64(all.min.x+halfTurn)/fullTurn)) * fullTurn
	for _, s := range shores {
		moveRings(s, -shift)
	}
	all.min.x, all.max.x = all.min.x-shift, all.max.x-shift
	return all, nil
}

func moveRings(rings [][]point, east int64) {
	for _, ring := range rings {
		for i := range ring {
			ring[i].x += east
		}
	}
}

func boundOfRings(rings [][]point) corners {
	b := corners{rings[0][0], rings[0][0]}
	for _, ring := range rings {
		for _, p := range ring {
			b = b.extend(p)
		}
	}
	return b
}

// appendSection encodes rings as a section. Its first point is relative to from.
func appendSection(b []byte, rings [][]point, from point) []byte {
	b = binary.AppendUvarint(b, uint64(len(rings)))
	for _, ring := range rings {
		b = binary.AppendUvarint(b, uint64(len(ring)))
		first := ring[0]
		for _, p := range ring {
			b = binary.AppendVarint(b, p.x-from.x)
			b = binary.AppendVarint(b, p.y-from.y)
			from = p
		}
		from = first
	}
	return b
}

func encode(bound corners, sections *[sectionCount][]byte) Outline {
	b := []byte{formatByte}
	b = binary.AppendVarint(b, bound.min.x)
	b = binary.AppendVarint(b, bound.min.y)
	b = binary.AppendUvarint(b, uint64(bound.max.x-bound.min.x))
	b = binary.AppendUvarint(b, uint64(bound.max.y-bound.min.y))
	for _, section := range sections {
		b = binary.AppendUvarint(b, uint64(len(section)))
	}
	for _, section := range sections {
		b = append(b, section...)
	}
	return Outline(b)
}
