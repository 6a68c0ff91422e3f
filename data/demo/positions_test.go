package demo

import (
	"encoding/csv"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"

	"limnomap/data"
)

// A site is an official bathing site: a beach, so a point of some lake's shore.
type site struct {
	state string // two small letters
	text  string // its name and its water's, folded as ascii does, words between spaces
	point orb.Point
}

// TestPositionsAgainstBathingSites holds the list, which was written from memory, against the official bathing sites:
// where one in the same state names the lake, the lake's point must be near enough to be the same water.
func TestPositionsAgainstBathingSites(t *testing.T) {
	sites := readSites(t)
	checked := 0
	for _, l := range parseLakes(lakesCSV) {
		nearest := math.Inf(1)
		for _, s := range sitesOf(t, l, sites) {
			nearest = min(nearest, geo.Distance(l.Point, s.point)/1000)
		}
		if math.IsInf(nearest, 1) {
			continue
		}
		checked++
		// From a round lake's middle to its shore is 0.56 times the root of its area. Long ones, reservoirs above
		// all, have their beach up to three times as far, and the file's points are next to the water, not in it.
		if bound := 1.2 + 1.5*math.Sqrt(l.AreaKM2); nearest > bound {
			t.Errorf("%s lies %.1f km from the nearest bathing site of its name, want at most %.1f", l.ID, nearest, bound)
		}
	}
	if checked < 200 {
		t.Errorf("only %d lakes could be checked, want at least 200: does the file still name waters?", checked)
	}
	t.Logf("%d lakes of the list have the name of a bathing site in their state", checked)
}

// TestShoresAgainstBathingSites checks that the shores, which are from another source than the list, are those of the lakes: a bathing
// site that names the lake must be near the shore.
func TestShoresAgainstBathingSites(t *testing.T) {
	const most = 600 // m; the error of GSHHG's lakes is several hundred
	sites := readSites(t)
	lakes := map[data.LakeID]listedLake{}
	for _, l := range parseLakes(lakesCSV) {
		lakes[l.ID] = l
	}
	var distances []float64 // m, of the nearest site of each lake
	for _, s := range parseShores(shoresJSON) {
		nearest := math.Inf(1)
		for _, site := range sitesOf(t, lakes[s.ID], sites) {
			nearest = min(nearest, fromShore(site.point, s.Geometry.Coordinates[0]))
		}
		if math.IsInf(nearest, 1) {
			continue
		}
		distances = append(distances, nearest)
		if nearest > most {
			t.Errorf("the shore of %s is %.0f m from the nearest bathing site of its name, want at most %d", s.ID, nearest, most)
		}
	}
	if len(distances) < 50 {
		t.Fatalf("only %d shores could be checked, want at least 50: does the file still name waters?", len(distances))
	}
	slices.Sort(distances)
	t.Logf("%d shores are at most %.0f m from the nearest bathing site of their name, in the median %.0f m",
		len(distances), distances[len(distances)-1], distances[len(distances)/2])
}

// sitesOf returns the sites in the state of l that name it.
func sitesOf(t *testing.T, l listedLake, sites []site) []site {
	t.Helper()
	code := stateByName(t, l.Region).code
	name := " " + searchName(l.Name) + " "
	var found []site
	for _, s := range sites {
		if s.state == code && strings.Contains(s.text, name) {
			found = append(found, s)
		}
	}
	return found
}

// searchName is the part of a lake's name that the file of sites is expected to have too.
func searchName(name string) string {
	if i := strings.IndexByte(name, '('); i > 0 {
		name = name[:i]
	}
	return regexp.MustCompile(`^(grosser|kleiner) `).ReplaceAllString(ascii(name), "")
}

func readSites(t *testing.T) []site {
	t.Helper()
	// data/demo -> data -> the project's root -> its parent folder.
	path := filepath.Join("..", "..", "..", "shared", "data", "german_bathing_sites.csv")
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("SKIPPED: %s is absent, so no position of the demo's lakes was checked", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	const header = "id,name,lat,lon,state,water_name,place"
	if got := strings.Join(rows[0], ","); !strings.HasPrefix(got, header) {
		t.Fatalf("header of %s = %s, want %s", path, got, header)
	}
	var sites []site
	for _, row := range rows[1:] {
		lat, err1 := strconv.ParseFloat(row[2], 64)
		lon, err2 := strconv.ParseFloat(row[3], 64)
		if err1 != nil || err2 != nil {
			continue // six sites have no place
		}
		sites = append(sites, site{
			state: strings.ToLower(row[4]),
			text:  " " + ascii(row[1]) + " | " + ascii(row[5]) + " ",
			point: orb.Point{lon, lat},
		})
	}
	return sites
}
