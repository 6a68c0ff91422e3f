package render

import (
	"bytes"
	"errors"
	"image/color"
	"math"
	"slices"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/forecast"
	"limnomap/data/snapshot"
	"limnomap/render/symbol"
)

// chancesOf returns the probabilities that lakes reach 10 µg/l if their values are the medians of forecasts. A lake without a value has none.
func chancesOf(lakes []testLake, of []data.Lake) *snapshot.Values {
	return snapshot.NewChances(of, func(i int) (float64, bool) {
		if lakes[i].chl < 0 {
			return 0, false
		}
		return forecast.FromStored(max(lakes[i].chl, 0.1), 0.6).Exceeds(10), true
	})
}

func chanceLayer(lakes ...testLake) *Layer {
	return renderer().Layer(chancesOf(lakes, viewOf(lakes).Lakes))
}

func chanceLayerOfShores(t fataler, lakes ...testShore) *Layer {
	return renderer().Layer(chancesOf(places(lakes), viewOfShores(t, lakes).Lakes))
}

// likely are lakes with that probability at points.
func likely(p float64, at ...orb.Point) (lakes []testLake, layer *Layer) {
	for _, point := range at {
		lakes = append(lakes, testLake{lon: point.Lon(), lat: point.Lat()})
	}
	return lakes, renderer().Layer(snapshot.NewChances(viewOf(lakes).Lakes, func(int) (float64, bool) { return p, true }))
}

func forecastSpec(t maptile.Tile, scale int, id StyleID) Spec {
	return Spec{Tile: t, Scale: scale, Style: id, Colormap: colormap.Forecast}
}

var chanceStyles = []StyleID{Heat, Lakes}

func TestForecastStyles(t *testing.T) {
	styles := ForecastStyles()
	if len(styles) != len(renderer().chances.styles) || styles[0].ID != Heat {
		t.Errorf("%d styles, the first %q; want %d and %q", len(styles), styles[0].ID, len(renderer().chances.styles), Heat)
	}
	for _, s := range styles {
		if _, ok := renderer().chances.styles[s.ID]; !ok || s.Title == "" || s.Description == "" || len(s.Signs) > 0 {
			t.Errorf("style %+v cannot be drawn, has no description, or has signs", s)
		}
	}
}

func TestForecastErrors(t *testing.T) {
	lakes := country()
	values, chances := layerOf(lakes...), chanceLayer(lakes...)
	tile := maptile.At([2]float64{11, 51}, 6)
	for _, test := range []struct {
		name string
		l    *Layer
		spec Spec
		want error
	}{
		{"values in the colours of a forecast", values, Spec{tile, 1, Heat, colormap.Forecast, 0}, colormap.ErrUnknown},
		{"a forecast in the colours of values", chances, Spec{tile, 1, Heat, colormap.Default, 0}, colormap.ErrUnknown},
		{"a forecast as markers", chances, Spec{tile, 1, Dots, colormap.Forecast, 0}, ErrUnknownStyle},
		{"a filtered forecast", chances, Spec{tile, 1, Lakes, colormap.Forecast, ShowHigh}, ErrNoFilter},
		{"a forecast", chances, Spec{tile, 1, Lakes, colormap.Forecast, 0}, nil},
	} {
		if _, err := renderer().Render(test.l, test.spec); !errors.Is(err, test.want) {
			t.Errorf("%s: Render = %v, want %v", test.name, err, test.want)
		}
	}
	if renderer().MayShow(chances, tile, Dots) || !renderer().MayShow(chances, tile, Heat) {
		t.Error("MayShow does not know the styles of a forecast")
	}
}

