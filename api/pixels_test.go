package api

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geojson"

	"limnomap/api/answer"
	"limnomap/data"
	"limnomap/data/pixels"
	"limnomap/data/raster/crs"
	"limnomap/data/raster/georef"
	"limnomap/data/raster/zonal"
	"limnomap/tiles/admission"
)

// The squares of pixels are near their lake and as wide as any other on both sides of the antimeridian, whatever turn the mask has.
func TestPixelsAtTheAntimeridian(t *testing.T) {
	const step = 0.01
	system, err := crs.FromEPSG(4326)
	if err != nil {
		t.Fatal(err)
	}
	grid, err := georef.New(36000, 18000, [6]float64{-180, step, 0, 90, 0, -step}, system)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []orb.Point{{179.999, 10}, {-179.999, 10}, {180, 66}, {-180, -16}, {9.4, 47}} {
		center, ok := grid.PixelOf(at, 0)
		if !ok {
			t.Fatalf("%v is outside", at)
		}
		for _, turn := range []float64{-1, 0, 1} {
			mask, err := zonal.NewDisc(zonal.Point{center[0] + turn*36000, center[1]}, 5.5, 5.5)
			if err != nil {
				t.Fatal(err)
			}
			m := &pixels.Map{Grid: grid, Mask: mask, Codes: make([]pixels.Code, mask.Count())}
			lake, o := &data.Lake{ID: "a", Point: at}, &data.Observation{LakeID: "a", Date: 20000}
			content, err := cellFeatures(lake, o, &data.Profiles()[0], m)
			if err != nil {
				t.Fatalf("%v, turn %v: %v", at, turn, err)
			}
			var features geojson.FeatureCollection
			if err := json.Unmarshal(content, &features); err != nil {
				t.Fatal(err)
			}
			if len(features.Features) != mask.Count() {
				t.Errorf("%v, turn %v: %d squares of %d pixels", at, turn, len(features.Features), mask.Count())
			}
			for _, f := range features.Features {
				b := f.Geometry.Bound()
				if wide := b.Max[0] - b.Min[0]; math.Abs(wide-step) > 1e-5 || math.Abs(b.Center()[0]-at[0]) > 10*step {
					t.Fatalf("%v, turn %v: a square from %v to %v degrees", at, turn, b.Min[0], b.Max[0])
				}
			}
			table, err := cellTable(lake, o, &data.Profiles()[0], m)
			if err != nil {
				t.Fatalf("%v, turn %v: %v", at, turn, err)
			}
			rows, err := csv.NewReader(strings.NewReader(string(table))).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range rows[1:] {
				if lon, err := strconv.ParseFloat(row[3], 64); err != nil || math.Abs(math.Remainder(lon-at[0], 360)) > 10*step {
					t.Fatalf("%v, turn %v: a center at %s", at, turn, row[3])
				}
			}
		}
	}
}

// TestPixelsOfSitesNeedTurns asks a server on which all turns are taken for the pixels of a site, whose observation counts only the few near it, while those of its water are stored
// with it.
func TestPixelsOfSitesNeedTurns(t *testing.T) {
	opts := testOptions(t)
	opts.Turns = admission.NewTurns(admission.TurnsOptions{Count: 1, Waiting: 10})
	t.Cleanup(opts.Turns.Close)
	opts.sending = answer.Options{HeldItems: 50, TurnWait: time.Millisecond}
	s, source := pixelServerWith(t, opts)
	s.FinishLists()
	water := &source.passes[0]
	water.source = "" // that of its observation
	if n := water.pixels.Mask.Count(); n <= 50 {
		t.Fatalf("the water has only %d pixels", n)
	}
	taken, free := make(chan struct{}), make(chan struct{})
	var other sync.WaitGroup
	other.Go(func() {
		if err := opts.Turns.Do(t.Context(), admission.Client{}, func() error { close(taken); <-free; return nil }); err != nil {
			t.Error(err)
		}
	})
	<-taken
	at := water.lake.Point
	targets := []string{"/api/v1/bathing-lakes/pixels/" + string(water.lake.ID), fmt.Sprintf("%s?lat=%v&lon=%v", pathValue, at[1]+0.01, at[0]+0.01)}
	targets = append(targets, targets[0]+"?f=png")
	for _, target := range targets {
		wantProblem(t, do(s, http.MethodGet, target), http.StatusServiceUnavailable)
	}
	close(free)
	other.Wait()
	get(t, s, http.StatusOK, targets[0])
}
