package crs

import "math"

// maxEta bounds the distance from the central meridian, in radii of the Earth: there the terms that the series leaves out reach 0.1 mm.
const maxEta = 1.4

// A transverseMercatorProjection is Krüger's series of order 6 in the third flattening, as in C. F. F. Karney, Transverse Mercator with
// an accuracy of a few nanometers, Journal of Geodesy 85 (2011), equations 7 to 35.
type transverseMercatorProjection struct {
	e, e2  float64
	radius float64 // of the rectifying sphere, times the scale factor
	y0     float64 // northing of the latitude of origin
	alpha  [6]float64
}

func newTransverseMercator(el ellipsoid, phi0, scale float64) *transverseMercatorProjection {
	f := 1 / el.rf
	n := f / (2 - f)
	n2 := n * n
	t := &transverseMercatorProjection{e2: el.e2(), radius: scale * el.a / (1 + n) * (1 + n2*(1./4+n2*(1./64+n2/256)))}
	t.e = math.Sqrt(t.e2)
	// Karney's equation 35.
	t.alpha = series(n, [6][6]float64{
		{1. / 2, -2. / 3, 5. / 16, 41. / 180, -127. / 288, 7891. / 37800},
		{0, 13. / 48, -3. / 5, 557. / 1440, 281. / 630, -1983433. / 1935360},
		{0, 0, 61. / 240, -103. / 140, 15061. / 26880, 167603. / 181440},
		{0, 0, 0, 49561. / 161280, -179. / 168, 6601661. / 7257600},
		{0, 0, 0, 0, 34729. / 80640, -3418889. / 1995840},
		{0, 0, 0, 0, 0, 212378941. / 319334400},
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

// conformal returns the tangent of the conformal latitude for that of the latitude.
func (t *transverseMercatorProjection) conformal(tau float64) float64 {
	root := math.Sqrt(1 + tau*tau)
	sigma := math.Sinh(t.e * math.Atanh(t.e*tau/root))
	return tau*math.Sqrt(1+sigma*sigma) - sigma*root
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
