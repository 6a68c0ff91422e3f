package render

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/snapshot"
)

// crowdedCountry returns 2,010 lakes, half of them in districts of lakes, with log-normal values of which one in twelve is high.
func crowdedCountry() []testLake {
	rng := rand.New(rand.NewPCG(7, 1))
	lakes := make([]testLake, 2010)
	for i := range lakes {
		l := &lakes[i]
		l.lon, l.lat = 6+9*rng.Float64(), 47.5+7.2*rng.Float64()
		if i > 0 && i%2 == 0 {
			near := lakes[(i/50)*50]
			l.lon, l.lat = near.lon+0.3*rng.NormFloat64(), near.lat+0.2*rng.NormFloat64()
		}
		l.chl = math.Round(100*min(math.Exp(math.Log(12)+rng.NormFloat64()), 1500)) / 100
	}
	return lakes
}

// sameShare returns the lakes with other values of regional, with about as many high ones.
func sameShare(lakes []testLake) []testLake {
	out := regional(lakes, 3)
	for i := range out {
		out[i].chl = min(2.4*out[i].chl, 1500)
	}
	return out
}

// fewHigh returns the lakes with a share of high ones like that of the bathing sites of Germany.
func fewHigh(lakes []testLake) []testLake {
	out := slices.Clone(lakes)
	for i := range out {
		out[i].chl *= 5.0 / 12
	}
	return out
}

// TestClustersAreHonest draws a country: of the coloured pixels at most one and a half times as many are red as of the lakes are high, three times where these
// are few, and 3 % where they are so few that the least part of the rim is more; at all zooms at which markers lie on each other.
func TestClustersAreHonest(t *testing.T) {
	for name, lakes := range map[string][]testLake{
		"independent": crowdedCountry(), "by region": sameShare(crowdedCountry()),
		"few high": fewHigh(crowdedCountry()), "few high, by region": regional(crowdedCountry(), 1), "sites": bathingSites(t, 2016),
	} {
		l := layerOf(lakes...)
		high := 0
		for _, lake := range lakes {
			if lake.chl >= 50 {
				high++
			}
		}
		share := float64(high) / float64(len(lakes))
		for z := maptile.Zoom(0); z <= clusterZoom; z++ {
			for scale := 1; scale <= 2; scale++ {
				first, last := maptile.At(orb.Point{4, 57}, z), maptile.At(orb.Point{18, 45}, z)
				w := windowOf(first, scale)
				w.width, w.height = w.width*int(last.X-first.X+1), w.height*int(last.Y-first.Y+1)
				coloured, red, colours := 0, 0, colorsOf(l).scale
				highest := colours.colours.Index(colours.classes[upperClasses-1].Float())
				for _, e := range paint(l, w, Dots) {
					if e < fillEntry || e >= oldEntry || (e-fillEntry)%quarters < quarters/2 {
						continue // less than half of the pixel has a colour
					}
					coloured++
					if int(e-fillEntry)/quarters >= highest {
						red++
					}
				}
				part := float64(red) / float64(coloured)
				most := 3 * share
				switch {
				case share > 0.05:
					most = 1.5 * share
				case share < 0.01: // the least part of the rim
					most = 0.03
				}
				t.Logf("%s, zoom %d@%dx: %.1f %% of the lakes are high, %.1f %% of %d coloured pixels are red", name, z, scale, 100*share, 100*part, coloured)
				if part > most || part < share/1.5 {
					t.Errorf("%s, zoom %d@%dx: %.1f %% of the coloured pixels are red, of the lakes %.1f %%: want %.1f to %.1f %%", name, z, scale, 100*part, 100*share, 100*share/1.5, 100*most)
				}
			}
		}
	}
}

