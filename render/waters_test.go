package render

import (
	"image/color"
	"math"
	"slices"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
	"pgregory.net/rapid"

	"limnomap/colormap"
	"limnomap/data/outline"
	"limnomap/render/symbol"
)

// TestAnyOutlineIsCropped compares tiles with a larger picture: polygons of any shape, some of them across the seams.
func TestAnyOutlineIsCropped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z := maptile.Zoom(rapid.IntRange(9, 18).Draw(t, "zoom"))
		n := uint32(1) << z
		tile := maptile.Tile{
			X: rapid.SampledFrom([]uint32{0, n / 2, n/2 + 77, n - 1}).Draw(t, "column"),
			Y: rapid.SampledFrom([]uint32{n / 4, n / 2, n/2 + 55}).Draw(t, "row"), Z: z,
		}
		corner := maptile.Tile{X: tile.X + 1, Y: tile.Y + 1, Z: z}.Bound().LeftTop()
		px := 360 / (TileSize * float64(n))
		away := rapid.SampledFrom([]float64{5, 300, 20_000}).Draw(t, "pixels from the middle")
		var lakes []testShore
		for range rapid.IntRange(1, 3).Draw(t, "lakes") {
			var lake testShore
			lake.chl = rapid.SampledFrom([]float64{-1, 5, 70}).Draw(t, "chl")
			for range rapid.IntRange(1, 2).Draw(t, "rings") {
				var ring orb.Ring
				for range rapid.IntRange(3, 9).Draw(t, "points") {
					ring = append(ring, orb.Point{
						corner.Lon() + px*rapid.Float64Range(-away, away).Draw(t, "x"),
						corner.Lat() + px*rapid.Float64Range(-away, away).Draw(t, "y"),
					})
				}
				lake.outline = append(lake.outline, orb.Polygon{ring})
			}
			if _, err := outline.New(lake.outline); err != nil {
				t.Skip(err) // no outline, such as one half the world wide: another is drawn in its place
			}
			lake.lon, lake.lat = lake.outline[0][0][0].Lon(), lake.outline[0][0][0].Lat()
			lakes = append(lakes, lake)
		}
		sameAsCrops(t, layerOfShores(t, lakes...), tile, rapid.IntRange(1, 2).Draw(t, "scale"), Lakes)
	})
}

// TestSameShoresSameTiles draws the lakes in either order.
func TestSameShoresSameTiles(t *testing.T) {
	lakes := lakeland()
	back := slices.Clone(lakes)
	slices.Reverse(back)
	a, b := layerOfShores(t, lakes...), layerOfShores(t, back...)
	rapid.Check(t, func(t *rapid.T) {
		w := windowOf(drawTile(t, places(lakes)), rapid.IntRange(1, 2).Draw(t, "scale"))
		if !slices.Equal(paint(a, w, Lakes), paint(b, w, Lakes)) {
			t.Fatalf("%+v depends on the order of the lakes", w)
		}
	})
}

// waterAt returns the colour of the pixel of l that contains a point.
func waterAt(l *Layer, lake testLake, z maptile.Zoom) color.NRGBA {
	x, y, _ := project(orb.Point{lake.lon, lake.lat})
	shift := uint(MaxZoom-z) + subBits
	w := window{zoom: z, scale: 1, left: int64(x>>shift) * subUnits, top: int64(y>>shift) * subUnits, width: 1, height: 1}
	return renderer().colors[colormap.Default].palettes[Lakes][paint(l, w, Lakes)[0]]
}

// TestOwnPixelHasTheColour draws each lake of lakeland without the others, as a disc and as an outline, at all zooms.
func TestOwnPixelHasTheColour(t *testing.T) {
	m := newMap(t, colormap.Default, who2003())
	for i, lake := range lakeland() {
		if lake.chl < 0 {
			continue
		}
		want := m.Color(lake.chl)
		for z := maptile.Zoom(0); z <= MaxZoom; z++ {
			if got := waterAt(layerOf(lake.testLake), lake.testLake, z); got != want {
				t.Errorf("lake %d zoom %d: the disc is %v, want %v", i, z, got, want)
			}
			// At smaller zooms a shore may cross the pixel.
			if z < 12 || lake.outline == nil {
				continue
			}
			if got := waterAt(layerOfShores(t, lake), lake.testLake, z); got != want {
				t.Errorf("lake %d zoom %d: the water is %v, want %v", i, z, got, want)
			}
		}
	}
}

