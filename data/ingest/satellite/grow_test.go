package satellite

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/paulmach/orb"

	"limnomap/data"
	"limnomap/data/ingest/satellite/satellitetest"
	"limnomap/data/outline"
	"limnomap/data/raster/crs"
	"limnomap/data/raster/georef"
	"limnomap/data/raster/zonal"
)

// waters is a raster in which only some pixels are water, for lakes without an outline. A pixel is 1/448° as in LWQ.
type waters struct {
	satellitetest.TIFF
}

const land = -9999

func newWaters(width, height int) *waters {
	w := &waters{satellitetest.TIFF{Width: width, Height: height, X0: 10, Y0: 50, Step: 1.0 / 448, Unit: "mg m-3", NoData: fmt.Sprint(land)}}
	w.Floats = slices.Repeat([]float32{land}, width*height)
	return w
}

// fill sets the pixels of a rectangle.
func (w *waters) fill(x0, y0, x1, y1 int, chl float32) {
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			w.Floats[y*w.Width+x] = chl
		}
	}
}

// at returns a lake whose point is in a pixel.
func (w *waters) at(id string, x, y int) Lake {
	return Lake{ID: data.LakeID(id), Point: orb.Point{w.X0 + (float64(x)+0.5)*w.Step, w.Y0 - (float64(y)+0.5)*w.Step}}
}

func (w *waters) file() File { return fileOf(chlName, w.Encode()) }

func TestGrow(t *testing.T) {
	w := newWaters(400, 200)
	w.fill(10, 10, 30, 30, 8)      // a lake
	w.fill(18, 18, 22, 22, land)   // with an island
	w.fill(60, 10, 80, 30, 8)      // two lakes,
	w.fill(80, 20, 90, 21, 8)      // a river of one pixel
	w.fill(90, 10, 110, 30, 80)    // between them
	w.fill(150, 10, 155, 15, 20)   // a small lake
	w.fill(200, 10, 220, 30, 30)   // a lake
	w.fill(208, 10, 212, 30, land) // cut in two by a cloud
	w.fill(215, 10, 220, 30, 50)   //
	w.fill(300, 100, 302, 102, 5)  // a pond of four pixels
	w.fill(0, 150, 20, 160, 6)     // a lake at the edge of the raster
	lakes := []Lake{w.at("island", 12, 12), w.at("west", 62, 12), w.at("east", 108, 12), w.at("shore", 149, 12), w.at("inland", 146, 12), w.at("clouded", 218, 20),
		w.at("pond", 300, 100), w.at("edge", 2, 155), w.at("outside", 500, 12)}
	rows, summary := extractAll(t, w.file(), lakes, nil)
	for _, test := range []struct {
		id     data.LakeID
		value  float64
		inside int
	}{
		{"island", 8, 18*18 - 6*6},
		{"west", 8, 18 * 18},
		{"east", 80, 18 * 18},
		{"shore", 20, 3 * 3}, // its point is beside the water
		{"clouded", 50, 6 * 18},
		{"pond", 5, 4}, // too small to drop its edge
	} {
		r, ok := rows[test.id]
		if !ok || r.Value != test.value || r.Inside != test.inside {
			t.Errorf("%s is %+v, want %v of %d pixels", test.id, r, test.value, test.inside)
		}
		if want := "median of pixels connected to the one nearest to the point"; len(r.Method) < len(want) || r.Method[:len(want)] != want {
			t.Errorf("%s: method %q", test.id, r.Method)
		}
	}
	if r := rows["edge"]; r.Value != 6 {
		t.Errorf("a lake at the edge of the raster is %+v", r)
	}
	if _, ok := rows["inland"]; ok || summary.Gaps[NoData] != 1 || summary.Gaps[Outside] != 1 {
		t.Errorf("the gaps are %v, want one lake far from water, and one outside", summary.Gaps)
	}
	// A sea is not a lake.
	sea := newWaters(400, 400)
	sea.fill(0, 0, 400, 400, 3)
	if _, summary := extractAll(t, sea.file(), []Lake{sea.at("a", 200, 200)}, nil); summary.Gaps[MergedWaters] != 1 {
		t.Errorf("the gaps are %v, want one of merged waters", summary.Gaps)
	}
}

