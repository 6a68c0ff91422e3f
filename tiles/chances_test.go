package tiles

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/render"
)

// chanceRequests returns the requests of districtRequests for probabilities.
func chanceRequests() (requests []Request) {
	for _, req := range districtRequests() {
		if req.Style == render.Heat {
			req.Colormap = colormap.Forecast
			requests = append(requests, req)
		}
	}
	return requests
}

// mustTiles returns the tiles of the requests.
func mustTiles(tb testing.TB, s *Service, v *snapshot.Values, requests []Request) (tiles []Tile) {
	tb.Helper()
	for _, req := range requests {
		t, err := s.Tile(context.Background(), v, req)
		if err != nil {
			tb.Fatal(err)
		}
		tiles = append(tiles, t)
	}
	return tiles
}

// TestForecastTilesAreCached draws a map and two weeks of a forecast, and then another issue in which one lake differs: only tiles in reach of that
// lake are drawn again, and no tile of the map. After a restart nothing is drawn.
func TestForecastTilesAreCached(t *testing.T) {
	const changed = 17
	district := &lakeDistrict{revision: 1}
	for i := range 42 {
		district.values = append(district.values, data.Chlorophyll(1_00+i*97))
	}
	loaded, err := snapshot.Load(t.Context(), district, &snapshot.Options{AsOf: snapshot.Newest})
	mustDo(t, err)
	values := loaded.Current.Values()
	// issue returns the probabilities of a week; those of lake changed are p.
	issue := func(week int, p float64) *snapshot.Values {
		return snapshot.NewChances(loaded.Lakes, func(i int) (float64, bool) {
			if i == changed {
				return p, true
			}
			return float64(i+week) / 50, i%9 != 0
		})
	}
	first, second, later := issue(1, 0.1), issue(2, 0.1), issue(1, 0.9)
	// alone returns the probability p of lake changed, with none of all others.
	alone := func(p float64) *snapshot.Values {
		return snapshot.NewChances(loaded.Lakes, func(i int) (float64, bool) { return p, i == changed })
	}

	dir := t.TempDir()
	r := newCountingRenderer()
	s := newTestService(t, r, diskOptions(t, dir))
	mapTiles := mustTiles(t, s, values, districtRequests())
	r.take()
	one := mustTiles(t, s, first, chanceRequests())
	if len(r.take()) == 0 {
		t.Fatal("no tile of a forecast was drawn")
	}
	two := mustTiles(t, s, second, chanceRequests())
	r.take()
	differ := 0
	for i := range one {
		if one[i].Blank != two[i].Blank {
			t.Errorf("%+v: a week is blank and the other is not", chanceRequests()[i])
		}
		if one[i].ETag != two[i].ETag {
			differ++
		}
	}
	if differ < len(one)/20 {
		t.Errorf("only %d of %d tiles of two weeks differ", differ, len(one))
	}

	reference := render.New(colormap.Limits{Level1: 10, Level2: 50})
	before, after := reference.Layer(alone(0.1)), reference.Layer(alone(0.9))
	want := 0
	for _, req := range chanceRequests() {
		was, _ := reference.Fingerprint(before, req.spec())
		if is, _ := reference.Fingerprint(after, req.spec()); is != was {
			want++
		}
	}
	mustTiles(t, s, later, chanceRequests())
	if got := len(r.take()); got != want || want == 0 {
		t.Errorf("another issue draws %d tiles, want the %d in reach of the lake that changed", got, want)
	}
	same := issue(1, 0.1) // another issue with the same probabilities
	for i, tile := range mustTiles(t, s, same, chanceRequests()) {
		if !sameTile(tile, one[i]) {
			t.Errorf("%+v: the same probabilities give another tile", chanceRequests()[i])
		}
	}
	for i, tile := range mustTiles(t, s, values, districtRequests()) {
		if !sameTile(tile, mapTiles[i]) {
			t.Errorf("%+v: a forecast changes the map", districtRequests()[i])
		}
	}
	if n := len(r.take()); n != 0 {
		t.Errorf("%d tiles were drawn again", n)
	}

	r = newCountingRenderer()
	s = newTestService(t, r, diskOptions(t, dir))
	for i, tile := range mustTiles(t, s, issue(2, 0.1), chanceRequests()) { // before there is a layer of the map
		if !sameTile(tile, two[i]) {
			t.Errorf("%+v: after a restart the tile differs", chanceRequests()[i])
		}
	}
	if n := len(r.take()); n != 0 {
		t.Errorf("after a restart %d tiles were drawn again", n)
	}
}

func TestForecastTilesAreChecked(t *testing.T) {
	s := newTestService(t, new(fakeRenderer), nil)
	lakes := make([]data.Lake, 1)
	chances := snapshot.NewChances(lakes, func(int) (float64, bool) { return 0.5, true })
	values := (&snapshot.View{Lakes: lakes, States: make([]snapshot.State, 1)}).Values()
	forecast := testRequest(1)
	forecast.Colormap = colormap.Forecast
	for _, test := range []struct {
		name   string
		v      *snapshot.Values
		change func(*Request)
		want   error
	}{
		{"a forecast", chances, func(*Request) {}, nil},
		{"a forecast as markers", chances, func(r *Request) { r.Style = render.Dots }, render.ErrUnknownStyle},
		{"a filtered forecast", chances, func(r *Request) { r.Style, r.Filter = render.Lakes, render.ShowHigh }, render.ErrNoFilter},
		{"a forecast in the colours of values", chances, func(r *Request) { r.Colormap = colormap.Default }, colormap.ErrUnknown},
		{"values in the colours of a forecast", values, func(*Request) {}, colormap.ErrUnknown},
	} {
		req := forecast
		test.change(&req)
		if _, err := s.Tile(t.Context(), test.v, req); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
}

// TestForecastLayersAreHeld asks for all weeks of a forecast of so many lakes that two layers of the map are all that is held.
func TestForecastLayersAreHeld(t *testing.T) {
	lakes := make([]data.Lake, 90)
	views := []*snapshot.Values{(&snapshot.View{Week: 5, Lakes: lakes, States: make([]snapshot.State, 90)}).Values()}
	for range data.ForecastWeeks {
		views = append(views, snapshot.NewChances(lakes, func(int) (float64, bool) { return 0, false }))
	}
	builds := 0
	ls := newLayers(func(*snapshot.Values, *testLayer) (*testLayer, error) {
		builds++
		return new(testLayer), nil
	}, shownByValues, 150, newMetrics(nil).layerBuilds)
	ls.light = (*snapshot.Values).Chances
	for range 3 {
		for _, v := range views {
			if _, err := ls.get(t.Context(), v); err != nil {
				t.Fatal(err)
			}
		}
	}
	if builds != len(views) {
		t.Errorf("%d layers were built, want each of %d once", builds, len(views))
	}
	runtime.KeepAlive(views)
}
