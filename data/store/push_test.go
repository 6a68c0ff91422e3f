package store

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/events/push"
)

func testSubscription(name string, lakes ...data.LakeID) push.Subscription {
	endpoint := "https://push.example.org/" + name
	return push.Subscription{ID: push.IDOf(endpoint), Endpoint: endpoint, P256dh: "key", Auth: "auth", Lakes: lakes, Zone: "UTC", RenewedAt: noon}
}

func subscribe(t *testing.T, s *Store, p push.Subscription) {
	t.Helper()
	if err := s.PutSubscription(t.Context(), p); err != nil {
		t.Fatal(err)
	}
}

// queueAll queues all events.
func queueAll(t *testing.T, s *Store, now time.Time) {
	t.Helper()
	state, err := s.EventState(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for {
		more, _, err := s.QueueNotifications(t.Context(), state.Newest, now)
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return
		}
	}
}

func wantDue(t *testing.T, s *Store, now time.Time, want ...push.Subscription) {
	t.Helper()
	var ids []string
	for _, p := range want {
		ids = append(ids, p.ID)
	}
	slices.Sort(ids)
	due, err := s.DueSubscriptions(t.Context(), now)
	var got []string
	for _, d := range due {
		got = append(got, d.ID)
	}
	slices.Sort(got)
	if err != nil || !slices.Equal(got, ids) {
		t.Errorf("DueSubscriptions = %v, %v, want %v", got, err, ids)
	}
}

// seqs returns the numbers of pending events.
func seqs(n push.Pending) (all []int64) {
	for _, e := range n.Events {
		all = append(all, e.Seq)
	}
	return all
}

// Subscriptions are stored, renewed and deleted with all that belongs to them.
func testSubscriptions(t *testing.T, open opener) {
	s := open(t, time.Now)
	counts := func(subscriptions, queued int64) {
		t.Helper()
		if a, b, err := s.PushCounts(t.Context()); err != nil || a != subscriptions || b != queued {
			t.Errorf("PushCounts = %d, %d, %v, want %d, %d", a, b, err, subscriptions, queued)
		}
	}
	one, other := testSubscription("one", "a", "b"), testSubscription("other", "b")
	subscribe(t, s, one)
	subscribe(t, s, other)
	putMoment(t, s, noon)
	queueAll(t, s, noon)
	putMoment(t, s, noon, testEvent(1, "a", data.ClassUp), testEvent(2, "b", data.ClassUp))
	queueAll(t, s, noon)
	counts(2, 3)
	// A change of the lakes drops what waits for the others, and a renewal keeps it.
	one.Lakes, one.Threshold, one.Daily, one.Zone, one.RenewedAt = []data.LakeID{"b", "c"}, push.FromHigh, true, "Europe/Berlin", noon.Add(time.Hour)
	subscribe(t, s, one)
	subscribe(t, s, one)
	counts(2, 2)
	n, claimed, err := s.LeaseNotifications(t.Context(), one.ID, "me", noon, noon.Add(time.Minute))
	one.Lakes = nil // they are not read
	if err != nil || !claimed || fmt.Sprint(n.Subscription) != fmt.Sprint(one) || !slices.Equal(seqs(n), []int64{2}) {
		t.Errorf("LeaseNotifications = %+v, %v, %v, want %+v", n, claimed, err, one)
	}
	if n, err := s.DropSubscriptions(t.Context(), noon.Add(time.Minute)); err != nil || n != 1 {
		t.Errorf("DropSubscriptions = %d, %v, want the other one", n, err)
	}
	counts(1, 1)
	if err := s.DeleteSubscription(t.Context(), one.ID); err != nil {
		t.Fatal(err)
	}
	counts(0, 0)
	for _, id := range []string{one.ID, "no\x00ne"} {
		if err := s.DeleteSubscription(t.Context(), id); !errors.Is(err, push.ErrNoSubscription) {
			t.Errorf("DeleteSubscription(%q) = %v, want %v", id, err, push.ErrNoSubscription)
		}
	}
}

