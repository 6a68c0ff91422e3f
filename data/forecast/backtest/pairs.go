package backtest

import (
	"time"

	"limnomap/data/forecast"
	"limnomap/data/forecast/exact"
)

// A Method makes forecasts.
type Method int

const (
	Model Method = iota
	Persistence
	Climatology
	AR1

	Methods = 4 // how many there are
)

// String returns the name of m for tables.
func (m Method) String() string {
	return [Methods]string{"model", "persistence", "climatology", "AR(1)"}[m]
}

const (
	Weeks = 4 // the longest forecast

	truthDays = 3   // how far the truth may be from the target
	smallest  = 0.1 // µg/l: smaller values count as this one
)

// A Pair is the forecasts for one day, and the value that came.
type Pair struct {
	Origin, Target, TruthDay int     // days since 1970-01-01
	Last, Truth              float64 // µg/l: the last value on the day of origin, and the one that came
	Predictions              [Methods]forecast.Prediction
}

// Week returns how many weeks ahead the forecasts are, 1 to 4.
func (p *Pair) Week() int { return (p.Target - p.Origin) / 7 }

// Pairs returns the pairs of the last calendar years of one lake, in order of origin and target. The last year is that of the last value.
// Values must be in ascending order of days.
func Pairs(latitude float64, values []forecast.Value, years int) []Pair {
	if len(values) == 0 {
		return nil
	}
	last := values[len(values)-1].Day
	start := dayOf(time.Date(yearOf(last)-years+1, 1, 1, 0, 0, 0, 0, time.UTC))
	peers := newPeers(values, start)
	f := forecast.New(latitude)
	var pairs []Pair
	known := 0
	for origin := mondayFrom(start); origin < last; origin += 7 {
		for ; known < len(values) && values[known].Day <= origin; known++ {
			f.Add(values[known])
			peers.add(values[known])
		}
		for target := origin + 7; target <= origin+7*Weeks; target += 7 {
			if f.Withheld(origin, target) != forecast.None {
				continue
			}
			truth := nearest(values[known:], target)
			if truth == nil {
				continue
			}
			p := Pair{Origin: origin, Target: target, TruthDay: truth.Day, Last: values[known-1].Chl, Truth: truth.Chl}
			p.Predictions[Model] = f.Predict(target)
			peers.predict(&p)
			pairs = append(pairs, p)
		}
	}
	return pairs
}

// nearest returns the value that is nearest to a day and at most truthDays away, the first of several, or nil.
func nearest(values []forecast.Value, day int) *forecast.Value {
	var best *forecast.Value
	for i := range values {
		v := &values[i]
		if v.Day > day+truthDays {
			break
		}
		if v.Day >= day-truthDays && (best == nil || abs(v.Day-day) < abs(best.Day-day)) {
			best = v
		}
	}
	return best
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// mondayFrom returns the first Monday from a day on: the first of January 1970 was a Thursday.
func mondayFrom(day int) int { return day + (11-day%7)%7 }

func yearOf(day int) int { return time.Unix(int64(day)*86400, 0).UTC().Year() }

func dayOf(t time.Time) int { return int(t.Unix() / 86400) }

// logOf returns the natural logarithm of a value.
func logOf(chl float64) float64 { return exact.Ln(max(chl, smallest)) }
