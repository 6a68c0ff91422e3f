// Package exact computes functions whose results are the same bits on all processors.
//
// It uses +, -, *, / and square roots only, which IEEE 754 rounds alike everywhere. The functions of package math are written in assembly
// on some processors, and use fused multiply-add on others. A product that is added stands in float64(), which forbids the compiler to
// fuse it; who computes with the results must do the same. Errors are at most two units in the last place, and 1e-15 of the result of
// [Erfc].
package exact

import "math"

const (
	ln2Hi = 0x1.62e42fefa0000p-1 // the first 33 bits of ln 2: a product with an exponent is exact
	ln2Lo = math.Ln2 - ln2Hi
)

// Exp returns e to the power of x.
func Exp(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > 709.79:
		return math.Inf(1)
	case x < -745.14:
		return 0
	}
	// x = k ln 2 + r, |r| <= Ln(2)/2
	k := math.Floor(float64(x*math.Log2E) + 0.5)
	hi := x - float64(k*ln2Hi)
	lo := float64(k * ln2Lo)
	r := hi - lo
	// The Taylor series without its first two terms; the fourteenth power is less than 2^-57 of the sum.
	p := 1.0 / 6227020800
	p = float64(p*r) + 1.0/479001600
	p = float64(p*r) + 1.0/39916800
	p = float64(p*r) + 1.0/3628800
	p = float64(p*r) + 1.0/362880
	p = float64(p*r) + 1.0/40320
	p = float64(p*r) + 1.0/5040
	p = float64(p*r) + 1.0/720
	p = float64(p*r) + 1.0/120
	p = float64(p*r) + 1.0/24
	p = float64(p*r) + 1.0/6
	p = float64(p*r) + 1.0/2
	// hi-r-lo is what the rounding of r lost.
	tail := (hi - r) - lo + float64(float64(r*r)*p)
	return scale(1+(r+tail), int(k))
}

// scale returns x times two to the power of k, for x of about 1. Results below the smallest normal number are rounded twice.
func scale(x float64, k int) float64 {
	switch {
	case k > 1023:
		return float64(float64(x*2) * pow2(k-1))
	case k < -1022:
		return float64(float64(x*pow2(k+100)) * 0x1p-100)
	}
	return float64(x * pow2(k))
}

// pow2 returns two to the power of k, which must be from -1022 to 1023.
func pow2(k int) float64 {
	return math.Float64frombits(uint64(k+1023) << 52)
}

// Ln returns the natural logarithm of x: of 0 it is -Inf, and of a negative number NaN.
func Ln(x float64) float64 {
	switch {
	case x != x || x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case x > math.MaxFloat64:
		return x
	}
	k := 0
	if x < 0x1p-1022 {
		x = float64(x * 0x1p54)
		k = -54
	}
	// x = 2^k (1+f), sqrt(1/2) <= 1+f < sqrt(2)
	b := math.Float64bits(x)
	k += int(b>>52) - 1023
	m := math.Float64frombits(b&(1<<52-1) | 1023<<52)
	if m > math.Sqrt2 {
		m /= 2
		k++
	}
	f := m - 1
	// Ln(1+f) = 2 artanh(s) = 2s + s q with s = f/(2+f) and q = 2 (s²/3 + s⁴/5 + ...). It is computed as f - (f²/2 - s (f²/2 + q)),
	// which is the same, but f is exact.
	s := f / (2 + f)
	z := float64(s * s)
	q := 2.0 / 23
	q = float64(q*z) + 2.0/21
	q = float64(q*z) + 2.0/19
	q = float64(q*z) + 2.0/17
	q = float64(q*z) + 2.0/15
	q = float64(q*z) + 2.0/13
	q = float64(q*z) + 2.0/11
	q = float64(q*z) + 2.0/9
	q = float64(q*z) + 2.0/7
	q = float64(q*z) + 2.0/5
	q = float64(q*z) + 2.0/3
	q = float64(q * z)
	half := float64(float64(f*f) / 2)
	e := float64(k)
	return float64(e*ln2Hi) - ((half - (float64(s*(half+q)) + float64(e*ln2Lo))) - f)
}

// Erfc returns the complementary error function of x: 2/sqrt(pi) times the integral of Exp(-t²) from x to infinity.
func Erfc(x float64) float64 {
	const twoOverSqrtPi = 1.12837916709551257389615890312154517
	switch {
	case x != x:
		return x
	case x < 0:
		return 2 - Erfc(-x)
	case x > 27.3:
		return 0
	case x < 0.5:
		// The Taylor series of erf.
		z := float64(x * x)
		sum, term := 0.0, x
		for n := 0; n < 16; n++ {
			sum += term / float64(2*n+1)
			term = -float64(term*z) / float64(n+1)
		}
		return 1 - float64(twoOverSqrtPi*sum)
	}
	// The trapezoidal rule for the integral of Exp(-t²)/(t²+x²), with steps of 1/2 and a term for the pole at t = ix. See F. Matta
	// and A. Reichel, Uniform computation of the error function and other related functions, Math. Comp. 25 (1971).
	z := float64(x * x)
	sum := 0.0
	for n := len(gaussian); n > 0; n-- { // smallest terms first
		t := float64(n) / 2
		sum += gaussian[n-1] / (float64(t*t) + z)
	}
	sum += 0.5 / z
	// Exp(-x²) is split, because an error of x² is an error of the result many times as large.
	head := math.Float64frombits(math.Float64bits(x) &^ (1<<27 - 1))
	bell := float64(Exp(-float64(head*head)) * Exp(-float64((x-head)*(x+head))))
	y := float64(float64(x*bell)*sum) / math.Pi
	if x < 6 {
		y -= 2 / (Exp(float64(4*math.Pi*x)) - 1)
	}
	return y
}

// gaussian[n] is exp(-((n+1)/2)²).
var gaussian = func() (g [12]float64) {
	for n := range g {
		t := float64(n+1) / 2
		g[n] = Exp(-float64(t * t))
	}
	return g
}()
