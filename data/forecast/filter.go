package forecast

import (
	"math"

	"limnomap/data/forecast/exact"
)

// A Value is a chlorophyll-a value of a lake.
type Value struct {
	Day int     // days since 1970-01-01
	Chl float64 // µg/l, 0 or more; 0 means below detection
}

// setting is one of the three sets of constants that run side by side.
type setting struct {
	prior                  float64 // weight before the first value
	noise                  float64 // variance of a value
	fastVariance, fastDays float64 // stationary variance and time of decay of the fast anomaly
	slowVariance, slowDays float64 // and of the slow one
}

var settings = [3]setting{
	{prior: 0.50, noise: 0.40 * 0.40, fastVariance: 0.50 * 0.50, fastDays: 35, slowVariance: 0.35 * 0.35, slowDays: 3650}, // usual
	{prior: 0.25, noise: 0.20 * 0.20, fastVariance: 0.50 * 0.50, fastDays: 35, slowVariance: 0.35 * 0.35, slowDays: 3650}, // clean, lasting
	{prior: 0.25, noise: 0.60 * 0.60, fastVariance: 0.50 * 0.50, fastDays: 90, slowVariance: 0.18 * 0.18, slowDays: 3650}, // noisy, slow
}

const (
	states = 9 // level, six of the season, slow and fast anomaly
	slow   = 7
	fast   = 8

	pairs = states * (states + 1) / 2 // of a symmetric matrix

	smallest    = 0.1  // µg/l: smaller values count as this one
	startNu     = 6    // degrees of freedom before the first value
	forget      = 0.97 // how much of the scale and its degrees of freedom a value keeps
	outlierFrom = 2.5  // standard deviations
	tropics     = 23.5 // degrees of latitude
)

// startMean is the state of a lake north of the tropics without values; startSD are its standard deviations, without anomalies.
var (
	startMean = [slow]float64{1.5, -0.45, -0.27, -0.21, 0.03, 0, 0}
	startSD   = [slow]float64{1.0, 0.36, 0.36, 0.23, 0.23, 0.12, 0.12}
)

// estimate is what one setting knows of a lake.
type estimate struct {
	m     [states]float64 // mean of the state
	p     [pairs]float64  // covariance, the lower triangle row by row
	scale float64         // S: nu times the factor of all variances
	log   float64         // logarithm of the weight, up to a term that all settings share
}

// A Filter is what the values of one lake say of its future. It has no pointers to anything that changes: a copy is independent. Make
// it with [New]; a Filter is not safe for concurrent use.
type Filter struct {
	tables      *tables
	est         [len(settings)]estimate
	nu          float64
	count       int
	first, last int        // days of the first and the last value
	least       float64    // smallest positive value; 0 if there is none
	days        daysOfYear // with a value
}

// New returns the filter of a lake without values at a latitude in degrees. The latitude decides when summer is.
func New(latitude float64) *Filter {
	f := new(Filter)
	f.Reset(latitude)
	return f
}

// Reset makes f what [New] returns, without allocating.
func (f *Filter) Reset(latitude float64) {
	*f = Filter{tables: sharedTables(), nu: startNu}
	for g := range f.est {
		e, s := &f.est[g], &settings[g]
		copy(e.m[:], startMean[:])
		switch {
		case latitude < tropics && latitude > -tropics:
			clear(e.m[1:slow])
		case latitude < 0:
			// Half a year later, odd harmonics change their sign.
			for _, i := range [...]int{1, 2, 5, 6} {
				e.m[i] = -e.m[i]
			}
		}
		for i, sd := range startSD {
			e.p[i*(i+1)/2+i] = float64(sd * sd)
		}
		e.p[slow*(slow+1)/2+slow] = s.slowVariance
		e.p[fast*(fast+1)/2+fast] = s.fastVariance
		e.scale = startNu
		e.log = exact.Ln(s.prior)
	}
}

// Add takes the next value of the lake. Days must ascend; several values of one day are taken one after the other. A value that is
// earlier than the one before, negative or not finite is ignored.
func (f *Filter) Add(v Value) {
	if !(v.Chl >= 0 && v.Chl <= math.MaxFloat64) || f.count > 0 && v.Day < f.last {
		return
	}
	dt := 0
	if f.count == 0 {
		f.first = v.Day
	} else {
		dt = v.Day - f.last
	}
	f.last = v.Day
	f.count++
	f.days.add(v.Day)
	chl := v.Chl
	switch {
	case chl == 0:
		chl = f.least / 2
	case f.least == 0 || chl < f.least:
		f.least = chl
	}
	y := exact.Ln(max(chl, smallest))
	season := f.tables.seasonOf(v.Day)
	for g := range f.est {
		d := f.tables.decay(g, dt)
		f.est[g].update(y, season, &d, settings[g].noise, f.nu)
	}
	f.nu = float64(forget*f.nu) + ((1-forget)*startNu + 1)
}

