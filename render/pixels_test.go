package render

import (
	"bytes"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
	"pgregory.net/rapid"

	"limnomap/colormap"
	"limnomap/data/outline"
	"limnomap/data/pixels"
	"limnomap/data/raster/crs"
	"limnomap/data/raster/georef"
	"limnomap/data/raster/zonal"
	"limnomap/data/snapshot"
)

// gridOf returns a grid of square cells of a coordinate system: of that many degrees from the north-west of the world, or metres from a corner.
func gridOf(t fataler, epsg int, cell float64) georef.Grid {
	t.Helper()
	system, err := crs.FromEPSG(epsg)
	if err != nil {
		t.Fatalf("%v", err)
	}
	transform, width, height := [6]float64{-180, cell, 0, 90, 0, -cell}, int(math.Round(360/cell)), int(math.Round(180/cell))
	if !system.Geographic() {
		transform, width, height = [6]float64{100_000, cell, 0, 7_000_000, 0, -cell}, int(800_000/cell), int(6_000_000/cell)
	}
	g, err := georef.New(width, height, transform, system)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return g
}

// pixelsOf returns the pixels of a grid whose centre is in a shape, with the codes of a function of that centre.
func pixelsOf(t fataler, g georef.Grid, at orb.Point, reach float64, in func(orb.Point) bool, code func(orb.Point) pixels.Code) *LakePixels {
	t.Helper()
	middle, ok := g.PixelOf(at, g.TurnOf(at.Lon()))
	rx, ry, ok2 := g.Radii(at, reach)
	if !ok || !ok2 {
		t.Fatalf("%v is not in the grid", at)
	}
	m := &pixels.Map{Grid: g}
	x, y := int(middle[0]-rx), int(middle[1]-ry)
	next := func() (int, orb.Point, bool) { // the column after x that is in the shape
		for ; float64(x) < middle[0]+rx; x++ {
			p, ok := g.LonLat(float64(x)+0.5, float64(y)+0.5, at)
			p[0] += 360 * math.Round((at.Lon()-p[0])/360)
			if ok && in(p) {
				return x, p, true
			}
		}
		return 0, orb.Point{}, false
	}
	var err error
	m.Mask, err = zonal.MaskOf(func() (row, x0, x1 int, more bool) {
		for ; float64(y) < middle[1]+ry; y, x = y+1, int(middle[0]-rx) {
			first, p, ok := next()
			if !ok {
				continue
			}
			for last := first; ; last++ {
				m.Codes = append(m.Codes, code(p))
				x++
				if following, q, ok := next(); !ok || following != last+1 {
					return y, first, last + 1, true
				} else {
					p = q
				}
			}
		}
		return 0, 0, 0, false
	})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return mustLakePixels(t, m, at)
}

func mustLakePixels(t fataler, m *pixels.Map, at orb.Point) *LakePixels {
	t.Helper()
	p, err := NewLakePixels(pixels.NewPacker().Pack(m), at)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return p
}

// bloomLakes are a large lake with a bloom in its eastern bay and clouds over its western one, and a lake without an outline.
func bloomLakes() []testShore {
	return []testShore{
		{testLake{11.0, 48.0, 12, 120}, orb.MultiPolygon{{bay(11.0, 48.0, 0.09, 400, 1), bay(11.01, 48.01, 0.012, 40, 4)}}},
		{testLake{11.16, 48.07, 30, 12}, nil},
		{testLake{11.17, 47.94, 6, 4}, orb.MultiPolygon{{bay(11.17, 47.94, 0.02, 90, 3)}}}, // without pixels
	}
}

