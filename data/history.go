package data

import (
	"cmp"
	"slices"
	"strings"
)

// A Period is the days from First to Last, both included. It is empty if Last is before First.
type Period struct{ First, Last Date }

// AllTime returns the period of all dates that an observation may have.
func AllTime() Period { return Period{MinDate, MaxDate} }

// Contains reports whether d is in p.
func (p Period) Contains(d Date) bool { return p.First <= d && d <= p.Last }

// A HistoryQuery selects observations of a lake.
type HistoryQuery struct {
	Period Period
	Types  DataTypes // the empty set means all
	Limit  int       // how many of the newest; none if it is not positive
}

// Newest selects the newest observations of all types, at most limit of them.
func Newest(limit int) HistoryQuery { return HistoryQuery{Period: AllTime(), Limit: limit} }

// HistoryRows selects the rows that a [HistoryQuery] asks for from those of one lake, by the rule of [snapshot.Source.History].
// The caller adds the rows in order.
type HistoryRows struct {
	query HistoryQuery
	rows  []Observation
	day   []Observation // the rows of the last date added
}

// Rows returns an empty selection for q.
func (q HistoryQuery) Rows() *HistoryRows { return &HistoryRows{query: q} }

// Full reports whether no further row can make a difference.
func (h *HistoryRows) Full() bool { return len(h.rows) >= h.query.Limit }

// Add adds the next row of the lake: from the newest date to the oldest, those of one date in any order. The caller may leave out whole
// days outside the query's period.
func (h *HistoryRows) Add(o Observation) {
	if len(h.day) > 0 && h.day[0].Date != o.Date {
		h.endDay()
	}
	if !h.Full() && h.query.Period.Contains(o.Date) {
		h.day = append(h.day, o)
	}
}

// endDay selects from the rows of one date.
func (h *HistoryRows) endDay() {
	measured := slices.ContainsFunc(h.day, func(o Observation) bool { return o.Usable() })
	slices.SortFunc(h.day, func(a, b Observation) int {
		return cmp.Or(cmp.Compare(historyRank(a.Type), historyRank(b.Type)), strings.Compare(a.Source, b.Source))
	})
	for _, o := range h.day {
		if h.query.Types.Has(o.Type) && !(measured && o.Type == Forecast) && !h.Full() {
			h.rows = append(h.rows, o)
		}
	}
	h.day = h.day[:0]
}

// historyRank returns the place of a type among the rows of one date.
func historyRank(t DataType) int { return slices.Index([]DataType{InSitu, Satellite, Forecast}, t) }

// Picked returns the selected rows, newest first.
func (h *HistoryRows) Picked() []Observation {
	h.endDay()
	return slices.Clip(h.rows)
}

// CompareInHistory compares the places of two observations of one lake in a history: the newest date first, then by type and source.
func CompareInHistory(a, b *Observation) int {
	return cmp.Or(cmp.Compare(b.Date, a.Date), cmp.Compare(historyRank(a.Type), historyRank(b.Type)), strings.Compare(a.Source, b.Source))
}

// MergeHistory adds those of own that q selects to a history.
func MergeHistory(history, own []Observation, q HistoryQuery) []Observation {
	own = slices.DeleteFunc(own, func(o Observation) bool { return !q.Types.Has(Forecast) || !q.Period.Contains(o.Date) })
	if len(own) == 0 {
		return history
	}
	all := append(slices.Clone(history), own...)
	slices.SortStableFunc(all, func(a, b Observation) int { return CompareInHistory(&a, &b) })
	return all[:min(len(all), max(q.Limit, 0))]
}
