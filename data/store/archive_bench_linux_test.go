package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"limnomap/data"
)

// BenchmarkArchive measures a database of LIMNOMAP_BENCH_LAKES lakes with 104 weeks each; 96154 make ten million rows:
//
//	LIMNOMAP_BENCH_LAKES=96154 go test ./data/store -run '^$' -bench 'Archive$' -benchtime 1x
//
// It also reports the processor time, which other processes on the machine disturb less, and the maximum resident memory so
// far.
func BenchmarkArchive(b *testing.B) {
	lakes := archiveLakes(b)
	path := filepath.Join(b.TempDir(), "lakes.db")
	benchmarkArchive(b, lakes, func() *Store { return &openFile(b, path, true).Store }, func(b *testing.B) { reportSize(b, path) })
}

// BenchmarkArchivePostgres measures the same on the PostgreSQL of LIMNOMAP_TEST_POSTGRES, without the server's own processor
// time and memory. A server started by .ci/postgres does not wait for its disk (fsync).
func BenchmarkArchivePostgres(b *testing.B) {
	lakes := archiveLakes(b)
	dsn := newDatabase(b)
	benchmarkArchive(b, lakes, func() *Store { return &openURL(b, dsn, true).Store }, func(b *testing.B) { reportPostgresSize(b, openURL(b, dsn, false)) })
}

func archiveLakes(b *testing.B) int {
	b.Helper()
	lakes, _ := strconv.Atoi(os.Getenv("LIMNOMAP_BENCH_LAKES"))
	if lakes <= 0 {
		b.Skip("LIMNOMAP_BENCH_LAKES names no number of lakes")
	}
	return lakes
}

func benchmarkArchive(b *testing.B, lakes int, open func() *Store, size func(*testing.B)) {
	s := open()
	for _, name := range []string{"import", "import again"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				importArchive(b, s, func(tx Tx) error { return putArchive(b.Context(), tx, lakes, archiveWeeks, 0) })
			}
			reportRows(b, lakes*archiveWeeks)
			size(b)
		})
	}
	b.Run("import one week", func(b *testing.B) {
		for b.Loop() {
			importArchive(b, s, func(tx Tx) error { return putArchive(b.Context(), tx, lakes, 1, archiveDays) })
		}
		reportRows(b, lakes)
		size(b)
	})
	b.Run("scan", func(b *testing.B) {
		rows := 0
		for b.Loop() {
			_, err := s.Scan(b.Context(), func(data.Lake) error { return nil }, func(data.Observation) error { rows++; return nil })
			if err != nil {
				b.Fatal(err)
			}
		}
		reportRows(b, rows/b.N)
	})
	b.Run("past", func(b *testing.B) { // a year of weeks in the middle
		rows := 0
		for b.Loop() {
			_, err := s.Past(b.Context(), data.Period{First: 19182, Last: 19546}, func(data.Observation) error { rows++; return nil })
			if err != nil {
				b.Fatal(err)
			}
		}
		reportRows(b, rows/b.N)
	})
	b.Run("history", func(b *testing.B) {
		for b.Loop() {
			reportHistories(b, s, lakes)
		}
	})
	b.Run("history during an import", func(b *testing.B) {
		other := open()
		ctx, cancel := context.WithCancel(b.Context())
		var imported sync.WaitGroup
		imported.Go(func() { // ends with ctx, and writes nothing
			_ = other.Import(ctx, func(tx Tx) error {
				for round := 2; ; round++ {
					if err := putArchive(ctx, tx, lakes, archiveWeeks, data.Date(archiveDays*round)); err != nil {
						return err
					}
				}
			})
		})
		for b.Loop() {
			reportHistories(b, s, lakes)
		}
		cancel()
		imported.Wait()
	})
}

func importArchive(b *testing.B, s *Store, fn func(Tx) error) {
	b.Helper()
	if err := s.Import(b.Context(), fn); err != nil {
		b.Fatal(err)
	}
}

const (
	archiveWeeks = 104 // as many as archive returns
	archiveDays  = 7 * archiveWeeks
)

// putArchive writes the first weeks of archive, some thousand rows at a time, and shifted by some days.
func putArchive(ctx context.Context, tx Tx, lakes, weeks int, later data.Date) error {
	together := 10_400 / weeks
	template, all := archive(together)
	rows := make([]data.Observation, 0, together*weeks)
	for from := 0; from < lakes; from += together {
		n := min(together, lakes-from)
		rows = rows[:0]
		for i := range n {
			template[i].ID = data.LakeID(fmt.Sprintf("de_by_lake_%07d", from+i))
			for w := range weeks {
				o := all[i*archiveWeeks+w]
				o.LakeID, o.Date = template[i].ID, data.Date(19000+7*w)+later
				rows = append(rows, o)
			}
		}
		if _, err := tx.PutLakes(ctx, template[:n], LakeColumns{}); err != nil {
			return err
		}
		if _, err := tx.PutObservations(ctx, rows, ObservationColumns{}); err != nil {
			return err
		}
	}
	return nil
}

// reportHistories reads histories of random lakes.
func reportHistories(b *testing.B, s *Store, lakes int) {
	b.Helper()
	took := make([]time.Duration, 10_000)
	for i := range took {
		id := data.LakeID(fmt.Sprintf("de_by_lake_%07d", rand.IntN(lakes)))
		begin := time.Now()
		if _, rows, err := s.History(b.Context(), id, data.Newest(104)); err != nil || len(rows) != 104 {
			b.Fatalf("History(%s) = %d rows, %v, want 104", id, len(rows), err)
		}
		took[i] = time.Since(begin)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// reportRows reports a rate, and the resources used so far.
func reportRows(b *testing.B, rows int) {
	b.Helper()
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(used.Utime.Nano()+used.Stime.Nano())/1e9, "cpu-s-so-far")
	b.ReportMetric(float64(used.Maxrss)/1e3, "peak-MB")
}

func reportSize(b *testing.B, path string) {
	b.Helper()
	for _, end := range append([]string{""}, fileEnds[1]) {
		info, err := os.Stat(path + end)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(info.Size())/1e6, "MB"+strings.ReplaceAll(end, "-", "-of-"))
	}
}

func reportPostgresSize(b *testing.B, s *postgres) {
	b.Helper()
	var all, keys int64
	err := s.pool.QueryRow(b.Context(), `SELECT pg_database_size(current_database()),
		(SELECT sum(pg_indexes_size(oid)) FROM pg_class WHERE relispartition AND relkind = 'r' AND relnamespace = 'limnomap'::regnamespace)`).Scan(&all, &keys)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(all)/1e6, "MB")
	b.ReportMetric(float64(keys)/1e6, "MB-of-keys")
}
