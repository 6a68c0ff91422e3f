package render

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/paulmach/orb/maptile"
	"pgregory.net/rapid"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/testsize"
)

// maxBlurredZoom is the last zoom that the tests blur.
const maxBlurredZoom = 8

// blurred returns a layer of lakes that are drawn as if they were many, up to maxBlurredZoom: binned in advance at zooms
// below grids, and for each tile at the others.
func blurred(grids int, lakes ...testLake) *Layer {
	l := layerOf(lakes...)
	l.dense, l.blurred, l.grids, l.traced = nil, nil, nil, nil
	for z := range maptile.Zoom(maxBlurredZoom + 1) {
		l.dense = append(l.dense, denseZoom{wide: l.wideAt(z)})
		l.blurred = append(l.blurred, func() bool { return true })
		if int(z) < grids {
			l.grids, l.traced = append(l.grids, newGrid(l, z)), append(l.traced, newTraced(l, z))
		}
	}
	return l
}

// blurredZooms returns the number of zooms at which the field of l is blurred.
func blurredZooms(l *Layer) (n int) {
	for n < len(l.blurred) && l.blurred[n]() {
		n++
	}
	return n
}

// district is lakes over two tiles of zoom 6, so close to each other that many share a pixel.
func district(n int) []testLake {
	rng := rand.New(rand.NewPCG(5, 6))
	lakes := make([]testLake, n)
	for i := range lakes {
		lakes[i] = testLake{
			lon: 22.5 + rng.NormFloat64()*1.5, lat: 62 + rng.NormFloat64(),
			chl: math.Round(100*math.Exp(1.5+rng.NormFloat64())) / 100,
		}
	}
	return lakes
}

func TestBlurredTilesAreCrops(t *testing.T) {
	lakes := append(country(), district(300)...)
	for _, grids := range []int{0, 4} {
		l := blurred(grids, lakes...)
		rapid.Check(t, func(t *rapid.T) {
			tile := drawTile(t, lakes)
			if tile.Z > maxBlurredZoom {
				tile = maptile.Tile{X: tile.X >> (tile.Z - maxBlurredZoom), Y: tile.Y >> (tile.Z - maxBlurredZoom), Z: maxBlurredZoom}
				tile.Y = min(tile.Y, 1<<maxBlurredZoom-2)
			}
			sameAsCrops(t, l, tile, rapid.IntRange(1, 2).Draw(t, "scale"), Heat)
		})
	}
}

// TestPatchesAreEqual compares patches cut out of a grid with those made from the lakes in reach.
func TestPatchesAreEqual(t *testing.T) {
	lakes := append(country(), district(300)...)
	gridded, plain := blurred(4, lakes...), blurred(0, lakes...)
	h := renderer().styles[Heat]
	rapid.Check(t, func(t *rapid.T) {
		w := windowOf(drawTile(t, lakes), rapid.IntRange(1, 2).Draw(t, "scale"))
		if w.zoom > 3 {
			return
		}
		a, b := sceneOf(gridded, w, h), sceneOf(plain, w, h)
		if len(a.marks) != len(b.marks) {
			t.Fatalf("%+v: %d stamped lakes of one, %d of the other", w, len(a.marks), len(b.marks))
		}
		samePatchCells(t, a, b, w, &a.patch.all, &b.patch.all)
		for k := range a.patch.upper {
			samePatchCells(t, a, b, w, &a.patch.upper[k], &b.patch.upper[k])
		}
	})
}

func samePatchCells(t *rapid.T, a, b *scene, w window, ofA, ofB *cells) {
	if ofA.filled != ofB.filled || !slices.Equal(ofA.used, ofB.used) {
		t.Fatalf("%+v: rows %v of one, %v of the other", w, ofA.used, ofB.used)
	}
	for r, used := range ofA.used {
		aCounts, aLogs := a.patch.row(ofA, r)
		bCounts, bLogs := b.patch.row(ofB, r)
		if !slices.Equal(aCounts[used.from:used.to], bCounts[used.from:used.to]) || !slices.Equal(aLogs[used.from:used.to], bLogs[used.from:used.to]) {
			t.Fatalf("%+v: row %d of the patches differs", w, r)
		}
	}
}

