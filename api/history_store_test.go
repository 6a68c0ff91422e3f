package api

import (
	"context"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"limnomap/data"
	"limnomap/tiles/admission"
)

// A hangingHistorian answers when released is closed.
type hangingHistorian struct {
	*fakeSource
	released      chan struct{}
	reading, most atomic.Int64
}

func (h *hangingHistorian) History(ctx context.Context, id data.LakeID, q data.HistoryQuery) (data.Lake, []data.Observation, error) {
	n := h.reading.Add(1)
	defer h.reading.Add(-1)
	for m := h.most.Load(); n > m && !h.most.CompareAndSwap(m, n); m = h.most.Load() {
	}
	select {
	case <-h.released:
	case <-ctx.Done():
		return data.Lake{}, nil, ctx.Err()
	}
	return h.fakeSource.History(ctx, id, q)
}

// While the store hangs, a few requests wait for it. The others get 503 at once, and first those of the client that has the most.
func TestHistoriesOfAHangingStoreAreBounded(t *testing.T) {
	const together, waiting, requests = 2, 8, 100
	opts := testOptions(t)
	source := longSource(t)
	historian := &hangingHistorian{fakeSource: source, released: make(chan struct{})}
	turns := admission.NewTurns(admission.TurnsOptions{Count: together, Waiting: waiting})
	defer turns.Close()
	opts.Historian, opts.Histories, opts.APIRate = historian, turns, 0
	s := shortServer(t, opts, source)
	answers := make(chan *httptest.ResponseRecorder)
	ask := func(addr string) {
		go func() {
			r := httptest.NewRequest(http.MethodGet, historyURL+"de_by_clean", nil)
			r.RemoteAddr = addr + ":1"
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			answers <- w
		}()
	}
	refused := func() {
		t.Helper()
		w := <-answers
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Fatalf("status %d, Retry-After %q, want 503 with it", w.Code, w.Header().Get("Retry-After"))
		}
	}
	for range requests {
		ask("192.0.2.1")
	}
	for range requests - together - waiting {
		refused()
	}
	ask("192.0.2.2")
	refused() // one of the first client's, as the end shows
	get(t, s, http.StatusOK, "/api/v1/bathing-lakes/status")
	get(t, s, http.StatusOK, historyURL+"de_by_clean?from=2026-01-01") // from memory
	close(historian.released)
	for range together + waiting {
		if w := <-answers; w.Code != http.StatusOK {
			t.Errorf("status %d after the store answers, want 200", w.Code)
		}
	}
	if n := historian.most.Load(); n > together {
		t.Errorf("%d histories were read at once, want %d at most", n, together)
	}
}

// badHistorian returns one row that no import stores.
type badHistorian struct {
	*fakeSource
	spoil func(*data.Lake, *data.Observation)
}

func (b badHistorian) History(ctx context.Context, id data.LakeID, q data.HistoryQuery) (data.Lake, []data.Observation, error) {
	lake, observations, err := b.fakeSource.History(ctx, id, q)
	if err == nil {
		b.spoil(&lake, &observations[len(observations)-1])
	}
	return lake, observations, err
}

// Rows that another program stored since the snapshot was loaded are not shown.
func TestHistoryOfHostileRowsIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(*data.Lake, *data.Observation){
		"cells that are no number": func(_ *data.Lake, o *data.Observation) { o.CellDensity = math.NaN() },
		"infinite cells":           func(_ *data.Lake, o *data.Observation) { o.CellDensity = math.Inf(1) },
		"chl":                      func(_ *data.Lake, o *data.Observation) { o.Chlorophyll = data.MaxChlorophyll + 1 },
		"level":                    func(_ *data.Lake, o *data.Observation) { o.Level = 100 },
		"name of two lines":        func(l *data.Lake, _ *data.Observation) { l.Name = "a\nb" },
		"name that is not UTF-8":   func(l *data.Lake, _ *data.Observation) { l.Name = "\xff" },
		"long name":                func(l *data.Lake, _ *data.Observation) { l.Name = strings.Repeat("x", 1<<20) },
	} {
		t.Run(name, func(t *testing.T) {
			opts := testOptions(t)
			opts.Historian = badHistorian{longSource(t), spoil}
			s := shortServer(t, opts, longSource(t))
			for _, suffix := range []string{"", ".csv"} {
				wantProblem(t, do(s, http.MethodGet, historyURL+"de_by_clean"+suffix), http.StatusServiceUnavailable)
			}
		})
	}
}
