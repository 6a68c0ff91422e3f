package data

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// HistoryRows selects the rows that a [HistoryQuery] asks for from those of one lake, by the rule of [Source.History].
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
	measured := slices.ContainsFunc(h.day, func(o Observation) bool { return o.usable() })
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

// History returns the same as [Source.History] for Lakes[i] at the snapshot's revision, from memory. It is not whole if
// rows that are older than those in memory may belong to it, or one of them has a source or [Details]: then only the Source has them.
func (s *Snapshot) History(i int, q HistoryQuery) (observations []Observation, whole bool) {
	h := q.Rows()
	lost := s.dropped != nil && s.dropped[i]
	cursors := [...]historyCursor{newHistoryCursor(Satellite, s.satellite.of(i)), newHistoryCursor(InSitu, s.inSitu.of(i)),
		newHistoryCursor(Forecast, s.forecasts.of(i))}
	for !h.Full() {
		newest := &cursors[0]
		for k := range cursors {
			if cursors[k].date() > newest.date() {
				newest = &cursors[k]
			}
		}
		d := newest.date()
		if newest.next < 0 || d < q.Period.First || lost && d < s.since { // memory does not hold all rows of such old dates
			break
		}
		if d > q.Period.Last {
			newest.next--
			continue
		}
		if next := newest.of.samples[newest.next]; next.hasMore() && (q.Types.Has(newest.kind) || next.keptBack()) {
			return nil, false
		}
		h.Add(newest.take(s.Lakes[i].ID))
	}
	observations = h.Picked()
	return observations, !lost || len(observations) >= q.Limit || q.Period.First >= s.since || q.Period.Last < q.Period.First
}

// A historyCursor passes the samples of one type and lake from the newest to the oldest.
type historyCursor struct {
	kind DataType
	of   lakeSamples
	next int // index in of; -1 after the last one
}

func newHistoryCursor(t DataType, of lakeSamples) historyCursor {
	return historyCursor{t, of, len(of.samples) - 1}
}

// date returns the date of the next sample; noDate after the last one.
func (c *historyCursor) date() Date {
	if c.next < 0 {
		return noDate
	}
	return c.of.samples[c.next].date()
}

// take returns the next sample as an observation of that lake.
func (c *historyCursor) take(lake LakeID) Observation {
	o, taken, hasTime := c.of.observation(c.next)
	c.next--
	o.LakeID, o.Type = lake, c.kind
	if hasTime {
		o.MeasuredAt = time.Unix(taken, 0).UTC()
	}
	return o
}
