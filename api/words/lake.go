package words

import (
	"cmp"
	"strconv"

	"limnomap/data"
	"limnomap/data/linetext"
)

// Limits returns the chlorophyll values of low, medium and high risk, in µg/l.
func (w *Words) Limits(profile *data.Profile) (low, medium, high string) {
	first, middle, last := w.Legend.First, w.Legend.Middle, w.Legend.Last
	if profile.Above {
		first, middle, last = w.Legend.FirstAbove, w.Legend.MiddleAbove, w.Legend.LastAbove
	}
	from, to := w.Number(profile.Limits[0].String()), w.Number(profile.Limits[1].String())
	return Fill(first, "to", from), Fill(middle, "from", from, "to", to), Fill(last, "from", to)
}

// Scheme says whose words low, medium and high are, and what WHO 2003 says itself at each limit.
func (w *Words) Scheme(profile *data.Profile) string {
	text := w.Legend.Profile
	if profile.Words != [3]string{} {
		text = w.Legend.Quotes
	}
	return Fill(text, "profile", profile.Title)
}

// Value returns a concentration in µg/l as pages show it, without its unit.
func (w *Words) Value(c data.Chlorophyll, profile *data.Profile) string {
	return w.Number(profile.Rounded(c).String())
}

// Density returns a density of cells as pages show it, without its unit.
func (w *Words) Density(cells float64, profile *data.Profile) string {
	return w.Number(strconv.FormatFloat(profile.RoundedCells(cells), 'f', -1, 64))
}

// NameOf returns the name of a lake as pages show it.
func NameOf(lake *data.Lake) string { return cmp.Or(linetext.Clean(lake.Name), string(lake.ID)) }

// Levels fills a text about the limits between the risks.
func (w *Words) Levels(text string, profile *data.Profile) string {
	low, medium, high := w.Limits(profile)
	return Fill(text, "profile", profile.Title, "low", low, "medium", medium, "high", high)
}
