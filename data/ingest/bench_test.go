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

// BenchmarkNumbers parses numbers of a table: without a mark, with one reading, and with two between which another number decides.
func BenchmarkNumbers(b *testing.B) {
	in := span{0, maxCellDensity, ""}
	for _, bench := range []struct {
		name      string
		separator rune
		number    string
	}{
		{"integer", ',', "20000"}, {"point", ',', "12.35"}, {"comma", ';', "12,35"}, {"three digits", ',', "12.345"}, {"thousands", ';', "20.000"}, {"groups", ';', "1.234,5"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			m := &marks{columns: make([]decimalMark, 1)}
			if bench.separator == ';' {
				m.add(0, in, "1,5", 2)
			}
			r := row{notation: &notation{separator: bench.separator, marks: func() *marks { return m }}, columns: []column{{name: "x"}}, positions: []int{0}}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.parseNumber(0, bench.number, in); err != nil {
					b.Fatal(err)
				}
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

// BenchmarkWQP imports as many rows of the Water Quality Portal, of 4 results for each sample, as BenchmarkObservations does, and the same
// number of rows of a table, each of which is an observation.
func BenchmarkWQP(b *testing.B) {
	const stations, days = 504, 104
	var lakes, table bytes.Buffer
	var rows []wqpFields
	lakes.WriteString("id,name,lat,lon\n")
	table.WriteString("lake_id,date,chl,data_type,source,method,quality,secchi_m,water_temperature_c,cell_density_cells_ml,measured_at\n")
	for i := range stations {
		fmt.Fprintf(&lakes, "WI_WQX-%d,Lake %d,%.4f,%.4f\n", i, i, 43+float64(i%100)/100, -89-float64(i%90)/100)
	}
	for d := range days {
		day := data.Date(19000 + 7*d).String()
		for i := range stations {
			station, chl := fmt.Sprintf("WI_WQX-%d", i), fmt.Sprintf("%.2f", float64((i*31+d*17)%9000)/100)
			for _, result := range [][3]string{{"Chlorophyll a", chl, "ug/l"}, {"Depth, Secchi disk depth", "6", "ft"}, {"Temperature, water", "20.5", "deg C"}, {"Cyanobacteria", "3000", "cells/ml"}} {
				rows = append(rows, wqpChla(wqpFields{wqpLake: station, wqpDate: day, wqpActivity: station + "-" + day, wqpCharacteristic: result[0], wqpValue: result[1], wqpUnit: result[2]}))
			}
			for source := range 4 { // as many rows
				fmt.Fprintf(&table, "%s,%s,%s,in_situ,Department %d,Chlorophyll by spectrophotometer,good,1.83,20.5,3000,%sT15:30:00Z\n", station, day, chl, source, day)
			}
		}
	}
	short := "Location_Identifier,Org_Identifier,Org_FormalName,Activity_ActivityIdentifier,Activity_TypeCode,Activity_Media,Activity_StartDate,Activity_StartTime,Activity_StartTimeZone," +
		"Activity_DepthHeightMeasure,Activity_DepthHeightMeasureUnit,Result_Characteristic,Result_Measure,Result_MeasureUnit,Result_MeasureStatusIdentifier,ResultAnalyticalMethod_Name"
	for _, bench := range []struct{ name, text string }{{"table", table.String()}, {"16 columns", wqpFile(b, short, rows...)}, {"178 columns", wqpFile(b, wqp3Header, rows...)}} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(bench.text)))
			for b.Loop() {
				b.StopTimer()
				s, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "lakes.db"), true)
				if err != nil {
					b.Fatal(err)
				}
				mustImport(b, Lakes, s, nil, lakes.String())
				runtime.GC()
				b.StartTimer()
				r := mustImport(b, Observations, s, nil, bench.text)
				b.StopTimer()
				if r.Read != len(rows) || r.Added+r.Combined != len(rows) {
					b.Fatalf("import = %+v, want %d rows added", r, len(rows))
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(len(rows)*b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
