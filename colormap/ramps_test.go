package colormap

import (
	"fmt"
	"image/color"
	"math"
	"testing"
)

// defaultMaps returns the default map, which has a hue for each class, fitted to each profile.
func defaultMaps(t *testing.T) (maps []*Map) {
	for _, limits := range profiles() {
		maps = append(maps, newMap(t, Default, limits))
	}
	return maps
}

// TestDistances compares every colour with the grey of no data, and with every colour of the other classes: no shade of low may
// be mistaken for no data, or for a shade of medium or high. It logs the smallest distances:
// go test -v -run TestDistances ./colormap
func TestDistances(t *testing.T) {
	// CIE76, in which 2.3 is just noticeable: from no data with normal and with deficient vision, and between classes.
	type bounds struct{ noData, classes float64 }
	// By kind of vision: of limno as large as before its lightness fell with every value. Of all other maps the same, of which the
	// distance to no data is 20 with normal vision.
	limno := map[string]bounds{"normal": {33, 56}, "protanopia": {26, 58}, "deuteranopia": {26, 36}, "tritanopia": {41, 38}}
	others := map[string]bounds{"normal": {20, 15}, "protanopia": {15, 15}, "deuteranopia": {15, 15}, "tritanopia": {15, 15}}
	for _, id := range IDs() {
		for _, limits := range profiles() {
			m, wanted := newMap(t, id, limits), others
			if id == Default {
				wanted = limno
			}
			row := fmt.Sprintf("%-9s %s:", id, limits.Title)
			for _, v := range visions() {
				noData, between := math.Inf(1), math.Inf(1)
				for i, c := range m.table {
					noData = min(noData, cie76(v.see(c), v.see(NoData())))
					for _, other := range m.table[:m.scale.first[class(m, i)]] {
						between = min(between, cie76(v.see(c), v.see(other)))
					}
				}
				row += fmt.Sprintf("  %s %4.1f to no data, %4.1f between classes", v.name, noData, between)
				want := wanted[v.name]
				if noData < want.noData || between < want.classes {
					t.Errorf("%s, %s, %s: a colour is %.1f from the grey of no data, want %v or more; classes differ by %.1f, want %v or more",
						id, limits.Title, v.name, noData, want.noData, between, want.classes)
				}
			}
			t.Log(row)
		}
	}
}

// TestClassColorsDiffer requires the differences between the colours of the classes that the anchors of domain.md have.
func TestClassColorsDiffer(t *testing.T) {
	const smallest = 40
	for _, m := range defaultMaps(t) {
		classes := m.Legend().Classes
		for _, v := range visions() {
			for i, p := range classes {
				for _, q := range classes[:i] {
					if d := cie76(v.see(parseHex(t, p.Color)), v.see(parseHex(t, q.Color))); d < smallest {
						t.Errorf("%s, %s, %s: %s (%s) and %s (%s) differ by %.1f, want %d or more",
							m.ID, m.limits.Title, v.name, q.Color, q.Risk, p.Color, p.Risk, d, smallest)
					}
				}
			}
		}
	}
}

// TestStandsOut compares every colour of the maps with a hue for each class with their backgrounds: white, and the dark grey and near black of
// dark basemaps, on which the worst class must not be the faintest; and the pale blue of other waters.
func TestStandsOut(t *testing.T) {
	normal := visions()[0]
	for _, ground := range []struct {
		colors   []color.NRGBA
		smallest [classes]float64 // CIE76
	}{
		{hexes(0xffffff), [classes]float64{30, 30, 30}},
		{hexes(0x2b2b2b, 0x0e0e0e), [classes]float64{30, 30, 55}},
		{hexes(0xaad3df), [classes]float64{15, 15, 15}}, // waters of usual street maps
	} {
		for _, g := range ground.colors {
			for _, m := range defaultMaps(t) {
				for i, c := range m.table {
					want := ground.smallest[class(m, i)]
					if d := cie76(normal.see(c), normal.see(g)); d < want {
						t.Errorf("%s, %s: step %d, %s, differs by %.1f from %s, want %.0f or more",
							m.ID, m.limits.Title, i, Hex(c), d, Hex(g), want)
					}
				}
			}
		}
	}
}

// TestOrder checks lightness, which a grey print, a photocopy or a screen in the sun shows: it changes in one direction in every map, and more
// at each limit. In limno and algae more is darker.
func TestOrder(t *testing.T) {
	normal := visions()[0]
	for _, id := range IDs() {
		for _, limits := range profiles() {
			m := newMap(t, id, limits)
			sign := 1.0
			if id == Default || id == "algae" {
				sign = -1
			}
			for i := 1; i < Steps; i++ {
				smallest := 0.01
				if id == Default {
					smallest = 0.5
				}
				if class(m, i) != class(m, i-1) {
					smallest = 6
				}
				if p, q := normal.see(m.table[i-1]), normal.see(m.table[i]); sign*(q.l-p.l) < smallest {
					t.Errorf("%s, %s: lightness goes from %.2f to %.2f at step %d, want a difference of %v or more",
						id, limits.Title, p.l, q.l, i, smallest)
				}
			}
		}
	}
}

func TestHues(t *testing.T) {
	// Degrees in CIELAB: blue, amber, red, far from each other and from green, which a deuteranope cannot identify.
	allowed := [classes][2]float64{{205, 250}, {50, 100}, {0, 45}}
	for _, m := range defaultMaps(t) {
		for i, c := range m.table {
			p := visions()[0].see(c)
			hue := math.Atan2(p.b, p.a) * 180 / math.Pi
			if hue < 0 {
				hue += 360
			}
			if a := allowed[class(m, i)]; hue < a[0] || hue > a[1] || p.chroma() < 20 {
				t.Errorf("%s, %s: step %d, %s: hue %.0f, chroma %.0f, want hue %v and chroma 20 or more",
					m.ID, m.limits.Title, i, Hex(c), hue, p.chroma(), a)
			}
		}
	}
}

// TestEnds compares the ends of each map with its anchors or its published table.
func TestEnds(t *testing.T) {
	for _, test := range []struct {
		id          ID
		first, last string
	}{
		{Default, "#3de5ff", "#b10735"},
		{"viridis", "#440154", "#fde725"},
		{"cividis", "#00204d", "#ffea46"},
		{"algae", "#d6f9cf", "#19442c"},
	} {
		table := newMap(t, test.id, profiles()[0]).Table()
		if first, last := Hex(table[0]), Hex(table[Steps-1]); first != test.first || last != test.last {
			t.Errorf("%s runs from %s to %s, want %s to %s", test.id, first, last, test.first, test.last)
		}
	}
}

func TestOKLabRoundTrip(t *testing.T) {
	for v := range 1 << 12 {
		c := color.NRGBA{uint8(v>>8) * 17, uint8(v>>4&15) * 17, uint8(v&15) * 17, 0xff}
		if got := toOKLab(c).nrgba(); got != c {
			t.Fatalf("%s through OKLab = %s", Hex(c), Hex(got))
		}
	}
}

// TestOKLab compares with the table in Ottosson's article, where CIE XYZ 0.950 1.000 1.089 (white) is 1, 0, 0.
func TestOKLab(t *testing.T) {
	white := toOKLab(color.NRGBA{0xff, 0xff, 0xff, 0xff})
	if math.Abs(white.l-1) > 1e-6 || math.Abs(white.a) > 1e-6 || math.Abs(white.b) > 1e-6 {
		t.Errorf("white = %v, want 1, 0, 0", white)
	}
}
