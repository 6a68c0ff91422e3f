package ingest

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"testing"

	"limnomap/data"
	"limnomap/data/store"
)

// archive returns files of n lakes and of 104 weekly observations of each, a fifth of them gaps.
func archive(n int) (lakes, observations []byte) {
	var l, o bytes.Buffer
	l.WriteString("id,name,lat,lon\n")
	o.WriteString("lake_id,date,chl,data_type,measured_at\n")
	for i := range n {
		fmt.Fprintf(&l, "de_by_lake_%05d,See %d,%.4f,%.4f\n", i, i, 47+float64(i%800)/100, 6+float64(i%900)/100)
	}
	for w := range 104 { // week by week, like the passes
		day := data.Date(19000 + 7*w)
		for i := range n {
			chl := fmt.Sprintf("%.2f", float64((i*31+w*17)%9000)/100)
			if (i+w)%5 == 0 {
				chl = ""
			}
			fmt.Fprintf(&o, "de_by_lake_%05d,%s,%s,satellite,%sT10:30:00Z\n", i, day, chl, day)
		}
	}
	return l.Bytes(), o.Bytes()
}

// BenchmarkObservations imports 209,664 rows, from file to committed transaction: into a database without observations, and
// again into the same one.
func BenchmarkObservations(b *testing.B) {
	lakes, observations := archive(2016)
	run := func(b *testing.B, s *store.Store, f importFunc, text []byte, want Report) {
		r, err := f(b.Context(), s, []File{textFile("bench.csv", string(text))}, nil)
		if err != nil || r.Read != want.Read || r.Added != want.Added || r.Unchanged != want.Unchanged {
			b.Fatalf("import = %+v, %v, want %+v", r, err, want)
		}
	}
	const rows = 2016 * 104
	for _, again := range []bool{false, true} {
		b.Run(fmt.Sprintf("again=%t", again), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(observations)))
			for b.Loop() {
				b.StopTimer()
				s, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "lakes.db"), true)
				if err != nil {
					b.Fatal(err)
				}
				run(b, s, Lakes, lakes, Report{Read: 2016, Added: 2016})
				want := Report{Read: rows, Added: rows}
				if again {
					run(b, s, Observations, observations, want)
					want = Report{Read: rows, Unchanged: rows}
				}
				runtime.GC()
				b.StartTimer()
				run(b, s, Observations, observations, want)
				b.StopTimer()
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}

// shores returns a collection of n lakes on one long line, each a polygon with bays and the given number of points.
func shores(n, points int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"type":"FeatureCollection","features":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"type":"Feature","properties":{"id":"lake_%05d","name":"See %d"},"geometry":{"type":"Polygon","coordinates":[[`, i, i)
		lat, lon := 47+float64(i%800)/100, 6+float64(i%900)/100
		for j := range points + 1 {
			sin, cos := math.Sincos(2 * math.Pi * float64(j%points) / float64(points))
			r := 0.005 * (1 + 0.2*math.Sin(float64(i+7*(j%points))))
			if j > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "[%.7f,%.7f]", lon+1.6*r*cos, lat+r*sin)
		}
		b.WriteString("]]}}")
	}
	b.WriteString("]}")
	return b.Bytes()
}

// BenchmarkGeoJSON imports 10,000 outlines of 200 points. The heap is the maximum in use, including garbage.
func BenchmarkGeoJSON(b *testing.B) {
	text := shores(10_000, 200)
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	var heap uint64
	for b.Loop() {
		b.StopTimer()
		s, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "lakes.db"), true)
		if err != nil {
			b.Fatal(err)
		}
		runtime.GC()
		b.StartTimer()
		r, err := Lakes(b.Context(), s, []File{textFile("bench.geojson", string(text))}, &Options{Progress: func(int64) {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			heap = max(heap, m.HeapAlloc)
		}})
		if err != nil || r.Added != 10_000 {
			b.Fatalf("import = %+v, %v, want 10,000 lakes", r, err)
		}
		b.StopTimer()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(heap-uint64(len(text)))/(1<<20), "heap-MiB")
}
