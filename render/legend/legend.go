// Package legend draws the legend of a colour map as a PNG or an SVG picture: the scale with its colours, the classes, the
// grey of lakes without data, and the symbols that a style draws. Both formats draw the same layout. It holds no state and is safe for concurrent use.
// Callers may test for [ErrSize].
package legend

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"limnomap/colormap"
	"limnomap/render/picture"
	"limnomap/render/symbol"
)

// The allowed sizes: from the narrowest width that holds the words to that of a poster.
const (
	MinWidth, MaxWidth = 160, 1200
	MaxScale           = 4
)

// ErrSize is returned for a width or a scale out of range.
var ErrSize = errors.New("legend size")

// Lengths in pixels at scale 1. No text is smaller than 11, so that it is legible on a phone.
const (
	pad          = 12.0
	cornerRadius = 8.0
	titleSize    = 15.0
	textSize     = 12.0
	wordSize     = 13.0
	noteSize     = 11.0
	barHeight    = 16.0
	tickLength   = 4.0
	tickGap      = 5.0 // between two labels of the axis
	cellHeight   = 38.0
	cellWidth    = 144.0 // fits the longest English label of a class next to its swatch
	swatchWidth  = 18.0
	noteLine     = 15.0
	textGap      = 8.0 // between a swatch or a symbol and its text
	entryLine    = 15.0
	entryGap     = 8.0
)

// markerRadius is the radius of markers: that of zoom 10 in tiles, where a sign is as wide as a swatch.
const markerRadius = 5.0

// A textLine is one line of text; x is where its anchor lies and y its baseline.
type textLine struct {
	x, y, size float64
	anchor     float64 // 0 is the start of the text at x, 0.5 its middle, 1 its end
	bold       bool
	fill       color.NRGBA
	text       string
}

// A rectangle is a filled rectangle on whole pixels, so that neighbours meet without a seam.
type rectangle struct {
	x, y, w, h float64
	fill       color.NRGBA
}

// A shape is a part of a symbol whose middle is at x, y.
type shape struct {
	symbol.Shape
	x, y float64
	fill color.NRGBA
}

// A layout is what a legend shows and where. Both formats draw the same one, so they cannot differ.
type layout struct {
	width, height float64
	rects         []rectangle
	shapes        []shape // in the order of drawing
	texts         []textLine
	title, desc   string // for screen readers
}

// inkColor is the colour of the main text, paleColor that of the rest: a contrast of 7 to 1 on white (WCAG 2.2, AAA).
func inkColor() color.NRGBA  { return color.NRGBA{0x1b, 0x26, 0x33, 0xff} }
func paleColor() color.NRGBA { return color.NRGBA{0x43, 0x51, 0x60, 0xff} }

// paperColor is slightly translucent; edgeColor separates it from a white map.
func paperColor() color.NRGBA { return color.NRGBA{0xff, 0xff, 0xff, 0xf2} }
func edgeColor() color.NRGBA  { return color.NRGBA{0x1b, 0x26, 0x33, 0x40} }

// newLayout returns the layout of the legend of m and of symbols with that look.
func (w *Words) newLayout(m *colormap.Map, look symbol.Look, width int, f *picture.Fonts) (*layout, error) {
	if width < MinWidth || width > MaxWidth {
		return nil, fmt.Errorf("%w: width %d: allowed are %d to %d pixels", ErrSize, width, MinWidth, MaxWidth)
	}
	if m.ID == colormap.Forecast {
		return w.newForecastLayout(m, look, width, f), nil
	}
	l := w.Legend(m)
	look.Signs = w.SignsOf(look.Signs)
	s := &layout{width: float64(width), title: title(l), desc: w.description(l, look)}

	y := pad + titleSize
	s.text(pad, y, fitted(f, s.title, titleSize, s.width-1.5*pad, true), 0, true, inkColor(), s.title)
	if l.Profile != "" {
		// On the line of the title if it fits, else below it.
		profile := fill(w.Classes, "profile", l.Profile)
		if f.Width(s.title, titleSize, true)+f.Width(profile, textSize, false) < s.width-3*pad {
			s.text(s.width-pad, y, textSize, 1, false, paleColor(), profile)
		} else {
			y += textSize + 6
			s.text(pad, y, textSize, 0, false, paleColor(), profile)
		}
	}
	y = s.axis(l, w, y+10, f)
	y = s.classes(l, w, look.Kind, y+12, f)
	y = s.entries(w.entriesOf(l, look), y, f)
	y = s.notes(y, f, w.sizeOf(look), l.Note, l.Scheme)
	s.height = math.Ceil(y + pad)
	return s, nil
}

