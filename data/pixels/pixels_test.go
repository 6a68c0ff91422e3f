package pixels_test

import (
	"bytes"
	"errors"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/paulmach/orb"

	"limnomap/data"
	"limnomap/data/pixels"
	"limnomap/data/raster/crs"
	"limnomap/data/raster/georef"
	"limnomap/data/raster/tiff"
	"limnomap/data/raster/zonal"
)

// A code is within half a step of 2 % of each value that an observation may have, in the order of the values.
func TestCodesAreWithinAStep(t *testing.T) {
	last := pixels.BelowLimit
	for chl := 0.01; chl <= data.MaxChlorophyll.Float(); chl *= 1.0007 {
		c := pixels.CodeOf(chl)
		got, ok := c.Value()
		if !ok || math.Abs(math.Log(got/chl)) > math.Log(1.02)/2+1e-9 || c < last {
			t.Fatalf("%g has the code %d after %d, which is %g (%t)", chl, c, last, got, ok)
		}
		last = c
	}
	for _, test := range []struct{ chl, want float64 }{{0, 0}, {math.Copysign(0, -1), 0}, {0.004, 0.01}, {1500, 1500}, {1e5, 1500}, {math.Inf(1), 1500}} {
		if got, ok := pixels.CodeOf(test.chl).Value(); !ok || math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%g becomes %g (%t), want %g", test.chl, got, ok, test.want)
		}
	}
	if c := pixels.CodeOf(math.NaN()); c != pixels.OutOfRange {
		t.Errorf("no number has the code %d", c)
	}
	for _, c := range []pixels.Code{pixels.NoData, pixels.Ice, pixels.OutOfRange, math.MaxUint16} {
		if chl, ok := c.Value(); ok {
			t.Errorf("code %d has the value %g, want none", c, chl)
		}
	}
}

