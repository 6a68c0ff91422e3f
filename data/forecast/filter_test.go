package forecast_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"limnomap/data/forecast"
	"limnomap/data/forecast/forecasttest"
)

// randomLake returns values of a made-up lake in ascending order: several a day, gaps of years, zeros and outliers. It computes with
// integers and one rounded quotient only, so that all processors make the same lake.
func randomLake(seed uint64) (latitude float64, values []forecast.Value) {
	r := rand.New(rand.NewPCG(seed, 20))
	latitude = float64(r.IntN(181) - 90)
	day := r.IntN(20_000) - 1000
	base := 1 + r.IntN(3000)
	for range r.IntN(150) {
		switch r.IntN(20) {
		case 0: // the same day
		case 1:
			day += r.IntN(3000)
		case 2:
			day += r.IntN(200)
		default:
			day += 1 + r.IntN(14)
		}
		chl := base * (1 + r.IntN(100)) / 30
		switch r.IntN(25) {
		case 0:
			chl = 0
		case 1:
			chl = r.IntN(150_000)
		case 2:
			chl = r.IntN(20)
		}
		values = append(values, forecast.Value{Day: day, Chl: float64(chl) / 100})
	}
	return latitude, values
}

func filterOf(latitude float64, values []forecast.Value) *forecast.Filter {
	f := forecast.New(latitude)
	for _, v := range values {
		f.Add(v)
	}
	return f
}

func TestProperties(t *testing.T) {
	limits := []float64{0, 0.05, 1, 8, 12, 24, 50, 75, 1000, 1500, 1e6}
	for seed := range uint64(2000) {
		latitude, values := randomLake(seed)
		f := forecast.New(latitude)
		for i := range len(values) + 1 {
			day := int(seed)
			if i > 0 {
				f.Add(values[i-1])
				day = values[i-1].Day
			}
			if i%7 != 0 {
				continue
			}
			for _, ahead := range []int{-400, 0, 7, 14, 21, 28, 1000, 100_000} {
				p := f.Predict(day + ahead)
				if !(math.Abs(p.Mu) < 20) || !(p.Sigma > 0.05 && p.Sigma < 20) {
					t.Fatalf("lake %d after %d values, %d days ahead: %+v", seed, i, ahead, p)
				}
				if !(0 < p.Lower() && p.Lower() <= p.Chl() && p.Chl() <= p.Upper() && p.Upper() <= 1500) {
					t.Fatalf("lake %d after %d values, %d days ahead: %v, %v, %v", seed, i, ahead, p.Lower(), p.Chl(), p.Upper())
				}
				before := 1.0
				for _, limit := range limits {
					e := p.Exceeds(limit)
					if !(e >= 0 && e <= before+1e-15) {
						t.Fatalf("lake %d after %d values, %d days ahead: reaches %v with probability %v, less with %v", seed, i, ahead, limit, e, before)
					}
					before = e
				}
				// What is stored keeps the forecast.
				s := forecast.FromStored(p.Chl(), p.Sigma)
				if p.Chl() < 1500 && math.Abs(s.Upper()-p.Upper()) > 1e-9*p.Upper() {
					t.Fatalf("lake %d: upper bound %v, from what is stored %v", seed, p.Upper(), s.Upper())
				}
			}
		}
	}
}

// Four years later everything is the same, bit by bit.
func TestShift(t *testing.T) {
	for seed := range uint64(500) {
		latitude, values := randomLake(seed)
		if len(values) == 0 {
			continue
		}
		f := filterOf(latitude, values)
		last := values[len(values)-1].Day
		for _, cycles := range []int{-3, 1, 7, 100} {
			shift := cycles * 1461
			moved := make([]forecast.Value, len(values))
			for i, v := range values {
				moved[i] = forecast.Value{Day: v.Day + shift, Chl: v.Chl}
			}
			g := filterOf(latitude, moved)
			for _, ahead := range []int{0, 7, 28, 365} {
				if p, q := f.Predict(last+ahead), g.Predict(last+ahead+shift); p != q {
					t.Fatalf("lake %d, %d days ahead: %+v, but %+v after %d days", seed, ahead, p, q, shift)
				}
				// From 1901 to 2099 every fourth year is a leap year.
				const from, to = -25_202, 47_482
				if values[0].Day+shift < from || last+ahead+max(shift, 0) >= to {
					continue
				}
				if r, s := f.Withheld(last, last+ahead), g.Withheld(last+shift, last+ahead+shift); r != s {
					t.Fatalf("lake %d, %d days ahead: %s, but %s after %d days", seed, ahead, r, s, shift)
				}
			}
		}
	}
}

