package colormap

import (
	"image/color"
	"math"
	"testing"
)

// TestClassesDiffer compares every colour of a class with every colour of the other classes: no shade of low may be mistaken
// for a shade of medium or high, by normal and by colour-blind readers.
func TestClassesDiffer(t *testing.T) {
	// CIE76; a dozen just noticeable differences (2.3). Measured: 30 for a deuteranope, 38 and more for others.
	const smallest = 28.0
	for _, limits := range profiles() {
		m := newMap(t, Default, limits)
		for _, v := range visions() {
			t.Run(limits.Title+"/"+v.name, func(t *testing.T) {
				least := math.Inf(1)
				for i, p := range m.table {
					for j, q := range m.table[:i] {
						if class(m, i) == class(m, j) {
							continue
						}
						d := cie76(v.see(p), v.see(q))
						least = min(least, d)
						if d < smallest {
							t.Errorf("%s and %s, steps %d and %d of different classes, differ by %.1f, want %.0f or more",
								Hex(q), Hex(p), j, i, d, smallest)
						}
					}
				}
				t.Logf("smallest difference between classes: %.1f", least)
			})
		}
	}
}

// TestClassColorsDiffer requires the differences between the colours of the classes that the anchors of domain.md have.
func TestClassColorsDiffer(t *testing.T) {
	const smallest = 40.0
	for _, limits := range profiles() {
		classes := newMap(t, Default, limits).Legend().Classes
		for _, v := range visions() {
			for i, p := range classes {
				for _, q := range classes[:i] {
					if d := cie76(v.see(parseHex(t, p.Color)), v.see(parseHex(t, q.Color))); d < smallest {
						t.Errorf("%s, %s: %s (%s) and %s (%s) differ by %.1f, want %.0f or more",
							limits.Title, v.name, q.Color, q.Risk, p.Color, p.Risk, d, smallest)
					}
				}
			}
		}
	}
}

// TestNothingElseIsGrey compares every colour with the grey of no data. In the default map no reader may mistake one for the
// other; in the published maps some colours are closer for a dichromat.
func TestNothingElseIsGrey(t *testing.T) {
	for _, id := range IDs() {
		for _, limits := range profiles() {
			m := newMap(t, id, limits)
			for _, v := range visions() {
				smallest := 12.0
				if id != Default && v.name != "normal" {
					smallest = 8
				}
				for i, c := range m.table {
					if d := cie76(v.see(c), v.see(NoData())); d < smallest {
						t.Errorf("%s, %s, %s: step %d, %s, is %.1f from the grey of no data, want %.0f or more",
							id, limits.Title, v.name, i, Hex(c), d, smallest)
					}
				}
			}
		}
	}
}

// TestStandsOut compares every colour of the default map with its backgrounds: white, and the dark grey and near black of
// dark basemaps, on which the worst class must not be the faintest.
func TestStandsOut(t *testing.T) {
	normal := visions()[0]
	for _, ground := range []struct {
		colors   []color.NRGBA
		smallest [classes]float64 // CIE76
	}{
		{hexes(0xffffff), [classes]float64{30, 30, 30}},
		{hexes(0x2b2b2b, 0x0e0e0e), [classes]float64{30, 30, 50}},
	} {
		for _, g := range ground.colors {
			for _, limits := range profiles() {
				m := newMap(t, Default, limits)
				for i, c := range m.table {
					want := ground.smallest[class(m, i)]
					if d := cie76(normal.see(c), normal.see(g)); d < want {
						t.Errorf("%s: step %d, %s, differs by %.1f from %s, want %.0f or more",
							limits.Title, i, Hex(c), d, Hex(g), want)
					}
				}
			}
		}
	}
}

// TestOrder checks lightness: in the smooth maps it changes in one direction, in the default map each class becomes
// darker (TestHues checks the hues).
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
				p, q := normal.see(m.table[i-1]), normal.see(m.table[i])
				if id == Default && class(m, i) != class(m, i-1) {
					continue
				}
				if sign*(q.l-p.l) <= 0 {
					t.Errorf("%s, %s: lightness goes from %.2f to %.2f at step %d", id, limits.Title, p.l, q.l, i)
				}
			}
		}
	}
}

func TestHues(t *testing.T) {
	// Degrees in CIELAB: blue, amber, red, far from each other and from green, which a deuteranope cannot identify.
	allowed := [classes][2]float64{{205, 250}, {50, 100}, {0, 45}}
	for _, limits := range profiles() {
		m := newMap(t, Default, limits)
		for i, c := range m.table {
			p := visions()[0].see(c)
			hue := math.Atan2(p.b, p.a) * 180 / math.Pi
			if hue < 0 {
				hue += 360
			}
			if a := allowed[class(m, i)]; hue < a[0] || hue > a[1] || p.chroma() < 20 {
				t.Errorf("%s: step %d, %s: hue %.0f, chroma %.0f, want hue %v and chroma 20 or more",
					limits.Title, i, Hex(c), hue, p.chroma(), a)
			}
		}
	}
}

// TestEnds compares the ends of each map with its published table.
func TestEnds(t *testing.T) {
	for _, test := range []struct {
		id          ID
		first, last string
	}{
		{Default, "#86d3e8", "#7a0519"},
		{"viridis", "#440154", "#fde725"},
		{"cividis", "#00204d", "#ffea46"},
		{"algae", "#d6f9cf", "#112414"},
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
