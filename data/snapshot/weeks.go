package snapshot

import (
	"slices"

	"limnomap/data"
)

// A weekCounter is fed measurements and finds out which days and weeks have one, and how many lakes have a current value of each risk on the
// Sunday of each week. It keeps no observations: its memory is proportional to the range of their dates.
type weekCounter struct {
	rule     *currentRule
	observed counts // by day: 1 if it has an observation
	// steps has, by risk and week, how many more lakes have a current value than in the week before. A value adds 1 in the first week on whose
	// Sunday it is the current one, and -1 in the week in which another value of its lake replaces it, or in the first one on whose Sunday it is stale.
	steps [data.RiskHigh + 1]counts

	pass, sample newestValue // of the current lake
	from         data.Week   // the first week for which it is not counted yet

	keep   int
	recent []data.Week // the newest weeks, at most keep of them, ascending
	older  bool        // whether there are older weeks
}

// A newestValue is the newest usable value of one type.
type newestValue struct {
	date    data.Date
	level   data.Level // the worst of that date, of the best quality
	suspect bool
	exists  bool
}

// observe adds the next observation of the current lake, whether its value may be current, and whether it outranks those of its week before it.
func (c *weekCounter) observe(o *data.Observation, counts, outranks bool) {
	w := o.Date.Week()
	if observed := c.observed.at(int32(o.Date)); *observed == 0 {
		*observed = 1
		c.remember(w)
	}
	if !counts {
		return
	}
	c.end(w)
	c.from = w
	v := &c.pass
	if o.Type == data.InSitu {
		v = &c.sample
	}
	level := c.rule.profile.LevelOf(o)
	suspect := o.Quality == data.Suspect
	if v.exists && v.date == o.Date && !outranks && (suspect != v.suspect && suspect || suspect == v.suspect && level <= v.level) {
		return // as in lakeReadings.newest
	}
	*v = newestValue{o.Date, level, suspect, true}
}

// remember adds a week to the recent ones, if it is recent enough.
func (c *weekCounter) remember(w data.Week) {
	i, found := slices.BinarySearch(c.recent, w)
	if found {
		return
	}
	c.recent = slices.Insert(c.recent, i, w)
	if len(c.recent) > c.keep {
		c.recent, c.older = slices.Delete(c.recent, 0, 1), true
	}
}

// endLake ends the current lake.
func (c *weekCounter) endLake() {
	c.end(data.MaxDate.Week() + 1)
	c.pass, c.sample = newestValue{}, newestValue{}
}

// end counts the current lake's values, if there are any, until the week next.
func (c *weekCounter) end(next data.Week) {
	for c.from < next && (c.pass.exists || c.sample.exists) {
		sunday := c.from.Sunday()
		v := c.pass
		if !v.exists || c.sample.exists && c.rule.prefers(c.sample.date, v.date, sunday) {
			v = c.sample
		}
		if c.rule.stale(v.date, sunday) {
			return // so is the other one
		}
		until := min(next, c.staleFrom(v))
		if c.sample.exists {
			if stale := c.staleFrom(c.sample); stale > c.from {
				until = min(until, stale)
			}
		}
		*c.steps[v.level.Risk()].at(int32(c.from))++
		*c.steps[v.level.Risk()].at(int32(until))--
		c.from = until
	}
}

// staleFrom returns the first week on whose Sunday a value is stale.
func (c *weekCounter) staleFrom(v newestValue) data.Week {
	if int64(v.date)+int64(c.rule.staleAfter) < int64(data.MaxDate) {
		return (v.date + data.Date(c.rule.staleAfter) + 1).Week()
	}
	return data.MaxDate.Week()
}

// since returns the first day whose readings are needed for the maps of the recent weeks: the first day that counts for the
// trophic status of the oldest of them, which may be the present week, on its Monday. It never decreases.
func (c *weekCounter) since() data.Date {
	if !c.older {
		return data.MinDate
	}
	return max(c.recent[0].Monday()-(trophicDays-1), data.MinDate)
}

// weeks returns all weeks and days with an observation, in ascending order.
func (c *weekCounter) weeks() (weeks []WeekCount, days []data.Date) {
	var risks [data.RiskHigh + 1]int
	var next [data.RiskHigh + 1]int32
	for r := range next {
		next[r] = c.steps[r].first
	}
	for i, n := range c.observed.numbers {
		if n == 0 {
			continue
		}
		day := data.Date(c.observed.first + int32(i))
		days = append(days, day)
		w := day.Week()
		if len(weeks) > 0 && weeks[len(weeks)-1].Week == w {
			continue
		}
		count := WeekCount{Week: w}
		for r := range next {
			steps := &c.steps[r]
			for ; next[r] <= int32(w) && int(next[r]-steps.first) < len(steps.numbers); next[r]++ {
				risks[r] += steps.numbers[next[r]-steps.first]
			}
			count.LakesWithData += risks[r]
		}
		count.Risks = risks
		weeks = append(weeks, count)
	}
	return weeks, days
}
