package colormap

import (
	"encoding/json"
	"errors"
	"fmt"
	"image/color"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// profiles returns the limits of the three profiles of package data.
func profiles() []Limits {
	return []Limits{
		{Level1: 10, Level2: 50, Title: "WHO 2003"},
		{Level1: 12, Level2: 24, Above: true, Title: "WHO 2021"},
		{Level1: 15, Level2: 75, Title: "UBA 2015"},
	}
}

func newMap(t testing.TB, id ID, l Limits) *Map {
	t.Helper()
	m, err := New(id, l)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// class returns the class of step i.
func class(m *Map, i int) int {
	for c := classes - 1; c > 0; c-- {
		if i >= m.scale.first[c] {
			return c
		}
	}
	return 0
}

// level classifies hundredths of a µg/l with integers, independently of the map.
func level(l Limits, hundredths int) int {
	n := 0
	for _, limit := range []float64{l.Level1, l.Level2} {
		switch at := int(math.Round(limit * 100)); {
		case hundredths > at, hundredths == at && !l.Above:
			n++
		}
	}
	return n
}

func parseHex(t testing.TB, s string) color.NRGBA {
	t.Helper()
	c := color.NRGBA{A: 0xff}
	if _, err := fmt.Sscanf(s, "#%02x%02x%02x", &c.R, &c.G, &c.B); err != nil || len(s) != 7 {
		t.Fatalf("%q is not #rrggbb: %v", s, err)
	}
	return c
}

// TestEveryStoredValue checks all values that can be stored, 0 to 1500.00 in hundredths: steps never decrease, never
// contradict the class, and agree with Threshold, Table and Color.
func TestEveryStoredValue(t *testing.T) {
	for _, id := range IDs() {
		for _, limits := range profiles() {
			m := newMap(t, id, limits)
			table, last := m.Table(), 0
			for h := range 1500_00 + 1 {
				chl := float64(h) / 100
				i := m.Index(chl)
				if i < last || i > last+1 {
					t.Fatalf("%s, %s: Index(%.2f) = %d after %d", id, limits.Title, chl, i, last)
				}
				if got, want := class(m, i), level(limits, h); got != want {
					t.Fatalf("%s, %s: %.2f has a colour of class %d, want %d", id, limits.Title, chl, got, want)
				}
				if i > 0 && chl < m.Threshold(i) || i+1 < Steps && chl >= m.Threshold(i+1) {
					t.Fatalf("%s, %s: Index(%.2f) = %d contradicts Threshold", id, limits.Title, chl, i)
				}
				if m.Color(chl) != table[i] {
					t.Fatalf("%s, %s: Color(%.2f) = %v, want %v", id, limits.Title, chl, m.Color(chl), table[i])
				}
				last = i
			}
			if last != Steps-1 {
				t.Errorf("%s, %s: Index(1500) = %d, want %d", id, limits.Title, last, Steps-1)
			}
		}
	}
}

// TestAnyLimits checks the same for random limits.
func TestAnyLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		level1 := rapid.IntRange(1_50, 70_00).Draw(t, "level1")
		level2 := rapid.IntRange(level1*5/4, 95_00).Draw(t, "level2")
		limits := Limits{Level1: float64(level1) / 100, Level2: float64(level2) / 100, Above: rapid.Bool().Draw(t, "above")}
		m, err := New(rapid.SampledFrom(IDs()).Draw(t, "id"), limits)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range []int{level1 - 1, level1, level1 + 1, level2 - 1, level2, level2 + 1,
			rapid.IntRange(0, 1500_00).Draw(t, "hundredths")} {
			if got, want := class(m, m.Index(float64(h)/100)), level(limits, h); got != want {
				t.Fatalf("%.2f has a colour of class %d, want %d", float64(h)/100, got, want)
			}
		}
		i := rapid.IntRange(1, Steps-1).Draw(t, "step")
		threshold := m.Threshold(i)
		if got := m.Index(threshold); got != i {
			t.Fatalf("Index(Threshold(%d)) = %d", i, got)
		}
		if got := m.Index(math.Nextafter(threshold, 0)); got != i-1 {
			t.Fatalf("Index(just below Threshold(%d)) = %d", i, got)
		}
	})
}

