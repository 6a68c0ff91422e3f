package main

import (
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/paulmach/orb/maptile"

	"limnomap/render"
)

// A byteSize is a number of bytes, written as 64MiB, 1GB or 4096.
type byteSize int64

// Multiples as IEC 80000-13 (KiB) and the SI (kB) have them.
var byteUnits = []struct {
	suffix string
	bytes  float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12},
	{"B", 1}, {"", 1},
}

func (s *byteSize) UnmarshalText(text []byte) error {
	for _, u := range byteUnits {
		number, ok := strings.CutSuffix(string(text), u.suffix)
		if !ok {
			continue
		}
		f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(f >= 0 && f*u.bytes < math.MaxInt64) {
			break
		}
		*s = byteSize(f * u.bytes)
		return nil
	}
	return fmt.Errorf("size %q is not a number of bytes such as 64MiB, 1GiB or 500MB", text)
}

// MarshalText writes the size in the largest unit that holds it without a rest.
func (s byteSize) MarshalText() ([]byte, error) {
	unit := byteUnits[len(byteUnits)-1]
	for _, u := range byteUnits[:4] {
		if s != 0 && int64(s)%int64(u.bytes) == 0 {
			unit = u
		}
	}
	return []byte(strconv.FormatInt(int64(s)/int64(unit.bytes), 10) + unit.suffix), nil
}

// A period is a length of time in which days may be counted: 28d, 36h, 90m.
type period time.Duration

const day = 24 * time.Hour

func (p *period) UnmarshalText(text []byte) error {
	if days, ok := strings.CutSuffix(string(text), "d"); ok {
		// The bound keeps the product within a time.Duration.
		n, err := strconv.Atoi(days)
		if err == nil && n >= 0 && n <= 36500 {
			*p = period(time.Duration(n) * day)
			return nil
		}
	} else if d, err := time.ParseDuration(string(text)); err == nil && d >= 0 {
		*p = period(d)
		return nil
	}
	return fmt.Errorf("period %q is not a length of time such as 28d, 36h or 90m", text)
}

// MarshalText writes the period in days where these are whole.
func (p period) MarshalText() ([]byte, error) {
	if d := time.Duration(p); d%day != 0 {
		return []byte(d.String()), nil
	}
	return []byte(strconv.FormatInt(int64(time.Duration(p)/day), 10) + "d"), nil
}

// A network is a range of addresses, written as 10.0.0.0/8.
type network struct{ netip.Prefix }

func (n *network) UnmarshalText(text []byte) error {
	p, err := netip.ParsePrefix(string(text))
	if err != nil {
		return fmt.Errorf("network %q is not an address with a length, such as 10.0.0.0/8, fd00::/8, or 192.0.2.7/32 for one address", text)
	}
	n.Prefix = p
	return nil
}

func prefixes(networks []network) []netip.Prefix {
	var all []netip.Prefix
	for _, n := range networks {
		all = append(all, n.Prefix)
	}
	return all
}

// A logLevel is how important a line must be to be logged.
type logLevel struct{ slog.Level }

func (l *logLevel) UnmarshalText(text []byte) error {
	if err := l.Level.UnmarshalText(text); err != nil {
		return fmt.Errorf("level %q is none of debug, info, warn and error", text)
	}
	return nil
}

// A zoomRange is one zoom or several in a row, written as 7 or 0-9. Both ends are in it.
type zoomRange struct{ Min, Max int }

func (r *zoomRange) UnmarshalText(text []byte) error {
	first, last, several := strings.Cut(string(text), "-")
	if !several {
		last = first
	}
	low, lowErr := strconv.ParseUint(first, 10, 8)
	high, highErr := strconv.ParseUint(last, 10, 8)
	if lowErr != nil || highErr != nil || low > high || high > render.MaxZoom {
		return fmt.Errorf("zooms %q are not one such as 7, or a range such as 0-9, from 0 to %d", text, render.MaxZoom)
	}
	*r = zoomRange{int(low), int(high)}
	return nil
}

// MarshalText writes the range as it is read.
func (r zoomRange) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%d-%d", r.Min, r.Max), nil }

func (r zoomRange) contains(z maptile.Zoom) bool { return r.Min <= int(z) && int(z) <= r.Max }

// A bound is a part of the globe, written as W,S,E,N in degrees, edges included. If west is east of east, it crosses
// the antimeridian (RFC 7946, section 5.2).
type bound struct{ West, South, East, North float64 }

func (b *bound) UnmarshalText(text []byte) error {
	const allowed = "west,south,east,north in degrees such as 5.8,47.2,15.1,55.1"
	parts := strings.Split(string(text), ",")
	if len(parts) != 4 {
		return fmt.Errorf("bound %q has %d numbers and not 4: %s", text, len(parts), allowed)
	}
	var numbers [4]float64
	for i, part := range parts {
		limit := [...]float64{180, 90}[i%2]
		f, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(f >= -limit && f <= limit) { // NaN is within nothing
			return fmt.Errorf("bound %q: %q is not a number from %v to %v: %s", text, part, -limit, limit, allowed)
		}
		numbers[i] = f
	}
	if south, north := numbers[1], numbers[3]; south > north {
		return fmt.Errorf("bound %q: south, %v, lies north of north, %v: %s", text, south, north, allowed)
	}
	*b = bound{numbers[0], numbers[1], numbers[2], numbers[3]}
	return nil
}

// MarshalText writes the bound as it is read, to the last bit.
func (b bound) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%v,%v,%v,%v", b.West, b.South, b.East, b.North), nil
}

// edgeSlack is a tenth of a millimetre in degrees: far more than what projecting a tile's edge rounds away.
const edgeSlack = 1e-9

// overlaps reports whether t shows some of b, be it no more than its edge.
func (b bound) overlaps(t maptile.Tile) bool {
	shown := t.Bound().Pad(edgeSlack)
	if shown.Max.Lat() < b.South || shown.Min.Lat() > b.North {
		return false
	}
	east, west := shown.Max.Lon() >= b.West, shown.Min.Lon() <= b.East
	if b.West > b.East {
		return east || west
	}
	return east && west
}
