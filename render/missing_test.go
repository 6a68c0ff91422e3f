package render

import (
	"image/color"
	"math"
	"slices"
	"testing"

	"limnomap/colormap"

	"github.com/paulmach/orb/maptile"
)

// tracesOnly draws a window with and without the lakes of l that have no value. They may change transparent pixels and those that are fainter than a trace,
// and only to grey ones. It returns how many they change.
func tracesOnly(t *testing.T, l *Layer, w window) (traces int) {
	t.Helper()
	st := renderer().styles[Heat]
	draw := func(traces bool) []uint8 {
		var m memory
		m.find(l, w, st, 0)
		s := &m.scene
		for i := 0; i < len(s.marks); i++ {
			if s.marks[i].log() < 0 && !traces {
				s.marks = append(s.marks[:i], s.marks[i+1:]...)
				i--
			}
		}
		pixels := make([]uint8, w.width*w.height)
		st.painter.(*heat).paintField(pixels, s, w, renderer().colors["limno"].scale, &m)
		return pixels
	}
	first := rangeAt(w.zoom).end
	with, without := draw(true), draw(false)
	limits := renderer().colors["limno"].scale.traces[min(w.zoom/fadeZoom, 1)]
	for i, e := range with {
		switch {
		case e == without[i]:
		case int(e) < first || int(e) >= first+traceLevels || without[i] >= limits[int(e)-first]:
			t.Fatalf("zoom %d, scale %d: pixel %d is %d, and %d without the lakes that have no value", w.zoom, w.scale, i, e, without[i])
		default:
			traces++
		}
	}
	return traces
}

// TestNoValueLeavesAFaintTrace adds lakes without a value at the point of a lake with one, near it and further away, small ones and one as wide
// as the largest disc, at all zooms of the field: they leave traces, and nothing else. Alone they have no colour of a value.
func TestNoValueLeavesAFaintTrace(t *testing.T) {
	for z := range maptile.Zoom(waterZoom) {
		known := testLake{lon: 13.4, lat: 12.5, chl: 30}
		px := 360 / (TileSize * math.Exp2(float64(z)))
		var missing []testLake
		for _, away := range []float64{0, 1, 3, 20, 60} {
			missing = append(missing, testLake{lon: known.lon + away*px, lat: known.lat + away*px/2, chl: -1})
		}
		missing = append(missing, testLake{lon: known.lon - 5*px, lat: known.lat, chl: -1, areaKM2: math.Pi * math.Pow(60*px*111, 2)})
		for scale := 1; scale <= 2; scale++ {
			w := windowOf(maptile.At([2]float64{known.lon, known.lat}, z), scale)
			if n := tracesOnly(t, layerOf(append(missing, known)...), w); n < 10 {
				t.Errorf("zoom %d, scale %d: %d pixels are traces, want 10 or more", z, scale, n)
			}
			for i, class := range classesOf(layerOf(missing...), w) {
				if class != 0 {
					t.Fatalf("zoom %d, scale %d: pixel %d of lakes without a value has the class %d", z, scale, i, class)
				}
			}
		}
	}
}

// TestTracesAmongMany does the same in blurred layers, with lakes binned in advance and for each tile: both have the same traces.
func TestTracesAmongMany(t *testing.T) {
	all := district(300)
	for i := range all {
		if i%40 == 0 {
			all[i].areaKM2 = 3000
		}
		if i%3 == 0 {
			all[i].chl = -1
		}
	}
	for z := range maptile.Zoom(maxBlurredZoom + 1) {
		w := windowOf(maptile.At([2]float64{22.5, 62}, z), 1)
		a, b := tracesOnly(t, blurred(0, all...), w), tracesOnly(t, blurred(4, all...), w)
		if a != b || a == 0 && z > 2 {
			t.Errorf("zoom %d: %d pixels are traces, and %d with lakes binned in advance, want as many, and some from zoom 3 on", z, a, b)
		}
	}
}

