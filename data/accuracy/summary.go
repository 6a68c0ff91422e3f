package accuracy

import (
	"math"
	"slices"

	"limnomap/data"
)

const (
	// intervalMatches is the least number of matches of an interval.
	intervalMatches = 20
	// intervalTail says that one of ten samples is below an interval, and one above: four of five are in it.
	intervalTail = 10
	// biasMatches is the least number of matches of which a bias is said, and biasLakes the least number of lakes if they are of several lakes.
	biasMatches, biasLakes = 10, 10
	// biasFactor is the least factor that counts as a bias: a smaller one changes few classes.
	biasFactor = 1.25
	// biasQuantile is the quantile of the normal distribution above which 0.5 % are: a bias is one at 1 %, two-sided.
	biasQuantile = 2.5758293035489004
	// withinFactor is the factor within which a value is close to another one.
	withinFactor = 2
)

// An Interval is between which factors of a satellite's value four of five samples are.
type Interval struct{ Lower, Upper float64 }

// A Summary is what is known of some matches.
type Summary struct {
	Matches, Lakes int
	Bias           float64 // mean difference
	Spread         float64 // standard deviation of the differences; NaN of fewer than two
	Within         int     // matches whose values are within a factor of 2 of each other
	// Classes are the numbers of matches by the risk that the satellite shows and that the sample has, from data.RiskLow on.
	Classes [3][3]int
	// Biased reports whether the values are biased: the mean is not 0 by a t-test at 1 %, and is a factor of 1.25 or more. With several lakes the test is one of
	// the means of lakes, since the matches of one lake are not independent.
	Biased   bool
	Interval data.Optional[Interval] // of at least 20 matches
}

// Factor returns the bias as a factor: 2 if the satellite shows twice what samples have.
func (s *Summary) Factor() float64 { return math.Exp(s.Bias) }

// Agreement returns how many matches have one class, and in how many the satellite shows a lower or a higher one than the sample has.
func (s *Summary) Agreement() (same, low, high int) { return agreement(s.Classes) }

func agreement(classes [3][3]int) (same, low, high int) {
	for shown, samples := range classes {
		for sample, n := range samples {
			switch {
			case shown == sample:
				same += n
			case shown < sample:
				low += n
			default:
				high += n
			}
		}
	}
	return same, low, high
}

// Summarize returns the summary of matches, in which those of a lake are next to each other.
func Summarize(matches []Match) Summary {
	var s sums
	for i := range matches {
		s.add(&matches[i], matches[i].Difference())
	}
	return s.summary()
}

// sums are what a summary needs of matches, in eight bytes for each and for each lake.
type sums struct {
	within      int
	classes     [3][3]int
	differences []float64
	means       []float64 // of lakes
	lake        data.LakeID
	ofLake      int // how many of the differences are of lake, the last ones
	sum         float64
}

// add adds a match and its difference. Those of a lake must follow each other.
func (s *sums) add(m *Match, difference float64) {
	if m.Lake != s.lake {
		s.endLake()
		s.lake = m.Lake
	}
	s.differences = append(s.differences, difference)
	s.sum, s.ofLake = s.sum+difference, s.ofLake+1
	if math.Abs(difference) <= math.Log(withinFactor)+1e-12 {
		s.within++
	}
	s.classes[m.Satellite.Risk-data.RiskLow][m.Sample.Risk-data.RiskLow]++
}

func (s *sums) endLake() {
	if s.ofLake > 0 {
		s.means = append(s.means, s.sum/float64(s.ofLake))
	}
	s.sum, s.ofLake = 0, 0
}

// summary ends the sums.
func (s *sums) summary() Summary {
	s.endLake()
	all := Summary{Matches: len(s.differences), Lakes: len(s.means), Within: s.within, Classes: s.classes}
	all.Bias, all.Spread = meanAndSpread(s.differences)
	switch {
	case all.Lakes == 1 && all.Matches >= biasMatches:
		all.Biased = isBiased(s.differences)
	case all.Lakes >= biasLakes:
		all.Biased = isBiased(s.means)
	}
	all.Interval = intervalOf(s.differences)
	return all
}

func meanAndSpread(values []float64) (mean, spread float64) {
	for _, v := range values {
		mean += v
	}
	mean /= float64(len(values))
	for _, v := range values {
		spread += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(spread / float64(len(values)-1))
}

func isBiased(differences []float64) bool {
	mean, spread := meanAndSpread(differences)
	n := float64(len(differences))
	return math.Abs(mean) >= math.Log(biasFactor) && math.Abs(mean) > studentQuantile(biasQuantile, n-1)*spread/math.Sqrt(n)
}

// studentQuantile returns the quantile of Student's t with that many degrees of freedom from the same quantile of the normal distribution (Abramowitz and Stegun:
// Handbook of mathematical functions, 1964, formula 26.7.5). Of 9 degrees and more it is right to 0.1 %.
func studentQuantile(z, degrees float64) float64 {
	z3, z5, z7 := math.Pow(z, 3), math.Pow(z, 5), math.Pow(z, 7)
	return z + (z3+z)/(4*degrees) + (5*z5+16*z3+3*z)/(96*math.Pow(degrees, 2)) + (3*z7+19*z5+17*z3-15*z)/(384*math.Pow(degrees, 3))
}

// intervalOf returns the conformal interval of differences: of n+1 exchangeable ones, the next is between these two with a probability of at least 80 % (Lei and
// others: Distribution-free predictive inference for regression. Journal of the American Statistical Association 113 (2018), pages 1094 to 1111).
func intervalOf(differences []float64) (i data.Optional[Interval]) {
	n := len(differences)
	if n < intervalMatches {
		return i
	}
	sorted := slices.Sorted(slices.Values(differences))
	low := (n + 1) / intervalTail // from 1 on
	return data.Known(Interval{Lower: math.Exp(-sorted[n-low]), Upper: math.Exp(-sorted[low-1])})
}
