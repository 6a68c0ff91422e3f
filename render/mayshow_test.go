package render

import (
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
	"pgregory.net/rapid"

	"limnomap/colormap"
)

// TestMayShowFindsAllTiles checks that a descent from zoom 0 finds every tile that is not blank: in all styles, at both
// scales, with few lakes and many, at the antimeridian and at the edges of the map.
func TestMayShowFindsAllTiles(t *testing.T) {
	for _, set := range lakeSets() {
		t.Run(set.name, func(t *testing.T) {
			l := set.layer(t, set.lakes)
			shown, skipped := 0, 0
			rapid.Check(t, func(t *rapid.T) {
				tile := drawTile(t, places(set.lakes))
				for _, style := range []StyleID{Heat, Dots, Lakes} {
					for scale := 1; scale <= 2; scale++ {
						s := Spec{Tile: tile, Scale: scale, Style: style, Colormap: colormap.Default}
						if _, ok := renderer().Fingerprint(l, s); ok {
							shown++
							findsFromTheTop(t, l, tile, style)
						}
					}
					if !renderer().MayShow(l, tile, style) {
						skipped++
					}
				}
			})
			if shown == 0 || skipped == 0 {
				t.Errorf("%d tiles are shown and %d skipped, want some of both", shown, skipped)
			}
		})
	}
}

func findsFromTheTop(t *rapid.T, l *Layer, tile maptile.Tile, style StyleID) {
	for above := tile; ; above = above.Parent() {
		if !renderer().MayShow(l, above, style) {
			t.Fatalf("%v shows something in style %s, but %v reports nothing", tile, style, above)
		}
		if above.Z == 0 {
			return
		}
	}
}

// TestMayShowALoneLake does the same with one lake of any size, position and outline, and tiles about as far away as it
// reaches, where rounding decides.
func TestMayShowALoneLake(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := maptile.Zoom(rapid.IntRange(1, MaxZoom).Draw(t, "zoom"))
		n := uint32(1) << z
		tile := maptile.Tile{
			X: rapid.SampledFrom([]uint32{0, n / 3, n - 1}).Draw(t, "column"),
			Y: rapid.SampledFrom([]uint32{0, n / 2, n - 1}).Draw(t, "row"), Z: z,
		}
		px := 360 / (TileSize * float64(n))
		away := rapid.SampledFrom([]float64{2, 12, 40, 150, 600}).Draw(t, "pixels from the corner")
		corner := tile.Bound().Max
		lake := testShore{testLake: testLake{
			lon: corner.Lon() + px*rapid.Float64Range(-away, away).Draw(t, "x"),
			lat: corner.Lat() + px*rapid.Float64Range(-away, away).Draw(t, "y"),
			chl: 5, areaKM2: rapid.SampledFrom([]float64{0, 0.001, 1, 50, 80_000}).Draw(t, "area"),
		}}
		if rapid.Bool().Draw(t, "outlined") {
			// Its site is a corner of the outline, so that it reaches far to one side, or west of it.
			w, h := px*rapid.Float64Range(1, 400).Draw(t, "width"), px*rapid.Float64Range(1, 400).Draw(t, "height")
			west := lake.lon + px*rapid.SampledFrom([]float64{0, 3, 100}).Draw(t, "west of it")
			if w > 80 || lake.lat+h > 90 || lake.lon < -360 || west+w > 360 {
				t.Skip("no lake is half the world wide, reaches across the pole or has longitudes beyond ±360")
			}
			lake.outline = orb.MultiPolygon{{{
				{west, lake.lat}, {west + w, lake.lat}, {west + w, lake.lat + h}, {west, lake.lat + h}, {west, lake.lat},
			}}}
		}
		if lake.lat > 85 || lake.lat < -85 {
			t.Skip("beyond the map")
		}
		l := layerOfShores(t, lake)
		for _, style := range []StyleID{Heat, Dots, Lakes} {
			for scale := 1; scale <= 2; scale++ {
				s := Spec{Tile: tile, Scale: scale, Style: style, Colormap: colormap.Default}
				if _, ok := renderer().Fingerprint(l, s); ok {
					findsFromTheTop(t, l, tile, style)
				}
			}
			if renderer().MayShow(l, tile, style) {
				findsFromTheTop(t, l, tile, style)
			}
		}
	})
}

// TestMayShowSkipsMostTiles bounds how many tiles are visited in vain.
func TestMayShowSkipsMostTiles(t *testing.T) {
	l := layerOf(country()...)
	for _, style := range []StyleID{Heat, Dots, Lakes} {
		visited, shown := 0, 0
		var descend func(maptile.Tile)
		descend = func(tile maptile.Tile) {
			if !renderer().MayShow(l, tile, style) {
				return
			}
			visited++
			if _, ok := renderer().Fingerprint(l, Spec{Tile: tile, Scale: 1, Style: style}); ok {
				shown++
			}
			if tile.Z == 9 {
				return
			}
			for _, child := range tile.Children() {
				descend(child)
			}
		}
		descend(maptile.Tile{})
		if visited > shown*5/4 {
			t.Errorf("style %s: %d tiles are visited for %d that show something, want at most a quarter more", style, visited, shown)
		}
	}
}

func TestMayShowRejects(t *testing.T) {
	l := layerOf(country()...)
	if renderer().MayShow(l, maptile.Tile{}, "blots") || renderer().MayShow(l, maptile.Tile{X: 1}, Heat) || renderer().MayShow(l, maptile.Tile{Z: 31}, Heat) {
		t.Error("MayShow reports true for a tile or a style that does not exist")
	}
}
