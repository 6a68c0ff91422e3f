package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/paulmach/orb/maptile"

	"limnomap/render"
)

// A zoomRange is one zoom or a range of zooms with both ends, written as 7 or 0-9.
type zoomRange struct{ Min, Max int }

func (r *zoomRange) UnmarshalText(text []byte) error {
	first, last, isRange := strings.Cut(string(text), "-")
	if !isRange {
		last = first
	}
	low, lowErr := strconv.ParseUint(first, 10, 8)
	high, highErr := strconv.ParseUint(last, 10, 8)
	if lowErr != nil || highErr != nil || low > high || high > render.MaxZoom {
		return fmt.Errorf("zooms %q: want one such as 7, or a range such as 0-9, from 0 to %d", text, render.MaxZoom)
	}
	*r = zoomRange{int(low), int(high)}
	return nil
}

// MarshalText writes the range as it is read.
func (r zoomRange) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%d-%d", r.Min, r.Max), nil }

func (r zoomRange) contains(z maptile.Zoom) bool { return r.Min <= int(z) && int(z) <= r.Max }
