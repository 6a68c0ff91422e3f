package api

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"github.com/paulmach/orb"

	"limnomap/data"
	"limnomap/data/accuracy"
	"limnomap/data/snapshot"
	"limnomap/data/store"
)

// BenchmarkRefresh imports a week of passes of all lakes and loads them, and then compares the map: as a whole, and from the ledger before. ledger/refresh is the
// processor time of the latter as a share of that of import, load and what is prepared, whole/refresh that of a ledger that is made as a whole; small/refresh is that
// after an import of samples of ten lakes. heap/% is the memory of the ledger as a share of that of the snapshot. LIMNOMAP_BENCH_LAKES is the number of lakes with 104
// weeks, of which one of fifty has samples; 20,000 if it is not set.
func BenchmarkRefresh(b *testing.B) {
	lakes, err := strconv.Atoi(os.Getenv("LIMNOMAP_BENCH_LAKES"))
	if err != nil {
		lakes = 20_000
	}
	const weeks, sampledEvery = 104, 50
	last := data.DateOf(testNow()) - 70 // of the passes at first: each round adds a week
	db, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "lakes.db"), true)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	rnd := rand.New(rand.NewPCG(1, 1))
	row := func(i int, d data.Date, of data.DataType, source string) data.Observation {
		return data.Observation{LakeID: data.LakeID(fmt.Sprintf("de_lake_%07d", i)), Date: d, Type: of, Source: source, Chlorophyll: data.Chlorophyll(100 + rnd.IntN(5000)),
			Level: data.NoLevel, CellDensity: data.NoCellDensity}
	}
	put := func(each func(tx store.Tx) error) {
		b.Helper()
		if err := db.Import(b.Context(), each); err != nil {
			b.Fatal(err)
		}
	}
	put(func(tx store.Tx) error {
		var rows []data.Lake
		for i := range lakes {
			id := data.LakeID(fmt.Sprintf("de_lake_%07d", i))
			rows = append(rows, data.Lake{ID: id, ExternalID: string(id), Name: fmt.Sprint("Lake ", i), Region: fmt.Sprint("Region ", i%16), Point: orb.Point{6 + float64(i%1000)/500, 48 + float64(i/1000)/500}})
		}
		if _, err := tx.PutLakes(b.Context(), rows, store.LakeColumns{}); err != nil {
			return err
		}
		var observations []data.Observation
		for i := range lakes {
			for week := range weeks {
				observations = append(observations, row(i, last-data.Date(7*week), data.Satellite, "CGLS LWQ"))
				if i%sampledEvery == 0 && week%4 == 0 {
					observations = append(observations, row(i, last-data.Date(7*week)-1, data.InSitu, "lab"))
				}
			}
			if i%1000 == 999 || i == lakes-1 {
				if _, err := tx.PutObservations(b.Context(), observations, store.ObservationColumns{}); err != nil {
					return err
				}
				observations = observations[:0]
			}
		}
		return nil
	})
	forecast := func(issued data.Date) {
		b.Helper()
		issue := data.ForecastIssue{Issued: issued, Model: "limnomap-1", Weeks: data.ForecastWeeks, Input: int64(issued)}
		var all iter.Seq[data.NumberedForecast] = func(yield func(data.NumberedForecast) bool) {
			for i := range lakes {
				f := data.NumberedForecast{Number: int64(i + 1), LakeForecast: data.LakeForecast{BasedOn: issue.Issued}}
				for k := range f.Weeks {
					f.Weeks[k] = data.StoredForecast{Chl: data.TenThousandths(10_000 * (1 + rnd.IntN(50))), Sigma: 5_000}
				}
				if !yield(f) {
					return
				}
			}
		}
		if _, err := db.PutForecasts(b.Context(), issue, all, nil, last-100); err != nil {
			b.Fatal(err)
		}
	}
	for ago := range accuracy.ForecastIssues {
		forecast(last - data.Date(7*ago))
	}
	opts := testOptions(b)
	opts.Historian = db
	s := newServer(b, opts, nil)
	load := func() *snapshot.Snapshot {
		b.Helper()
		snap, err := snapshot.Load(b.Context(), db, &snapshot.Options{Present: data.ByClock(testNow)})
		if err == nil {
			err = s.Publish(snap)
		}
		if err != nil {
			b.Fatal(err)
		}
		return snap
	}
	var snap *snapshot.Snapshot
	compare := func(before *accuracy.Ledger) *accuracy.Ledger {
		b.Helper()
		l, err := CompareMap(b.Context(), before, snap, db, db, db, 3)
		if err != nil {
			b.Fatal(err)
		}
		return l
	}
	before := heapBytes()
	snap = load()
	withSnapshot := heapBytes()
	ledger := compare(nil)
	withLedger := heapBytes()
	matches := ledger.Len()
	var refresh, followed, whole, small float64
	day := last
	for b.Loop() {
		day += 7
		refresh += processorTime(b, func() {
			put(func(tx store.Tx) error {
				var observations []data.Observation
				for i := range lakes {
					observations = append(observations, row(i, day-data.Date(i%2), data.Satellite, "CGLS LWQ"))
				}
				_, err := tx.PutObservations(b.Context(), observations, store.ObservationColumns{})
				return err
			})
			snap = load()
		})
		kept := ledger
		followed += processorTime(b, func() { ledger = compare(kept) })
		whole += processorTime(b, func() { compare(nil) })
		put(func(tx store.Tx) error {
			var observations []data.Observation
			for i := range 10 {
				observations = append(observations, row(i*sampledEvery, day+data.Date(rnd.IntN(3)), data.InSitu, "lab"))
			}
			_, err := tx.PutObservations(b.Context(), observations, store.ObservationColumns{})
			return err
		})
		snap = load()
		kept = ledger
		small += processorTime(b, func() { ledger = compare(kept) })
		forecast(day) // so that in each round there are four issues, each with a week that is new
	}
	// The loop removes metrics that are reported before it.
	b.ReportMetric(100*float64(withLedger-withSnapshot)/float64(withSnapshot-before), "heap/%")
	b.ReportMetric(float64(matches), "matches")
	b.ReportMetric(refresh/float64(b.N), "refresh-s/op")
	b.ReportMetric(followed/refresh, "ledger/refresh")
	b.ReportMetric(whole/refresh, "whole/refresh")
	b.ReportMetric(small/refresh, "small/refresh")
	runtime.KeepAlive(ledger)
}

// heapBytes returns how much of the heap is in use.
func heapBytes() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// processorTime returns the seconds of processor time that f takes, which a busy machine changes less than the time.
func processorTime(b *testing.B, f func()) float64 {
	b.Helper()
	used := func() float64 {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
	}
	before := used()
	f()
	return used() - before
}
