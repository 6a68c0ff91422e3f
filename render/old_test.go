package render

import (
	"bytes"
	"image/color"
	"math"
	"slices"
	"testing"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/render/symbol"
)

// withAges returns the layer of lakes whose values have these ages in days.
func withAges(lakes []testLake, ages []int) *Layer {
	v := viewOf(lakes)
	v.AsOf = data.Date(20_000)
	for i := range v.States {
		v.States[i].Date = v.AsOf - data.Date(ages[i])
	}
	return renderer().Layer(v.Values())
}

// oldCountry returns the layer of a country in which every other value is old.
func oldCountry() *Layer {
	lakes := country()
	ages := make([]int, len(lakes))
	for i := range ages {
		ages[i] = i % 2 * (snapshot.OldAfter + 1)
	}
	return withAges(lakes, ages)
}

// TestOldValuesAreFaintInTheField draws a lake of each class with a value of the last fresh day and with one a day older: stamped and
// blurred. The old one has the same class and much less opacity, at its own pixel and around it, and nowhere more.
func TestOldValuesAreFaintInTheField(t *testing.T) {
	for z := range maptile.Zoom(waterZoom) {
		for _, chl := range []float64{3, 20, 80} {
			lake := testLake{lon: 13.4, lat: 52.5, chl: chl}
			w := windowOf(maptile.At([2]float64{lake.lon, lake.lat}, z), 1)
			p, classes := paletteOf(colormap.Default, Heat, z), entryClasses[min(z/fadeZoom, 1)]()
			fresh, old := paintField(withAges([]testLake{lake}, []int{snapshot.OldAfter}), w), paintField(withAges([]testLake{lake}, []int{snapshot.OldAfter + 1}), w)
			most, mostOld := uint8(0), uint8(0)
			for i := range fresh {
				if p[old[i]].A > p[fresh[i]].A || old[i] != 0 && classes[old[i]] != classes[fresh[i]] {
					t.Fatalf("zoom %d: pixel %d of %v µg/l is %v, and %v if old", z, i, chl, p[fresh[i]], p[old[i]])
				}
				most, mostOld = max(most, p[fresh[i]].A), max(mostOld, p[old[i]].A)
			}
			if mostOld == 0 || float64(mostOld) > 0.75*float64(most) {
				t.Errorf("zoom %d: the alpha of %v µg/l is %d, and %d if old: want something, and at most three quarters", z, chl, most, mostOld)
			}
		}
	}
}

// TestOldValuesArePale draws each colour with a value of the last fresh day and with one a day older. The pixels that are all
// colour become translucent, and no other pixel changes.
func TestOldValuesArePale(t *testing.T) {
	lake := testLake{lon: 13.4, lat: 52.5, areaKM2: 20}
	for id := range renderer().colors {
		m := newMap(t, id, who2003())
		for _, style := range []StyleID{Dots, Lakes} {
			p := renderer().colors[id].palettes[style]
			for _, z := range []maptile.Zoom{0, 5, 10, 12} {
				for i, c := range m.Table() {
					lake.chl = 0
					if i > 0 {
						lake.chl = m.Threshold(i) + 0.01
					}
					w := windowOf(maptile.At([2]float64{lake.lon, lake.lat}, z), 1)
					fresh := paint(withAges([]testLake{lake}, []int{snapshot.OldAfter}), w, style)
					old := paint(withAges([]testLake{lake}, []int{snapshot.OldAfter + 1}), w, style)
					pale := c
					pale.A = symbol.OldAlpha
					changed := 0
					for k := range fresh {
						switch {
						case p[fresh[k]] == c && p[old[k]] == pale:
							changed++
						case fresh[k] != old[k] || p[fresh[k]] == c:
							t.Fatalf("%s, %s zoom %d: pixel %d of %v µg/l is %v, and %v if old", id, style, z, k, lake.chl, p[fresh[k]], p[old[k]])
						}
					}
					if changed < 4 {
						t.Fatalf("%s, %s zoom %d: %d pixels of %v µg/l are pale, want 4 or more", id, style, z, changed, lake.chl)
					}
				}
			}
		}
	}
}