// TestDiscHasTheAreaOfTheLake counts the pixels of lakes whose discs fit into a window of 1024 pixels.
func TestDiscHasTheAreaOfTheLake(t *testing.T) {
	for _, lake := range []testLake{{13.4, 52.5, 5, 0.05}, {13.4, 52.5, 5, 3}, {25, 69, 5, 1}, {30, -1, 5, 40}, {30, -1, 5, 0}} {
		area := lake.areaKM2
		if area == 0 {
			area = 0.2
		}
		x, y, _ := project(orb.Point{lake.lon, lake.lat})
		for z := maptile.Zoom(8); z <= MaxZoom; z++ {
			km := pixelsPerMetre(y) * math.Exp2(float64(z)) * 1000 // in pixels
			if r := km * math.Sqrt(area/math.Pi); r < 8 || r > 500 {
				continue
			}
			shift := uint(MaxZoom - z)
			w := window{zoom: z, scale: 1, left: int64(x>>shift) - 512*subUnits, top: int64(y>>shift) - 512*subUnits, width: 1024, height: 1024}
			pixels := 0.0
			for _, e := range paint(layerOf(lake), w, Lakes) {
				if e >= fillEntry { // more water than land
					pixels++
				}
			}
			if got := pixels / km / km; math.Abs(got/area-1) > 0.05 {
				t.Errorf("%+v at zoom %d covers %.3f km², want %v", lake, z, got, area)
			}
		}
	}
}

// TestWaterWithoutAValueIsHollowAndGrey checks that a missing value never has a colour of the scale, and also differs in shape:
// the basemap is visible through it.
func TestWaterWithoutAValueIsHollowAndGrey(t *testing.T) {
	lakes := lakeland()
	for i := range lakes {
		lakes[i].chl = -1
	}
	l := layerOfShores(t, lakes...)
	for _, lake := range lakes {
		for z := maptile.Zoom(0); z <= MaxZoom; z++ {
			var used [256]bool
			for _, e := range paint(l, windowOf(maptile.At(orb.Point{lake.lon, lake.lat}, z), 1), Lakes) {
				used[e] = true
			}
			line, through := false, false
			for e, is := range used {
				if !is {
					continue
				}
				for id, c := range renderer().colors {
					got := c.palettes[Lakes][e]
					if got.A != 0 && !isGrey(got) {
						t.Fatalf("%s zoom %d: a lake without a value has the colour %v", id, z, got)
					}
					line = line || got.A > 2*symbol.HollowAlpha
					through = through || got.A == symbol.HollowAlpha
				}
			}
			if !line || !through {
				t.Errorf("zoom %d, %+v: lines seen: %v, the map seen: %v, want both", z, lake.testLake, line, through)
			}
		}
	}
}

func TestOrderOfWaters(t *testing.T) {
	m := newMap(t, colormap.Default, who2003())
	grey := colormap.NoData()
	large := testLake{lon: 13.4, lat: 52.5, areaKM2: 40}
	pond := testLake{lon: 13.41, lat: 52.51, areaKM2: 1}
	tests := []struct {
		name        string
		large, pond float64 // µg/l
		seen        bool    // whether the pond is
	}{
		{"a clean pond in a clean lake", 2, 3, true},
		{"a cleaner pond in a clean lake", 3, 2, true},
		{"a pond without a value in a clean lake", 2, -1, true},
		{"a pond in a lake without a value", -1, 2, true},
		{"a bloom in a clean lake", 2, 60, true},
		{"a bloom in a lake of the middle class", 20, 60, true},
		{"a clean pond in a bloom", 60, 2, false},
		{"a pond without a value in a bloom", 60, -1, false},
		{"a bloom in a bloom", 90, 60, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			large.chl, pond.chl = tt.large, tt.pond
			for _, l := range []*Layer{layerOf(large, pond), layerOf(pond, large)} {
				for z := maptile.Zoom(10); z <= 14; z++ {
					shown := pond
					if !tt.seen {
						shown = large
					}
					got, want := waterAt(l, pond, z), m.Color(shown.chl)
					if shown.chl < 0 {
						want, got.A = grey, grey.A
					}
					if got != want {
						t.Errorf("zoom %d: the pond's place is %v, want %v", z, got, want)
					}
				}
			}
		})
	}
}

// TestEqualDiscsWorstAbove draws two lakes at one point.
func TestEqualDiscsWorstAbove(t *testing.T) {
	m := newMap(t, colormap.Default, who2003())
	for _, other := range []float64{-1, 0, 9.99, 49.99, 60, 119.99} {
		a, b := testLake{lon: 13.4, lat: 52.5, chl: 120}, testLake{lon: 13.4, lat: 52.5, chl: other}
		for z := maptile.Zoom(0); z <= MaxZoom; z++ {
			for _, l := range []*Layer{layerOf(a, b), layerOf(b, a)} {
				if got, want := waterAt(l, a, z), m.Color(120); got != want {
					t.Errorf("zoom %d, with a lake of %v µg/l in one place: %v, want %v", z, other, got, want)
				}
			}
		}
	}
}

