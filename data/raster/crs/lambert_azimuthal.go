package crs

import "math"

// A lambertAzimuthalProjection is Snyder's azimuthal equal-area projection on the ellipsoid (Map Projections: A Working Manual, 1987,
// page 187), with one set of equations for all aspects.
type lambertAzimuthalProjection struct {
	sphere     *authalicSphere
	radius     float64 // of the authalic sphere
	d          float64 // Snyder's D, which keeps the scale at the centre
	sin0, cos0 float64 // of the authalic latitude of the centre
}

func newLambertAzimuthal(el ellipsoid, phi0 float64) *lambertAzimuthalProjection {
	p := &lambertAzimuthalProjection{sphere: newAuthalicSphere(el), d: 1}
	p.radius = el.a * math.Sqrt(p.sphere.qp/2)
	if math.Abs(phi0) > math.Pi/2-1e-10 { // here D has the limit 1
		p.sin0 = math.Copysign(1, phi0)
		return p
	}
	sin, cos := math.Sincos(phi0)
	p.sin0, p.cos0 = p.sphere.sincos(sin, cos)
	p.d = el.a * cos / math.Sqrt(1-p.sphere.e2*sin*sin) / (p.radius * p.cos0)
	return p
}

func (p *lambertAzimuthalProjection) forward(lambda, phi float64) (x, y float64, ok bool) {
	sin, cos := p.sphere.sincos(math.Sincos(phi))
	sinLambda, cosLambda := math.Sincos(lambda)
	g := 1 + p.sin0*sin + p.cos0*cos*cosLambda
	if !(g > 1e-6) { // within 0.1 degrees of the point opposite to the centre
		return 0, 0, false
	}
	b := p.radius * math.Sqrt(2/g)
	return b * p.d * cos * sinLambda, b / p.d * (p.cos0*sin - p.sin0*cos*cosLambda), true
}
