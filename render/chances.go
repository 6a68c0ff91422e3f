package render

import (
	"math"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/render/symbol"
)

// ForecastStyles returns the styles of layers of probabilities, the default first. Dots is none of them: its shapes tell the class of a value.
func ForecastStyles() []Style {
	return []Style{
		{Heat, "Forecast as a heat map", "The probability as soft violet discs, and large waters hatched: the colour is the probability, the opacity tells how near a lake is. " +
			"From zoom 10 on the discs fade, and the waters of the lakes take over. Lakes without a forecast are faintly grey.", symbol.Look{}},
		{Lakes, "Forecast by waters", "Each lake's water in the colour of its probability, large ones hatched; grey, hatched the other way, without a forecast.",
			symbol.Look{Kind: symbol.Waters}},
	}
}

// The hatchings of waters without a value, of those without a probability, and of those with one. The last two cross and differ in width; their lines are 14
// pixels apart, and only large outlines have them, see [mark.hatchable].
var (
	hollowHatching = hatching{rising: true, period: symbol.Hatching, width: 1, run: 1}
	absentHatching = hatching{rising: true, period: symbol.ForecastHatching, width: 1, run: symbol.ForecastRun}
	chanceHatching = hatching{period: symbol.ForecastHatching, width: symbol.ForecastLine, run: symbol.ForecastRun}
)

// newChances returns what probabilities are drawn with. The field has the kernels of that of values.
func newChances(values *heat, limits colormap.Limits) drawing {
	m := colormap.NewForecast(limits)
	field := *values
	field.logs = newLogTable(m)
	d := drawing{
		styles: map[StyleID]*style{
			Heat:  heatStyle(&field),
			Lakes: {painter: field.waters, byExtent: true, sites: (*Layer).forMarkers, palette: markPalette},
		},
		logs: field.logs,
	}
	s := newScale(m, d.logs)
	faint := faintOf(s.shading)
	s.faint, s.above.faint = &faint, &faint
	c := d.newColors(m, s)
	for _, p := range append(c.faded, c.palettes[Lakes]) {
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
