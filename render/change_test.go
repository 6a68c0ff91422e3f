package render

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"limnomap/colormap"
	"limnomap/render/symbol"
)

// A lakeSet is lakes and how their layer is made.
type lakeSet struct {
	name  string
	lakes []testShore
	layer func(fataler, []testShore) *Layer
}

// lakeSets are few lakes; lakes drawn as if they were many, binned in advance and binned for each tile, with thinned markers;
// and lakes with outlines.
func lakeSets() []lakeSet {
	var few []testShore
	for _, l := range country() {
		few = append(few, testShore{testLake: l})
	}
	many := slices.Clone(few)
	for i, l := range district(300) {
		if i%5 == 0 {
			l.chl = -1
		}
		many = append(many, testShore{testLake: l})
	}
	plain := func(t fataler, lakes []testShore) *Layer { return layerOfShores(t, lakes...) }
	crowd := func(grids int) func(fataler, []testShore) *Layer {
		return func(_ fataler, lakes []testShore) *Layer {
			l := blurred(grids, places(lakes)...)
			l.roomy = maxBlurredZoom + 1
			thinned, signs := newThinned(l, l.roomy), newThinnedSigns(l, l.roomy)
			l.thinned = func() []selection { return thinned }
			l.thinnedSigns = func() [][]int32 { return signs }
			return l
		}
	}
	return []lakeSet{
		{"few", few, plain}, {"gridded", many, crowd(4)}, {"blurred", many, crowd(0)}, {"shores", lakeland(), plain},
	}
}

// TestEqualFingerprintsEqualTiles changes one lake, often by less than is visible. No tile may change without its fingerprint,
// and no fingerprint may change if the lake is out of reach before and after, and leaves others the same room.
func TestEqualFingerprintsEqualTiles(t *testing.T) {
	for _, set := range lakeSets() {
		t.Run(set.name, func(t *testing.T) {
			before := set.layer(t, set.lakes)
			equal, away := 0, 0
			rapid.Check(t, func(t *rapid.T) {
				lakes := slices.Clone(set.lakes)
				changed := rapid.IntRange(0, len(lakes)-1).Draw(t, "changed")
				c := &lakes[changed]
				near := places(lakes)
				if rapid.Bool().Draw(t, "near the changed one") {
					near = []testLake{c.testLake}
				}
				tile := drawTile(t, near)
				was := *c
				change(t, c, 360/(TileSize*math.Exp2(float64(tile.Z))))
				after := set.layer(t, lakes)
				s := Spec{
					Tile: tile, Scale: rapid.IntRange(1, 2).Draw(t, "scale"),
					Style: rapid.SampledFrom([]StyleID{Heat, Dots, Lakes}).Draw(t, "style"), Colormap: colormap.Default,
				}
				a, anyA := renderer().Fingerprint(before, s)
				b, anyB := renderer().Fingerprint(after, s)
				same := a == b && anyA == anyB
				if same && !bytes.Equal(mustRender(t, before, s), mustRender(t, after, s)) {
					t.Fatalf("%+v, of %+v: a different picture with the same fingerprint", s, *c)
				}
				if far := beyondReach(t, was, s) && beyondReach(t, *c, s) && sameRooms(before, after, changed); far {
					away++
					if !same {
						t.Fatalf("%+v, of %+v: a different fingerprint although the lake is out of reach", s, *c)
					}
				} else if same {
					equal++
				}
			})
			if equal == 0 || away == 0 {
				t.Errorf("%d tiles near the lake kept their fingerprint, %d far from it, want some of both", equal, away)
			}
		})
	}
}

// sameRooms reports whether the discs of all lakes but one have the same room in two layers: a lake that moves may leave others more or less.
func sameRooms(a, b *Layer, but int) bool {
	rooms := make(map[int32]rooms)
	for i := range a.sites {
		rooms[a.lakes[i]] = a.sites[i].rooms
	}
	for i := range b.sites {
		if lake := b.lakes[i]; int(lake) != but && b.sites[i].rooms != rooms[lake] {
			return false
		}
	}
	return true
}

// change changes one property of a lake, by more or less than is visible where a pixel is px degrees wide.
func change(t *rapid.T, l *testShore, px float64) {
	east := px * rapid.SampledFrom([]float64{1.0 / 64, 0.1, 0.3, 0.6, 3}).Draw(t, "pixels east")
	switch rapid.SampledFrom([]string{"position", "value", "area", "outline", "no outline"}).Draw(t, "change") {
	case "position":
		l.lon += east
	case "value":
		l.chl = rapid.SampledFrom([]float64{max(l.chl, 0) + 0.01, -1, 0.3, 120}).Draw(t, "chl")
	case "area":
		l.areaKM2 = rapid.SampledFrom([]float64{l.areaKM2 * 1.001, 0.4, 30, 3000}).Draw(t, "area")
	case "outline":
		moved := l.outline.Clone()
		for _, polygon := range moved {
			for _, ring := range polygon {
				for i := range ring {
					ring[i][0] += east
				}
			}
		}
		l.outline = moved
	case "no outline":
		l.outline = nil
	}
}

// beyondReach reports whether the mark of a lake, according to the package comment, is outside of a tile.
func beyondReach(t fataler, lake testShore, s Spec) bool {
	sites := layerOfShores(t, lake).sites
	if len(sites) == 0 {
		return true // north or south of the map
	}
	p := &sites[0]
	world := TileSize * math.Exp2(float64(s.Tile.Z)) // in pixels of scale 1
	// outside returns the distance of a position from the rows or columns of the tile.
	outside := func(at, tile float64) float64 { return max(tile*TileSize-at, at-(tile+1)*TileSize) }
	x, y := float64(p.x)/worldUnits*world, float64(p.y)/worldUnits*world
	column := float64(s.Tile.X)
	away := min(outside(x, column), outside(x-world, column), outside(x+world, column))
	away = max(away, outside(y, float64(s.Tile.Y)))
	var reach float64
	water := max(float64(p.extent())/worldUnits*world+1, symbol.Reach(smallestRadii[smallestStep(s.Tile.Z)]))
	switch s.Style {
	case Heat:
		if s.Tile.Z < waterZoom {
			reach = 4.3 * p.size(s.Tile.Z, true).sigma(s.Tile.Z)
		}
		if s.Tile.Z >= fadeZoom || p.glows(s.Tile.Z) {
			reach = max(reach, water, size(lone).discRadius(s.Tile.Z)+1)
		}
		if s.Tile.Z < fadeZoom {
			reach += 1 << coreCellBits // where it may decide which lakes have cores
		}
	case Dots:
		reach = symbol.Reach(markerRadii[min(int(s.Tile.Z), len(markerRadii)-1)])
	case Lakes:
		reach = water
	}
	// A lake is shared with the next pixel, and hides other markers in its own; what counts is the centre of a pixel.
	const pixels = 3
	return away > reach+pixels
}
