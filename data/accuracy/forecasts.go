package accuracy

import (
	"math"
	"slices"

	"limnomap/data"
)

// ForecastIssues is how many issues of the forecast are compared with what came: the newest ones.
const ForecastIssues = 4

// Forecasts compare forecasts of some weeks ahead with the values that came.
type Forecasts struct {
	Count, Within, Covered int // all; within a factor of 2 of the value; with the value between their bounds
	Classes                [3][3]int
	sum, squares           float64 // of the differences
}

// Add adds a forecast and the value that came.
func (f *Forecasts) Add(forecast data.StoredForecast, came Value, profile *data.Profile) {
	shown := Value{Chlorophyll: forecast.Chlorophyll()}
	d := shown.log() - came.log()
	f.Count++
	f.sum, f.squares = f.sum+d, f.squares+d*d
	if math.Abs(d) <= math.Log(withinFactor)+1e-12 {
		f.Within++
	}
	if lower, upper := forecast.Bounds(); lower <= came.Chlorophyll && came.Chlorophyll <= upper {
		f.Covered++
	}
	f.Classes[profile.Level(shown.Chlorophyll).Risk()-data.RiskLow][came.Risk-data.RiskLow]++
}

// add adds the sums of other forecasts.
func (f *Forecasts) add(other *Forecasts) {
	f.Count, f.Within, f.Covered = f.Count+other.Count, f.Within+other.Within, f.Covered+other.Covered
	f.sum, f.squares = f.sum+other.sum, f.squares+other.squares
	for i := range f.Classes {
		for k := range f.Classes[i] {
			f.Classes[i][k] += other.Classes[i][k]
		}
	}
}

// An Issue compares the forecasts of one issue with the passes that came.
type Issue struct {
	Of        data.ForecastIssue
	Came      [data.ForecastWeeks]uint64 // of each week a number that changes with the passes
	Forecasts [data.ForecastWeeks]Forecasts
}

// Add adds a forecast of some weeks ahead, from 1 on, and the pass that came.
func (i *Issue) Add(week int, forecast data.StoredForecast, came *data.Observation, profile *data.Profile) {
	i.Forecasts[week-1].Add(forecast, valueOf(came, profile), profile)
}

// Issue returns the comparison of an issue; false if there is none. The ledger may be nil.
func (l *Ledger) Issue(of data.ForecastIssue) (i Issue, ok bool) {
	if l == nil {
		return i, false
	}
	at := slices.IndexFunc(l.issues, func(i Issue) bool { return i.Of == of })
	if at < 0 {
		return i, false
	}
	return l.issues[at], true
}

// Factor returns by which factor forecasts were higher than the values that came.
func (f *Forecasts) Factor() float64 { return math.Exp(f.sum / float64(f.Count)) }

// RMSE returns the root of the mean square of the differences of the logarithms.
func (f *Forecasts) RMSE() float64 { return math.Sqrt(f.squares / float64(f.Count)) }

// Agreement returns how many forecasts have the class of the value that came, a lower or a higher one.
func (f *Forecasts) Agreement() (same, low, high int) { return agreement(f.Classes) }
