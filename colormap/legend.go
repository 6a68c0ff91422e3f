package colormap

import (
	"image/color"
	"strconv"
	"strings"
)

// A Legend describes a colour map to readers of the map. It marshals to JSON (the body of legend.json).
type Legend struct {
	Colormap ID     `json:"colormap"`
	Title    string `json:"title"`
	Quantity string `json:"quantity"`
	Unit     string `json:"unit"`
	Scale    string `json:"scale"`
	// Min and Max are the ends of the scale; beyond them the first and the last colour apply.
	Min float64 `json:"min"`
	Max float64 `json:"max"`
	// MaxLabel is the last label of the scale, whose colour shows Max and all above.
	MaxLabel string        `json:"max_label"`
	Profile  string        `json:"profile,omitempty"`
	Steps    []LegendStep  `json:"steps"`
	Classes  []LegendClass `json:"classes"`
	NoData   LegendNoData  `json:"no_data"`
	Note     string        `json:"note"`
	// Scheme says whose words low, medium and high are, and what the profile says itself. Empty without a profile.
	Scheme string `json:"scheme,omitempty"`
	// Guidance is what the profile says in its own words, in its own language.
	Guidance []LegendGuidance `json:"guidance,omitempty"`
}

// LegendGuidance is what a guideline says about reaching a level, by chlorophyll or by cells. Both are nil for the level of scum.
type LegendGuidance struct {
	Level       int      `json:"level"`
	Chlorophyll *float64 `json:"chlorophyll"` // µg/l
	Cells       *float64 `json:"cells"`       // cells/ml
	Words       string   `json:"words"`
}

// A LegendStep is one colour and the values it shows: from <= value < to. Nil is an open end.
type LegendStep struct {
	From  *float64 `json:"from"`
	To    *float64 `json:"to"`
	Color string   `json:"color"`
}

// A LegendClass is one level and its limits. Nil is an open end. Label, and exactly the steps, tell whether a limit belongs to
// the class below or above.
type LegendClass struct {
	Level int      `json:"level"`
	Risk  string   `json:"risk"`
	Label string   `json:"label"`
	From  *float64 `json:"from"`
	To    *float64 `json:"to"`
	// Color represents the class where there is room for only one colour. Colors are all its colours.
	Color  string   `json:"color"`
	Colors []string `json:"colors"`
}

// LegendNoData is how a lake without a current value is drawn.
type LegendNoData struct {
	Color string `json:"color"`
	Label string `json:"label"`
}

// legendNote names a condition that satellites cannot check: the chlorophyll limits of WHO 2003, chapter 8, of WHO 2021 and
// of UBA 2015 all assume that cyanobacteria dominate.
const legendNote = "The levels hold where cyanobacteria dominate: an index of cyanobacteria tells that, total chlorophyll does not."

// The texts of a legend about its words. Low, medium and high are classes of this map; the quotations are those of the table of guidance levels
// in WHO 2003, chapter 8.
const (
	legendScheme = "Low, medium and high are limnomap’s own classes, at the limits of {profile}."
	legendQuotes = "Low, medium and high are limnomap’s own classes. {profile} says: from 20,000 cells/ml or 10 µg/l “relatively low probability " +
		"of adverse health effects”, from 100,000 cells/ml or 50 µg/l “moderate probability\u00a0…”, with scum “high probability\u00a0…”."
)

// Legend returns the legend of m.
func (m *Map) Legend() Legend {
	l := Legend{
		Colormap: m.ID,
		Title:    m.Title,
		Quantity: "chlorophyll-a",
		Unit:     "µg/l",
		Scale:    "logarithmic",
		Min:      m.Min,
		Max:      m.Max,
		MaxLabel: strconv.FormatFloat(m.Max, 'f', -1, 64) + " or more",
		Profile:  m.limits.Title,
		Steps:    make([]LegendStep, Steps),
		NoData:   LegendNoData{Color: Hex(NoData()), Label: "no data"},
		Note:     legendNote,
	}
	for i, c := range m.table {
		l.Steps[i].Color = Hex(c)
		if i > 0 {
			threshold := m.Threshold(i)
			l.Steps[i].From, l.Steps[i-1].To = &threshold, &threshold
		}
	}
	level1, level2 := &m.limits.Level1, &m.limits.Level2
	l.Classes = []LegendClass{
		m.legendClass(0, "low", nil, level1),
		m.legendClass(1, "medium", level1, level2),
		m.legendClass(2, "high", level2, nil),
	}
	if m.limits.Title != "" {
		l.Scheme = strings.Replace(legendScheme, "{profile}", m.limits.Title, 1)
	}
	if m.limits.Words != [3]string{} {
		l.Scheme = strings.Replace(legendQuotes, "{profile}", m.limits.Title, 1)
		chlorophyll, cells := [2]float64{*level1, *level2}, m.limits.Cells // copies
		for i, words := range m.limits.Words {
			g := LegendGuidance{Level: i + 1, Words: words}
			if i < len(cells) {
				g.Chlorophyll, g.Cells = &chlorophyll[i], &cells[i]
			}
			l.Guidance = append(l.Guidance, g)
		}
	}
	return l
}

// legendClass describes the class of that level.
func (m *Map) legendClass(level int, risk string, from, to *float64) LegendClass {
	c := LegendClass{Level: level, Risk: risk, Label: m.classLabel(from, to)}
	// Copies, so that changing a Legend does not change the Map.
	if from != nil {
		v := *from
		c.From = &v
	}
	if to != nil {
		v := *to
		c.To = &v
	}
	for _, step := range m.classColors(level) {
		c.Colors = append(c.Colors, Hex(step))
	}
	c.Color = Hex(m.ClassColor(level))
	return c
}

// classColors returns the colours of a class: 0 is low, 1 medium and 2 high.
func (m *Map) classColors(level int) []color.NRGBA {
	return m.table[m.scale.first[level]:m.scale.first[level+1]]
}

// ClassColor returns the colour that stands for a class: 0 is low, 1 medium and 2 high.
func (m *Map) ClassColor(level int) color.NRGBA {
	colors := m.classColors(level)
	return colors[len(colors)/2]
}

// classLabel returns the values of a class as text. It is unambiguous about the limits themselves.
func (m *Map) classLabel(from, to *float64) string {
	number := func(v *float64) string { return strconv.FormatFloat(*v, 'f', -1, 64) }
	switch {
	case from == nil && m.limits.Above:
		return number(to) + " or less"
	case from == nil:
		return "below " + number(to)
	case to == nil && m.limits.Above:
		return "above " + number(from)
	case to == nil:
		return number(from) + " or more"
	case m.limits.Above:
		return "above " + number(from) + ", up to " + number(to)
	}
	return number(from) + " to below " + number(to)
}