// TestForecastsJoin compares tiles with a larger picture that contains them, where the hatching, the field, cores, waters and outlines
// cross their edges, and the antimeridian too.
func TestForecastsJoin(t *testing.T) {
	few, shores := chanceLayer(country()...), chanceLayerOfShores(t, lakeland()...)
	many := manyLakes(0)
	for _, test := range []struct {
		name  string
		layer *Layer
		at    orb.Point
		zooms []maptile.Zoom
	}{
		{"few", few, orb.Point{11, 51}, []maptile.Zoom{3, 5, 6, 8, 9, 10, 11}},
		{"few across the antimeridian", few, orb.Point{-179.999, 10}, []maptile.Zoom{4, 9, 10}},
		{"many", chanceLayer(many...), orb.Point{0.01, 0.01}, []maptile.Zoom{2, 5, 8}},
		{"shores", shores, orb.Point{13.4, 52.46}, []maptile.Zoom{9, 10, 12, 13}},
	} {
		for _, z := range test.zooms {
			for scale := 1; scale <= 2; scale++ {
				for _, id := range chanceStyles {
					tile := maptile.At(test.at, z)
					wide := windowOf(tile, scale)
					side := wide.width
					wide.left, wide.top = wide.left-int64(side)*wide.step(), wide.top-int64(side)*wide.step()
					wide.width, wide.height = 2*side, 2*side
					all := paint(test.layer, wide, id)
					for k := range 4 {
						x, y := k%2, k/2
						part := tile
						part.X = (tile.X + uint32(x) - 1) & (1<<z - 1)
						part.Y = tile.Y + uint32(y) - 1
						got := paint(test.layer, windowOf(part, scale), id)
						for row := range side {
							want := all[(y*side+row)*wide.width+x*side:][:side]
							if !bytes.Equal(got[row*side:][:side], want) {
								t.Fatalf("%s, %s, zoom %d, scale %d: row %d of tile %v differs from the larger picture", test.name, id, z, scale, row, part)
							}
						}
					}
				}
			}
		}
	}
}

// TestForecastIsHatched looks at the middle of a large lake, where it is part of the field and where its water is drawn: each row has lines, and they go one
// pixel to the right with each second row, at both scales.
func TestForecastIsHatched(t *testing.T) {
	for z := maptile.Zoom(6); z <= 13; z++ {
		for scale := 1; scale <= 2; scale++ {
			lake, w := square(z, 50, scale)
			lake.chl = 10 // one in two
			w.left, w.top = w.left+16*subUnits, w.top+16*subUnits
			w.width, w.height = 32*scale, 32*scale
			l := chanceLayerOfShores(t, lake)
			palette, pixels := colorsOf(l).paletteOf(Heat, z), paint(l, w, Heat)
			most := uint8(max(symbol.ForecastAlpha, math.Round(0xff*rimOpacity))) // that of a faint shade of the highest class, which is paler instead
			thin := func(row, column int) bool { return palette[pixels[row*w.width+column]].A <= most }
			for row := range w.height {
				lines := 0
				for column := range w.width {
					if thin(row, column) {
						lines++
					}
					if row >= chanceHatching.run && column >= 1 && thin(row-chanceHatching.run, column-1) != thin(row, column) {
						t.Fatalf("zoom %d, scale %d: the line at row %d, column %d does not continue to the south-east", z, scale, row, column)
					}
				}
				if want := w.width * chanceHatching.width / chanceHatching.period; lines != want {
					t.Fatalf("zoom %d, scale %d: %d of %d pixels of row %d are in lines, want %d", z, scale, lines, w.width, row, want)
				}
			}
		}
	}
}

// TestForecastLinesAreFar requires lines that are 12 pixels or more apart, and none where a field ends.
func TestForecastLinesAreFar(t *testing.T) {
	for _, h := range []hatching{chanceHatching, absentHatching} {
		period, run := float64(h.period), float64(h.run)
		if across := period * run / math.Hypot(1, run); across < 12 {
			t.Errorf("across them lines are %.1f pixels apart, want 12 or more", across)
		}
	}
	s := renderer().chances.colors[colormap.Forecast].scale
	for _, entry := range s.shading.entries[0] {
		if got := s.faint[entry]; got != entry {
			t.Errorf("the faintest entry %d becomes %d within lines, want no change", entry, got)
		}
	}
	for _, entry := range s.shading.entries[levels-1] {
		if got := s.faint[entry]; got == entry {
			t.Errorf("within lines the entry %d of the largest opacity is the same", entry)
		}
	}
}

// TestForecastHasNoFineLines draws discs of all sizes and small outlines, with a probability and without one: they have no lines, of which there would be one
// or two, or none, by chance.
func TestForecastHasNoFineLines(t *testing.T) {
	plain := *renderer().chances.colors[colormap.Forecast].scale
	plain.faint = nil
	for z := maptile.Zoom(4); z <= 13; z++ {
		for _, pixels := range []float64{2, 10, 23, 40} {
			for _, chl := range []float64{10, -1} {
				lake, w := square(z, pixels, 1)
				lake.chl = chl
				if pixels > hatchedWidth {
					lake.outline, lake.areaKM2 = nil, math.Pi*math.Pow(pixels/2*40_075/(TileSize*math.Exp2(float64(z))), 2)
				}
				l := chanceLayerOfShores(t, lake)
				for _, style := range chanceStyles {
					for _, e := range paint(l, w, style) {
						if (style == Lakes || z >= fadeZoom) && (e >= oldEntry && e < freeEntry) {
							t.Fatalf("%s, zoom %d, %v pixels wide: the entry %d is that of a line", style, z, pixels, e)
						}
					}
				}
				var m memory
				m.find(l, w, renderer().chances.styles[Heat], 0)
				if z < fadeZoom {
					m.draw(renderer().chances.styles[Heat], &plain, w)
					if !bytes.Equal(m.pixels, paint(l, w, Heat)) {
						t.Fatalf("zoom %d, %v pixels wide: the field has lines", z, pixels)
					}
				}
			}
		}
	}
}

