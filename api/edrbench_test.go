package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"testing"
	"time"

	"github.com/paulmach/orb"

	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/data/store"
)

// BenchmarkSeries asks for ten years of a hundred lakes in an SQLite database of 2,000 lakes, of which the server holds one week.
// heap-MB is how much more of the heap is in use at most during a request.
func BenchmarkSeries(b *testing.B) {
	const years, lakes = 10, 2000
	db, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "lakes.db"), true)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	err = db.Import(b.Context(), func(tx store.Tx) error {
		var rows []data.Lake
		for i := range lakes {
			rows = append(rows, data.Lake{ID: data.LakeID(fmt.Sprintf("de_lake_%04d", i)), Name: fmt.Sprint("Lake ", i), Point: orb.Point{6 + float64(i%100)/50, 48 + float64(i/100)/50}})
		}
		if _, err := tx.PutLakes(b.Context(), rows, store.LakeColumns{}); err != nil {
			return err
		}
		for i := range 200 {
			var observations []data.Observation
			for week := range years * 52 {
				observations = append(observations, data.Observation{LakeID: rows[i].ID, Date: date(b, "2026-11-16") - data.Date(7*week), Type: data.Satellite, Source: "CGLS LWQ", Quality: data.Good,
					Chlorophyll: data.Chlorophyll(i*7919%15000 + week), Level: data.NoLevel, CellDensity: data.NoCellDensity})
			}
			if _, err := tx.PutObservations(b.Context(), observations, store.ObservationColumns{}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	opts := testOptions(b)
	opts.Historian, opts.APIRate = db, 0
	s := newServer(b, opts, nil)
	snap, err := snapshot.Load(b.Context(), db, &snapshot.Options{Present: data.ByClock(testNow), Weeks: 1})
	if err != nil {
		b.Fatal(err)
	}
	if err := s.Publish(snap); err != nil {
		b.Fatal(err)
	}
	for _, bench := range []struct{ name, target string }{
		{"1", seriesAt("cube", "bbox", "6,48,6,48")}, {"10", seriesAt("cube", "bbox", "6,48,6.18,48")}, {"100", seriesAt("cube", "bbox", "6,48,7.98,48")},
		{"100/chl", seriesAt("cube", "bbox", "6,48,7.98,48", "parameter-name", "chl")}, {"100/csv", seriesAt("cube", "bbox", "6,48,7.98,48", "f", "CSV", "parameter-name", "chl")},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(get(b, s, http.StatusOK, bench.target).Body.Len()))
			most := heapDuring(func() {
				for b.Loop() {
					s.ServeHTTP(&nullWriter{make(http.Header)}, httptest.NewRequest(http.MethodGet, bench.target, nil))
				}
			})
			b.ReportMetric(float64(most)/1e6, "heap-MB")
		})
	}
}

// heapDuring returns how much larger the heap is at most while f runs than before.
func heapDuring(f func()) (most int64) {
	inUse := func() int64 { // runtime.ReadMemStats would stop the requests
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		return int64(sample[0].Value.Uint64())
	}
	runtime.GC()
	before := inUse()
	var stop atomic.Bool
	done := make(chan struct{})
	go func() { // ends with f
		defer close(done)
		for !stop.Load() {
			most = max(most, inUse()-before)
			time.Sleep(time.Millisecond)
		}
	}()
	f()
	stop.Store(true)
	<-done
	return most
}
