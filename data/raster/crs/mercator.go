package crs

import "math"

// webMercator is the Popular Visualisation Pseudo Mercator (EPSG method 1024): latitudes of the ellipsoid, projected as on a sphere.
type webMercator struct{}

// maxWebMercator is the largest latitude in radians: the poles are infinitely far.
const maxWebMercator = 89.999999 * (math.Pi / 180)

func (webMercator) forward(lambda, phi float64) (x, y float64, ok bool) {
	if math.Abs(phi) > maxWebMercator {
		return 0, 0, false
	}
	return wgs84.a * lambda, wgs84.a * math.Asinh(math.Tan(phi)), true
}
