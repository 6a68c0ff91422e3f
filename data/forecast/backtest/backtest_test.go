package backtest_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"limnomap/data/forecast"
	"limnomap/data/forecast/backtest"
	"limnomap/data/forecast/forecasttest"
)

// randomLake returns a lake with a season, about one value in ten days for some years.
func randomLake(seed uint64) []forecast.Value {
	r := rand.New(rand.NewPCG(seed, 7))
	var values []forecast.Value
	day := 14_000 + r.IntN(1000)
	level := 1 + 2*r.Float64()
	anomaly := 0.0
	for end := day + 500 + r.IntN(3000); day < end; day += 1 + r.IntN(20) {
		anomaly = 0.7*anomaly + 0.3*r.NormFloat64()
		y := level - math.Cos(2*math.Pi*float64(day)/365.25) + anomaly + 0.3*r.NormFloat64()
		chl := math.Exp(y)
		if r.IntN(40) == 0 {
			chl = 0
		}
		values = append(values, forecast.Value{Day: day, Chl: chl})
	}
	return values
}

func TestPairs(t *testing.T) {
	day := func(date string) int { return forecasttest.Day(t, date) }
	// 2023-01-02 is a Monday. Five values of December, so that there are forecasts.
	december := []string{"2022-12-01", "2022-12-08", "2022-12-15", "2022-12-22", "2022-12-29"}
	type pair struct {
		origin, target, truth string
	}
	for _, c := range []struct {
		name  string
		dates []string
		years int
		want  []pair
	}{
		{"no values", nil, 3, nil},
		{"only one year", []string{"2023-05-01"}, 3, nil},
		{"within 3 days", append(december, "2023-01-12"), 1, []pair{{"2023-01-02", "2023-01-09", "2023-01-12"}}},
		{"4 days are too far", append(december, "2023-01-13"), 1, []pair{
			{"2023-01-02", "2023-01-16", "2023-01-13"}, {"2023-01-09", "2023-01-16", "2023-01-13"}}},
		{"the nearest", append(december, "2023-01-07", "2023-01-10"), 1, []pair{{"2023-01-02", "2023-01-09", "2023-01-10"}}},
		{"the first of two", append(december, "2023-01-08", "2023-01-10"), 1, []pair{{"2023-01-02", "2023-01-09", "2023-01-08"}}},
		{"withheld after 42 days", append(december, "2023-02-13"), 1, []pair{
			{"2023-01-16", "2023-02-13", "2023-02-13"}, {"2023-01-23", "2023-02-13", "2023-02-13"}, {"2023-01-30", "2023-02-13", "2023-02-13"},
			{"2023-02-06", "2023-02-13", "2023-02-13"}}},
		{"the origin's own value is known", append(december, "2023-01-02", "2023-01-09"), 1, []pair{{"2023-01-02", "2023-01-09", "2023-01-09"}}},
		{"fewer than 5 values", []string{"2022-12-08", "2022-12-15", "2022-12-22", "2022-12-29", "2023-01-12"}, 1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var values []forecast.Value
			for i, d := range c.dates {
				values = append(values, forecast.Value{Day: day(d), Chl: float64(i + 1)})
			}
			var got []pair
			date := func(day int) string { return time.Unix(int64(day)*86400, 0).UTC().Format(time.DateOnly) }
			for _, p := range backtest.Pairs(50, values, c.years) {
				got = append(got, pair{date(p.Origin), date(p.Target), date(p.TruthDay)})
				if p.Week() != (p.Target-p.Origin)/7 {
					t.Errorf("Week() = %d", p.Week())
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("pairs %v, want %v", got, c.want)
			}
		})
	}
}

// Only values up to the origin change what is forecast, and only past years what simple methods are fitted to.
func TestLeak(t *testing.T) {
	for seed := range uint64(40) {
		values := randomLake(seed)
		pairs := backtest.Pairs(50, values, 3)
		if len(pairs) == 0 {
			continue
		}
		p := pairs[len(pairs)/2]
		changed := slices.Clone(values)
		for i := range changed {
			if changed[i].Day > p.Origin {
				changed[i].Chl = 1000
			}
		}
		found := false
		for _, q := range backtest.Pairs(50, changed, 3) {
			if q.Origin == p.Origin && q.Target == p.Target {
				found = true
				if q.Predictions != p.Predictions {
					t.Errorf("lake %d: %+v, but %+v if later values are 1000", seed, p.Predictions, q.Predictions)
				}
			}
		}
		if !found {
			t.Errorf("lake %d: the pair is missing", seed)
		}
		// The model forecasts as the filter does.
		f := forecast.New(50)
		for _, v := range values {
			if v.Day <= p.Origin {
				f.Add(v)
			}
		}
		if f.Predict(p.Target) != p.Predictions[backtest.Model] {
			t.Errorf("lake %d: the model has %+v, the filter %+v", seed, p.Predictions[backtest.Model], f.Predict(p.Target))
		}
	}
}

