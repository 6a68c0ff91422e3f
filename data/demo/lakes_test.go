package demo

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
)

// A state is what the tests know of a federal state: its code in the ids, its name in the list, and a rough bound with
// some kilometres to spare.
type state struct {
	code, name               string
	west, south, east, north float64
}

func states() []state {
	return []state{
		{"bb", "Brandenburg", 11.2, 51.3, 14.8, 53.6},
		{"be", "Berlin", 13.0, 52.3, 13.8, 52.7},
		{"bw", "Baden-Württemberg", 7.5, 47.5, 10.5, 49.8},
		{"by", "Bayern", 8.9, 47.2, 13.9, 50.6},
		{"hb", "Bremen", 8.4, 53.0, 9.0, 53.7},
		{"he", "Hessen", 7.7, 49.3, 10.3, 51.7},
		{"hh", "Hamburg", 9.7, 53.3, 10.4, 53.8},
		{"mv", "Mecklenburg-Vorpommern", 10.5, 53.1, 14.5, 54.7},
		{"ni", "Niedersachsen", 6.6, 51.2, 11.6, 53.9},
		{"nw", "Nordrhein-Westfalen", 5.8, 50.3, 9.5, 52.6},
		{"rp", "Rheinland-Pfalz", 6.1, 48.9, 8.6, 51.0},
		{"sh", "Schleswig-Holstein", 8.3, 53.3, 11.2, 55.1},
		{"sl", "Saarland", 6.3, 49.1, 7.5, 49.7},
		{"sn", "Sachsen", 11.8, 50.1, 15.1, 51.7},
		{"st", "Sachsen-Anhalt", 10.5, 50.9, 13.3, 53.1},
		{"th", "Thüringen", 9.8, 50.2, 12.7, 51.7},
	}
}

func stateByName(t *testing.T, name string) state {
	t.Helper()
	all := states()
	i := slices.IndexFunc(all, func(s state) bool { return s.name == name })
	if i < 0 {
		t.Fatalf("region %q is no federal state", name)
	}
	return all[i]
}

func TestListIsLongAndOrdered(t *testing.T) {
	lakes := parseLakes(lakesCSV)
	if len(lakes) < 320 {
		t.Errorf("%d lakes, want at least 320", len(lakes))
	}
	for i := 1; i < len(lakes); i++ {
		if a, b := lakes[i-1].ID, lakes[i].ID; a >= b {
			t.Errorf("%s is before %s: want ascending ids without repetition", a, b)
		}
	}
}

func TestEveryStateHasLakes(t *testing.T) {
	count := map[string]int{}
	for _, l := range parseLakes(lakesCSV) {
		count[l.Region]++
	}
	for _, s := range states() {
		if count[s.name] < 3 {
			t.Errorf("%s has %d lakes, want at least 3", s.name, count[s.name])
		}
	}
	if len(count) != len(states()) {
		t.Errorf("%d regions, want %d: %v", len(count), len(states()), count)
	}
}

func TestIDsFollowFromRegionAndName(t *testing.T) {
	pattern := regexp.MustCompile(`^[a-z0-9_]{1,64}$`)
	for _, l := range parseLakes(lakesCSV) {
		want := "de_" + stateByName(t, l.Region).code + "_" + strings.ReplaceAll(ascii(l.Name), " ", "_")
		if string(l.ID) != want || !pattern.MatchString(want) {
			t.Errorf("%s in %s has the id %q, want %q", l.Name, l.Region, l.ID, want)
		}
		if l.ExternalID != string(l.ID) {
			t.Errorf("%s has the external id %q, want its id", l.ID, l.ExternalID)
		}
	}
}

func TestNamesArePrintable(t *testing.T) {
	name := regexp.MustCompile(`^[\p{Lu}][\p{L} .()-]*$`)
	for _, l := range parseLakes(lakesCSV) {
		if !utf8.ValidString(l.Name) || !name.MatchString(l.Name) {
			t.Errorf("%s has the name %q, want letters, spaces, dots, hyphens and brackets", l.ID, l.Name)
		}
	}
}

func TestPointsAndSizes(t *testing.T) {
	germany := orb.Bound{Min: orb.Point{5.8, 47.2}, Max: orb.Point{15.1, 55.1}}
	for _, l := range parseLakes(lakesCSV) {
		if !germany.Contains(l.Point) {
			t.Errorf("%s lies at %v, outside Germany's %v", l.ID, l.Point, germany)
		}
		s := stateByName(t, l.Region)
		if b := (orb.Bound{Min: orb.Point{s.west, s.south}, Max: orb.Point{s.east, s.north}}); !b.Contains(l.Point) {
			t.Errorf("%s lies at %v, outside the %v of %s", l.ID, l.Point, b, s.name)
		}
		if l.AreaKM2 < 0.02 || l.AreaKM2 > 600 {
			t.Errorf("%s has %g km², want 0.02 to 600", l.ID, l.AreaKM2)
		}
		if l.mean < 0 || l.mean > 100 || math.IsNaN(l.mean) {
			t.Errorf("%s has a mean of %g µg/l, want 0 to 100", l.ID, l.mean)
		}
	}
}

func TestLakesKeepApart(t *testing.T) {
	const least = 300 // m
	lakes := parseLakes(lakesCSV)
	for i, a := range lakes {
		for _, b := range lakes[i+1:] {
			if d := geo.Distance(a.Point, b.Point); d < least {
				t.Errorf("%s and %s lie %.0f m apart, want at least %d", a.ID, b.ID, d, least)
			}
		}
	}
}

func TestParseLakesPanics(t *testing.T) {
	for _, text := range []string{
		"",
		"id,name\n",
		lakesHeader + "\nde_by_a,A,48,11,Bayern\n",
		lakesHeader + "\nde_by_a,A,north,11,Bayern,1,\n",
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("parseLakes(%q) did not panic", text)
				}
			}()
			parseLakes(text)
		}()
	}
}

// ascii writes s in small letters and digits as German does without its own letters, words parted by one space.
func ascii(s string) string {
	s = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss").Replace(strings.ToLower(s))
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), " ")
}