// sizeOf returns what the size of a disc means, if the style has discs whose size is by the density of lakes.
func (w *Words) sizeOf(look symbol.Look) string {
	if look.Kind == symbol.Field {
		return w.Size
	}
	return ""
}

// notes adds notes below y, without those that are empty, and returns where they end.
func (s *layout) notes(y float64, f *picture.Fonts, notes ...string) float64 {
	for _, note := range notes {
		if note == "" {
			continue
		}
		for _, line := range f.Wrap(note, noteSize, s.width-2*pad, false) {
			y += noteLine
			s.text(pad, y, noteSize, 0, false, paleColor(), line)
		}
	}
	return y
}

func title(l colormap.Legend) string {
	return capital(l.Quantity) + ", " + l.Unit
}

// capital returns text with its first letter as a capital.
func capital(text string) string {
	first, n := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[n:]
}

// description returns the contents of the picture as text.
func (w *Words) description(l colormap.Legend, look symbol.Look) string {
	parts := []string{fill(w.Description.Scale, "title", l.Title, "min", w.number(l.Min), "max", w.number(l.Max), "unit", l.Unit)}
	for _, c := range l.Classes {
		parts = append(parts, fill(w.Description.Class, "risk", capital(w.Risks[c.Risk]), "label", c.Label, "unit", l.Unit))
	}
	absent := w.Description.Field
	switch look.Kind {
	case symbol.Markers:
		absent = w.Description.Markers
	case symbol.Waters:
		absent = w.Description.Waters
	}
	parts = append(parts, fill(absent, "label", l.NoData.Label))
	if look.Kind == symbol.Markers {
		parts = append(parts, w.Cluster+".")
	}
	if look.Kind != symbol.Field {
		parts = append(parts, w.Old+".")
	}
	for _, sign := range look.Signs {
		parts = append(parts, fill(w.Description.Sign, "look", sign.Look, "label", sign.Label))
	}
	for _, note := range []string{w.sizeOf(look), l.Note, l.Scheme} {
		if note != "" {
			parts = append(parts, note)
		}
	}
	return strings.Join(parts, " ")
}

// fitted returns a size of text with which it is at most width wide, if noteSize or more is enough for that, and at most size.
func fitted(f *picture.Fonts, text string, size, width float64, bold bool) float64 {
	return min(size, max(noteSize, math.Floor(10*size*width/f.Width(text, size, bold))/10))
}

// bar adds the colours of steps below y. The first begins at least and the last ends at most; at returns where a number is.
func (s *layout) bar(steps []colormap.LegendStep, least, most, y float64, at func(float64) float64) {
	for _, step := range steps {
		from, to := least, most
		if step.From != nil {
			from = *step.From
		}
		if step.To != nil {
			to = *step.To
		}
		s.rect(at(from), y, at(to)-at(from), barHeight, parseHex(step.Color))
	}
}

