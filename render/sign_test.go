package render

import (
	"bytes"
	"context"
	"image/color"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"
	"weak"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
	"pgregory.net/rapid"

	"limnomap/colormap"
	"limnomap/data"
)

// markView sets the marks of v, by lake: a level that is worse than that of the chlorophyll, or a closure.
func markView(v *data.View, marks map[int]data.Mark) *data.View {
	v.Profile = &data.Profiles()[0]
	issued := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	var statements []data.Advisory
	for i := range v.States {
		s := &v.States[i]
		s.Level = v.Profile.Level(s.Chlorophyll)
		switch marks[i] {
		case data.Worse:
			s.Level++
		case data.Closed:
			id := v.Lakes[i].ID
			statements = append(statements, data.Advisory{
				ID: data.AdvisoryID(id), LakeID: id, Kind: data.Closure, Issuer: "Gesundheitsamt", Issued: issued, ValidFrom: issued,
			})
		}
	}
	v.Advisories, _ = data.NewAdvisories(v.Lakes, statements).ActiveAt(issued)
	return v
}

// markedLayer returns the layer of lakes with marks.
func markedLayer(lakes []testLake, marks map[int]data.Mark) *Layer {
	return renderer().Layer(markView(viewOf(lakes), marks).Values())
}

// lookedUp returns the layer of v made for one of another week, so that values and marks are looked up.
func lookedUp(v *data.View) *Layer {
	other := &data.View{Lakes: v.Lakes, States: slices.Clone(v.States), Profile: v.Profile}
	return renderer().LayerOn(renderer().Layer(other.Values()), v.Values())
}

// allMarks are what a lake may have.
var allMarks = [...]data.Mark{data.NoMark, data.Worse, data.Closed}

// everyMark marks lake after lake with each of allMarks.
func everyMark(lakes int) map[int]data.Mark {
	marks := make(map[int]data.Mark)
	for i := range lakes {
		marks[i] = allMarks[i%len(allMarks)]
	}
	return marks
}

// drawMarks draws a mark for some of the lakes.
func drawMarks(t *rapid.T, lakes int) map[int]data.Mark {
	marks := make(map[int]data.Mark)
	for i := range lakes {
		if m := rapid.SampledFrom(allMarks[:]).Draw(t, "mark"); m != data.NoMark {
			marks[i] = m
		}
	}
	return marks
}

// signTable is a row of lakes without a mark, one of worse lakes and one of closed lakes: each of all colours and without a
// value. Those in the left half of a row are as large as the smallest disc, the others larger.
func signTable(tile maptile.Tile) (lakes []testLake, marks map[int]data.Mark) {
	marks = make(map[int]data.Mark)
	for row, mark := range allMarks {
		for i, chl := range []float64{1, 15, 60, -1, 5, 30, 130, -1} {
			l := lakeAt(tile, 22+30*float64(i), 50+80*float64(row), chl)
			l.areaKM2 = 1e-6
			if i >= 4 {
				_, y, _ := project(orb.Point{l.lon, l.lat})
				const pixels = 24 // wider than a sign
				l.areaKM2 = math.Pi * math.Pow(pixels/pixelsPerMetre(y)/math.Exp2(float64(tile.Z))/1000, 2)
				l = testLake{l.lon, l.lat, l.chl, l.areaKM2}
			}
			marks[len(lakes)] = mark
			lakes = append(lakes, l)
		}
	}
	return lakes, marks
}

// signShores returns the layer of lakeland with marks.
func signShores(t fataler) *Layer {
	marks := map[int]data.Mark{
		0: data.Worse, 2: data.Worse, 3: data.Closed, 4: data.Closed, 6: data.Closed, 9: data.Worse, 10: data.Closed, 12: data.Worse, 13: data.Closed,
	}
	return renderer().Layer(markView(viewOfShores(t, lakeland()), marks).Values())
}