// TestClustersJoin compares tiles with a larger picture that contains them, at the antimeridian too.
func TestClustersJoin(t *testing.T) {
	lakes := crowdedCountry()
	for i := range lakes[:1000] { // around the antimeridian
		if lakes[i].lon -= 190; lakes[i].lon < -180 {
			lakes[i].lon += 360
		}
	}
	l := layerOf(lakes...)
	for _, at := range []orb.Point{{10, 51}, {-179.9, 51}} {
		for z := maptile.Zoom(1); z <= clusterZoom+1; z++ {
			for scale := 1; scale <= 2; scale++ {
				tile := maptile.At(at, z)
				wide := windowOf(tile, scale)
				side := wide.width
				wide.left, wide.top = wide.left-int64(side)*wide.step(), wide.top-int64(side)*wide.step()
				wide.width, wide.height = 2*side, 2*side
				all := paint(l, wide, Dots)
				for k := range 4 {
					part := tile
					part.X, part.Y = (tile.X+uint32(k%2)-1)&(1<<z-1), tile.Y+uint32(k/2)-1
					if part.Y >= 1<<z {
						continue // north of the map
					}
					got := paint(l, windowOf(part, scale), Dots)
					for row := range side {
						if want := all[(k/2*side+row)*wide.width+k%2*side:][:side]; !bytes.Equal(got[row*side:][:side], want) {
							t.Fatalf("%v, scale %d: row %d of tile %v differs from the larger picture", at, scale, row, part)
						}
					}
				}
			}
		}
	}
}

// clustersOf returns the clusters and the markers of the world at zoom z.
func clustersOf(l *Layer, z maptile.Zoom, f Filter) ([]cluster, []mark) {
	w := window{zoom: z, scale: 1, width: TileSize << z, height: TileSize << z}
	var m memory
	m.find(l, w, renderer().styles[Dots], f)
	return m.scene.clusters, m.scene.marks
}

// TestClustersCountAllLakes adds up the shares of all clusters of the world: with the lakes that have markers they are all lakes, by class; signs and
// filters take lakes away.
func TestClustersCountAllLakes(t *testing.T) {
	lakes := crowdedCountry()
	for i := range lakes {
		if i%9 == 4 {
			lakes[i].chl = -1
		}
	}
	classOf := func(chl float64) int {
		if chl < 0 {
			return noValueShare
		}
		return upperClasses - renderer().logs.classes.of(data.Chlorophyll(math.Round(100*chl)))
	}
	for _, test := range []struct {
		name   string
		layer  *Layer
		filter Filter
		counts func(i int) bool
	}{
		{"all", layerOf(lakes...), 0, func(int) bool { return true }},
		{"signs", markedLayer(lakes, map[int]snapshot.Mark{0: snapshot.Closed, 5: snapshot.WorseHigh}), 0, func(i int) bool { return i != 0 && i != 5 }},
		{"a filter", layerOf(lakes...), ShowHigh | ShowNone, func(i int) bool { c := classOf(lakes[i].chl); return c == 0 || c == noValueShare }},
	} {
		var want [upperClasses + 2]uint32
		for i, lake := range lakes {
			if test.counts(i) {
				want[classOf(lake.chl)]++
			}
		}
		for z := maptile.Zoom(1); z <= 4; z++ {
			var got [upperClasses + 2]uint32
			clusters, marks := clustersOf(test.layer, z, test.filter)
			for _, c := range clusters {
				if n := c.lakes(); n < clusterFrom {
					t.Errorf("%s, zoom %d: a cluster has %d lakes, want %d or more", test.name, z, n, clusterFrom)
				}
				for share, n := range c.shares {
					got[share] += n
				}
			}
			for _, m := range marks {
				chl := -1.0
				if m.chlorophyll().Valid() {
					chl = m.chlorophyll().Float()
				}
				got[classOf(chl)]++
			}
			if got != want || len(clusters) == 0 {
				t.Errorf("%s, zoom %d: %d clusters and the markers have %v lakes by class, want %v", test.name, z, len(clusters), got, want)
			}
		}
	}
}

