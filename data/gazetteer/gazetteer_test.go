package gazetteer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// web/mkplaces.mjs makes the file from the table of its test, and the page reads it in another one.
func TestCheck(t *testing.T) {
	good, err := os.ReadFile(filepath.Join("testdata", "places.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(good); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, old, replacement string }{
		{"no JSON", "{", "["},
		{"a name too many", `"names":"`, `"names":"x\n`},
		{"an empty name", `"names":"`, `"names":"|`},
		{"a name that changes the order of others", `"names":"`, "\"names\":\"x\u202e|"},
		{"a latitude beyond the pole", `"lat":"`, `"lat":"gggB`},
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
		if Check([]byte(bad)) == nil {
			t.Errorf("%s: Check accepts %s", test.name, bad)
		}
	}
}

func FuzzCheck(f *testing.F) {
	good, err := os.ReadFile(filepath.Join("testdata", "places.json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Fuzz(func(_ *testing.T, text []byte) { _ = Check(text) })
}