// The simple methods of a lake that is easy to compute by hand.
func TestPeers(t *testing.T) {
	// Every seventh day for five years 10 µg/l, then once 20.
	var values []forecast.Value
	start := forecasttest.Day(t, "2018-01-01")
	for day := start; day < start+5*365; day += 7 {
		values = append(values, forecast.Value{Day: day, Chl: 10})
	}
	values[len(values)-3].Chl = 20
	pairs := backtest.Pairs(50, values, 1)
	last := pairs[len(pairs)-2] // two weeks ahead from the value of 20
	if last.Origin != values[len(values)-3].Day || last.Week() != 1 && last.Week() != 2 {
		last = pairs[len(pairs)-3]
	}
	p := last.Predictions
	if last.Origin != values[len(values)-3].Day {
		t.Fatalf("origin %d", last.Origin)
	}
	for m, want := range map[backtest.Method]float64{backtest.Persistence: math.Log(20), backtest.Climatology: math.Log(10)} {
		if math.Abs(p[m].Mu-want) > 1e-9 {
			t.Errorf("%s: mean %v, want %v", m, p[m].Mu, want)
		}
	}
	if mu := p[backtest.AR1].Mu; !(mu >= math.Log(10) && mu < math.Log(20)) {
		t.Errorf("AR(1): mean %v", mu)
	}
	// All training errors are 0, so only the default is left: four errors of it among some 200.
	for _, m := range []backtest.Method{backtest.Persistence, backtest.Climatology, backtest.AR1} {
		if s := p[m].Sigma; !(s > 0.05 && s < 0.15) {
			t.Errorf("%s: standard deviation %v", m, s)
		}
	}
}

// The scores of two forecasts with a median of e µg/l and a standard deviation of 1, of values whose logarithms are 0 and 2: errors of 1 and -1.
func TestScores(t *testing.T) {
	s := backtest.New(backtest.Classes{Limits: [2]float64{2, 50}})
	var pairs []backtest.Pair
	for i, truth := range []float64{1, math.Exp(2)} {
		p := backtest.Pair{Origin: 7 * i, Target: 7*i + 7, TruthDay: 7*i + 7, Truth: truth}
		for m := range p.Predictions {
			p.Predictions[m] = forecast.Prediction{Mu: 1, Sigma: 1}
		}
		pairs = append(pairs, p)
	}
	s.Add(s.Evaluate(pairs))
	reaches := math.Erfc((math.Ln2-1)/math.Sqrt2) / 2 // 2 µg/l
	reachesHigh := math.Erfc((math.Log(50)-1)/math.Sqrt2) / 2
	const within = 1.28155 // standard deviations to the quantile 0.9
	for _, week := range []int{0, 1} {
		for m := range backtest.Method(backtest.Methods) {
			r := s.Row(week, m)
			if r.Pairs != 2 || r.Lakes != 1 || r.ComparedLakes != 0 || !math.IsNaN(r.AUC[1]) { // no value reaches the second limit
				t.Errorf("week %d, %s: %+v", week, m, r)
			}
			for _, c := range []struct {
				name      string
				got, want float64
			}{
				{"RMSE", r.RMSE, 1}, {"MAE", r.MAE, 1}, {"Bias", r.Bias, 0}, {"MedianFactor", r.MedianFactor, math.Exp(1.0005)},
				{"Pinball", r.Pinball, 2.0 / 3 * (0.1*(within-1) + 0.5 + 0.1*(within+1))},
				{"CRPS", r.CRPS, math.Erf(1/math.Sqrt2) + 2*math.Exp(-0.5)/math.Sqrt(2*math.Pi) - 1/math.Sqrt(math.Pi)},
				{"Coverage", r.Coverage, 1}, {"Width", r.Width, 2 * within}, {"RightClass", r.RightClass, 0.5},
				{"Brier 0", r.Brier[0], (reaches*reaches + (1-reaches)*(1-reaches)) / 2}, {"Brier 1", r.Brier[1], reachesHigh * reachesHigh}, {"AUC 0", r.AUC[0], 0.5},
			} {
				if !(math.Abs(c.got-c.want) <= 1e-4) {
					t.Errorf("week %d, %s: %s = %v, want %v", week, m, c.name, c.got, c.want)
				}
			}
			bin := s.Reliability(week, m, 0)[6]
			if bin.Forecasts != 2 || math.Abs(bin.Forecast-reaches) > 1e-4 || bin.Reached != 0.5 {
				t.Errorf("week %d, %s: reliability %+v, want 2 forecasts of %v, of which one reached the limit", week, m, bin, reaches)
			}
		}
	}
	// A lake with a value above both limits, and a forecast that says so.
	high := backtest.Pair{Origin: 0, Target: 14, Truth: 60}
	for m := range high.Predictions {
		high.Predictions[m] = forecast.Prediction{Mu: 4, Sigma: 1}
	}
	s.Add(s.Evaluate([]backtest.Pair{high}))
	if r := s.Row(0, backtest.Model); r.Pairs != 3 || r.Lakes != 2 || r.AUC != [2]float64{0.75, 1} {
		t.Errorf("with a third forecast: %+v", r)
	}
}

