package render

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
	"pgregory.net/rapid"

	"limnomap/colormap"
	"limnomap/data/snapshot"
)

// TestSignedTilesAreCrops compares tiles with a larger picture: lakes with all marks along the seams, where a sign that is cut off would
// be visible.
func TestSignedTilesAreCrops(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, z := range []maptile.Zoom{0, 1, 3, 6, 9, 11, 18} {
		for _, east := range []uint32{0, 1 << z / 2} { // across the antimeridian, and elsewhere
			n := uint32(1) << z
			tile := maptile.Tile{X: (n/2 + east) % n, Y: n / 2, Z: z}
			if z > 0 {
				tile.X, tile.Y = (tile.X+n-1)%n, n/2-1
			}
			px := 360 / (TileSize * math.Exp2(float64(z)))
			corner := tile.Bound()
			var lakes []testLake
			for i := range 90 {
				along, across := (rng.Float64()-0.5)*512*px, (rng.Float64()-0.5)*40*px
				if i%2 == 0 {
					along, across = across, along
				}
				lakes = append(lakes, testLake{corner.Right() + along, corner.Bottom() + across, []float64{-1, 8, 60, 8}[i%4], 1e-9})
			}
			v := markView(viewOf(lakes), everyMark(len(lakes)))
			l := renderer().Layer(v.Values())
			for _, l := range []*Layer{l, lookedUp(v)} {
				for _, style := range []StyleID{Heat, Dots, Lakes} {
					for scale := 1; scale <= 2; scale++ {
						sameAsCrops(t, l, tile, scale, style)
					}
				}
			}
		}
	}
}

// TestThinningKeepsSigns checks that where markers are thinned, each pixel with a marked lake has one sign, of the gravest mark, and that
// a closed lake without a value is drawn among thousands of blooms.
func TestThinningKeepsSigns(t *testing.T) {
	lakes := district(6000)
	marks := make(map[int]snapshot.Mark)
	for i := range lakes {
		lakes[i].chl = 120
		if i%7 == 0 {
			marks[i] = snapshot.WorseMedium
		}
	}
	closed := testLake{lon: 22.5, lat: 62, chl: -1}
	lakes = append(lakes, closed)
	marks[len(lakes)-1] = snapshot.Closed
	v := markView(viewOf(lakes), marks)
	l := renderer().Layer(v.Values())
	if l.roomy < 1 {
		t.Fatal("no zoom is thinned")
	}
	for _, l := range []*Layer{l, lookedUp(v)} {
		for z := range l.roomy {
			want := map[uint64]snapshot.Mark{}
			pixel := func(site int32) uint64 { return l.codes[site] >> (2 * (MaxZoom - uint(z) + subBits)) }
			for site, lake := range l.lakes {
				if m := marks[int(lake)]; m != snapshot.NoMark {
					want[pixel(int32(site))] = max(want[pixel(int32(site))], m)
				}
			}
			sites := l.forSigns(z)
			if len(sites) != len(want) || !slices.IsSorted(sites) {
				t.Errorf("zoom %d: %d signs, want one in each of %d pixels", z, len(sites), len(want))
			}
			for _, site := range sites {
				if got := marks[int(l.lakes[site])]; got != want[pixel(site)] {
					t.Errorf("zoom %d: the sign of a pixel is %d, want %d", z, got, want[pixel(site)])
				}
			}
		}
		for _, style := range []StyleID{Dots, Lakes} {
			for z := maptile.Zoom(0); z <= 18; z++ {
				w := windowOf(maptile.At([2]float64{closed.lon, closed.lat}, z), 1)
				alone := paint(markedLayer([]testLake{closed}, map[int]snapshot.Mark{0: snapshot.Closed}), w, style)
				for i, e := range paint(l, w, style) {
					if full := alone[i] == outlineEntry+quarters-1 || alone[i] == rimEntry+quarters-1; full && e != alone[i] {
						t.Fatalf("%s zoom %d: the sign of a closed lake is hidden at pixel %d: %d, want %d", style, z, i, e, alone[i])
					}
				}
			}
		}
	}
}

// TestSignsOutsideOfATile moves a lone lake around the corner of a tile. If the tile has a pixel of its sign, it is not blank, and is found from the top;
// of an outline only the site is near the tile.
func TestSignsOutsideOfATile(t *testing.T) {
	seen := 0
	rapid.Check(t, func(t *rapid.T) {
		z := maptile.Zoom(rapid.IntRange(1, MaxZoom).Draw(t, "zoom"))
		n := uint32(1) << z
		tile := maptile.Tile{X: rapid.SampledFrom([]uint32{0, n / 3, n - 1}).Draw(t, "column"), Y: rapid.SampledFrom([]uint32{n / 3, n / 2}).Draw(t, "row"), Z: z}
		px := 360 / (TileSize * float64(n))
		corner := tile.Bound().Max
		lake := testShore{testLake: testLake{
			lon: corner.Lon() + px*rapid.Float64Range(-14, 14).Draw(t, "x"), lat: corner.Lat() + px*rapid.Float64Range(-14, 14).Draw(t, "y"),
			chl: rapid.SampledFrom([]float64{-1, 5, 80}).Draw(t, "chl"), areaKM2: 1e-9,
		}}
		if lake.lat > 85 || lake.lat < -85 {
			t.Skip("beyond the map")
		}
		if lon, lat := lake.lon+20*px, lake.lat+20*px; lat < 85 && rapid.Bool().Draw(t, "outlined") {
			lake.outline = orb.MultiPolygon{{{{lon, lat}, {lon + 10*px, lat}, {lon + 10*px, lat + 10*px}, {lon, lat}}}}
		}
		mark := rapid.SampledFrom(allMarks[1:]).Draw(t, "mark")
		v := markView(viewOfShores(t, []testShore{lake}), map[int]snapshot.Mark{0: mark})
		l := renderer().Layer(v.Values())
		on := lookedUp(v)
		for _, style := range []StyleID{Dots, Lakes} {
			for scale := 1; scale <= 2; scale++ {
				s := Spec{Tile: tile, Scale: scale, Style: style, Colormap: colormap.Default}
				// A window around the tile has all pixels of the sign.
				w := windowOf(tile, scale)
				const around = 32
				wide := w
				wide.left, wide.top = w.left-around*w.step(), w.top-around*w.step()
				wide.width, wide.height = w.width+2*around, w.height+2*around
				whole := paint(l, wide, style)
				painted := false
				for row := range w.height {
					for column := range w.width {
						painted = painted || whole[(row+around)*wide.width+column+around] != 0
					}
				}
				for _, l := range []*Layer{l, on} {
					if _, shown := renderer().Fingerprint(l, s); painted && !shown {
						t.Fatalf("%s: the tile is blank, but has pixels of a sign", style)
					} else if shown {
						findsFromTheTop(t, l, tile, style)
					}
				}
				if painted {
					seen++
				}
			}
		}
	})
	if seen == 0 {
		t.Error("no tile has a pixel of a sign")
	}
}
