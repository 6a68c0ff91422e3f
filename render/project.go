package render

import (
	"math"

	"github.com/paulmach/orb"
)

const (
	// worldBits is the width of a world coordinate: the whole world is 2^32 units wide, 9 mm at the equator.
	worldBits  = 32
	worldUnits = 1 << worldBits
	// subBits is log2 of subUnits. A sixteenth of a pixel is not visible in a blob, and makes each distance to
	// the centre of a pixel a whole number of units, at scale 2 as well.
	subBits = 4
	// subUnits is the width of a pixel at scale 1 in units of distance.
	subUnits = 1 << subBits
	// tileBits is log2 of TileSize.
	tileBits = 8
	// MaxZoom is the largest zoom that can be drawn: there a world coordinate is one unit of distance.
	MaxZoom = worldBits - tileBits - subBits
)

// project returns the Web Mercator coordinates of p, x growing east and y growing south. It reports whether p is on the
// map, which ends at 85.0511 degrees north and south. Longitudes 180 and -180 are the same.
func project(p orb.Point) (x, y uint32, ok bool) {
	fx, fy := turns(p.Lon()), southing(p.Lat())
	// The tangent is periodic, latitude is not: check it, too.
	if !(math.Abs(p.Lat()) <= 90 && fx >= 0 && fy >= 0 && fy < 1) {
		return 0, 0, false
	}
	// Just west of the antimeridian fx may be rounded up to 1, which the conversions turn into 0.
	return uint32(uint64(fx * worldUnits)), uint32(fy * worldUnits), true
}

// turns returns how far east of the antimeridian a longitude is, in turns of the world from 0 to 1.
func turns(lon float64) float64 {
	f := lon/360 + 0.5
	return f - math.Floor(f)
}

// southing returns how far south of the map's northern edge a latitude is, as a part of the height of the map.
func southing(lat float64) float64 {
	return 0.5 - math.Asinh(math.Tan(lat*math.Pi/180))/(2*math.Pi)
}

// latitude returns the latitude whose southing is f.
func latitude(f float64) float64 { return math.Atan(math.Sinh((0.5-f)*2*math.Pi)) * 180 / math.Pi }

// pixelsPerMetre returns the width in pixels at zoom 0 of one metre on the ground at world coordinate y.
func pixelsPerMetre(y uint32) float64 {
	// Semi-major axis of WGS 84, on whose sphere Web Mercator (EPSG:3857) is drawn.
	const earthRadius = 6378137.0
	t := 2 * math.Pi * (0.5 - float64(y)/(1<<worldBits))
	return TileSize * math.Cosh(t) / (2 * math.Pi * earthRadius)
}

// morton returns the bits of x and y interleaved, those of y above those of x: points whose codes begin with the same bits
// lie in the same quadrant.
func morton(x, y uint32) uint64 { return spread(x) | spread(y)<<1 }

// spread moves bit i of v to bit 2i.
func spread(v uint32) uint64 {
	w := uint64(v)
	w = (w | w<<16) & 0x0000ffff0000ffff
	w = (w | w<<8) & 0x00ff00ff00ff00ff
	w = (w | w<<4) & 0x0f0f0f0f0f0f0f0f
	w = (w | w<<2) & 0x3333333333333333
	return (w | w<<1) & 0x5555555555555555
}

// unspread moves bit 2i of v to bit i.
func unspread(v uint64) uint32 {
	v &= 0x5555555555555555
	v = (v | v>>1) & 0x3333333333333333
	v = (v | v>>2) & 0x0f0f0f0f0f0f0f0f
	v = (v | v>>4) & 0x00ff00ff00ff00ff
	v = (v | v>>8) & 0x0000ffff0000ffff
	return uint32(v | v>>16)
}
