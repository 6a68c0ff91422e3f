package vector

import (
	"cmp"
	"slices"
	"testing"

	"github.com/paulmach/orb/maptile"

	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/render"
)

func TestACountryIsCompleteAtEveryZoom(t *testing.T) {
	v := viewOf(grid(MaxFeatures, 5, 47, 3))
	if got := len(layerOf(v).find(maptile.New(0, 0, 0))); got != MaxFeatures {
		t.Errorf("zoom 0 has %d lakes, want all %d", got, MaxFeatures)
	}
}

// crowd is a view with twice MaxFeatures lakes where four tiles of each zoom from 1 on meet, some of them at one point, and
// more across the antimeridian.
func crowd() *snapshot.View {
	lakes := append(grid(2*MaxFeatures, -0.7, -0.7, 1.4), grid(MaxFeatures, 178, 20, 4)...)
	for i := range lakes {
		if lakes[i].lon > 180 {
			lakes[i].lon -= 360
		}
		if i%11 == 0 {
			lakes[i].chl, lakes[i].risk = -1, data.Risk(i%4)
		}
	}
	v := viewOf(append(lakes, lakes[:MaxFeatures/4]...))
	kinds := make(map[int]data.AdvisoryKind)
	for i := range v.Lakes {
		if i%17 == 0 {
			kinds[i] = data.Season + data.AdvisoryKind(i%4)
		}
	}
	return withAdvisories(v, kinds)
}

// keepFirst compares two lakes: a closed one is kept first, then the larger one, and of equal ones that of higher risk.
func keepFirst(v *snapshot.View, a, b int32) int {
	worth := [...]int{data.RiskLow: 0, data.RiskUnknown: 1, data.RiskMedium: 2, data.RiskHigh: 3}
	closed := func(lake int32) int {
		if v.Advisories.Kind(int(lake)) == data.Closure {
			return 1
		}
		return 0
	}
	return cmp.Or(
		cmp.Compare(closed(b), closed(a)),
		cmp.Compare(v.Lakes[b].AreaKM2, v.Lakes[a].AreaKM2),
		cmp.Compare(worth[v.States[b].Risk], worth[v.States[a].Risk]),
		cmp.Compare(a, b),
	)
}

// tilesWith returns the tiles of zoom z that contain the lake, buffers included.
func tilesWith(code uint64, z maptile.Zoom) (tiles []maptile.Tile) {
	x, y := render.World(code)
	side, own := int64(1)<<z, [2]int64{int64(x) >> (32 - z), int64(y) >> (32 - z)}
	for dy := int64(-1); dy <= 1; dy++ {
		for dx := int64(-1); dx <= 1; dx++ {
			tile := maptile.New(uint32((own[0]+dx+side)%side), uint32(own[1]+dy), z)
			if w := windowOf(tile); tile.Valid() && w.contains(code) && !slices.Contains(tiles, tile) {
				tiles = append(tiles, tile)
			}
		}
	}
	return tiles
}

// A lake is shown if it is among the first in all tiles that contain it: then it is in all of them, and in those of the next
// zoom. So no tile has too many lakes, none omits more than necessary, and neighbours agree where their buffers overlap.
func TestNeighboursAreThinnedAlike(t *testing.T) {
	v := crowd()
	x := NewIndex(v.Lakes)
	l := NewLayer(x, v)
	ranked := sequence(len(x.codes)) // sites
	slices.SortFunc(ranked, func(a, b int32) int { return keepFirst(v, x.lakes[a], x.lakes[b]) })
	before := make([]bool, len(v.Lakes)) // shown in the zoom before
	for z := maptile.Zoom(0); z <= 9; z++ {
		in := map[maptile.Tile]int{}
		want := map[maptile.Tile][]int32{}
		hidden := 0
		for _, site := range ranked {
			lake, tiles, shown := x.lakes[site], tilesWith(x.codes[site], z), true
			for _, tile := range tiles {
				in[tile]++
				shown = shown && in[tile] <= MaxFeatures
			}
			if before[lake] && !shown {
				t.Fatalf("lake %d is shown in zoom %d and not in zoom %d", lake, z-1, z)
			}
			before[lake] = shown
			if !shown {
				hidden++
				continue
			}
			for _, tile := range tiles {
				want[tile] = append(want[tile], lake)
			}
		}
		if z == 0 && len(want[maptile.New(0, 0, 0)]) != MaxFeatures {
			t.Fatalf("zoom 0 should have %d lakes, want %d", len(want[maptile.New(0, 0, 0)]), MaxFeatures)
		}
		if z == 9 && hidden > 0 {
			t.Errorf("zoom %d hides %d lakes, want none", z, hidden)
		}
		for tile := range in {
			slices.Sort(want[tile])
			var got []int32
			for _, h := range l.find(tile) {
				got = append(got, h.lake)
			}
			if !slices.Equal(got, want[tile]) {
				t.Fatalf("tile %v has %d lakes, want %d, or others", tile, len(got), len(want[tile]))
			}
		}
	}
}

// More than MaxFeatures lakes at one point are thinned at every zoom.
func TestLakesAtOnePointAreThinned(t *testing.T) {
	lakes := make([]testLake, 2*MaxFeatures)
	for i := range lakes {
		lakes[i] = testLake{lon: 7.5, lat: 51.5, chl: float64(i % 100)}
	}
	v := viewOf(lakes)
	l := layerOf(v)
	for _, z := range []maptile.Zoom{0, 1, 13, 20} {
		hits := l.find(maptile.At(v.Lakes[0].Point, z))
		if len(hits) != MaxFeatures {
			t.Errorf("zoom %d has %d lakes, want %d", z, len(hits), MaxFeatures)
		}
		for _, h := range hits {
			if v.States[h.lake].Risk == data.RiskLow {
				t.Fatalf("a lake of low risk is kept, and some of the %d others are not", len(lakes)*9/10)
			}
		}
	}
}

// A small closed lake is in every tile that contains it, among many large ones. Even more closures than a tile holds leave it bounded.
func TestClosedLakesAreKept(t *testing.T) {
	lakes := make([]testLake, 3*MaxFeatures)
	for i := range lakes {
		lakes[i] = testLake{lon: 7.5, lat: 51.5, chl: 80, areaKM2: 50}
	}
	closed := len(lakes)
	lakes = append(lakes, testLake{lon: 7.5, lat: 51.5, chl: -1, areaKM2: 0.01})
	kinds := map[int]data.AdvisoryKind{closed: data.Closure}
	v := withAdvisories(viewOf(lakes), kinds)
	for _, z := range []maptile.Zoom{0, 5, 13, 20} {
		hits := layerOf(v).find(maptile.At(v.Lakes[0].Point, z))
		if len(hits) != MaxFeatures || int(hits[len(hits)-1].lake) != closed {
			t.Errorf("zoom %d has %d lakes, the last of them %d, want %d with lake %d", z, len(hits), hits[len(hits)-1].lake, MaxFeatures, closed)
		}
	}
	for i := range 2 * MaxFeatures {
		kinds[i] = data.Closure
	}
	v = withAdvisories(viewOf(lakes), kinds)
	hits := layerOf(v).find(maptile.New(0, 0, 0))
	for _, h := range hits {
		if v.Advisories.Kind(int(h.lake)) != data.Closure {
			t.Fatalf("lake %d is kept, and some closed lakes are not", h.lake)
		}
	}
	if len(hits) != MaxFeatures {
		t.Errorf("zoom 0 has %d lakes, want %d", len(hits), MaxFeatures)
	}
}
