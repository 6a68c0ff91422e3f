package delivery_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"limnomap/data"
	"limnomap/data/events/eventfeed"
	"limnomap/data/events/hook"
	"limnomap/data/events/hook/delivery"
)

// A receiver that fails for three days is given up, one that is gone at once. Resumed, it gets what it missed.
func TestGivesUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var repaired atomic.Bool
	failing := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		if !repaired.Load() {
			w.WriteHeader(500)
		}
		return repaired.Load()
	})
	gone := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(410); return false })
	f, g := w.create(failing.URL, eventfeed.Filter{}), w.create(gone.URL, eventfeed.Filter{})
	w.happen("a")
	w.serve()
	w.await("dead", func() bool { return w.hook(g.ID).State == hook.Dead })
	w.await("failed", func() bool { return w.hook(f.ID).Failures == 1 })
	attempts := 1
	for ; w.hook(f.ID).State != hook.Dead && attempts < 100; attempts++ {
		failed := w.hook(f.ID)
		w.clock.forward(failed.NextAt.Sub(w.clock.now()))
		w.await("tried again", func() bool { return w.hook(f.ID).Failures > failed.Failures })
	}
	if h := w.hook(f.ID); h.State != hook.Dead || w.clock.now().Sub(h.FailingSince) < delivery.GiveUpAfter {
		t.Errorf("after more than three days: %+v", h)
	}
	if attempts < 12 || attempts > 60 {
		t.Errorf("%d attempts in three days", attempts)
	}
	if n := strings.Count(w.logged(), "webhook is dead"); n != 2 {
		t.Errorf("%d errors about dead webhooks", n)
	}
	w.happen("b")
	repaired.Store(true)
	if err := w.store.UpdateHook(t.Context(), f.ID, func(h *hook.Hook) error { h.Resume(); return nil }); err != nil {
		t.Fatal(err)
	}
	w.await("delivered", func() bool { _, taken := failing.list(); return taken == "a b" })
	if got, _ := gone.list(); got != "a" {
		t.Errorf("the dead webhook got %q", got)
	}
}

// A clock that is a year ahead for two minutes makes no webhook dead that has failed a few times; when it is right again, the event is sent.
func TestAClockThatIsAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		receiver := &transport{}
		receiver.status.Store(http.StatusServiceUnavailable)
		h := w.create("https://one.example.org/", eventfeed.Filter{})
		w.happen("a")
		stop := w.serveWith(func(d *delivery.Deliverer) { d.Use(receiver) })
		time.Sleep(30 * time.Second)
		before := receiver.requests.Load()
		const year = 365 * 24 * time.Hour
		w.clock.forward(year)
		time.Sleep(2 * time.Minute)
		if failed := w.hook(h.ID); before == 0 || receiver.requests.Load() == before || failed.State != hook.Active || failed.NextAt.Before(time.Now().Add(year-time.Hour)) {
			t.Errorf("ahead, after %d attempts and %d before, the webhook is %+v", receiver.requests.Load()-before, before, failed)
		}
		receiver.status.Store(http.StatusInternalServerError)
		w.clock.forward(-year)
		time.Sleep(time.Minute)
		if failed := w.hook(h.ID); failed.State != hook.Active || failed.FailingSince.After(time.Now()) || failed.NextAt.After(time.Now().Add(time.Hour)) {
			t.Errorf("right again, the webhook is %+v", failed)
		}
		receiver.status.Store(http.StatusNoContent)
		time.Sleep(time.Hour)
		stop()
		if sent := w.hook(h.ID); sent.State != hook.Active || sent.After != w.newest.Load() || sent.Failures != 0 {
			t.Errorf("in the end the webhook is %+v", sent)
		}
	})
}

// A receiver that failed for the first time while the clock was ahead fails since now, not until then.
func TestFailingSince(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for stored, want := range map[time.Time]time.Time{{}: now, now.AddDate(1, 0, 0): now, now.AddDate(0, 0, -1): now.AddDate(0, 0, -1)} {
		if got := delivery.FailingSince(stored, now); !got.Equal(want) {
			t.Errorf("stored as %v, it fails since %v, want %v", stored, got, want)
		}
	}
}

// While the clock is in doubt, a receiver that fails is not given up.
func TestInDoubtNoneIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		receiver := &transport{}
		receiver.status.Store(http.StatusServiceUnavailable)
		h := w.create("https://one.example.org/", eventfeed.Filter{})
		if err := w.store.UpdateHook(t.Context(), h.ID, func(h *hook.Hook) error {
			h.Failures, h.FailingSince = 20, time.Now().Add(-2*delivery.GiveUpAfter)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		w.happen("a")
		var sure atomic.Bool
		stop := w.serveWith(func(d *delivery.Deliverer) {
			d.Use(receiver)
			d.Present = func() data.Present {
				if sure.Load() {
					return data.At(w.clock.now())
				}
				return data.Present{Now: w.clock.now(), Also: w.clock.now().AddDate(-1, 0, 0)}
			}
		})
		time.Sleep(10 * time.Second)
		if doubted := w.hook(h.ID); doubted.Failures != 21 || doubted.State != hook.Active {
			t.Errorf("in doubt it is %+v", doubted)
		}
		sure.Store(true)
		w.clock.forward(hook.LongestWait * 3 / 2)
		time.Sleep(10 * time.Second)
		stop()
		if dead := w.hook(h.ID); dead.State != hook.Dead {
			t.Errorf("without a doubt it is %+v", dead)
		}
	})
}
