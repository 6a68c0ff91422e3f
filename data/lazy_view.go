package data

import (
	"context"
	"fmt"

	lru "github.com/hashicorp/golang-lru/v2"
)

// maxLazyViewsBytes bounds the views that [Snapshot.LazyView] keeps: some years of weeks, about as many bytes each.
const (
	maxLazyViewsBytes = 128 << 10
	lazyViewBytes     = 256 // with the entry of the cache
)

// Values are the current values of a view's lakes, from which a map is drawn. They do not keep the view in memory.
type Values struct {
	states []State // if not nil, the values are in these

	samples    series
	asOf       Date
	behind     int // number of later weeks with an observation
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

// until returns how many of a lake's samples have a date up to and including asOf. Most lakes have one sample in each
// week, so the index of the last one is known without a search, and its neighbour confirms it.
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

// LazyView returns the same as [Snapshot.View], for drawing only: it may have no States, only Values, which are computed
// when they are read. So drawing one tile of a map costs only the lakes of that tile.
func (s *Snapshot) LazyView(ctx context.Context, w Week) (*View, error) {
	k := s.weekIndex(w)
	if w == s.Current.Week || k < s.held {
		return s.View(ctx, w)
	}
	if v, ok := s.lazyViews.Get(w); ok {
		return v, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("view of %s: %w", w, err)
	}
	v := &View{
		Week: w, AsOf: s.asOf[k], Lakes: s.Lakes, WithData: s.weeks[k].LakesWithData,
		values: &Values{samples: s.satellite, asOf: s.asOf[k], behind: len(s.weeks) - 1 - k, staleAfter: s.staleAfter},
	}
	if first, found, _ := s.lazyViews.PeekOrAdd(w, v); found {
		return first, nil
	}
	return v, nil
}

func newLazyViews() (*lru.Cache[Week, *View], error) {
	return lru.New[Week, *View](maxLazyViewsBytes / lazyViewBytes)
}
