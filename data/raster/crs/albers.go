package crs

import (
	"fmt"
	"math"
)

// An albersProjection is Snyder's equal-area conic on the ellipsoid (Map Projections: A Working Manual, 1987, page 101).
type albersProjection struct {
	sphere        *authalicSphere
	a, n, c, rho0 float64
}

func newAlbers(el ellipsoid, phi0, phi1, phi2 float64) (*albersProjection, error) {
	if !(math.Abs(phi1+phi2) > 1e-6) || !(math.Abs(phi1)+math.Abs(phi2) < math.Pi-1e-6) {
		return nil, fmt.Errorf("%w: standard parallels of an Albers projection are %g and %g, want parallels that are not symmetric to the equator nor both poles",
			ErrFormat, phi1*(180/math.Pi), phi2*(180/math.Pi))
	}
	p := &albersProjection{sphere: newAuthalicSphere(el), a: el.a}
	sin1, sin2 := math.Sin(phi1), math.Sin(phi2)
	q1, q2 := p.sphere.q(sin1), p.sphere.q(sin2)
	m1 := (1 - sin1*sin1) / (1 - p.sphere.e2*sin1*sin1) // squares of Snyder's m
	m2 := (1 - sin2*sin2) / (1 - p.sphere.e2*sin2*sin2)
	p.n = sin1
	if math.Abs(phi1-phi2) > 1e-9 {
		p.n = (m1 - m2) / (q2 - q1)
	}
	p.c = m1 + p.n*q1
	square := p.c - p.n*p.sphere.q(math.Sin(phi0))
	if !(square >= 0) {
		return nil, fmt.Errorf("%w: latitude of origin of an Albers projection is %g, beyond its pole", ErrFormat, phi0*(180/math.Pi))
	}
	p.rho0 = p.a * math.Sqrt(square) / p.n
	return p, nil
}

func (p *albersProjection) forward(lambda, phi float64) (x, y float64, ok bool) {
	square := p.c - p.n*p.sphere.q(math.Sin(phi))
	if !(square >= 0) {
		return 0, 0, false
	}
	rho := p.a * math.Sqrt(square) / p.n
	sin, cos := math.Sincos(p.n * lambda)
	return rho * sin, p.rho0 - rho*cos, true
}
