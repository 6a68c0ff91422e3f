package api

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"limnomap/data/snapshot"
)

func TestPublishSwapsTheWholeSnapshot(t *testing.T) {
	s := testServer(t)
	before := get(t, s, http.StatusOK, statusURL)
	changed := testSource(t)
	changed.lakes = changed.lakes[:1]
	changed.observations = changed.observations[:2]
	changed.revision.ChangedAt = testNow()
	if err := s.Publish(testSnapshot(t, changed)); err != nil {
		t.Fatal(err)
	}
	after := get(t, s, http.StatusOK, statusURL, "If-None-Match", before.Header().Get("ETag"))
	if got := idsOf(t, object(t, after)); got != "de_by_clean" {
		t.Errorf("lakes = %s, want the published one", got)
	}
	for _, target := range []string{statusURL + "?min_lat=0", "/api/v1/bathing-lakes/geojson", monitorURL} {
		if body := get(t, s, http.StatusOK, target, "X-API-Key", goodKey).Body.String(); strings.Contains(body, "Müritz") {
			t.Errorf("%s still shows a lake that is gone", target)
		}
	}
	wantProblem(t, do(s, http.MethodGet, historyURL+"de_mv_high"), http.StatusNotFound)
}

// TestPublishPreparesTiles publishes two snapshots, and the second with other forecasts.
func TestPublishPreparesTiles(t *testing.T) {
	opts, tiles := testOptions(t), new(fakeTiles)
	opts.Tiles = tiles
	s := newServer(t, opts, nil)
	var want []*snapshot.View
	for range 2 {
		snap := testSnapshot(t, testSource(t))
		want = append(want, snap.Current)
		forecast := *snap
		for _, snap := range []*snapshot.Snapshot{snap, &forecast} {
			if err := s.Publish(snap); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !slices.Equal(tiles.prepared, want) || !slices.Equal(tiles.preparedVectors, want) {
		t.Errorf("pictures of %v and vector tiles of %v were prepared, want %v", tiles.prepared, tiles.preparedVectors, want)
	}
}

func TestNoAnswerMixesConcurrentSnapshots(t *testing.T) {
	s := testServer(t)
	one, other := testSource(t), testSource(t)
	other.lakes, other.observations = other.lakes[:1], other.observations[:2]
	other.revision.ChangedAt = testNow()
	snapshots := [2]*fakeSource{one, other}
	bodies := make(map[string]bool)
	for _, f := range snapshots {
		bodies[get(t, newServer(t, testOptions(t), f), http.StatusOK, statusURL+"?min_lat=0").Body.String()] = true
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 20 {
			if err := s.Publish(testSnapshot(t, snapshots[i%2])); err != nil {
				t.Error(err)
			}
		}
	})
	for range 2 {
		wg.Go(func() {
			for range 100 {
				if body := do(s, http.MethodGet, statusURL+"?min_lat=0").Body.String(); !bodies[body] {
					t.Errorf("answer of neither snapshot: %s", body)
				}
			}
		})
	}
	wg.Wait()
}
