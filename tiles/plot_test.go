package tiles

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
	"pgregory.net/rapid"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/data/testsize"
	"limnomap/render"
	"limnomap/tiles/disk"
)

// lakeView returns a view of n lakes around a few points: in a country, on the antimeridian, and near the edge of the map.
// Every fifth lake has no value.
func lakeView(n int) *snapshot.View {
	centers := []orb.Point{{11, 51}, {13, 53}, {180, -17}, {-60, 84.9}}
	v := new(snapshot.View)
	for i := range n {
		// The R2 sequence, as in package render's tests.
		const p = 1.32471795724474602596
		at := centers[i%len(centers)]
		lon := at.Lon() + 3*(math.Mod(float64(i)/p, 1)-0.5)
		lake := data.Lake{
			ID:      data.LakeID(fmt.Sprint(i)),
			Point:   orb.Point{math.Mod(lon+540, 360) - 180, at.Lat() + 2*(math.Mod(float64(i)/(p*p), 1)-0.5)},
			AreaKM2: float64(i%7) * float64(i%7),
		}
		c := data.Chlorophyll(100 + 37*i%6000)
		if i%5 == 4 {
			c = data.NoChlorophyll
		}
		v.Lakes, v.States = append(v.Lakes, lake), append(v.States, snapshot.State{Chlorophyll: c})
	}
	return v
}

var world = orb.Bound{Min: orb.Point{-180, -90}, Max: orb.Point{180, 90}}

func newPlot(tb testing.TB, s *Service, v *snapshot.View, p Pyramid) *Plot {
	tb.Helper()
	plot, err := s.Plot(context.Background(), v.Values(), p)
	if err != nil {
		tb.Fatal(err)
	}
	return plot
}

func realRenderer() *render.Renderer { return render.New(colormap.Limits{Level1: 10, Level2: 50}) }

// TestPlotHasEachTileThatIsNotBlank compares a plot with the fingerprints of all tiles of the world.
func TestPlotHasEachTileThatIsNotBlank(t *testing.T) {
	s := newTestService(t, realRenderer(), nil)
	v := lakeView(160)
	for _, style := range render.Styles() {
		for scale := 1; scale <= 2; scale++ {
			p := Pyramid{MaxZoom: testsize.Of(maptile.Zoom(6), 7), Bound: world, Scale: scale, Style: style.ID, Colormap: colormap.Default}
			plot := newPlot(t, s, v, p)
			var want []maptile.Tile
			for tile := range p.tiles(everything()) {
				if _, notBlank := s.renderer.Fingerprint(plot.layer, plot.spec(tile)); notBlank {
					want = append(want, tile)
				}
			}
			if got := slices.Collect(plot.tiles()); !slices.Equal(got, want) || len(want) < testsize.Of(30, 40) {
				t.Errorf("style %s, scale %d: %d tiles, want these %d", style.ID, scale, len(got), len(want))
			}
		}
	}
}

