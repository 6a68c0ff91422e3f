package snapshot

import "limnomap/data"

// A weekOrder is fed the satellite's observations of each lake, in the order of a [Source], and finds those that do not count since
// their week has a value of a better source.
type weekOrder struct {
	lake int
	week data.Week
	best int // the place of the best source with a usable value in that week; 0: it has none
}

// lastPlace is that of sources without a rank.
const lastPlace = 1 << 8

// add adds an observation of a lake. It reports whether that is kept back by one before it, and whether it keeps those before it in its
// week back.
func (w *weekOrder) add(lake int, o *data.Observation) (kept, keeps bool) {
	if week := o.Date.Week(); lake != w.lake || week != w.week {
		*w = weekOrder{lake: lake, week: week}
	}
	if !o.Usable() {
		return false, false
	}
	place := int(o.Rank)
	if place == 0 {
		place = lastPlace
	}
	if w.best == 0 || place < w.best {
		keeps = w.best != 0
		w.best = place
		return false, keeps
	}
	return place > w.best, false
}
