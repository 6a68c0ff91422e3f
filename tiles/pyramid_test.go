package tiles

import (
	"slices"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
	"pgregory.net/rapid"
)

// pmtilesID returns the number of a tile in PMTiles, version 3, as textbooks compute it: the tile's position on the Hilbert
// curve, after all tiles of smaller zooms. Unlike hilbert.ID it is not what the tested code uses.
func pmtilesID(t maptile.Tile) uint64 {
	id := (uint64(1)<<(2*t.Z) - 1) / 3
	x, y := uint64(t.X), uint64(t.Y)
	for s := uint64(1) << t.Z >> 1; s > 0; s >>= 1 {
		rx, ry := min(x&s, 1), min(y&s, 1)
		id += s * s * (3*rx ^ ry)
		if ry == 0 {
			if rx == 1 {
				x, y = s-1-x&(s-1), s-1-y&(s-1)
			}
			x, y = y, x
		}
	}
	return id
}

func TestNumbersOfPMTiles(t *testing.T) {
	for id, tile := range []maptile.Tile{
		{}, {X: 0, Y: 0, Z: 1}, {X: 0, Y: 1, Z: 1}, {X: 1, Y: 1, Z: 1}, {X: 1, Y: 0, Z: 1}, {X: 0, Y: 0, Z: 2}, {X: 1, Y: 0, Z: 2},
		{X: 1, Y: 1, Z: 2}, {X: 0, Y: 1, Z: 2}, {X: 0, Y: 2, Z: 2},
	} {
		if got := pmtilesID(tile); got != uint64(id) {
			t.Errorf("number of %v = %d, want %d", tile, got, id)
		}
	}
}

// everything is the walk to all tiles.
func everything() quadtreeWalk {
	yes := func(maptile.Tile) bool { return true }
	return quadtreeWalk{notBlank: yes, mayShow: yes}
}

func drawBound(t *rapid.T) orb.Bound {
	lon := rapid.OneOf(rapid.Float64Range(-180, 180), rapid.SampledFrom([]float64{-180, -90, 0, 11.25, 180}))
	lat := rapid.OneOf(rapid.Float64Range(-90, 90), rapid.SampledFrom([]float64{-90, -85.06, 0, 85.06, 90}))
	south := lat.Draw(t, "south")
	return orb.Bound{
		Min: orb.Point{lon.Draw(t, "west"), south},
		Max: orb.Point{lon.Draw(t, "east"), max(lat.Draw(t, "north"), south)},
	}
}

// TestTilesOfAPyramid checks that a pyramid has the tiles that contain a point of its bound and no others, each once, in the
// order of PMTiles, and as many as Size returns.
func TestTilesOfAPyramid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Pyramid{Bound: drawBound(t)}
		p.MinZoom = maptile.Zoom(rapid.IntRange(0, 6).Draw(t, "from zoom"))
		p.MaxZoom = p.MinZoom + maptile.Zoom(rapid.IntRange(0, int(6-p.MinZoom)).Draw(t, "zooms more"))
		got := slices.Collect(p.tiles(everything()))
		if n := p.Size(); n != int64(len(got)) {
			t.Fatalf("%+v has %d tiles, and Size is %d", p, len(got), n)
		}
		in := make(map[maptile.Tile]bool)
		for i, tile := range got {
			if i > 0 && pmtilesID(tile) <= pmtilesID(got[i-1]) {
				t.Fatalf("%v comes after %v", tile, got[i-1])
			}
			if in[tile] = true; tile.Z < p.MinZoom || tile.Z > p.MaxZoom || !tile.Valid() {
				t.Fatalf("%v is not a tile of %+v", tile, p)
			}
			// With a margin, since the tile's edges are rounded.
			if b := tile.Bound().Pad(1e-9); !meets(b, p.Bound) {
				t.Fatalf("%v is %v, which contains no point of %v", tile, b, p.Bound)
			}
		}
		inside := orb.Point{
			between(t, "longitude", p.Bound.Min.Lon(), p.Bound.Max.Lon(), 360),
			between(t, "latitude", p.Bound.Min.Lat(), p.Bound.Max.Lat(), 0),
		}
		for z := p.MinZoom; z <= p.MaxZoom; z++ {
			if x, y := address(inside, z); !in[maptile.New(x, y, z)] {
				t.Fatalf("%+v lacks %d/%d/%d, which contains %v", p, z, x, y, inside)
			}
		}
	})
}