// pairsOf returns pairs of one week whose errors are given, for the model and for persistence. The value of pair i has day truths[i].
func pairsOf(model, persistence []float64, truths []int) (pairs []backtest.Pair) {
	for i := range model {
		p := backtest.Pair{Origin: 7 * i, Target: 7*i + 7, TruthDay: truths[i], Truth: 1}
		for m := range p.Predictions {
			p.Predictions[m] = forecast.Prediction{Mu: persistence[i], Sigma: 1}
		}
		p.Predictions[backtest.Model].Mu = model[i]
		pairs = append(pairs, p)
	}
	return pairs
}

func TestCompared(t *testing.T) {
	days := []int{0, 1, 2, 3, 4, 5, 6, 7}
	one := []float64{1, 1, 1, 1, 1, 1, 1, 1}
	two := []float64{2, 2, 2, 2, 2, 2, 2, 2}
	mixed := []float64{3, 0, 3, 0, 3, 0, 0.1, 0}
	for _, c := range []struct {
		name               string
		model, persistence []float64
		truths             []int
		lakes              int
		better, worse      float64
	}{
		{"better", one, two, days, 1, 1, 0},
		{"worse", two, one, days, 1, 0, 1},
		{"equal", one, one, days, 1, 0, 0},
		{"worse by chance", mixed, one, days, 1, 0, 0},
		{"seven pairs", two[:7], one[:7], days[:7], 0, math.NaN(), math.NaN()},
		{"one value", two, one, make([]int, 8), 1, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := backtest.New(backtest.Classes{Limits: [2]float64{10, 50}})
			l := s.Evaluate(pairsOf(c.model, c.persistence, c.truths))
			s.Add(l)
			for _, week := range []int{0, 1} {
				r := s.Row(week, backtest.Model)
				same := func(a, b float64) bool { return a == b || a != a && b != b }
				if r.ComparedLakes != c.lakes || !same(r.BeatsPersistence, c.better) || !same(r.ClearlyWorse, c.worse) {
					t.Errorf("week %d: %d lakes, better in %v, clearly worse in %v; want %d, %v, %v",
						week, r.ComparedLakes, r.BeatsPersistence, r.ClearlyWorse, c.lakes, c.better, c.worse)
				}
				sum, pairs := l.SquaredErrors(week, backtest.Model)
				if math.Abs(sum-r.RMSE*r.RMSE*float64(r.Pairs)) > 1e-9 || pairs != r.Pairs {
					t.Errorf("week %d: squared errors %v of %d pairs, RMSE %v of %d", week, sum, pairs, r.RMSE, r.Pairs)
				}
			}
		})
	}
}

