package data

import (
	"slices"
	"time"
)

// A HistoryRows picks the rows that a [HistoryQuery] asks for out of those of one lake: the rule of [Source.History],
// for whoever has the rows in order.
type HistoryRows struct {
	query    HistoryQuery
	rows     []Observation
	forecast *Observation // the last row, if it may have to make way for its date's satellite row
}

// Rows returns an empty pick of what q asks for.
func (q HistoryQuery) Rows() *HistoryRows { return &HistoryRows{query: q} }

// Full reports whether no further row can make a difference.
func (h *HistoryRows) Full() bool { return len(h.rows) >= h.query.Limit }

// Add takes the next row of the lake: from the newest to the oldest, and of one date the forecast before the
// satellite's. Rows outside the query's period may be left out, in whole days.
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

// Picked returns the rows, newest first.
func (h *HistoryRows) Picked() []Observation {
	h.flush()
	return slices.Clip(h.rows)
}

// History returns what [Source.History] does of Lakes[i] at the snapshot's revision, from memory. It is not whole if
// rows may belong to it that are older than what the snapshot holds: then only the Source has them.
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
			break // what is held of so old a date is not all
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