// bloomPixels returns the pixels of lakes 0 and 1 of bloomLakes in pixels of 300 m, one away from the shore.
func bloomPixels(t fataler, g georef.Grid) map[int]*LakePixels {
	lakes := bloomLakes()
	rnd := rand.New(rand.NewPCG(1, 2))
	inside, err := outline.New(lakes[0].outline)
	if err != nil {
		t.Fatalf("%v", err)
	}
	const margin = 0.004
	in := func(p orb.Point) bool {
		for _, d := range [4]orb.Point{{-margin, 0}, {margin, 0}, {0, -margin * 2 / 3}, {0, margin * 2 / 3}} {
			if !inside.Contains(orb.Point{p[0] + d[0], p[1] + d[1]}) {
				return false
			}
		}
		return true
	}
	bloom := func(p orb.Point) pixels.Code {
		switch away := math.Hypot((p[0]+0.075)-11, 1.5*(p[1]-0.02-48)); {
		case away < 0.05:
			return pixels.NoData
		case rnd.IntN(40) == 0:
			return []pixels.Code{pixels.Ice, pixels.OutOfRange, pixels.BelowLimit}[rnd.IntN(3)]
		}
		return pixels.CodeOf(4 + 90*math.Exp(-math.Pow(math.Hypot(p[0]-11.075, 1.5*(p[1]-48.02))/0.03, 2)))
	}
	grown := func(p orb.Point) bool { return math.Hypot(p[0]-11.16, 3*(p[1]-48.07)) < 0.045 }
	return map[int]*LakePixels{
		0: pixelsOf(t, g, orb.Point{11, 48}, 15_000, in, bloom),
		1: pixelsOf(t, g, orb.Point{11.16, 48.07}, 6000, grown, func(p orb.Point) pixels.Code { return pixels.CodeOf(20 + 1000*(p[0]-11.11)) }),
	}
}

// bloomLayer returns the layer of bloomLakes with their pixels; the value of lake 0 is old if it is said so.
func bloomLayer(t fataler, epsg int, cell float64, old bool) *Layer {
	v := viewOfShores(t, bloomLakes())
	v.AsOf = 20_000
	for i := range v.States {
		v.States[i].Date = v.AsOf - 3
	}
	if old {
		v.States[0].Date = v.AsOf - 20
	}
	v = markView(v, map[int]snapshot.Mark{1: snapshot.Closed})
	v.AsOf = 20_000
	return renderer().WithPixels(renderer().Layer(v.Values()), bloomPixels(t, gridOf(t, epsg, cell)))
}

// TestGoldenPixels compares tiles with pictures that one can look at.
func TestGoldenPixels(t *testing.T) {
	geographic, projected, old := bloomLayer(t, 4326, 1./360, false), bloomLayer(t, 32632, 300, false), bloomLayer(t, 4326, 1./360, true)
	at := func(lon, lat float64, z maptile.Zoom) maptile.Tile { return maptile.At([2]float64{lon, lat}, z) }
	for _, tt := range []struct {
		name  string
		layer *Layer
		spec  Spec
	}{
		{"pixels_z8", geographic, Spec{at(11.05, 48, 8), 1, Pixels, colormap.Default, 0}},
		{"pixels_z9", geographic, Spec{at(11.05, 48, 9), 1, Pixels, colormap.Default, 0}},
		{"pixels_z11@2x", geographic, Spec{at(11.05, 48.05, 11), 2, Pixels, colormap.Default, 0}},
		{"pixels_viridis_z11", projected, Spec{at(11.05, 48.05, 11), 1, Pixels, "viridis", 0}},
		{"pixels_none_z12", geographic, Spec{at(11.18, 48.075, 12), 1, Pixels, colormap.Default, 0}},
		{"pixels_old_z11", old, Spec{at(11.05, 48.05, 11), 1, Pixels, colormap.Default, 0}},
		{"heat_pixels_z10", geographic, Spec{at(11.05, 48.05, 10), 1, Heat, colormap.Default, 0}},
		{"heat_pixels_z11", geographic, Spec{at(11.05, 48.05, 11), 1, Heat, colormap.Default, 0}},
		{"heat_pixels_z13", geographic, Spec{at(11.075, 48.02, 13), 1, Heat, colormap.Default, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) { compareGolden(t, tt.name, mustRender(t, tt.layer, tt.spec)) })
	}
}

// compareGolden compares a tile with the file of that name, or writes it.
func compareGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name+".png")
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := differs(got, want); err != nil {
		saved := filepath.Join(t.ArtifactDir(), name+".png")
		if err := os.WriteFile(saved, got, 0o644); err != nil {
			t.Error(err)
		}
		t.Errorf("%v; see %s", err, saved)
	}
}