// drawn reports for each site whether it has a value and is drawn at zoom z: all but those of crowds that are not selected.
func drawn(l *Layer, z maptile.Zoom) []bool {
	type square struct{ x, y uint32 }
	of := func(s *site, side float64) square {
		width := math.Exp2(float64(MaxZoom-z)+subBits) * side
		return square{uint32(float64(s.x) / width), uint32(float64(s.y) / width)}
	}
	hash := func(i int) uint64 { return l.codes[i] * 0x9e3779b97f4a7c15 }
	counts, first, high, binned := map[square]int{}, map[square]int{}, map[square]int{}, make([]bool, len(l.sites))
	for i := range l.sites {
		v, s := l.value(i), &l.sites[i]
		if binned[i] = v.Valid() && s.binned(z); !binned[i] {
			continue
		}
		counts[of(s, 16)]++
		at := of(s, 2)
		if z >= highZoom && l.logs.classes.of(v.Chlorophyll) == upperClasses {
			k, ok := high[at]
			if best := l.value(k); !ok || v.compare(&best) > 0 {
				high[at] = i
			}
		}
		switch k, ok := first[at]; {
		case !ok || hash(i) < hash(k):
			first[at] = i
		case hash(i) == hash(k):
			if best := l.value(k); v.compare(&best) > 0 {
				first[at] = i
			}
		}
	}
	for at, i := range high {
		if counts[square{at.x / 8, at.y / 8}] < 2048 {
			first[at] = i
		}
	}
	drawn := make([]bool, len(l.sites))
	for i := range l.sites {
		v, s := l.value(i), &l.sites[i]
		drawn[i] = v.Valid() && (!binned[i] || counts[of(s, 16)] < thinnedLakes || first[of(s, 2)] == i)
	}
	return drawn
}

// TestBlurAgreesWithStamps compares the blurred field with one of stamps of the lakes that are drawn. The difference comes from sharing a lake between
// pixels.
func TestBlurAgreesWithStamps(t *testing.T) {
	lakes := append(country(), district(5000)...)
	all, l := layerOf(lakes...), blurred(0, lakes...)
	for z := range maptile.Zoom(maxBlurredZoom + 1) {
		stamped := *all
		stamped.blurred, stamped.values = nil, slices.Clone(all.values)
		for i, ok := range drawn(all, z) {
			if !ok {
				stamped.values[i] = value{Chlorophyll: data.NoChlorophyll}
			}
		}
		for scale := 1; scale <= 2; scale++ {
			d := compareFields(t, l, &stamped, z, scale)
			t.Logf("zoom %d, scale %d: opacity differs by %.4f, at most by %.3f; value by %.2f %%",
				z, scale, d.opacity, d.largest, 100*d.value)
			most := fieldDifference{opacity: 0.0015, largest: 0.145, value: 0.006}
			if len(all.dense) > int(z) { // in crowds, where lakes are thinned, no pixel is far from the rim of a disc
				most.opacity, most.value = 0.0075, 0.022
			}
			if d.opacity > most.opacity || d.largest > most.largest || d.value > most.value {
				t.Errorf("zoom %d, scale %d: %+v, want at most %+v", z, scale, d, most)
			}
		}
	}
}

