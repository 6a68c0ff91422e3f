package store

import (
	"database/sql"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	"limnomap/data"
	"limnomap/data/events/hook"
	"limnomap/data/events/push"
)

// oldPostgres creates and fills a database like a limnomap that knows only the first migrations.
func oldPostgres(t *testing.T, version int, statements ...string) (dsn string) {
	t.Helper()
	dsn = newDatabase(t)
	onServer(t, dsn, "CREATE SCHEMA limnomap")
	db, err := sql.Open("pgx", dsn) // the driver of pgx/v5/stdlib
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	p, err := goose.NewProvider(goose.DialectPostgres, db, migrationsOf(t, postgresMigrations, "postgres", version), goose.WithDisableGlobalRegistry(true),
		goose.WithTableName("limnomap.goose_db_version"))
	if err == nil {
		_, err = p.Up(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	onServer(t, dsn, statements...)
	return dsn
}

// Webhooks, subscriptions, what waits for them and the log of events of the versions before the migrations 12, 13 and 14 go on where they were.
func TestPostgresOfOldEvents(t *testing.T) {
	const version = 11
	s := &openURL(t, oldPostgres(t, version,
		`INSERT INTO limnomap.event_moments (number, revision, changed_at, forecasts, settings, snapshot, at, last_seq, measured, blocks, changes_since)
			VALUES (3, 41, 5, 0, 'all', 'v', 6000, 3, 1, 1, 1)`,
		`INSERT INTO limnomap.event_blocks (number, block) VALUES (0, '\x01')`,
		`INSERT INTO limnomap.events (seq, id, moment, lake, kind, chl_before, level_before, measured_before, detail) VALUES
			(1, decode(repeat('01', 16), 'hex'), 3, 'a', 4, 500, 0, 5, NULL), (2, decode(repeat('02', 16), 'hex'), 3, 'a', 5, NULL, NULL, NULL, '{"id":"s","kind":"closure"}'),
			(3, decode(repeat('03', 16), 'hex'), 3, 'b', 4, 500, 0, 5, NULL)`,
		`INSERT INTO limnomap.hooks (id, url, filter, secret, former, created_at, state, after_seq, failures, failing_since, next_at, error, delivered_at, holder)
			VALUES ('h', 'https://example.org/', '{"lakes":["a"]}', 's', '', 4, 'active', 1, 2, 5, 9, 'no', 4, '')`,
		`INSERT INTO limnomap.push_subscriptions (id, endpoint, p256dh, auth, threshold, daily, zone, renewed_at, next_at) VALUES
			('p', 'https://example.org/p', 'k', 'a', 'high', 0, 'UTC', 9, 50), ('q', 'https://example.org/q', 'k', 'a', 'high', 0, 'UTC', 9, NULL)`,
		`INSERT INTO limnomap.push_lakes (lake, subscription) VALUES ('a', 'p'), ('b', 'p'), ('a', 'q')`,
		`INSERT INTO limnomap.push_queue (subscription, seq, due_at) VALUES ('p', 1, 5), ('p', 2, 0)`,
		`UPDATE limnomap.push_state SET after_seq = 3, after_subscription = '~'`,
	), false).Store
	filter, err := parseFilter(`{"lakes":["a"]}`)
	if err != nil {
		t.Fatal(err)
	}
	at := func(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }
	wantHooks(t, s, hook.Hook{ID: "h", URL: "https://example.org/", Filter: filter, Secret: "s", CreatedAt: at(4), State: hook.Active,
		Progress:   hook.Progress{After: 1, Failures: 2, FailingSince: at(5), NextAt: at(9), LastError: "no", DeliveredAt: at(4)},
		Statements: hook.Progress{After: 1}})
	wantState(t, s, 3, 1, 3)
	if got := eventsOf(t, s, data.EventQuery{Statements: true}); len(got) != 1 || got[0].Seq != 2 || got[0].Advisory.Kind != data.Closure {
		t.Errorf("the statements are %+v", got)
	}
	if m, blocks := lastOf(t, s); m.Number != 3 || len(blocks) != 1 || blocks[0] != "\x01" {
		t.Errorf("the last moment is %+v with %q", m, blocks)
	}
	if times, err := s.Times(t.Context()); err != nil || !times.Believed.Equal(at(6000)) {
		t.Errorf("the clock is believed up to %v, %v, want the last moment", times.Believed, err)
	}
	if subscriptions, queued, err := s.PushCounts(t.Context()); err != nil || subscriptions != 2 || queued != 2 {
		t.Errorf("%d subscriptions and %d events that wait, %v", subscriptions, queued, err)
	}
	for now, want := range map[int64]int{49: 0, 50: 1} { // when its next attempt is due
		due, err := s.DueSubscriptions(t.Context(), at(now))
		if err != nil || len(due) != want || want > 0 && (due[0].ID != "p" || due[0].Client != "" || due[0].Told) {
			t.Errorf("at %d are due %+v, %v, want %d", now, due, err, want)
		}
	}
	// What was queued is not queued again, and both are told of what follows.
	if more, urgent, err := s.QueueNotifications(t.Context(), 3, at(60)); more || urgent || err != nil {
		t.Errorf("QueueNotifications = %v, %v, %v, want nothing", more, urgent, err)
	}
	if got, taken, err := s.LeaseNotifications(t.Context(), "q", "x", at(60), at(120)); taken || err != nil {
		t.Errorf("the subscription without news has %+v, %v", got, err)
	}
	renewed := push.Subscription{ID: "p", Endpoint: "https://example.org/p", P256dh: "k", Auth: "a", Lakes: []data.LakeID{"a"}, Zone: "UTC", RenewedAt: at(60), Client: "c"}
	if err := s.PutSubscription(t.Context(), renewed); err != nil {
		t.Fatal(err)
	}
	if due, err := s.DueSubscriptions(t.Context(), at(60)); err != nil || len(due) != 1 || due[0].Client != "c" {
		t.Errorf("renewed, there are due %+v, %v", due, err)
	}
}