// TestForecastCoresHaveNoLines draws one likely lake among 300 unlikely ones in a few cells, in a water too small for lines: its core is as opaque as that of a lake alone, and
// neither it nor the crowd has a line.
func TestForecastCoresHaveNoLines(t *testing.T) {
	plain := *renderer().chances.colors[colormap.Forecast].scale
	plain.faint = nil
	heat := renderer().chances.styles[Heat]
	for z := maptile.Zoom(5); z <= 9; z++ {
		for scale := 1; scale <= 2; scale++ {
			water, w := square(z, hatchedWidth-2, scale)
			px := 360 / (TileSize * math.Exp2(float64(z)))
			lakes := []testShore{water, {testLake: testLake{lon: px / 2, lat: -px / 2, chl: 100}}}
			for i := range 300 {
				east, north := math.Mod(float64(i)*math.Phi, 1)-0.5, math.Mod(float64(i)*math.Sqrt2, 1)-0.5
				lakes = append(lakes, testShore{testLake: testLake{lon: 24 * px * east, lat: 24 * px * north, chl: 2}})
			}
			l := chanceLayerOfShores(t, lakes...)
			var m memory
			m.find(l, w, heat, 0)
			if len(m.scene.cores) == 0 {
				t.Fatalf("zoom %d: the likely lake has no core", z)
			}
			m.draw(heat, &plain, w)
			pixels := paint(l, w, Heat)
			if !bytes.Equal(m.pixels, pixels) {
				t.Errorf("zoom %d, scale %d: the crowd has lines", z, scale)
			}
			e := pixels[(32*w.width+32)*scale]
			palette, classes := colorsOf(l).paletteOf(Heat, z), classesOfEntries(colorsOf(l).scale)
			if classes[e] != upperClasses || float64(palette[e].A) < 0.8*0xff*maxOpacity {
				t.Errorf("zoom %d, scale %d: the pixel of the likely lake has class %d and an alpha of %d, want %d, and %.0f or more", z, scale, classes[e], palette[e].A, upperClasses, 0.8*0xff*maxOpacity)
			}
		}
	}
}

// TestForecastHasNoColourOfValues looks for pixels with a colour of any map of values, in any style, at zooms where the field, cores and
// waters are drawn.
func TestForecastHasNoColourOfValues(t *testing.T) {
	var maps []*colormap.Map
	for _, id := range colormap.IDs() {
		maps = append(maps, renderer().colors[id].scale.colours)
	}
	used := make(map[color.NRGBA]colormap.ID)
	for _, m := range maps {
		for _, c := range m.Table() {
			used[c] = m.ID
		}
	}
	lakes := country()
	l, shores := chanceLayer(lakes...), chanceLayerOfShores(t, lakeland()...)
	for z := maptile.Zoom(3); z <= 13; z++ {
		for _, id := range chanceStyles {
			for _, test := range []struct {
				l  *Layer
				at orb.Point
			}{{l, orb.Point{lakes[20].lon, lakes[20].lat}}, {shores, orb.Point{13.4, 52.46}}} {
				palette := colorsOf(test.l).paletteOf(id, z)
				seen := 0
				for _, e := range paint(test.l, windowOf(maptile.At(test.at, z), 1), id) {
					c := palette[e]
					if c.A == 0 {
						continue
					}
					seen++
					c.A = 0xff
					if m, ok := used[c]; ok {
						t.Fatalf("%s at zoom %d: a pixel has the colour %s of %s", id, z, colormap.Hex(c), m)
					}
				}
				if seen == 0 {
					t.Fatalf("%s at zoom %d: nothing is drawn", id, z)
				}
			}
		}
	}
}