// between returns a number from low to high. If high is less than low, the range passes the end of a turn.
func between(t *rapid.T, label string, low, high, turn float64) float64 {
	if high < low {
		high += turn
	}
	v := min(low+(high-low)*rapid.Float64Range(0, 1).Draw(t, label), high)
	if turn > 0 && v > turn/2 {
		v -= turn
	}
	return v
}

// meets reports whether b, the bound of a tile, contains a point of bound. That may cross the antimeridian, or lie beyond the
// edge of the map, where the outermost tiles count.
func meets(b, bound orb.Bound) bool {
	const edge = 85.05
	if b.Max.Lat() < min(max(bound.Min.Lat(), -edge), edge) || b.Min.Lat() > max(min(bound.Max.Lat(), edge), -edge) {
		return false
	}
	east, west := b.Max.Lon() >= bound.Min.Lon(), b.Min.Lon() <= bound.Max.Lon()
	if bound.Min.Lon() > bound.Max.Lon() {
		return east || west
	}
	return east && west
}

func TestSizeOfAPyramid(t *testing.T) {
	world := orb.Bound{Min: orb.Point{-180, -90}, Max: orb.Point{180, 90}}
	germany := orb.Bound{Min: orb.Point{5.8, 47.2}, Max: orb.Point{15.1, 55.1}}
	fiji := orb.Bound{Min: orb.Point{176, -20}, Max: orb.Point{-178, -12}}
	tests := []struct {
		name     string
		bound    orb.Bound
		min, max maptile.Zoom
		want     int64
	}{
		{"the world", world, 0, 3, 1 + 4 + 16 + 64},
		{"the world in detail", world, 20, 20, 1 << 40},
		{"a country", germany, 6, 6, 2 * 3},
		{"a point", orb.Bound{Min: orb.Point{13, 52}, Max: orb.Point{13, 52}}, 0, 18, 19},
		{"across the antimeridian", fiji, 6, 6, 2 * 2},
		{"in one column from both sides", fiji, 0, 0, 1},
		{"nearly the whole turn", orb.Bound{Min: orb.Point{1, 0}, Max: orb.Point{-1, 0}}, 1, 1, 2},
	}
	for _, tt := range tests {
		if got := (Pyramid{Bound: tt.bound, MinZoom: tt.min, MaxZoom: tt.max}).Size(); got != tt.want {
			t.Errorf("%s: Size() = %d, want %d", tt.name, got, tt.want)
		}
	}
}

// TestWalkSkipsBlankSubtrees checks that no tile is visited in a subtree that is blank.
func TestWalkSkipsBlankSubtrees(t *testing.T) {
	world := Pyramid{Bound: orb.Bound{Min: orb.Point{-180, -90}, Max: orb.Point{180, 90}}, MaxZoom: 20}
	lake := maptile.At(orb.Point{13.4, 52.5}, 20)
	visits := 0
	w := quadtreeWalk{
		notBlank: func(t maptile.Tile) bool { visits++; return t.Contains(lake) },
		mayShow:  func(t maptile.Tile) bool { visits++; return t.Contains(lake) },
	}
	var want []maptile.Tile
	for tile := lake; ; tile = tile.Parent() {
		want = append(want, tile)
		if tile.Z == 0 {
			break
		}
	}
	slices.Reverse(want)
	if got := slices.Collect(world.tiles(w)); !slices.Equal(got, want) {
		t.Errorf("tiles = %v, want %v", got, want)
	}
	if bound := 4 * 20 * 20; visits > bound {
		t.Errorf("%d tiles visited, want at most %d", visits, bound)
	}
	for range world.tiles(everything()) {
		break // ends the walk to a trillion tiles
	}
}
