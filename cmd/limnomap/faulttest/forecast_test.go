//go:build unix && long

package faulttest

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data"
	"limnomap/data/store"
	"limnomap/data/testsize"
)

// forecastTables are the lakes and the values of a database in which a forecast takes a part of a second.
func forecastTables(t *testing.T) (lakes, values string) {
	t.Helper()
	dir := t.TempDir()
	lakes, values = filepath.Join(dir, "lakes.csv"), filepath.Join(dir, "obs.csv")
	limnomaptest.Run(t, "demo", "--lakes", "4000", "--weeks", "20", "--out", lakes+","+values)
	return lakes, values
}

// TestForecastKilled kills and interrupts forecasts at any time, and then makes several at once. The database has a whole issue or none.
func TestForecastKilled(t *testing.T) {
	t.Parallel()
	lakes, values := forecastTables(t)
	for name, open := range map[string]func(*testing.T) string{
		"SQLite":     func(t *testing.T) string { return filepath.Join(t.TempDir(), "lakes.db") },
		"PostgreSQL": func(t *testing.T) string { return startPostgres(t).url },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := open(t)
			importFile(t, "lakes", lakes, db)
			importFile(t, "observations", values, db)
			out := filepath.Join(t.TempDir(), "dry.csv")
			began := time.Now()
			limnomaptest.Run(t, "forecast", "--db", db, "--force", "--dry-run", "--out", out)
			took := time.Since(began)
			want, err := os.ReadFile(out)
			must(t, err)
			kills := testsize.Of(6, 60)
			written := 0
			for i := range kills {
				stopForecast(t, db, []os.Signal{os.Kill, os.Interrupt}[i%2], time.Duration(rand.Int64N(int64(2*took))))
				if n := storedForecasts(t, db); n != 0 && n != bytes.Count(want, []byte("\n"))-1 {
					t.Fatalf("after a forecast was stopped the database has %d forecasts, want none or all", n)
				} else if n > 0 {
					written++
				}
			}
			t.Logf("%d of %d times the issue was there", written, kills)
			var all sync.WaitGroup
			for range 3 {
				all.Go(func() { limnomaptest.Run(t, "forecast", "--db", db, "--force") })
			}
			all.Wait()
			after := filepath.Join(t.TempDir(), "after.csv")
			if said := limnomaptest.Run(t, "forecast", "--db", db, "--force", "--out", after); !strings.Contains(said, "nothing has changed") {
				t.Errorf("after several forecasts at once it prints %q, want that nothing has changed", said)
			}
			got, err := os.ReadFile(after)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("after kills and several forecasts at once there are other forecasts, %v", err)
			}
		})
	}
}

// stopForecast starts a forecast and sends it a signal after some time. If it was interrupted in time, it says that nothing was written.
func stopForecast(t *testing.T, db string, signal os.Signal, after time.Duration) {
	t.Helper()
	cmd := limnomaptest.Command(t, "forecast", "--db", db, "--force")
	log := new(limnomaptest.Log)
	cmd.Stderr = log
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	time.Sleep(after) // so that each signal meets another step
	_ = cmd.Process.Signal(signal)
	err := cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 && !strings.Contains(log.String(), "nothing was written") {
		t.Errorf("interrupted it printed %q", log)
	}
}

// storedForecasts returns how many forecasts the newest issue has, which must be as many as it says.
func storedForecasts(t *testing.T, db string) (n int) {
	t.Helper()
	s, err := store.Open(t.Context(), db, false)
	must(t, err)
	defer s.Close()
	var counts data.ForecastCounts
	issue, _, err := s.Forecasts(context.Background(), data.Optional[data.Date]{}, func(f data.LakeForecast) error {
		counts.Add(&f)
		return nil
	})
	if errors.Is(err, data.ErrNoForecast) {
		return 0
	}
	must(t, err)
	if counts != issue.Counts {
		t.Fatalf("the issue has %+v, and says that it has %+v", counts, issue.Counts)
	}
	return int(counts.Rows)
}
