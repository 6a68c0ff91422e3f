package backtest

import (
	"math"
	"sync"
	"time"

	"limnomap/data/forecast"
	"limnomap/data/forecast/exact"
)

const (
	yearDays      = 365
	seasonWidth   = 20 // days: standard deviation of the weights of climatology
	lakeWeight    = 2  // of the mean of the lake in climatology
	minTraining   = 20 // values, to fit anything to them
	defaultFading = 30 // days
	maxGap        = 42 // days between values that the fading is fitted to
	minGaps       = 5  // of them
	sigmaWeight   = 4  // errors that defaultSigma counts as
	fadings       = 60 // that are tried, 2 to 400 days
)

// defaultSigma are standard deviations of errors of ln chl.
var defaultSigma = [Methods]float64{Persistence: 0.85, Climatology: 0.85, AR1: 0.70}

// peers are the simple methods for one lake.
type peers struct {
	trained bool
	climate climate
	fading  float64 // days
	sigma   [Methods][Weeks]float64

	day int     // of the last value
	y   float64 // its logarithm
}

// newPeers returns the methods for a lake, fitted to the values before a day.
func newPeers(values []forecast.Value, start int) *peers {
	p := &peers{fading: defaultFading}
	for m := range p.sigma {
		for w := range p.sigma[m] {
			p.sigma[m][w] = defaultSigma[m]
		}
	}
	n := 0
	for n < len(values) && values[n].Day < start {
		n++
	}
	if p.trained = n >= minTraining; !p.trained {
		return p
	}
	values = values[:n]
	for _, v := range values {
		p.climate.add(v)
	}
	p.climate.fill()
	p.fitFading(values)
	p.fitSigma(values)
	return p
}

// add takes the next value.
func (p *peers) add(v forecast.Value) {
	p.day, p.y = v.Day, logOf(v.Chl)
	if !p.trained {
		p.climate.add(v)
	}
}

// predict sets the forecasts of the simple methods.
func (p *peers) predict(pair *Pair) {
	for m, mu := range p.means(pair.Target) {
		if Method(m) != Model {
			pair.Predictions[m] = forecast.Prediction{Mu: mu, Sigma: p.sigma[m][pair.Week()-1]}
		}
	}
}

// means returns the forecasts for a day. That of the model is 0.
func (p *peers) means(target int) (mu [Methods]float64) {
	mu[Persistence] = p.y
	mu[Climatology] = p.climate.at(target)
	mu[AR1] = mu[Climatology] + float64(exact.Exp(-float64(target-p.day)/p.fading)*(p.y-p.climate.at(p.day)))
	return mu
}

// fitFading finds the time with which differences from climatology fade away from one value to the next.
func (p *peers) fitFading(values []forecast.Value) {
	table := fadingTable()
	var errors [fadings]float64
	gaps := 0
	before := logOf(values[0].Chl) - p.climate.at(values[0].Day)
	for i, v := range values[1:] {
		a := logOf(v.Chl) - p.climate.at(v.Day)
		if gap := v.Day - values[i].Day; gap > 0 && gap <= maxGap {
			gaps++
			for k := range errors {
				e := a - float64(table.factors[k][gap]*before)
				errors[k] += float64(e * e)
			}
		}
		before = a
	}
	if gaps < minGaps {
		return
	}
	best := 0
	for k, e := range errors {
		if e < errors[best] {
			best = k
		}
	}
	p.fading = table.days[best]
}

type fadingFactors struct {
	days    [fadings]float64
	factors [fadings][maxGap + 1]float64
}

var fadingTable = sync.OnceValue(func() *fadingFactors {
	t := new(fadingFactors)
	for k := range t.days {
		t.days[k] = float64(2 * exact.Exp(float64(exact.Ln(200)*float64(k))/(fadings-1)))
		for gap := range t.factors[k] {
			t.factors[k][gap] = exact.Exp(-float64(gap) / t.days[k])
		}
	}
	return t
})

// fitSigma finds the standard deviations of errors, from forecasts of each value for each week ahead that a value came in.
func (p *peers) fitSigma(values []forecast.Value) {
	var sum [Methods][Weeks]float64
	var count [Weeks]float64
	for i, v := range values {
		p.day, p.y = v.Day, logOf(v.Chl)
		for week := range Weeks {
			target := v.Day + 7*(week+1)
			truth := nearest(values[i+1:], target)
			if truth == nil {
				continue
			}
			count[week]++
			y := logOf(truth.Chl)
			for m, mu := range p.means(target) {
				e := mu - y
				sum[m][week] += float64(e * e)
			}
		}
	}
	for m := range sum {
		for week, s := range sum[m] {
			p.sigma[m][week] = math.Sqrt((s + float64(sigmaWeight*defaultSigma[m]*defaultSigma[m])) / (count[week] + sigmaWeight))
		}
	}
}

// climate is the climatology of a lake.
type climate struct {
	sum, count   [yearDays]float64 // of values by day of the year; the 366th is the first
	all, values  float64
	filled       bool
	filledValues [yearDays]float64
}

func dayOfYear(day int) int { return (time.Unix(int64(day)*86400, 0).UTC().YearDay() - 1) % yearDays }

func (c *climate) add(v forecast.Value) {
	i, y := dayOfYear(v.Day), logOf(v.Chl)
	c.sum[i] += y
	c.count[i]++
	c.all += y
	c.values++
}

// fill makes at fast. There must be no more values.
func (c *climate) fill() {
	for i := range c.filledValues {
		c.filledValues[i] = c.ofDay(i)
	}
	c.filled = true
}

// at returns the climatology of a day; there must be a value.
func (c *climate) at(day int) float64 {
	if c.filled {
		return c.filledValues[dayOfYear(day)]
	}
	return c.ofDay(dayOfYear(day))
}

func (c *climate) ofDay(day int) float64 {
	weights := seasonWeights()
	mean := c.all / c.values
	sum, weight := 0.0, float64(lakeWeight)
	for i, n := range c.count {
		if n > 0 {
			w := weights[abs(i-day)]
			sum += float64(w * (c.sum[i] - float64(n*mean)))
			weight += float64(w * n)
		}
	}
	return mean + sum/weight
}

// seasonWeights are the weights of values that are so many days of the year away.
var seasonWeights = sync.OnceValue(func() *[yearDays]float64 {
	var w [yearDays]float64
	for i := range w {
		d := float64(min(i, yearDays-i)) / seasonWidth
		w[i] = exact.Exp(-float64(d*d) / 2)
	}
	return &w
})
