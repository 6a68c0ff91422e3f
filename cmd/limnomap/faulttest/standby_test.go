//go:build unix

package faulttest

import (
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"limnomap/cmd/limnomap/limnomaptest"
)

// A pair is a primary and its hot standby.
type pair struct{ primary, standby *postgres }

// startPair starts a primary with the uniform lakes, all with one value, and a standby that has them too.
func startPair(t testing.TB, chl float64) *pair {
	t.Helper()
	p := &pair{primary: startPostgres(t), standby: &postgres{dir: filepath.Join(sharedFolder(t), "postgres")}}
	dir := t.TempDir()
	importFile(t, "lakes", writeLakes(t, dir, uniformLakes), p.primary.url)
	importFile(t, "observations", writeValues(t, dir, uniformLakes, chl), p.primary.url)
	t.Cleanup(func() { p.standby.do(t, "remove") })
	p.standby.url = strings.TrimSpace(p.standby.do(t, "standby", p.primary.dir))
	return p
}

// url returns the URL of both, in that order, and with that attribute of a session for what reads.
func (p *pair) url(t testing.TB, attribute string, order ...*postgres) string {
	t.Helper()
	var hosts []string
	var u *url.URL
	for _, server := range order {
		var err error
		u, err = url.Parse(server.url)
		must(t, err)
		hosts = append(hosts, u.Host)
	}
	u.Host = strings.Join(hosts, ",")
	return u.String() + "&target_session_attrs=" + attribute
}

// ask returns the only value of a query.
func ask[T any](t testing.TB, p *postgres, query string) (v T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), p.url)
	must(t, err)
	defer conn.Close(t.Context())
	must(t, conn.QueryRow(t.Context(), query).Scan(&v))
	return v
}

// awaitReplay waits until the standby has all that the primary has.
func (p *pair) awaitReplay(t testing.TB) {
	t.Helper()
	position := ask[string](t, p.primary, "SELECT pg_current_wal_lsn()::text")
	limnomaptest.Within(t, patience, "the standby has all data", func() bool {
		return ask[bool](t, p.standby, "SELECT pg_last_wal_replay_lsn() >= '"+position+"'")
	})
}

// promote ends the primary as a power cut does, and makes the standby the primary.
func (p *pair) promote(t testing.TB) {
	t.Helper()
	p.awaitReplay(t) // what a standby has not received is lost, unless it is synchronous
	p.primary.kill(t)
	p.standby.do(t, "promote")
}

// readsStandby fails unless the server says whether it reads from a standby, and that this is not behind.
func readsStandby(t testing.TB, s *limnomaptest.Server, want bool) {
	t.Helper()
	limnomaptest.Within(t, patience, fmt.Sprintf("the server reads from a standby: %t", want), func() bool {
		lag := standbyStateOf(t, s).Lag
		return (s.Metric(t, "limnomap_database_standby") == 1) == want && (lag != nil) == want && (lag == nil || *lag == 0)
	})
}

// standbyState is the part of /readyz about standbys.
type standbyState struct {
	Lag        *float64 `json:"standby_lag_seconds"` // nil if the server reads from a primary
	StaleSince *string  `json:"stale_since"`
}

func standbyStateOf(t testing.TB, s *limnomaptest.Server) (state standbyState) {
	t.Helper()
	limnomaptest.GetJSON(t, s.Base+"/readyz", &state)
	return state
}

