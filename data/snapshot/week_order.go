package snapshot

import "limnomap/data"

// A weekOrder is fed the satellite's observations of each lake, in the order of a [Source], and finds those that are outranked: they do not
// count, since their week has a value of a better source.
type weekOrder struct {
	lake int
	week data.Week
	best int // the rank of the best source with a usable value in that week; 0: it has none
}

// lastRank is that of sources without a rank.
const lastRank = 1 << 8

// add adds an observation of a lake. It reports whether one before it in its week outranks it, and whether it outranks those before it.
func (w *weekOrder) add(lake int, o *data.Observation) (outranked, outranks bool) {
	if week := o.Date.Week(); lake != w.lake || week != w.week {
		*w = weekOrder{lake: lake, week: week}
	}
	if !o.Usable() {
		return false, false
	}
	rank := int(o.Rank)
	if rank == 0 {
		rank = lastRank
	}
	if w.best == 0 || rank < w.best {
		outranks = w.best != 0
		w.best = rank
		return false, outranks
	}
	return rank > w.best, false
}
