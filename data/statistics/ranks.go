package statistics

import (
	"math"
	"slices"
)

// MinRanked is of how many passes orders are compared at least.
const MinRanked = 5

// RanksAgree reports whether the order of some places in one pass predicts that in the next one better than chance. Each pass has the values of the same places.
//
// Of each pass and the next one it takes Spearman's coefficient. Between orders of m places that have nothing to do with each other its variance is 1/(m-1)
// (Kendall and Gibbons, Rank Correlation Methods, 1990, chapter 4), and the coefficients of neighbouring pairs are not correlated. So the mean of those of n passes
// has the variance 1/((m-1)(n-1)). They agree if it is 1.645 times as large as the root of that: by chance this is so in about one of twenty waters.
func RanksAgree(passes [][]float64) bool {
	n := len(passes)
	if n < MinRanked || len(passes[0]) < 2 {
		return false
	}
	sum := 0.0
	before := ranks(passes[0])
	for _, values := range passes[1:] {
		after := ranks(values)
		sum += correlation(before, after)
		before = after
	}
	return sum/float64(n-1)*math.Sqrt(float64((len(before)-1)*(n-1))) >= 1.645
}

// ranks returns the ranks of values, from 0 on; those of equal ones are their mean.
func ranks(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case values[a] < values[b]:
			return -1
		case values[a] > values[b]:
			return 1
		}
		return 0
	})
	of := make([]float64, len(values))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && values[order[to]] == values[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			of[i] = float64(from+to-1) / 2
		}
		from = to
	}
	return of
}

// correlation returns the correlation of two rankings, 0 if all places of one have the same rank.
func correlation(a, b []float64) float64 {
	mean := float64(len(a)-1) / 2
	var ab, aa, bb float64
	for i := range a {
		x, y := a[i]-mean, b[i]-mean
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}
