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
)

// otherWeek returns a view of the same lakes with other values, so many of a hundred without one.
func otherWeek(v *data.View, seed uint64, missing int) *data.View {
	rng := rand.New(rand.NewPCG(seed, 1))
	w := &data.View{Lakes: v.Lakes, States: slices.Clone(v.States)}
	for i := range w.States {
		w.States[i].Chlorophyll = data.NoChlorophyll
		if rng.IntN(100) >= missing {
			w.States[i].Chlorophyll = data.Chlorophyll(100 * math.Exp(1.5+rng.NormFloat64()))
		}
	}
	return w
}

// TestLayersOnOthersAreTheSame compares tiles, their fingerprints and what lies beneath them of a layer and of one that
// is made on a layer of the same lakes with other values: where lakes are stamped, blurred and thinned, tie, and lie in
// one point with others.
func TestLayersOnOthersAreTheSame(t *testing.T) {
	crowd := district(2 * maxStamped)
	for i := range 200 { // in one point
		crowd[i].lon, crowd[i].lat = crowd[200].lon, crowd[200].lat
	}
	for i := range 300 { // wider than the smallest blob
		crowd[1000+i].areaKM2 = float64(i)
		crowd[1000+i].chl = -1
	}
	for _, set := range []struct {
		name  string
		lakes []testLake
	}{{"few", country()[:60]}, {"many", append(country()[12:], crowd...)}} {
		t.Run(set.name, func(t *testing.T) {
			if set.name == "few" {
				set.lakes[5].areaKM2 = 0.5
			}
			base := viewOf(set.lakes)
			other := renderer().Layer(base)
			if other.plan().uneven {
				t.Fatal("no layer can be made on this plan")
			}
			blurred := map[int]bool{}
			for _, missing := range []int{0, 30, 60, 100} {
				v := otherWeek(base, uint64(missing), missing)
				want, got := renderer().Layer(v), renderer().LayerOn(other, v)
				again := renderer().LayerOn(got, v) // on one that is itself made on another
				if got.sheets == nil || again.sheets == nil {
					t.Fatal("the layer is not made on the other")
				}
				blurred[len(want.blurred)] = true
				rapid.Check(t, func(t *rapid.T) {
					s := Spec{Tile: drawTile(t, set.lakes), Scale: rapid.IntRange(1, 2).Draw(t, "scale"),
						Style: rapid.SampledFrom([]StyleID{Heat, Dots, Lakes}).Draw(t, "style"), Colormap: colormap.Default}
					fpWant, anyWant := renderer().Fingerprint(want, s)
					fpGot, anyGot := renderer().Fingerprint(got, s)
					if fpWant != fpGot || anyWant != anyGot {
						t.Fatalf("%+v: fingerprint %x, %v, want %x, %v", s, fpGot, anyGot, fpWant, anyWant)
					}
					if renderer().Beneath(want, s.Tile, s.Style) != renderer().Beneath(got, s.Tile, s.Style) {
						t.Fatalf("%+v: another answer to what lies beneath", s)
					}
					png := mustRender(t, want, s)
					if !bytes.Equal(png, mustRender(t, got, s)) || !bytes.Equal(png, mustRender(t, again, s)) {
						t.Fatalf("%+v: another tile", s)
					}
				})
			}
			if set.name == "many" && len(blurred) < 2 {
				t.Errorf("the zooms that are blurred are the same in all weeks: %v", blurred)
			}
		})
	}
}

// TestSightsAreRemembered looks at one tile in several weeks: among its lakes are some in one point, and some that have a
// value in some of the weeks only.
func TestSightsAreRemembered(t *testing.T) {
	lakes := country()
	for range 5 {
		lakes = append(lakes, testLake{lon: 11, lat: 50, chl: 1})
	}
	base := viewOf(lakes)
	other := renderer().Layer(base)
	for _, style := range []StyleID{Heat, Dots, Lakes} {
		s := Spec{Tile: maptile.At(base.Lakes[len(lakes)-1].Point, 6), Scale: 1, Style: style, Colormap: colormap.Default}
		for seed := range uint64(8) {
			v := otherWeek(base, seed, 40)
			got := renderer().LayerOn(other, v)
			renderer().Fingerprint(got, s)
			want := mustRender(t, renderer().Layer(v), s)
			for range 2 { // on what the fingerprint has looked up, and anew
				if !bytes.Equal(mustRender(t, got, s), want) {
					t.Fatalf("%s: another tile in week %d", style, seed)
				}
			}
		}
		at, ok := other.plan().sights.Peek(sightKey{windowOf(s.Tile, s.Scale), renderer().painters[style]})
		if !ok || at.vague {
			t.Fatalf("%s: nothing is remembered", style)
		}
		if len(at.ties) != 2 || at.valued != (style == Heat) { // the country has two lakes in one point, too
			t.Errorf("%s: %d ties, valued is %v; want 2, %v", style, len(at.ties), at.valued, style == Heat)
		}
		if (at.stamps != nil) != (style == Heat) {
			t.Errorf("%s: %d stamps", style, len(at.stamps))
		}
	}
	if n := other.plan().sights.Len(); n != 3 {
		t.Errorf("%d sights of one tile in three styles", n)
	}
}

