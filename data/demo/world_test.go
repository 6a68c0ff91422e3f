package demo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"limnomap/data"
)

func day(t testing.TB, s string) data.Date {
	t.Helper()
	d, err := data.ParseDate(s)
	must(t, err)
	return d
}

// world returns what a world writes.
func world(t testing.TB, lakes, weeks int, until string) (lakeText, observationText string) {
	t.Helper()
	w, err := NewWorld(lakes, weeks, day(t, until))
	must(t, err)
	var l, o strings.Builder
	must(t, w.Write(t.Context(), &l, &o, nil))
	return l.String(), o.String()
}

// rows returns the rows of a CSV file after its header.
func rows(t testing.TB, text, header string) [][]string {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	must(t, err)
	if got := strings.Join(all[0], ","); got != header {
		t.Fatalf("header = %q, want %q", got, header)
	}
	return all[1:]
}

func number(t testing.TB, s string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(s, 64)
	must(t, err)
	return f
}

const (
	worldLakesHeader        = "id,name,lat,lon,region,area_km2"
	worldObservationsHeader = "lake_id,date,chl,data_type"
)

func TestWorldHasTheRequestedLakes(t *testing.T) {
	for _, n := range []int{1, 2, 3, len(parseDistricts(districtsCSV)), batchLakes, 997, 40_000} {
		lakes, observations := world(t, n, 2, WorldUntil)
		ids := map[string]bool{}
		for _, row := range rows(t, lakes, worldLakesHeader) {
			if ids[row[0]] {
				t.Fatalf("%d lakes: %s is there twice", n, row[0])
			}
			ids[row[0]] = true
		}
		if len(ids) != n {
			t.Errorf("%d lakes, want %d", len(ids), n)
		}
		seen := map[string]int{}
		for _, row := range rows(t, observations, worldObservationsHeader) {
			if !ids[row[0]] {
				t.Fatalf("%d lakes: an observation of %s, which is no lake", n, row[0])
			}
			seen[row[0]]++
		}
		for id, passes := range seen {
			if passes != 2 {
				t.Errorf("%s has %d passes, want 2", id, passes)
			}
		}
		if unseen := 1 - float64(len(seen))/float64(n); n >= 40_000 && math.Abs(unseen-unseenShare) > 0.01 {
			t.Errorf("a share of %.3f is never seen, want about %g", unseen, unseenShare)
		}
	}
}

func TestWorldIsTheSameEveryTime(t *testing.T) {
	hash := func() [2][sha256.Size]byte {
		l, o := world(t, 20_000, 3, WorldUntil)
		return [2][sha256.Size]byte{sha256.Sum256([]byte(l)), sha256.Sum256([]byte(o))}
	}
	if first, second := hash(), hash(); first != second {
		t.Errorf("two runs gave %x and %x", first, second)
	}
}

// TestWorldsValuesDependOnLakeAndWeek: another period of time has the same values in the weeks of both.
func TestWorldsValuesDependOnLakeAndWeek(t *testing.T) {
	lakes, short := world(t, 3000, 2, "2025-08-25")
	sameLakes, long := world(t, 3000, 6, "2025-09-01")
	if lakes != sameLakes {
		t.Error("the lakes change with the weeks")
	}
	known := map[string]bool{}
	for _, row := range rows(t, long, worldObservationsHeader) {
		known[strings.Join(row, ",")] = true
	}
	for _, row := range rows(t, short, worldObservationsHeader) {
		if line := strings.Join(row, ","); !known[line] {
			t.Fatalf("six weeks lack %q of two weeks", line)
		}
	}
}

func TestWorldsRowsAreWithinBounds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 3000).Draw(rt, "lakes")
		weeks := rapid.IntRange(1, 6).Draw(rt, "weeks")
		until := data.Date(rapid.Int32Range(int32(minUntil), 40_000).Draw(rt, "until"))
		lakes, observations := world(t, n, weeks, until.String())
		for _, row := range rows(t, lakes, worldLakesHeader) {
			lat, lon, area := number(t, row[2]), number(t, row[3]), number(t, row[5])
			if _, err := data.ParseLakeID(row[0]); err != nil || !strings.HasPrefix(row[0], "SIM_") {
				rt.Fatalf("id = %q, want a prefix SIM_ (%v)", row[0], err)
			}
			if lat < southernmost || lat > northernmost || lon < -180 || lon > 180 {
				rt.Fatalf("%s lies at %g, %g", row[0], lat, lon)
			}
			if area < smallestArea || area > largestArea {
				rt.Fatalf("%s has %g km², want %g to %g", row[0], area, smallestArea, float64(largestArea))
			}
			if !strings.HasPrefix(row[1], "Simulated lake ") || !strings.HasSuffix(row[4], " (simulated)") {
				rt.Fatalf("name %q and region %q do not both say that they are simulated", row[1], row[4])
			}
		}
		for _, row := range rows(t, observations, worldObservationsHeader) {
			date := day(t, row[1])
			if age := int(until - date); date != date.Week().Monday() || age < 0 || age >= 7*weeks {
				rt.Fatalf("a pass on %s, want a Monday of the %d weeks up to %s", row[1], weeks, until)
			}
			if row[2] == "" {
				continue
			}
			if chl := number(t, row[2]); chl < minSimulated || chl > maxSimulated {
				rt.Fatalf("%s holds %g µg/l, want %g to %g", row[0], chl, minSimulated, float64(maxSimulated))
			}
		}
	})
}

