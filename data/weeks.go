package data

import (
	"math"
	"slices"
)

// A weekCounter learns from satellite observations, as they come in, which weeks there are and in how many lakes a
// value is current in each of them. It keeps no observations: its room is that of the days that these span.
type weekCounter struct {
	staleAfter int
	newest     tally // by week: its newest observation's days since minDate, and one more; 0 without any
	// steps tell, by week, how many lakes more have a current value than in the week before. Where a value ends by
	// going stale, that hangs on the newest observation of the week in which it does, and is known at the end only:
	// lasts counts such values by the last day on which they are current.
	steps tally
	lasts tally

	value    Date // the newest value of the lake at hand
	hasValue bool

	keep   int
	recent []Week // the newest weeks, at most keep of them, ascending
	older  bool   // whether there are others
}

// observe takes the next observation of the lake at hand.
func (c *weekCounter) observe(o Observation) {
	w := o.Date.Week()
	newest := c.newest.at(int32(w))
	if *newest == 0 {
		c.remember(w)
	}
	*newest = max(*newest, int(o.Date-minDate)+1)
	if o.Chlorophyll.Valid() {
		c.end(w)
		c.value, c.hasValue = o.Date, true
	}
}

// remember puts a week that was not seen before among the recent ones, if it is one of them.
func (c *weekCounter) remember(w Week) {
	i, _ := slices.BinarySearch(c.recent, w)
	c.recent = slices.Insert(c.recent, i, w)
	if len(c.recent) > c.keep {
		c.recent, c.older = slices.Delete(c.recent, 0, 1), true
	}
}

// endLake closes the lake at hand.
func (c *weekCounter) endLake() {
	c.end(math.MaxInt32)
	c.hasValue = false
}

// end counts the value at hand, if there is one: from the week that holds it until a newer one replaces it, in the
// week next, or it is stale.
func (c *weekCounter) end(next Week) {
	if !c.hasValue {
		return
	}
	*c.steps.at(int32(c.value.Week()))++
	last := int64(c.value) + int64(c.staleAfter)
	switch {
	case last <= int64(maxDate) && next > Date(last).Week():
		*c.lasts.at(int32(last))++
	case next < math.MaxInt32:
		*c.steps.at(int32(next))--
	}
}

// since returns the day from which on the samples of all lakes are needed for the maps of the recent weeks: what the
// oldest one's trophic status counts, which may be as of its Monday. It never falls as more is observed.
func (c *weekCounter) since() Date {
	if !c.older {
		return minDate
	}
	return max(c.recent[0].Monday()-(trophicDays-1), minDate)
}

// asOf returns the newest observation of a week, and whether there is one.
func (c *weekCounter) asOf(w Week) (Date, bool) {
	n := *c.newest.at(int32(w))
	return minDate + Date(n-1), n > 0
}

// weeks returns all weeks in ascending order, and the newest observation of each.
func (c *weekCounter) weeks() (counts []WeekCount, asOf []Date) {
	for i, n := range c.lasts.numbers {
		if n == 0 {
			continue
		}
		last := Date(c.lasts.first + int32(i))
		w := last.Week()
		if newest, ok := c.asOf(w); !ok || newest <= last {
			w++ // every observation from then on is younger
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
		counts = append(counts, WeekCount{Week: Week(w), LakesWithData: lakes})
		asOf = append(asOf, minDate+Date(n-1))
	}
	return counts, asOf
}
