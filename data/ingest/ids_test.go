package ingest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"limnomap/data"
	"limnomap/data/store/storetest"
)

func TestIDOfName(t *testing.T) {
	for name, want := range map[string]string{
		"Müritz": "muritz", "  Övre  Skärsjön ": "ovre_skarsjon", "Großer Müggelsee": "grosser_muggelsee", "Alderfen broad N.": "alderfen_broad_n",
		"Salen -längst norrut": "salen_langst_norrut", "St. John's": "st_john_s", "Jezioro Łebsko": "jezioro_lebsko", "Sø Nr. 7": "so_nr_7",
		"Þingvallavatn": "thingvallavatn", "LAC D’ŒIL": "lac_d_oeil", "Ⅳ. See": "iv_see", "１２": "12", "İznik": "iznik", "琵琶湖": "", "...": "", "": "", "\xff": "",
	} {
		if got := idOfName(name); got != want {
			t.Errorf("idOfName(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestMadeIDs(t *testing.T) {
	const lakes = "id,name,lat,lon\n1,Müritz,53.4,12.7\n2,Kleiner  See,53,12\n"
	s := storetest.New(t)
	opts := &Options{MakeIDs: true}
	r := mustImport(t, Lakes, s, opts, lakes)
	if r.Added != 2 || !slices.Equal(r.Ignored, []string{"id"}) {
		t.Errorf("report = %+v, want two lakes added and the file's id ignored", r)
	}
	byName := &Options{MakeIDs: true, Map: Mapping{"lake_id": "lake"}}
	r = mustImport(t, Observations, s, byName, "lake,date,chl,data_type\nMu\u0308ritz,2024-01-01,1,satellite\nKleiner See,2024-01-01,1,satellite\n")
	if r.Added != 2 {
		t.Errorf("report = %+v, want both observations added", r)
	}
	got, observations := stored(t, s)
	if len(got) != 2 || got[0].ID != "kleiner_see" || got[1].ID != "muritz" || got[1].ExternalID != "muritz" || got[1].Name != "Müritz" || len(observations) != 2 {
		t.Errorf("stored %+v, %+v", got, observations)
	}
	if r := mustImport(t, Lakes, s, opts, lakes); r.Unchanged != 2 {
		t.Errorf("the same again: %+v", r)
	}
}

// Two names with the same id are two lakes, or one misspelt lake: no one can know, so the second one is rejected.
func TestMadeIDsCollide(t *testing.T) {
	opts := &Options{MakeIDs: true, SkipBad: true}
	s := storetest.New(t)
	r := mustImport(t, Lakes, s, opts, "name,lat,lon\nGroßer See,53,12\nGrosser See,54,12\n琵琶湖,35,136\n,1,1\n"+strings.Repeat("long", 17)+",1,1\n")
	var reasons []string
	for _, bad := range r.Bad {
		reasons = append(reasons, bad.Reason)
	}
	for i, want := range []string{`"Grosser See" gives the id grosser_see, which "Großer See" already has`, `cannot make an id from the name "琵琶湖"`, "name is missing", "cannot make an id from the name"} {
		if len(reasons) != 4 || !strings.Contains(reasons[i], want) {
			t.Fatalf("reasons %q, want %q in number %d of 4", reasons, want, i+1)
		}
	}
	if lakes, _ := stored(t, s); len(lakes) != 1 || lakes[0].Name != "Großer See" {
		t.Errorf("stored %+v", lakes)
	}
	// The same holds for the names in the database.
	for _, test := range []struct {
		f    importFunc
		text string
	}{
		{Lakes, "name,lat,lon\nGrosser See,54,12\n"},
		{Observations, "lake_id,date,chl,data_type\nGROSSER SEE,2024-01-01,1,satellite\n"},
	} {
		if r := mustImport(t, test.f, s, opts, test.text); r.Rejected != 1 || !strings.Contains(r.Bad[0].Reason, `which "Großer See" already has`) {
			t.Errorf("%q: %+v, want it rejected", test.text, r)
		}
	}
}

func TestMadeIDsAreBounded(t *testing.T) {
	m := &idMaker{names: make(map[data.LakeID]string, maxMadeIDs)}
	var id [8]byte
	for i := range maxMadeIDs {
		for k := range id {
			id[k] = byte('a' + i>>(4*k)&15)
		}
		m.names[data.LakeID(id[:])] = ""
	}
	if _, err := m.id("one more"); !errors.Is(err, errManyNames) {
		t.Errorf("one name more than there may be: %v, want %v", err, errManyNames)
	}
}