// TestPixelsAreCropped compares tiles with a larger picture, of grids of several systems and also at the antimeridian.
func TestPixelsAreCropped(t *testing.T) {
	layers := []*Layer{bloomLayer(t, 4326, 1./360, false), bloomLayer(t, 32632, 300, false), bloomLayer(t, 32632, 60, false)}
	rapid.Check(t, func(t *rapid.T) {
		l := rapid.SampledFrom(layers).Draw(t, "layer")
		p := orb.Point{rapid.Float64Range(10.85, 11.25).Draw(t, "lon"), rapid.Float64Range(47.9, 48.1).Draw(t, "lat")}
		tile := maptile.At(p, maptile.Zoom(rapid.IntRange(8, 16).Draw(t, "zoom")))
		sameAsCrops(t, l, tile, rapid.IntRange(1, 2).Draw(t, "scale"), rapid.SampledFrom([]StyleID{Pixels, Heat}).Draw(t, "style"))
	})
}

// squareLake returns a layer of one lake with a rectangle as its outline, or none, and its pixels.
func squareLake(t fataler, at orb.Point, g georef.Grid, outlined bool, code func(orb.Point) pixels.Code) *Layer {
	lake := testShore{testLake: testLake{at.Lon(), at.Lat(), 10, 50}}
	const half = 0.05
	if outlined {
		lake.outline = orb.MultiPolygon{{orb.Ring{{at[0] - half, at[1] - half}, {at[0] + half, at[1] - half}, {at[0] + half, at[1] + half}, {at[0] - half, at[1] + half}, {at[0] - half, at[1] - half}}}}
	}
	in := func(p orb.Point) bool { return math.Abs(p[0]-at[0]) < half-0.01 && math.Abs(p[1]-at[1]) < half-0.01 }
	return renderer().WithPixels(layerOfShores(t, lake), map[int]*LakePixels{0: pixelsOf(t, g, at, 9000, in, code)})
}

// TestPixelsAreTheNearest compares each pixel of tiles within a lake with the pixel of the grid that has its centre, by the inverse of the projection of the
// map: at zooms, scales and latitudes, and on both sides of the antimeridian.
func TestPixelsAreTheNearest(t *testing.T) {
	for _, test := range []struct {
		at   orb.Point
		epsg int
		cell float64
	}{{orb.Point{11, 48}, 4326, 1. / 360}, {orb.Point{11, 48}, 32632, 300}, {orb.Point{12, 62}, 32632, 60}, {orb.Point{179.99, 10}, 4326, 1. / 360},
		{orb.Point{-179.98, 66}, 4326, 1. / 100}, {orb.Point{11, 48}, 3035, 300}} {
		var g georef.Grid
		if test.epsg == 3035 {
			system, err := crs.FromEPSG(3035)
			if err != nil {
				t.Fatal(err)
			}
			if g, err = georef.New(20_000, 20_000, [6]float64{2_500_000, 300, 0, 5_500_000, 0, -300}, system); err != nil {
				t.Fatal(err)
			}
		} else {
			g = gridOf(t, test.epsg, test.cell)
		}
		rnd := rand.New(rand.NewPCG(3, 4))
		l := squareLake(t, test.at, g, true, func(orb.Point) pixels.Code {
			return []pixels.Code{pixels.CodeOf(1), pixels.CodeOf(20), pixels.CodeOf(90), pixels.NoData, pixels.BelowLimit}[rnd.IntN(5)]
		})
		m := l.pixels[0].pixels
		colors := newMap(t, colormap.Default, who2003())
		for z := maptile.Zoom(pixelZoom); z <= 16; z++ {
			for scale := 1; scale <= 2; scale++ {
				tile := maptile.At(orb.Point{test.at[0] - 0.003, test.at[1] + 0.002}, z)
				w := windowOf(tile, scale)
				got, err := png.Decode(bytes.NewReader(mustRender(t, l, Spec{tile, scale, Pixels, colormap.Default, 0})))
				if err != nil {
					t.Fatal(err)
				}
				compared, near := 0, 0
				world := float64(int64(TileSize*scale) << z)
				for y := range w.height {
					for x := range w.width {
						place := func(dx, dy float64) orb.Point {
							return orb.Point{(float64(int(tile.X)*w.width+x)+0.5+dx)/world*360 - 180, latitude((float64(int(tile.Y)*w.height+y) + 0.5 + dy) / world)}
						}
						_, _, code, ok := m.At(place(0, 0))
						chl, valid := code.Value()
						if !ok || !valid {
							continue
						}
						compared++
						r, gr, b, a := got.At(x, y).RGBA()
						shown := color.NRGBA{uint8(r >> 8), uint8(gr >> 8), uint8(b >> 8), uint8(a >> 8)}
						if shown == colors.Color(chl) {
							continue
						}
						// It may be a neighbour within half a pixel, which interpolation is away by a thousandth at most.
						near++
						if !slices.ContainsFunc([]orb.Point{place(1e-3, 0), place(-1e-3, 0), place(0, 1e-3), place(0, -1e-3)}, func(p orb.Point) bool {
							_, _, c, ok := m.At(p)
							other, valid := c.Value()
							return ok && (!valid || shown == colors.Color(other))
						}) {
							t.Fatalf("%v EPSG:%d zoom %d scale %d: pixel %d, %d is %v, want that of %g µg/l", test.at, test.epsg, z, scale, x, y, shown, chl)
						}
					}
				}
				if compared < 100 || near*100 > compared {
					t.Errorf("%v EPSG:%d zoom %d scale %d: %d pixels compared, of which %d are those beside", test.at, test.epsg, z, scale, compared, near)
				}
			}
		}
	}
}