// axis adds the colours, their ticks and labels below y, and returns where they end.
func (s *layout) axis(l colormap.Legend, w *Words, y float64, f *picture.Fonts) float64 {
	length := s.width - 2*pad
	at := func(v float64) float64 {
		return math.Round(pad + length*math.Log(v/l.Min)/math.Log(l.Max/l.Min))
	}
	s.bar(l.Steps, l.Min, l.Max, y, at)
	bottom := y + barHeight
	baseline := bottom + tickLength + textSize + 1

	for _, v := range []float64{*l.Classes[1].From, *l.Classes[2].From} {
		s.rect(at(v)-1, y-tickLength, 2, barHeight+2*tickLength, inkColor())
	}
	// The most important first: a label that would touch an earlier one is omitted, or, that of the end, on a line of its own.
	var taken spans
	end := baseline
	var ticks []float64
	for i, v := range []float64{*l.Classes[1].From, *l.Classes[2].From, l.Min, l.Max, 10, 2, 5, 20, 50} {
		x := at(v)
		if slices.Contains(ticks, x) {
			continue // a limit that is an ordinary tick as well
		}
		ticks = append(ticks, x)
		limit, ink := i < 2, paleColor()
		if limit {
			ink = inkColor()
		} else {
			s.rect(min(x, s.width-pad-1), bottom, 1, tickLength, ink)
		}
		text := w.number(v)
		if v == l.Max {
			text = l.MaxLabel
		}
		half := f.Width(text, textSize, limit) / 2
		x = min(max(x, pad/2+half), s.width-pad/2-half) // the label stays off the edge
		row := baseline
		if !taken.take(x, half) {
			if v != l.Max {
				continue
			}
			// That the last colour is of all larger values too must not be omitted.
			row += textSize + 1
			end = row
		}
		s.text(x, row, textSize, 0.5, limit, ink, text)
	}
	return end
}

// spans are where the labels of an axis are.
type spans [][2]float64

// take adds the span of a label around x. It reports false, and adds none, if the label would touch an earlier one.
func (s *spans) take(x, half float64) bool {
	if slices.ContainsFunc(*s, func(t [2]float64) bool { return x-half-tickGap < t[1] && x+half+tickGap > t[0] }) {
		return false
	}
	*s = append(*s, [2]float64{x - half, x + half})
	return true
}

// classes adds a cell for each class and one for no data below y, and returns where they end. Markers are shown as such, in the
// colour that represents their class; otherwise a cell has the colours of the class.
func (s *layout) classes(l colormap.Legend, w *Words, kind symbol.Kind, y float64, f *picture.Fonts) float64 {
	type cell struct {
		class       symbol.Class
		color       string
		colors      []string
		word, label string
	}
	cells := make([]cell, 0, len(l.Classes)+1)
	for i, c := range l.Classes {
		cells = append(cells, cell{symbol.Low + symbol.Class(i), c.Color, c.Colors, w.Risks[c.Risk], c.Label})
	}
	cells = append(cells, cell{symbol.None, l.NoData.Color, []string{l.NoData.Color}, l.NoData.Label, w.NoValue})

	const beside = swatchWidth + textGap // a text
	widest := cellWidth
	for _, c := range cells {
		widest = max(widest, beside+textGap+max(f.Width(c.word, wordSize, true), f.Width(c.label, textSize, false)))
	}
	columns := 1
	for _, n := range []int{2, len(cells)} {
		if s.width-2*pad >= float64(n)*widest {
			columns = n
		}
	}
	column := math.Floor((s.width - 2*pad) / float64(columns))
	const height = cellHeight - 6
	for i, c := range cells {
		x := pad + float64(i%columns)*column
		top := y + float64(i/columns)*cellHeight
		switch {
		case kind == symbol.Markers:
			s.symbol(x+swatchWidth/2, top+height/2, c.class.Shapes(markerRadius), parseHex(c.color))
		case kind == symbol.Waters && c.class == symbol.None:
			s.hatched(x, top, swatchWidth, height)
		default:
			// The colours of the class, the lowest at the bottom.
			for k, hex := range c.colors {
				n := float64(len(c.colors))
				from, to := math.Round(height*float64(k)/n), math.Round(height*float64(k+1)/n)
				s.rect(x, top+height-to, swatchWidth, to-from, parseHex(hex))
			}
		}
		s.text(x+beside, top+13, fitted(f, c.word, wordSize, column-beside, true), 0, true, inkColor(), c.word)
		s.text(x+beside, top+29, fitted(f, c.label, textSize, column-beside, false), 0, false, paleColor(), c.label)
	}
	rows := (len(cells) + columns - 1) / columns
	return y + float64(rows)*cellHeight
}

