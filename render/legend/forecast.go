package legend

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	"limnomap/colormap"
	"limnomap/render/picture"
	"limnomap/render/symbol"
)

// forecastCell is the height of an entry of the legend of a forecast.
const forecastCell = 26.0

// newForecastLayout returns the layout of the legend of probabilities. Its colours are hatched as on the map.
func (w *Words) newForecastLayout(m *colormap.Map, look symbol.Look, width int, f *picture.Fonts) *layout {
	l := w.ForecastLegend(m)
	s := &layout{width: float64(width), title: l.Title, desc: w.forecastDescription(l, look)}
	length := s.width - 2*pad

	y := pad
	// Bold text is up to a tenth wider than wrap takes it for.
	for _, line := range f.Wrap(l.Title, titleSize*1.1, length, false) {
		y += titleSize + 1
		s.text(pad, y, titleSize, 0, true, inkColor(), line)
	}
	what := capital(l.Quantity)
	if l.Profile != "" {
		what += " (" + l.Profile + ")"
	}
	for _, line := range f.Wrap(what, textSize, length, false) {
		y += noteLine
		s.text(pad, y, textSize, 0, false, paleColor(), line)
	}
	y = s.percentAxis(l, y+10, f)
	y = s.forecastCells(l, fill(w.Forecast.Absent, "look", w.Forecast.Grey, "label", l.NoData.Label), look, y+10, f)
	y = s.notes(y, f, w.sizeOf(look), l.Note)
	s.height = math.Ceil(y + pad)
	return s
}

// forecastDescription returns the contents of the picture as text.
func (w *Words) forecastDescription(l colormap.ForecastLegend, look symbol.Look) string {
	var labels []string
	for _, c := range l.Classes {
		labels = append(labels, c.Label)
	}
	return fill(w.Forecast.Description, "min", w.number(l.Min), "max", w.number(l.Max), "quantity", l.Quantity,
		"classes", strings.Join(labels, ", "), "absent", w.Forecast.Grey, "label", l.NoData.Label, "note", l.Note)
}

// percentAxis adds the colours and their labels below y, and returns where they end.
func (s *layout) percentAxis(l colormap.ForecastLegend, y float64, f *picture.Fonts) float64 {
	length := s.width - 2*pad
	at := func(percent float64) float64 { return math.Round(pad + length*percent/l.Max) }
	s.bar(l.Steps, l.Min, l.Max, y, at)
	s.hatchedChance(pad, y, length, barHeight)
	bottom := y + barHeight
	baseline := bottom + tickLength + textSize + 1
	// The most important first: the ends, and where the field has other classes.
	var taken spans
	froms := []float64{l.Min, l.Max}
	for _, i := range []int{2, 3, 1, 4} {
		froms = append(froms, l.Classes[i].From)
	}
	for i, percent := range froms {
		text := fmt.Sprintf("%v", percent)
		if i < 2 {
			text += " " + l.Unit
		}
		x := at(percent)
		s.rect(min(x, s.width-pad-1), bottom, 1, tickLength, inkColor())
		half := f.Width(text, textSize, i >= 2) / 2
		x = min(max(x, pad/2+half), s.width-pad/2-half) // the label stays off the edge
		if taken.take(x, half) {
			s.text(x, baseline, textSize, 0.5, i >= 2, inkColor(), text)
		}
	}
	return baseline
}

// forecastCells adds an entry for each class and one for lakes without a forecast below y, and returns where they end.
func (s *layout) forecastCells(l colormap.ForecastLegend, absent string, look symbol.Look, y float64, f *picture.Fonts) float64 {
	const height = forecastCell - 8
	columns, widest := 1, cellWidth
	for _, c := range l.Classes {
		widest = max(widest, swatchWidth+2*textGap+f.Width(c.Label, wordSize, true))
	}
	if s.width-2*pad >= 2*widest {
		columns = 2
	}
	column := math.Floor((s.width - 2*pad) / float64(columns))
	for i, c := range l.Classes {
		x, top := pad+float64(i%columns)*column, y+float64(i/columns)*forecastCell
		n := float64(len(c.Colors))
		for k, hex := range c.Colors { // the lowest at the bottom
			from, to := math.Round(height*float64(k)/n), math.Round(height*float64(k+1)/n)
			s.rect(x, top+height-to, swatchWidth, to-from, parseHex(hex))
		}
		s.hatchedChance(x, top, swatchWidth, height)
		s.text(x+swatchWidth+textGap, top+13, wordSize, 0, true, inkColor(), c.Label)
	}
	y += float64((len(l.Classes)+columns-1)/columns) * forecastCell
	if look.Kind == symbol.Waters {
		s.hatched(pad, y, swatchWidth, height)
	} else {
		s.rect(pad, y, swatchWidth, height, colormap.NoData())
		s.rect(pad+1, y+1, swatchWidth-2, height-2, symbol.OnWhite(colormap.NoData(), symbol.HollowAlpha))
	}
	lines := f.Wrap(absent, textSize, s.width-2*pad-swatchWidth-textGap, false)
	for k, line := range lines {
		s.text(pad+swatchWidth+textGap, y+13+entryLine*float64(k), textSize, 0, false, inkColor(), line)
	}
	return y + max(forecastCell, entryLine*float64(len(lines))+entryGap)
}

// hatchedChance hatches an area as the map hatches probabilities.
func (s *layout) hatchedChance(x, y, w, h float64) {
	paper := symbol.WhiteColor()
	paper.A = 0xff - symbol.ForecastAlpha
	for k := symbol.ForecastHatching * math.Ceil(-h/symbol.ForecastRun/symbol.ForecastHatching); k < w; k += symbol.ForecastHatching {
		// The points of the area where the column is from k to k+ForecastLine more than the row by ForecastRun.
		const run = symbol.ForecastRun
		begin := func(k float64) [2]float64 { return [2]float64{max(k, 0), max(-k*run, 0)} }
		end := func(k float64) [2]float64 { return [2]float64{min(k+h/run, w), min((w-k)*run, h)} }
		to := min(k+symbol.ForecastLine, w)
		line := symbol.Shape{Paint: symbol.White, Corners: [][2]float64{begin(k), begin(to), end(to), end(k)}}
		s.shapes = append(s.shapes, shape{line, x, y, color.NRGBA(paper)})
	}
}