// TestBlurIsOfTheDrawnLakes compares the sums of the blurred field with those of the lakes that are drawn, each of them shared among the pixels around it one by one: they
// are equal but for rounding. So no other lake is left out, and all that TestBlurAgreesWithStamps finds in crowds comes from the sharing.
func TestBlurIsOfTheDrawnLakes(t *testing.T) {
	const most = 1e-5 // of the weights, and of the sums of logarithms, as a part of the largest one
	lakes := append(country(), district(5000)...)
	l := blurred(0, lakes...)
	f := renderer().styles[Heat].painter.(*heat).kernels.of(smallest, 0).split
	at := func(d int64) float64 {
		if d = max(d, -d); d < int64(len(f.at)) {
			return float64(f.at[d])
		}
		return 0
	}
	for z := range maptile.Zoom(maxBlurredZoom + 1) {
		draw := drawn(l, z)
		thinned := 0
		for scale := 1; scale <= 2; scale++ {
			w := windowOf(maptile.At([2]float64{22.5, 62}, z), scale)
			got := coreless(l, w)
			got.splats = nil
			got.sum(0, w.height)
			var weights, logs [upperClasses + 1][]float64 // of all lakes, and of those of each upper class
			for k := range weights {
				weights[k], logs[k] = make([]float64, w.width*w.height), make([]float64, w.width*w.height)
			}
			for i := range l.sites {
				v, s := l.value(i), &l.sites[i]
				if !v.Valid() || !s.binned(z) {
					continue
				}
				if !draw[i] {
					thinned++
					continue
				}
				shift := uint(MaxZoom - z)
				left, columns := sharedAt(int64(s.x>>shift) - w.left)
				top, rows := sharedAt(int64(s.y>>shift) - w.top)
				class := l.logs.classes.of(v.Chlorophyll)
				for j, row := range rows {
					for k, column := range columns {
						x, y := int64(left+k)*subUnits+subUnits/2, int64(top+j)*subUnits+subUnits/2
						for r := max((y-f.reach())/w.step()-1, 0); r <= min((y+f.reach())/w.step(), int64(w.height)-1); r++ {
							for c := max((x-f.reach())/w.step()-1, 0); c <= min((x+f.reach())/w.step(), int64(w.width)-1); c++ {
								g := at(r*w.step()+w.firstCentre()-y) * at(c*w.step()+w.firstCentre()-x) * float64(row*column) / (sharesPerAxis * sharesPerAxis)
								pixel := int(r)*w.width + int(c)
								weights[0][pixel], logs[0][pixel] = weights[0][pixel]+g, logs[0][pixel]+g*float64(v.log)
								if class > 0 {
									weights[class][pixel], logs[class][pixel] = weights[class][pixel]+g, logs[class][pixel]+g*float64(v.log)
								}
							}
						}
					}
				}
			}
			for k := range weights {
				of := &got.sums.all
				if k > 0 {
					of = &got.sums.upper[k-1]
				}
				for _, sums := range []struct {
					got  []float32
					want []float64
				}{{of.weights, weights[k]}, {of.logs, logs[k]}} {
					largest, off := slices.Max(sums.want), 0.0
					for i, want := range sums.want {
						off = max(off, math.Abs(float64(got.sums.row(sums.got, i/w.width)[i%w.width])-want))
					}
					if k == 0 && largest == 0 || off > most*largest {
						t.Errorf("zoom %d, scale %d, class %d: a sum differs by %v of %v", z, scale, k, off, largest)
					}
				}
			}
		}
		t.Logf("zoom %d: %d lakes are left out", z, thinned/2)
		if z <= 4 && thinned == 0 {
			t.Errorf("zoom %d: no lake is left out", z)
		}
	}
}

// coreless returns the field of l in w without cores.
func coreless(l *Layer, w window) *field {
	var f field
	h := renderer().styles[Heat]
	s := sceneOf(l, w, h)
	s.cores = nil
	f.reset(s, w, h.painter.(*heat))
	return &f
}

// fieldDifference is how much two fields differ: on average where the first has an opacity of a tenth or more.
type fieldDifference struct{ opacity, largest, value float64 }

func compareFields(t *testing.T, one, other *Layer, z maptile.Zoom, scale int) (d fieldDifference) {
	n, blurred := 0.0, false
	for _, at := range [][2]float64{{22.5, 62}, {11, 51}, {179.99, -16}} {
		w := windowOf(maptile.At(at, z), scale)
		a, b := coreless(one, w), coreless(other, w)
		if b.blur.filled() {
			t.Fatalf("zoom %d: both are blurred", z)
		}
		blurred = blurred || a.blur.filled()
		a.sum(0, w.height)
		b.sum(0, w.height)
		for r := range w.height {
			for c := range w.width {
				i := r*a.sums.stride + c
				opacity := opacityOf(a.sums.all.weights[i])
				off := math.Abs(opacity - opacityOf(b.sums.all.weights[i]))
				d.largest = max(d.largest, off)
				if opacity < 0.1 {
					continue
				}
				d.opacity += off
				d.value += math.Abs(float64(a.sums.log(i) - b.sums.log(i)))
				n++
			}
		}
	}
	if !blurred {
		t.Fatalf("zoom %d: none is blurred", z)
	}
	d.opacity /= n
	d.value = math.Exp(d.value/n) - 1
	return d
}

func (s *sums) log(i int) float32 { return s.all.logs[i] / s.all.weights[i] }

func opacityOf(g float32) float64 {
	return maxOpacity * min(1, (1-math.Exp(-opacityGain*float64(g)))/saturated)
}

// scattered returns n lakes all over the world.
func scattered(n int) []testLake {
	rng := rand.New(rand.NewPCG(5, 6))
	lakes := make([]testLake, n)
	for i := range lakes {
		lakes[i] = testLake{lon: 360*rng.Float64() - 180, lat: 140*rng.Float64() - 70, chl: 5}
	}
	return lakes
}

