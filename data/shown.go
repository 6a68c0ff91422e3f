package data

import (
	"context"
	"fmt"

	lru "github.com/hashicorp/golang-lru/v2"
)

// maxShown is how many views made by [Snapshot.Shown] are held, a hundred bytes each: some years of weeks.
const maxShown = 512

// Values are what a map is drawn from: the current value of each lake of a view. They do not hold on to the view.
type Values struct {
	states []State // if not nil, they are in these

	samples    series
	asOf       Date
	behind     int // how many weeks with an observation follow
	staleAfter int
}

// Of returns the value of Lakes[i].
func (v *Values) Of(i int) Chlorophyll {
	if v.states != nil {
		return v.states[i].Chlorophyll
	}
	past := v.samples.of(i).samples
	for k := v.until(past) - 1; k >= 0; k-- {
		if past[k].valid() {
			if stale(past[k].date(), v.asOf, v.staleAfter) {
				break
			}
			return past[k].chlorophyll()
		}
	}
	return NoChlorophyll
}

// until returns how many of a lake's samples lie up to and on the day asOf. Most lakes are seen once in each week: then it
// is known before one looks where the last of these lies, and the week before had it beside.
func (v *Values) until(samples []sample) int {
	n := len(samples) - v.behind
	end := from(v.asOf) + 1<<dateShift
	if n > 0 && samples[n-1] < end && (v.behind == 0 || samples[n] >= end) {
		return n
	}
	return countUntil(samples, v.asOf)
}

// Values returns the values of v.
func (v *View) Values() Values {
	if v.values != nil {
		return *v.values
	}
	return Values{states: v.States}
}

// Shown returns what [Snapshot.View] does, for whoever only draws it: there may be no States, only Values, which are
// looked up when they are asked for. So a map of which one tile is drawn costs what is on that tile.
func (s *Snapshot) Shown(ctx context.Context, w Week) (*View, error) {
	k := s.weekIndex(w)
	if w == s.Current.Week || k < s.held {
		return s.View(ctx, w)
	}
	if v, ok := s.shown.Get(w); ok {
		return v, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("view of %s: %w", w, err)
	}
	v := &View{
		Week: w, AsOf: s.asOf[k], Lakes: s.Lakes, WithData: s.Weeks[k].LakesWithData,
		values: &Values{samples: s.satellite, asOf: s.asOf[k], behind: len(s.Weeks) - 1 - k, staleAfter: s.staleAfter},
	}
	if first, found, _ := s.shown.PeekOrAdd(w, v); found {
		return first, nil
	}
	return v, nil
}

func newShown() (*lru.Cache[Week, *View], error) { return lru.New[Week, *View](maxShown) }