// TestPixelsOfTheNextZoom compares a tile of scale 2 with those of the next zoom, whose pixels are at the same places: what is drawn within the lake is the same.
func TestPixelsOfTheNextZoom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	l := squareLake(t, orb.Point{11, 48}, gridOf(t, 4326, 1./360), true, func(orb.Point) pixels.Code { return pixels.CodeOf(100 * rnd.Float64()) })
	for z := maptile.Zoom(pixelZoom); z < 15; z++ {
		tile := maptile.At(orb.Point{11, 48}, z)
		large := paint(l, windowOf(tile, 2), Pixels)
		for i := range 4 {
			part := maptile.Tile{X: 2*tile.X + uint32(i%2), Y: 2*tile.Y + uint32(i/2), Z: z + 1}
			for k, got := range paint(l, windowOf(part, 1), Pixels) {
				want := large[(k/TileSize+i/2*TileSize)*2*TileSize+k%TileSize+i%2*TileSize]
				inside := func(e uint8) bool { // an entry of a whole pixel of a value
					return e >= fillEntry && e < oldEntry && (e-fillEntry)%quarters == quarters-1
				}
				if inside(got) && inside(want) && got != want {
					t.Fatalf("%v: pixel %d is %d, in the tile of scale 2 %d", part, k, got, want)
				}
			}
		}
	}
}

// TestPixelsAreOfTheirFingerprint changes one pixel, which changes the fingerprint of tiles that show it and of no others.
func TestPixelsAreOfTheirFingerprint(t *testing.T) {
	g, at := gridOf(t, 4326, 1./360), orb.Point{11, 48}
	base := layerOfShores(t, testShore{testLake: testLake{11, 48, 10, 50}})
	with := func(chl float64) *Layer {
		n := 0
		return squareLake(t, at, g, true, func(orb.Point) pixels.Code {
			if n++; n == 7 {
				return pixels.CodeOf(chl)
			}
			return pixels.CodeOf(10)
		})
	}
	a, b, same := with(10), with(60), with(10)
	for _, style := range []StyleID{Pixels, Heat, Lakes, Dots} {
		for z := maptile.Zoom(7); z <= 13; z++ {
			s := Spec{maptile.At(at, z), 1, style, colormap.Default, 0}
			of := func(l *Layer) Fingerprint {
				f, notBlank := renderer().Fingerprint(l, s)
				if !notBlank {
					t.Fatalf("%+v is blank", s)
				}
				return f
			}
			shown := style == Pixels && z >= pixelZoom || style == Heat && z >= heatPixelZoom
			if of(a) != of(same) || (of(a) != of(b)) != shown {
				t.Errorf("%s zoom %d: the fingerprints are %x, %x and %x", style, z, of(a), of(same), of(b))
			}
			if lakes := renderer().PixelLakes(base, s, Part{}); (len(lakes) == 1) != shown {
				t.Errorf("%s zoom %d: pixels of lakes %v are asked for", style, z, lakes)
			}
		}
	}
}