// The queue has each event that a subscription wants, once, however many there are, and gives it to one process at a time.
func testNotificationQueue(t *testing.T, open opener) {
	s := open(t, time.Now)
	one, closures := testSubscription("one", "a"), testSubscription("closures", "a")
	closures.Threshold = push.ClosuresOnly
	subscribe(t, s, one)
	subscribe(t, s, closures)
	putMoment(t, s, noon, testEvent(1, "a", data.ClassUp))
	queueAll(t, s, noon) // what happened before is no news
	wantDue(t, s, noon)
	late := noon.Add(11 * time.Hour) // at night
	putMoment(t, s, late, testEvent(2, "a", data.ClassUp), testEvent(3, "b", data.ClassUp), testEvent(4, "a", data.AdvisoryIssued))
	queueAll(t, s, late)
	queueAll(t, s, late)
	wantDue(t, s, late, one, closures) // only the closure
	claim := func(p push.Subscription, holder string, now time.Time, want ...int64) {
		t.Helper()
		n, claimed, err := s.LeaseNotifications(t.Context(), p.ID, holder, now, now.Add(time.Minute))
		if err != nil || claimed != (want != nil) || !slices.Equal(seqs(n), want) {
			t.Errorf("%s claims %v, %v, %v, want %v", holder, claimed, seqs(n), err, want)
		}
	}
	end := func(p push.Subscription, holder string, o push.Outcome) {
		t.Helper()
		if err := s.EndNotifications(t.Context(), p.ID, holder, o); err != nil {
			t.Fatal(err)
		}
	}
	claim(one, "x", late, 4)
	claim(one, "y", late)
	end(one, "y", push.Outcome{Done: []int64{4}}) // has no claim
	claim(one, "y", late)
	end(one, "x", push.Outcome{Progress: push.Progress{Failures: 1, FailingSince: late, NextAt: late.Add(time.Minute)}})
	claim(one, "y", late) // not yet
	claim(one, "y", late.Add(time.Minute), 4)
	claim(one, "z", late.Add(3*time.Minute), 4) // the claim has ended
	// What is queued meanwhile stays.
	putMoment(t, s, late.Add(3*time.Minute), testEvent(5, "a", data.AdvisoryIssued))
	queueAll(t, s, late.Add(3*time.Minute))
	end(one, "z", push.Outcome{Done: []int64{4}})
	claim(one, "z", late.Add(3*time.Minute), 5)
	end(one, "z", push.Outcome{Later: []int64{5}, LaterAt: late.Add(time.Hour)})
	claim(one, "z", late.Add(3*time.Minute)) // nothing is due
	wantDue(t, s, late.Add(3*time.Minute), closures)
	// A server that knows fewer events than another one changes nothing; a log that was replaced by a shorter one begins anew.
	if more, _, err := s.QueueNotifications(t.Context(), 2, late); err != nil || more {
		t.Errorf("QueueNotifications = %v, %v", more, err)
	}
	queueAll(t, s, late.Add(3*time.Minute))
	wantDue(t, s, late.Add(3*time.Minute), closures)
	morning := noon.Add(19 * time.Hour)
	wantDue(t, s, morning, closures, one)
	claim(one, "x", morning, 2, 5)
	end(one, "x", push.Outcome{Progress: push.Progress{Failures: 9, FailingSince: noon, NextAt: morning}, Done: []int64{2, 5}})
	wantDue(t, s, morning, closures)

	// More pairs than fit into one transaction.
	var all []push.Subscription
	for i := range 30 {
		p := testSubscription(fmt.Sprint("many", i), "m")
		all = append(all, p)
		subscribe(t, s, p)
	}
	var events []data.Event
	for i := range int64(200) {
		events = append(events, testEvent(6+i, "m", data.ClassUp))
	}
	putMoment(t, s, morning, events...)
	queueAll(t, s, morning)
	if _, queued, err := s.PushCounts(t.Context()); err != nil || queued != 30*200+2 {
		t.Errorf("%d events wait, %v, want %d", queued, err, 30*200+2)
	}
	wantDue(t, s, morning, append(all, closures)...)
	due, err := s.DueSubscriptions(t.Context(), morning)
	for _, d := range due {
		if want := (push.Due{ID: d.ID, Host: "push.example.org", Urgent: d.ID == closures.ID}); d != want {
			t.Errorf("due is %+v, want %+v", d, want)
		}
	}
	if err != nil || len(due) != 31 {
		t.Errorf("%d are due, %v", len(due), err)
	}
}

