package colormap

import (
	"fmt"
	"math"
)

const (
	// The ends of the scale in µg/l: two decades, from the OECD 1982 boundary of ultraoligotrophic water (1) to
	// twice the upper guidance level of WHO 2003 (50).
	scaleMin, scaleMax = 1, 100

	// classes is the number of levels of chlorophyll values: 0, 1 and 2. Level 3 (scum) is reported by people.
	classes = 3

	// minClassSteps makes a narrow class, such as 75 to 100, a gradient rather than a line.
	minClassSteps = 4

	// perUnit is the resolution of stored values: hundredths of a µg/l.
	perUnit = 100
)

// A scale divides the values into Steps. Limits are only at the ends of steps.
type scale struct {
	// thresholds are the smallest values of the steps. That of the first step is 0.
	thresholds [Steps]float64
	// first is the first step of each class, and one past the last step at the end.
	first [classes + 1]int
}

// newScale divides each class into steps of equal width on the logarithmic axis, and shares the steps among the
// classes by their widths.
func newScale(l Limits) (scale, error) {
	if !(scaleMin < l.Level1 && l.Level1 < l.Level2 && l.Level2 < scaleMax) {
		return scale{}, fmt.Errorf("%w: %v and %v µg/l: allowed are two rising values between %d and %d",
			ErrLimits, l.Level1, l.Level2, scaleMin, scaleMax)
	}
	edges := [classes + 1]float64{scaleMin, l.Level1, l.Level2, scaleMax}
	s := scale{first: shareSteps(edges)}
	for c := range classes {
		from, n := s.first[c], s.first[c+1]-s.first[c]
		for k := range n {
			t := edges[c] * math.Pow(edges[c+1]/edges[c], float64(k)/float64(n))
			// Values are stored in hundredths: finer thresholds are only harder to read.
			s.thresholds[from+k] = math.Round(t*perUnit) / perUnit
		}
		s.thresholds[from] = edges[c]
		if c > 0 && l.Above {
			s.thresholds[from] += 0.5 / perUnit
		}
	}
	s.thresholds[0] = 0
	for i := 1; i < Steps; i++ {
		if s.thresholds[i] <= s.thresholds[i-1] {
			return scale{}, fmt.Errorf("%w: %v and %v µg/l: a class is too narrow for %d steps of a hundredth",
				ErrLimits, l.Level1, l.Level2, minClassSteps)
		}
	}
	return s, nil
}

// shareSteps returns the first step of each class. Every class has at least minClassSteps; each further step goes to the
// class with the widest steps.
func shareSteps(edges [classes + 1]float64) (first [classes + 1]int) {
	var n [classes]int
	for c := range n {
		n[c] = minClassSteps
	}
	for range Steps - classes*minClassSteps {
		widest, width := 0, 0.0
		for c := range n {
			if w := math.Log(edges[c+1]/edges[c]) / float64(n[c]); w > width {
				widest, width = c, w
			}
		}
		n[widest]++
	}
	for c := range n {
		first[c+1] = first[c] + n[c]
	}
	return first
}