// TestLakesWithoutPixels draws lakes of which none has pixels: the tiles are those of the style Lakes, and of the style Heat those without.
func TestLakesWithoutPixels(t *testing.T) {
	l := layerOfShores(t, lakeland()...)
	none := renderer().WithPixels(l, map[int]*LakePixels{})
	rapid.Check(t, func(t *rapid.T) {
		tile := drawTile(t, places(lakeland()))
		scale := rapid.IntRange(1, 2).Draw(t, "scale")
		for style, like := range map[StyleID]StyleID{Pixels: Lakes, Heat: Heat} {
			got, want := mustRender(t, none, Spec{tile, scale, style, colormap.Default, 0}), mustRender(t, l, Spec{tile, scale, like, colormap.Default, 0})
			if !bytes.Equal(got, want) {
				t.Fatalf("%v@%dx: %s differs from %s", tile, scale, style, like)
			}
		}
	})
}

// TestPixelsWithoutAnOutline checks that all pixels of a lake without an outline are drawn, those beyond the disc of its area too, and no other water.
func TestPixelsWithoutAnOutline(t *testing.T) {
	at, g := orb.Point{11, 48}, gridOf(t, 4326, 1./360)
	lake := testLake{11, 48, 10, 4}
	long := func(p orb.Point) bool { return math.Abs(p[0]-11.02) < 0.09 && math.Abs(p[1]-48) < 0.006 }
	l := renderer().WithPixels(layerOf(lake), map[int]*LakePixels{0: pixelsOf(t, g, at, 12_000, long, func(orb.Point) pixels.Code { return pixels.CodeOf(10) })})
	w := windowOf(maptile.At(orb.Point{10.9, 48.05}, 10), 1)
	w.width, w.height = 3*TileSize, 2*TileSize
	m, world := l.pixels[0].pixels, float64(int64(TileSize)<<w.zoom)
	wet, want := 0, 0
	for i, e := range paint(l, w, Pixels) {
		x, y := float64(w.left/w.step())+float64(i%w.width), float64(w.top/w.step())+float64(i/w.width)
		_, _, _, ok := m.At(orb.Point{(x+0.5)/world*360 - 180, latitude((y + 0.5) / world)})
		if ok {
			want++
		}
		if e >= toneEntry {
			wet++
		}
	}
	if wet != want || want < 500 {
		t.Errorf("%d pixels are water, want %d", wet, want)
	}
	for _, lon := range []float64{10.925, 11.105} {
		tile := maptile.At(orb.Point{lon, 48}, 13)
		if lakes := renderer().PixelLakes(l, Spec{tile, 1, Pixels, colormap.Default, 0}, Part{}); len(lakes) != 1 {
			t.Errorf("the pixels in %v are not asked for", tile)
		}
		if !renderer().MayShow(l, tile, Pixels) {
			t.Errorf("%v is said to be blank", tile)
		}
		if f, notBlank := renderer().Fingerprint(l, Spec{tile, 1, Pixels, colormap.Default, 0}); !notBlank {
			t.Errorf("%v is blank: %x", tile, f)
		}
	}
	far := maptile.At(orb.Point{11, 48.06}, 13)
	if _, notBlank := renderer().Fingerprint(l, Spec{far, 1, Pixels, colormap.Default, 0}); notBlank {
		t.Errorf("%v is not blank", far)
	}
}

func TestDamagedPixels(t *testing.T) {
	if _, err := NewLakePixels(pixels.Packed{Grid: "x"}, orb.Point{11, 48}); err == nil {
		t.Error("no error for a damaged map")
	}
	m := &pixels.Map{Grid: gridOf(t, 4326, 1./360)}
	var err error
	if m.Mask, err = zonal.MaskOf(func() (int, int, int, bool) { return 0, 0, 0, false }); err != nil {
		t.Fatal(err)
	}
	if _, err := NewLakePixels(pixels.NewPacker().Pack(m), orb.Point{11, 48}); err == nil {
		t.Error("no error for no pixels")
	}
}
