package index

import (
	"fmt"
	"testing"

	"github.com/paulmach/orb"

	"limnomap/data"
)

func TestFindByRegion(t *testing.T) {
	lakes := lakesNamed("Wannsee", "Bayernsee", "Alpsee", "Tegernsee", "Müritz", "Feldsee", "Titisee", "Nirgendsee")
	for i, region := range []string{"Berlin", "Berlin", "Bayern", "BAYERN", "Mecklenburg-Vorpommern", "Baden-Württemberg", "Baden-Württemberg", "—"} {
		lakes[i].Region = region
	}
	for _, test := range []struct{ q, want string }{
		{"berlin", "Bayernsee|Wannsee"},
		{"bayern", "Bayernsee|Alpsee|Tegernsee"}, // the name first; both spellings are one region
		{"vorpommern", "Müritz"},
		{"wuerttemberg", "Feldsee|Titisee"},
		{"Wurttemberg", "Feldsee|Titisee"},
		{"b", "Bayernsee|Feldsee|Titisee|Alpsee|Tegernsee|Wannsee|Müritz"}, // by where it stands, then region, then name
		{"—", ""},
	} {
		if got := found(lakes, test.q, 10); got != test.want {
			t.Errorf("Find(%q) = %q, want %q", test.q, got, test.want)
		}
	}
	if got, want := found(lakes, "b", 4), "Bayernsee|Feldsee|Titisee|Alpsee"; got != want {
		t.Errorf("Find with limit 4 = %q, want %q", got, want)
	}
}

// A region may have more lakes than are asked for, and all of them may have been found by their names before.
func TestFindByRegionAfterManyNames(t *testing.T) {
	var names []string
	for i := range 6 {
		names = append(names, fmt.Sprintf("Berliner See %d", i))
	}
	lakes := lakesNamed(append(names, "Wannsee", "Alpsee")...)
	for i := range lakes[:7] {
		lakes[i].Region = "Berlin"
	}
	lakes[7].Region = "Oberlinde" // inside a word, and so behind Berlin
	for limit, want := range map[int]string{6: "", 7: "|Wannsee", 8: "|Wannsee|Alpsee", 9: "|Wannsee|Alpsee"} {
		all := found(lakes[:6], "berlin", 6) + want
		if got := found(lakes, "berlin", limit); got != all {
			t.Errorf("Find with limit %d = %q, want %q", limit, got, all)
		}
	}
}

// The text of a region is held once, and a lake that lies in it costs four bytes.
func TestRegionsAreSmall(t *testing.T) {
	lakes := make([]data.Lake, 100_000)
	for i := range lakes {
		id := data.LakeID(fmt.Sprintf("x%06d", i))
		lakes[i] = data.Lake{ID: id, ExternalID: string(id), Name: "See", Region: fmt.Sprintf("A region with a long name %d", i%16), Point: orb.Point{1, 1}}
	}
	r := NewNameIndex(lakes).regions
	if texts := cap(r.text) + 8*cap(r.ends) + 4*cap(r.first); texts > 2_000 || 4*cap(r.lakes) != 4*len(lakes) {
		t.Errorf("16 regions of %d lakes take %d bytes, and %d for the lakes", len(lakes), texts, 4*cap(r.lakes))
	}
}
