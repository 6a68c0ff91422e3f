package forecast

import (
	"math"
	"sync"

	"limnomap/data/forecast/exact"
)

const (
	yearDays  = 365.25
	cycleDays = 1461 // four years: the season of every day repeats exactly
	maxDecay  = 400  // gaps of so many days are in the tables
)

// harmonics are cos a, sin a, cos 2a, sin 2a, cos 3a, sin 3a of a day.
type harmonics [6]float64

// decay is how the anomalies of the settings change in some days.
type decay struct {
	slow, fast       float64 // factors
	addSlow, addFast float64 // variances
}

type tables struct {
	season [cycleDays]harmonics
	decays [maxDecay][len(settings)]decay
}

var sharedTables = sync.OnceValue(func() *tables {
	t := new(tables)
	var cos, sin [cycleDays]float64
	for i := range cos {
		cos[i], sin[i] = cosSin(i)
	}
	for day := range t.season {
		for k := range 3 {
			i := 4 * day * (k + 1) % cycleDays
			t.season[day][2*k], t.season[day][2*k+1] = cos[i], sin[i]
		}
	}
	for days := range t.decays {
		for g := range settings {
			t.decays[days][g] = decayOf(&settings[g], float64(days))
		}
	}
	return t
})

// decayOf returns the decay of setting s in so many days.
func decayOf(s *setting, days float64) decay {
	d := decay{slow: exact.Exp(-days / s.slowDays), fast: exact.Exp(-days / s.fastDays)}
	d.addSlow = float64(s.slowVariance * (1 - float64(d.slow*d.slow)))
	d.addFast = float64(s.fastVariance * (1 - float64(d.fast*d.fast)))
	return d
}

// seasonOf returns the harmonics of a day.
func (t *tables) seasonOf(day int) *harmonics {
	return &t.season[((day%cycleDays)+cycleDays)%cycleDays]
}

// decay returns the decay of setting g in so many days.
func (t *tables) decay(g, days int) decay {
	if days < maxDecay {
		return t.decays[days][g]
	}
	return decayOf(&settings[g], float64(days))
}

// cosSin returns the cosine and the sine of i/1461 turns, for i from 0 to 1460.
func cosSin(i int) (c, s float64) {
	// Angles above 1/8 of a turn are mirrored into that range, in units of 1/1461/8 of a turn, which are whole numbers.
	const turn = 8 * cycleDays
	a := 8 * i
	var negCos, negSin, swap bool
	if a > turn/2 {
		a, negSin = turn-a, true
	}
	if a > turn/4 {
		a, negCos = turn/2-a, true
	}
	if a > turn/8 {
		a, swap = turn/4-a, true
	}
	x := float64(2*math.Pi*float64(a)) / turn
	z := float64(x * x)
	// Taylor series, smallest terms first.
	c, s = 1, 1
	for n := 20; n > 0; n -= 2 {
		c = 1 - float64(c*z)/float64(n*(n-1))
		s = 1 - float64(s*z)/float64((n+1)*n)
	}
	s = float64(s * x)
	if swap {
		c, s = s, c
	}
	if negCos {
		c = -c
	}
	if negSin {
		s = -s
	}
	return c, s
}
