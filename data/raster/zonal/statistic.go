package zonal

import (
	"math"
	"slices"
)

// Quantile returns the q-quantile of values, with 0 <= q <= 1, interpolated linearly between the two nearest as in NumPy's default. It
// reorders values. It returns NaN if there are none or if one is NaN.
func Quantile(values []float64, q float64) float64 {
	if len(values) == 0 || !(q >= 0 && q <= 1) || slices.ContainsFunc(values, math.IsNaN) {
		return math.NaN()
	}
	at := q * float64(len(values)-1)
	i := int(at)
	t := at - float64(i)
	a := placeNth(values, i)
	if t == 0 || i+1 >= len(values) {
		return a
	}
	b := slices.Min(values[i+1:])
	switch {
	case a == b: // also for infinite values
		return a
	case t < 0.5:
		return a + (b-a)*t
	}
	return b - (b-a)*(1-t)
}

// Median returns the middle value, or the mean of the two middle ones. It reorders values. It returns NaN if there are none or if one is NaN.
func Median(values []float64) float64 {
	n := len(values)
	if n == 0 || slices.ContainsFunc(values, math.IsNaN) {
		return math.NaN()
	}
	b := placeNth(values, n/2)
	if n%2 == 1 {
		return b
	}
	a := slices.Max(values[:n/2])
	if sum := a + b; !math.IsInf(sum, 0) {
		return sum / 2
	}
	return a/2 + b/2
}

// placeNth reorders values so that value n is the one that sorting would put there, none before it is larger and none after it smaller, and
// returns it. It takes a time proportional to the number of values: Hoare's selection, which sorts the rest after too many bad pivots.
func placeNth(values []float64, n int) float64 {
	const few = 16
	low, high := 0, len(values)
	for bad := 0; high-low > few && bad < 32; {
		pivot := middleOf(values[low], values[low+(high-low)/2], values[high-1])
		i, j := low, high-1
		for i <= j {
			for values[i] < pivot {
				i++
			}
			for values[j] > pivot {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i++
				j--
			}
		}
		before := high - low
		switch { // values[low:j+1] <= pivot, values[j+1:i] == pivot, values[i:high] >= pivot
		case n <= j:
			high = j + 1
		case n >= i:
			low = i
		default:
			return values[n]
		}
		if high-low > before*7/8 {
			bad++
		}
	}
	slices.Sort(values[low:high])
	return values[n]
}

func middleOf(a, b, c float64) float64 { return max(min(a, b), min(max(a, b), c)) }