// What waits for longer than anything can was put off by a clock that was ahead, and is due.
func testNotificationsOfAWrongClock(t *testing.T, open opener) {
	s := open(t, time.Now)
	queued, failing := testSubscription("queued", "a"), testSubscription("failing", "b")
	subscribe(t, s, queued)
	subscribe(t, s, failing)
	queueAll(t, s, noon)
	future := noon.AddDate(1, 0, 0)
	putMoment(t, s, future, testEvent(1, "a", data.ClassUp), testEvent(2, "b", data.ClassUp))
	queueAll(t, s, future)
	lease := func(p push.Subscription, now time.Time, want ...int64) {
		t.Helper()
		n, _, err := s.LeaseNotifications(t.Context(), p.ID, "x", now, now.Add(time.Minute))
		if err != nil || !slices.Equal(seqs(n), want) {
			t.Errorf("LeaseNotifications = %v, %v, want %v", seqs(n), err, want)
		}
	}
	lease(failing, future, 2)
	if err := s.EndNotifications(t.Context(), failing.ID, "x", push.Outcome{Progress: push.Progress{Failures: 1, FailingSince: future, NextAt: future.Add(time.Hour)}}); err != nil {
		t.Fatal(err)
	}
	wantDue(t, s, future.Add(-25*time.Hour)) // as long as this something may wait
	wantDue(t, s, noon, queued, failing)
	lease(queued, noon, 1)
	lease(failing, noon, 2)
}

