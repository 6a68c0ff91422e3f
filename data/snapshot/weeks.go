package snapshot

import (
	"slices"

	"limnomap/data"
)

// A weekCounter is fed measurements and finds out which days and weeks have one, and how many lakes have a current value on the Sunday
// of each week. It keeps no observations: its memory is proportional to the range of their dates.
type weekCounter struct {
	staleAfter int
	observed   counts // by day: 1 if it has an observation
	// steps has, by week, how many more lakes have a current value than in the week before. A value adds 1 in its own week, and -1 in the
	// week in which a newer value of its lake replaces it, or in the first one on whose Sunday it is stale, whichever is earlier.
	steps counts

	value    data.Date // the date of the newest usable value of the current lake
	hasValue bool

	keep   int
	recent []data.Week // the newest weeks, at most keep of them, ascending
	older  bool        // whether there are older weeks
}

// observe adds the next observation of the current lake, and whether its value may be current.
func (c *weekCounter) observe(date data.Date, counts bool) {
	w := date.Week()
	if observed := c.observed.at(int32(date)); *observed == 0 {
		*observed = 1
		c.remember(w)
	}
	if counts {
		c.end(w)
		c.value, c.hasValue = date, true
	}
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
	c.hasValue = false
}

// end counts the current lake's value, if there is one, as current until the week next.
func (c *weekCounter) end(next data.Week) {
	if !c.hasValue {
		return
	}
	stale := data.MaxDate
	if int64(c.value)+int64(c.staleAfter) < int64(stale) {
		stale = c.value + data.Date(c.staleAfter) + 1
	}
	*c.steps.at(int32(c.value.Week()))++
	*c.steps.at(int32(min(next, stale.Week())))--
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
	lakes, next := 0, c.steps.first
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
		for ; next <= int32(w) && int(next-c.steps.first) < len(c.steps.numbers); next++ {
			lakes += c.steps.numbers[next-c.steps.first]
		}
		weeks = append(weeks, WeekCount{Week: w, LakesWithData: lakes})
	}
	return weeks, days
}
