//go:build unix && long

package faulttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/events/push/pushtest"
)

// TestStandbyOrders names the hosts in both orders and asks for all kinds of sessions. The host that is read from is lost, and comes back.
func TestStandbyOrders(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		attribute    string
		standbyFirst bool
		readsStandby bool
	}{
		{"any", false, false},
		{"any", true, true},
		{"read-write", false, false},
		{"read-write", true, false},
		{"primary", true, false},
		{"prefer-standby", false, true},
		{"prefer-standby", true, true},
		{"standby", false, true},
		{"read-only", true, true},
	} {
		t.Run(fmt.Sprintf("%s, standby first %t", tt.attribute, tt.standbyFirst), func(t *testing.T) {
			t.Parallel()
			p := startPair(t, 5)
			order := []*postgres{p.primary, p.standby}
			if tt.standbyFirst {
				order = []*postgres{p.standby, p.primary}
			}
			db := p.url(t, tt.attribute, order...)
			s := start(t, "--db", db)
			wantValue(t, s, 5)
			readsStandby(t, s, tt.readsStandby)
			importValue(t, db, 50)
			awaitValue(t, s, 50)
			checkEvents(t, s, p.primary)

			// The host that is read from goes away. Sessions of a standby only must wait for it.
			lost := p.primary
			if tt.readsStandby {
				lost = p.standby
			}
			lost.kill(t)
			waits := tt.attribute == "standby" || tt.attribute == "read-only" || lost == p.primary && tt.attribute != "any"
			if waits {
				limnomaptest.Within(t, patience, "the server says that its data may be old", func() bool { return standbyStateOf(t, s).StaleSince != nil })
			} else {
				limnomaptest.Within(t, patience, "the server reads from the other host", func() bool {
					return (s.Metric(t, "limnomap_database_standby") == 1) != tt.readsStandby
				})
			}
			if lost == p.standby && !waits {
				importValue(t, db, 5)
				awaitValue(t, s, 5)
			}
			lost.start(t)
			importValue(t, db, 100)
			awaitValue(t, s, 100)
			limnomaptest.Within(t, patience, "the data are current again", func() bool { return standbyStateOf(t, s).StaleSince == nil })
			checkEvents(t, s, p.primary)
			stopCleanly(t, s)
		})
	}
}

// TestStandbyAlone has a server know only a standby. It serves, and nothing can be stored, until the standby is promoted.
func TestStandbyAlone(t *testing.T) {
	t.Parallel()
	p := startPair(t, 5)
	first := start(t, "--db", p.primary.url)
	importValue(t, p.primary.url, 50)
	awaitValue(t, first, 50)
	checkEvents(t, first, p.primary)
	stopCleanly(t, first)
	events := len(storedEvents(t, p.primary.url))
	p.awaitReplay(t)

	o, err := limnomaptest.NewObserver(limnomaptest.Binary(t), t.TempDir())
	must(t, err)
	defer o.Close()
	s := limnomaptest.LaunchWithEnv(t, o.Env(), append([]string{"--cache-disk", "0", "--db", p.standby.url}, o.Args()...)...)
	s.AwaitReady(t)
	wantValue(t, s, 50)
	readsStandby(t, s, true)
	subscribe := func() *http.Response {
		t.Helper()
		b := pushtest.NewBrowser(t)
		body, err := json.Marshal(map[string]any{"endpoint": o.ServiceURL() + "/1", "keys": map[string]string{"p256dh": b.P256dh(), "auth": b.Auth()},
			"lakes": []string{"lake_0"}, "threshold": "medium", "daily": false, "zone": "Etc/UTC"})
		must(t, err)
		resp, err := s.Client().Post(s.Base+"/api/v1/push/subscriptions", "application/json", bytes.NewReader(body))
		must(t, err)
		resp.Body.Close()
		return resp
	}
	if resp := subscribe(); resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
		t.Errorf("a subscription on a standby: %s, Retry-After %q, want 503 with it", resp.Status, resp.Header.Get("Retry-After"))
	}
	importValue(t, p.primary.url, 5)
	awaitValue(t, s, 5) // asked each second
	limnomaptest.Within(t, patience, "the failure is in the log", func() bool { return strings.Contains(eventLog(s), "log of events failed") })
	if _, err := runCommand(t, "import", "lakes", "--db", p.standby.url, writeLakes(t, t.TempDir(), 1)); err == nil {
		t.Error("an import into a standby succeeded")
	}

	p.promote(t)
	importValue(t, p.standby.url, 50)
	awaitValue(t, s, 50)
	readsStandby(t, s, false)
	checkEvents(t, s, p.standby)
	if more := len(storedEvents(t, p.standby.url)); more < events {
		t.Errorf("%d events, there were %d", more, events)
	}
	limnomaptest.Within(t, patience, "a subscription is stored", func() bool { return subscribe().StatusCode < 300 })
	limnomaptest.Within(t, patience, "there are notifications", func() bool {
		return ask[int](t, p.standby, "SELECT count(*)::int FROM pg_stat_activity WHERE query LIKE 'LISTEN%'") == 1
	})
	stopCleanly(t, s)
}

// TestStandbyBehind has a server go over from a primary to a standby that is behind. What it has shown does not become older.
func TestStandbyBehind(t *testing.T) {
	t.Parallel()
	p := startPair(t, 5)
	db := p.url(t, "any", p.primary, p.standby)
	s := start(t, "--db", db)
	p.awaitReplay(t)
	execPostgres(t, p.standby.url, "SELECT pg_wal_replay_pause()")
	importValue(t, db, 50)
	awaitValue(t, s, 50)
	checkEvents(t, s, p.primary)
	position := ask[string](t, p.primary, "SELECT pg_current_wal_lsn()::text")
	limnomaptest.Within(t, patience, "the standby has received all", func() bool {
		return ask[bool](t, p.standby, "SELECT pg_last_wal_receive_lsn() >= '"+position+"'")
	})
	p.primary.kill(t)
	limnomaptest.Within(t, patience, "the server says why it keeps its data", func() bool {
		wantValue(t, s, 50)
		return standbyStateOf(t, s).StaleSince != nil && strings.Contains(eventLog(s), "the standby does not have the data yet")
	})
	execPostgres(t, p.standby.url, "SELECT pg_wal_replay_resume()")
	limnomaptest.Within(t, patience, "the server reads the standby", func() bool {
		wantValue(t, s, 50)
		return s.Metric(t, "limnomap_database_standby") == 1
	})
	p.standby.do(t, "promote")
	importValue(t, db, 100)
	awaitValue(t, s, 100)
	checkEvents(t, s, p.standby)
	stopCleanly(t, s)
}
