package render

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/paulmach/orb/maptile"
	"pgregory.net/rapid"

	"limnomap/colormap"
	"limnomap/data"
)

// TestStackPaintsWhatAllMarksWouldPaint compares the picture of the visible pixels of visible marks with all marks drawn one after the other,
// and the order with that of comparisons.
func TestStackPaintsWhatAllMarksWouldPaint(t *testing.T) {
	const side = 64 * subUnits
	r := renderer()
	rapid.Check(t, func(t *rapid.T) {
		st := r.styles[rapid.SampledFrom([]StyleID{Dots, Lakes}).Draw(t, "style")]
		by, sc := st.painter.(stacker), r.colors[colormap.Default].scale
		w := window{zoom: maptile.Zoom(rapid.IntRange(0, 18).Draw(t, "zoom")), scale: rapid.IntRange(1, 2).Draw(t, "scale")}
		w.width, w.height = rapid.IntRange(1, 130).Draw(t, "width"), rapid.IntRange(1, 130).Draw(t, "height")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		marks := make([]mark, rapid.IntRange(0, 2000).Draw(t, "marks"))
		for i := range marks {
			m := mark{x: int32(rng.IntN(2*side)-side/2) &^ (markerUnits - 1), y: int32(rng.IntN(2*side)-side/2) &^ (markerUnits - 1), old: rng.IntN(3) == 0}
			m.value = uint32([]data.Chlorophyll{data.NoChlorophyll, 8_00, data.Chlorophyll(rng.IntN(200_00)), data.MaxChlorophyll}[rng.IntN(4)])
			if st.byExtent {
				discs := &crowdedDiscs[smallestStep(w.zoom)]
				m.radius = uint32(discs[rng.IntN(len(discs))])
				if rng.IntN(50) == 0 {
					m.radius += uint32(rng.IntN(10 * subUnits))
				}
			}
			marks[i] = m
		}
		m := r.memories.New().(*memory)
		visible := m.stack.appendTo(nil, by, slices.Clone(marks), w, sc.classes)
		got := make([]uint8, w.width*w.height)
		m.stack.paint(got, by, visible, w, sc, m)

		slices.SortStableFunc(marks, func(a, b mark) int {
			if by.rank(&a, w, sc.classes) != by.rank(&b, w, sc.classes) {
				return ordered(&a, &b, sc, st.byExtent)
			}
			return by.tie(&a, &b, w)
		})
		want := make([]uint8, len(got))
		for i := range marks {
			by.paintMark(want, &marks[i], w, sc, m)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("%d of %d marks are drawn: the picture differs", len(visible), len(marks))
		}
	})
}

// ordered compares marks as they are drawn: in the style Lakes by class and size first, then by value, and old ones below others.
func ordered(a, b *mark, sc *scale, byExtent bool) int {
	if byExtent {
		if x, y := sc.class(a.chlorophyll()), sc.class(b.chlorophyll()); x != y {
			return x - y
		}
		if a.radius != b.radius {
			return int(b.radius) - int(a.radius)
		}
	}
	return a.compareValues(b)
}

// crowdedLakes are 40,000 lakes in a few tiles, some of them wide, old, without a value or at one point.
func crowdedLakes() []testLake {
	lakes := append(district(40_000), country()...)
	for i := range 400 {
		lakes[i].lon, lakes[i].lat = lakes[500].lon, lakes[500].lat
		lakes[1000+i].areaKM2 = float64(i)
		lakes[2000+i].chl = -1
	}
	return lakes
}

// TestLayerHasAllThatItsTilesShare makes a layer, and a successor of it with other values: no tile must make what is the same for
// all of them.
func TestLayerHasAllThatItsTilesShare(t *testing.T) {
	base := viewOf(crowdedLakes())
	one := renderer().Layer(base.Values())
	after := otherWeek(base, 5, 10)
	after.Lakes = slices.Clone(base.Lakes) // as a new snapshot has them
	next := renderer().Successor(one, after.Values())
	if next.geometry != one.geometry {
		t.Error("the successor has a geometry of its own")
	}
	for name, l := range map[string]*Layer{"first": one, "successor": next} {
		if blurredZooms(l) < 5 || len(l.grids) != int(l.roomy) || len(l.cores) != int(l.roomy) {
			t.Errorf("%s: %d grids and %d cores at %d zooms, want all", name, len(l.grids), len(l.cores), l.roomy)
		}
		if !l.prepared || len(l.dots) == 0 || len(l.waters) == 0 {
			t.Errorf("%s: prepared %t, plans of %d and %d zooms, want all", name, l.prepared, len(l.dots), len(l.waters))
		}
		allocs := testing.AllocsPerRun(1, func() { l.thinned(); l.thinnedSigns() })
		if allocs != 0 {
			t.Errorf("%s: the lists of thinned marks were not made yet", name)
		}
	}
}

func TestSamePlaces(t *testing.T) {
	lakes := viewOf(country()).Lakes
	if !SamePlaces(lakes, slices.Clone(lakes)) || !SamePlaces(nil, nil) {
		t.Error("equal lakes are not at the same places")
	}
	for name, change := range map[string]func(*data.Lake){
		"position": func(l *data.Lake) { l.Point[1] += 1e-6 },
		"area":     func(l *data.Lake) { l.AreaKM2++ },
		"outline":  func(l *data.Lake) { l.Outline += "x" },
	} {
		others := slices.Clone(lakes)
		if change(&others[len(others)-1]); SamePlaces(lakes, others) {
			t.Errorf("lakes with another %s are at the same places", name)
		}
	}
	if SamePlaces(lakes, lakes[1:]) {
		t.Error("fewer lakes are at the same places")
	}
}
