package forecast

import (
	"math"

	"limnomap/data/forecast/exact"
)

// Model is the name of this package's model. It changes with each change of the forecasts that it makes.
const Model = "limnomap-1"

const maxChl = 1500 // µg/l: no forecast and no bound is above

// Within is how many standard deviations around the mean have four of five values: the quantile 0.9 of the normal distribution.
const Within = 1.2815515655446004

// A Prediction is the distribution of a future value: its natural logarithm is normal.
type Prediction struct {
	Mu, Sigma float64 // mean and standard deviation of exact.Ln(µg/l)
}

// FromStored returns the prediction whose Chl and Sigma were stored.
func FromStored(chl, sigma float64) Prediction {
	return Prediction{Mu: exact.Ln(chl), Sigma: sigma}
}

// Chl returns the median in µg/l, at most 1,500.
func (p Prediction) Chl() float64 {
	return min(exact.Exp(p.Mu), maxChl)
}

// Lower returns the value in µg/l that nine of ten values are above, at most 1,500.
func (p Prediction) Lower() float64 {
	return min(exact.Exp(p.Mu-float64(Within*p.Sigma)), maxChl)
}

// Upper returns the value in µg/l that nine of ten values are below, at most 1,500.
func (p Prediction) Upper() float64 {
	return min(exact.Exp(p.Mu+float64(Within*p.Sigma)), maxChl)
}

// Exceeds returns the probability that the value reaches limit in µg/l.
func (p Prediction) Exceeds(limit float64) float64 {
	if !(limit > 0) {
		return 1
	}
	above := exact.Ln(limit) - p.Mu
	if !(p.Sigma > 0) {
		if above > 0 {
			return 0
		}
		return 1
	}
	return float64(exact.Erfc(above/float64(p.Sigma*math.Sqrt2)) / 2)
}
