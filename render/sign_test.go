package render

import (
	"image/color"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
	"pgregory.net/rapid"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/snapshot"
)

// markView sets the marks of v, by lake: a level that is worse than that of the chlorophyll, or a closure.
func markView(v *snapshot.View, marks map[int]snapshot.Mark) *snapshot.View {
	v.Profile = &data.Profiles()[0]
	issued := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	var statements []data.Advisory
	for i := range v.States {
		s := &v.States[i]
		s.Level = v.Profile.Level(s.Chlorophyll)
		switch marks[i] {
		case snapshot.WorseMedium:
			s.Level++
		case snapshot.WorseHigh:
			s.Level = max(s.Level+1, 2)
		case snapshot.Closed:
			id := v.Lakes[i].ID
			statements = append(statements, data.Advisory{
				ID: data.AdvisoryID(id), LakeID: id, Kind: data.Closure, Issuer: "Gesundheitsamt", Issued: issued, ValidFrom: issued,
			})
		}
	}
	v.Advisories, _ = snapshot.NewAdvisories(v.Lakes, statements).ActiveAt(data.At(issued))
	return v
}

// markedLayer returns the layer of lakes with marks.
func markedLayer(lakes []testLake, marks map[int]snapshot.Mark) *Layer {
	return renderer().Layer(markView(viewOf(lakes), marks).Values())
}

// lookedUp returns the layer of v made for one of another week, so that values and marks are looked up.
func lookedUp(v *snapshot.View) *Layer {
	other := &snapshot.View{Lakes: v.Lakes, States: slices.Clone(v.States), Profile: v.Profile}
	return renderer().LayerOn(renderer().Layer(other.Values()), v.Values())
}

// allMarks are what a lake may have.
var allMarks = [...]snapshot.Mark{snapshot.NoMark, snapshot.WorseMedium, snapshot.WorseHigh, snapshot.Closed}

// everyMark marks lake after lake with each of allMarks.
func everyMark(lakes int) map[int]snapshot.Mark {
	marks := make(map[int]snapshot.Mark)
	for i := range lakes {
		marks[i] = allMarks[i%len(allMarks)]
	}
	return marks
}

// drawMarks draws a mark for some of the lakes.
func drawMarks(t *rapid.T, lakes int) map[int]snapshot.Mark {
	marks := make(map[int]snapshot.Mark)
	for i := range lakes {
		if m := rapid.SampledFrom(allMarks[:]).Draw(t, "mark"); m != snapshot.NoMark {
			marks[i] = m
		}
	}
	return marks
}

// signTable is a row of lakes for each mark: of all classes and without a value. Those in the left half of a row are as large as the
// smallest disc, the others larger.
func signTable(tile maptile.Tile) (lakes []testLake, marks map[int]snapshot.Mark) {
	marks = make(map[int]snapshot.Mark)
	for row, mark := range allMarks {
		for i, chl := range []float64{1, 15, 60, -1, 5, 30, 130, -1} {
			l := lakeAt(tile, 22+30*float64(i), 40+58*float64(row), chl)
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
	marks := map[int]snapshot.Mark{
		0: snapshot.WorseHigh, 2: snapshot.WorseMedium, 3: snapshot.Closed, 4: snapshot.Closed, 6: snapshot.Closed, 9: snapshot.WorseMedium, 10: snapshot.Closed, 12: snapshot.WorseMedium, 13: snapshot.Closed,
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
			dark := cie76(seenBy(matrix, darkColor, ground), seenBy(matrix, ground, ground))
			white := cie76(seenBy(matrix, whiteColor, ground), seenBy(matrix, ground, ground))
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
			for _, e := range paint(markedLayer([]testLake{lake}, map[int]snapshot.Mark{0: mark}), windowOf(maptile.At([2]float64{lake.lon, lake.lat}, z), 1), Dots) {
				pixels[p[e]]++
			}
			if pixels[darkColor] < 8 || pixels[whiteColor] < 8 {
				t.Errorf("zoom %d: mark %d has %d dark and %d white pixels, want 8 or more of each", z, mark, pixels[darkColor], pixels[whiteColor])
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
					signed := paint(markedLayer([]testLake{bloom}, map[int]snapshot.Mark{0: mark}), w, style)
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
	closed := map[int]snapshot.Mark{0: snapshot.Closed}
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
			l := markedLayer([]testLake{lake}, map[int]snapshot.Mark{0: snapshot.WorseMedium})
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
		mark snapshot.Mark
	}
	// In ascending order: each is above those before it.
	order := []lake{{-1, snapshot.NoMark}, {3, snapshot.NoMark}, {120, snapshot.NoMark}, {3, snapshot.WorseMedium}, {15, snapshot.WorseHigh}, {60, snapshot.WorseHigh}, {-1, snapshot.Closed}}
	for _, style := range []StyleID{Dots, Lakes} {
		for above := range order {
			for below := range above {
				for z := maptile.Zoom(0); z <= 18; z += 3 {
					px := 360 / (TileSize * math.Exp2(float64(z)))
					a, b := order[above], order[below]
					lakes := []testLake{{13.4, 52.5, a.chl, 1e-6}, {13.4 + 0.3*px, 52.5, b.chl, 1e-6}}
					w := windowOf(maptile.At([2]float64{13.4, 52.5}, z), 1)
					alone := paint(markedLayer(lakes[:1], map[int]snapshot.Mark{0: a.mark}), w, style)
					for _, l := range []*Layer{
						markedLayer(lakes, map[int]snapshot.Mark{0: a.mark, 1: b.mark}),
						markedLayer(reversed(lakes), map[int]snapshot.Mark{0: b.mark, 1: a.mark}),
					} {
						both := paint(l, w, style)
						for i, e := range alone {
							// At their edges, the two mix.
							if opaque := renderer().colors[colormap.Default].palettes[style][e].A == 0xff; opaque && a.mark != snapshot.NoMark && both[i] != e {
								t.Fatalf("%s zoom %d: %+v is not above %+v: pixel %d is %d, want %d", style, z, a, b, i, both[i], e)
							}
						}
					}
				}
			}
		}
	}
}