// A forecast of an earlier day is the forecast of a filter that never saw later values, and a copy of a filter is independent.
func TestLeak(t *testing.T) {
	for seed := range uint64(200) {
		latitude, values := randomLake(seed)
		f := forecast.New(latitude)
		for i, v := range values {
			before := *f
			p := before.Predict(v.Day + 7)
			f.Add(v)
			f.Add(forecast.Value{Day: v.Day, Chl: 1400})
			if q := before.Predict(v.Day + 7); q != p {
				t.Fatalf("lake %d: %+v before value %d, %+v after it was added to the original", seed, p, i, q)
			}
			if q := filterOf(latitude, values[:i]).Predict(v.Day + 7); q != p {
				t.Fatalf("lake %d: %+v before value %d, %+v from the values before it", seed, p, i, q)
			}
			*f = before
			f.Add(v)
		}
		f.Reset(latitude)
		if *f != *forecast.New(latitude) {
			t.Fatal("Reset leaves something")
		}
	}
}

func TestAddIgnores(t *testing.T) {
	f := filterOf(50, weekly(20_000, 30))
	before := *f
	for _, v := range []forecast.Value{
		{Day: 20_300, Chl: math.NaN()}, {Day: 20_300, Chl: math.Inf(1)}, {Day: 20_300, Chl: -0.01}, {Day: 20_202, Chl: 5},
	} {
		f.Add(v)
		if *f != before {
			t.Errorf("%+v changed the filter", v)
		}
	}
	f.Add(forecast.Value{Day: 20_203, Chl: 5}) // the day of the last value
	if *f == before {
		t.Error("a second value of a day was ignored")
	}
}

// Zeros count as half of the smallest value before them, small values as 0.1.
func TestSmallValues(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want []float64
	}{
		{"first", []float64{0, 5}, []float64{0.1, 5}},
		{"half", []float64{3, 8, 0, 5}, []float64{3, 8, 1.5, 5}},
		{"later values", []float64{8, 0, 3, 0}, []float64{8, 4, 3, 1.5}},
		{"at least 0.1", []float64{0.15, 0, 5}, []float64{0.15, 0.1, 5}},
		{"small", []float64{0.02, 5, 0}, []float64{0.1, 5, 0.1}},
	} {
		var got, want []forecast.Value
		for i := range c.got {
			got = append(got, forecast.Value{Day: 7 * i, Chl: c.got[i]})
			want = append(want, forecast.Value{Day: 7 * i, Chl: c.want[i]})
		}
		if p, q := filterOf(50, got).Predict(50), filterOf(50, want).Predict(50); p != q {
			t.Errorf("%s: %v forecast %+v, %v forecast %+v", c.name, c.got, p, c.want, q)
		}
	}
}

// Without values the forecast is the season of the latitude.
func TestLatitude(t *testing.T) {
	mu := func(latitude float64, day int) float64 { return forecast.New(latitude).Predict(day).Mu }
	// 12 August and 11 February 2024: 182.625 days are half a year, so days differ a little.
	if s, w := mu(50, 19947), mu(50, 19764); s < w+1 {
		t.Errorf("the north has %v in summer, %v in winter", s, w)
	}
	if n, s := mu(50, 19947), mu(-50, 19764); math.Abs(n-s) > 0.01 {
		t.Errorf("summer has %v in the north, %v in the south", n, s)
	}
	for _, latitude := range []float64{-23.4, 0, 23.4} {
		if got := mu(latitude, 19947); got != 1.5 {
			t.Errorf("latitude %v has %v, want 1.5", latitude, got)
		}
	}
	if mu(23.5, 19947) != mu(50, 19947) || mu(-23.5, 19947) != mu(-50, 19947) || mu(math.NaN(), 19947) != mu(50, 19947) {
		t.Error("the tropics end below 23.5, and an unknown latitude is in the north")
	}
}