// A tile that sees more lakes than a sight holds is searched in each week, and so is one that sees a place twice beside
// others in one point.
func TestVagueSights(t *testing.T) {
	throng := district(maxSeen + 1)
	for i := range throng {
		throng[i].lon = 22 + float64(i)/1e4
	}
	for _, set := range []struct {
		name  string
		lakes []testLake
		tile  maptile.Tile
	}{
		{"many", throng, maptile.Tile{}},
		{"twice in one point", []testLake{{180, 0, 1, 0}, {180, 0, 2, 0}, {0, 0, 3, 0}}, maptile.Tile{}},
	} {
		t.Run(set.name, func(t *testing.T) {
			base := viewOf(set.lakes)
			other, v := renderer().Layer(base), otherWeek(base, 1, 10)
			l := renderer().LayerOn(other, v)
			s := Spec{Tile: set.tile, Scale: 1, Style: Dots, Colormap: colormap.Default}
			w := windowOf(s.Tile, s.Scale)
			if at := l.sheets.plan.sight(w, renderer().painters[Lakes]); !at.vague || at.seen != nil {
				t.Errorf("the sight of %d lakes is no vague one", len(set.lakes))
			}
			for _, style := range []StyleID{Heat, Dots, Lakes} {
				s.Style = style
				if !bytes.Equal(mustRender(t, l, s), mustRender(t, renderer().Layer(v), s)) {
					t.Errorf("%s: another tile", style)
				}
			}
		})
	}
}

// Layers on one plan share their memory of fingerprints, and no fingerprint.
func TestLayersOnOthersHaveFingerprintsOfTheirOwn(t *testing.T) {
	base := viewOf(country())
	other := renderer().Layer(base)
	s := Spec{Tile: maptile.Tile{X: 33, Y: 21, Z: 6}, Scale: 1, Style: Heat, Colormap: colormap.Default}
	for range 2 {
		for seed := range uint64(4) {
			v := otherWeek(base, seed, 0)
			want, _ := renderer().Fingerprint(renderer().Layer(v), s)
			l := renderer().LayerOn(other, v)
			for range 2 {
				if got, any := renderer().Fingerprint(l, s); got != want || !any {
					t.Errorf("week %d: fingerprint %x, %v, want %x", seed, got, any, want)
				}
			}
		}
	}
}

// The first picture of a tile counts the stamps of what it sees, while others look at the same in other weeks.
func TestWeeksAreLookedAtWhileOneIsDrawn(t *testing.T) {
	base := viewOf(country())
	other := renderer().Layer(base)
	first, second := renderer().LayerOn(other, otherWeek(base, 1, 0)), renderer().LayerOn(other, otherWeek(base, 2, 0))
	for x := uint32(32); x < 36; x++ {
		s := Spec{Tile: maptile.Tile{X: x, Y: 21, Z: 6}, Scale: 1, Style: Heat, Colormap: colormap.Default}
		want, _ := renderer().Fingerprint(renderer().Layer(otherWeek(base, 2, 0)), s)
		var group sync.WaitGroup
		group.Go(func() {
			if _, err := renderer().Render(first, s); err != nil {
				t.Error(err)
			}
		})
		for range 4 {
			group.Go(func() {
				if got, _ := renderer().Fingerprint(second, s); got != want {
					t.Errorf("fingerprint %x, want %x", got, want)
				}
			})
		}
		group.Wait()
	}
}

// Lakes of different sizes in one point cannot be put in order before their values are known.
func TestUnevenLakesHaveLayersOfTheirOwn(t *testing.T) {
	v := viewOf([]testLake{{10, 50, 3, 0}, {10, 50, 4, 300}, {11, 50, 4, 0}})
	w := otherWeek(v, 1, 0)
	got := renderer().LayerOn(renderer().Layer(v), w)
	if got.sheets != nil {
		t.Error("the layer is made on the other's plan")
	}
	s := Spec{Tile: maptile.Tile{}, Scale: 1, Style: Heat, Colormap: colormap.Default}
	if !bytes.Equal(mustRender(t, got, s), mustRender(t, renderer().Layer(w), s)) {
		t.Error("another tile")
	}
}

// Many may draw on one layer at once, and find the same.
func TestSheetsAreLookedUpAtOnce(t *testing.T) {
	v := viewOf(district(1000))
	w := otherWeek(v, 3, 10)
	want := mustRender(t, renderer().Layer(w), Spec{Tile: maptile.Tile{}, Scale: 1, Style: Dots, Colormap: colormap.Default})
	l := renderer().LayerOn(renderer().Layer(v), w)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			got, err := renderer().Render(l, Spec{Tile: maptile.Tile{}, Scale: 1, Style: Dots, Colormap: colormap.Default})
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("another tile (%v)", err)
			}
		})
	}
	group.Wait()
}
