package render

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/paulmach/orb/maptile"
	"pgregory.net/rapid"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/snapshot"
)

func TestParseFilter(t *testing.T) {
	for s, want := range map[string]Filter{
		"closed": ShowClosed, "high": ShowHigh, "medium": ShowMedium, "low": ShowLow, "none": ShowNone,
		"low,high": ShowLow | ShowHigh, "high,low,high": ShowLow | ShowHigh, "none,low,medium,high,closed": 0,
		"closed,high,medium,low": ShowClosed | ShowHigh | ShowMedium | ShowLow,
	} {
		if got, err := ParseFilter(s); got != want || err != nil {
			t.Errorf("ParseFilter(%q) = %b, %v, want %b", s, got, err, want)
		}
	}
	for _, s := range []string{"", "Low", "low,", ",low", "low, high", "worst", "0", strings.Repeat("x", 1000)} {
		if f, err := ParseFilter(s); err == nil || f != 0 || !strings.Contains(err.Error(), "closed, high, medium, low, none") || len(err.Error()) > 120 {
			t.Errorf("ParseFilter(%q) = %b, %v, want a short error with all names", s, f, err)
		}
	}
}

// filtered are lakes of which a filter shows some.
type filtered struct {
	testLake
	mark snapshot.Mark
	age  int // of the value, in days
}

// shownBy reports whether f shows the lake, as the page does.
func (l *filtered) shownBy(f Filter) bool {
	class := ShowNone
	switch {
	case l.mark == snapshot.Closed:
		class = ShowClosed | ShowHigh
	case l.chl >= 50 || l.chl >= 0 && l.mark == snapshot.WorseHigh:
		class = ShowHigh
	case l.chl >= 10 && l.mark == snapshot.WorseMedium: // worse than medium
		class = ShowHigh
	case l.chl >= 10 || l.chl >= 0 && l.mark == snapshot.WorseMedium:
		class = ShowMedium
	case l.chl >= 0:
		class = ShowLow
	}
	return f == 0 || f&class != 0
}

func viewOfFiltered(lakes []filtered) *snapshot.View {
	var places []testLake
	marks := make(map[int]snapshot.Mark)
	for i, l := range lakes {
		places = append(places, l.testLake)
		marks[i] = l.mark
	}
	v := markView(viewOf(places), marks)
	v.AsOf = data.Date(20_000)
	for i, l := range lakes {
		v.States[i].Date = v.AsOf - data.Date(l.age)
	}
	return v
}

// TestFilterShowsOnlyItsLakes compares tiles with a filter and tiles of only those lakes, as large as among all: a filter leaves lakes out and changes no other. Where each lake has a marker, and where markers are
// thinned at the same zooms; of prepared layers and of looked up values; with and without outlines.
func TestFilterShowsOnlyItsLakes(t *testing.T) {
	var lakes []filtered
	for i, l := range district(1500) {
		switch i % 11 {
		case 0:
			l.chl = -1
		case 1:
			l.chl = 70
		case 2:
			l.chl = 30
		}
		if i%83 == 0 {
			l.areaKM2 = 300 // larger than the smallest disc
		}
		f := filtered{testLake: l, age: 20 * (i % 2)}
		if l.chl >= 0 && i%13 == 0 || i%41 == 0 {
			f.mark = allMarks[i%len(allMarks)]
		}
		if l.chl < 0 && f.mark.Worse() {
			f.mark = snapshot.NoMark // no lake without a value is worse
		}
		lakes = append(lakes, f)
		if i%7 == 0 {
			lakes = append(lakes, filtered{testLake: l, mark: f.mark, age: 20 - f.age}) // at the same point
		}
	}
	var places []testLake
	for _, l := range lakes {
		places = append(places, l.testLake)
	}
	v := viewOfFiltered(lakes)
	const roomy = 5 // as if there were a hundred times as many
	layer := func(v *snapshot.View) *Layer {
		g := newGeometry(v.Lakes)
		g.roomy = roomy
		return renderer().newLayer(g, v.Values(), maxFingerprints)
	}
	prepared := layer(v)
	prepared.prepare(prepared.allValues(), v.Values().Key())
	whole := []*Layer{prepared, layer(v)}
	only := make(map[Filter]*Layer)
	for f := range showAll {
		if f == 0 {
			continue
		}
		var some []filtered
		for _, l := range lakes {
			if l.shownBy(f) {
				some = append(some, l)
			}
		}
		only[f] = layer(viewOfFiltered(some))
		for i, code := range only[f].codes {
			at, _ := slices.BinarySearch(prepared.codes, code)
			only[f].sites[i].rooms = prepared.sites[at].rooms
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		f := Filter(rapid.IntRange(1, int(showAll)-1).Draw(t, "filter"))
		s := Spec{Tile: drawTile(t, places), Scale: rapid.IntRange(1, 2).Draw(t, "scale"),
			Style: rapid.SampledFrom([]StyleID{Dots, Lakes}).Draw(t, "style"), Colormap: colormap.Default}
		want, shown := renderer().Fingerprint(only[f], s)
		picture := mustRender(t, only[f], s)
		s.Filter = f
		for i, l := range whole {
			if got, notBlank := renderer().Fingerprint(l, s); got != want || notBlank != shown {
				t.Fatalf("layer %d, %+v: the fingerprint is not that of only these lakes; not blank: %v, want %v", i, s, notBlank, shown)
			}
			if known, _, ok := renderer().Known(l, s); !ok || known != want {
				t.Fatalf("layer %d, %+v: the fingerprint is not remembered", i, s)
			}
			if !bytes.Equal(mustRender(t, l, s), picture) {
				t.Fatalf("layer %d, %+v: the picture is not that of only these lakes", i, s)
			}
		}
	})
}

// TestFilterOfALake draws a lone lake of each class and mark with each filter.
func TestFilterOfALake(t *testing.T) {
	for _, chl := range []float64{-1, 9.99, 10, 49.99, 50} {
		for _, mark := range allMarks {
			if chl < 0 && mark.Worse() {
				continue
			}
			lake := filtered{testLake: testLake{13.4, 52.5, chl, 0.1}, mark: mark}
			l := renderer().Layer(viewOfFiltered([]filtered{lake}).Values())
			for f := Filter(0); f < showAll; f++ {
				for _, style := range []StyleID{Dots, Lakes} {
					s := Spec{maptile.At([2]float64{13.4, 52.5}, 9), 1, style, colormap.Default, f}
					want := Blank(1)
					if lake.shownBy(f) {
						s.Filter = 0
						want = mustRender(t, l, s)
						s.Filter = f
					}
					if !bytes.Equal(mustRender(t, l, s), want) {
						t.Errorf("%s with filter %05b: a lake of %v µg/l with mark %d is not shown as it should: %v", style, f, chl, mark, lake.shownBy(f))
					}
				}
			}
		}
	}
}

func TestHeatHasNoFilter(t *testing.T) {
	l := layerOf(testLake{13.4, 52.5, 5, 0})
	s := Spec{Tile: maptile.At([2]float64{13.4, 52.5}, 9), Scale: 1, Style: Heat, Colormap: colormap.Default, Filter: ShowLow}
	if _, err := renderer().Render(l, s); !errors.Is(err, ErrNoFilter) {
		t.Errorf("Render(%+v) = %v, want %v", s, err, ErrNoFilter)
	}
	for _, style := range Styles() {
		if got, want := style.Filtered(), renderer().styles[style.ID].signs != nil; got != want {
			t.Errorf("style %s is filtered: %v, want %v", style.ID, got, want)
		}
	}
}