func TestPrediction(t *testing.T) {
	for _, c := range []struct {
		p                 forecast.Prediction
		chl, lower, upper float64
		limit, exceeds    float64
	}{
		{forecast.Prediction{Mu: math.Log(10), Sigma: 0.5}, 10, 5.2688, 18.9797, 10, 0.5},
		{forecast.Prediction{Mu: math.Log(10), Sigma: 0.5}, 10, 5.2688, 18.9797, 18.9797, 0.1},
		{forecast.Prediction{Mu: math.Log(2000), Sigma: 0.5}, 1500, 1053.75, 1500, 0, 1},
		{forecast.FromStored(10, 0.5), 10, 5.2688, 18.9797, 5.2688, 0.9},
		{forecast.FromStored(10, 0), 10, 10, 10, 9.9, 1},
		{forecast.FromStored(10, 0), 10, 10, 10, 10.1, 0},
		{forecast.FromStored(0, 0.5), 0, 0, 0, 1, 0},
	} {
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-4*b }
		if !near(c.p.Chl(), c.chl) || !near(c.p.Lower(), c.lower) || !near(c.p.Upper(), c.upper) || !near(c.p.Exceeds(c.limit), c.exceeds) {
			t.Errorf("%+v: %v from %v to %v, reaches %v with %v; want %+v",
				c.p, c.p.Chl(), c.p.Lower(), c.p.Upper(), c.limit, c.p.Exceeds(c.limit), c)
		}
	}
}

func TestWithheld(t *testing.T) {
	day := func(date string) int { return forecasttest.Day(t, date) }
	every := func(from string, n, step int) (days []int) {
		for i := range n {
			days = append(days, day(from)+i*step)
		}
		return days
	}
	summers := append(every("2022-05-01", 20, 7), every("2023-05-01", 20, 7)...) // the last is 2023-09-11
	for _, c := range []struct {
		name           string
		days           []int
		origin, target string
		want           forecast.Reason
	}{
		{"no values", nil, "2023-05-01", "2023-05-08", forecast.FewValues},
		{"four values", every("2023-05-01", 4, 7), "2023-05-25", "2023-06-01", forecast.FewValues},
		{"five values", every("2023-05-01", 5, 7), "2023-06-01", "2023-06-08", forecast.None},
		{"five values of one day", every("2023-05-01", 5, 0), "2023-06-01", "2023-06-08", forecast.None},
		{"42 days", every("2023-05-01", 5, 7), "2023-07-10", "2023-07-17", forecast.None},
		{"43 days", every("2023-05-01", 5, 7), "2023-07-11", "2023-07-18", forecast.OldValue},
		{"the origin", every("2023-05-01", 5, 7), "2023-06-01", "2023-06-01", forecast.NotAfterOrigin},
		{"before the origin", every("2023-05-01", 5, 7), "2023-06-01", "2023-05-31", forecast.NotAfterOrigin},
		{"the day after", every("2023-05-01", 5, 7), "2023-06-01", "2023-06-02", forecast.None},
		{"21 days after the season", summers, "2023-09-11", "2023-10-02", forecast.None},
		{"22 days after the season", summers, "2023-09-11", "2023-10-03", forecast.OutOfSeason},
		{"a short record has no season", summers[:20], "2022-09-12", "2022-10-10", forecast.None},
		{"a year has no season", append(every("2022-05-01", 4, 0), day("2023-05-01")), "2023-05-01", "2023-06-01", forecast.None},
		{"a year and a day", append(every("2022-05-01", 4, 0), day("2023-05-02")), "2023-05-02", "2023-06-01", forecast.OutOfSeason},
		{"over new year", append(every("2021-12-20", 9, 0), day("2022-12-24")), "2022-12-24", "2023-01-14", forecast.None},
		{"over new year, too late", append(every("2021-12-20", 9, 0), day("2022-12-24")), "2022-12-24", "2023-01-15", forecast.OutOfSeason},
		{"old and out of season", summers, "2023-12-01", "2023-12-08", forecast.OldValue},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := forecast.New(50)
			for _, d := range c.days {
				f.Add(forecast.Value{Day: d, Chl: 10})
			}
			if got := f.Withheld(day(c.origin), day(c.target)); got != c.want {
				t.Errorf("Withheld(%s, %s) = %s, want %s", c.origin, c.target, got, c.want)
			}
		})
	}
	if got := (forecast.NotAfterOrigin + 1).String(); got != "unknown reason" {
		t.Errorf("a reason beyond the last is %q", got)
	}
}

// A Filter takes and forecasts without allocating.
func TestAllocations(t *testing.T) {
	values := weekly(20_000, 20)
	f := forecast.New(50)
	if n := testing.AllocsPerRun(10, func() {
		f.Reset(50)
		for _, v := range values {
			f.Add(v)
		}
		sink = f.Predict(20_200)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
