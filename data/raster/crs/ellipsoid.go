package crs

import "math"

// An ellipsoid is the shape of the Earth.
type ellipsoid struct {
	a  float64 // semi-major axis in metres
	rf float64 // reciprocal of the flattening
}

// EPSG dataset, ellipsoids 7030 and 7019.
var (
	wgs84 = ellipsoid{6378137, 298.257223563}
	grs80 = ellipsoid{6378137, 298.257222101}
)

// modern reports whether e is the ellipsoid of WGS 84 or GRS 1980, as far as files write its digits. The two differ by 0.1 mm in the
// semi-minor axis.
func (e ellipsoid) modern() bool {
	return math.Abs(e.a-wgs84.a) < 0.01 && math.Abs(e.rf-wgs84.rf) < 1e-4
}

// e2 returns the square of the eccentricity.
func (e ellipsoid) e2() float64 { return (2 - 1/e.rf) / e.rf }

// An authalicSphere converts the latitude of an ellipsoid to that of the sphere with an equal area (Snyder, Map Projections:
// A Working Manual, 1987, page 16).
type authalicSphere struct {
	e, e2 float64
	qp    float64 // q at the pole
}

func newAuthalicSphere(el ellipsoid) *authalicSphere {
	a := &authalicSphere{e2: el.e2()}
	a.e = math.Sqrt(a.e2)
	a.qp = 1 + (1-a.e2)/a.e*math.Atanh(a.e)
	return a
}

// q is Snyder's equation 3-12 for the sine of a latitude.
func (a *authalicSphere) q(sin float64) float64 {
	return (1 - a.e2) * (sin/(1-a.e2*sin*sin) + math.Atanh(a.e*sin)/a.e)
}

// sincos returns the sine and the cosine of the authalic latitude for those of a latitude of -90 to 90 degrees.
func (a *authalicSphere) sincos(sinPhi, cosPhi float64) (sin, cos float64) {
	// qp - q, without the loss of digits near the pole.
	s := math.Abs(sinPhi)
	d := cosPhi * cosPhi / (1 + s)
	rest := d*(1+a.e2*s)/(1-a.e2*s*s) + (1-a.e2)/a.e*math.Atanh(a.e*d/(1-a.e2*s))
	sin = 1 - rest/a.qp
	cos = math.Sqrt(rest*(2*a.qp-rest)) / a.qp
	return math.Copysign(sin, sinPhi), cos
}