// TestMissingValuesDoNotMakeMany checks that lakes without a value do not count when it is decided how the field is drawn.
func TestMissingValuesDoNotMakeMany(t *testing.T) {
	for name, lakes := range map[string][]testLake{"in a tile": scattered(maxStamped), "in one place": make([]testLake, thinnedLakes-1)} {
		all := append(slices.Clone(lakes), lakes...)
		for i := range lakes {
			all[i].chl = -1
		}
		if n := blurredZooms(layerOf(all...)); n != 0 {
			t.Errorf("%d lakes with a value and as many without %s are blurred at %d zooms, want none", len(lakes), name, n)
		}
	}
}

// TestNoValueIsSeenByItsOutline draws a lake without a value that has an outline, at each zoom: all of it is grey, and nothing looks like a clean lake.
func TestNoValueIsSeenByItsOutline(t *testing.T) {
	for z := maptile.Zoom(3); z <= waterZoom; z++ {
		for _, side := range []float64{6.5, 24, 60} {
			for scale := 1; scale <= 2; scale++ {
				lake, w := square(z, side, scale)
				lake.chl = -1
				l, palette := layerOfShores(t, lake), paletteOf(colormap.Default, Heat, z)
				for i, e := range paint(l, w, Heat) {
					x, y := (float64(i%w.width)+0.5)/float64(scale)-32, (float64(i/w.width)+0.5)/float64(scale)-32
					beyond, c := max(math.Abs(x), math.Abs(y))-side/2, palette[e]
					if grey := colormap.NoData(); beyond < -1.5 && (c.A < 0xff/4 || c.R != grey.R || c.G != grey.G || c.B != grey.B) || beyond > 3 && c.A != 0 {
						t.Fatalf("zoom %d, scale %d, %v pixels wide: %.2f pixels beyond the shore a lake without a value is %v", z, scale, side, beyond, c)
					}
				}
				for i, class := range classesOf(l, w) {
					if class != 0 {
						t.Fatalf("zoom %d, scale %d, %v pixels wide: pixel %d has the class %d", z, scale, side, i, class)
					}
				}
			}
		}
	}
}

// TestNoValueIsSeenBesideALake draws a lake without a value next to a bloom, and next to a clean lake: from three pixels on, it is seen.
func TestNoValueIsSeenBesideALake(t *testing.T) {
	for z := maptile.Zoom(3); z < fadeZoom; z++ {
		first := uint8(rangeAt(z).end)
		for _, chl := range []float64{2, 120} {
			for pixels := 3.0; pixels < 30; pixels++ {
				l, w := pair(z, pixels, -1, chl)
				all, clear, drawn := 0, 0, paint(l, w, Heat)
				for _, e := range drawn {
					if e >= first {
						all++
					}
					if e >= first+traceLevels/2 {
						clear++
					}
				}
				if own := drawn[w.height/2*w.width+w.width/3]; own < first || all < 12 || clear < 5 {
					t.Errorf("zoom %d, %v pixels from one of %v µg/l: %d pixels of a lake without a value are grey, %d of them clear, and its own is %d; want 12, 5 and grey",
						z, pixels, chl, all, clear, own)
				}
			}
		}
	}
}

// TestTracesShowOnMaps lays the traces over the colours of a street map, a light map and a dark one: the edge or the inside differs clearly from each of them.
func TestTracesShowOnMaps(t *testing.T) {
	const least = 14.0 // CIE76
	grounds := append(mapGrounds[:], whiteColor,
		color.NRGBA{0xf2, 0xef, 0xe9, 0xff}, color.NRGBA{0xad, 0xd1, 0x9e, 0xff}, color.NRGBA{0xaa, 0xd3, 0xdf, 0xff}, color.NRGBA{0xe0, 0xdf, 0xdf, 0xff}, color.NRGBA{0xf9, 0xd6, 0x9b, 0xff})
	palette := paletteOf(colormap.Default, Heat, 6)
	for _, ground := range grounds {
		most := 0.0
		for _, c := range palette[fullRange.end:] {
			shown := over(channels(c), float64(c.A)/0xff, channels(ground))
			most = max(most, cie76(labOf(color.NRGBA{uint8(shown[0]), uint8(shown[1]), uint8(shown[2]), 0xff}), labOf(ground)))
		}
		t.Logf("on %s: a trace differs by %.1f", colormap.Hex(ground), most)
		if most < least {
			t.Errorf("on %s: a trace differs by %.1f, want at least %v", colormap.Hex(ground), most, least)
		}
	}
}
