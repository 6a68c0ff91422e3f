package snapshot

import (
	"math"
	"slices"

	"limnomap/data"
)

// A weekCounter is fed measurements and finds out which weeks there are, and how many lakes have a current value
// in each of them. It keeps no observations: its memory is proportional to the range of their dates.
type weekCounter struct {
	staleAfter int
	newest     counts // by week: its newest observation in days since MinDate, plus one; 0 if it has none
	// steps has, by week, how many more lakes have a current value than in the week before:
	//   - a value adds 1 in its own week, and -1 in the week in which a newer value of its lake replaces it;
	//   - a value that becomes stale before that adds -1 in the first week whose newest observation is later than its last day. All
	//     observations must be known for that, so lasts counts these values by their last day, and weeks adds them.
	// For example, with staleAfter 28 the last day of a value of Monday 1 June is Monday 29 June: it is current in that week's map
	// only if the week's newest observation is of that Monday.
	steps counts
	lasts counts

	value    data.Date // the date of the newest usable value of the current lake
	hasValue bool

	keep   int
	recent []data.Week // the newest weeks, at most keep of them, ascending
	older  bool        // whether there are older weeks
}

// observe adds the next observation of the current lake, and whether its value may be current.
func (c *weekCounter) observe(date data.Date, counts bool) {
	w := date.Week()
	newest := c.newest.at(int32(w))
	if *newest == 0 {
		c.remember(w)
	}
	*newest = max(*newest, int(date-data.MinDate)+1)
	if counts {
		c.end(w)
		c.value, c.hasValue = date, true
	}
}

// remember adds a new week to the recent ones, if it is recent enough.
func (c *weekCounter) remember(w data.Week) {
	i, _ := slices.BinarySearch(c.recent, w)
	c.recent = slices.Insert(c.recent, i, w)
	if len(c.recent) > c.keep {
		c.recent, c.older = slices.Delete(c.recent, 0, 1), true
	}
}

// endLake ends the current lake.
func (c *weekCounter) endLake() {
	c.end(math.MaxInt32)
	c.hasValue = false
}

// end counts the current lake's value, if there is one, as current: from its own week until a newer value replaces it in
// the week next, or until it is stale.
func (c *weekCounter) end(next data.Week) {
	if !c.hasValue {
		return
	}
	*c.steps.at(int32(c.value.Week()))++
	last := int64(c.value) + int64(c.staleAfter)
	switch {
	case last <= int64(data.MaxDate) && next > data.Date(last).Week():
		*c.lasts.at(int32(last))++
	case next < math.MaxInt32:
		*c.steps.at(int32(next))--
	}
}

// since returns the first day whose readings are needed for the maps of the recent weeks: the first day that counts for the
// trophic status of the oldest of them, which may be as of its Monday. It never decreases.
func (c *weekCounter) since() data.Date {
	if !c.older {
		return data.MinDate
	}
	return max(c.recent[0].Monday()-(trophicDays-1), data.MinDate)
}

// asOf returns the newest observation of a week, and whether there is one.
func (c *weekCounter) asOf(w data.Week) (data.Date, bool) {
	n := *c.newest.at(int32(w))
	return data.MinDate + data.Date(n-1), n > 0
}

// weeks returns all weeks in ascending order, and the newest observation of each.
func (c *weekCounter) weeks() (counts []WeekCount, asOf []data.Date) {
	for i, n := range c.lasts.numbers {
		if n == 0 {
			continue
		}
		last := data.Date(c.lasts.first + int32(i))
		w := last.Week()
		if newest, ok := c.asOf(w); !ok || newest <= last {
			w++ // all later observations are after last
		}
		*c.steps.at(int32(w)) -= n
	}
	lakes, next := 0, c.steps.first
	for i, n := range c.newest.numbers {
		if n == 0 {
			continue
		}
		w := c.newest.first + int32(i)
		for ; next <= w && int(next-c.steps.first) < len(c.steps.numbers); next++ {
			lakes += c.steps.numbers[next-c.steps.first]
		}
		counts = append(counts, WeekCount{Week: data.Week(w), LakesWithData: lakes})
		asOf = append(asOf, data.MinDate+data.Date(n-1))
	}
	return counts, asOf
}
