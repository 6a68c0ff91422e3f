package colormap

import (
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestForecastDiffers compares every colour of the forecast with every colour of limno, which the map has by default, and with the grey of
// no data, for all kinds of colour vision; and looks for it in all other maps.
func TestForecastDiffers(t *testing.T) {
	for _, limits := range profiles() {
		m := NewForecast(limits)
		values := newMap(t, Default, limits)
		for _, v := range visions() {
			fromValues, fromGrey := math.Inf(1), math.Inf(1)
			for _, c := range m.Table() {
				fromGrey = min(fromGrey, cie76(v.see(c), v.see(NoData())))
				for _, other := range values.Table() {
					fromValues = min(fromValues, cie76(v.see(c), v.see(other)))
				}
			}
			t.Logf("%s, %s: %.1f from limno, %.1f from no data", limits.Title, v.name, fromValues, fromGrey)
			if fromValues < 15 || fromGrey < 15 {
				t.Errorf("%s, %s: a colour is %.1f from one of limno, want 15; %.1f from no data, want 15", limits.Title, v.name, fromValues, fromGrey)
			}
		}
		for _, id := range IDs() {
			used := make(map[color.NRGBA]bool)
			for _, c := range newMap(t, id, limits).Table() {
				used[c] = true
			}
			for i, c := range m.Table() {
				if used[c] {
					t.Errorf("colour %d of the forecast, %s, is one of %s", i, Hex(c), id)
				}
			}
		}
	}
}

// TestForecastIsSequential requires of the classes that more is darker, and that neighbours can be told apart, for all kinds of colour vision.
func TestForecastIsSequential(t *testing.T) {
	bands := NewForecast(profiles()[0]).Bands()
	if len(bands) != 5 {
		t.Fatalf("%d classes, want 5", len(bands))
	}
	for _, v := range visions() {
		for i := 1; i < len(bands); i++ {
			a, b := v.see(bands[i-1][len(bands[i-1])-1]), v.see(bands[i][0])
			if d := cie76(a, b); b.l > a.l-5 || d < 13 {
				t.Errorf("%s: class %d has the lightness %.1f, want at least 5 less than %.1f of the one before; they differ by %.1f, want 13", v.name, i, b.l, a.l, d)
			}
		}
	}
}

// TestForecastOnMaps requires the same of the colours as a heat map shows them, over a white and a dark map, and that they differ from these.
func TestForecastOnMaps(t *testing.T) {
	const opacity = 0.86 // of the heat map where it is most opaque
	over := func(c, ground color.NRGBA) color.NRGBA {
		mix := func(a, b uint8) uint8 { return uint8(math.Round(opacity*float64(a) + (1-opacity)*float64(b))) }
		return color.NRGBA{mix(c.R, ground.R), mix(c.G, ground.G), mix(c.B, ground.B), 0xff}
	}
	bands := NewForecast(profiles()[0]).Bands()
	for _, ground := range []color.NRGBA{{0xff, 0xff, 0xff, 0xff}, {0x22, 0x26, 0x2b, 0xff}} {
		for _, v := range visions() {
			steps, contrast, falls := math.Inf(1), math.Inf(1), math.Inf(1)
			for i, band := range bands {
				seen := v.see(over(band[0], ground))
				contrast = min(contrast, cie76(seen, v.see(ground)))
				if i > 0 {
					before := v.see(over(bands[i-1][0], ground))
					steps, falls = min(steps, cie76(before, seen)), min(falls, before.l-seen.l)
				}
			}
			last := v.see(over(bands[len(bands)-1][0], ground)).l - v.see(ground).l
			t.Logf("%s on %s: neighbours differ by %.1f, in lightness by %.1f; all from the map by %.1f; the last one is lighter by %.1f", v.name, Hex(ground), steps, falls, contrast, last)
			least, lighter := 11.5, 13.0
			if v.name == "normal" {
				least, lighter = 12, 15
			}
			if steps < least || falls < 3 || contrast < 25 || last > 0 && last < lighter {
				t.Errorf("%s on %s: neighbours differ by %.1f, want %v, in lightness by %.1f, want 3; all from the map by %.1f, want 25; the last one is lighter by %.1f, want %v",
					v.name, Hex(ground), steps, least, falls, contrast, last, lighter)
			}
		}
	}
}

func TestForecastClasses(t *testing.T) {
	for _, limits := range profiles() {
		m := NewForecast(limits)
		for _, test := range []struct {
			p     float64
			class int
		}{{0, 0}, {0.05, 0}, {0.19, 0}, {0.2, 1}, {0.35, 1}, {0.495, 1}, {0.5, 2}, {0.75, 2}, {1, 2}} {
			// As it is drawn: in hundredths.
			v := math.Round(100*OfProbability(test.p)) / 100
			if got := class(m, m.Index(v)); got != test.class {
				t.Errorf("%s: the class of %v is %d, want %d", limits.Title, test.p, got, test.class)
			}
			if got := probabilityOf(OfProbability(test.p)); math.Abs(got-test.p) > 1e-12 {
				t.Errorf("probabilityOf(OfProbability(%v)) = %v", test.p, got)
			}
		}
		// A step is three or four in a hundred; rounding must not add one.
		for i := 1; i < Steps; i++ {
			if d := probabilityOf(m.Threshold(i)) - probabilityOf(max(m.scale.thresholds[i-1], scaleMin)); d < 0.02 || d > 0.05 {
				t.Errorf("%s: step %d is %.3f wide", limits.Title, i-1, d)
			}
		}
	}
}

func TestForecastLegend(t *testing.T) {
	for _, test := range []struct {
		limits Limits
		want   string
	}{
		{Limits{Level1: 10, Level2: 50, Title: "WHO 2003"}, "probability that chlorophyll-a reaches 10 µg/l"},
		{Limits{Level1: 12, Level2: 24, Above: true, Title: "WHO 2021"}, "probability that chlorophyll-a is above 12 µg/l"},
	} {
		l := NewForecast(test.limits).ForecastLegend()
		if l.Quantity != test.want || l.Limit != test.limits.Level1 || l.Profile != test.limits.Title {
			t.Errorf("legend of %+v has %q, %v and %q", test.limits, l.Quantity, l.Limit, l.Profile)
		}
		if l.Steps[0].From != nil || l.Steps[Steps-1].To != nil {
			t.Error("the first and the last step have no open end")
		}
		limits := 0
		for i := 1; i < Steps; i++ {
			from, before := *l.Steps[i].From, *l.Steps[i-1].To
			if from != before || i > 1 && from <= *l.Steps[i-1].From || from <= 0 || from >= 100 {
				t.Errorf("step %d begins at %v %%, and the one before ends at %v", i, from, before)
			}
			if slices.ContainsFunc(l.Classes, func(c ForecastClass) bool { return c.From == from }) {
				limits++
			}
		}
		if limits != 4 {
			t.Errorf("%d of the 4 limits between classes are between steps", limits)
		}
		n := 0
		var labels []string
		for _, c := range l.Classes {
			n += len(c.Colors)
			labels = append(labels, c.Label)
		}
		if got := strings.Join(labels, ", "); got != "below 10 %, 10 to below 20 %, 20 to below 50 %, 50 to below 80 %, 80 % or more" {
			t.Errorf("the classes are %s", got)
		}
		if n != Steps {
			t.Errorf("the classes have %d colours, want %d", n, Steps)
		}
	}
}