// TestSignsOnAnyMap checks that a sign stands out from maps and from all colours of the scale, with normal and with deficient
// colour vision: it has enough pixels that are dark, and enough that are white.
func TestSignsOnAnyMap(t *testing.T) {
	const smallest = 40 // seventeen just noticeable differences
	colors := newMap(t, colormap.Default, who2003()).Table()
	grounds := append([]color.NRGBA{
		{255, 255, 255, 255}, {0x2b, 0x2b, 0x2b, 255}, {0x2e, 0x3d, 0x22, 255}, {0x6b, 0x7d, 0x45, 255}, colormap.NoData(),
	}, colors[:]...)
	for name, matrix := range visions {
		for _, ground := range grounds {
			dark := cie76(seenBy(matrix, outlineColor, ground), seenBy(matrix, ground, ground))
			white := cie76(seenBy(matrix, casingColor, ground), seenBy(matrix, ground, ground))
			if max(dark, white) < smallest {
				t.Errorf("%s: on %v the dark of a sign differs by %.1f and its white by %.1f", name, ground, dark, white)
			}
		}
	}
	lake := testLake{lon: 13.4, lat: 52.5, chl: 5}
	p := renderer().colors[colormap.Default].palettes[Dots]
	for z := maptile.Zoom(0); z <= 18; z++ {
		for _, mark := range allMarks[1:] {
			pixels := map[color.NRGBA]int{}
			for _, e := range paint(markedLayer([]testLake{lake}, map[int]data.Mark{0: mark}), windowOf(maptile.At([2]float64{lake.lon, lake.lat}, z), 1), Dots) {
				pixels[p[e]]++
			}
			if pixels[outlineColor] < 8 || pixels[casingColor] < 8 {
				t.Errorf("zoom %d: mark %d has %d dark and %d white pixels, want 8 or more of each", z, mark, pixels[outlineColor], pixels[casingColor])
			}
		}
	}
}

// TestSignIsLargerThanAMarker counts the pixels of signs and of the largest marker of each zoom. A sign covers all of the
// marker below it.
func TestSignIsLargerThanAMarker(t *testing.T) {
	count := func(pixels []uint8) (n int) {
		for _, e := range pixels {
			if e != 0 {
				n++
			}
		}
		return n
	}
	for _, style := range []StyleID{Dots, Lakes} {
		for z := maptile.Zoom(0); z <= 18; z++ {
			for scale := 1; scale <= 2; scale++ {
				bloom := testLake{lon: 13.4, lat: 52.5, chl: 120, areaKM2: 1e-6}
				w := windowOf(maptile.At([2]float64{bloom.lon, bloom.lat}, z), scale)
				plain := paint(layerOf(bloom), w, style)
				for _, mark := range allMarks[1:] {
					signed := paint(markedLayer([]testLake{bloom}, map[int]data.Mark{0: mark}), w, style)
					if a, b := count(plain), count(signed); 2*b < 3*a {
						t.Errorf("%s zoom %d scale %d: mark %d has %d pixels and the largest marker %d, want half more", style, z, scale, mark, b, a)
					}
				}
			}
		}
	}
}

// TestClosedLooksTheSameWithAnyValue draws a closed lake of every class, and without a value.
func TestClosedLooksTheSameWithAnyValue(t *testing.T) {
	closed := map[int]data.Mark{0: data.Closed}
	for _, style := range []StyleID{Dots, Lakes} {
		for z := maptile.Zoom(0); z <= 18; z++ {
			for scale := 1; scale <= 2; scale++ {
				lake := testLake{lon: 13.4, lat: 52.5, chl: -1, areaKM2: 1e-6}
				w := windowOf(maptile.At([2]float64{lake.lon, lake.lat}, z), scale)
				want := paint(markedLayer([]testLake{lake}, closed), w, style)
				for _, e := range want {
					if c := renderer().colors[colormap.Default].palettes[style][e]; c.R == colormap.NoData().R && c.A > 0 {
						t.Fatalf("%s zoom %d scale %d: a closed lake without a value has the grey of no data", style, z, scale)
					}
				}
				for _, chl := range []float64{0, 3, 20, 60, 1500} {
					lake.chl = chl
					if !slices.Equal(paint(markedLayer([]testLake{lake}, closed), w, style), want) {
						t.Errorf("%s zoom %d scale %d: a closed lake of %v µg/l differs from one without a value", style, z, scale, chl)
					}
				}
			}
		}
	}
}

