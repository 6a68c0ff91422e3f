package backtest

import (
	"errors"
	"fmt"
	"math"

	"limnomap/data/forecast"
	"limnomap/data/forecast/exact"
)

const (
	minCoverage   = 0.70
	maxCoverage   = 0.90
	comparedPairs = 8     // a lake with fewer pairs is not compared with persistence
	clearly       = 1.96  // standard errors
	shares        = 10000 // probabilities are counted in steps of 1/shares
	factorSteps   = 1000  // sizes of errors of ln chl are counted in steps of 1/factorSteps
	maxFactor     = 8     // as errors of ln chl; larger ones count as this one
	foreseenFrom  = 0.5   // probability: then the median reaches the limit too
	sqrtPi        = 1.77245385090551602729816748334114518
)

// Classes are what limits divide chlorophyll-a into.
type Classes struct {
	Limits [2]float64 // µg/l, ascending
	Above  bool       // whether a class begins above its limit, not at it
}

// reached reports whether v reaches limit i.
func (c *Classes) reached(v float64, i int) bool {
	return v > c.Limits[i] || v == c.Limits[i] && !c.Above
}

// classOf returns how many limits v reaches.
func (c *Classes) classOf(v float64) (class int) {
	for i := range c.Limits {
		if c.reached(v, i) {
			class++
		}
	}
	return class
}

// Scores are sums over the pairs of many lakes.
type Scores struct {
	classes  Classes
	sums     [Weeks][Methods]sums
	compared [Weeks + 1][Methods]comparison // those of all weeks first
	lakes    [Weeks + 1]int
	rises    [Weeks][2]int // by limit
}

// sums are what a method has in one week.
type sums struct {
	pairs                                      int
	squared, size, bias, pinball, crps, widths float64
	covered, right                             int
	brier                                      [2]float64
	foreseen                                   [2]int               // rises
	probabilities                              [2][shares + 1]count // by limit and by probability
	sizes                                      [maxFactor*factorSteps + 1]int
}

// count is how many forecasts had a probability, and how many values reached the limit.
type count struct{ forecasts, reached int }

// comparison is how many lakes a method is compared with persistence in, better in and clearly worse in.
type comparison struct{ lakes, better, worse int }

// New returns empty scores.
func New(c Classes) *Scores { return &Scores{classes: c} }

// A Lake is what [Scores.Evaluate] says about the pairs of one lake.
type Lake struct {
	pairs    []evaluated
	squared  [Weeks + 1][Methods]float64
	counts   [Weeks + 1]int
	compared [Weeks + 1][Methods]comparison
}

type evaluated struct {
	week    int
	reached [2]bool
	rises   [2]bool // the last value did not reach the limit, and the truth did
	methods [Methods]evaluation
}

type evaluation struct {
	err, pinball, crps, width float64
	covered, right            bool
	brier                     [2]float64
	probabilities             [2]float64
}

// SquaredErrors returns the sum of the squared errors of ln chl of a method, and the number of pairs. Week 0 is all weeks.
func (l *Lake) SquaredErrors(week int, m Method) (sum float64, pairs int) {
	return l.squared[week][m], l.counts[week]
}

// Covered returns how many pairs of a week have a value between the bounds of a method. Week 0 is all weeks.
func (l *Lake) Covered(week int, m Method) (n int) {
	for i := range l.pairs {
		if e := &l.pairs[i]; (week == 0 || e.week == week) && e.methods[m].covered {
			n++
		}
	}
	return n
}

// Evaluate computes what Add needs of the pairs of one lake. It changes nothing and is safe for concurrent use.
func (s *Scores) Evaluate(pairs []Pair) *Lake {
	l := &Lake{pairs: make([]evaluated, len(pairs))}
	for i := range pairs {
		p, e := &pairs[i], &l.pairs[i]
		e.week = p.Week()
		for j := range e.reached {
			e.reached[j] = s.classes.reached(p.Truth, j)
			e.rises[j] = e.reached[j] && !s.classes.reached(p.Last, j)
		}
		truth, class := logOf(p.Truth), s.classes.classOf(p.Truth)
		for m := range e.methods {
			e.methods[m] = s.classes.evaluate(p.Predictions[m], truth, e.reached)
			e.methods[m].right = s.classes.classOf(p.Predictions[m].Chl()) == class
			squared := float64(e.methods[m].err * e.methods[m].err)
			l.squared[0][m] += squared
			l.squared[e.week][m] += squared
		}
		l.counts[0]++
		l.counts[e.week]++
	}
	for week := range l.compared {
		l.compare(week, pairs)
	}
	return l
}