// TestHighChancesShow has one likely lake among a thousand unlikely ones within a few pixels, at zooms 0 to 9: a pixel within one of its place
// has a colour of the highest class.
func TestHighChancesShow(t *testing.T) {
	for z := maptile.Zoom(0); z <= 9; z++ {
		px := 360 / (TileSize * math.Exp2(float64(z)))
		lakes := []testLake{{lon: 11, lat: 51}}
		for i := range 1000 {
			const golden = 0.6180339887
			lakes = append(lakes, testLake{lon: 11 + 6*px*(math.Mod(golden*float64(i), 1)-0.5), lat: 51 + 4*px*(float64(i)/1000-0.5)})
		}
		l := renderer().Layer(snapshot.NewChances(viewOf(lakes).Lakes, func(i int) (float64, bool) {
			if i == 0 {
				return 0.7, true
			}
			return 0.02, true
		}))
		w := windowOf(maptile.At(orb.Point{11, 51}, z), 1)
		x, y, _ := project(orb.Point{11, 51})
		shift := uint(MaxZoom - z)
		w.left, w.top = (int64(x>>shift)&^(subUnits-1))-subUnits, (int64(y>>shift)&^(subUnits-1))-subUnits
		w.width, w.height = 3, 3
		classes := classesOfEntries(colorsOf(l).scale)
		if !slices.ContainsFunc(paint(l, w, Heat), func(e uint8) bool { return e != 0 && classes[e] == upperClasses }) {
			t.Errorf("zoom %d: the likely lake has no pixel of its class", z)
		}
	}
}

// TestWithheldIsNotUnlikely draws a lake without a forecast, far from others: in both styles it is grey, and seen.
func TestWithheldIsNotUnlikely(t *testing.T) {
	withheld := testLake{lon: 60, lat: 50.5, chl: -1, areaKM2: 100}
	l := chanceLayer(append(country(), withheld)...)
	grey, line := colormap.NoData(), mixed(colormap.NoData(), color.NRGBA{}, edgePart, 100)
	for z := maptile.Zoom(0); z <= 13; z++ {
		x, y, _ := project(orb.Point{withheld.lon, withheld.lat})
		w := window{zoom: z, scale: 1, left: int64(x>>(MaxZoom-z)) &^ (subUnits - 1), top: int64(y>>(MaxZoom-z)) &^ (subUnits - 1), width: 1, height: 1}
		for _, id := range chanceStyles {
			if z < 8 && id == Lakes {
				continue // its water may be below another one
			}
			e := paint(l, w, id)[0]
			c := colorsOf(l).paletteOf(id, z)[e]
			opaque := c
			opaque.A = grey.A
			if (opaque != grey && opaque != line && e < hollowEntry) || c.A < 0x11 {
				t.Errorf("%s, zoom %d: a lake without a forecast is %v, want a grey", id, z, c)
			}
		}
	}
}

// TestForecastsLeaveTheMapAlone draws values on the geometry of a forecast, and a forecast on that of values.
func TestForecastsLeaveTheMapAlone(t *testing.T) {
	lakes := country()
	v := viewOf(lakes)
	c := chancesOf(lakes, v.Lakes)
	values, chances := renderer().Layer(v.Values()), renderer().Layer(c)
	for _, z := range []maptile.Zoom{0, 3, 5, 6, 9, 10, 12} {
		tile := maptile.At(orb.Point{lakes[20].lon, lakes[20].lat}, z)
		for _, id := range []StyleID{Heat, Dots, Lakes} {
			s := Spec{tile, 1, id, colormap.Default, 0}
			if !bytes.Equal(mustRender(t, values, s), mustRender(t, renderer().LayerOn(chances, v.Values()), s)) {
				t.Errorf("%+v: a map on the lakes of a forecast differs", s)
			}
		}
		for _, id := range chanceStyles {
			s := forecastSpec(tile, 1, id)
			want := mustRender(t, chances, s)
			if !bytes.Equal(want, mustRender(t, renderer().LayerOn(values, c), s)) {
				t.Errorf("%+v: a forecast on the lakes of a map differs", s)
			}
		}
	}
}

// TestChancesBeyondTheScale draws probabilities that no forecast has as the ends of the scale.
func TestChancesBeyondTheScale(t *testing.T) {
	at := orb.Point{11, 51}
	s := forecastSpec(maptile.At(at, 7), 1, Heat)
	for _, test := range [][2]float64{{-0.5, 0}, {1.5, 1}, {math.Inf(1), 1}} {
		_, beyond := likely(test[0], at)
		_, end := likely(test[1], at)
		if !bytes.Equal(mustRender(t, beyond, s), mustRender(t, end, s)) {
			t.Errorf("a probability of %v is not drawn as %v", test[0], test[1])
		}
	}
}