// grid returns a global grid of that step in degrees.
func grid(t testing.TB, step float64) georef.Grid {
	t.Helper()
	s, err := crs.FromEPSG(4326)
	if err != nil {
		t.Fatal(err)
	}
	g, err := georef.New(int(math.Round(360/step)), int(math.Round(180/step)), [6]float64{-180, step, 0, 90, 0, -step}, s)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// lake returns a map of a round lake of n pixels across. vary is how far its values are apart: the factor between the highest and the lowest.
func lake(t testing.TB, g georef.Grid, at orb.Point, n int, vary float64, rnd *rand.Rand) *pixels.Map {
	t.Helper()
	center, ok := g.PixelOf(at, 0)
	if !ok {
		t.Fatal("no place")
	}
	mask, err := zonal.NewDisc(center, float64(n)/2, float64(n)/2)
	if err != nil {
		t.Fatal(err)
	}
	m := &pixels.Map{Grid: g, Mask: mask}
	mask.Each(func(y, x0, x1 int) {
		for x := x0; x < x1; x++ {
			chl := 3 * math.Pow(vary, (float64(x)-center[0])/float64(n)+0.1*rnd.Float64())
			c := pixels.CodeOf(chl)
			switch {
			case (x/7+y/5)%6 == 0:
				c = pixels.NoData
			case rnd.IntN(50) == 0:
				c = []pixels.Code{pixels.BelowLimit, pixels.Ice, pixels.OutOfRange}[rnd.IntN(3)]
			}
			m.Codes = append(m.Codes, c)
		}
	})
	return m
}

func TestPackedMapsAreTheSame(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	g := grid(t, 1./360)
	packer := pixels.NewPacker()
	for _, at := range []orb.Point{{9.4, 47.6}, {179.999, 0}, {-179.999, 66}, {-120, -33}} {
		for _, n := range []int{1, 3, 40, 200} {
			for _, vary := range []float64{1, 20, 1e5} {
				m := lake(t, g, at, n, vary, rnd)
				p := packer.Pack(m)
				got, err := p.Unpack()
				if err != nil {
					t.Fatalf("%v, %d pixels across: %v", at, n, err)
				}
				if got.Grid.String() != m.Grid.String() || !slices.Equal(got.Codes, m.Codes) || got.Mask.Count() != m.Mask.Count() || p.Count() != m.Mask.Count() || got.Mask.Bounds() != m.Mask.Bounds() {
					t.Fatalf("%v, %d pixels across: the map is another one", at, n)
				}
				m.Mask.Each(func(y, x0, x1 int) {
					if a, _ := m.Mask.Index(x0, y); !got.Mask.Has(x1-1, y) {
						t.Fatalf("pixel %d of row %d is not in the mask", a, y)
					}
				})
				if again := packer.Pack(got); string(again.Mask) != string(p.Mask) || string(again.Codes) != string(p.Codes) {
					t.Fatal("the same map has other bytes")
				}
			}
		}
	}
}

// The pixel of a point is found on both sides of the antimeridian, whatever turn the mask has.
func TestAt(t *testing.T) {
	g := grid(t, 1./100)
	m := lake(t, g, orb.Point{179.999, 10}, 21, 1, rand.New(rand.NewPCG(3, 4)))
	for _, test := range []struct {
		at orb.Point
		ok bool
	}{{orb.Point{179.95, 10}, true}, {orb.Point{-179.96, 10}, true}, {orb.Point{-179.8, 10}, false}, {orb.Point{179.95, 10.2}, false}, {orb.Point{0, 10}, false}} {
		if _, _, _, ok := m.At(test.at); ok != test.ok {
			t.Errorf("%v is in the lake: %t, want %t", test.at, ok, test.ok)
		}
	}
}

func TestDamagedMapsAreErrors(t *testing.T) {
	p := pixels.NewPacker().Pack(lake(t, grid(t, 0.01), orb.Point{9, 47}, 9, 20, rand.New(rand.NewPCG(5, 6))))
	other := pixels.NewPacker().Pack(lake(t, grid(t, 0.01), orb.Point{9, 47}, 11, 20, rand.New(rand.NewPCG(5, 6))))
	if n := (pixels.Packed{Mask: p.Codes}).Count(); n != 0 {
		t.Errorf("a damaged mask has %d pixels", n)
	}
	for name, damaged := range map[string]pixels.Packed{
		"no grid":        {Mask: p.Mask, Codes: p.Codes},
		"endless grid":   {Grid: "400 300 6 NaN 0 47 0 -0.5 EPSG:4326", Mask: p.Mask, Codes: p.Codes},
		"no mask":        {Grid: p.Grid, Codes: p.Codes},
		"other mask":     {Grid: p.Grid, Mask: other.Mask, Codes: p.Codes},
		"codes as mask":  {Grid: p.Grid, Mask: p.Codes, Codes: p.Codes},
		"no codes":       {Grid: p.Grid, Mask: p.Mask},
		"cut codes":      {Grid: p.Grid, Mask: p.Mask, Codes: p.Codes[:len(p.Codes)/2]},
		"mask as codes":  {Grid: p.Grid, Mask: p.Mask, Codes: p.Mask},
		"too many codes": {Grid: p.Grid, Mask: p.Mask, Codes: other.Codes},
	} {
		if _, err := damaged.Unpack(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	p := pixels.NewPacker().Pack(lake(f, grid(f, 0.01), orb.Point{9, 47}, 9, 20, rand.New(rand.NewPCG(5, 6))))
	f.Add(p.Grid, p.Mask, p.Codes)
	f.Fuzz(func(t *testing.T, grid string, mask, codes []byte) {
		m, err := pixels.Packed{Grid: grid, Mask: mask, Codes: codes}.Unpack()
		if err != nil {
			return
		}
		again, err := pixels.NewPacker().Pack(m).Unpack()
		if err != nil || !slices.Equal(again.Codes, m.Codes) {
			t.Fatalf("packed again: %v", err)
		}
	})
}

// BenchmarkPack packs a lake of 1,250 pixels, as a large one at 300 m.
func BenchmarkPack(b *testing.B) {
	m := lake(b, grid(b, 1./360), orb.Point{9, 47}, 40, 20, rand.New(rand.NewPCG(7, 8)))
	packer := pixels.NewPacker()
	p := packer.Pack(m)
	for b.Loop() {
		p = packer.Pack(m)
	}
	b.ReportMetric(float64(len(p.Mask)), "mask-bytes")
	b.ReportMetric(float64(len(p.Codes))/float64(len(m.Codes)), "bytes/pixel")
}

// A GeoTIFF has the values of the map at their places.
func TestGeoTIFF(t *testing.T) {
	for _, code := range []int{4326, 32632} {
		system, err := crs.FromEPSG(code)
		if err != nil {
			t.Fatal(err)
		}
		transform := [6]float64{5, 0.01, 0, 50, 0, -0.01}
		if code != 4326 {
			transform = [6]float64{399960, 20, 0, 5300040, 0, -20}
		}
		g, err := georef.New(900, 900, transform, system)
		if err != nil {
			t.Fatal(err)
		}
		mask, err := zonal.NewDisc(zonal.Point{400, 300}, 20, 11)
		if err != nil {
			t.Fatal(err)
		}
		m := &pixels.Map{Grid: g, Mask: mask}
		mask.Each(func(y, x0, x1 int) {
			for x := x0; x < x1; x++ {
				m.Codes = append(m.Codes, []pixels.Code{pixels.CodeOf(float64(x)), pixels.NoData, pixels.BelowLimit}[(x+y)%3])
			}
		})
		file, err := m.GeoTIFF("chlorophyll-a on 2026-07-01")
		if err != nil {
			t.Fatal(err)
		}
		f, err := tiff.Open(bytes.NewReader(file), int64(len(file)), nil)
		if err != nil {
			t.Fatal(err)
		}
		im := f.Images()[0]
		bounds := mask.Bounds()
		want := transform
		want[0] += float64(bounds.Min.X) * transform[1]
		want[3] += float64(bounds.Min.Y) * transform[5]
		if got, ok := im.Transform(); !ok || got != want || im.Width() != bounds.Dx() || im.Height() != bounds.Dy() {
			t.Errorf("%d: %d x %d pixels with %v, want %v with %v", code, im.Width(), im.Height(), got, bounds, want)
		}
		if read, err := crs.FromGeoKeys(im.GeoKeys()); err != nil || read.Code() != code {
			t.Errorf("the system is %v, %v, want %d", read, err, code)
		}
		if im.Unit(0) != "ug l-1" || im.Description(0) != "chlorophyll-a on 2026-07-01" {
			t.Errorf("the band is %q in %q", im.Description(0), im.Unit(0))
		}
		got := 0
		if err := im.Gather(t.Context(), 0, []image.Rectangle{image.Rect(0, 0, im.Width(), im.Height())}, func(_ int, part image.Rectangle, values []float64) error {
			for k, v := range values {
				x, y := part.Min.X+k%part.Dx()+bounds.Min.X, part.Min.Y+k/part.Dx()+bounds.Min.Y
				i, in := mask.Index(x, y)
				want := math.NaN()
				if in {
					if chl, ok := m.Codes[i].Value(); ok {
						want = float64(float32(chl))
					}
				}
				if v != want && !(math.IsNaN(v) && math.IsNaN(want)) {
					t.Fatalf("pixel %d, %d is %g, want %g", x, y, v, want)
				}
				got++
			}
			return nil
		}); err != nil || got != im.Width()*im.Height() {
			t.Fatalf("%d pixels were read, %v", got, err)
		}
	}
	own, err := crs.FromCF(map[string]any{"grid_mapping_name": "lambert_azimuthal_equal_area", "longitude_of_projection_origin": 9.0, "latitude_of_projection_origin": 48.0})
	if err != nil {
		t.Fatal(err)
	}
	g, err := georef.New(900, 900, [6]float64{0, 20, 0, 0, 0, -20}, own)
	if err != nil {
		t.Fatal(err)
	}
	m := lake(t, grid(t, 0.01), orb.Point{9, 47}, 9, 20, rand.New(rand.NewPCG(5, 6)))
	m.Grid = g
	if _, err := m.GeoTIFF(""); !errors.Is(err, pixels.ErrNoFile) {
		t.Errorf("a system without a code: %v", err)
	}
}

// The spread of codes is that of their values, one by one.
func TestSpread(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	for _, n := range []int{1, 2, 11, 40} {
		for _, vary := range []float64{1, 1e5} {
			m := lake(t, grid(t, 1./360), orb.Point{9, 47}, n, vary, rnd)
			got, err := pixels.SpreadOf(pixels.NewPacker().Pack(m).Codes)
			if err != nil {
				t.Fatal(err)
			}
			var values []float64
			for _, c := range m.Codes {
				if chl, ok := c.Value(); ok {
					values = append(values, chl)
				}
			}
			slices.Sort(values)
			if got.Valid != len(values) || got.Inside != len(m.Codes) {
				t.Errorf("%d pixels across: %d values of %d pixels, want %d of %d", n, got.Valid, got.Inside, len(values), len(m.Codes))
			}
			last, counted := math.Inf(-1), 0
			got.Each(func(above float64, n int) {
				if above <= last {
					t.Errorf("the limit %g comes after %g", above, last)
				}
				last, counted = above, counted+n
				if left := got.Valid - counted; left != countAbove(values, nextLimit(got, above)) {
					t.Errorf("%d pixels are above the range that begins at %g", left, above)
				}
			})
			if again, err := pixels.UnpackSpread(got.Pack()); err != nil || *again != *got || len(got.Pack()) > pixels.MaxSpreadBytes {
				t.Errorf("%+v becomes %+v, %v", got, again, err)
			}
			for p, percentile := range map[float64]float64{0.1: got.P10, 0.9: got.P90} {
				want := 0.0
				if len(values) > 0 {
					at := p * float64(len(values)-1)
					low := values[int(at)]
					want = low + (values[min(int(at)+1, len(values)-1)]-low)*(at-math.Floor(at))
				}
				if math.Abs(percentile-want) > 0.005+1e-9 {
					t.Errorf("%d pixels across: percentile %g is %g, want %g", n, p, percentile, want)
				}
			}
		}
	}
	for _, damaged := range [][]byte{nil, {1}, []byte("no deflate")} {
		if _, err := pixels.SpreadOf(damaged); err == nil {
			t.Errorf("no error for %q", damaged)
		}
	}
}

// nextLimit returns the limit after one, which no value reaches after the last.
func nextLimit(s *pixels.Spread, limit float64) (next float64) {
	next = math.Inf(1)
	s.Each(func(above float64, _ int) {
		if above > limit {
			next = min(next, above)
		}
	})
	return next
}

// countAbove returns how many values are above a limit.
func countAbove(values []float64, limit float64) (n int) {
	for _, v := range values {
		if v > limit {
			n++
		}
	}
	return n
}

func FuzzUnpackSpread(f *testing.F) {
	f.Add((&pixels.Spread{}).Pack())
	f.Add([]byte{7, 1, 2, 1, 1, 1, 1, 1, 1, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := pixels.UnpackSpread(b)
		if err != nil {
			return
		}
		if again, err := pixels.UnpackSpread(s.Pack()); err != nil || *again != *s || s.Valid > s.Inside {
			t.Fatalf("%+v becomes %+v, %v", s, again, err)
		}
	})
}

func FuzzSpreadOf(f *testing.F) {
	f.Add(pixels.NewPacker().Pack(lake(f, grid(f, 0.01), orb.Point{9, 47}, 9, 20, rand.New(rand.NewPCG(5, 6)))).Codes)
	f.Fuzz(func(t *testing.T, codes []byte) {
		if s, err := pixels.SpreadOf(codes); err == nil && s.Valid > 0 && !(s.P10 <= s.P90) {
			t.Fatalf("percentiles %g and %g", s.P10, s.P90)
		}
	})
}
