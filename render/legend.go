package render

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"limnomap/colormap"
)

// The sizes that a legend can be drawn in: from the narrowest that holds its words to a poster's.
const (
	MinLegendWidth, MaxLegendWidth = 160, 1200
	MaxLegendScale                 = 4
)

// ErrLegendSize is returned for a width or a scale that no legend is drawn in.
var ErrLegendSize = errors.New("legend size")

// Measures of a legend in pixels at scale 1. The text is no smaller than 11 so that a phone shows it legibly.
const (
	legendPad       = 12.0
	legendRadius    = 8.0
	legendTitleSize = 15.0
	legendTextSize  = 12.0
	legendWordSize  = 13.0
	legendNoteSize  = 11.0
	legendBarHeight = 16.0
	legendTick      = 4.0
	legendTickGap   = 5.0 // between two labels of the axis
	legendCell      = 38.0
	legendCellWidth = 144.0 // holds the longest label of a class beside its swatch
	legendSwatch    = 18.0
	legendNoteLine  = 15.0
)

// A legendText is one line of text; x is where its anchor lies and y its baseline.
type legendText struct {
	x, y, size float64
	anchor     float64 // 0 is the start of the text at x, 0.5 its middle, 1 its end
	bold       bool
	fill       color.NRGBA
	text       string
}

// A legendRect is a filled rectangle on whole pixels, so that neighbours meet without a seam.
type legendRect struct {
	x, y, w, h float64
	fill       color.NRGBA
}

// A legendScene is a laid-out legend. Both formats draw the same one, so they cannot differ.
type legendScene struct {
	width, height float64
	rects         []legendRect
	texts         []legendText
	title, desc   string // for those who hear the legend
}

// legendInk is the colour of what is read first; legendPale of the rest, at a contrast of 7 to 1 on white (WCAG 2.2, AAA).
func legendInk() color.NRGBA  { return color.NRGBA{0x1b, 0x26, 0x33, 0xff} }
func legendPale() color.NRGBA { return color.NRGBA{0x43, 0x51, 0x60, 0xff} }

// legendPaper lets a little of the map through; legendEdge parts it from a white one.
func legendPaper() color.NRGBA { return color.NRGBA{0xff, 0xff, 0xff, 0xf2} }
func legendEdge() color.NRGBA  { return color.NRGBA{0x1b, 0x26, 0x33, 0x40} }

// newLegendScene lays out the legend of m.
func newLegendScene(m *colormap.Map, width int, f *legendFonts) (*legendScene, error) {
	if width < MinLegendWidth || width > MaxLegendWidth {
		return nil, fmt.Errorf("%w: width %d: allowed are %d to %d pixels", ErrLegendSize, width, MinLegendWidth, MaxLegendWidth)
	}
	l := m.Legend()
	s := &legendScene{width: float64(width), title: legendTitle(l), desc: legendDescription(l)}

	y := legendPad + legendTitleSize
	s.text(legendPad, y, legendTitleSize, 0, true, legendInk(), s.title)
	if l.Profile != "" {
		// Beside the title where there is room, else below it.
		profile := "classes: " + l.Profile
		if f.width(s.title, legendTitleSize, true)+f.width(profile, legendTextSize, false) < s.width-3*legendPad {
			s.text(s.width-legendPad, y, legendTextSize, 1, false, legendPale(), profile)
		} else {
			y += legendTextSize + 6
			s.text(legendPad, y, legendTextSize, 0, false, legendPale(), profile)
		}
	}
	y = s.axis(l, y+10, f)
	y = s.classes(l, y+12)
	for _, line := range f.wrap(l.Note, legendNoteSize, s.width-2*legendPad) {
		y += legendNoteLine
		s.text(legendPad, y, legendNoteSize, 0, false, legendPale(), line)
	}
	s.height = math.Ceil(y + legendPad)
	return s, nil
}

func legendTitle(l colormap.Legend) string {
	return strings.ToUpper(l.Quantity[:1]) + l.Quantity[1:] + ", " + l.Unit
}

// legendDescription says in words what the picture shows.
func legendDescription(l colormap.Legend) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Colours of the map %s on a %s scale from %v to %v %s.", l.Title, l.Scale, l.Min, l.Max, l.Unit)
	for _, c := range l.Classes {
		fmt.Fprintf(&b, " %s risk: %s %s.", strings.ToUpper(c.Risk[:1])+c.Risk[1:], c.Label, l.Unit)
	}
	fmt.Fprintf(&b, " Grey: %s. %s", l.NoData.Label, l.Note)
	return b.String()
}

