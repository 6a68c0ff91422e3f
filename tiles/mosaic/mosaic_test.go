package mosaic

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/data/raster/crs"
	"limnomap/render/palettepng"
)

// entryAt is that of a pixel of the test's map, which tells where it is on a map of that zoom and scale.
func entryAt(x, y, side int) uint8 {
	const fields = 64 // of each direction over the world
	return uint8(1 + (x*fields/side*7+y*fields/side*13)%200)
}

// testPalette has the colours of the test's map.
func testPalette() *palettepng.Palette {
	var p palettepng.Palette
	for i := 1; i < len(p); i++ {
		p[i] = color.NRGBA{uint8(i), uint8(255 - i), uint8(i / 2), 255}
	}
	return &p
}

func colorAt(x, y, side int) color.NRGBA { return testPalette()[entryAt(x, y, side)] }

// draw draws a picture of the test's map.
func draw(tb testing.TB, p Picture) (picture image.Image, zoom maptile.Zoom, scale int) {
	tb.Helper()
	p.MaxZoom = 18
	content, err := Draw(tb.Context(), p, func(_ context.Context, z maptile.Zoom, s int, part image.Rectangle) (palettepng.Image, error) {
		zoom, scale = z, s
		side := 256 * s << z
		if part.Empty() || part.Dx()*part.Dy() > maxPart || part.Min.Y < 0 || part.Max.Y > side || (part.Min.X|part.Min.Y|part.Max.X|part.Max.Y)&1 != 0 {
			tb.Errorf("the part %v at zoom %d and scale %d", part, z, s)
		}
		m := palettepng.Image{Width: part.Dx(), Palette: testPalette()}
		for y := part.Min.Y; y < part.Max.Y; y++ {
			for x := part.Min.X; x < part.Max.X; x++ {
				m.Pixels = append(m.Pixels, entryAt((x%side+side)%side, y, side))
			}
		}
		return m, nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	if picture, err = png.Decode(bytes.NewReader(content)); err != nil {
		tb.Fatal(err)
	}
	return picture, zoom, scale
}

func systemOf(tb testing.TB, code int) *crs.System {
	tb.Helper()
	s, err := crs.FromEPSG(code)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// A picture on the grid of a zoom has the pixels of its tiles.
func TestOnTheGridOfAZoom(t *testing.T) {
	t.Parallel()
	const edge = math.Pi * earthRadius
	system := systemOf(t, mercator)
	for _, zoom := range []int{0, 3, 6, 9} {
		world := 256 << zoom
		metres := 2 * edge / float64(world)
		for range 4 {
			width, height := 1+rand.IntN(min(1100, world)), 1+rand.IntN(min(1100, world))
			left, top := rand.IntN(world-width+1), rand.IntN(world-height+1)
			got, z, scale := draw(t, Picture{Width: width, Height: height, System: system,
				Min: orb.Point{float64(left)*metres - edge, edge - float64(top+height)*metres}, Max: orb.Point{float64(left+width)*metres - edge, edge - float64(top)*metres}})
			if int(z) != zoom || scale != 1 {
				t.Fatalf("drawn from zoom %d at scale %d, want %d at 1", z, scale, zoom)
			}
			for y := range height {
				for x := range width {
					if c := color.NRGBAModel.Convert(got.At(x, y)); c != colorAt(left+x, top+y, world) {
						t.Fatalf("zoom %d, pixel %d, %d is %v, want that of the tile, %v", zoom, x, y, c, colorAt(left+x, top+y, world))
					}
				}
			}
		}
	}
}

// In each system a pixel is that of the map at its centre, or the next one.
func TestPixelsAreAtTheirPlaces(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		code     int // 0: degrees
		min, max orb.Point
	}{
		{"degrees", 0, orb.Point{5, 47}, orb.Point{15.5, 55}},
		{"across the antimeridian", 0, orb.Point{170, -30}, orb.Point{200, -10}},
		{"beyond the poles", 0, orb.Point{-180, -90}, orb.Point{180, 90}},
		{"web Mercator", 3857, orb.Point{600_000, 5_900_000}, orb.Point{1_700_000, 7_400_000}},
		{"UTM 32", 25832, orb.Point{280_000, 5_230_000}, orb.Point{920_000, 6_110_000}},
		{"UTM 33", 25833, orb.Point{300_000, 5_700_000}, orb.Point{310_000, 5_706_000}},
		{"Europe", 3035, orb.Point{2_500_000, 1_400_000}, orb.Point{7_400_000, 5_500_000}},
	} {
		p := Picture{Width: 301, Height: 283, Min: tt.min, Max: tt.max}
		if tt.code != 0 {
			p.System = systemOf(t, tt.code)
		}
		got, zoom, scale := draw(t, p)
		world := float64(int(256*scale) << zoom)
		for range 2000 {
			// A place, and its pixel: the projection of the place is all that the picture needs not to be asked about.
			lon, lat := tt.min[0]+rand.Float64()*(tt.max[0]-tt.min[0]), tt.min[1]+rand.Float64()*(tt.max[1]-tt.min[1])
			x, y := lon, lat
			if tt.code != 0 {
				lon, lat = rand.Float64()*40-10, 35+rand.Float64()*30
				var ok bool
				if x, y, ok = p.System.Project(lon, lat); !ok {
					continue
				}
			}
			px, py := (x-tt.min[0])/(tt.max[0]-tt.min[0])*301, (tt.max[1]-y)/(tt.max[1]-tt.min[1])*283
			if px < 0 || py < 0 || px >= 301 || py >= 283 || math.Abs(lat) > 70 {
				continue
			}
			c := color.NRGBAModel.Convert(got.At(int(px), int(py)))
			at := maptile.Fraction(orb.Point{lon - 360*math.Floor((lon+180)/360), lat}, 0)
			found := false
			// The centre of the pixel is up to a pixel from the place.
			for dy := -2.; dy <= 2; dy++ {
				for dx := -2.; dx <= 2; dx++ {
					wx, wy := math.Mod(at[0]*world+dx*float64(scale)+world, world), at[1]*world+dy*float64(scale)
					found = found || c == colorAt(int(wx), int(wy), int(world))
				}
			}
			if !found {
				t.Fatalf("%s: the pixel of %v, %v is %v, want %v", tt.name, lon, lat, c, colorAt(int(at[0]*world), int(at[1]*world), int(world)))
			}
		}
	}
}

// nothing is a map on which nothing is.
func nothing(context.Context, maptile.Zoom, int, image.Rectangle) (palettepng.Image, error) {
	return palettepng.Image{}, nil
}

// Places between the nodes of the grid are within an eighth of a pixel of the exact ones, and a large part of a picture takes few nodes.
func TestPlacesAreExact(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		code     int
		min, max orb.Point
		step     int // at least
	}{
		{"UTM 32", 25832, orb.Point{500_000, 5_400_000}, orb.Point{1_100_000, 6_000_000}, 32},
		{"a part of UTM 33", 25833, orb.Point{300_000, 5_700_000}, orb.Point{310_000, 5_710_000}, 64},
		{"Germany", 3035, orb.Point{4_000_000, 2_650_000}, orb.Point{4_700_000, 3_600_000}, 32},
		{"Europe", 3035, orb.Point{2_500_000, 1_400_000}, orb.Point{7_400_000, 5_500_000}, 8},
	} {
		for _, side := range []int{300, 1024} {
			p := Picture{Width: side, Height: side, System: systemOf(t, tt.code), Min: tt.min, Max: tt.max}
			all, err := newPlaces(&p)
			if err != nil {
				t.Fatal(err)
			}
			if side == 1024 && all.step < tt.step {
				t.Errorf("%s: a node every %d pixels, want %d", tt.name, all.step, tt.step)
			}
			inverse, err := crs.NewInverse(p.System)
			if err != nil {
				t.Fatal(err)
			}
			for range 3000 {
				x, y := 1+rand.IntN(side-1), rand.IntN(side)
				lon, lat := inverse.At(p.x(float64(x)+.5), p.y(float64(y)+.5))
				got, beside := all.place(x, y), all.place(x-1, y)
				pixel := math.Hypot(got[0]-beside[0], got[1]-beside[1])
				if off := math.Hypot(got[0]-lon/360-.5, got[1]-mercatorY(lat)); !(off < pixel/8) {
					t.Fatalf("%s, %d pixels, a node every %d: pixel %d, %d is %.2f pixels from its place", tt.name, side, all.step, x, y, off/pixel)
				}
			}
		}
	}
}

func TestBackground(t *testing.T) {
	t.Parallel()
	white := color.NRGBA{255, 255, 255, 255}
	if got := over(color.NRGBA{200, 0, 0, 128}, white); got != (color.NRGBA{227, 127, 127, 255}) {
		t.Errorf("half red on white is %v", got)
	}
	if got := over(color.NRGBA{200, 0, 0, 128}, color.NRGBA{}); got != (color.NRGBA{200, 0, 0, 128}) {
		t.Errorf("on nothing it is %v", got)
	}
	content, err := Draw(t.Context(), Picture{Width: 3, Height: 2, Min: orb.Point{1, 1}, Max: orb.Point{2, 2}, Background: white}, nothing)
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(content))
	if err != nil || picture.Bounds() != image.Rect(0, 0, 3, 2) || color.NRGBAModel.Convert(picture.At(2, 1)) != white {
		t.Errorf("%v, %v", picture, err)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for _, p := range []Picture{
		{Width: 0, Height: 1, Max: orb.Point{1, 1}},
		{Width: 1, Height: MaxSide + 1, Max: orb.Point{1, 1}},
		{Width: 1, Height: 1, Min: orb.Point{1, 0}, Max: orb.Point{0, 1}},
		{Width: 1, Height: 1, Min: orb.Point{math.NaN(), 0}, Max: orb.Point{0, 1}},
		{Width: 1, Height: 1, Min: orb.Point{0, 0}, Max: orb.Point{math.Inf(1), 1}},
	} {
		if _, err := Draw(t.Context(), p, nothing); !errors.Is(err, ErrBounds) {
			t.Errorf("%+v: %v", p, err)
		}
	}
	boom := errors.New("boom")
	if _, err := Draw(t.Context(), Picture{Width: 1, Height: 1, Max: orb.Point{1, 1}}, func(context.Context, maptile.Zoom, int, image.Rectangle) (palettepng.Image, error) {
		return palettepng.Image{}, boom
	}); !errors.Is(err, boom) {
		t.Errorf("an error of a tile is %v", err)
	}
	// A strip around the world is wide in pixels of the zoom that fits it best.
	if _, err := Draw(t.Context(), Picture{Width: 2048, Height: 2048, Min: orb.Point{-180, 0}, Max: orb.Point{180, 1e-9}, MaxZoom: 18}, nothing); err != nil && !errors.Is(err, ErrTooLarge) {
		t.Errorf("a strip: %v", err)
	}
}
