package render

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"testing"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data"
)

// TestWorstLakesShow checks that no bloom disappears in the average of its neighbours: of the lakes of a country whose nearest
// neighbour is at least 4 pixels away at zoom 6, those with the most chlorophyll have their own colour there.
func TestWorstLakesShow(t *testing.T) {
	t.Run("demo", func(t *testing.T) {
		s := demoSnapshot(t)
		// A quarter of a year apart: all seasons of the three years.
		for i := len(s.Weeks) - 1; i >= 0; i -= 13 {
			v, err := s.View(t.Context(), s.Weeks[i].Week)
			if err != nil {
				t.Fatal(err)
			}
			worstLakesShow(t, v, fmt.Sprint("week ", v.Week))
		}
	})
	t.Run("German sites", func(t *testing.T) {
		worstLakesShow(t, viewOf(bathingSites(t, 2010)), "")
	})
}

func worstLakesShow(t *testing.T, v *data.View, when string) {
	t.Helper()
	const (
		zoom    = maptile.Zoom(6)
		spacing = 4.0  // pixels
		largest = 12.0 // CIE76
	)
	m, l := newMap(t, colormap.Default, who2003()), renderer().Layer(v.Values())
	var known []int // sites with a value
	for i := range l.sites {
		if l.value(i).Valid() {
			known = append(known, i)
		}
	}
	apart := slices.DeleteFunc(slices.Clone(known), func(i int) bool {
		px := math.Exp2(float64(worldBits - tileBits - zoom))
		return slices.ContainsFunc(known, func(k int) bool {
			p, q := &l.sites[i], &l.sites[k]
			d := math.Hypot(float64(p.x)-float64(q.x), float64(p.y)-float64(q.y)) / px
			return d > 0 && d < spacing
		})
	})
	slices.SortFunc(apart, func(i, k int) int { return int(l.value(k).Chlorophyll) - int(l.value(i).Chlorophyll) })
	worst := (len(known) + 99) / 100
	if len(apart) < worst {
		t.Fatalf("%s: %d lakes without near neighbours, want %d or more", when, len(apart), worst)
	}
	furthest := 0.0
	for _, i := range apart[:worst] {
		got := shadeOf(l, &l.sites[i], zoom)
		d := cie76(labOf(got), labOf(m.Color(l.value(i).Float())))
		furthest = max(furthest, d)
		if d >= largest {
			t.Errorf("%s: a lake of %v µg/l is shown in %s, %.1f from its own colour, want less than %v",
				when, l.value(i).Chlorophyll, colormap.Hex(got), d, largest)
		}
	}
	t.Logf("%s: %d of %d lakes, %v µg/l and more: CIE76 %.1f at most",
		when, worst, len(known), l.value(apart[worst-1]).Chlorophyll, furthest)
}

// shadeOf returns the opaque colour of the pixel of l that contains p.
func shadeOf(l *Layer, p *site, z maptile.Zoom) (c color.NRGBA) {
	shift := uint(MaxZoom-z) + subBits
	w := window{zoom: z, scale: 1, left: int64(p.x>>shift) * subUnits, top: int64(p.y>>shift) * subUnits, width: 1, height: 1}
	c = renderer().colors[colormap.Default].palettes[Heat][paint(l, w, Heat)[0]]
	c.A = 0xff
	return c
}
