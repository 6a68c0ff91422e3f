package render

import (
	"bytes"
	"runtime"
	"testing"
	"weak"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
	"pgregory.net/rapid"

	"limnomap/colormap"
	"limnomap/data/snapshot"
)

// TestFingerprintFollowsTheMarks draws marks twice. Tiles near the lakes have the same fingerprint if and only if the marks are the same, except in the
// style Heat, whose tiles do not change.
func TestFingerprintFollowsTheMarks(t *testing.T) {
	const zoom = 8
	tile := maptile.At(orb.Point{11, 51}, zoom)
	lakes := []testLake{lakeAt(tile, 100, 100, 5), lakeAt(tile, 130, 100, -1), lakeAt(tile, 160, 100, 80), lakeAt(tile, -6, 50, 20)}
	far := maptile.Tile{X: tile.X + 2, Y: tile.Y, Z: zoom}
	plain := layerOf(lakes...)
	rapid.Check(t, func(t *rapid.T) {
		one, other := drawMarks(t, len(lakes)), drawMarks(t, len(lakes))
		a, b := markedLayer(lakes, one), markedLayer(lakes, other)
		equal := true
		for i := range lakes {
			// What is worse than the third and the fourth lake's own class is high.
			equal = equal && (one[i] == other[i] || i >= 2 && one[i].Worse() && other[i].Worse())
		}
		for scale := 1; scale <= 2; scale++ {
			for _, style := range []StyleID{Dots, Lakes, Heat} {
				s := Spec{Tile: tile, Scale: scale, Style: style, Colormap: colormap.Default}
				fpA, _ := renderer().Fingerprint(a, s)
				fpB, _ := renderer().Fingerprint(b, s)
				if (fpA == fpB) != (equal || style == Heat) {
					t.Fatalf("%s: the fingerprints of marks %v and %v are equal: %v", style, one, other, fpA == fpB)
				}
				pngA, pngB := mustRender(t, a, s), mustRender(t, b, s)
				if fpA == fpB && !bytes.Equal(pngA, pngB) {
					t.Fatalf("%s: other pictures with one fingerprint, of marks %v and %v", style, one, other)
				}
				fp, _ := renderer().Fingerprint(plain, s)
				if (style == Heat || len(one) == 0) && (fpA != fp || !bytes.Equal(pngA, mustRender(t, plain, s))) {
					t.Fatalf("%s: marks %v change a tile that shows none", style, one)
				}
				s.Tile = far
				if _, shown := renderer().Fingerprint(a, s); shown {
					t.Fatalf("%s: a tile is not blank because of marks far away", style)
				}
			}
		}
	})
}

// TestSignsDoNotDependOnTheOrderOfLakes draws lakes in three orders, some at one point.
func TestSignsDoNotDependOnTheOrderOfLakes(t *testing.T) {
	type marked struct {
		testLake
		mark snapshot.Mark
	}
	var lakes []marked
	for i, l := range district(300) {
		lakes = append(lakes, marked{l, allMarks[i%len(allMarks)]})
		if i%5 == 0 {
			l.chl = []float64{-1, l.chl, 60}[i%3]
			lakes = append(lakes, marked{l, allMarks[i/3%len(allMarks)]})
		}
	}
	layer := func(lakes []marked) *Layer {
		var places []testLake
		marks := make(map[int]snapshot.Mark)
		for i, l := range lakes {
			places, marks[i] = append(places, l.testLake), l.mark
		}
		return markedLayer(places, marks)
	}
	a, b, c := layer(lakes), layer(reversed(lakes)), layer(shuffled(lakes, 1))
	var places []testLake
	for _, l := range lakes {
		places = append(places, l.testLake)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := Spec{Tile: drawTile(t, places), Scale: rapid.IntRange(1, 2).Draw(t, "scale"),
			Style: rapid.SampledFrom([]StyleID{Dots, Lakes}).Draw(t, "style"), Colormap: colormap.Default}
		want, _ := renderer().Fingerprint(a, s)
		for _, l := range []*Layer{b, c} {
			if got, _ := renderer().Fingerprint(l, s); got != want || !bytes.Equal(mustRender(t, l, s), mustRender(t, a, s)) {
				t.Fatalf("%+v depends on the order of the lakes", s)
			}
		}
	})
}

// TestLayerOfOtherMarksSharesTheValues makes a layer of the same states with other marks, as when a beach is closed: of few lakes, and of so
// many that they are binned and thinned. Its tiles are those of a layer made for them, and it keeps what the other one has prepared.
func TestLayerOfOtherMarksSharesTheValues(t *testing.T) {
	heat := Spec{Tile: maptile.Tile{}, Scale: 1, Style: Heat, Colormap: colormap.Default}
	for _, set := range []struct {
		name  string
		lakes []testLake
	}{{"few", country()}, {"many", manyLakes(0)}} {
		t.Run(set.name, func(t *testing.T) {
			before := markView(viewOf(set.lakes), map[int]snapshot.Mark{1: snapshot.Closed, 8: snapshot.Closed})
			one := renderer().Layer(before.Values())
			known := fingerprintOf(one, heat)
			dots := heat
			dots.Style = Dots
			fingerprintOf(one, dots) // so that it is remembered

			after := &snapshot.View{Week: before.Week, Lakes: before.Lakes, States: before.States, Profile: before.Profile}
			got := renderer().LayerOn(one, markView(after, map[int]snapshot.Mark{8: snapshot.Closed, 20: snapshot.Closed}).Values())
			if &got.values[0] != &one.values[0] || len(got.grids) != len(one.grids) || len(got.marked.sites) != 2 {
				t.Fatalf("the layer has %d grids and %d marks, want the values and the %d grids of the other, and 2", len(got.grids), len(got.marked.sites), len(one.grids))
			}
			if fp, _, ok := renderer().Known(got, heat); !ok || fp != known {
				t.Error("the fingerprint of a tile without signs is not known any more")
			}
			if _, _, ok := renderer().Known(got, dots); ok {
				t.Error("the fingerprint of a tile with signs is that of other marks")
			}
			want := renderer().Layer(after.Values())
			again := renderer().LayerOn(got, after.Values())
			rapid.Check(t, func(t *rapid.T) {
				s := Spec{Tile: drawTile(t, set.lakes), Scale: rapid.IntRange(1, 2).Draw(t, "scale"),
					Style: rapid.SampledFrom([]StyleID{Heat, Dots, Lakes}).Draw(t, "style"), Colormap: colormap.Default}
				fp := fingerprintOf(want, s)
				png := mustRender(t, want, s)
				for _, l := range []*Layer{got, again} {
					if fingerprintOf(l, s) != fp || !bytes.Equal(mustRender(t, l, s), png) {
						t.Fatalf("%+v: the tile differs", s)
					}
				}
			})
			if other := renderer().LayerOn(one, markView(viewOf(set.lakes), nil).Values()); other.prepared {
				t.Error("a layer shares the values of other states")
			}
			self := weak.Make(one)
			one = nil
			for range 10 {
				runtime.GC()
			}
			if self.Value() != nil {
				t.Error("the layer of the old marks is kept in memory")
			}
			runtime.KeepAlive(got)
		})
	}
}

func fingerprintOf(l *Layer, s Spec) Fingerprint {
	fp, _ := renderer().Fingerprint(l, s)
	return fp
}