// update moves e on in time and takes the value y.
func (e *estimate) update(y float64, season *harmonics, d *decay, noise, nu float64) {
	p, m := &e.p, &e.m
	m[slow] = float64(m[slow] * d.slow)
	m[fast] = float64(m[fast] * d.fast)
	const s0, f0 = slow * (slow + 1) / 2, fast * (fast + 1) / 2 // where their rows begin
	for i := range slow {
		p[s0+i] = float64(p[s0+i] * d.slow)
		p[f0+i] = float64(p[f0+i] * d.fast)
	}
	p[s0+slow] = float64(float64(p[s0+slow]*d.slow)*d.slow) + d.addSlow
	p[f0+slow] = float64(float64(p[f0+slow]*d.slow) * d.fast)
	p[f0+fast] = float64(float64(p[f0+fast]*d.fast)*d.fast) + d.addFast

	h := [states]float64{1, season[0], season[1], season[2], season[3], season[4], season[5], 1, 1}
	var u [states]float64
	k := 0
	for i := range states {
		for j := range i {
			u[i] += float64(p[k] * h[j])
			u[j] += float64(p[k] * h[i])
			k++
		}
		u[i] += float64(p[k] * h[i])
		k++
	}
	variance, residual := noise, y
	for i := range states {
		variance += float64(h[i] * u[i])
		residual -= float64(h[i] * m[i])
	}
	w := float64(residual*residual) / variance
	// The density of Student's t. What it has of nu alone is the same for all settings and does not change their shares: gamma
	// functions and pi are left out.
	e.log -= float64(0.5 * (exact.Ln(float64(variance*e.scale)) + float64((nu+1)*exact.Ln(1+w/e.scale))))
	outlier := max(1, math.Sqrt(float64(w*nu)/e.scale)/outlierFrom)
	e.scale = float64(forget*e.scale) + (1-forget)*startNu + w/outlier
	variance = float64(variance * outlier)
	gain := residual / variance
	k = 0
	for i := range states {
		m[i] += float64(u[i] * gain)
		ui := u[i] / variance
		for j := range i + 1 {
			p[k] -= float64(ui * u[j])
			k++
		}
	}
}

// Predict returns the forecast for a day. Only values that were added count: to repeat a forecast of an earlier day, add only the
// values up to that day. A day before the last value is treated as the day of the last value, but with its own season.
func (f *Filter) Predict(day int) Prediction {
	c := f.mixed(day)
	p := Prediction{Mu: c.mu}
	var total float64
	for g := range f.est {
		e, d, h := &f.est[g], &c.decay[g], &c.h[g]
		v := settings[g].noise + d.addSlow + d.addFast
		k := 0
		for i := range states {
			row := 0.0
			for j := range i {
				row += float64(e.p[k] * h[j])
				k++
			}
			v += float64(h[i] * (float64(2*row) + float64(e.p[k]*h[i])))
			k++
		}
		off := c.mean[g] - p.Mu
		total += float64(c.share[g] * (float64(v*e.scale)/f.nu + float64(off*off)))
	}
	p.Sigma = math.Sqrt(float64(total*f.nu) / (f.nu - 2))
	return p
}

// Mu returns the Mu of Predict, in less time.
func (f *Filter) Mu(day int) float64 { return f.mixed(day).mu }

// mixture is what the settings say of a day: their means, and how much each counts.
type mixture struct {
	decay       [len(settings)]decay
	h           [len(settings)][states]float64
	mean, share [len(settings)]float64
	mu          float64
}

func (f *Filter) mixed(day int) (c mixture) {
	dt := 0
	if f.count > 0 {
		dt = max(0, day-f.last)
	}
	season := f.tables.seasonOf(day)
	most := f.est[0].log
	for g := range f.est {
		most = max(most, f.est[g].log)
	}
	var sum float64
	for g := range f.est {
		e := &f.est[g]
		c.decay[g] = f.tables.decay(g, dt)
		c.h[g] = [states]float64{1, season[0], season[1], season[2], season[3], season[4], season[5], c.decay[g].slow, c.decay[g].fast}
		for i := range states {
			c.mean[g] += float64(c.h[g][i] * e.m[i])
		}
		c.share[g] = exact.Exp(e.log - most)
		sum += c.share[g]
	}
	for g := range c.share {
		c.share[g] /= sum
		c.mu += float64(c.share[g] * c.mean[g])
	}
	return c
}