// One client has its share of what may be stored; who has subscribed may renew.
func testSubscriptionBounds(t *testing.T, open opener) {
	s := open(t, time.Now)
	one := testSubscription("one", "a")
	one.Client = "c"
	subscribe(t, s, one)
	fill := func(n, lakes int) {
		t.Helper()
		err := s.db.update(t.Context(), "fill", func(q querier) error {
			w := writer{ctx: t.Context(), q: q}
			w.exec("DELETE FROM limnomap.push_subscriptions WHERE id <> $1", one.ID)
			for i := range n {
				w.exec("INSERT INTO limnomap.push_subscriptions (id, endpoint, p256dh, auth, threshold, daily, zone, renewed_at, client, lakes) VALUES ($1, '', '', '', 'high', 0, 'UTC', 1, 'c', $2)", fmt.Sprint(i), lakes)
			}
			return w.err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	want := func(what string, p push.Subscription, want error) {
		t.Helper()
		before, _, err := s.PushCounts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.PutSubscription(t.Context(), p); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
		if after, _, err := s.PushCounts(t.Context()); want != nil && (err != nil || after != before) {
			t.Errorf("%s: %d subscriptions, %v, want %d as before", what, after, err, before)
		}
	}
	other, unknown, same := testSubscription("other", "a"), testSubscription("unknown", "a"), testSubscription("same", "a")
	other.Client, same.Client = "d", "c"
	fill(push.MaxOfClient-1, 1)
	want("one more of a client", same, push.ErrManyOfClient)
	want("a renewal", one, nil)
	want("another client", other, nil)
	want("a client that is not known", unknown, nil)
	fill(1, push.MaxLakesOfClient)
	want("one more lake of a client", same, push.ErrManyOfClient)
	want("another client", other, nil)
	fill(1, push.MaxLakesOfAll)
	want("one more lake of all", other, push.ErrManySubscriptions)
}

// A closure is put into the queue before all else, however much there is and also while the rest is on its way, each pair once.
func testUrgentFirst(t *testing.T, open opener) {
	s := open(t, time.Now)
	var subscriptions int64
	for i := range int64(30) {
		subscribe(t, s, testSubscription(fmt.Sprint(i), "m"))
		subscriptions++
	}
	putMoment(t, s, noon)
	queueAll(t, s, noon)
	var events []data.Event
	for i := range int64(199) {
		events = append(events, testEvent(1+i, "m", data.ClassUp))
	}
	step := func(newest int64, wantMore, wantUrgent bool, wantQueued int64) {
		t.Helper()
		more, urgent, err := s.QueueNotifications(t.Context(), newest, noon)
		if _, queued, _ := s.PushCounts(t.Context()); err != nil || more != wantMore || urgent != wantUrgent || queued != wantQueued {
			t.Errorf("QueueNotifications = %v, %v, %v with %d in the queue, want %v, %v and %d", more, urgent, err, queued, wantMore, wantUrgent, wantQueued)
		}
	}
	urgent := func() (n int64) {
		due, err := s.DueSubscriptions(t.Context(), noon)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range due {
			if d.Urgent {
				n++
			}
		}
		return n
	}
	putMoment(t, s, noon, append(events, testEvent(200, "m", data.AdvisoryIssued))...)
	step(200, true, true, subscriptions) // the last event comes first
	if n := urgent(); n != subscriptions {
		t.Errorf("%d have something urgent, want all", n)
	}
	step(200, true, false, queuePage+subscriptions)
	putMoment(t, s, noon, testEvent(201, "m", data.ClassUp), testEvent(202, "m", data.AdvisoryIssued))
	step(202, true, true, queuePage+2*subscriptions) // another one on the way
	queueAll(t, s, noon)
	if _, queued, err := s.PushCounts(t.Context()); err != nil || queued != 202*subscriptions {
		t.Errorf("%d in the queue, %v, want %d", queued, err, 202*subscriptions)
	}
	step(202, false, false, 202*subscriptions)
}

// A subscription that another program has broken keeps no other from its messages.
func testBrokenSubscription(t *testing.T, open opener) {
	s := open(t, time.Now)
	bad, worse, good := testSubscription("bad", "a"), testSubscription("worse", "a"), testSubscription("good", "a")
	for _, p := range []push.Subscription{bad, worse, good} {
		subscribe(t, s, p)
	}
	putMoment(t, s, noon)
	queueAll(t, s, noon)
	putMoment(t, s, noon, testEvent(1, "a", data.ClassUp))
	err := s.db.update(t.Context(), "break subscriptions", func(q querier) error {
		w := writer{ctx: t.Context(), q: q}
		w.exec("UPDATE limnomap.push_subscriptions SET threshold = 'broken' WHERE id = $1", bad.ID)
		w.exec("UPDATE limnomap.push_subscriptions SET zone = $2 WHERE id = $1", worse.ID, strings.Repeat("x", maxIDBytes+1))
		return w.err
	})
	if err != nil {
		t.Fatal(err)
	}
	queueAll(t, s, noon)
	wantDue(t, s, noon, good)
	err = s.db.update(t.Context(), "make them due", func(q querier) error {
		_, err := q.exec(t.Context(), "UPDATE limnomap.push_subscriptions SET ready_at = 1")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	wantDue(t, s, noon, bad, worse, good)
	for _, p := range []push.Subscription{bad, worse} {
		if _, taken, err := s.LeaseNotifications(t.Context(), p.ID, "x", noon, noon.Add(time.Minute)); taken || !errors.Is(err, push.ErrBroken) {
			t.Errorf("LeaseNotifications = %v, %v", taken, err)
		}
	}
	if n, taken, err := s.LeaseNotifications(t.Context(), good.ID, "x", noon, noon.Add(time.Minute)); !taken || err != nil || !slices.Equal(seqs(n), []int64{1}) {
		t.Errorf("LeaseNotifications = %v, %v, %v", seqs(n), taken, err)
	}
}

// What waits for a later attempt costs nothing: only what is due is read.
func TestDueSubscriptionsAreFoundByAnIndex(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lakes.db")
	openFile(t, path, true)
	withDB(t, path, func(db *sql.DB) error {
		rows, err := db.Query("EXPLAIN QUERY PLAN "+forSQLite.Replace(dueQuery), 1, 2, 3)
		if err != nil {
			return err
		}
		defer rows.Close()
		var plan []string
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				return err
			}
			plan = append(plan, detail)
		}
		if all := strings.Join(plan, "\n"); !strings.Contains(all, "SEARCH s USING INDEX push_subscriptions_ready") || !strings.Contains(all, "push_queue_urgent") || strings.Contains(all, "SCAN s") {
			t.Errorf("the plan is\n%s", all)
		}
		return rows.Err()
	})
}
