package snapshot_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"limnomap/data"
	"limnomap/data/snapshot"

	"github.com/paulmach/orb"
)

// A generated is a Source that makes its rows during the scan, so that a benchmark finds only the snapshot in memory. Each
// text is a separate string, as from a database driver.
type generated struct {
	memory
	n     int
	weeks int
}

func (g *generated) Scan(_ context.Context, lake func(data.Lake) error, observation func(data.Observation) error) (data.Revision, error) {
	const first = data.Date(19_996) // a Monday
	id := func(i int) data.LakeID { return data.LakeID(fmt.Sprintf("lake_%08d", i)) }
	for i := range g.n {
		l := data.Lake{
			ID: id(i), ExternalID: string(id(i)), Name: fmt.Sprintf("Lake number %d", i), Region: fmt.Sprintf("R%d", i*16/g.n),
			Point: orb.Point{float64(i%3600)/10 - 180, float64(i%1700)/10 - 85},
		}
		if err := lake(l); err != nil {
			return data.Revision{}, err
		}
	}
	for i := range g.n {
		o := data.Observation{LakeID: id(i), Level: data.NoLevel, CellDensity: data.NoCellDensity}
		for w := range g.weeks {
			o.Date = first + data.Date(7*w+i%7)
			o.Chlorophyll = data.Chlorophyll(i * 7919 % 100_00)
			if (i+w)%5 == 0 {
				o.Chlorophyll = data.NoChlorophyll
			}
			if err := observation(o); err != nil {
				return data.Revision{}, err
			}
		}
	}
	return data.Revision{Number: 1}, nil
}

// Germany's bathing lakes with two years of passes, and every lake of the world with one.
var sizes = []generated{{n: 1892, weeks: 104}, {n: 1_400_000, weeks: 1}}

func (g *generated) String() string { return fmt.Sprintf("%dx%d", g.n, g.weeks) }

func BenchmarkLoad(b *testing.B) {
	for _, size := range sizes {
		b.Run(size.String(), func(b *testing.B) {
			b.ReportAllocs()
			var s *snapshot.Snapshot
			before := liveHeap()
			for b.Loop() {
				s = load(b, &size, nil)
			}
			b.ReportMetric(float64(liveHeap()-before)/1e6, "MB-held")
			runtime.KeepAlive(s)
		})
	}
}

// liveHeap returns the bytes that are in use after a collection.
func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkView builds views that are not in the cache: it asks for more weeks than the cache holds.
func BenchmarkView(b *testing.B) {
	for _, size := range sizes {
		b.Run(size.String(), func(b *testing.B) {
			s := load(b, &size, nil)
			b.ReportAllocs()
			w := s.Current.Week
			for b.Loop() {
				w-- // a view before the first week takes less time, so start again
				if w < s.Weeks[0].Week {
					w = s.Current.Week + 64
				}
				if _, err := s.View(context.Background(), w); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkHeldView asks for a cached view, as nearly all requests do.
func BenchmarkHeldView(b *testing.B) {
	s := load(b, &sizes[0], nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.View(context.Background(), s.Weeks[0].Week); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkIndex(b *testing.B) {
	s := load(b, &sizes[0], nil)
	id := s.Lakes[len(s.Lakes)/3].ID
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := s.Index(id); !ok {
			b.Fatal("lost")
		}
	}
}
