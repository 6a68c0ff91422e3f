package api

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"limnomap/api/apitest"
	"limnomap/data/apikey"
)

// The log names a key by its name, and shows neither a valid key nor a refused one.
func TestAccessLogHidesKeys(t *testing.T) {
	l, lines := apitest.JSONLog(t, slog.LevelInfo)
	opts := testOptions(t)
	opts.Logger = l
	opts.Keys = &fakeKeys{keys: []apikey.Key{{Name: "agency", Hash: sha256.Sum256([]byte(goodKey)), Scopes: apikey.ScopeMonitor}}}
	s := newServer(t, opts, testSource(t))
	get(t, s, http.StatusOK, "/api/v1/monitor/lakes", "X-API-Key", goodKey)
	get(t, s, http.StatusUnauthorized, "/api/v1/monitor/lakes", "X-API-Key", "s3cr3t")
	var names []any
	for _, line := range lines() {
		if line["path"] == "/api/v1/monitor/lakes" {
			names = append(names, line["key"])
		}
	}
	if want := fmt.Sprint([]any{"agency", nil}); fmt.Sprint(names) != want {
		t.Errorf("the log names the keys %v, want %s", names, want)
	}
	for _, key := range []string{goodKey, "s3cr3t"} {
		if strings.Contains(fmt.Sprint(lines()), key) {
			t.Errorf("the log shows the key %s", key)
		}
	}
}
