package snapshot_test

import (
	"encoding/csv"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"limnomap/data"
)

// realRows returns the rows of a file of real data next to the repository, without its header. It skips the test if there is
// no such file.
func realRows(t *testing.T, file string) [][]string {
	t.Helper()
	f, err := os.Open(filepath.Join("../../../shared/data", file))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("SKIPPED: ../shared/data/%s is absent, so nothing real is checked here", file)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[1:]
}

// The limits of ids and names must not reject real ones.
func TestRealSitesAreValid(t *testing.T) {
	for _, row := range realRows(t, "german_bathing_sites.csv") {
		l := data.Lake{ID: data.LakeID(row[0]), Name: row[1], Region: row[4]}
		if err := l.Check(); err != nil {
			t.Error(err)
		}
	}
}

// The limits of values and dates must not reject real ones either, and a printed value must have the same class.
func TestRealValuesAreValid(t *testing.T) {
	largest := data.NoChlorophyll
	for _, row := range realRows(t, "global_lakes_chla.csv") {
		date, err := data.ParseDate(row[1])
		if err != nil {
			t.Fatal(err)
		}
		f, err := strconv.ParseFloat(row[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		c, err := data.ChlorophyllOf(f)
		if err != nil {
			t.Fatalf("%s, %s: %v", row[0], date, err)
		}
		for _, p := range data.Profiles() {
			// Readers compare printed values with printed limits.
			above := 0
			for _, limit := range p.Limits {
				if printed := c.Float(); printed > limit.Float() || printed == limit.Float() && !p.Above {
					above++
				}
			}
			if p.Level(c) != data.Level(above) {
				t.Fatalf("%s µg/l is printed as %s, which is in another class of %s", row[2], c, p.ID)
			}
		}
		largest = max(largest, c)
	}
	if got := int(largest.Float()); got != 1091 {
		t.Errorf("the largest value is %d µg/l, but MaxChlorophyll's comment says 1,091", got)
	}
}
