package legend

import (
	"strings"
	"testing"

	"limnomap/colormap"
	"limnomap/render/symbol"
)

// TestForecastLegend requires all that a reader of the map of a forecast must know, in the picture and for screen readers, at the narrowest and
// at a wide width, with lines of the hatching that stay within the bar and the swatches.
func TestForecastLegend(t *testing.T) {
	m := colormap.NewForecast(who2003())
	for _, width := range []int{MinWidth, 320, 1024} {
		for _, test := range []struct {
			look symbol.Look
			size string
		}{{symbol.Look{}, "Discs are small where lakes are dense"}, {symbol.Look{Kind: symbol.Waters}, ""}} {
			body, err := SVG(m, test.look, width)
			if err != nil {
				t.Fatal(err)
			}
			p := parseSVG(t, body)
			for _, want := range []string{
				"Forecast: chance of medium or high risk", "Probability that chlorophyll-a reaches 10 µg/l (WHO 2003)", "0 %", "20", "50", "100 %",
				"below 10 %", "10 to below 20 %", "20 to below 50 %", "50 to below 80 %", "80 % or more", "Grey: withheld or no forecast", test.size, "A statistical forecast from each lake's earlier values, not a measurement.",
			} {
				if !strings.Contains(p.words, want) {
					t.Errorf("width %d: the legend has no %q: %s", width, want, p.words)
				}
			}
			for _, want := range []string{"Hatched", "from 0 to 100 %", "Grey: withheld or no forecast", "not a measurement"} {
				if !strings.Contains(p.desc, want) {
					t.Errorf("width %d: the description has no %q: %s", width, want, p.desc)
				}
			}
			if lines := int(p.width) / symbol.ForecastHatching; len(p.symbols) < lines {
				t.Errorf("width %d: %d lines of the hatching, want at least %d", width, len(p.symbols), lines)
			}
			for _, s := range p.symbols {
				if s.left < pad || s.right > p.width-pad || s.top < 0 || s.bottom > p.height-pad || s.right <= s.left {
					t.Errorf("width %d: a line of the hatching is from %v to %v, outside of the bar and the swatches", width, s.left, s.right)
				}
				for _, text := range p.texts {
					if s.overlaps(text) {
						t.Errorf("width %d: %q overlaps the hatching", width, text.name)
					}
				}
			}
		}
	}
}

// TestForecastLegendIsApart requires that the legends of values do not mention forecasts.
func TestForecastLegendIsApart(t *testing.T) {
	body, err := SVG(newMap(t, colormap.Default, who2003()), symbol.Look{}, 320)
	if err != nil {
		t.Fatal(err)
	}
	if p := parseSVG(t, body); strings.Contains(strings.ToLower(p.words+p.desc), "forecast") {
		t.Errorf("the legend of values mentions a forecast: %s", p.words)
	}
}