// TestDrawReturnsTheTilesOfService checks that the tiles of a plot come in the same order and with the bytes of Service.Tile,
// however many are drawn at once, and that tiles which it skips or returns without bytes are blank.
func TestDrawReturnsTheTilesOfService(t *testing.T) {
	r := realRenderer()
	v := lakeView(60)
	p := Pyramid{MinZoom: 2, MaxZoom: 6, Bound: orb.Bound{Min: orb.Point{5, 45}, Max: orb.Point{20, 60}}, Scale: 1, Style: render.Heat, Colormap: "viridis"}
	var first []maptile.Tile
	for _, renders := range []int{1, 4} {
		s := newTestService(t, r, &Options{Renders: renders})
		drawn := make(map[maptile.Tile][]byte)
		var order []maptile.Tile
		err := newPlot(t, s, v, p).Draw(t.Context(), func(tile maptile.Tile, png []byte) error {
			drawn[tile] = png
			order = append(order, tile)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = order
		} else if !slices.Equal(order, first) {
			t.Errorf("%d at once give %v, want %v", renders, order, first)
		}
		transparent := 0
		for tile := range p.tiles(everything()) {
			want := mustTile(t, s, v, p.request(tile))
			png := drawn[tile]
			if png == nil {
				png = s.blanks[0].Bytes
				transparent++
			}
			if !bytes.Equal(png, want.Bytes) {
				t.Errorf("tile %v differs from that of Service.Tile", tile)
			}
		}
		if transparent == 0 || transparent == int(p.Size()) {
			t.Errorf("%d of %d tiles are blank, want some and not all", transparent, p.Size())
		}
	}
}

func TestDrawEnds(t *testing.T) {
	p := Pyramid{MaxZoom: 9, Bound: world, Scale: 1, Style: render.Heat, Colormap: "limno"}
	broken := newTestService(t, &fakeRenderer{err: errFake}, nil)
	err := newPlot(t, broken, new(snapshot.View), p).Draw(t.Context(), func(maptile.Tile, []byte) error { return nil })
	if !errors.Is(err, errFake) {
		t.Errorf("Draw = %v, want %v", err, errFake)
	}
	panicking := newTestService(t, &fakeRenderer{panic: true}, nil)
	if err := newPlot(t, panicking, new(snapshot.View), p).Draw(t.Context(), nil); err == nil {
		t.Error("Draw returned no error after a panic of the renderer")
	}
}

func TestPlotRefuses(t *testing.T) {
	s := newTestService(t, realRenderer(), &Options{MaxZoom: 10})
	good := Pyramid{MaxZoom: 10, Bound: world, Scale: 1, Style: render.Heat, Colormap: "limno"}
	tests := []struct {
		name   string
		change func(*Pyramid)
		want   error
	}{
		{"nothing", func(*Pyramid) {}, nil},
		{"zoom", func(p *Pyramid) { p.MaxZoom = 11 }, ErrOutOfRange},
		{"zooms", func(p *Pyramid) { p.MinZoom = 11 }, ErrOutOfRange},
		{"scale", func(p *Pyramid) { p.Scale = 3 }, ErrOutOfRange},
		{"style", func(p *Pyramid) { p.Style = "blots" }, render.ErrUnknownStyle},
		{"colour map", func(p *Pyramid) { p.Colormap = "pink" }, colormap.ErrUnknown},
		{"upside down", func(p *Pyramid) { p.Bound.Min[1], p.Bound.Max[1] = 50, 40 }, ErrOutOfRange},
		{"no number", func(p *Pyramid) { p.Bound.Min[0] = math.NaN() }, ErrOutOfRange},
		{"too far east", func(p *Pyramid) { p.Bound.Max[0] = 181 }, ErrOutOfRange},
		{"too far west", func(p *Pyramid) { p.Bound.Min[0] = -181 }, ErrOutOfRange},
	}
	for _, tt := range tests {
		p := good
		tt.change(&p)
		if _, err := s.Plot(t.Context(), lakeView(1).Values(), p); !errors.Is(err, tt.want) {
			t.Errorf("%s: Plot = %v, want %v", tt.name, err, tt.want)
		}
	}
}

func TestSurvey(t *testing.T) {
	s := newTestService(t, realRenderer(), nil)
	p := Pyramid{MaxZoom: 8, Bound: world, Scale: 1, Style: render.Heat, Colormap: "limno"}
	plot := newPlot(t, s, lakeView(80), p)
	survey, err := plot.Survey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	estimate, err := plot.Estimate(t.Context(), survey, disk.EntrySize)
	if err != nil {
		t.Fatal(err)
	}
	var tiles int64
	var exact Estimate
	var extent orb.Bound
	err = plot.Draw(t.Context(), func(tile maptile.Tile, png []byte) error {
		tiles++
		exact.Bytes += int64(len(png))
		if png == nil {
			exact.Blank++
		}
		if tile.Z == 8 && extent.IsZero() {
			extent = tile.Bound()
		} else if tile.Z == 8 {
			extent = extent.Union(tile.Bound())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if survey.Tiles != tiles || survey.Extent != extent {
		t.Errorf("Survey = %d tiles in %v, and %d are drawn in %v", survey.Tiles, survey.Extent, tiles, extent)
	}
	// Few zooms have more than sampleTiles tiles here, so the estimate must be close.
	for _, c := range []struct {
		name       string
		got, exact int64
	}{{"bytes", estimate.Bytes, exact.Bytes}, {"blank tiles", estimate.Blank, exact.Blank}} {
		if math.Abs(float64(c.got-c.exact)) > 0.15*float64(c.exact) {
			t.Errorf("Estimate has %d %s, and drawing all has %d", c.got, c.name, c.exact)
		}
	}
	if least := tiles * disk.MinEntrySize; estimate.DiskBytes < least {
		t.Errorf("Estimate has %d bytes on disk for %d tiles, want at least %d", estimate.DiskBytes, tiles, least)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := plot.Survey(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Survey with a cancelled context = %v, want %v", err, context.Canceled)
	}
}

func TestSampleIsEven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 5000).Draw(t, "tiles")
		var s sample
		for x := range uint32(n) {
			s.add(maptile.New(x, 0, 20))
		}
		if s.seen != int64(n) || len(s.kept) > 2*sampleTiles || len(s.kept) < min(n, sampleTiles) {
			t.Fatalf("%d of %d tiles are kept, and %d counted", len(s.kept), n, s.seen)
		}
		for i, tile := range s.kept {
			if i > 0 && tile.X != uint32(i)*s.kept[1].X {
				t.Fatalf("tile %d is the %d-th kept, want every %d-th", tile.X, i, s.kept[1].X)
			}
		}
	})
}