func TestNoValueNeverLooksClean(t *testing.T) {
	for _, id := range IDs() {
		m := newMap(t, id, profiles()[0])
		for _, chl := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -0.01, -1} {
			if i, c := m.Index(chl), m.Color(chl); i != -1 || c != NoData() {
				t.Errorf("%s: Index(%v) = %d, Color = %s, want -1, %s", id, chl, i, Hex(c), Hex(NoData()))
			}
		}
		for _, chl := range []float64{0, math.Copysign(0, -1), 0.5, 1} {
			if i := m.Index(chl); i != 0 {
				t.Errorf("%s: Index(%v) = %d, want 0", id, chl, i)
			}
		}
	}
}

func TestNewErrors(t *testing.T) {
	good := profiles()[0]
	for _, test := range []struct {
		name    string
		id      ID
		limits  Limits
		is      error
		message string
	}{
		{"unknown map", "jet", good, ErrUnknown, `"jet": allowed are limno, viridis, cividis, algae`},
		{"removed map", "lightness", good, ErrUnknown, `"lightness": allowed are limno,`},
		{"no map", "", good, ErrUnknown, `""`},
		{"no limits", Default, Limits{}, ErrLimits, "0 and 0 µg/l"},
		{"limits fall", Default, Limits{Level1: 50, Level2: 10}, ErrLimits, "50 and 10"},
		{"limit beyond the scale", "algae", Limits{Level1: 10, Level2: 100}, ErrLimits, "between 1 and 100"},
		{"limit is NaN", Default, Limits{Level1: math.NaN(), Level2: 50}, ErrLimits, "NaN"},
		{"limits too close", Default, Limits{Level1: 10, Level2: 10.02}, ErrLimits, "too narrow"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := New(test.id, test.limits)
			if m != nil || !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.message) {
				t.Errorf("New(%q, %v) = %v, %v, want the error %q with the message %s", test.id, test.limits, m, err, test.is, test.message)
			}
		})
	}
}

func TestThresholdPanics(t *testing.T) {
	m := newMap(t, Default, profiles()[0])
	for _, i := range []int{-1, 0, Steps} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Threshold(%d) does not panic", i)
				}
			}()
			m.Threshold(i)
		}()
	}
}

func TestSharesOfTheProfiles(t *testing.T) {
	for i, want := range [][classes + 1]int{{0, 16, 27, 32}, {0, 17, 22, 32}, {0, 17, 28, 32}} {
		limits := profiles()[i]
		if got := newMap(t, Default, limits).scale.first; got != want {
			t.Errorf("%s: classes begin at steps %v, want %v", limits.Title, got, want)
		}
	}
}

func ExampleMap_Color() {
	m, err := New(Default, Limits{Level1: 10, Level2: 50})
	if err != nil {
		panic(err)
	}
	for _, chl := range []float64{0.4, 9.99, 10, 50, math.NaN()} {
		fmt.Println(chl, Hex(m.Color(chl)))
	}
	// Output:
	// 0.4 #3de5ff
	// 9.99 #52c5ff
	// 10 #de9d2f
	// 50 #c61d45
	// NaN #9aa0a6
}

// A legend says whose words its classes are, and has the profile's own words apart.
func TestGuidance(t *testing.T) {
	limits := Limits{Level1: 10, Level2: 50, Title: "WHO 2003", Cells: [2]float64{20_000, 100_000}, Words: [3]string{"a", "b", "c"}}
	l := newMap(t, Default, limits).Legend()
	content, err := json.Marshal(l.Guidance)
	const want = `[{"level":1,"chlorophyll":10,"cells":20000,"words":"a"},{"level":2,"chlorophyll":50,"cells":100000,"words":"b"},{"level":3,"chlorophyll":null,"cells":null,"words":"c"}]`
	if err != nil || string(content) != want {
		t.Errorf("the guidance is %s, %v, want %s", content, err, want)
	}
	if !strings.Contains(l.Scheme, "WHO 2003 says") {
		t.Errorf("the scheme is %q", l.Scheme)
	}
	for title, want := range map[string]string{"WHO 2021": "at the limits of WHO 2021.", "": ""} {
		l := newMap(t, Default, Limits{Level1: 12, Level2: 24, Title: title}).Legend()
		if l.Guidance != nil || !strings.HasSuffix(l.Scheme, want) || (l.Scheme == "") != (want == "") {
			t.Errorf("%q: the scheme is %q, with %v", title, l.Scheme, l.Guidance)
		}
	}
}
