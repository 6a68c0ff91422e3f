package render

import (
	"math"
	"testing"

	"limnomap/colormap"
)

// TestOpacityFollowsTheFormula checks cells of two by two pixels with equal sums: their mean opacity must be that of the
// formula, as closely as the levels allow, and must never fall as a lake comes nearer.
func TestOpacityFollowsTheFormula(t *testing.T) {
	c := renderer().colors[colormap.Default]
	for _, tt := range []struct {
		name    string
		pattern *pattern
		off     float64 // half of the widest step from one level to the next, or an eighth
	}{
		{"plain", &plain, 0.040},
		{"dither", &dither, 0.015},
	} {
		t.Run(tt.name, func(t *testing.T) {
			last := 0.0
			for i := range 3000 {
				g := float64(i) / 2000
				var cell [4]uint8
				for row := range 2 {
					var none [2]float32
					wide := []float32{float32(g), float32(g)}
					shadeRow(cell[2*row:][:2], wide, none[:], none[:], &c.scale.shades, tt.pattern[row])
				}
				got := 0.0
				for _, v := range cell {
					got += float64(c.palettes[Heat][v].A) / 255 / 4
				}
				want := maxOpacity * min(1, (1-math.Exp(-opacityGain*g))/saturated)
				if math.Abs(got-want) > tt.off {
					t.Errorf("opacity for a sum of %v = %.3f, want %.3f", g, got, want)
				}
				if got < last {
					t.Errorf("opacity for a sum of %v = %.3f, less than %.3f for a smaller one", g, got, last)
				}
				last = got
			}
		})
	}
}

func TestPatternsAreFair(t *testing.T) {
	for name, p := range map[string]pattern{"plain": plain, "dither": dither} {
		sum := 0
		for _, row := range p {
			for _, v := range row {
				sum += int(v)
				if v > most {
					t.Errorf("%s adds %d, which is more than %d", name, v, most)
				}
			}
		}
		if sum != 4*parts/2 {
			t.Errorf("%s adds %d in all, want %d: half a level to each pixel", name, sum, 4*parts/2)
		}
	}
}

// TestShades checks that every colour of every map has its own entry at full opacity, that classes never share an entry, and
// that levels never share one.
func TestShades(t *testing.T) {
	for _, limits := range []colormap.Limits{who2003(), who2021(), {Level1: 15, Level2: 75, Title: "UBA 2015"}} {
		for _, id := range colormap.IDs() {
			m := newMap(t, id, limits)
			p, shades := heatPalette(m), newShading(m, &fullRange).entries
			class := func(i int) (class int) {
				for _, c := range m.Legend().Classes {
					if i -= len(c.Colors); i < 0 {
						break
					}
					class++
				}
				return class
			}
			type user struct{ level, class int }
			users := map[uint8]user{}
			for level, entries := range shades {
				for i, e := range entries {
					u := user{level, class(i)}
					if was, ok := users[e]; e == 0 || ok && (was != u || level == levels-1) {
						t.Errorf("%s, %s: level %d, colour %d has the entry %d, which is taken", limits.Title, id, level+1, i, e)
					}
					users[e] = u
					c := p[e]
					c.A = 0xff
					if level == levels-1 && c != m.Table()[i] {
						t.Errorf("%s, %s: level %d shows %v, want %v", limits.Title, id, level+1, c, m.Table()[i])
					}
				}
			}
		}
	}
}