func TestManyLakesAreBlurred(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lakes []testLake
		want  int
	}{
		{"in a tile", scattered(maxStamped), 0},
		{"more in a tile", scattered(maxStamped + 1), 1},
		{"in one place", make([]testLake, thinnedLakes-1), 0},
		{"more in one place", make([]testLake, thinnedLakes), fadeZoom},
	} {
		if n := blurredZooms(layerOf(tt.lakes...)); n != tt.want {
			t.Errorf("%d lakes %s are blurred at %d zooms, want %d", len(tt.lakes), tt.name, n, tt.want)
		}
	}
	const n = 5 * maxStamped
	l := layerOf(district(n)...)
	if blurredZooms(l) < 3 || len(l.grids) != 2 {
		t.Fatalf("%d lakes are blurred at %d zooms and have %d grids, want 3 or more and 2", n, blurredZooms(l), len(l.grids))
	}
	count := 0.0
	for _, b := range l.grids[0].all.list {
		if b != nil {
			for _, c := range b.counts {
				count += float64(c)
			}
		}
	}
	if thinned := l.thinned(); len(thinned) != 2 || len(thinned[0].all[0].sites) > n/100 {
		t.Errorf("markers are thinned at %d zooms, at zoom 0 to %d of %d, want two zooms and few",
			len(thinned), len(thinned[0].all[0].sites), n)
	}
	stamped, want := 0, 0
	for i, ok := range drawn(l, 0) {
		if !l.sites[i].binned(0) {
			stamped++
		} else if ok {
			want++
		}
	}
	if count != float64(want) || want < 10 || stamped > n/100 {
		t.Errorf("%v lakes in the grid and %d stamped, want %d, and few of these", count, stamped, want)
	}
}

// TestThinningKeepsBlooms checks that the worst lake in a pixel has the marker, and one without a value only if there is no
// other.
func TestThinningKeepsBlooms(t *testing.T) {
	lakes := append(district(3000), country()...)
	l := layerOf(lakes...)
	for z, thinned := range newThinned(l, 3) {
		worst := map[[2]uint32]data.Chlorophyll{}
		pixel := func(i int) [2]uint32 {
			shift := MaxZoom - z + subBits
			return [2]uint32{l.sites[i].x >> shift, l.sites[i].y >> shift}
		}
		for i := range l.sites {
			was, ok := worst[pixel(i)]
			if !ok || l.value(i).Chlorophyll > was {
				worst[pixel(i)] = l.value(i).Chlorophyll
			}
		}
		shown := map[[2]uint32]bool{}
		for _, site := range thinned.all[0].sites {
			i := int(site)
			if l.sites[i].disc(maptile.Zoom(z)) > smallestRadius(maptile.Zoom(z)) {
				continue // stays, whatever else is in its pixel
			}
			if shown[pixel(i)] {
				t.Errorf("zoom %d: a pixel has two markers", z)
			}
			shown[pixel(i)] = true
			if want := worst[pixel(i)]; l.value(i).Chlorophyll != want {
				t.Errorf("zoom %d: the marker of a pixel shows %v, want %v", z, l.value(i).Chlorophyll, want)
			}
		}
		if len(shown) < len(worst)-1 { // the one large lake hides none
			t.Errorf("zoom %d: %d markers, want %d", z, len(shown), len(worst))
		}
	}
}

// TestManyLakesKeepTheirValue draws so many equal lakes at one point that sums in 32 bits would be wrong, with values just below
// and at the beginning of a class.
func TestManyLakesKeepTheirValue(t *testing.T) {
	const n = 200_000
	for _, chl := range testsize.Cases(1, []float64{9.99, 50}) {
		lakes := make([]testLake, n)
		for i := range lakes {
			lakes[i] = testLake{lon: 13.4, lat: 52.5, chl: chl}
		}
		l := layerOf(lakes...)
		m, err := colormap.New(colormap.Default, who2003())
		if err != nil {
			t.Fatal(err)
		}
		want := m.Color(chl)
		for z := range maptile.Zoom(13) { // from there on such a lake is wider than the smallest blob, and stamped
			if got, _ := shadeAt(l, lakes[0], z, colormap.Default); got != [3]uint8{want.R, want.G, want.B} {
				t.Errorf("%d lakes of %v µg/l at zoom %d show %v, want %v", n, chl, z, got, want)
			}
		}
	}
}