// axis draws the colours from y down, with their ticks and labels, and returns where it ends.
func (s *legendScene) axis(l colormap.Legend, y float64, f *legendFonts) float64 {
	length := s.width - 2*legendPad
	at := func(v float64) float64 {
		return math.Round(legendPad + length*math.Log(v/l.Min)/math.Log(l.Max/l.Min))
	}
	for _, step := range l.Steps {
		from, to := l.Min, l.Max
		if step.From != nil {
			from = *step.From
		}
		if step.To != nil {
			to = *step.To
		}
		s.rect(at(from), y, at(to)-at(from), legendBarHeight, parsedHex(step.Color))
	}
	bottom := y + legendBarHeight
	baseline := bottom + legendTick + legendTextSize + 1

	for _, v := range []float64{*l.Classes[1].From, *l.Classes[2].From} {
		s.rect(at(v)-1, y-legendTick, 2, legendBarHeight+2*legendTick, legendInk())
	}
	// Those that matter most first: a label that would touch an earlier one is left out.
	type span struct{ from, to float64 }
	var taken []span
	var ticks []float64
	for i, v := range []float64{*l.Classes[1].From, *l.Classes[2].From, l.Min, l.Max, 10, 2, 5, 20, 50} {
		x := at(v)
		if slices.Contains(ticks, x) {
			continue // a limit that is an ordinary tick as well
		}
		ticks = append(ticks, x)
		limit, ink := i < 2, legendPale()
		if limit {
			ink = legendInk()
		} else {
			s.rect(min(x, s.width-legendPad-1), bottom, 1, legendTick, ink)
		}
		text := strconv.FormatFloat(v, 'f', -1, 64)
		half := f.width(text, legendTextSize, limit) / 2
		x = min(max(x, legendPad/2+half), s.width-legendPad/2-half) // the label keeps off the edge
		if slices.ContainsFunc(taken, func(t span) bool {
			return x-half-legendTickGap < t.to && x+half+legendTickGap > t.from
		}) {
			continue
		}
		taken = append(taken, span{x - half, x + half})
		s.text(x, baseline, legendTextSize, 0.5, limit, ink, text)
	}
	return baseline
}

// classes draws a cell for each class and one for no data, and returns where they end.
func (s *legendScene) classes(l colormap.Legend, y float64) float64 {
	type cell struct {
		colors      []string
		word, label string
	}
	cells := make([]cell, 0, len(l.Classes)+1)
	for _, c := range l.Classes {
		cells = append(cells, cell{c.Colors, c.Risk + " risk", c.Label})
	}
	cells = append(cells, cell{[]string{l.NoData.Color}, l.NoData.Label, "no current value"})

	columns := 1
	for _, n := range []int{2, len(cells)} {
		if s.width-2*legendPad >= float64(n)*legendCellWidth {
			columns = n
		}
	}
	column := math.Floor((s.width - 2*legendPad) / float64(columns))
	const height = legendCell - 6
	for i, c := range cells {
		x := legendPad + float64(i%columns)*column
		top := y + float64(i/columns)*legendCell
		// The class's colours from the highest down, as water would rise.
		for k, hex := range c.colors {
			n := float64(len(c.colors))
			from, to := math.Round(height*float64(k)/n), math.Round(height*float64(k+1)/n)
			s.rect(x, top+height-to, legendSwatch, to-from, parsedHex(hex))
		}
		s.text(x+legendSwatch+8, top+13, legendWordSize, 0, true, legendInk(), c.word)
		s.text(x+legendSwatch+8, top+29, legendTextSize, 0, false, legendPale(), c.label)
	}
	rows := (len(cells) + columns - 1) / columns
	return y + float64(rows)*legendCell
}

func (s *legendScene) rect(x, y, w, h float64, fill color.NRGBA) {
	s.rects = append(s.rects, legendRect{x, y, w, h, fill})
}

func (s *legendScene) text(x, y, size, anchor float64, bold bool, fill color.NRGBA, text string) {
	s.texts = append(s.texts, legendText{x, y, size, anchor, bold, fill, text})
}

// parsedHex reads the #rrggbb that colormap.Hex wrote.
func parsedHex(s string) color.NRGBA {
	v, err := strconv.ParseUint(strings.TrimPrefix(s, "#"), 16, 24)
	if err != nil {
		panic(fmt.Sprintf("render: colour %q of a legend: %v", s, err))
	}
	return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 0xff}
}
