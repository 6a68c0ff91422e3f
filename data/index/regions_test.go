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
		{"b", "Bayernsee|Alpsee|Feldsee|Tegernsee|Titisee|Wannsee|Müritz"}, // by where it stands, then name
		{"bavaria", "Alpsee|Tegernsee"},
		{"by", "Alpsee|Tegernsee"},
		{"bayrn", "Alpsee|Bayernsee|Tegernsee"}, // one of the regions is misspelt
		{"wannsee berlin", "Wannsee"},
		{"berlin wannsee", "Wannsee"},
		{"berlin alpsee", ""},
		{"western pomerania", "Müritz"},
		{"—", ""},
	} {
		if got := found(lakes, test.q, 10); got != test.want {
			t.Errorf("Find(%q) = %q, want %q", test.q, got, test.want)
		}
	}
	if got, want := found(lakes, "b", 4), "Bayernsee|Alpsee|Feldsee|Tegernsee"; got != want {
		t.Errorf("Find with limit 4 = %q, want %q", got, want)
	}
}

// States have German and English names and codes, which a lake gets from its region or from its id.
func TestFindByState(t *testing.T) {
	lakes := []data.Lake{
		{ID: "DEBY_PR_0001", Name: "Alpsee"},
		{ID: "DENW_PR_0002", Name: "Baldeneysee", Region: "NW"},
		{ID: "de_sn_x", Name: "Cospudener See"},
		{ID: "x4", Name: "Dankernsee", Region: "Lower Saxony"},
		{ID: "x5", Name: "Edersee", Region: "Hessen"},
		{ID: "x6", Name: "Fallersee", Region: "THUERINGEN"},
		{ID: "DEBE_PR_0007", Name: "Groß Glienicke", Region: "Spandau"},
		{ID: "DESNX_1", Name: "Hohensee"},
		{ID: "DE", Name: "Insee"},
		{ID: "x10", Name: "Überlingen"},
		{ID: "x11", Name: "Kriebstein", Region: "Sachsen"},
		{ID: "x12", Name: "Arendsee", Region: "Sachsen-Anhalt"},
	}
	for _, test := range []struct{ q, want string }{
		{"Bayern", "Alpsee"}, {"bavaria", "Alpsee"}, {"BY", "Alpsee"}, {"DEBY", "Alpsee"},
		{"NRW", "Baldeneysee"}, {"north rhine westphalia", "Baldeneysee"}, {"Nordrhein-Westfalen", "Baldeneysee"},
		{"Sachsen", "Cospudener See|Kriebstein|Arendsee|Dankernsee"}, // that state, those whose names begin with it, those that contain it
		{"Saxony", "Cospudener See|Kriebstein|Arendsee|Dankernsee"},
		{"Niedersachsen", "Dankernsee"},
		{"hesse", "Edersee"}, {"thüringen", "Fallersee"}, {"thuringia", "Fallersee"},
		{"berlin", "Groß Glienicke|Überlingen"}, {"spandau", "Groß Glienicke"}, {"glienicke berlin", "Groß Glienicke"},
	} {
		if got := found(lakes, test.q, 10); got != test.want {
			t.Errorf("Find(%q) = %q, want %q", test.q, got, test.want)
		}
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
	if texts := cap(r.text) + 8*cap(r.ends); texts > 2_000 || 4*cap(r.of) != 4*len(lakes) {
		t.Errorf("16 regions of %d lakes take %d bytes, and %d for the lakes", len(lakes), texts, 4*cap(r.of))
	}
}