// TestWorseKeepsTheColour checks the pixel of a worse lake.
func TestWorseKeepsTheColour(t *testing.T) {
	m := newMap(t, colormap.Default, who2003())
	for _, chl := range []float64{0, 9.99, 10, 49.99, 50, 1500} {
		for z := maptile.Zoom(0); z <= 18; z++ {
			lake := testLake{lon: 13.4, lat: 52.5, chl: chl}
			l := markedLayer([]testLake{lake}, map[int]data.Mark{0: data.Worse})
			if got, want := dotAt(l, lake, z), m.Color(chl); got != want {
				t.Errorf("zoom %d: a worse lake of %v µg/l is %v, want %v", z, chl, got, want)
			}
			if got, want := waterAt(l, lake, z), m.Color(chl); got != want {
				t.Errorf("zoom %d: the water of a worse lake of %v µg/l is %v, want %v", z, chl, got, want)
			}
		}
	}
}

// TestOrderOfSigns draws two lakes near each other: the picture has the pixels of the graver one.
func TestOrderOfSigns(t *testing.T) {
	type lake struct {
		chl  float64
		mark data.Mark
	}
	// In ascending order: each is above those before it.
	order := []lake{{-1, data.NoMark}, {3, data.NoMark}, {120, data.NoMark}, {3, data.Worse}, {60, data.Worse}, {-1, data.Closed}}
	for _, style := range []StyleID{Dots, Lakes} {
		for above := range order {
			for below := range above {
				for z := maptile.Zoom(0); z <= 18; z += 3 {
					px := 360 / (TileSize * math.Exp2(float64(z)))
					a, b := order[above], order[below]
					lakes := []testLake{{13.4, 52.5, a.chl, 1e-6}, {13.4 + 0.3*px, 52.5, b.chl, 1e-6}}
					w := windowOf(maptile.At([2]float64{13.4, 52.5}, z), 1)
					alone := paint(markedLayer(lakes[:1], map[int]data.Mark{0: a.mark}), w, style)
					for _, l := range []*Layer{
						markedLayer(lakes, map[int]data.Mark{0: a.mark, 1: b.mark}),
						markedLayer(reversed(lakes), map[int]data.Mark{0: b.mark, 1: a.mark}),
					} {
						both := paint(l, w, style)
						for i, e := range alone {
							// At their edges, the two mix.
							if opaque := renderer().colors[colormap.Default].palettes[style][e].A == 0xff; opaque && a.mark != data.NoMark && both[i] != e {
								t.Fatalf("%s zoom %d: %+v is not above %+v: pixel %d is %d, want %d", style, z, a, b, i, both[i], e)
							}
						}
					}
				}
			}
		}
	}
}

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

// TestSignedShoresAreCrops does the same with outlines.
func TestSignedShoresAreCrops(t *testing.T) {
	l, lakes := signShores(t), places(lakeland())
	rapid.Check(t, func(t *rapid.T) {
		sameAsCrops(t, l, drawTile(t, lakes), rapid.IntRange(1, 2).Draw(t, "scale"), Lakes)
	})
}

// TestSignsOfManyLakesAreCrops does the same where markers and signs are thinned.
func TestSignsOfManyLakesAreCrops(t *testing.T) {
	if testing.Short() {
		t.Skip("only computes: it runs without the race detector")
	}
	lakes := manyLakes(0)
	marks := make(map[int]data.Mark)
	for i := range lakes {
		if i%50 == 0 {
			marks[i] = allMarks[1+i/50%2]
		}
	}
	l := markedLayer(lakes, marks)
	for z := range manyLakesRoomy + 2 {
		tiles := uint32(1) << z
		tile := maptile.Tile{X: (tiles - 1) / 2, Y: (tiles - 1) / 2, Z: z}
		for scale := 1; scale <= 2; scale++ {
			sameAsCrops(t, l, tile, scale, Dots)
			sameAsCrops(t, l, tile, scale, Lakes)
		}
	}
}

