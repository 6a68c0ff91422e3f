package api

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/paulmach/orb"

	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/data/store"
)

// BenchmarkLakeStatistics requests the statistics of 2,000 lakes over HTTP, compressed, from one and from eight clients: of 104 weeks, which are in memory, and of
// 520, which are read from an SQLite database. The first round is of a server that has just started, the second of the same lakes again. cpu-ms is the processor time of a
// request, with that of its client, and cpu-p99-ms of one of a hundred, which other work on the machine changes less than the time. LIMNOMAP_BENCH_LAKES is the number of lakes, of which one of ten has 520 weeks; 20,000 if it is not set.
func BenchmarkLakeStatistics(b *testing.B) {
	const requests, longEvery = 2000, 10
	lakes, err := strconv.Atoi(os.Getenv("LIMNOMAP_BENCH_LAKES"))
	if err != nil {
		lakes = requests * longEvery
	}
	db, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "lakes.db"), true)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	idOf := func(i int) data.LakeID { return data.LakeID(fmt.Sprintf("de_lake_%07d", i)) }
	last := date(b, "2026-11-16")
	err = db.Import(b.Context(), func(tx store.Tx) error {
		var rows []data.Lake
		for i := range lakes {
			rows = append(rows, data.Lake{ID: idOf(i), Name: fmt.Sprint("Lake ", i), Point: orb.Point{6 + float64(i%1000)/500, 48 + float64(i/1000)/500}})
		}
		if _, err := tx.PutLakes(b.Context(), rows, store.LakeColumns{}); err != nil {
			return err
		}
		for i := range lakes {
			weeks := 104
			if i%longEvery == 0 {
				weeks = 520
			}
			var observations []data.Observation
			for week := range weeks {
				observations = append(observations, data.Observation{LakeID: idOf(i), Date: last - data.Date(7*week), Type: data.Satellite, Source: "CGLS LWQ", Quality: data.Good,
					Chlorophyll: data.Chlorophyll(100 + (i*7919+week*7717)%5000), Level: data.NoLevel, CellDensity: data.NoCellDensity})
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
	snap, err := snapshot.Load(b.Context(), db, &snapshot.Options{Present: data.ByClock(testNow), Weeks: 104})
	if err != nil {
		b.Fatal(err)
	}
	for _, weeks := range []int{104, 520} {
		for _, clients := range []int{1, 8} {
			opts := testOptions(b)
			opts.Historian, opts.APIRate = db, 0
			s := newServer(b, opts, nil)
			if err := s.Publish(snap); err != nil {
				b.Fatal(err)
			}
			server := httptest.NewServer(s)
			for _, round := range []string{"first", "again"} {
				b.Run(fmt.Sprintf("%d/%d/%s", weeks, clients, round), func(b *testing.B) {
					var took []time.Duration
					var used []float64 // of one client
					var cpu float64
					for b.Loop() {
						cpu += processorTime(b, func() {
							t, u := requestEach(b, clients, requests, func(i int) string {
								lake := longEvery * (i * (lakes / longEvery) / requests)
								if weeks == 104 {
									lake++
								}
								return server.URL + statisticsURL + string(idOf(lake))
							})
							took, used = append(took, t...), append(used, u...)
						})
					}
					slices.Sort(took)
					b.ReportMetric(float64(took[len(took)/2])/1e6, "p50-ms")
					b.ReportMetric(float64(took[len(took)*99/100])/1e6, "p99-ms")
					b.ReportMetric(1e3*cpu/float64(len(took)), "cpu-ms")
					if clients == 1 {
						slices.Sort(used)
						b.ReportMetric(1e3*used[len(used)*99/100], "cpu-p99-ms")
					}
				})
			}
			server.Close()
		}
	}
}

// requestEach requests n addresses, with so many clients at a time, and returns how long each took, and the seconds of processor time meanwhile.
func requestEach(b *testing.B, clients, n int, address func(i int) string) (took []time.Duration, used []float64) {
	took, used = make([]time.Duration, n), make([]float64, n)
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
			defer client.CloseIdleConnections()
			for i := c; i < n; i += clients {
				r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, address(i), nil)
				if err != nil {
					b.Error(err)
					return
				}
				r.Header.Set("Accept-Encoding", "gzip")
				var answer *http.Response
				start := time.Now()
				used[i] = processorTime(b, func() {
					if answer, err = client.Do(r); err == nil {
						_, err = io.Copy(io.Discard, answer.Body)
						answer.Body.Close()
					}
				})
				took[i] = time.Since(start)
				if err != nil || answer.StatusCode != http.StatusOK {
					b.Errorf("%s: %v, %v", r.URL, answer, err)
					return
				}
			}
		})
	}
	all.Wait()
	return took, used
}
