//go:build linux && long

package faulttest

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

const archiveWeeks = 104

// archiveSize returns how many lakes the archive has: 4,800, half a million observations, or what LIMNOMAP_ARCHIVE_LAKES says; 480,000 lakes have 50 million.
func archiveSize(t testing.TB) int {
	t.Helper()
	text := os.Getenv("LIMNOMAP_ARCHIVE_LAKES")
	if text == "" {
		return 4800
	}
	n, err := strconv.Atoi(text)
	must(t, err)
	return n
}

func archiveLake(i int) string { return fmt.Sprintf("eu_%07d", i) }

// writeRows writes a file with a header and the rows that rows passes on.
func writeRows(t testing.TB, path, header string, rows func(put func(format string, args ...any))) {
	t.Helper()
	f, err := os.Create(path)
	must(t, err)
	w := bufio.NewWriterSize(f, 1<<20)
	_, _ = w.WriteString(header + "\n")
	rows(func(format string, args ...any) { fmt.Fprintf(w, format, args...) })
	must(t, w.Flush())
	must(t, f.Close())
}

// writeWeeks writes the values of all lakes in some weeks, one week after the other, as an archive grows.
func writeWeeks(t testing.TB, path string, lakes, first, weeks int) {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(first), 1))
	writeRows(t, path, "lake_id,date,chl,data_type", func(put func(string, ...any)) {
		for week := first; week < first+weeks; week++ {
			day := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, 7*week).Format(time.DateOnly)
			for i := range lakes {
				put("%s,%s,%.2f,satellite\n", archiveLake(i), day, 5*math.Exp(random.NormFloat64()))
			}
		}
	})
}

// TestArchive imports two years of weekly values of many lakes into PostgreSQL, starts a server, reads histories, and imports another week. It checks the answers, and
// prints a table of what it took. All lakes but LIMNOMAP_ARCHIVE_LAKES are the same in each run.
func TestArchive(t *testing.T) {
	lakes := archiveSize(t)
	limnomaptest.Binary(t) // compiles it
	p := startPostgres(t)
	dir := t.TempDir()
	var table strings.Builder
	say := func(what, format string, args ...any) {
		fmt.Fprintf(&table, "%-40s %s\n", what, fmt.Sprintf(format, args...))
		t.Logf("%s: %s", what, fmt.Sprintf(format, args...))
	}
	timed := func(what string, rows int, do func()) {
		began := time.Now()
		do()
		took := time.Since(began)
		say(what, "%.1f s, %.0f rows/s", took.Seconds(), float64(rows)/took.Seconds())
	}
	size := func() float64 { return float64(ask[int64](t, p, "SELECT pg_database_size(current_database())")) / 1e6 }

	file := filepath.Join(dir, "lakes.csv")
	writeRows(t, file, "id,name,lat,lon", func(put func(string, ...any)) {
		part := func(x float64) float64 { return x - math.Floor(x) }
		for i := range lakes {
			put("%s,Lake %d,%.5f,%.5f\n", archiveLake(i), i, 36+34*part(float64(i)*0.56984029), -10+50*part(float64(i)*0.75487767))
		}
	})
	timed("import of lakes", lakes, func() { importFile(t, "lakes", file, p.url) })
	before := size()
	file = filepath.Join(dir, "observations.csv")
	writeWeeks(t, file, lakes, 0, archiveWeeks)
	timed("import of observations", lakes*archiveWeeks, func() { importFile(t, "observations", file, p.url) })
	must(t, os.Remove(file))
	say("database", "%.0f MB, %.0f bytes an observation", size(), (size()-before)*1e6/float64(lakes*archiveWeeks))

	began := time.Now()
	s := launch(t, "--db", p.url, "--api-rate", "0")
	limnomaptest.Within(t, time.Hour, "the server is ready", func() bool { return s.StatusOf("/readyz") == 200 })
	say("start to ready", "%.1f s", time.Since(began).Seconds())
	resident := func() float64 { return s.Metric(t, "process_resident_memory_bytes") / 1e6 }
	say("memory at rest", "%.0f MB", resident())

	random := rand.New(rand.NewPCG(1, 2))
	for _, h := range []struct {
		what, path string // of a lake
		requests   int
		counted    string
		rows       int
	}{
		{"history from memory", "/api/v1/bathing-lakes/history/%s", 2000, `"date":`, archiveWeeks},
		{"history from the database", "/api/v1/bathing-lakes/history/%s?limit=5200", 2000, `"date":`, archiveWeeks},
		{"page of 1,000 observations", "/ogc/collections/observations/items?limit=1000&after=%s:2024-01-01:satellite:-", 200, `"Feature"`, 1000},
	} {
		times := make([]time.Duration, h.requests)
		for i := range times {
			lake := archiveLake(random.IntN(lakes - 10)) // a page has those of ten lakes
			began := time.Now()
			resp, body := limnomaptest.Get(t, s.Base+fmt.Sprintf(h.path, lake))
			times[i] = time.Since(began)
			if n := strings.Count(string(body), h.counted); resp.StatusCode != 200 || n != h.rows {
				t.Fatalf("%s: %s of %s has %d rows, want %d", h.what, resp.Status, lake, n, h.rows)
			}
		}
		slices.Sort(times)
		say(h.what, "p50 %.2f ms, p99 %.2f ms", times[len(times)/2].Seconds()*1e3, times[len(times)*99/100].Seconds()*1e3)
	}
	file = filepath.Join(dir, "week.csv")
	writeWeeks(t, file, lakes, archiveWeeks, 1)
	snapshot := func() (state struct{ Snapshot string }) {
		limnomaptest.GetJSON(t, s.Base+"/readyz", &state)
		return state
	}
	former := snapshot()
	timed("import of one more week", lakes, func() { importFile(t, "observations", file, p.url) })
	began = time.Now()
	limnomaptest.Within(t, time.Hour, "the week is shown", func() bool { return snapshot() != former })
	say("import to shown", "%.1f s", time.Since(began).Seconds())
	say("memory afterwards, at most", "%.0f MB", maxResident(t, s))
	t.Logf("%d lakes, %d observations:\n%s", lakes, lakes*archiveWeeks, table.String())
	stopCleanly(t, s)
}

// maxResident returns the most memory that a server has had, in MB.
func maxResident(t testing.TB, s *limnomaptest.Server) float64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Process.Pid))
	must(t, err)
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "VmHWM:" {
			kb, err := strconv.ParseFloat(f[1], 64)
			must(t, err)
			return kb * 1024 / 1e6
		}
	}
	return 0
}
