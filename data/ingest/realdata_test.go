package ingest

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"limnomap/data"
	"limnomap/data/store/storetest"
)

// sharedFile returns a file of real data next to the repository.
func sharedFile(t *testing.T, name string) File {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "data", name)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("NOT TESTED against real data: there is no %s", path)
	}
	return File{Name: name, Open: func() (io.ReadCloser, error) { return os.Open(path) }}
}

// The original file with its own columns; its class of bacteria is ignored.
func TestGermanBathingSites(t *testing.T) {
	s := storetest.New(t)
	sites := sharedFile(t, "german_bathing_sites.csv")
	strict, err := Lakes(t.Context(), s, []File{sites}, nil)
	if err != nil || strict.Written || strict.Read != 2016 || strict.Rejected != 6 {
		t.Fatalf("strict: %+v, %v, want 6 of 2016 rows rejected and nothing written", strict, err)
	}
	r, err := Lakes(t.Context(), s, []File{sites}, &Options{SkipBad: true})
	if err != nil || r.Added != 2010 || r.Rejected != 6 || !slices.Equal(r.Bad, strict.Bad) {
		t.Fatalf("skipping: %+v, %v, want 2010 rows added and the same 6 rejected", r, err)
	}
	for _, bad := range r.Bad {
		if !strings.HasPrefix(bad.Reason, "lat is missing") || !strings.HasPrefix(bad.ID, "DE") {
			t.Errorf("bad row %+v, want a missing latitude, of a site that is named", bad)
		}
	}
	lakes, observations := stored(t, s)
	if len(lakes) != 2010 || len(observations) != 0 {
		t.Fatalf("stored %d lakes and %d observations, want 2010 and none", len(lakes), len(observations))
	}
	l := lakes[slices.IndexFunc(lakes, func(l data.Lake) bool { return l.ID == "DEBB_PR_0003" })]
	if l.Name != "Schönwalde, Badewiese am Camping..., Gorinsee" || l.Region != "BB" || l.ExternalID != "DEBB_PR_0003" ||
		l.Point.Lat() != 52.68635153 || l.Point.Lon() != 13.47415978 || l.AreaKM2 != 0 {
		t.Errorf("stored %+v", l)
	}
}

// Lakes that have only names, with the positions in one file and the measurements in another.
func TestGlobalLakes(t *testing.T) {
	s := storetest.New(t)
	r, err := Lakes(t.Context(), s, []File{sharedFile(t, "global_lakes_coordinates.csv")},
		&Options{MakeIDs: true, Map: Mapping{"name": "lake", "lat": "lake_lat", "lon": "lake_long"}})
	if err != nil || r.Added != 343 || r.Read != 343 {
		t.Fatalf("lakes: %+v, %v, want 343 added", r, err)
	}
	opts := &Options{MakeIDs: true, SkipBad: true, Map: Mapping{"lake_id": "lake"}, Set: Mapping{"data_type": "satellite"}}
	r, err = Observations(t.Context(), s, []File{sharedFile(t, "global_lakes_chla.csv")}, opts)
	if err != nil || r.Read != 52_114 || r.Added != 50_972 || r.Rejected != 1_142 || !slices.Equal(r.Ignored, []string{"n"}) {
		t.Fatalf("observations: %+v, %v, want 50,972 of 52,114 added and n ignored", r, err)
	}
	// Bad data: rows without a lake, and lakes without a position.
	want := []Reason{{"lake_id is missing: want the lake's name", 127}, {"the database does not hold this lake: import the lakes first", 1_015}}
	if !slices.Equal(r.Reasons, want) {
		t.Errorf("reasons %+v, want %+v", r.Reasons, want)
	}
	if len(r.Unknown) != 14 || r.Unknown[0] != "backcountry_lake" || !slices.Contains(r.Unknown, "fullerofjarden_s") {
		t.Errorf("unknown lakes %v, want 14", r.Unknown)
	}
	lakes, observations := stored(t, s)
	largest := slices.MaxFunc(observations, func(a, b data.Observation) int { return int(a.Chlorophyll - b.Chlorophyll) })
	zeros := 0
	for _, o := range observations {
		if o.Chlorophyll == 0 {
			zeros++
		}
	}
	if len(lakes) != 343 || len(observations) != 50_972 || largest.Chlorophyll != 1_091_30 || zeros == 0 {
		t.Errorf("stored %d lakes, %d observations, the largest %v, %d zeros", len(lakes), len(observations), largest.Chlorophyll, zeros)
	}
	i := slices.IndexFunc(lakes, func(l data.Lake) bool { return l.ID == "ovre_skarsjon" })
	if i < 0 || lakes[i].Name != "Övre Skärsjön" {
		t.Error("there is no Övre Skärsjön with the id ovre_skarsjon")
	}
}

// A list merged from several, with many sites twice, some of them at two places.
func TestEuropeanBathingSites(t *testing.T) {
	r, err := Lakes(t.Context(), storetest.New(t), []File{sharedFile(t, "european_bathing_sites.csv")}, &Options{SkipBad: true})
	if err != nil || r.Read != 5493 || r.Read != r.Added+r.Unchanged+r.Rejected || r.Added < 2800 {
		t.Fatalf("report = %+v, %v, want 5493 rows, at least 2800 of them added", r, err)
	}
	for _, bad := range r.Bad {
		if !strings.Contains(bad.Reason, "with other values") {
			t.Errorf("bad row %+v, want nothing but contradictions", bad)
		}
	}
}