// TestOutlineBeginsAtItsZoom compares a lake with and without an outline, which is drawn from 6 pixels on.
func TestOutlineBeginsAtItsZoom(t *testing.T) {
	lake := lakeland()[2]
	small := testShore{testLake{13.4, 52.5, 5, 0.001}, orb.MultiPolygon{{bay(13.4, 52.5, 0.0002, 12, 1)}}}
	for _, tt := range []struct {
		name  string
		lake  testShore
		first maptile.Zoom
	}{{"as large as Lake Constance", lakeland()[10], 4}, {"large", lake, 8}, {"smaller than 6 pixels until zoom 14", small, 15}} {
		for z := maptile.Zoom(0); z <= 16; z++ {
			w := windowOf(maptile.At(orb.Point{tt.lake.lon, tt.lake.lat}, z), 1)
			differ := !slices.Equal(paint(layerOfShores(t, tt.lake), w, Lakes), paint(layerOf(tt.lake.testLake), w, Lakes))
			if differ != (z >= tt.first) {
				t.Errorf("%s, zoom %d: the outline is drawn: %v, want it from zoom %d on", tt.name, z, differ, tt.first)
			}
		}
	}
}

// TestOutlinesAreNotOfDots checks that outlines do not change tiles and cache keys without waters.
func TestOutlinesAreNotOfDots(t *testing.T) {
	lakes := lakeland()
	with, without := layerOfShores(t, lakes...), layerOf(places(lakes)...)
	for _, lake := range lakes {
		for z := range maptile.Zoom(MaxZoom + 1) {
			s := Spec{Tile: maptile.At(orb.Point{lake.lon, lake.lat}, z), Scale: 1, Style: Dots, Colormap: colormap.Default}
			if !slices.Equal(paint(with, windowOf(s.Tile, 1), Dots), paint(without, windowOf(s.Tile, 1), Dots)) {
				t.Errorf("%v: the tile depends on outlines", s.Tile)
			}
			a, _ := renderer().Fingerprint(with, s)
			if b, _ := renderer().Fingerprint(without, s); a != b {
				t.Errorf("%v: the fingerprint depends on outlines", s.Tile)
			}
		}
	}
}