// TestOldColoursKeepTheirClass compares old colours on maps with the fresh ones of all classes: in hue, which is what the default
// map separates classes by, each is nearest to its own. And none is grey, as lakes without a value are.
func TestOldColoursKeepTheirClass(t *testing.T) {
	m := newMap(t, colormap.Default, who2003())
	hue := func(c lab) float64 { return math.Atan2(c.b, c.a) }
	for _, ground := range []color.NRGBA{{255, 255, 255, 255}, {0x2b, 0x2b, 0x2b, 255}} {
		for i, c := range m.Table() {
			c.A = symbol.OldAlpha
			seen := seenBy(visions["normal"], c, ground)
			nearest, least := 0, math.Inf(1)
			for k, fresh := range m.Table() {
				d := math.Abs(math.Remainder(hue(seenBy(visions["normal"], fresh, ground))-hue(seen), 2*math.Pi))
				if d < least {
					nearest, least = k, d
				}
			}
			if classOf(m, nearest) != classOf(m, i) {
				t.Errorf("on %v old colour %d has the hue of colour %d, which is of another class", ground, i, nearest)
			}
			if chroma := math.Hypot(seen.a, seen.b); chroma < 9 {
				t.Errorf("on %v old colour %d has a chroma of %.1f and looks grey", ground, i, chroma)
			}
		}
	}
}

// TestFreshValuesAreAbove draws an old and a fresh value of the same size near each other, and at one point, in both orders.
func TestFreshValuesAreAbove(t *testing.T) {
	lakes := []testLake{{13.4, 52.5, 20, 1e-6}, {13.4, 52.5, 20, 1e-6}, {13.401, 52.5, 20, 1e-6}}
	for _, style := range []StyleID{Dots, Lakes} {
		for z := maptile.Zoom(0); z <= 14; z++ {
			s := Spec{maptile.At([2]float64{13.4, 52.5}, z), 1, style, colormap.Default, 0}
			a, b := withAges(lakes, []int{1, 20, 20}), withAges(reversed(lakes), []int{20, 20, 1})
			fpA, _ := renderer().Fingerprint(a, s)
			fpB, _ := renderer().Fingerprint(b, s)
			if fpA != fpB || !bytes.Equal(mustRender(t, a, s), mustRender(t, b, s)) {
				t.Errorf("%s zoom %d: the tile depends on the order of the lakes", style, z)
			}
			w := windowOf(s.Tile, 1)
			both, single := paint(a, w, style), paint(withAges(lakes[:1], []int{1}), w, style)
			for i, e := range single {
				if e >= fillEntry && both[i] != e {
					t.Fatalf("%s zoom %d: pixel %d of the fresh value is %d, want %d", style, z, i, both[i], e)
				}
			}
			if z > 12 && slices.Equal(both, single) {
				t.Errorf("%s zoom %d: the old value near the fresh one is not drawn", style, z)
			}
		}
	}
}

// TestFreeEntries checks that the palette of marks leaves entries to another painter, and that no two of its own look the same, except mixtures.
func TestFreeEntries(t *testing.T) {
	const least = 70
	for id, c := range renderer().colors {
		p := c.palettes[Dots]
		if free := len(p) - freeEntry; free < least {
			t.Errorf("%s: %d entries are free, want %d or more", id, free, least)
		}
		seen := map[color.NRGBA]int{}
		for e, c := range p {
			switch other, ok := seen[c]; {
			case e >= freeEntry && e < hollowEntry && c.A != 0, e > 0 && e < freeEntry && c.A == 0:
				t.Errorf("%s: entry %d is %v; the first free one is %d", id, e, c, freeEntry)
			case e >= fillEntry && e < oldEntry && (e-fillEntry)%quarters < quarters-1:
				// Mixtures of neighbouring colours with the line may round to the same.
			case ok && (e < freeEntry || e >= hollowEntry):
				t.Errorf("%s: entries %d and %d are both %v", id, other, e, c)
			}
			seen[c] = e
		}
	}
}
