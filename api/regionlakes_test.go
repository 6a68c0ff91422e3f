package api

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"limnomap/data"
)

// What goes through many lakes is made once for a snapshot, ends with its request, and then is not kept. A closure makes regions new, and leaves plans and years.
func TestScansOfManyLakes(t *testing.T) {
	f := testSource(t)
	for i := range f.lakes {
		f.lakes[i].Region = "Bayern"
	}
	s := newServer(t, testOptions(t), f)
	p := s.common.current.Load()
	kept := func() []int { return []int{p.regions.Len(), p.plans.Len(), p.years.Len()} }
	targets := []string{"/regions/bayern.json", pathSamplingPlan + "?samples=1", "/api/v1/bathing-lakes/statistics.csv", "/api/v1/bathing-lakes/statistics.csv?by=region&region=Bayern"}
	gone, leave := context.WithCancel(t.Context())
	leave()
	for _, target := range targets {
		s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, target, nil).WithContext(gone))
	}
	if n := kept(); !slices.Equal(n, []int{0, 0, 0}) {
		t.Errorf("of requests whose clients are gone %v are kept", n)
	}
	answers := make(map[string]string)
	for _, target := range targets {
		answers[target] = get(t, s, http.StatusOK, target).Body.String()
	}
	if n := kept(); !slices.Equal(n, []int{1, 1, 2}) {
		t.Errorf("%v are kept, want a region, a plan and two tables", n)
	}
	region, _ := p.regions.Peek("Bayern")
	for _, target := range append(targets, "/regions/Bayern") {
		if w := get(t, s, http.StatusOK, target); answers[target] != "" && w.Body.String() != answers[target] {
			t.Errorf("%s is answered differently the second time", target)
		}
	}
	if again, _ := p.regions.Peek("Bayern"); again != region || !slices.Equal(kept(), []int{1, 1, 2}) {
		t.Error("they were made again")
	}
	if w := get(t, s, http.StatusOK, pathSamplingPlan); len(w.Body.String()) <= len(answers[targets[1]]) {
		t.Error("a kept plan has no more lakes than the first request wanted")
	}
	lakePageOf(t, s, string(f.lakes[0].ID))
	if p.readings.Len() != 1 {
		t.Errorf("what %d pages say of lakes is kept, want 1", p.readings.Len())
	}
	from := date(t, "2026-11-01").Time()
	f.advisories = append(f.advisories, data.Advisory{ID: "later", LakeID: f.lakes[0].ID, Kind: data.Closure, Cause: data.Cyanobacteria, Issuer: "Amt", Issued: from, ValidFrom: from})
	before := p.snap
	snap := testSnapshot(t, f)
	snap.Current.States = before.Current.States // the watcher shares them
	if err := s.Publish(snap); err != nil {
		t.Fatal(err)
	}
	p = s.common.current.Load()
	if n := kept(); !slices.Equal(n, []int{0, 1, 2}) || p.readings.Len() != 0 { // a page may name a closed site as a clearer one
		t.Errorf("after a closure %v are kept, want no region", n)
	}
	if w := get(t, s, http.StatusOK, targets[0]); w.Body.String() == answers[targets[0]] {
		t.Error("a region does not know of a closure")
	}
}

// A region is found in any case, and one that has exactly this name first.
func TestRegionLakes(t *testing.T) {
	var lakes []data.Lake
	for i, region := range []string{"Bayern", "", "BAYERN", "Bayern", "Österreich"} {
		lakes = append(lakes, data.Lake{ID: data.LakeID(fmt.Sprint(i)), Region: region})
	}
	r := newRegionLakes(lakes)
	for asked, want := range map[string]string{"Bayern": "Bayern [0 3]", "BAYERN": "BAYERN [2]", "bayern": "Bayern [0 3]", "ÖSTERREICH": "Österreich [4]", "": " []", "nowhere": " []"} {
		if name, members := r.find(asked); fmt.Sprintf("%s %v", name, members) != want {
			t.Errorf("%q is %q %v, want %s", asked, name, members, want)
		}
	}
}
