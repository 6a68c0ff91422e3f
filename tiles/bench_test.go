package tiles

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/render"
)

// BenchmarkTile measures each tier with a tile of ordinary size.
func BenchmarkTile(b *testing.B) {
	renderer := func() *fakeRenderer {
		return &fakeRenderer{png: func(render.Spec) ([]byte, error) { return make([]byte, 4000), nil }}
	}
	b.Run("memory", func(b *testing.B) {
		benchmarkTile(b, newTestService(b, renderer(), nil))
	})
	b.Run("blank", func(b *testing.B) {
		benchmarkTile(b, newTestService(b, &fakeRenderer{blank: true}, nil))
	})
	b.Run("disk", func(b *testing.B) {
		opts := diskOptions(b, b.TempDir())
		opts.MemoryBytes = 1 // nothing fits into memory
		benchmarkTile(b, newTestService(b, renderer(), opts))
	})
}

func benchmarkTile(b *testing.B, s *Service) {
	v := new(data.View)
	mustTile(b, s, v, testRequest(1))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Tile(context.Background(), v.Values(), testRequest(1)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHits has 64 goroutines ask for cached tiles of one view, drawn by the real renderer: taking a fingerprint is part
// of each hit.
func BenchmarkHits(b *testing.B) {
	s := newTestService(b, render.New(colormap.Limits{Level1: 10, Level2: 50}), nil)
	v := &data.View{
		Lakes:  []data.Lake{{ID: "lake", Point: orb.Point{13.35, 52.48}}},
		States: []data.State{{Chlorophyll: 12_00}},
	}
	var requests []Request
	for z := maptile.Zoom(0); z < 16; z++ {
		requests = append(requests, Request{Tile: maptile.At(v.Lakes[0].Point, z), Scale: 1, Style: render.Heat, Colormap: colormap.Default})
		if t := mustTile(b, s, v, requests[z]); t.Blank {
			b.Fatalf("tile %v is blank", requests[z].Tile)
		}
	}
	b.SetParallelism(64)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for i := rand.IntN(len(requests)); pb.Next(); i++ {
			if _, err := s.Tile(context.Background(), v.Values(), requests[i%len(requests)]); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// weekly is a source of the lakes that all benchmarks use, with two years of simulated values.
type weekly struct {
	uncalled
	data.NoForecasts
	lakes []data.Lake
}

// uncalled has the methods of a source that no benchmark calls.
type uncalled struct{ data.Source }

const weeklyWeeks = 104

func newWeekly(b *testing.B) *weekly {
	f, err := os.Open("../../shared/bench/lakes_1892.csv")
	if err != nil {
		b.Skipf("SKIPPED: no lakes to draw: %v", err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		b.Fatal(err)
	}
	column := func(name string) int { return slices.Index(rows[0], name) }
	s := new(weekly)
	for i, row := range rows[1:] {
		lat, errLat := strconv.ParseFloat(row[column("lat")], 64)
		lon, errLon := strconv.ParseFloat(row[column("lon")], 64)
		if err := errors.Join(errLat, errLon); err != nil {
			b.Fatal(err)
		}
		s.lakes = append(s.lakes, data.Lake{ID: data.LakeID(fmt.Sprintf("lake_%04d", i)), Name: "Lake", Point: orb.Point{lon, lat}})
	}
	return s
}

// Scan passes values that are log-normal around 5 µg/l; one in five is missing.
func (s *weekly) Scan(_ context.Context, lake func(data.Lake) error, observation func(data.Observation) error) (data.Revision, error) {
	for _, l := range s.lakes {
		if err := lake(l); err != nil {
			return data.Revision{}, err
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, l := range s.lakes {
		level := 1.6 + rng.NormFloat64()
		for w := range weeklyWeeks {
			o := data.Observation{LakeID: l.ID, Date: data.Date(19_996 + 7*w), Chlorophyll: data.NoChlorophyll, Level: data.NoLevel, CellDensity: data.NoCellDensity}
			if rng.IntN(5) > 0 {
				o.Chlorophyll = data.Chlorophyll(100 * min(math.Exp(level+0.4*rng.NormFloat64()), 1500))
			}
			if err := observation(o); err != nil {
				return data.Revision{}, err
			}
		}
	}
	return data.Revision{Number: 1}, nil
}

func (*weekly) Advisories(context.Context) ([]data.Advisory, data.Revision, error) {
	return nil, data.Revision{Number: 1}, nil
}

// BenchmarkAnimation draws the weeks of one tile in order, for several tiles, and before each week a tile of the current map
// by a service with nothing in memory. It takes those tiles in turns, since drawing the same one repeatedly would be faster.
// The ratio is the time of a week to that of a cold tile, by the sums of the tiles' medians.
func BenchmarkAnimation(b *testing.B) {
	source := newWeekly(b)
	snapshot, err := data.Load(b.Context(), source, nil)
	if err != nil {
		b.Fatal(err)
	}
	renderer := render.New(colormap.Limits{Level1: 10, Level2: 50})
	for z := maptile.Zoom(5); z <= 10; z++ {
		b.Run(fmt.Sprintf("z%d", z), func(b *testing.B) {
			var addresses []maptile.Tile
			for i := 0; i < len(source.lakes) && len(addresses) < 6; i += 97 {
				if t := maptile.At(source.lakes[i].Point, z); !slices.Contains(addresses, t) {
					addresses = append(addresses, t)
				}
			}
			// draw draws a tile and returns how long it took.
			draw := func(s *Service, v *data.Values, t maptile.Tile) float64 {
				began := time.Now()
				tile, err := s.Tile(b.Context(), v, Request{Tile: t, Scale: 1, Style: render.Heat, Colormap: colormap.Default})
				took := micros(began)
				mustDo(b, err)
				if tile.Blank {
					b.Fatalf("tile %v is blank", t)
				}
				return took
			}
			// fresh returns a service that has only drawn one tile of the current map, far from the others.
			fresh := func() *Service {
				s := newTestService(b, renderer, nil)
				draw(s, snapshot.Current.Values(), maptile.At(source.lakes[0].Point, 15))
				return s
			}
			cold, weeks := make([][]float64, len(addresses)), make([][]float64, len(addresses)) // µs
			for b.Loop() {
				for a, address := range addresses {
					player := fresh()
					for k, w := range snapshot.Weeks[:weeklyWeeks-1] { // without the current one
						other := (a + k) % len(addresses)
						cold[other] = append(cold[other], draw(fresh(), snapshot.Current.Values(), addresses[other]))
						began := time.Now()
						v, err := snapshot.Values(b.Context(), w.Week)
						if err != nil {
							b.Fatal(err)
						}
						draw(player, v, address)
						weeks[a] = append(weeks[a], micros(began))
					}
				}
			}
			c, w := sumOfMedians(cold), sumOfMedians(weeks)
			b.ReportMetric(c/float64(len(addresses)), "cold-p50-µs")
			b.ReportMetric(w/float64(len(addresses)), "week-p50-µs")
			b.ReportMetric(w/c, "ratio")
		})
	}
}

// BenchmarkColdTile draws tiles that are in no cache, by the renderer without a service and by a service without a disk, in turns. The ratio is what a
// tile costs in the service to what it costs without.
func BenchmarkColdTile(b *testing.B) {
	source := newWeekly(b)
	snapshot, err := data.Load(b.Context(), source, nil)
	if err != nil {
		b.Fatal(err)
	}
	renderer := render.New(colormap.Limits{Level1: 10, Level2: 50})
	var addresses []maptile.Tile
	for z := maptile.Zoom(5); z <= 10; z++ {
		for i := 0; i < len(source.lakes); i += 40 {
			if t := maptile.At(source.lakes[i].Point, z); !slices.Contains(addresses, t) {
				addresses = append(addresses, t)
			}
		}
	}
	s := newTestService(b, renderer, &Options{MemoryBytes: 1}) // nothing fits into memory
	layer := renderer.Layer(snapshot.Current.Values())
	var drawn, served time.Duration
	for b.Loop() {
		view := &data.View{Lakes: snapshot.Current.Lakes, States: snapshot.Current.States, WithData: snapshot.Current.WithData}
		mustTile(b, s, view, Request{Tile: maptile.At(source.lakes[0].Point, 15), Scale: 1, Style: render.Heat, Colormap: colormap.Default}) // makes the layer
		layer = renderer.LayerOn(layer, view.Values())
		for _, t := range addresses {
			req := Request{Tile: t, Scale: 1, Style: render.Heat, Colormap: colormap.Default}
			began := time.Now()
			renderer.Fingerprint(layer, req.spec())
			if _, err := renderer.Render(layer, req.spec()); err != nil {
				b.Fatal(err)
			}
			between := time.Now()
			mustTile(b, s, view, req)
			drawn += between.Sub(began)
			served += time.Since(between)
		}
	}
	tiles := float64(b.N * len(addresses))
	b.ReportMetric(float64(drawn.Microseconds())/tiles, "renderer-µs")
	b.ReportMetric(float64(served.Microseconds())/tiles, "service-µs")
	b.ReportMetric(float64(served)/float64(drawn), "ratio")
}

func sumOfMedians(lists [][]float64) (sum float64) {
	for _, list := range lists {
		slices.Sort(list)
		sum += list[len(list)/2]
	}
	return sum
}

// micros returns the microseconds since then.
func micros(then time.Time) float64 { return float64(time.Since(then).Nanoseconds()) / 1000 }
