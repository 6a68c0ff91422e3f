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
//	LIMNOMAP_BENCH_LAKES=96154 go test ./data/store -run '^$' -bench Archive -benchtime 1x
//
// Beside the time that passes it tells the processors' time, which others on the machine disturb less, and the process's
// greatest resident memory so far.
func BenchmarkArchive(b *testing.B) {
	lakes, _ := strconv.Atoi(os.Getenv("LIMNOMAP_BENCH_LAKES"))
	if lakes <= 0 {
		b.Skip("LIMNOMAP_BENCH_LAKES names no number of lakes")
	}
	path := filepath.Join(b.TempDir(), "lakes.db")
	s := openFile(b, path, true)
	for _, name := range []string{"import", "import again"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				importArchive(b, s, lakes, 0)
			}
			reportRows(b, lakes*104)
			reportSize(b, path)
		})
	}
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
	b.Run("history beside an import", func(b *testing.B) {
		other := openFile(b, path, false)
		ctx, cancel := context.WithCancel(b.Context())
		var imported sync.WaitGroup
		imported.Go(func() { // ends with ctx, and leaves nothing behind
			_ = other.Import(ctx, func(tx Tx) error {
				for round := 1; ; round++ {
					if err := putArchive(ctx, tx, lakes, data.Date(7*104*round)); err != nil {
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

func importArchive(b *testing.B, s Store, lakes int, later data.Date) {
	b.Helper()
	if err := s.Import(b.Context(), func(tx Tx) error { return putArchive(b.Context(), tx, lakes, later) }); err != nil {
		b.Fatal(err)
	}
}

// putArchive writes what archive returns, a hundred lakes at a time, and some days later.
func putArchive(ctx context.Context, tx Tx, lakes int, later data.Date) error {
	const together = 100
	template, rows := archive(together)
	for from := 0; from < lakes; from += together {
		n := min(together, lakes-from)
		for i := range n {
			template[i].ID = data.LakeID(fmt.Sprintf("de_by_lake_%07d", from+i))
			for w := range 104 {
				o := &rows[i*104+w]
				o.LakeID, o.Date = template[i].ID, data.Date(19000+7*w)+later
			}
		}
		if _, err := tx.PutLakes(ctx, template[:n], LakeColumns{}); err != nil {
			return err
		}
		if _, err := tx.PutObservations(ctx, rows[:n*104], ObservationColumns{}); err != nil {
			return err
		}
	}
	return nil
}

// reportHistories asks for the histories of lakes at random.
func reportHistories(b *testing.B, s Store, lakes int) {
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

// reportRows reports a rate, and what the process has used so far.
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
	for _, end := range append([]string{""}, companions[0]) {
		info, err := os.Stat(path + end)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(info.Size())/1e6, "MB"+strings.ReplaceAll(end, "-", "-of-"))
	}
}
