package crs

import "math"

// maxEta bounds the distance from the central meridian, in radii of the Earth: there the terms that the series leaves out reach 0.1 mm.
const maxEta = 1.4

// A transverseMercatorProjection is Krüger's series of order 6 in the third flattening, as in C. F. F. Karney, Transverse Mercator with
// an accuracy of a few nanometers, Journal of Geodesy 85 (2011), equations 7 to 35.
type transverseMercatorProjection struct {
	e, e2       float64
	radius      float64 // of the rectifying sphere, times the scale factor
	y0          float64 // northing of the latitude of origin
	alpha, beta [6]float64
}

func newTransverseMercator(el ellipsoid, phi0, scale float64) *transverseMercatorProjection {
	f := 1 / el.rf
	n := f / (2 - f)
	n2 := n * n
	t := &transverseMercatorProjection{e2: el.e2(), radius: scale * el.a / (1 + n) * (1 + n2*(1./4+n2*(1./64+n2/256)))}
	t.e = math.Sqrt(t.e2)
	// Karney's equations 35 and 36.
	t.alpha = series(n, [6][6]float64{
		{1. / 2, -2. / 3, 5. / 16, 41. / 180, -127. / 288, 7891. / 37800},
		{0, 13. / 48, -3. / 5, 557. / 1440, 281. / 630, -1983433. / 1935360},
		{0, 0, 61. / 240, -103. / 140, 15061. / 26880, 167603. / 181440},
		{0, 0, 0, 49561. / 161280, -179. / 168, 6601661. / 7257600},
		{0, 0, 0, 0, 34729. / 80640, -3418889. / 1995840},
		{0, 0, 0, 0, 0, 212378941. / 319334400},
	})
	t.beta = series(n, [6][6]float64{
		{-1. / 2, 2. / 3, -37. / 96, 1. / 360, 81. / 512, -96199. / 604800},
		{0, -1. / 48, -1. / 15, 437. / 1440, -46. / 105, 1118711. / 3870720},
		{0, 0, -17. / 480, 37. / 840, 209. / 4480, -5569. / 90720},
		{0, 0, 0, -4397. / 161280, 11. / 504, 830251. / 7257600},
		{0, 0, 0, 0, -4583. / 161280, 108847. / 3991680},
		{0, 0, 0, 0, 0, -20648693. / 638668800},
	})
	_, t.y0, _ = t.forward(0, phi0)
	return t
}

// series returns the values of polynomials in n without a constant term.
func series(n float64, coefficients [6][6]float64) (values [6]float64) {
	for i, row := range coefficients {
		for j := len(row) - 1; j >= 0; j-- {
			values[i] = n * (values[i] + row[j])
		}
	}
	return values
}

func (t *transverseMercatorProjection) forward(lambda, phi float64) (x, y float64, ok bool) {
	sinLambda, cosLambda := math.Sincos(lambda)
	if cosLambda < 0 {
		return 0, 0, false // the other side of the Earth
	}
	var xi, eta float64
	if math.Abs(phi) >= math.Pi/2 { // the tangent is not reliable
		xi = math.Copysign(math.Pi/2, phi)
	} else {
		tau := t.conformal(math.Tan(phi))
		xi = math.Atan2(tau, cosLambda)
		eta = math.Asinh(sinLambda / math.Hypot(tau, cosLambda))
	}
	if !(math.Abs(eta) <= maxEta) {
		return 0, 0, false
	}
	dXi, dEta := complexClenshaw(&t.alpha, xi, eta)
	return t.radius * (eta + dEta), t.radius*(xi+dXi) - t.y0, true
}

func (t *transverseMercatorProjection) inverse(x, y float64) (lambda, phi float64, ok bool) {
	xi, eta := (y+t.y0)/t.radius, x/t.radius
	if !(math.Abs(eta) <= maxEta+0.01 && math.Abs(xi) <= math.Pi/2+1e-12) { // the series moves eta by less than 0.01
		return 0, 0, false
	}
	dXi, dEta := complexClenshaw(&t.beta, xi, eta)
	xi, eta = xi+dXi, eta+dEta
	sinXi, cosXi := math.Sincos(xi)
	sinhEta := math.Sinh(eta)
	return math.Atan2(sinhEta, cosXi), math.Atan(t.geographic(sinXi / math.Hypot(sinhEta, cosXi))), true
}

// conformal returns the tangent of the conformal latitude for that of the latitude.
func (t *transverseMercatorProjection) conformal(tau float64) float64 {
	root := math.Sqrt(1 + tau*tau)
	sigma := math.Sinh(t.e * math.Atanh(t.e*tau/root))
	return tau*math.Sqrt(1+sigma*sigma) - sigma*root
}

// geographic is the inverse of conformal, by Newton's method: equations 19 to 21.
func (t *transverseMercatorProjection) geographic(conformal float64) float64 {
	if math.Abs(conformal) > 1e8 { // within 0.1 m of the pole; the ratio is constant there
		return conformal * math.Exp(t.e*math.Atanh(t.e))
	}
	tau := conformal / (1 - t.e2)
	for range 5 { // 2 are usual
		next := t.conformal(tau)
		step := (conformal - next) / math.Sqrt(1+next*next) * (1 + (1-t.e2)*tau*tau) / ((1 - t.e2) * math.Sqrt(1+tau*tau))
		tau += step
		if math.Abs(step) <= 1e-12*math.Max(1, math.Abs(tau)) {
			break
		}
	}
	return tau
}

// complexClenshaw returns the real and the imaginary part of the sum of c[k-1] sin(2k (xi + i eta)).
func complexClenshaw(c *[6]float64, xi, eta float64) (re, im float64) {
	sin, cos := math.Sincos(2 * xi)
	sinh := math.Sinh(2 * eta)
	cosh := math.Sqrt(1 + sinh*sinh)
	z := complex(2*cos*cosh, -2*sin*sinh) // 2 cos 2(xi + i eta)
	var u0, u1 complex128
	for k := len(c) - 1; k >= 0; k-- {
		u0, u1 = complex(c[k], 0)+z*u0-u1, u0
	}
	u0 *= complex(sin*cosh, cos*sinh)
	return real(u0), imag(u0)
}