// Lakes whose truth is known: from a point at the shore, their value is nearly that from the outline; a disc around the point misleads.
func TestGrowBesideOutlines(t *testing.T) {
	random := rand.New(rand.NewPCG(19, 2))
	const size = 1200
	w := newWaters(size, size)
	var outlined, points []Lake
	for i := range 64 {
		lon, lat := w.X0+(0.1+float64(i%8)*0.33), w.Y0-(0.1+float64(i/8)*0.33)
		lake := irregularLake(t, random, fmt.Sprint("lake", i), lon, lat, 0.01+0.04*random.Float64(), 40, 8)
		grown := Lake{ID: lake.ID, Point: shoreOf(lake)}
		outlined, points = append(outlined, lake), append(points, grown)
		base := math.Exp(2.3 + random.NormFloat64())
		o := outliner{grid: w.grid(t), rule: zonal.Centre}
		mask, err := o.mask(lake.Outline)
		if err != nil {
			t.Fatal(err)
		}
		rim := mask.Erode(1)
		mask.Each(func(y, x0, x1 int) {
			for x := x0; x < x1; x++ {
				chl := base * math.Exp(0.25*random.NormFloat64())
				if !rim.Has(x, y) {
					chl *= 2.5 // as it is near the shore
				}
				if random.Float64() < 0.03 {
					chl = land // a small cloud
				}
				w.Floats[y*size+x] = float32(chl)
			}
		})
	}
	truth, _ := extractAll(t, w.file(), outlined, nil)
	compare := func(opts *Options) (ratios []float64, missing int) {
		rows, _ := extractAll(t, w.file(), points, opts)
		for id, want := range truth {
			if r, ok := rows[id]; ok && r.HasValue && want.HasValue {
				ratios = append(ratios, r.Value/want.Value)
			} else {
				missing++
			}
		}
		slices.Sort(ratios)
		return ratios, missing
	}
	ratios, missing := compare(nil)
	n := len(ratios)
	t.Logf("grow: ratio to the outline's value %.3f (10 %% of the lakes below %.3f, above %.3f), %d of %d without a value", ratios[n/2], ratios[n/10], ratios[n-1-n/10], missing, len(truth))
	if ratios[n/2] < 0.95 || ratios[n/2] > 1.1 || ratios[n-1-n/10] > 1.3 || missing > 10 {
		t.Errorf("grow does not agree with outlines: %.3f", ratios)
	}
	discs, _ := compare(&Options{WithoutOutline: Disc(500)})
	m := len(discs)
	t.Logf("disc of 500 m: ratio to the outline's value %.3f (10 %% of the lakes below %.3f, above %.3f)", discs[m/2], discs[m/10], discs[m-1-m/10])
	if discs[m/2] < 1.3*ratios[n/2] {
		t.Errorf("a disc at the shore is not worse than grow: %.3f", discs)
	}
}

// grid returns where its pixels are.
func (w *waters) grid(t *testing.T) *georef.Grid {
	t.Helper()
	g, err := georef.New(w.Width, w.Height, [6]float64{w.X0, w.Step, 0, w.Y0, 0, -w.Step}, wgs84(t))
	if err != nil {
		t.Fatal(err)
	}
	return &g
}

func wgs84(t *testing.T) *crs.System {
	t.Helper()
	system, err := crs.FromEPSG(4326)
	if err != nil {
		t.Fatal(err)
	}
	return system
}

// shoreOf returns the first point of a lake's shore.
func shoreOf(l Lake) orb.Point {
	var buffer []orb.Point
	for ring := range l.Outline.Rings(finest, &buffer) {
		return ring[0]
	}
	return l.Point
}

// irregularLake returns a lake of about that radius in degrees of latitude, with an island. Their shores have that many points.
func irregularLake(t testing.TB, random *rand.Rand, id string, lon, lat, radius float64, shore, island int) Lake {
	t.Helper()
	ring := func(points int, radius, roughness float64) orb.Ring {
		var r orb.Ring
		for i := range points {
			angle := 2 * math.Pi * float64(i) / float64(points)
			d := radius * (1 + roughness*(random.Float64()-0.5))
			r = append(r, orb.Point{lon + d*math.Cos(angle)/math.Cos(lat*math.Pi/180), lat + d*math.Sin(angle)})
		}
		return append(r, r[0])
	}
	o, err := outline.New(orb.MultiPolygon{{ring(shore, radius, 0.8), ring(island, radius/4, 0.4)}})
	if err != nil {
		t.Fatal(err)
	}
	return Lake{ID: data.LakeID(id), Point: orb.Point{lon, lat}, Outline: o}
}
