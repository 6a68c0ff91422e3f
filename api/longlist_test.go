package api

import (
	"net/http"
	"testing"

	"limnomap/tiles/admission"
)

// TestNoMemoryForLists shows a server whose memory for answers is taken: prepared and small answers go on.
func TestNoMemoryForLists(t *testing.T) {
	opts := testOptions(t)
	opts.Memory = admission.NewBudget(1)
	s := newServer(t, opts, testSource(t))
	for _, target := range []string{statusURL + "?risk=low", statusURL + ".csv", geoJSONURL + "?date=2026-11-01"} {
		w := do(s, http.MethodGet, target)
		wantProblem(t, w, http.StatusServiceUnavailable)
		if got := w.Header().Get("Retry-After"); got != "5" {
			t.Errorf("%s: Retry-After = %q, want 5", target, got)
		}
		if got := w.Header().Get("Content-Disposition"); got != "" {
			t.Errorf("%s: the problem has Content-Disposition %s", target, got)
		}
		wantDescribed(t, descriptionRouter(t), target, w)
	}
	get(t, s, http.StatusOK, statusURL)
	get(t, s, http.StatusOK, geoJSONURL)
	get(t, s, http.StatusOK, nearURL+"?lat=48&lon=11.5")
}
