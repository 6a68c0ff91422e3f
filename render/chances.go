package render

import (
	"math"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/render/palettepng"
	"limnomap/render/symbol"
)

// ForecastStyles returns the styles of layers of probabilities, the default first. Dots is none of them: its shapes tell the class of a value.
func ForecastStyles() []Style {
	return []Style{
		{Heat, "Forecast as a heat map", "The probability as a hatched surface: the colour is the probability, the opacity tells how near a lake is. From zoom 10 " +
			"on it fades, and the hatched waters of the lakes take over. Lakes without a forecast leave no trace.", symbol.Look{}},
		{Lakes, "Forecast by waters", "Each lake's water in the colour of its probability, hatched; grey, hatched the other way, without a forecast.",
			symbol.Look{Kind: symbol.Waters}},
	}
}

// The hatchings of waters without a value, and of all that shows a probability: they cross, and differ in width and slope. The lines of the second
// are 14 pixels apart, so that they do not hide the shapes of small zooms. The smallest discs have none: there the colour tells.
var (
	hollowHatching = hatching{rising: true, period: symbol.Hatching, width: 1, run: 1}
	chanceHatching = hatching{period: symbol.ForecastHatching, width: symbol.ForecastLine, run: symbol.ForecastRun}
)

// chanceInks are the inks of probabilities by colour. Their lines have the entries that old values have elsewhere.
var chanceInks = newChanceInks()

func newChanceInks() (inks [colormap.Steps]ink) {
	for i := range inks {
		inks[i] = valueInks[i][0]
		inks[i].hatched, inks[i].stripe = &chanceHatching, oldEntry+uint8(i)
	}
	return inks
}

// newChances returns what probabilities are drawn with. The field has the kernels of that of values.
func newChances(values *heat, limits colormap.Limits) drawing {
	m := colormap.NewForecast(limits)
	field := *values
	field.logs = newLogTable(m)
	d := drawing{
		styles: map[StyleID]*style{
			Heat:  heatStyle(&field, true),
			Lakes: {painter: field.waters, byExtent: true, sites: (*Layer).forMarkers, palette: markPalette},
		},
		logs: field.logs,
	}
	s := newScale(m, d.logs)
	s.hatches = newHatches(s.shading, newShading(m, &fadedRange))
	c := d.newColors(m, s)
	for _, p := range []*palettepng.Palette{c.palettes[Lakes], c.faded} {
		for i := range m.Table() {
			p[oldEntry+i].A = symbol.ForecastAlpha
		}
	}
	d.colors = map[colormap.ID]colors{m.ID: c}
	return d
}

// chance returns the probability of a site as a value.
func (l *Layer) chance(site int) value {
	p, ok := l.week.Chance(int(l.lakes[site]))
	if !ok {
		return value{Chlorophyll: data.NoChlorophyll}
	}
	c := data.Chlorophyll(math.Round(100 * colormap.OfProbability(min(max(p, 0), 1))))
	return value{Chlorophyll: c, log: l.logs.of(c)}
}
