// Package forecasttest reads the real lakes that tests of forecasts use.
package forecasttest

import (
	"encoding/csv"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"limnomap/data/forecast"
)

// Open opens a file of the documents next to the repository, or skips the test.
func Open(t testing.TB, path string) *os.File {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			break
		}
		if folder == filepath.Dir(folder) {
			t.Fatal("the test does not run in the repository")
		}
		folder = filepath.Dir(folder)
	}
	f, err := os.Open(filepath.Join(folder, "..", "shared", filepath.FromSlash(path)))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("SKIPPED: ../shared/%s is absent, so nothing real is checked here", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// Rows returns the rows of a CSV file without its header.
func Rows(t testing.TB, r io.Reader) [][]string {
	t.Helper()
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[1:]
}

// Day returns the number of a day that is written as 2024-08-12.
func Day(t testing.TB, date string) int {
	t.Helper()
	d, err := time.Parse(time.DateOnly, date)
	if err != nil {
		t.Fatal(err)
	}
	return int(d.Unix() / 86400)
}

func parse(t testing.TB, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A Lake is a lake of the global series.
type Lake struct {
	ID, Name string
	Latitude float64 // 50 if it is not known
	Values   []forecast.Value
}

// Even reports whether the reference has the lake.
func (l *Lake) Even() bool { return crc32.ChecksumIEEE([]byte(l.Name))%2 == 0 }

// Lakes returns the lakes of the global series that have a name, in order of id.
func Lakes(t testing.TB) []*Lake {
	t.Helper()
	latitude := map[string]float64{}
	for _, row := range Rows(t, Open(t, "data/global_lakes_coordinates.csv")) {
		latitude[row[0]] = parse(t, row[1])
	}
	lakes := map[string]*Lake{}
	for _, row := range Rows(t, Open(t, "data/global_lakes_chla.csv")) {
		if row[0] == "" {
			continue
		}
		l := lakes[row[0]]
		if l == nil {
			l = &Lake{ID: slug(row[0]), Name: row[0], Latitude: 50}
			if lat, ok := latitude[row[0]]; ok {
				l.Latitude = lat
			}
			lakes[row[0]] = l
		}
		// The reference has values of two decimals.
		chl := parse(t, strconv.FormatFloat(parse(t, row[2]), 'f', 2, 64))
		l.Values = append(l.Values, forecast.Value{Day: Day(t, row[1]), Chl: chl})
	}
	var list []*Lake
	for _, l := range lakes {
		slices.SortStableFunc(l.Values, func(a, b forecast.Value) int { return a.Day - b.Day })
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b *Lake) int { return strings.Compare(a.ID, b.ID) })
	return list
}

var unaccented = strings.NewReplacer("ä", "a", "å", "a", "ö", "o", "é", "e", "ü", "u")

// slug returns the id that the reference gives to a name.
func slug(name string) string {
	name = unaccented.Replace(strings.ToLower(name))
	return strings.Join(strings.FieldsFunc(name, func(r rune) bool { return !('a' <= r && r <= 'z' || '0' <= r && r <= '9') }), "_")
}
