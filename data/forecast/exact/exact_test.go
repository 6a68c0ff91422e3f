package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// compare calls got and want for many numbers and reports results that differ by more than a share of the result.
func compare(t *testing.T, name string, got, want func(float64) float64, share float64, numbers func(yield func(float64) bool)) {
	t.Helper()
	worst, n := 0.0, 0
	for x := range numbers {
		g, w := got(x), want(x)
		n++
		if g == w || g != g && w != w {
			continue
		}
		d := math.Abs(g-w) / math.Abs(w)
		if !(d <= share) {
			t.Fatalf("%s(%v) = %v, want %v", name, x, g, w)
		}
		worst = max(worst, d)
	}
	t.Logf("%s: %d numbers, largest relative difference %.2g", name, n, worst)
}

// One and two units in the last place, as shares of the number at most.
const oneULP, twoULPs = 0x1p-52, 0x1p-51

// uniform yields n numbers between low and high.
func uniform(n int, low, high float64) func(func(float64) bool) {
	return func(yield func(float64) bool) {
		r := rand.New(rand.NewPCG(1, 2))
		for range n {
			if !yield(low + (high-low)*r.Float64()) {
				return
			}
		}
	}
}

// normal yields n normal numbers of all exponents.
func normal(n int) func(func(float64) bool) {
	return func(yield func(float64) bool) {
		r := rand.New(rand.NewPCG(3, 4))
		for range n {
			if !yield(math.Ldexp(1+r.Float64(), r.IntN(2046)-1022)) {
				return
			}
		}
	}
}

func list(numbers ...float64) func(func(float64) bool) {
	return func(yield func(float64) bool) {
		for _, x := range numbers {
			if !yield(x) {
				return
			}
		}
	}
}

func TestExp(t *testing.T) {
	compare(t, "Exp", Exp, math.Exp, twoULPs, uniform(500_000, -10, 10))
	compare(t, "Exp", Exp, math.Exp, twoULPs, uniform(500_000, -708, 709)) // math.Exp of amd64 is infinite too early
	compare(t, "Exp", Exp, math.Exp, twoULPs, uniform(500_000, -1e-3, 1e-3))
	compare(t, "Exp", Exp, math.Exp, 0, list(0, math.Copysign(0, -1), 5e-324))
	compare(t, "Exp", Exp, math.Exp, 0, list(709.8, 1e300, -745.2, -1e300, math.Inf(1), math.Inf(-1), math.NaN()))
	// At the ends of the range.
	compare(t, "Exp", Exp, func(x float64) float64 { return math.Exp(x-2) * math.Exp(2) }, 1e-13, uniform(100_000, 709, 709.78))
	for x := range uniform(100_000, -745.13, -708) {
		if got, want := Exp(x), math.Exp(x+40)*math.Exp(-40); math.Abs(got-want) > 1e-12*want+5e-324 {
			t.Fatalf("Exp(%v) = %v, want %v", x, got, want)
		}
	}
}

func TestLn(t *testing.T) {
	compare(t, "Ln", Ln, math.Log, oneULP, uniform(500_000, 0, 1500))
	compare(t, "Ln", Ln, math.Log, oneULP, uniform(500_000, 0.5, 2))
	compare(t, "Ln", Ln, math.Log, oneULP, uniform(500_000, 0.999, 1.001))
	compare(t, "Ln", Ln, math.Log, oneULP, normal(500_000))
	compare(t, "Ln", Ln, math.Log, oneULP, list(1, 0x1p-1022, math.MaxFloat64))
	compare(t, "Ln", Ln, math.Log, 0, list(0, math.Copysign(0, -1), -1, math.Inf(1), math.Inf(-1), math.NaN()))
	// Below the smallest normal number, where math.Log of amd64 is wrong.
	compare(t, "Ln", Ln, func(x float64) float64 { return math.Log(x*0x1p60) - 60*math.Ln2 }, twoULPs, uniform(100_000, 5e-324, 0x1p-1022))
}

func TestErfc(t *testing.T) {
	compare(t, "Erfc", Erfc, math.Erfc, 1e-15, uniform(500_000, -6, 0))
	compare(t, "Erfc", Erfc, math.Erfc, 1e-15, uniform(500_000, 0, 2))
	compare(t, "Erfc", Erfc, math.Erfc, 1e-15, uniform(500_000, 0, 26.5))
	compare(t, "Erfc", Erfc, math.Erfc, 0, list(0, 1e-300, -1e-300, 28, -28, 1e300, -1e300, math.Inf(1), math.Inf(-1), math.NaN()))
	if x := Erfc(27); !(x > 0 && x < 1e-310) {
		t.Errorf("Erfc(27) = %v", x)
	}
}

// ln2Hi and ln2Lo are ln 2 to more digits than a float64 has.
func TestLn2(t *testing.T) {
	want, _, err := big.ParseFloat("0.693147180559945309417232121458176568075500134360255", 10, 200, big.ToNearestEven)
	if err != nil {
		t.Fatal(err)
	}
	hi, lo := ln2Hi, ln2Lo
	sum := new(big.Float).SetPrec(200).Add(big.NewFloat(hi), big.NewFloat(lo))
	if d, _ := sum.Sub(sum, want).Float64(); math.Abs(d) > 1e-26 {
		t.Errorf("ln2Hi + ln2Lo - ln 2 = %v", d)
	}
	if bits := math.Float64bits(hi); bits&(1<<11-1) != 0 {
		t.Errorf("ln2Hi = %x has too many digits for exact products", bits)
	}
}

func TestScale(t *testing.T) {
	for _, k := range []int{-1075, -1023, -1022, -1, 0, 1, 1023, 1024} {
		if got, want := scale(1.25, k), math.Ldexp(1.25, k); got != want {
			t.Errorf("scale(1.25, %d) = %v, want %v", k, got, want)
		}
	}
}