// evaluate compares one forecast with a value. The quantiles of the pinball loss are 0.1, 0.5 and 0.9; it is twice their mean loss, so
// that it is the mean absolute error if they are equal.
func (c *Classes) evaluate(p forecast.Prediction, truth float64, reached [2]bool) evaluation {
	half := float64(forecast.Within * p.Sigma)
	e := evaluation{err: p.Mu - truth, width: float64(2 * half)}
	e.covered = math.Abs(e.err) <= half
	e.pinball = float64((loss(truth-(p.Mu-half), 0.1) + loss(-e.err, 0.5) + loss(truth-(p.Mu+half), 0.9)) * 2 / 3)
	// The closed form for a normal distribution, of Gneiting and Raftery, Strictly proper scoring rules, prediction, and estimation, JASA
	// 102 (2007).
	z := -e.err / p.Sigma
	density := exact.Exp(-float64(z*z)/2) / (math.Sqrt2 * sqrtPi)
	e.crps = float64(p.Sigma * (float64(z*(1-exact.Erfc(z/math.Sqrt2))) + float64(2*density) - 1/sqrtPi))
	for i, limit := range c.Limits {
		e.probabilities[i] = p.Exceeds(limit)
		d := e.probabilities[i]
		if reached[i] {
			d--
		}
		e.brier[i] = float64(d * d)
	}
	return e
}

// loss is the pinball loss of a quantile; over is by how much the value is above it.
func loss(over, quantile float64) float64 {
	if over >= 0 {
		return float64(quantile * over)
	}
	return float64((quantile - 1) * over)
}

// compare compares the methods with persistence in one week, or in all if week is 0. A value that several forecasts were made for counts
// once when it decides whether a method is clearly worse: its errors are not independent.
func (l *Lake) compare(week int, pairs []Pair) {
	if l.counts[week] < comparedPairs {
		return
	}
	for m := range Methods {
		truths := map[int]int{} // where a value is in differences
		var differences, forecasts []float64
		for i := range l.pairs {
			e := &l.pairs[i]
			if week != 0 && e.week != week {
				continue
			}
			k, ok := truths[pairs[i].TruthDay]
			if !ok {
				k = len(differences)
				truths[pairs[i].TruthDay] = k
				differences, forecasts = append(differences, 0), append(forecasts, 0)
			}
			a, b := e.methods[m].err, e.methods[Persistence].err
			differences[k] += float64(a*a) - float64(b*b)
			forecasts[k]++
		}
		n, mean := float64(len(differences)), 0.0
		for k := range differences {
			differences[k] /= forecasts[k]
			mean += differences[k] / n
		}
		variance := 0.0
		for _, d := range differences {
			variance += float64((d-mean)*(d-mean)) / (n - 1)
		}
		c := comparison{lakes: 1}
		if l.squared[week][m] < l.squared[week][Persistence] {
			c.better = 1
		}
		if n > 1 && mean > float64(clearly*math.Sqrt(variance/n)) {
			c.worse = 1
		}
		l.compared[week][m] = c
	}
}

// Add adds the pairs of a lake. The order of lakes decides the last bits of the scores.
func (s *Scores) Add(l *Lake) {
	for i := range l.pairs {
		e := &l.pairs[i]
		for m := range e.methods {
			s.sums[e.week-1][m].add(&e.methods[m], e)
		}
		for j, rises := range e.rises {
			if rises {
				s.rises[e.week-1][j]++
			}
		}
	}
	for week := range l.compared {
		if l.counts[week] > 0 {
			s.lakes[week]++
		}
		for m, c := range l.compared[week] {
			t := &s.compared[week][m]
			t.lakes += c.lakes
			t.better += c.better
			t.worse += c.worse
		}
	}
}

func (s *sums) add(e *evaluation, of *evaluated) {
	s.pairs++
	s.squared += float64(e.err * e.err)
	size := math.Abs(e.err)
	s.size += size
	s.bias += e.err
	s.pinball += e.pinball
	s.crps += e.crps
	s.widths += e.width
	if e.covered {
		s.covered++
	}
	if e.right {
		s.right++
	}
	s.sizes[int(float64(min(size, maxFactor)*factorSteps))]++
	for i, p := range e.probabilities {
		s.brier[i] += e.brier[i]
		c := &s.probabilities[i][int(float64(p*shares)+0.5)]
		c.forecasts++
		if of.reached[i] {
			c.reached++
		}
		if of.rises[i] && p >= foreseenFrom {
			s.foreseen[i]++
		}
	}
}

// merge adds the sums of another week.
func (s *sums) merge(o *sums) {
	s.pairs += o.pairs
	s.squared += o.squared
	s.size += o.size
	s.bias += o.bias
	s.pinball += o.pinball
	s.crps += o.crps
	s.widths += o.widths
	s.covered += o.covered
	s.right += o.right
	for i := range s.probabilities {
		s.brier[i] += o.brier[i]
		for j, c := range o.probabilities[i] {
			s.probabilities[i][j].forecasts += c.forecasts
			s.probabilities[i][j].reached += c.reached
		}
	}
	for i, n := range o.sizes {
		s.sizes[i] += n
	}
}

// of returns the sums of a week, or of all weeks if it is 0.
func (s *Scores) of(week int, m Method) *sums {
	if week > 0 {
		return &s.sums[week-1][m]
	}
	all := new(sums)
	for w := range s.sums {
		all.merge(&s.sums[w][m])
	}
	return all
}