func TestNewWorldErrors(t *testing.T) {
	for _, test := range []struct {
		name         string
		lakes, weeks int
		until, want  string
	}{
		{"no lake", 0, 4, WorldUntil, "lakes 0: want a number from 1 to 2000000"},
		{"one too many", 2_000_001, 4, WorldUntil, "lakes 2000001"},
		{"no week", 1, 0, WorldUntil, "weeks 0: want a number from 1 to 104"},
		{"a week too many", 1, 105, WorldUntil, "weeks 105"},
		{"before satellites", 1, 1, "1979-12-31", "until 1979-12-31: want a day from 1980-01-01 on"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := NewWorld(test.lakes, test.weeks, day(t, test.until))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("NewWorld = %v, want an error that contains %q", err, test.want)
			}
		})
	}
	if _, err := NewWorld(MaxWorldLakes, MaxWorldWeeks, minUntil); err != nil {
		t.Errorf("NewWorld at its limits = %v", err)
	}
}

func TestDistricts(t *testing.T) {
	codes, names := map[string]bool{}, map[string]bool{}
	for _, d := range slices.Concat(parseDistricts(districtsCSV), parseDistricts(continentsCSV)) {
		if codes[d.code] || names[d.name] {
			t.Errorf("%s, %s is there twice", d.code, d.name)
		}
		codes[d.code], names[d.name] = true, true
		if d.lat < southernmost || d.lat > northernmost || d.lon < -180 || d.lon > 180 {
			t.Errorf("%s lies at %g, %g", d.code, d.lat, d.lon)
		}
		if !(d.long > 0 && d.short > 0 && d.share > 0 && d.median >= 0) || strings.ContainsAny(d.name, "\",\n") {
			t.Errorf("%+v: want positive numbers, and a name that needs no quotes", d)
		}
	}
}

// TestSouthernSeasons: what blooms in August in the north does so in February in the south.
func TestSouthernSeasons(t *testing.T) {
	mean := func(until string, south bool) float64 {
		lakes, observations := world(t, 20_000, 1, until)
		southern := map[string]bool{}
		for _, row := range rows(t, lakes, worldLakesHeader) {
			southern[row[0]] = number(t, row[2]) < -10
		}
		sum, n := 0.0, 0.0
		for _, row := range rows(t, observations, worldObservationsHeader) {
			if row[2] != "" && southern[row[0]] == south {
				sum += math.Log(number(t, row[2]))
				n++
			}
		}
		return sum / n
	}
	for _, south := range []bool{false, true} {
		august, february := mean("2025-08-25", south), mean("2025-02-24", south)
		if (august > february) == south {
			t.Errorf("southern %v: mean of the logarithm in August %.2f, in February %.2f", south, august, february)
		}
	}
}

type failingWriter struct{ after int }

var errFull = errors.New("no space left")

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.after -= len(p); w.after < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestWorldEnds(t *testing.T) {
	defer goleak.VerifyNone(t)
	w, err := NewWorld(50_000, 1, day(t, WorldUntil))
	must(t, err)
	for _, after := range []int{0, 1000, 500_000} {
		if err := w.Write(t.Context(), &failingWriter{after}, io.Discard, nil); !errors.Is(err, errFull) {
			t.Errorf("Write with lakes that fail after %d bytes = %v, want that error", after, err)
		}
		if err := w.Write(t.Context(), io.Discard, &failingWriter{after}, nil); !errors.Is(err, errFull) {
			t.Errorf("Write with observations that fail after %d bytes = %v, want that error", after, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	err = w.Write(ctx, &out, io.Discard, func(int) { cancel() })
	if written := bytes.Count(out.Bytes(), []byte("\n")); !errors.Is(err, context.Canceled) || written > 25_000 {
		t.Errorf("Write cancelled at its first block = %v after %d lines, want it to end soon", err, written)
	}
}

func TestWorldsProgress(t *testing.T) {
	w, err := NewWorld(5000, 1, day(t, WorldUntil))
	must(t, err)
	last := 0
	err = w.Write(t.Context(), io.Discard, io.Discard, func(lakes int) {
		if lakes <= last {
			t.Errorf("progress went from %d to %d", last, lakes)
		}
		last = lakes
	})
	if err != nil || last != 5000 {
		t.Errorf("progress ended at %d with %v, want 5000", last, err)
	}
}
