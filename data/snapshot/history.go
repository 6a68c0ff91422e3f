package snapshot

import (
	"slices"
	"time"

	"limnomap/data"
)

// History returns the same as [Source.History] for Lakes[i] at the snapshot's revision, from memory. It is not whole if
// rows that are older than those in memory may belong to it, or one of them has a source or [data.Details]: then only the Source has them.
func (s *Snapshot) History(i int, q data.HistoryQuery) (observations []data.Observation, whole bool) {
	h := q.Rows()
	lost := s.dropped != nil && s.dropped[i]
	cursors := [...]historyCursor{newHistoryCursor(data.Satellite, s.satellite.of(i)), newHistoryCursor(data.InSitu, s.inSitu.of(i)),
		newHistoryCursor(data.Forecast, s.forecasts.of(i))}
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
		if next := newest.of.readings[newest.next]; next.hasMore() && (q.Types.Has(newest.kind) || next.outranked()) {
			return nil, false
		}
		h.Add(newest.take(s.Lakes[i].ID))
	}
	observations = h.Picked()
	return observations, !lost || len(observations) >= q.Limit || q.Period.First >= s.since || q.Period.Last < q.Period.First
}

// PassNear returns the pass of Lakes[i] in memory that may be current and is nearest to a day, at most that many days from it; of equally near ones the
// earlier. It has neither a source nor Details.
func (s *Snapshot) PassNear(i int, day data.Date, days int) (nearest data.Observation, ok bool) {
	passes := s.satellite.of(i)
	for k := countUntil(passes.readings, day-data.Date(days)-1); k < len(passes.readings) && passes.readings[k].date() <= day+data.Date(days); k++ {
		r := passes.readings[k]
		if !r.usable() || r.outranked() || ok && max(r.date()-day, day-r.date()) >= max(nearest.Date-day, day-nearest.Date) {
			continue
		}
		nearest, _, _ = passes.observation(k)
		nearest.LakeID, ok = s.Lakes[i].ID, true
	}
	return nearest, ok
}

// Measured returns the measurements of Lakes[i] in memory that may be current, without those of sources that are outranked in their week, passes first, each in
// ascending order of date; and the day from which on there are all. They have neither a source nor Details.
func (s *Snapshot) Measured(i int) (measured []data.Observation, since data.Date) {
	for _, t := range []data.DataType{data.Satellite, data.InSitu} {
		of := s.satellite.of(i)
		if t == data.InSitu {
			of = s.inSitu.of(i)
		}
		for k, r := range of.readings {
			if r.usable() && r.date() <= s.AsOf.Last() {
				o, _, _ := of.observation(k)
				o.LakeID, o.Type = s.Lakes[i].ID, t
				measured = append(measured, o)
			}
		}
	}
	if s.dropped != nil && s.dropped[i] {
		return measured, s.since
	}
	return measured, data.MinDate
}

// Digest returns the sum of the [data.Observation.Digest] of all measurements of Lakes[i], also of those that are not in memory.
func (s *Snapshot) Digest(i int) uint64 {
	if s.digests == nil {
		return 0 // there is no measurement
	}
	return s.digests[i]
}

// Sampled reports whether Lakes[i] has a sample that may be current.
func (s *Snapshot) Sampled(i int) bool {
	return slices.ContainsFunc(s.inSitu.of(i).readings, reading.usable)
}

// A historyCursor passes the readings of one type and lake from the newest to the oldest.
type historyCursor struct {
	kind data.DataType
	of   lakeReadings
	next int // index in of; -1 after the last one
}

func newHistoryCursor(t data.DataType, of lakeReadings) historyCursor {
	return historyCursor{t, of, len(of.readings) - 1}
}

// date returns the date of the next reading; noDate after the last one.
func (c *historyCursor) date() data.Date {
	if c.next < 0 {
		return noDate
	}
	return c.of.readings[c.next].date()
}

// take returns the next reading as an observation of that lake.
func (c *historyCursor) take(lake data.LakeID) data.Observation {
	o, taken, hasTime := c.of.observation(c.next)
	c.next--
	o.LakeID, o.Type = lake, c.kind
	if hasTime {
		o.MeasuredAt = time.Unix(taken, 0).UTC()
	}
	return o
}
