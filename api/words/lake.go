package words

import "limnomap/data"

// RiskOf returns the text about a lake's risk, and what made it worse than that of its chlorophyll value. Without a current value it
// starts with that, because the last risk is not today's.
func (w *Words) RiskOf(state *data.State, profile *data.Profile) string {
	switch {
	case state.Chlorophyll.Valid():
		if worse := w.Worse(state, profile); worse != "" {
			return w.Risk[state.Risk.String()] + " (" + worse + ")"
		}
		return w.Risk[state.Risk.String()]
	case state.Risk == data.RiskUnknown:
		return w.Common.NoValue + " (" + w.Common.Never + ")"
	}
	return w.Common.NoValue + " (" + Fill(w.Lake.LastKnown, "risk", w.RiskShort[state.Risk.String()]) + ")"
}

// Worse returns what made the level of a lake worse than that of its chlorophyll value: a cell count, or what was reported. It is empty if
// the level is not worse.
func (w *Words) Worse(state *data.State, profile *data.Profile) string {
	switch profile.Basis(state.Level, state.Chlorophyll, state.CountedCells) {
	case data.ByCells:
		return w.Lake.Cells
	case data.ByReport:
		return w.Lake.Report
	}
	return ""
}

// Limits returns the chlorophyll values of low, medium and high risk, in µg/l.
func (w *Words) Limits(profile *data.Profile) (low, medium, high string) {
	first, middle, last := w.Legend.First, w.Legend.Middle, w.Legend.Last
	if profile.Above {
		first, middle, last = w.Legend.FirstAbove, w.Legend.MiddleAbove, w.Legend.LastAbove
	}
	from, to := w.Number(profile.Limits[0].String()), w.Number(profile.Limits[1].String())
	return Fill(first, "to", from), Fill(middle, "from", from, "to", to), Fill(last, "from", to)
}
