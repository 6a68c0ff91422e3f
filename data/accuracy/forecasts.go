package accuracy

import (
	"math"

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

// Factor returns by which factor forecasts were higher than the values that came.
func (f *Forecasts) Factor() float64 { return math.Exp(f.sum / float64(f.Count)) }

// RMSE returns the root of the mean square of the differences of the logarithms.
func (f *Forecasts) RMSE() float64 { return math.Sqrt(f.squares / float64(f.Count)) }

// Agreement returns how many forecasts have the class of the value that came, a lower or a higher one.
func (f *Forecasts) Agreement() (same, low, high int) { return agreement(f.Classes) }
