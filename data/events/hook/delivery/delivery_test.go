package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/events/eventfeed"
	"limnomap/data/events/hook"
	"limnomap/data/events/hook/delivery"
	"limnomap/data/store"
)

// Each webhook gets its events, in order, once if nothing fails, also those of the time when no server ran.
func TestDelivers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.happen("before")
	all, some := newReceiver(t, nil), newReceiver(t, nil)
	h := w.create(all.URL+"/path?token=x", eventfeed.Filter{})
	all.secret = h.Secret
	ofSome := w.create(some.URL, eventfeed.Filter{Lakes: []data.LakeID{"b"}})
	region := newReceiver(t, nil)
	ofRegion := w.create(region.URL, eventfeed.Filter{Region: "Region of C", MinLevel: 2})
	w.happen("a", "b", "c")
	stop := w.serve()
	w.await("delivered", func() bool { _, taken := all.list(); return taken == "a b c" })
	for _, of := range []hook.Hook{h, ofSome, ofRegion} { // what was not stored comes twice
		w.await("stored", func() bool { return w.hook(of.ID).After == w.newest.Load() })
	}
	stop()
	w.happen("b", "d")
	w.serve()
	w.happen("e", "b")
	w.await("delivered", func() bool {
		_, one := all.list()
		_, other := some.list()
		_, third := region.list()
		return one == "a b c b d e b" && other == "b b b" && third == "c"
	})
	for _, r := range []*receiver{all, some, region} {
		r.check(t)
	}
	w.await("passed over", func() bool { return w.hook(h.ID).After == w.newest.Load() })
	deliveries, err := w.store.HookDeliveries(t.Context(), h.ID, 100)
	if err != nil || len(deliveries) != 7 || deliveries[0].Status != 200 || deliveries[0].Error != "" || deliveries[0].Attempt != 1 || deliveries[0].Seq != 8 {
		t.Errorf("%d deliveries: %+v, %v", len(deliveries), deliveries, err)
	}
}

// An event that fails is sent again with the same id before the next one, later and later.
func TestRetries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := newReceiver(t, func(n int, w http.ResponseWriter, _ *http.Request) bool {
		if n < 4 {
			w.WriteHeader([]int{500, 301, 404, 503}[n])
		}
		return n >= 4
	})
	h := w.create(r.URL, eventfeed.Filter{})
	w.happen("a", "b")
	w.serve()
	for n := 1; n <= 4; n++ {
		w.await(fmt.Sprintf("failed %d times", n), func() bool { return w.hook(h.ID).Failures == n })
		failed := w.hook(h.ID)
		attempts, err := w.store.HookDeliveries(t.Context(), h.ID, 1)
		if err != nil {
			t.Fatal(err)
		}
		wait, usual := failed.NextAt.Sub(attempts[0].At), 5*time.Second<<(n-1) // both times are whole seconds
		if wait > usual*3/2+time.Second || wait < usual/2-time.Second || failed.FailingSince.IsZero() || !strings.Contains(failed.LastError, []string{"500", "redirect", "404", "503"}[n-1]) {
			t.Errorf("after %d failures: next in %v, %+v", n, wait, failed.Progress)
		}
		if got, _ := r.list(); got != strings.TrimSpace(strings.Repeat("a ", n)) {
			t.Errorf("after %d failures came %q", n, got)
		}
		w.clock.forward(usual * 3 / 2)
	}
	w.await("delivered", func() bool { _, taken := r.list(); return taken == "a b" })
	r.check(t)
	w.await("stored", func() bool { return w.hook(h.ID).After == 2 })
	if after := w.hook(h.ID); after.Failures != 0 || !after.FailingSince.IsZero() || after.LastError != "" || after.DeliveredAt.IsZero() {
		t.Errorf("after the delivery: %+v", after.Progress)
	}
	for i, id := range r.ids {
		if want := fmt.Sprintf("%032x", 1+max(0, i-4)); id != want {
			t.Errorf("request %d has the id %s, want %s", i, id, want)
		}
	}
}

// A receiver that asks for time gets it.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Retry-After", "7200")
		w.WriteHeader(429)
		return false
	})
	h := w.create(r.URL, eventfeed.Filter{})
	w.happen("a")
	w.serve()
	w.await("failed", func() bool { return w.hook(h.ID).Failures == 1 })
	if wait := w.hook(h.ID).NextAt.Sub(w.clock.now()); wait < 110*time.Minute || wait > 2*time.Hour {
		t.Errorf("the next attempt is in %v, want two hours", wait)
	}
}

// A brokenStore says that there are webhooks that cannot be read.
type brokenStore struct{ *store.Store }

func (s brokenStore) Hooks(ctx context.Context) ([]hook.Hook, error) {
	hooks, err := s.Store.Hooks(ctx)
	return hooks, errors.Join(err, fmt.Errorf("webhook x: %w", hook.ErrBroken))
}

// A webhook that cannot be read keeps no other from its events, and the log says so once.
func TestBrokenHook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := newReceiver(t, nil)
	w.create(r.URL, eventfeed.Filter{})
	w.serveWith(func(d *delivery.Deliverer) { d.Store = brokenStore{w.store} })
	w.happen("a")
	w.await("delivered", func() bool { _, taken := r.list(); return taken == "a" })
	w.happen("b")
	w.await("delivered", func() bool { _, taken := r.list(); return taken == "a b" })
	if n := strings.Count(w.logged(), "passed over"); n != 1 {
		t.Errorf("it is logged %d times:\n%s", n, w.logged())
	}
}

// Of several servers one sends each event, and another goes on when it has stopped.
func TestSeveralServers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := newReceiver(t, func(int, http.ResponseWriter, *http.Request) bool { time.Sleep(time.Millisecond); return true })
	w.create(r.URL, eventfeed.Filter{})
	var want []string
	first := w.serve()
	for range 2 {
		w.serve()
	}
	for i := range 30 {
		id := data.LakeID(fmt.Sprintf("l%d", i))
		want = append(want, string(id))
		w.happen(id)
		if i == 15 {
			first()
		}
	}
	w.await("delivered", func() bool { _, taken := r.list(); return strings.HasSuffix(taken, "l29") })
	// A server that was stopped between the answer and storing it lets one event come twice.
	got, _ := r.list()
	if unique := slices.Compact(strings.Fields(got)); !slices.Equal(unique, want) {
		t.Errorf("came %s, want each once, in order", got)
	}
}

// What is paused gets nothing, and goes on when it is resumed.
func TestPaused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r, other := newReceiver(t, nil), newReceiver(t, nil)
	h := w.create(r.URL, eventfeed.Filter{})
	w.create(other.URL, eventfeed.Filter{})
	set := func(state hook.State) {
		t.Helper()
		if err := w.store.UpdateHook(t.Context(), h.ID, func(h *hook.Hook) error { h.State = state; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	set(hook.Paused)
	w.serve()
	w.happen("a")
	w.await("delivered to the other", func() bool { _, taken := other.list(); return taken == "a" })
	w.happen("b")
	w.await("delivered to the other", func() bool { _, taken := other.list(); return taken == "a b" })
	if got, _ := r.list(); got != "" {
		t.Errorf("paused, it got %q", got)
	}
	set(hook.Active)
	w.await("delivered", func() bool { _, taken := r.list(); return taken == "a b" })
}
