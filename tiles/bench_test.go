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

	"limnomap/data"
	"limnomap/data/snapshot"
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
	v := new(snapshot.View)
	mustTile(b, s, v, testRequest(1))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Tile(context.Background(), v.Values(), testRequest(1)); err != nil {
			b.Fatal(err)
		}
	}
}

// weekly is a source of the lakes that all benchmarks use, with two years of simulated values.
type weekly struct {
	uncalled
	snapshot.NoForecasts
	lakes []data.Lake
}

// uncalled has the methods of a source that no benchmark calls.
type uncalled struct{ snapshot.Source }

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

func sumOfMedians(lists [][]float64) (sum float64) {
	for _, list := range lists {
		slices.Sort(list)
		sum += list[len(list)/2]
	}
	return sum
}

// micros returns the microseconds since then.
func micros(then time.Time) float64 { return float64(time.Since(then).Nanoseconds()) / 1000 }