// lag halts the replay on the standby while an import changes all values, and fails unless the server says that its data may be old. Then it goes on.
func (p *pair) lag(t testing.TB, s *limnomaptest.Server, db string, from, to float64) {
	t.Helper()
	execPostgres(t, p.standby.url, "SELECT pg_wal_replay_pause()")
	importValue(t, db, to)
	limnomaptest.Within(t, patience, "the server says that the standby lags", func() bool {
		state := standbyStateOf(t, s)
		return state.StaleSince != nil && state.Lag != nil && *state.Lag > 3 && s.Metric(t, "limnomap_database_standby_lag_seconds") > 3
	})
	wantValue(t, s, from)
	if resp, _ := limnomaptest.Get(t, s.Base+statusPath); resp.StatusCode != http.StatusOK || resp.Header.Get("Age") == "" {
		t.Errorf("the status of old data is %s with Age %q, want 200 and an age", resp.Status, resp.Header.Get("Age"))
	}
	execPostgres(t, p.standby.url, "SELECT pg_wal_replay_resume()")
	awaitValue(t, s, to)
	readsStandby(t, s, true)
}

// checkEvents waits until the log of events has what the server shows, without gaps and duplicates.
func checkEvents(t *testing.T, s *limnomaptest.Server, of *postgres) {
	t.Helper()
	limnomaptest.Within(t, patience, "the log of events has the levels that are shown", func() bool {
		return leadTo(storedEvents(t, of.url), shownLevels(t, s))
	})
	checkLog(t, storedEvents(t, of.url), shownLevels(t, s))
}

// createKey makes an API key and returns it.
func createKey(t testing.TB, db string) string {
	t.Helper()
	key, err := limnomaptest.Command(t, "keys", "create", "--name", "me", "--db", db).Output()
	must(t, err)
	return strings.TrimSpace(string(key))
}

// useKey lists the monitored lakes with a key, as soon as the server knows it.
func useKey(t testing.TB, s *limnomaptest.Server, key string) {
	t.Helper()
	limnomaptest.Within(t, patience, "the key is accepted", func() bool {
		req, err := http.NewRequest(http.MethodGet, s.Base+"/api/v1/monitor/lakes", nil)
		must(t, err)
		req.Header.Set("X-API-Key", key)
		resp, err := s.Client().Do(req)
		must(t, err)
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
}

// usedKeys returns how many keys have a stored last use.
func usedKeys(t testing.TB, of *postgres) int {
	t.Helper()
	return ask[int](t, of, "SELECT count(used_at)::int FROM limnomap.api_keys")
}

// TestStandby has a server read from a hot standby. The standby lags, then the primary dies and the standby is promoted, and the old primary comes back, which
// lets only read. The server always shows the newest data that can be known, or says that they may be old, and no event is lost or there twice.
func TestStandby(t *testing.T) {
	t.Parallel()
	p := startPair(t, 5)
	db := p.url(t, "prefer-standby", p.primary, p.standby)
	s := start(t, "--db", db)
	wantValue(t, s, 5)
	readsStandby(t, s, true)
	importValue(t, db, 50) // on the primary
	awaitValue(t, s, 50)
	checkEvents(t, s, p.primary)
	limnomaptest.Within(t, patience, "the primary is idle", func() bool {
		return ask[bool](t, p.standby, "SELECT clock_timestamp() - pg_last_xact_replay_timestamp() > '2s'")
	})
	readsStandby(t, s, true)
	p.lag(t, s, db, 50, 5)

	key := createKey(t, db)
	other := start(t, "--db", db)
	readsStandby(t, other, true)
	useKey(t, other, key)
	stopCleanly(t, other) // stores the last use of keys, on the primary
	if n := usedKeys(t, p.primary); n != 1 {
		t.Errorf("the primary has the last use of %d keys, want 1", n)
	}

	execPostgres(t, p.primary.url, "ALTER SYSTEM SET default_transaction_read_only = on") // from its next start, by who promotes the other
	p.promote(t)
	importValue(t, db, 50)
	awaitValue(t, s, 50)
	readsStandby(t, s, false)
	checkEvents(t, s, p.standby)

	p.primary.start(t)
	importValue(t, db, 100)
	awaitValue(t, s, 100)
	other = start(t, "--db", p.url(t, "any", p.primary, p.standby))
	wantValue(t, other, 100)
	checkEvents(t, s, p.standby)
	stopCleanly(t, other)
	stopCleanly(t, s)
}
