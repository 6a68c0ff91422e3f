package store

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
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

// BenchmarkImport writes 104 weekly observations of each of 500 lakes in batches, as importers do: into an empty database, again the same,
// and again with other values. Those of a satellite have details.
func BenchmarkImport(b *testing.B) {
	lakes, plain := archive(500)
	satellite := slices.Clone(plain)
	for i := range satellite {
		o := &satellite[i]
		o.Source, o.Details.Version = "Copernicus LWQ300", "V2.1.1"
		o.Details.ValidPixels, o.Details.TotalPixels = data.Known(int32(i%90)), data.Known(int32(90))
	}
	put := func(b *testing.B, s *Store, observations []data.Observation) {
		b.Helper()
		err := s.Import(b.Context(), func(tx Tx) error {
			for batch := range slices.Chunk(observations, 20_000) {
				if _, err := tx.PutObservations(b.Context(), batch, ObservationColumns{}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	for _, db := range []string{"sqlite", "postgres"} {
		for name, observations := range map[string][]data.Observation{"plain": plain, "satellite": satellite} {
			other := slices.Clone(observations)
			for i := range other {
				if other[i].Chlorophyll.Valid() {
					other[i].Chlorophyll++
				}
			}
			open := func(b *testing.B) *Store {
				b.Helper()
				dsn := filepath.Join(b.TempDir(), "lakes.db")
				if db == "postgres" {
					dsn = newDatabase(b)
				}
				s, err := Open(b.Context(), dsn, true)
				if err != nil {
					b.Fatal(err)
				}
				err = s.Import(b.Context(), func(tx Tx) error {
					_, err := tx.PutLakes(b.Context(), lakes, LakeColumns{})
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
				return s
			}
			run := func(import_ string, again bool, in ...[]data.Observation) {
				b.Run(fmt.Sprintf("%s/%s/%s", db, name, import_), func(b *testing.B) {
					b.ReportAllocs()
					var s *Store
					for n := 0; b.Loop(); n++ {
						if s == nil || !again {
							b.StopTimer()
							if s != nil {
								s.Close()
							}
							if s = open(b); again {
								put(b, s, observations)
							}
							b.StartTimer()
						}
						put(b, s, in[n%len(in)])
					}
					s.Close()
				})
			}
			run("first", false, observations)
			run("unchanged", true, observations)
			run("changed", true, other, observations)
		}
	}
}
