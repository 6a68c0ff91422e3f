package store

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"limnomap/data"
)

// archive returns 104 weekly observations of each of n lakes, a fifth of them gaps, lake by lake.
func archive(n int) ([]data.Lake, []data.Observation) {
	const weeks = 104
	lakes := make([]data.Lake, n)
	observations := make([]data.Observation, 0, n*weeks)
	for i := range lakes {
		lakes[i] = testLake(fmt.Sprintf("de_by_lake_%05d", i))
		for w := range weeks {
			o := testObservation(lakes[i].ID, data.Date(19000+7*w), data.Satellite, data.Chlorophyll((i*31+w*17)%9000))
			if (i+w)%5 == 0 {
				o.Chlorophyll = data.NoChlorophyll
			}
			observations = append(observations, o)
		}
	}
	return lakes, observations
}

func BenchmarkScan(b *testing.B) {
	ctx := context.Background()
	s, err := Open(ctx, filepath.Join(b.TempDir(), "lakes.db"), true)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	lakes, observations := archive(2016)
	put(b, s, lakes, observations)
	b.ReportAllocs()
	for b.Loop() {
		rows := 0
		_, err := s.Scan(ctx,
			func(data.Lake) error { return nil },
			func(data.Observation) error { rows++; return nil })
		if err != nil || rows != len(observations) {
			b.Fatalf("Scan passed %d rows and returned %v, want %d rows", rows, err, len(observations))
		}
	}
}

func BenchmarkHistory(b *testing.B) {
	ctx := context.Background()
	s, err := Open(ctx, filepath.Join(b.TempDir(), "lakes.db"), true)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	lakes, observations := archive(100)
	put(b, s, lakes, observations)
	b.ReportAllocs()
	for b.Loop() {
		if _, h, err := s.History(ctx, lakes[50].ID, data.Newest(104)); err != nil || len(h) != 104 {
			b.Fatalf("History returned %d rows and %v, want 104", len(h), err)
		}
	}
}

// BenchmarkImport writes 209,664 observations, into an empty database and again into the same one.
func BenchmarkImport(b *testing.B) {
	lakes, observations := archive(2016)
	for _, again := range []bool{false, true} {
		b.Run(fmt.Sprintf("again=%t", again), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				s, err := Open(context.Background(), filepath.Join(b.TempDir(), "lakes.db"), true)
				if err != nil {
					b.Fatal(err)
				}
				put(b, s, lakes, nil)
				if again {
					put(b, s, nil, observations)
				}
				b.StartTimer()
				put(b, s, nil, observations)
				b.StopTimer()
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}
