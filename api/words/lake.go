package words

import "limnomap/data"

// Limits returns the chlorophyll values of low, medium and high risk, in µg/l.
func (w *Words) Limits(profile *data.Profile) (low, medium, high string) {
	first, middle, last := w.Legend.First, w.Legend.Middle, w.Legend.Last
	if profile.Above {
		first, middle, last = w.Legend.FirstAbove, w.Legend.MiddleAbove, w.Legend.LastAbove
	}
	from, to := w.Number(profile.Limits[0].String()), w.Number(profile.Limits[1].String())
	return Fill(first, "to", from), Fill(middle, "from", from, "to", to), Fill(last, "from", to)
}
