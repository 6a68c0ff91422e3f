package store

import (
	"errors"
	"fmt"
	"slices"
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
		more, err := s.QueueNotifications(t.Context(), state.Newest, now)
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
	got, err := s.DueSubscriptions(t.Context(), now, 100)
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
	claim(one, "z", late.Add(3*time.Minute), []int64{}...)
	end(one, "z", push.Outcome{})
	wantDue(t, s, late.Add(3*time.Minute), closures)
	// A server that knows fewer events than another one changes nothing; a log that was replaced by a shorter one begins anew.
	if more, err := s.QueueNotifications(t.Context(), 2, late); err != nil || more {
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
	if ids, err := s.DueSubscriptions(t.Context(), morning, 7); err != nil || len(ids) != 7 || ids[0] != closures.ID {
		t.Errorf("%v, %v, want 7, first that of which a lake was closed", ids, err)
	}
}
