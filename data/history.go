package data

import (
	"slices"
	"time"
)

// HistoryRows selects the rows that a [HistoryQuery] asks for from those of one lake, by the rule of [Source.History].
// The caller adds the rows in order.
type HistoryRows struct {
	query    HistoryQuery
	rows     []Observation
	forecast *Observation // the last row added, if the satellite row of its date may replace it
}

// Rows returns an empty selection for q.
func (q HistoryQuery) Rows() *HistoryRows { return &HistoryRows{query: q} }

// Full reports whether no further row can make a difference.
func (h *HistoryRows) Full() bool { return len(h.rows) >= h.query.Limit }

// Add adds the next row of the lake: from the newest to the oldest, and on one date the forecast before the satellite's.
// The caller may leave out whole days outside the query's period.
func (h *HistoryRows) Add(o Observation) {
	if h.forecast != nil && h.forecast.Date != o.Date {
		h.flush()
	}
	if h.Full() || !h.query.Period.Contains(o.Date) {
		return
	}
	if o.Type == Forecast {
		if h.query.Types.Has(Forecast) {
			h.forecast = &o
		}
		return
	}
	if h.query.Types.Has(Satellite) {
		h.rows = append(h.rows, o)
	}
	if o.Chlorophyll.Valid() {
		h.forecast = nil
	}
}

func (h *HistoryRows) flush() {
	if h.forecast != nil && !h.Full() {
		h.rows = append(h.rows, *h.forecast)
	}
	h.forecast = nil
}

// Picked returns the selected rows, newest first.
func (h *HistoryRows) Picked() []Observation {
	h.flush()
	return slices.Clip(h.rows)
}

// History returns the same as [Source.History] for Lakes[i] at the snapshot's revision, from memory. It is not whole if
// rows that are older than those in memory may belong to it: then only the Source has them.
func (s *Snapshot) History(i int, q HistoryQuery) (observations []Observation, whole bool) {
	h := q.Rows()
	passes, forecasts := s.satellite.of(i), s.forecasts.of(i)
	lost := s.dropped != nil && s.dropped[i]
	p, f := len(passes.samples)-1, len(forecasts.samples)-1
	for !h.Full() && (p >= 0 || f >= 0) {
		var o Observation
		var taken int64
		var told bool
		if f >= 0 && (p < 0 || forecasts.samples[f].date() >= passes.samples[p].date()) {
			o, taken, told = forecasts.observation(f)
			o.Type = Forecast
			f--
		} else {
			o, taken, told = passes.observation(p)
			p--
		}
		if o.Date < q.Period.First {
			break
		}
		if lost && o.Date < s.since {
			break // memory does not hold all rows of such old dates
		}
		o.LakeID = s.Lakes[i].ID
		if told {
			o.MeasuredAt = time.Unix(taken, 0).UTC()
		}
		h.Add(o)
	}
	observations = h.Picked()
	return observations, !lost || len(observations) >= q.Limit || q.Period.First >= s.since || q.Period.Last < q.Period.First
}
