package render

import (
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/paulmach/orb/maptile"
	"pgregory.net/rapid"

	"limnomap/colormap"
	"limnomap/data"
)

// drawTile draws a random tile near one of lakes. Its southern neighbour exists.
func drawTile(t *rapid.T, lakes []testLake) maptile.Tile {
	z := maptile.Zoom(rapid.IntRange(0, 18).Draw(t, "zoom"))
	lake := lakes[rapid.IntRange(0, len(lakes)-1).Draw(t, "lake")]
	tiles := int64(1) << z
	x, y, ok := project([2]float64{lake.lon, lake.lat})
	if !ok {
		x, y = 0, 0
	}
	shift := worldBits - uint(z)
	column := int64(uint64(x)>>shift) + int64(rapid.IntRange(-1, 1).Draw(t, "column"))
	row := int64(uint64(y)>>shift) + int64(rapid.IntRange(-1, 1).Draw(t, "row"))
	return maptile.Tile{
		X: uint32(column & (tiles - 1)), Y: uint32(min(max(row, 0), max(tiles-2, 0))), Z: z,
	}
}

func TestTilesAreCropsOfALargerRender(t *testing.T) {
	lakes := country()
	l := layerOf(lakes...)
	rapid.Check(t, func(t *rapid.T) {
		tile := drawTile(t, lakes)
		scale := rapid.IntRange(1, 2).Draw(t, "scale")
		style := rapid.SampledFrom([]StyleID{Heat, Dots, Lakes}).Draw(t, "style")
		sameAsCrops(t, l, tile, scale, style)
	})
}

// TestCrowdedTilesAreCrops does the same with many lakes along the seams, where cutting off a blob or a marker by one pixel
// would be visible.
func TestCrowdedTilesAreCrops(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, z := range []maptile.Zoom{0, 1, 6, 11, 18} {
		tile := maptile.Tile{X: 1 << z / 2, Y: 1 << z / 2, Z: z}
		corner := maptile.Tile{X: tile.X + 1, Y: tile.Y + 1, Z: z}.Bound().LeftTop()
		var lakes []testLake
		for i := range 400 {
			// A cross along the two inner seams, 40 pixels wide and as long as the block.
			px := 360 / (TileSize * math.Exp2(float64(z)))
			along, across := (rng.Float64()-0.5)*512*px, (rng.Float64()-0.5)*40*px
			if i%2 == 0 {
				along, across = across, along
			}
			// Few different values, so that the order of equal markers matters.
			chl := []float64{-1, 8, 60}[i%3]
			// Every fourth has a disc of 10 pixels, the others have the smallest.
			area := 1e-9
			if i%4 == 0 {
				area = math.Pi * math.Pow(10*px*111, 2)
			}
			lakes = append(lakes, testLake{lon: corner.Lon() + along, lat: corner.Lat() + across, chl: chl, areaKM2: area})
		}
		l := layerOf(lakes...)
		for _, style := range []StyleID{Heat, Dots, Lakes} {
			for scale := 1; scale <= 2; scale++ {
				sameAsCrops(t, l, tile, scale, style)
			}
		}
	}
}

// Any part of the map has the pixels of its tiles, also of few pixels, and across the antimeridian.
func TestPartsArePartsOfTiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, z := range []maptile.Zoom{0, 3, 7, 11, 13} {
		for scale := 1; scale <= 2; scale++ {
			side, world := TileSize*scale, TileSize*scale<<z
			px := 360 / (TileSize * math.Exp2(float64(z)))
			var lakes []testLake
			for range 300 { // around the antimeridian and the equator
				lakes = append(lakes, testLake{lon: math.Remainder((rng.Float64()-0.5)*500*px-180, 360), lat: (rng.Float64() - 0.5) * 400 * px, chl: []float64{-1, 8, 60}[rng.IntN(3)],
					areaKM2: math.Pi * math.Pow(float64(1+rng.IntN(12))*px*111, 2)})
			}
			l := layerOf(lakes...)
			tiles := make(map[maptile.Tile][]uint8)
			for _, style := range []StyleID{Heat, Dots, Lakes} {
				clear(tiles)
				for _, size := range []int{2, 20, 300} {
					left, top := world-side/2+rng.IntN(side/2)*2, max(world/2-side/2+rng.IntN(side/4)*2, 0)
					part := image.Rect(left, top, left+(1+rng.IntN(size))*2, min(top+(1+rng.IntN(size))*2, world))
					got, err := renderer().Paint(l, Spec{Tile: maptile.Tile{Z: z}, Scale: scale, Style: style, Colormap: colormap.Default}, part)
					if err != nil {
						t.Fatal(err)
					}
					if got.Pixels == nil {
						got.Pixels = make([]uint8, part.Dx()*part.Dy())
					}
					for i, pixel := range got.Pixels {
						x, y := (part.Min.X+i%part.Dx())%world, part.Min.Y+i/part.Dx()
						at := maptile.New(uint32(x/side), uint32(y/side), z)
						if tiles[at] == nil {
							tiles[at] = slices.Clone(paint(l, windowOf(at, scale), style))
						}
						if want := tiles[at][y%side*side+x%side]; pixel != want {
							t.Fatalf("%s, zoom %d, scale %d, part %v: pixel %d, %d is %d, of the tile %d", style, z, scale, part, x, y, pixel, want)
						}
					}
				}
			}
		}
	}
}