// A class begins at its limit or above it.
func TestClasses(t *testing.T) {
	for _, above := range []bool{false, true} {
		s := backtest.New(backtest.Classes{Limits: [2]float64{1, 50}, Above: above})
		s.Add(s.Evaluate(pairsOf([]float64{3}, []float64{-3}, []int{7}))) // the value is 1
		model, persistence := s.Row(1, backtest.Model).RightClass, s.Row(1, backtest.Persistence).RightClass
		if above && (model != 0 || persistence != 1) || !above && (model != 1 || persistence != 0) {
			t.Errorf("above %v: right class %v for 20 µg/l, %v for 0.05", above, model, persistence)
		}
		reached := 0.0
		for _, b := range s.Reliability(1, backtest.Model, 0) {
			if b.Forecasts > 0 {
				reached += b.Reached
			}
		}
		if above != (reached == 0) {
			t.Errorf("above %v: reached %v", above, reached)
		}
	}
}

func TestCheck(t *testing.T) {
	n := 100
	truths, zero, one := make([]int, n), make([]float64, n), make([]float64, n)
	normal := make([]float64, n) // of which 80 are within the bounds
	for i := range n {
		truths[i], one[i] = i, 3
		if i < 20 {
			normal[i] = 1.5
		}
	}
	for _, c := range []struct {
		name               string
		model, persistence []float64
		want               string
	}{
		{"good", normal, one, ""},
		{"not better", one, one, "forecasts of week 1: the error of ln chl is 3.000, which is not less than that of the last value, 3.000"},
		{"too wide", zero, one, "forecasts of week 1: 1.00 of the values lie between the bounds, want 0.70 to 0.90"},
		{"nothing", nil, nil, "no forecast of past years has a value to compare it with"},
	} {
		s := backtest.New(backtest.Classes{Limits: [2]float64{10, 50}})
		s.Add(s.Evaluate(pairsOf(c.model, c.persistence, truths)))
		got := ""
		if err := s.Check(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: Check() = %q, want %q", c.name, got, c.want)
		}
	}
}

// A rise begins below a limit and ends at it. It is foreseen with a probability of one half.
func TestRises(t *testing.T) {
	for _, c := range []struct {
		last, mu, truth float64
		rises, foreseen [2]int
	}{
		{5, 1, 9, [2]int{}, [2]int{}},
		{5, 2, 10, [2]int{1, 0}, [2]int{}},
		{5, 2.31, 60, [2]int{1, 1}, [2]int{1, 0}},
		{5, 4, 60, [2]int{1, 1}, [2]int{1, 1}},
		{10, 4, 60, [2]int{0, 1}, [2]int{0, 1}},
		{50, 4, 60, [2]int{}, [2]int{}},
	} {
		s := backtest.New(backtest.Classes{Limits: [2]float64{10, 50}})
		pair := backtest.Pair{Target: 7, Last: c.last, Truth: c.truth}
		for m := range pair.Predictions {
			pair.Predictions[m] = forecast.Prediction{Mu: c.mu, Sigma: 1}
		}
		s.Add(s.Evaluate([]backtest.Pair{pair}))
		for limit := range c.rises {
			if rises, foreseen := s.Rises(1, backtest.Model, limit); rises != c.rises[limit] || foreseen != c.foreseen[limit] {
				t.Errorf("%+v: %d rises to limit %d, %d foreseen", c, rises, limit, foreseen)
			}
			if rises, _ := s.Rises(2, backtest.Model, limit); rises != 0 {
				t.Errorf("%+v: %d rises of two weeks", c, rises)
			}
		}
	}
}

// Nothing that a lake can have makes a score that is no number, apart from those of no pairs.
func TestNoNaN(t *testing.T) {
	s := backtest.New(backtest.Classes{Limits: [2]float64{10, 50}})
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 9))
		var values []forecast.Value
		day := 15_000
		for range 20 + r.IntN(200) {
			day += r.IntN(20)
			values = append(values, forecast.Value{Day: day, Chl: float64(r.IntN(3)) * 700})
		}
		s.Add(s.Evaluate(backtest.Pairs(float64(r.IntN(181)-90), values, 2)))
	}
	for week := range backtest.Weeks + 1 {
		for m := range backtest.Method(backtest.Methods) {
			for i, x := range columns(s.Row(week, m)) {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					t.Errorf("week %d, %s: column %d is %v", week, m, i, x)
				}
			}
		}
	}
	empty := backtest.New(backtest.Classes{}).Row(0, backtest.Model)
	if empty.Pairs != 0 || !math.IsNaN(empty.RMSE) || !math.IsNaN(empty.MedianFactor) || !math.IsNaN(empty.AUC[0]) {
		t.Errorf("without pairs: %+v", empty)
	}
}
