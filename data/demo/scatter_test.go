package demo

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestClustering: in a Poisson process, where points know nothing of each other, the variance of counts per cell is
// their mean. The cells here are small enough that the shape of the district itself plays no part.
func TestClustering(t *testing.T) {
	const cell = 0.2 // degrees
	for _, d := range districts() {
		if d.code != "FI_LAK" && d.code != "CA_NWO" {
			continue
		}
		counts := map[[2]int]float64{}
		n := int(1_400_000 * d.share / 2000)
		for l := range d.scatter(0, n) {
			// The middle of the ellipse, where it thins out by less than half.
			if math.Abs(l.point.Lat()-d.lat) < 1 && math.Abs(l.point.Lon()-d.lon) < 2 {
				counts[[2]int{int(math.Floor(l.point.Lat() / cell)), int(math.Floor(l.point.Lon() / cell))}]++
			}
		}
		const cells = 2 * 4 / (cell * cell) // empty ones included
		sum, squares, fullest := 0.0, 0.0, 0.0
		for _, c := range counts {
			sum += c
			squares += c * c
			fullest = max(fullest, c)
		}
		mean := sum / cells
		index := (squares/cells - mean*mean) / mean
		if index < 10 {
			t.Errorf("%s: variance by mean of counts = %.1f, want at least 10 (1 in a Poisson process)", d.code, index)
		}
		t.Logf("%s: %.0f lakes in the middle, variance by mean %.1f, fullest cell %.0f at a mean of %.1f", d.code, sum, index, fullest, mean)
	}
}

// TestAreasFollowThePowerLaw fits the slope by maximum likelihood (Hill 1975). The truncation at the largest lake is
// far too high up to matter.
func TestAreasFollowThePowerLaw(t *testing.T) {
	d := districts()[0]
	sum, n, large := 0.0, 0.0, 0.0
	for l := range d.scatter(0, 100_000) {
		sum += math.Log(l.area / smallestArea)
		n++
		if l.area > 10*smallestArea {
			large++
		}
	}
	if slope := n / sum; math.Abs(slope-areaPower) > 0.02 {
		t.Errorf("slope = -%.3f, want -%g", slope, areaPower)
	}
	if got, want := large/n, math.Pow(10, -areaPower); math.Abs(got-want) > 0.005 {
		t.Errorf("a share of %.4f is more than ten times as large as the smallest, want %.4f", got, want)
	}
}

func TestPowerLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		exponent := rapid.Float64Range(0.1, 3).Draw(t, "exponent")
		low := rapid.Float64Range(0.01, 10).Draw(t, "low")
		high := low * rapid.Float64Range(1.1, 1e6).Draw(t, "factor")
		us := rapid.SliceOfN(rapid.Float64Range(0, 1), 2, 2).Draw(t, "u")
		slices.Sort(us)
		a, b := powerLaw(us[0], exponent, low, high), powerLaw(us[1], exponent, low, high)
		if !(low <= a && a <= b && b <= high) {
			t.Errorf("powerLaw(%v, %g, %g, %g) = %g, %g, want them in order within the bounds", us, exponent, low, high, a, b)
		}
	})
}

func TestParentsStayInTheirEllipse(t *testing.T) {
	for _, d := range slices.Concat(districts(), continents()) {
		farthest := 0.0
		r := d.random()
		for range 500 {
			farthest = max(farthest, d.distance2(d.parent(r)))
		}
		if farthest > 1+1e-9 || farthest < 0.6 {
			t.Errorf("%s: the farthest of 500 parents lies at %.2f of the way to the edge, want 0.77 to 1", d.code, math.Sqrt(farthest))
		}
	}
}
