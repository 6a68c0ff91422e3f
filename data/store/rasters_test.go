package store

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"limnomap/data"
)

// The records of satellite files are stored by the holder of a refresh only, with their values or not at all, and are counted.
func testRasters(t *testing.T, open opener) {
	now := noon
	s := open(t, func() time.Time { return now })
	records := func(want ...data.RasterRecord) {
		t.Helper()
		if got, err := s.RasterRecords(t.Context()); err != nil || !slices.Equal(got, want) {
			t.Errorf("RasterRecords = %+v, %v, want %+v", got, err, want)
		}
	}
	state := func(want data.RefreshRasters) {
		t.Helper()
		if got := refreshOf(t, s).Rasters; got != want {
			t.Errorf("the state has %+v, want %+v", got, want)
		}
	}
	records()
	state(data.RefreshRasters{})
	failed := data.RasterRecord{Key: "a", Name: "a.nc", Stamp: "1", Error: "no chlorophyll", Failures: 1, TriedAt: noon, RetryAt: noon.Add(time.Hour), Bytes: 1 << 33}
	if err := s.PutRaster(t.Context(), "nobody", failed); !errors.Is(err, data.ErrLeaseLost) {
		t.Errorf("PutRaster without a claim = %v, want %v", err, data.ErrLeaseLost)
	}
	records()
	if !claim(t, s, 0, "one", time.Minute) {
		t.Fatal("the refresh could not be claimed")
	}
	begun := data.RasterRecord{Key: "a", Name: "a.nc", Stamp: "0", Error: "begun", Failures: 1, TriedAt: noon}
	if err := s.BeginRaster(t.Context(), "nobody", begun); !errors.Is(err, data.ErrLeaseLost) {
		t.Errorf("BeginRaster without a claim = %v, want %v", err, data.ErrLeaseLost)
	}
	records()
	if err := s.BeginRaster(t.Context(), "one", begun); err != nil {
		t.Fatal(err)
	}
	records(begun)
	state(data.RefreshRasters{})
	if err := s.PutRaster(t.Context(), "one", failed); err != nil {
		t.Fatal(err)
	}
	records(failed)
	total := data.RefreshRasters{Failed: 1, Bytes: 1 << 33}
	state(total)

	taken := data.RasterRecord{Key: "a", Name: "a.nc", Stamp: "2", TriedAt: noon.Add(time.Minute), Product: "LWQ", Version: "V2.1.0", Date: 20000,
		Lakes: 5, Gaps: 6, Written: 7, Bytes: 8}
	wrong := errors.New("no")
	for _, test := range []struct {
		holder string
		fault  error
		want   error
	}{{"one", wrong, wrong}, {"another", nil, data.ErrLeaseLost}, {"one", nil, nil}} {
		records(failed)
		state(total)
		err := s.Import(t.Context(), func(tx Tx) error {
			if err := tx.PutRaster(t.Context(), test.holder, taken); err != nil {
				return err
			}
			return test.fault
		})
		if !errors.Is(err, test.want) {
			t.Errorf("an import by %q that ends with %v = %v, want %v", test.holder, test.fault, err, test.want)
		}
	}
	records(taken)
	total.Taken, total.Bytes, total.LastTaken, total.LastProduct, total.LastDate = 1, total.Bytes+8, taken.TriedAt, "LWQ", 20000
	state(total)

	// A failure keeps what was last taken. Texts of any bytes and lengths are stored.
	odd := data.RasterRecord{Key: "b", Name: "b\x00\xff", Error: strings.Repeat("ä", 2000), Failures: 3, TriedAt: noon}
	if err := s.PutRaster(t.Context(), "one", odd); err != nil {
		t.Fatal(err)
	}
	odd.Name, odd.Error = "b\uFFFD\uFFFD", strings.Repeat("ä", 1000)
	records(taken, odd)
	escape := odd
	escape.Key, escape.Error = "c", "a dimension \x1b[2J\u202e"
	if err := s.PutRaster(t.Context(), "one", escape); err != nil { // as older versions did
		t.Fatal(err)
	}
	escape.Error = `a dimension \u001b[2J\u202e`
	records(taken, odd, escape)
	total.Failed += 2
	state(total)
	total.RasterCounts = data.RasterCounts{Waiting: 1, Failing: 2, Skipped: 3}
	end(t, s, "one", data.RefreshResult{Rasters: &total.RasterCounts})
	state(total)
	if !claim(t, s, 2, "two", time.Minute) {
		t.Fatal("the second refresh could not be claimed")
	}
	end(t, s, "two", data.RefreshResult{Error: "the source is away"})
	state(total)
	if err := s.PutRaster(t.Context(), "two", taken); !errors.Is(err, data.ErrLeaseLost) {
		t.Errorf("PutRaster after the end = %v, want %v", err, data.ErrLeaseLost)
	}
}
