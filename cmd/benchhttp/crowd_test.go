package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// A fakeMap answers the requests of a crowd and a probe, and counts tiles as limnomap does.
type fakeMap struct {
	mu    sync.Mutex // guards asked
	asked map[string]int
}

func (f *fakeMap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case strings.HasSuffix(r.URL.Path, "/geojson"):
		fmt.Fprint(w, `{"features":[{"geometry":{"coordinates":[13.4,52.5]}},{"geometry":{"coordinates":[13.4,52.5]}},{"geometry":{"coordinates":[8,48]}}]}`)
	case r.URL.Path == "/metrics":
		fmt.Fprintf(w, "limnomap_tile_renders_total %d\nlimnomap_tile_shed_total 3\n", len(f.asked))
	default:
		f.asked[r.URL.String()]++
	}
}

func TestColdPathsAreDistinct(t *testing.T) {
	s := httptest.NewServer(&fakeMap{asked: make(map[string]int)})
	defer s.Close()
	paths, err := coldPaths(t.Context(), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, path := range paths {
		if seen[path] {
			t.Errorf("%s is there twice", path)
		}
		seen[path] = true
	}
	// Two points on different tiles, at 8 zooms, in 4 colour maps, 3 styles and 2 sizes.
	if want := 2 * 8 * 4 * 3 * 2; len(paths) != want {
		t.Errorf("%d paths, want %d", len(paths), want)
	}
}

func TestCrowdAsksUntilItIsSentAway(t *testing.T) {
	f := &fakeMap{asked: make(map[string]int)}
	s := httptest.NewServer(f)
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- gather(ctx, s.URL, "8", "1") }() // ends with ctx
	ours := server{base: s.URL}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		drawn, refused, err := ours.tileCounts(t.Context())
		if err != nil || refused != 3 {
			t.Fatalf("%v drawn, %v refused, %v; want 3 refused", drawn, refused, err)
		}
		if drawn >= 300 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%v tiles were asked for, want 300", drawn)
		}
	}
	r, err := crowd{ours: ours, duration: 20 * time.Millisecond}.probe(t.Context())
	if err != nil || r.p50 <= 0 || r.p99 < r.p50 {
		t.Errorf("probe = %+v, %v", r, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
