package deploy

import (
	"bytes"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// A running server accepts a rotated key and, for a while, the previous one. Revoking the name ends both. The metrics accept
// the key that was created for them.
func TestKeysOfARunningServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	limnomaptest.Run(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.csv", "id,name,lat,lon\na,Ammersee,48,11.1\n"), "--db", db)
	keys := func(args ...string) string {
		return strings.TrimSpace(limnomaptest.Run(t, append([]string{"keys"}, append(args, "--db", db)...)...))
	}
	first := keys("create", "--name", "agency", "--expires", "30d")
	metrics := keys("create", "--name", "prometheus", "--scope", "metrics")
	s := limnomaptest.Start(t, "--db", db, "--admin-listen=", "--metrics-key")
	answer := func(path, key string) int {
		resp, body := limnomaptest.Get(t, s.Base+path, "X-API-Key", key)
		if resp.StatusCode == http.StatusForbidden && !bytes.Contains(body, []byte("scope ")) {
			t.Errorf("403 names no scope: %s", body)
		}
		return resp.StatusCode
	}
	// Also by 429: a client that waits for a key sends as many requests as one that guesses keys.
	refused := func(status int) bool {
		return status == http.StatusUnauthorized || status == http.StatusTooManyRequests
	}
	const monitor = "/api/v1/monitor/lakes"
	for _, tt := range []struct {
		path, key string
		want      int
	}{
		{monitor, first, 200}, {monitor, metrics, 403}, {monitor, "", 401},
		{"/metrics", metrics, 200}, {"/metrics", first, 403}, {"/metrics", "", 401},
	} {
		if got := answer(tt.path, tt.key); got != tt.want {
			t.Errorf("GET %s with %q: %d, want %d", tt.path, tt.key, got, tt.want)
		}
	}

	second := keys("rotate", "agency", "--overlap", "1h")
	limnomaptest.Within(t, patience, "the new key is let in", func() bool { return answer(monitor, second) == 200 })
	if got := answer(monitor, first); got != 200 {
		t.Errorf("the former key: %d, want 200 until the overlap ends", got)
	}
	third := keys("rotate", "agency", "--overlap", "0s")
	limnomaptest.Within(t, patience, "the newest key is let in, and no former one", func() bool {
		return answer(monitor, third) == 200 && refused(answer(monitor, second)) && refused(answer(monitor, first))
	})
	list := keys("list")
	if strings.Count(list, "agency") != 3 || strings.Count(list, "expired") != 2 || strings.Contains(list, "limnomap_") {
		t.Errorf("keys list:\n%s\nwant the three of the name, two of them expired, and no key", list)
	}
	keys("revoke", "agency")
	limnomaptest.Within(t, patience, "the name is revoked", func() bool { return refused(answer(monitor, third)) })
}
