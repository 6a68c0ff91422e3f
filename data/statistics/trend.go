package statistics

import (
	"math"
	"slices"
	"time"
)

// trendYears is the least number of years with values of a trend: Hirsch and Slack (see [TrendOf]) advise against fewer.
const trendYears = 10

// A Trend is whether the values of a lake rise or fall over the years.
type Trend struct {
	Slope      float64 // µg/l a year: the median of all pairs of one month
	P          float64 // two-sided, that of no trend
	S          int     // of Kendall
	Variance   float64 // of S
	Years      int     // with values
	First      int     // year
	Last       int
	MonthsUsed int
}

// Significant reports whether a trend is, at 5 %.
func (t *Trend) Significant() bool { return t.P < 0.05 }

// TrendOf returns the trend of the medians of months by the seasonal test of Kendall: each month is compared with the same month of other years, so that a
// season is no trend, and the variance has the covariances of the months, so that months that follow each other do not count as independent (Hirsch and Slack: A
// nonparametric trend test for seasonal data with serial dependence. Water Resources Research 20 (1984), pages 727 to 732, with the ranks of missing values by
// Dietz and Killeen, 1981). The slope is that of Hirsch, Slack and Smith: Techniques of trend analysis for monthly water quality data. Water Resources Research 18
// (1982), page 118, after Sen (1968). It is not ok with fewer than ten years with values, or if no month has two.
func TrendOf(values []Value) (t Trend, ok bool) {
	x, first := monthlyMedians(values)
	n := len(x) // years from the first to the last
	for _, months := range x {
		if slices.ContainsFunc(months[:], func(v float64) bool { return !math.IsNaN(v) }) {
			t.Years++
		}
	}
	if t.Years < trendYears {
		return t, false
	}
	t.First, t.Last = first, first+n-1
	ranks := make([][12]float64, n)
	var counts [12]int
	var slopes []float64
	var signs [12][]int8 // of the differences of all pairs of years
	for g := range 12 {
		for i := range n {
			if !math.IsNaN(x[i][g]) {
				counts[g]++
			}
		}
		if counts[g] > 1 {
			t.MonthsUsed++
		}
		signs[g] = make([]int8, 0, n*(n-1)/2)
		for j := range n {
			for i := range j {
				d := x[j][g] - x[i][g]
				s := sign(d)
				signs[g] = append(signs[g], int8(s))
				ranks[j][g], ranks[i][g] = ranks[j][g]+float64(s), ranks[i][g]-float64(s)
				if !math.IsNaN(d) {
					t.S += s
					slopes = append(slopes, d/float64(j-i))
				}
			}
		}
		for i := range n {
			ranks[i][g] = (float64(counts[g]+1) + ranks[i][g]) / 2
		}
	}
	if len(slopes) == 0 {
		return t, false
	}
	for g := range 12 {
		for h := range g + 1 {
			k, r := 0, 0.0
			for i, s := range signs[g] {
				k += int(s) * int(signs[h][i])
			}
			for j := range n {
				r += ranks[j][g] * ranks[j][h]
			}
			covariance := (float64(k) + 4*r - float64(n*(counts[g]+1)*(counts[h]+1))) / 3
			if h < g {
				covariance *= 2 // it is that of h and g too
			}
			t.Variance += covariance
		}
	}
	slices.Sort(slopes)
	t.Slope, t.P = quantile(slopes, 0.5), 1
	if s := math.Abs(float64(t.S)) - 1; s > 0 && t.Variance > 0 {
		t.P = math.Erfc(s / math.Sqrt(2*t.Variance))
	}
	return t, true
}

// sign returns the sign of d, 0 for NaN.
func sign(d float64) int {
	switch {
	case d > 0:
		return 1
	case d < 0:
		return -1
	}
	return 0
}

// monthlyMedians returns the medians of months, from January on, by year from the first one on. They are NaN without a value.
func monthlyMedians(values []Value) (x [][12]float64, first int) {
	if len(values) == 0 {
		return nil, 0
	}
	first = yearOf(values[0].Date)
	x = make([][12]float64, yearOf(values[len(values)-1].Date)-first+1)
	for i := range x {
		for m := range x[i] {
			x[i][m] = math.NaN()
		}
	}
	for len(values) > 0 {
		year, month, n := yearOf(values[0].Date), monthOf(values[0].Date), 1
		for n < len(values) && yearOf(values[n].Date) == year && monthOf(values[n].Date) == month {
			n++
		}
		x[year-first][month-time.January] = quantile(slices.Sorted(slices.Values(chlorophylls(values[:n]))), 0.5)
		values = values[n:]
	}
	return x, first
}
