package backtest_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"limnomap/data/forecast"
	"limnomap/data/forecast/backtest"
)

// Of the same values Past says what Pairs says of one week ahead, and its filter is that of the values up to the day of issue.
func TestPast(t *testing.T) {
	better := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 23))
		values := randomLake(seed)
		if seed%3 == 0 { // the last value is nearly always right
			for i := range values {
				values[i].Chl = float64(2 + 40*(values[i].Day/900%2))
			}
		}
		var p backtest.Past
		first, last := values[0].Day, values[len(values)-1].Day
		issued := first + r.IntN(last-first)
		p.Begin(50, slices.Values(values), issued)
		for ; issued <= last+40; issued += 1 + r.IntN(200) {
			known := values[:0:0]
			for _, v := range values {
				if v.Day <= issued {
					known = append(known, v)
				}
			}
			day, ok := p.Advance(issued)
			if !ok || day != known[len(known)-1].Day {
				t.Fatalf("seed %d: on day %d the last value is of %d, %v, want %d", seed, issued, day, ok, known[len(known)-1].Day)
			}
			f := forecast.New(50)
			for _, v := range known {
				f.Add(v)
			}
			if got, want := p.Predict(issued+7), f.Predict(issued+7); got != want || p.Mu(issued+7) != want.Mu {
				t.Errorf("seed %d: on day %d the forecast is %+v, want %+v", seed, issued, got, want)
			}
			var lake []backtest.Pair
			for _, pair := range backtest.Pairs(50, known, 100) {
				if pair.Week() == 1 && pair.Origin >= issued-1096 && pair.Target+3 <= issued {
					lake = append(lake, pair)
				}
			}
			evaluated := backtest.New(backtest.Classes{Limits: [2]float64{10, 50}}).Evaluate(lake)
			model, pairs := evaluated.SquaredErrors(1, backtest.Model)
			persistence, _ := evaluated.SquaredErrors(1, backtest.Persistence)
			want := pairs >= 26 && model > 1.05*1.05*persistence
			if got := p.LastValueBetter(issued); got != want {
				t.Errorf("seed %d: on day %d the last value is better: %v, want %v, with the squared errors %v and %v of %d pairs", seed, issued, got, want, model, persistence, pairs)
			}
			if want {
				better++
			}
		}
	}
	if better < 10 {
		t.Errorf("the last value is better %d times, want it tested", better)
	}
}

// It takes half a year of weeks to say that the last value is better, and another lake begins without them.
func TestPastPairs(t *testing.T) {
	const monday = 19_723 // the first of January 2024
	var p backtest.Past
	for _, c := range []struct {
		weeks int
		want  bool
	}{{30, false}, {31, true}, {30, false}, {0, false}} { // the first five values and the last one have no forecast whose value came
		var values []forecast.Value
		for w := range c.weeks {
			values = append(values, forecast.Value{Day: monday + 7*w, Chl: 5})
		}
		issued := monday + 7*c.weeks
		p.Begin(50, slices.Values(values), issued)
		if _, ok := p.Advance(issued); ok != (c.weeks > 0) {
			t.Errorf("%d weeks: there is a value: %v", c.weeks, ok)
		}
		if got := p.LastValueBetter(issued); got != c.want {
			t.Errorf("%d weeks of one value: the last value is better: %v, want %v", c.weeks, got, c.want)
		}
	}
}

// BenchmarkPast is one lake with 104 weekly values, as BenchmarkFilter of package forecast, and its repeated forecasts.
func BenchmarkPast(b *testing.B) {
	var values []forecast.Value
	for w := range 104 {
		values = append(values, forecast.Value{Day: 19_000 + 7*w, Chl: float64(5 + w%11)})
	}
	issued := values[len(values)-1].Day
	var p backtest.Past
	b.ReportAllocs()
	for b.Loop() {
		p.Begin(50, slices.Values(values), issued)
		p.Advance(issued)
		for week := range 4 {
			p.Predict(issued + 7*week + 7)
		}
		p.LastValueBetter(issued)
	}
}