// TestThinningKeepsSigns checks that where markers are thinned, each pixel with a marked lake has one sign, of the gravest mark, and that
// a closed lake without a value is drawn among thousands of blooms.
func TestThinningKeepsSigns(t *testing.T) {
	lakes := district(6000)
	marks := make(map[int]data.Mark)
	for i := range lakes {
		lakes[i].chl = 120
		if i%7 == 0 {
			marks[i] = data.Worse
		}
	}
	closed := testLake{lon: 22.5, lat: 62, chl: -1}
	lakes = append(lakes, closed)
	marks[len(lakes)-1] = data.Closed
	v := markView(viewOf(lakes), marks)
	l := renderer().Layer(v.Values())
	if l.roomy < 1 {
		t.Fatal("no zoom is thinned")
	}
	for _, l := range []*Layer{l, lookedUp(v)} {
		for z := range l.roomy {
			want := map[uint64]data.Mark{}
			pixel := func(site int32) uint64 { return l.codes[site] >> (2 * (MaxZoom - uint(z) + subBits)) }
			for site, lake := range l.lakes {
				if m := marks[int(lake)]; m != data.NoMark {
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
				alone := paint(markedLayer([]testLake{closed}, map[int]data.Mark{0: data.Closed}), w, style)
				for i, e := range paint(l, w, style) {
					if full := alone[i] == outlineEntry+quarters-1 || alone[i] == casingEntry+quarters-1; full && e != alone[i] {
						t.Fatalf("%s zoom %d: the sign of a closed lake is hidden at pixel %d: %d, want %d", style, z, i, e, alone[i])
					}
				}
			}
		}
	}
}

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
			equal = equal && one[i] == other[i]
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
		v := markView(viewOfShores(t, []testShore{lake}), map[int]data.Mark{0: mark})
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

// TestLayerOnHasTheSameSigns compares a layer of looked up values with one that has them.
func TestLayerOnHasTheSameSigns(t *testing.T) {
	lakes := append(country()[:60], district(5000)...)
	rng := rand.New(rand.NewPCG(3, 9))
	marks := make(map[int]data.Mark)
	for i := range lakes {
		if rng.IntN(20) == 0 {
			marks[i] = allMarks[1+rng.IntN(2)]
		}
	}
	v := markView(viewOf(lakes), marks)
	want, got := renderer().Layer(v.Values()), lookedUp(v)
	if want.roomy == 0 || len(want.marked.sites) != len(marks) {
		t.Fatalf("%d sites are marked, thinned up to zoom %d: want %d, and some zooms", len(want.marked.sites), want.roomy, len(marks))
	}
	rapid.Check(t, func(t *rapid.T) {
		s := Spec{Tile: drawTile(t, lakes), Scale: rapid.IntRange(1, 2).Draw(t, "scale"),
			Style: rapid.SampledFrom([]StyleID{Heat, Dots, Lakes}).Draw(t, "style"), Colormap: colormap.Default}
		fpWant, _ := renderer().Fingerprint(want, s)
		fpGot, _ := renderer().Fingerprint(got, s)
		if fpWant != fpGot || !bytes.Equal(mustRender(t, want, s), mustRender(t, got, s)) {
			t.Fatalf("%+v: the tile differs", s)
		}
		if renderer().MayShow(want, s.Tile, s.Style) != renderer().MayShow(got, s.Tile, s.Style) {
			t.Fatalf("%+v: MayShow differs", s)
		}
	})
}

// TestSignsDoNotDependOnTheOrderOfLakes draws lakes in three orders, some at one point.
func TestSignsDoNotDependOnTheOrderOfLakes(t *testing.T) {
	type marked struct {
		testLake
		mark data.Mark
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
		marks := make(map[int]data.Mark)
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

// A sampledSource has four lakes with a value of 5 µg/l in two weeks: one with 150,000 cells/ml, as an authority's sample may have, one
// with few cells, one that is closed, and one of which nothing else is known; and a closed lake without any value.
type sampledSource struct{ data.Source }

const cellsOfWorse = 150_000

func (sampledSource) Revision(context.Context) (data.Revision, error) {
	return data.Revision{Number: 1}, nil
}

func (sampledSource) lakes() []testLake {
	return []testLake{{11, 51, 5, 1}, {11.2, 51, 5, 1}, {11.4, 51, 5, 1}, {11.6, 51, 5, 1}, {11.8, 51, -1, 1}}
}

func (s sampledSource) Scan(_ context.Context, lake func(data.Lake) error, observation func(data.Observation) error) (data.Revision, error) {
	lakes := viewOf(s.lakes()).Lakes
	for _, l := range lakes {
		l.Name = string(l.ID)
		if err := lake(l); err != nil {
			return data.Revision{}, err
		}
	}
	for i, l := range lakes[:4] {
		for week := range data.Date(2) {
			o := data.Observation{
				LakeID: l.ID, Date: data.DateOf(time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)) + 7*week, Type: data.InSitu,
				Chlorophyll: 5_00, Level: data.NoLevel, CellDensity: []float64{cellsOfWorse, 900, data.NoCellDensity, data.NoCellDensity}[i],
			}
			if err := observation(o); err != nil {
				return data.Revision{}, err
			}
		}
	}
	return data.Revision{Number: 1}, nil
}

func (s sampledSource) Advisories(context.Context) ([]data.Advisory, data.Revision, error) {
	lakes := viewOf(s.lakes()).Lakes
	issued := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	var closures []data.Advisory
	for _, i := range []int{2, 4} {
		closures = append(closures, data.Advisory{
			ID: data.AdvisoryID(lakes[i].ID), LakeID: lakes[i].ID, Kind: data.Closure, Issuer: "Gesundheitsamt", Issued: issued, ValidFrom: issued,
		})
	}
	return closures, data.Revision{Number: 1}, nil
}

// TestSignsOfASnapshot draws lakes loaded from a source, of the current week and of another one.
func TestSignsOfASnapshot(t *testing.T) {
	source := sampledSource{}
	snapshot, err := data.Load(t.Context(), source, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[int]data.Mark{0: data.Worse, 2: data.Closed, 4: data.Closed}
	expected, plain := markedLayer(source.lakes(), want), layerOf(source.lakes()...)
	current := renderer().Layer(snapshot.Current.Values())
	layers := []*Layer{current}
	for _, w := range snapshot.Weeks {
		v, err := snapshot.Values(t.Context(), w.Week)
		if err != nil {
			t.Fatal(err)
		}
		for i := range v.Lakes {
			if got := v.Mark(i); got != want[i] {
				t.Errorf("week %s: the mark of lake %d is %d, want %d", w.Week, i, got, want[i])
			}
		}
		layers = append(layers, renderer().Layer(v), renderer().LayerOn(current, v))
	}
	for _, z := range []maptile.Zoom{0, 4, 6, 8, 10} {
		for scale := 1; scale <= 2; scale++ {
			s := Spec{Tile: maptile.At(orb.Point{11.3, 51}, z), Scale: scale, Colormap: colormap.Default}
			for _, l := range layers {
				for _, style := range []StyleID{Dots, Lakes} {
					s.Style = style
					if !bytes.Equal(mustRender(t, l, s), mustRender(t, expected, s)) {
						t.Errorf("%s zoom %d scale %d: the tile differs from that of the expected marks", style, z, scale)
					}
				}
				s.Style = Heat
				if !bytes.Equal(mustRender(t, l, s), mustRender(t, plain, s)) {
					t.Errorf("heat zoom %d scale %d: the tile depends on the marks", z, scale)
				}
			}
		}
	}
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
			before := markView(viewOf(set.lakes), map[int]data.Mark{1: data.Closed, 8: data.Closed})
			one := renderer().Layer(before.Values())
			known := fingerprintOf(one, heat)
			dots := heat
			dots.Style = Dots
			fingerprintOf(one, dots) // so that it is remembered

			after := &data.View{Week: before.Week, Lakes: before.Lakes, States: before.States, Profile: before.Profile}
			got := renderer().LayerOn(one, markView(after, map[int]data.Mark{8: data.Closed, 20: data.Closed}).Values())
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
			if other := renderer().LayerOn(one, markView(viewOf(set.lakes), nil).Values()); other.values != nil {
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
