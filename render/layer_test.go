package render

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
	"pgregory.net/rapid"
)

func TestProject(t *testing.T) {
	const half = 1 << 31
	tests := []struct {
		name  string
		point orb.Point
		x, y  uint32
		ok    bool
	}{
		{"origin", orb.Point{0, 0}, half, half, true},
		{"antimeridian from the west", orb.Point{180, 0}, 0, half, true},
		{"antimeridian from the east", orb.Point{-180, 0}, 0, half, true},
		{"one turn on", orb.Point{360, 0}, half, half, true},
		{"just west of the antimeridian", orb.Point{179.99999999, 0}, math.MaxUint32, half, true},
		{"just east of the antimeridian", orb.Point{math.Nextafter(-180, 0), 0}, 0, half, true},
		{"nearer than a float64 can tell", orb.Point{math.Nextafter(180, 0), 0}, 0, half, true},
		{"beyond the north", orb.Point{0, 85.0512}, 0, 0, false},
		{"beyond the south", orb.Point{0, -85.0512}, 0, 0, false},
		{"north pole", orb.Point{0, 90}, 0, 0, false},
		{"south pole", orb.Point{0, -90}, 0, 0, false},
		{"beyond the north pole", orb.Point{0, 100}, 0, 0, false},
		{"one turn over the pole", orb.Point{0, 360}, 0, 0, false},
		{"longitude NaN", orb.Point{math.NaN(), 0}, 0, 0, false},
		{"latitude NaN", orb.Point{0, math.NaN()}, 0, 0, false},
		{"longitude infinite", orb.Point{math.Inf(1), 0}, 0, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x, y, ok := project(tt.point)
			if x != tt.x || y != tt.y || ok != tt.ok {
				t.Errorf("project(%v) = %d, %d, %v, want %d, %d, %v", tt.point, x, y, ok, tt.x, tt.y, tt.ok)
			}
		})
	}
}

func TestProjectAgreesWithMaptile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := orb.Point{rapid.Float64Range(-179.9999, 179.9999).Draw(t, "lon"), rapid.Float64Range(-85, 85).Draw(t, "lat")}
		x, y, ok := project(p)
		want := maptile.Fraction(p, worldBits-1)
		// maptile's fractions are of a grid half as fine.
		if !ok || math.Abs(float64(x)-2*want.X()) > 2 || math.Abs(float64(y)-2*want.Y()) > 2 {
			t.Errorf("project(%v) = %d, %d, %v, want %v, %v", p, x, y, ok, 2*want.X(), 2*want.Y())
		}
	})
}

func TestMorton(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := rapid.Uint32().Draw(t, "x"), rapid.Uint32().Draw(t, "y")
		if code := morton(x, y); unspread(code) != x || unspread(code>>1) != y {
			t.Errorf("morton(%d, %d) = %x, which decodes to others", x, y, code)
		}
	})
}

func TestBlobSize(t *testing.T) {
	const equator = 1 << 31
	// A round water of 10 km² has a radius of 1784 m, which is 186.9 pixels of zoom 14 at the equator: a sigma of
	// 99.9 pixels there, and of 12.5 at zoom 11.
	s := blobSize(10, equator)
	if got, want := s.at(11), 15; got != want {
		t.Errorf("size of 10 km² at zoom 11 = %d, want %d", got, want)
	}
	sizeAt := func(z maptile.Zoom, areaKM2 float64, room rooms) size {
		return (&site{blob: blobSize(areaKM2, equator), rooms: room}).size(z, false)
	}
	tests := []struct {
		name string
		got  size
		want size
	}{
		{"a small lake that is alone", sizeAt(6, 0.1, allLone), lone},
		{"a small lake among others", sizeAt(6, 0.1, 4<<24), 2},
		{"a small lake beside another one", sizeAt(6, 0.1, 0), smallest},
		{"a large lake beside another one", sizeAt(11, 10, 0), 15},
		{"the largest disc", sizeAt(18, 10, allLone), largest},
		{"no area", blobSize(0, equator), blobSize(0.2, equator)},
		{"area NaN", blobSize(math.NaN(), equator), blobSize(0.2, equator)},
		{"area infinite", blobSize(math.Inf(1), equator), largest},
		{"hardly any area", sizeAt(MaxZoom, math.SmallestNonzeroFloat64, allLone), lone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.got != tt.want {
				t.Errorf("size = %d, want %d", tt.got, tt.want)
			}
		})
	}
	if a, b := blobSize(1, equator), blobSize(1, 1<<30); b <= a {
		t.Errorf("size of 1 km² in the north = %d, at the equator %d: want more, as the map is larger there", b, a)
	}
}

// TestFind compares the search by quadrants with a test of every site.
func TestFind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 200).Draw(t, "lakes")
		var lakes []testLake
		for range n {
			lakes = append(lakes, testLake{
				lon: rapid.SampledFrom([]float64{-180, -179.9, -1, 0, 13, 13.01, 14, 90, 179.9, 180}).Draw(t, "lon") +
					rapid.Float64Range(-0.5, 0.5).Draw(t, "more lon"),
				lat:     rapid.SampledFrom([]float64{-85, 0, 52, 52.01, 85}).Draw(t, "lat"),
				chl:     rapid.SampledFrom([]float64{-1, 1}).Draw(t, "chl"),
				areaKM2: rapid.SampledFrom([]float64{0, 100, 80_000}).Draw(t, "area"),
			})
		}
		l := layerOf(lakes...)
		at := append(lakes, testLake{lon: 0, lat: 0})
		w := windowOf(drawTile(t, at), rapid.IntRange(1, 2).Draw(t, "scale"))
		if w.zoom >= fadeZoom {
			return // waters are found in the same way, see TestEqualWatersAreCrops
		}
		h := renderer().styles[Heat]
		var m memory
		m.find(l, w, h, 0)
		var want []hit
		world := int64(1) << (tileBits + subBits + w.zoom)
		for i := range l.sites {
			p := &l.sites[i]
			r := h.reach(p, w)
			for turn := int64(-3); turn <= 3; turn++ {
				x := int64(p.x>>(MaxZoom-w.zoom)) + turn*world - w.left
				y := int64(p.y>>(MaxZoom-w.zoom)) - w.top
				from, to := w.firstCentre()-r, w.lastCentre(w.width)+r
				if r > 0 && x > from && x < to && y > from && y < to {
					want = append(want, hit{int32(x), int32(y), int32(i), l.value(i)})
				}
			}
		}
		// Those with a small extent are first, and lakes at one point are in the order of their values.
		extent := func(h hit) int { return max(bits.Len64(uint64(l.sites[h.site].extent())), narrowBits) }
		slices.SortStableFunc(want, func(a, b hit) int {
			return cmp.Or(cmp.Compare(extent(a), extent(b)), cmp.Compare(l.codes[a.site], l.codes[b.site]), cmp.Compare(a.Chlorophyll, b.Chlorophyll))
		})
		if !slices.Equal(m.hits, want) {
			t.Fatalf("%+v: hits %+v, want %+v", w, m.hits, want)
		}
	})
}

func TestAtOncePassesAPanicOn(t *testing.T) {
	var done atomic.Bool
	defer func() {
		if p := recover(); !strings.HasPrefix(fmt.Sprint(p), "broken") || !done.Load() {
			t.Errorf("recovered %.40v with the other part done: %v, want broken and true", p, done.Load())
		}
	}()
	atOnce(func() { panic("broken") }, func() { done.Store(true) })
	t.Error("atOnce returned")
}