func TestOutlineOfAQuarterOfTheWorldIsNoShore(t *testing.T) {
	for _, tt := range []struct {
		name string
		ring orb.Ring
		want bool
	}{
		{"as wide as Asia", orb.Ring{{40, 10}, {170, 10}, {170, 20}, {40, 10}}, false},
		{"from pole to pole", orb.Ring{{10, -85}, {12, -85}, {12, 85}, {10, -85}}, false},
		{"as wide as the Caspian Sea is long", orb.Ring{{10, 10}, {22, 10}, {22, 20}, {10, 10}}, true},
	} {
		v := viewOfShores(t, []testShore{{testLake{tt.ring[0].Lon(), tt.ring[0].Lat(), 5, 0}, orb.MultiPolygon{{tt.ring}}}})
		if got := renderer().Layer(v.Values()).sites[0].shore != nil; got != tt.want {
			t.Errorf("%s: it has a shore: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestEqualWatersAreCrops draws waters at one point with equal values and widths, but different shapes. Which of them is on top
// must not depend on the rest of the window.
func TestEqualWatersAreCrops(t *testing.T) {
	var lakes []testShore
	for i := range 40 {
		// Stars with the same bound.
		n := 4 * (i + 1)
		var star orb.Ring
		for j := range n {
			a := 2 * math.Pi * float64(j) / float64(n)
			r := 1 - 0.5*math.Abs(math.Cos(float64(n)*a))
			star = append(star, orb.Point{13.4 + 0.02*math.Cos(a), 52.5 + 0.012*math.Sin(a)*r})
		}
		lakes = append(lakes, testShore{testLake{13.4, 52.5, 5, 3}, orb.MultiPolygon{{append(star, star[0])}}})
	}
	for i := range 60 {
		east, north := math.Mod(float64(i)*0.37, 1), math.Mod(float64(i)*0.61, 1)
		lakes = append(lakes, testShore{testLake{13.43 + 0.2*east, 52.4 + 0.2*north, 1 + float64(i), 0.3}, nil})
	}
	l := layerOfShores(t, lakes...)
	for z := maptile.Zoom(9); z <= 13; z++ {
		for scale := 1; scale <= 2; scale++ {
			sameAsCrops(t, l, maptile.At(orb.Point{13.4, 52.5}, z), scale, Lakes)
		}
	}
}

// TestSmallLakesKeepTheirSize compares the radii of small lakes that are alone from zoom 4 to 14: none is less than the one before, or more than 2.1 of it. Zoom 9 is the
// only one at which a disc becomes smaller, by a twentieth: there a pond is visible up to 2 km, see TestAPondIsSmall.
func TestSmallLakesKeepTheirSize(t *testing.T) {
	for _, area := range []float64{0, 0.001, 0.05, 0.5} {
		l, last := layerOf(testLake{lon: 13.4, lat: 52.5, chl: 20, areaKM2: area}), 0.0
		for z := maptile.Zoom(4); z <= 14; z++ {
			s := &l.sites[0]
			radius, least := s.size(z, false).discRadius(z), 0.99
			if z == 9 {
				least = 0.95
			}
			if z >= fadeZoom {
				radius = float64(newWaters().aboveField().radius(s, z, false)) / subUnits
			}
			if part := radius / last; last > 0 && (part < least || part > 2.1) {
				t.Errorf("zoom %d, %v km²: the radius is %.1f pixels, and %.1f at the zoom before", z, area, radius, last)
			}
			last = radius
		}
	}
}

// TestHighIsNotTheSmallest draws a lake of each class with a low one 4 pixels away: from zoom 8 on the high one is larger, in the field, in the waters above it and
// in the style Lakes.
func TestHighIsNotTheSmallest(t *testing.T) {
	for z, least := range map[maptile.Zoom]float64{7: 2.1, 8: 2.6, 9: 3.1, 10: 3.1} { // pixels
		radii := map[float64]float64{}
		for _, chl := range []float64{2, 20, 120} {
			l, w := pair(z, 4, chl, 2)
			for i := range l.sites {
				if v := l.value(i); v.Float() == chl {
					radii[chl] = l.sites[i].size(z, l.isHigh(v)).discRadius(z)
					if z >= fadeZoom {
						radii[chl] = float64(newWaters().aboveField().radius(&l.sites[i], z, l.isHigh(v))) / subUnits
					}
				}
			}
			p := pictureOf(l, w)
			if got := p.shares(); chl > 50 && z >= raisedZoom && got[upperClasses] < 50 {
				t.Errorf("zoom %d: %.0f %% of the pixels are high, want at least half", z, got[upperClasses])
			}
		}
		if radii[120] < least || radii[2] != radii[20] || z >= raisedZoom && radii[120] <= radii[2] {
			t.Errorf("zoom %d: the radius of the high one is %.2f pixels, want %v or more; all: %v", z, radii[120], least, radii)
		}
	}
	l, _ := pair(8, 4, 120, 2)
	waters := newWaters()
	if high, low := waters.radius(&l.sites[0], 8, true), waters.radius(&l.sites[0], 8, false); high <= low {
		t.Errorf("in the style Lakes the radius of the high one is %d units, and that of the low one %d", high, low)
	}
}

// TestFieldBecomesWaters draws a disc and an outline from zoom 9 to 12: their middle becomes more opaque by small steps, the line around them stands out more and more, and
// the glow beyond the water becomes less.
func TestFieldBecomesWaters(t *testing.T) {
	for _, side := range []float64{0, 40} {
		var opaque, contrast, beyond []float64
		for z := maptile.Zoom(fadeZoom - 1); z <= waterZoom; z++ {
			lake, w := square(z, side, 1)
			radius := side / 2
			if side == 0 {
				lake.outline, radius, lake.areaKM2 = nil, size(lone).discRadius(z), 0.001
			}
			l, palette := layerOfShores(t, lake), paletteOf(colormap.Default, Heat, z)
			pixels, middle, darkest, glow := paint(l, w, Heat), palette[0], 1.0, 0.0
			middle = palette[pixels[w.height/2*w.width+w.width/2]]
			on := func(c color.NRGBA) float64 { return labOf(mixed(c, whiteColor, int(c.A), 0xff)).l }
			for i, e := range pixels {
				c := palette[e]
				away := max(math.Abs(float64(i%w.width)+0.5-32), math.Abs(float64(i/w.width)+0.5-32)) - radius
				darkest = min(darkest, on(c)/on(middle))
				if c.R != 0xff && away > 0.5 {
					glow += float64(c.A)
				}
			}
			opaque, contrast, beyond = append(opaque, float64(middle.A)/0xff), append(contrast, 1-darkest), append(beyond, glow)
		}
		t.Logf("%v pixels wide: opacity %.2f, line %.2f, glow %.0f", side, opaque, contrast, beyond)
		for i := 1; i < len(opaque); i++ {
			if step := opaque[i] - opaque[i-1]; step < 0.03 || step > 0.06 {
				t.Errorf("%v pixels wide: the opacities of zoom 9 to 12 are %.2f, want equal steps", side, opaque)
			}
			if step := contrast[i] - contrast[i-1]; step < 0.02 || step > 0.4 {
				t.Errorf("%v pixels wide: the line of zoom 9 to 12 is darker than the water by %.2f of its lightness, want steps", side, contrast)
			}
			if beyond[i] >= beyond[i-1] {
				t.Errorf("%v pixels wide: the glow of zoom 9 to 12 is %.0f, want less at each", side, beyond)
			}
		}
	}
}
