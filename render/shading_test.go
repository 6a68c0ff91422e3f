package render

import (
	"math"
	"testing"

	"limnomap/colormap"
)

// TestSharedColoursLookAlike checks that a pixel looks the same whether or not its colour shares a palette entry with its
// neighbours.
func TestSharedColoursLookAlike(t *testing.T) {
	for _, limits := range []colormap.Limits{who2003(), who2021(), {Level1: 15, Level2: 75, Title: "UBA 2015"}} {
		for _, id := range colormap.IDs() {
			// The just noticeable difference. Of the maps only viridis needs more than unseen.
			bound := unseen
			if id == "viridis" {
				bound = 2.3
			}
			m := newMap(t, id, limits)
			p, table := heatPalette(m), m.Table()
			largest, entries := 0.0, 0
			for level, row := range newShading(m, &fullRange).entries {
				for i, entry := range row {
					c, own := p[entry], shadesOf(table[i:i+1], classOf(m, i) == upperClasses, fullRange.of(level+1), 1)[0]
					d := float64(own.A) / 0xff * cie76(labOf(c), labOf(own))
					largest, entries = max(largest, d), max(entries, int(entry))
					if d > bound {
						t.Errorf("%s, %s: colour %d is off by %.2f at level %d, want at most %v", limits.Title, id, i, d, level+1, bound)
					}
				}
			}
			t.Logf("%s, %s: off by %.2f at most, with %d entries", limits.Title, id, largest, entries)
		}
	}
}

func TestLevelsLieAtTheirOpacities(t *testing.T) {
	if got := fullRange.levelOf(0); got != 0 {
		t.Errorf("no opacity is level %v, want 0", got)
	}
	last := 0.0
	for level := 1; level <= levels; level++ {
		opacity := fullRange.of(level)
		if got := fullRange.levelOf(opacity); math.Abs(got-float64(level)) > 1e-9 {
			t.Errorf("opacity %v is level %v, want %d", opacity, got, level)
		}
		if opacity <= last {
			t.Errorf("level %d has the opacity %v, want more than %v", level, opacity, last)
		}
		last = opacity
	}
	if math.Abs(last-maxOpacity) > 1e-9 {
		t.Errorf("the last level has the opacity %v, want %v", last, maxOpacity)
	}
}
