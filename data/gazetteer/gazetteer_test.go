package gazetteer

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/paulmach/orb"
)

var update = flag.Bool("update", false, "write testdata/places.json, which web/test reads too")

// table is read by TestEncode.
const places = "\ufeff" + `name,lat,lon,population,country,region,postcode,other_names,note
Ottawa,45.4215,-75.6972,1017449,CA,Ontario,K1A 0A2; K2P,,
London,51.5072,-0.1276,8799800,GB,,SW1A 1AA,Londres|Londra,the capital
Ottawa,45.35,-75.75,,CA,Ontario,K2C,Odawa,a second row of the same place
London,42.9837,-81.2497,422324,CA,Ontario,N6A,,another London
"Saint-Louis, Haut",-21.286,55.411,,FR,,,,
Suva,-18.1416,178.4419,93970,FJ,,,,
Ōtautahi,-43.532,172.6366,389300,NZ,Canterbury,8011,Christchurch,
`

func TestRead(t *testing.T) {
	got, err := Read(strings.NewReader(places))
	if err != nil {
		t.Fatal(err)
	}
	ottawa, second := orb.Point{-75.6972, 45.4215}, orb.Point{-75.75, 45.35}
	if want := (Place{
		Names: []string{"Ottawa", "Odawa"}, Region: "Ontario", Point: ottawa, Population: 1017449,
		Codes: []Code{{"K1A0A2", ottawa}, {"K2P", ottawa}, {"K2C", second}},
	}); !reflect.DeepEqual(got[0], want) {
		t.Errorf("the first place is %+v, want %+v", got[0], want)
	}
	if len(got) != 6 || got[1].Region != "GB" || !slices.Equal(got[1].Names, []string{"London", "Londres", "Londra"}) || got[2].Region != "Ontario" || got[3].Names[0] != "Saint-Louis, Haut" {
		t.Errorf("Read returns %+v", got)
	}
}

func TestReadRejects(t *testing.T) {
	for _, test := range []struct{ name, table, want string }{
		{"nothing", "", "header"},
		{"no latitude", "name,lon\n", "header: no column lat"},
		{"no places", "name,lat,lon\n", "no places"},
		{"empty name", "name,lat,lon\nA,1,2\n ,1,2\n", "row 3: column name: empty"},
		{"name with |", "name,lat,lon\nA|B,1,2\n", "row 2: column name: a | or a control character"},
		{"directional name", "name,lat,lon\nA\u202e,1,2\n", "row 2: column name: U+202E"},
		{"long name", "name,lat,lon\n" + strings.Repeat("ä", 201) + ",1,2\n", "row 2: column name: more than 200 characters"},
		{"bad name", "name,lat,lon\n\xff,1,2\n", "row 2: column name: not UTF-8"},
		{"latitude", "name,lat,lon\nA,91,2\n", `row 2: column lat: "91" is no number from -90 to 90`},
		{"decimal comma", "name,lat,lon\nA,\"1,5\",2\n", "row 2: column lat"},
		{"no longitude", "name,lat,lon\nA,1,\n", "row 2: column lon"},
		{"NaN", "name,lat,lon\nA,NaN,2\n", "row 2: column lat"},
		{"population", "name,lat,lon,population\nA,1,2,many\n", `row 2: column population: "many"`},
		{"negative population", "name,lat,lon,population\nA,1,2,-1\n", "row 2: column population"},
		{"postcode", "name,lat,lon,postcode\nA,1,2,12/34\n", "row 2: column postcode"},
		{"long postcode", "name,lat,lon,postcode\nA,1,2,1234567890123\n", "row 2: column postcode"},
		{"other names", "name,lat,lon,other_names\nA,1,2," + strings.Repeat("x;", 2) + strings.Join(strings.Split("abcdefghijklmnopqrst", ""), ";") + "\n", "row 2: column other_names"},
		{"short row", "name,lat,lon\nA,1\n", "row 2: "},
		{"quote", "name,lat,lon\n\"A,1,2\n", "row 2: "},
	} {
		if _, err := Read(strings.NewReader(test.table)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: Read returns the error %v, want %q in it", test.name, err, test.want)
		}
	}
}