// A Row is what a method was worth in one week ahead, or in all. Errors are of ln chl. Without pairs all but the counts are NaN, as is
// AUC if all values or none reached the limit, and a share of no lakes.
type Row struct {
	Pairs, Lakes    int
	RMSE, MAE, Bias float64    // a positive bias is too high
	MedianFactor    float64    // half of the forecasts are off by at most this factor
	Pinball, CRPS   float64    // of the quantiles 0.1, 0.5 and 0.9, see [Scores.Evaluate]; of the distribution
	Coverage, Width float64    // the share of values between the bounds, and how far bounds are apart
	Brier, AUC      [2]float64 // of reaching the limits
	RightClass      float64    // the share of forecasts whose median is in the class of the value

	ComparedLakes    int     // with at least 8 pairs
	BeatsPersistence float64 // the share of them with a smaller RMSE than persistence
	ClearlyWorse     float64 // the share of them where the squared error is larger than that of persistence by 1.96 standard errors
}

// Row returns the row of a method for a week, 1 to 4, or for all weeks if it is 0.
func (s *Scores) Row(week int, m Method) Row {
	t := s.of(week, m)
	n := float64(t.pairs)
	r := Row{
		Pairs: t.pairs, Lakes: s.lakes[week],
		RMSE: math.Sqrt(t.squared / n), MAE: t.size / n, Bias: t.bias / n, MedianFactor: t.medianFactor(),
		Pinball: t.pinball / n, CRPS: t.crps / n, Coverage: float64(t.covered) / n, Width: t.widths / n,
		RightClass: float64(t.right) / n,
	}
	for i := range r.Brier {
		r.Brier[i] = t.brier[i] / n
		r.AUC[i] = auc(&t.probabilities[i])
	}
	c := s.compared[week][m]
	r.ComparedLakes = c.lakes
	r.BeatsPersistence = float64(c.better) / float64(c.lakes)
	r.ClearlyWorse = float64(c.worse) / float64(c.lakes)
	return r
}

func (s *sums) medianFactor() float64 {
	if s.pairs == 0 {
		return math.NaN()
	}
	below := 0
	for i, n := range s.sizes {
		if below += n; 2*below >= s.pairs {
			return exact.Exp((float64(i) + 0.5) / factorSteps)
		}
	}
	panic("unreachable: all pairs are counted")
}

// auc is the probability that a forecast whose value reached the limit has a higher probability than one whose value did not.
func auc(counts *[shares + 1]count) float64 {
	var reached, others, higher float64 // higher counts twice
	for _, c := range counts {
		r, o := float64(c.reached), float64(c.forecasts-c.reached)
		higher += float64(r * (float64(2*others) + o))
		reached += r
		others += o
	}
	return higher / 2 / float64(reached*others)
}

// Check returns an error if the model is not worth showing: if in some week it is not closer to the truth than persistence, or if not
// 0.70 to 0.90 of the values lie between its bounds, of which there should be 0.80. Weeks without pairs are left out, but without any
// pair there is an error too.
func (s *Scores) Check() error {
	if s.lakes[0] == 0 {
		return errors.New("no forecast of past years has a value to compare it with")
	}
	for week := 1; week <= Weeks; week++ {
		model, persistence := s.Row(week, Model), s.Row(week, Persistence)
		switch {
		case model.Pairs == 0:
		case !(model.RMSE < persistence.RMSE):
			return fmt.Errorf("forecasts of week %d: the error of ln chl is %.3f, which is not less than that of the last value, %.3f",
				week, model.RMSE, persistence.RMSE)
		case !(model.Coverage >= minCoverage && model.Coverage <= maxCoverage):
			return fmt.Errorf("forecasts of week %d: %.2f of the values lie between the bounds, want %.2f to %.2f",
				week, model.Coverage, minCoverage, maxCoverage)
		}
	}
	return nil
}

// Rises returns how many values of a week reached a limit, 0 or 1, that the last value before the forecast did not reach, and how many of them a
// method foresaw with a probability of at least one half.
func (s *Scores) Rises(week int, m Method, limit int) (rises, foreseen int) {
	return s.rises[week-1][limit], s.sums[week-1][m].foreseen[limit]
}

// A Bin is forecasts with similar probabilities.
type Bin struct {
	From, To  float64 // probabilities
	Forecasts int
	Forecast  float64 // mean probability; NaN without forecasts
	Reached   float64 // share of values that reached the limit; NaN without forecasts
}

// Reliability returns what became of the probabilities of reaching a limit, 0 or 1, in ten bins.
func (s *Scores) Reliability(week int, m Method, limit int) []Bin {
	const step = shares / 10
	counts := &s.of(week, m).probabilities[limit]
	bins := make([]Bin, 10)
	for i := range bins {
		b := &bins[i]
		b.From, b.To = float64(i)/10, float64(i+1)/10
		end := (i + 1) * step
		if i == len(bins)-1 {
			end++
		}
		reached, sum := 0, 0
		for j := i * step; j < end; j++ {
			b.Forecasts += counts[j].forecasts
			reached += counts[j].reached
			sum += j * counts[j].forecasts
		}
		b.Forecast = float64(sum) / shares / float64(b.Forecasts)
		b.Reached = float64(reached) / float64(b.Forecasts)
	}
	return bins
}
