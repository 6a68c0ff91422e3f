package render

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/paulmach/orb/maptile"
	"pgregory.net/rapid"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/snapshot"
)

// otherWeek returns a view of the same lakes with other values; missing is the percentage without one.
func otherWeek(v *snapshot.View, seed uint64, missing int) *snapshot.View {
	rng := rand.New(rand.NewPCG(seed, 1))
	w := &snapshot.View{Lakes: v.Lakes, States: slices.Clone(v.States)}
	for i := range w.States {
		w.States[i].Chlorophyll = data.NoChlorophyll
		if rng.IntN(100) >= missing {
			w.States[i].Chlorophyll = data.Chlorophyll(100 * math.Exp(1.5+rng.NormFloat64()))
		}
	}
	return w
}

// TestLayerOnGivesTheSameTiles compares the tiles, fingerprints and MayShow of a layer with those of a layer made by LayerOn
// for the same week: where lakes are stamped, blurred and thinned, and where many lie at one point.
func TestLayerOnGivesTheSameTiles(t *testing.T) {
	crowd := district(2 * maxStamped)
	for i := range 200 { // at one point
		crowd[i].lon, crowd[i].lat = crowd[200].lon, crowd[200].lat
	}
	for i := range 300 { // wider than the smallest blob
		crowd[1000+i].areaKM2 = float64(i)
		crowd[1000+i].chl = -1
	}
	few := append(country()[:60], testLake{lon: 11, lat: 50, chl: 4, areaKM2: 300}, testLake{lon: 11, lat: 50, chl: 3}, testLake{lon: 11, lat: 50, chl: 3})
	few[5].areaKM2 = 0.5
	for _, set := range []struct {
		name  string
		lakes []testLake
	}{{"few", few}, {"many", append(country()[12:], crowd...)}} {
		t.Run(set.name, func(t *testing.T) {
			base := viewOf(set.lakes)
			other := renderer().Layer(base.Values())
			zooms := map[int]bool{}
			for _, missing := range []int{0, 30, 60, 100} {
				v := otherWeek(base, uint64(missing), missing)
				want, got := renderer().Layer(v.Values()), renderer().LayerOn(other, v.Values())
				again := renderer().LayerOn(got, v.Values()) // on a layer that LayerOn made
				zooms[blurredZooms(want)] = true
				rapid.Check(t, func(t *rapid.T) {
					s := Spec{Tile: drawTile(t, set.lakes), Scale: rapid.IntRange(1, 2).Draw(t, "scale"),
						Style: rapid.SampledFrom([]StyleID{Heat, Dots, Lakes}).Draw(t, "style"), Colormap: colormap.Default}
					fpWant, shownWant := renderer().Fingerprint(want, s)
					fpGot, shownGot := renderer().Fingerprint(got, s)
					if fpWant != fpGot || shownWant != shownGot {
						t.Fatalf("%+v: fingerprint %x, %v, want %x, %v", s, fpGot, shownGot, fpWant, shownWant)
					}
					if renderer().MayShow(want, s.Tile, s.Style) != renderer().MayShow(got, s.Tile, s.Style) {
						t.Fatalf("%+v: MayShow differs", s)
					}
					png := mustRender(t, want, s)
					if !bytes.Equal(png, mustRender(t, got, s)) || !bytes.Equal(png, mustRender(t, again, s)) {
						t.Fatalf("%+v: the tile differs", s)
					}
				})
			}
			if set.name == "many" && len(zooms) < 2 {
				t.Errorf("the same zooms are blurred in all weeks: %v", zooms)
			}
		})
	}
}

// TestLayersHaveTheirOwnFingerprints asks twice for each: layers with one geometry must not share remembered fingerprints.
func TestLayersHaveTheirOwnFingerprints(t *testing.T) {
	base := viewOf(country())
	other := renderer().Layer(base.Values())
	s := Spec{Tile: maptile.Tile{X: 33, Y: 21, Z: 6}, Scale: 1, Style: Heat, Colormap: colormap.Default}
	for seed := range uint64(4) {
		v := otherWeek(base, seed, 0)
		want, _ := renderer().Fingerprint(renderer().Layer(v.Values()), s)
		l := renderer().LayerOn(other, v.Values())
		for range 2 {
			if got, ok := renderer().Fingerprint(l, s); got != want || !ok {
				t.Errorf("week %d: fingerprint %x, %v, want %x", seed, got, ok, want)
			}
		}
	}
}

// TestValuesAreLookedUpConcurrently draws one new layer on many goroutines.
func TestValuesAreLookedUpConcurrently(t *testing.T) {
	v := viewOf(district(1000))
	w := otherWeek(v, 3, 10)
	s := Spec{Tile: maptile.Tile{}, Scale: 1, Style: Dots, Colormap: colormap.Default}
	want := mustRender(t, renderer().Layer(w.Values()), s)
	l := renderer().LayerOn(renderer().Layer(v.Values()), w.Values())
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			got, err := renderer().Render(l, s)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("the tile differs (%v)", err)
			}
		})
	}
	group.Wait()
}