// The page reads the same file in web/test/places.test.mjs.
func TestEncode(t *testing.T) {
	read, err := Read(strings.NewReader(places))
	if err != nil {
		t.Fatal(err)
	}
	text, err := Encode(read, "Our own list")
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "places.json")
	if *update {
		if err := os.WriteFile(golden, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(golden); err != nil || !bytes.Equal(text, want) {
		t.Errorf("the gazetteer is %s (%v), want %s: go test ./data/gazetteer -update writes it", text, err, want)
	}
	decoded, credit, err := Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if credit != "Our own list" || len(decoded) != len(read) {
		t.Fatalf("Decode returns %d places of %q, want %d", len(decoded), credit, len(read))
	}
	for _, p := range decoded {
		i := slices.IndexFunc(read, func(r Place) bool { return r.Region == p.Region && slices.Equal(r.Names, p.Names) })
		if i < 0 || kmBetween(read[i].Point, p.Point) > 1 || len(read[i].Codes) != len(p.Codes) {
			t.Fatalf("%+v is none of the places", p)
		}
		for _, c := range p.Codes {
			if !slices.ContainsFunc(read[i].Codes, func(r Code) bool { return r.Code == c.Code && kmBetween(r.Point, c.Point) < 1 }) {
				t.Errorf("%s has the postcode %+v", p.Names[0], c)
			}
		}
	}
}

func TestDecodeRejects(t *testing.T) {
	good, err := os.ReadFile(filepath.Join("testdata", "places.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, old, replacement string }{
		{"no JSON", "{", "["},
		{"a name too many", `"names":"`, `"names":"x\n`},
		{"an empty name", `"names":"`, `"names":"|`},
		{"a region too few", `,"Ontario"`, ""},
		{"a bad digit", `"lat":"`, `"lat":"!`},
		{"a number without an end", `","lon"`, `g","lon"`},
		{"a long number", `"lat":"`, `"lat":"gggggggggggggg`},
		{"a bad size", `"size":"`, `"size":"-`},
		{"a position too few", `"codeLat":"A`, `"codeLat":"`},
		{"a position too many", `"codeLat":"`, `"codeLat":"A`},
		{"a postcode without one before", `"codes":"=8011`, `"codes":"8011`},
		{"a sign in a postcode", `=K1A`, `=K-A`},
	} {
		bad := strings.Replace(string(good), test.old, test.replacement, 1)
		if bad == string(good) {
			t.Fatalf("%s: %q is not in the file", test.name, test.old)
		}
		if _, _, err := Decode([]byte(bad)); err == nil {
			t.Errorf("%s: Decode accepts %s", test.name, bad)
		}
	}
}

// What is read can be written, and read again.
func FuzzRead(f *testing.F) {
	f.Add(places)
	f.Add("name,lat,lon,postcode,other_names\nA,90,180,1;2;12,b|c\nA,90,-180,01,\n")
	f.Add("lon,lat,name\n-0.004,1e-300,\"a\nb\"\n")
	f.Add("lon,lat,name,region\n-0.004,1e-300,b,\xff\n")
	f.Fuzz(func(t *testing.T, table string) {
		read, err := Read(strings.NewReader(table))
		if err != nil {
			return
		}
		text, err := Encode(read, "")
		if err != nil {
			t.Fatalf("%q is read, and cannot be written: %v", table, err)
		}
		if again, _, err := Decode(text); err != nil || len(again) != len(read) {
			t.Fatalf("%q has %d places, and %d after writing: %v", table, len(read), len(again), err)
		}
	})
}

func FuzzDecode(f *testing.F) {
	good, err := os.ReadFile(filepath.Join("testdata", "places.json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Fuzz(func(t *testing.T, text []byte) {
		decoded, credit, err := Decode(text)
		if err != nil {
			return
		}
		if _, err := Encode(decoded, credit); err != nil {
			t.Fatalf("%q is read, and cannot be written: %v", text, err)
		}
	})
}