// symbol adds the shapes of a symbol of that colour around x, y.
func (s *layout) symbol(x, y float64, shapes []symbol.Shape, value color.NRGBA) {
	for _, part := range shapes {
		s.shapes = append(s.shapes, shape{part, x, y, part.Paint.Color(value)})
	}
}

// hatched adds an area as a water without a value has it, with a line around it.
func (s *layout) hatched(x, y, w, h float64) {
	s.rect(x, y, w, h, colormap.NoData())
	s.rect(x+1, y+1, w-2, h-2, symbol.OnWhite(colormap.NoData(), symbol.HollowAlpha))
	for k := float64(symbol.Hatching); k < w+h; k += symbol.Hatching {
		// The points of the area whose coordinates have a sum from k to k+1.
		right, bottom := func(k float64) [2]float64 { return [2]float64{min(k, w), k - min(k, w)} },
			func(k float64) [2]float64 { return [2]float64{k - min(k, h), min(k, h)} }
		line := symbol.Shape{Paint: symbol.Grey, Corners: [][2]float64{right(k), right(k + 1), bottom(k + 1), bottom(k)}}
		s.symbol(x, y, []symbol.Shape{line}, colormap.NoData())
	}
}

// An entry is a symbol and its explanation.
type entry struct {
	shapes []symbol.Shape
	value  color.NRGBA
	label  string
}

// entriesOf returns the entries of symbols with that look. A symbol that shows a value has the colour of the lowest class: the sign
// Worse means that the lake is worse than that.
func (w *Words) entriesOf(l colormap.Legend, look symbol.Look) (entries []entry) {
	value := parseHex(l.Classes[0].Color)
	if look.Kind == symbol.Markers {
		entries = append(entries, entry{symbol.ClusterShapes(swatchWidth / 2), value, w.Cluster})
	}
	if look.Kind != symbol.Field {
		entries = append(entries, entry{symbol.Low.OldShapes(markerRadius), value, w.Old})
	}
	for _, sign := range look.Signs {
		entries = append(entries, entry{sign.ID.Shapes(symbol.Medium, markerRadius), value, sign.Label})
	}
	return entries
}

// entries adds entries below y, and returns where they end.
func (s *layout) entries(entries []entry, y float64, f *picture.Fonts) float64 {
	// Two columns where the classes have four, so that the symbols are below swatches.
	columns, column := 1, s.width-2*pad
	if column >= 4*cellWidth {
		columns, column = 2, 2*math.Floor(column/4)
	}
	for from := 0; from < len(entries); from += columns {
		row := entries[from:min(from+columns, len(entries))]
		lines := make([][]string, len(row))
		height := math.Ceil(2 * (markerRadius + symbol.RimPx))
		for i, e := range row {
			lines[i] = f.Wrap(e.label, textSize, column-swatchWidth-2*textGap, false)
			height = max(height, entryLine*float64(len(lines[i])))
		}
		for i, e := range row {
			x, middle := pad+float64(i)*column, y+math.Round(height/2)
			s.symbol(x+swatchWidth/2, middle, e.shapes, e.value)
			// Capitals are about three quarters as high as the text size.
			baseline := middle - entryLine*float64(len(lines[i])-1)/2 + textSize*3/8
			for k, line := range lines[i] {
				s.text(x+swatchWidth+textGap, math.Round(baseline+entryLine*float64(k)), textSize, 0, false, inkColor(), line)
			}
		}
		y += height + entryGap
	}
	return y
}

func (s *layout) rect(x, y, w, h float64, fill color.NRGBA) {
	s.rects = append(s.rects, rectangle{x, y, w, h, fill})
}

func (s *layout) text(x, y, size, anchor float64, bold bool, fill color.NRGBA, text string) {
	s.texts = append(s.texts, textLine{x, y, size, anchor, bold, fill, text})
}

// parseHex parses the #rrggbb that colormap.Hex writes.
func parseHex(s string) color.NRGBA {
	v, err := strconv.ParseUint(strings.TrimPrefix(s, "#"), 16, 24)
	if err != nil {
		panic(fmt.Sprintf("legend: invalid colour %q: %v", s, err))
	}
	return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 0xff}
}