// fataler is implemented by testing.T and rapid.T.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// sameAsCrops compares a tile and its eastern, southern and south-eastern neighbours with the quarters of one render.
func sameAsCrops(t fataler, l *Layer, tile maptile.Tile, scale int, style StyleID) {
	t.Helper()
	whole := windowOf(tile, scale)
	side := whole.width
	whole.width *= 2
	if tile.Z > 0 {
		whole.height *= 2
	}
	large := paint(l, whole, style)
	for block := range whole.height / side * 2 {
		dx, dy := block%2, block/2
		part := tile
		part.X = (tile.X + uint32(dx)) % (1 << tile.Z)
		part.Y += uint32(dy)
		for i, got := range paint(l, windowOf(part, scale), style) {
			want := large[(dy*side+i/side)*whole.width+dx*side+i%side]
			if got != want {
				t.Fatalf("%s tile %v scale %d: pixel %d,%d is %d, in the larger render %d",
					style, part, scale, i%side, i/side, got, want)
			}
		}
	}
}

func TestOwnPixelHasTheExactColour(t *testing.T) {
	r := renderer()
	for id, c := range r.colors {
		m, err := colormap.New(id, who2003())
		if err != nil {
			t.Fatal(err)
		}
		full := newShading(m, &fullRange).entries[levels-1]
		for v := data.Chlorophyll(0); v <= data.MaxChlorophyll; v++ {
			// The weight of a single lake cancels out, except for the last bits.
			want := full[m.Index(v.Float())]
			for _, weight := range []float32{1, 36, 0.9, 35.99999} {
				log := r.logs.of(v)
				var got [1]uint8
				shadeRow(got[:], []float32{weight}, []float32{log * weight}, &c.scale.shades, [2]uint8{8, 8})
				if got[0] != want {
					t.Fatalf("%s: shade of %v µg/l = %d, want %d", id, v, got[0], want)
				}
			}
		}
		for _, chl := range []float64{0, 0.01, 9.99, 10, 49.99, 50, 99.99, 100, 1500} {
			for _, z := range []maptile.Zoom{0, 6, 12, 18} {
				lake := testLake{lon: 13.4, lat: 52.5, chl: chl}
				got, _ := shadeAt(layerOf(lake), lake, z, id)
				if want := m.Color(chl); got != [3]uint8{want.R, want.G, want.B} {
					t.Errorf("%s zoom %d: colour at a lake of %v µg/l = %v, want %v", id, z, chl, got, want)
				}
			}
		}
	}
}

func TestOpacitySaturates(t *testing.T) {
	c := renderer().colors[colormap.Default]
	full := c.palettes[Heat][c.scale.shades.entries[levels*valueCells]].A
	for z := range maptile.Zoom(fadeZoom) {
		lake := testLake{lon: 13.4, lat: 52.5, chl: 5}
		crowd := make([]testLake, 100)
		for i := range crowd {
			crowd[i] = testLake{lon: 13.4 + float64(i%10)*1e-3, lat: 52.5 + float64(i/10)*1e-3, chl: 5}
		}
		_, one := shadeAt(layerOf(lake), lake, z, colormap.Default)
		_, hundred := shadeAt(layerOf(crowd...), lake, z, colormap.Default)
		if one != full || hundred != full {
			t.Errorf("zoom %d: alpha at one lake %d, at a hundred %d, want %d for both", z, one, hundred, full)
		}
	}
}

// TestBloomSurvivesACrowd checks that a lake among others 11 pixels away keeps its value.
func TestBloomSurvivesACrowd(t *testing.T) {
	const spacing = 11 * 360.0 / (256 << 6) // 11 pixels of zoom 6 in degrees of longitude, at the equator
	for _, tt := range []struct{ bloom, others float64 }{{150, 2}, {60, 1}, {1, 80}} {
		var lakes []testLake
		for i := range 9 * 9 {
			chl := tt.others
			if i == 40 {
				chl = tt.bloom
			}
			lakes = append(lakes, testLake{lon: float64(i%9-4) * spacing, lat: float64(i/9-4) * spacing, chl: chl})
		}
		w := window{zoom: 6, scale: 1, left: 128 << (6 + subBits), top: 128 << (6 + subBits), width: 1, height: 1}
		f := fieldOf(layerOf(lakes...), w)
		f.sum(0, 1)
		weights, logs := f.sums.keepTop(0)
		log := float64(logs[0]/weights[0]) + math.Log(floor.Float())
		if off := math.Abs(log-math.Log(tt.bloom)) / math.Abs(math.Log(tt.bloom/tt.others)); off > 0.1 {
			t.Errorf("%v µg/l among %v: shown as %.2f, %.0f %% of the way to the others, want at most 10",
				tt.bloom, tt.others, math.Exp(log), 100*off)
		}
	}
}