// TestClustersKnowNoOrder draws lakes in another order, and looks at the fingerprint when one of many changes its class.
func TestClustersKnowNoOrder(t *testing.T) {
	lakes := crowdedCountry()
	other := slices.Clone(lakes)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
	worse := slices.Clone(lakes)
	worse[17].chl = 90
	if lakes[17].chl >= 50 {
		t.Fatal("the lake is high already")
	}
	s := Spec{Tile: maptile.At(orb.Point{lakes[17].lon, lakes[17].lat}, 5), Scale: 1, Style: Dots, Colormap: colormap.Default}
	a, b, c := layerOf(lakes...), layerOf(other...), layerOf(worse...)
	if !bytes.Equal(mustRender(t, a, s), mustRender(t, b, s)) {
		t.Error("the order of the lakes changes the tile")
	}
	first, _ := renderer().Fingerprint(a, s)
	if second, _ := renderer().Fingerprint(b, s); second != first {
		t.Error("the order of the lakes changes the fingerprint")
	}
	if third, _ := renderer().Fingerprint(c, s); third == first || bytes.Equal(mustRender(t, a, s), mustRender(t, c, s)) {
		t.Error("a lake that became high does not change the tile or its fingerprint")
	}
}

// TestClusterFits looks for symbols that leave their cell, or have a text wider than their white disc.
func TestClusterFits(t *testing.T) {
	for z := maptile.Zoom(0); z <= clusterZoom; z++ {
		clusters, _ := clustersOf(layerOf(crowdedCountry()...), z, 0)
		for _, c := range clusters {
			half := int32(clusterSizes[clusterStep(c.lakes())].half() * subUnits)
			if c.x%clusterCell < half || c.x%clusterCell > clusterCell-half || c.y%clusterCell < half || c.y%clusterCell > clusterCell-half || c.x%subUnits != 0 {
				t.Errorf("zoom %d: the symbol at %d, %d leaves its cell", z, c.x, c.y)
			}
		}
	}
	p := renderer().styles[Dots].painter.(*dots).clusters
	for _, n := range []uint32{4, 9, 44, 99, 888, 1000, 44_444, 888_888, 4_444_444} {
		text, size := string(appendLabel(nil, n)), clusterSizes[clusterStep(n)]
		for k := range p.glyphs {
			wide := 0
			for _, r := range text {
				wide += p.glyphs[k][r].advance
			}
			high := p.glyphs[k]['0'].height
			if corner := math.Hypot(float64(wide)/2, float64(high)/2); corner > (size.inner+1)*float64(k+1) {
				t.Errorf("%s at scale %d is %d pixels wide and %d high, beyond a disc of radius %v", text, k+1, wide, high, size.inner)
			}
		}
	}
	for n, want := range map[uint32]string{4: "4", 999: "999", 1000: "1k", 1999: "1k", 140_000: "140k", 1_400_000: "1M"} {
		if got := string(appendLabel(nil, n)); got != want {
			t.Errorf("the label of %d lakes is %s, want %s", n, got, want)
		}
	}
}

// TestABloomShowsInItsCluster draws one bloom among up to a thousand clean lakes: the symbol has ten pixels of its colour beside each other at scale 1.
func TestABloomShowsInItsCluster(t *testing.T) {
	for _, n := range []int{4, 12, 99, 100, 999, 1000, 9000} {
		lakes := make([]testLake, n)
		for i := range lakes {
			lakes[i] = testLake{lon: 10, lat: 50, chl: 3}
		}
		lakes[0].chl = 120
		w := windowOf(maptile.At(orb.Point{10, 50}, 5), 1)
		sc := colorsOf(layerOf(lakes...)).scale
		red := map[int]bool{}
		for i, e := range paint(layerOf(lakes...), w, Dots) {
			if e == sc.shares[0] {
				red[i] = true
			}
		}
		largest := 0
		for i := range red {
			size, next := 0, []int{i}
			for delete(red, i); len(next) > 0; size++ {
				at := next[len(next)-1]
				next = next[:len(next)-1]
				for _, near := range []int{at - 1, at + 1, at - w.width, at + w.width} {
					if red[near] {
						delete(red, near)
						next = append(next, near)
					}
				}
			}
			largest = max(largest, size)
		}
		if largest < 10 {
			t.Errorf("one bloom among %d lakes: %d pixels beside each other have its colour, want 10 or more", n, largest)
		}
	}
}
