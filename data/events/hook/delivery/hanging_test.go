package delivery_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"limnomap/data"
	"limnomap/data/events/eventfeed"
	"limnomap/data/events/hook"
	"limnomap/data/events/hook/delivery"
)

// Receivers that hang delay no other, and a stop ends the requests to them, which are then no failures.
func TestHangingReceiver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hang := make(chan struct{})
	var hanging atomic.Int64
	slow := newReceiver(t, func(_ int, _ http.ResponseWriter, r *http.Request) bool {
		hanging.Add(1)
		select {
		case <-hang:
		case <-r.Context().Done():
		}
		return false
	})
	defer close(hang)
	var ids []string
	for range 20 {
		ids = append(ids, w.create(slow.URL, eventfeed.Filter{}).ID)
	}
	quick := newReceiver(t, nil)
	w.create(quick.URL, eventfeed.Filter{})
	w.happen("a", "b")
	stop := w.serve()
	w.await("delivered beside those that hang", func() bool { _, taken := quick.list(); return taken == "a b" && hanging.Load() >= 2 })
	if n := hanging.Load(); n > 20 {
		t.Errorf("%d requests to 20 webhooks", n)
	}
	stop()
	for _, id := range ids { // a stop that had waited for an answer would have counted a failure
		if h := w.hook(id); h.Failures != 0 || h.After != 0 {
			t.Errorf("stopped meanwhile, the webhook is %+v", h.Progress)
		}
	}
}

// Receivers that hang delay no other, whether they are at one host or at many, and whether they are asked for the first time or again.
func TestManyHangingReceivers(t *testing.T) {
	for name, tt := range map[string]struct {
		hosts, failures int
	}{"one host": {1, 0}, "one host, again": {1, 3}, "many hosts, again": {1000, 3}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				service := &service{}
				for i := range 320 {
					h := w.create(fmt.Sprintf("https://hang%d.example.org/", i%tt.hosts), eventfeed.Filter{})
					if err := w.store.UpdateHook(t.Context(), h.ID, func(h *hook.Hook) error { h.Failures = tt.failures; return nil }); err != nil {
						t.Fatal(err)
					}
				}
				w.create("https://quick.example.org/", eventfeed.Filter{})
				w.happen("a")
				stop := w.serveWith(func(d *delivery.Deliverer) { d.Use(service) })
				began := time.Now()
				for service.count("quick.example.org") == 0 && time.Since(began) < time.Hour {
					time.Sleep(100 * time.Millisecond)
				}
				if waited, asked := time.Since(began), service.count(""); waited >= 5*time.Second || asked == 0 || asked > 16 {
					t.Errorf("beside 320 that hang, an event took %v by the fake clock, after %d other requests", waited, asked)
				}
				stop()
			})
		})
	}
}

// A service answers requests, unless the name of the host begins with hang. It implements http.RoundTripper.
type service struct {
	mu   sync.Mutex
	took map[string]int // by host
	hung int
}

func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	if strings.HasPrefix(r.URL.Host, "hang") {
		s.hung++
		s.mu.Unlock()
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	defer s.mu.Unlock()
	if s.took == nil {
		s.took = make(map[string]int)
	}
	s.took[r.URL.Host]++
	return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody, Request: r}, nil
}

// count returns how many requests a host took, or how many hang.
func (s *service) count(host string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if host == "" {
		return s.hung
	}
	return s.took[host]
}

// More slow receivers than there are places, each with a backlog, share the places with one that is quick: each gets its turn before another
// one has its next. Were the first ones served until they have all, the others would wait for ten minutes.
func TestManySlowReceivers(t *testing.T) {
	t.Parallel()
	const slow, places, turn, backlog = 5, 2, 10 * time.Millisecond, 600
	w := newWorld(t)
	var receivers []*receiver
	for range slow {
		r := newReceiver(t, func(int, http.ResponseWriter, *http.Request) bool { time.Sleep(2 * turn); return true }) // one event a turn
		w.create(r.URL, eventfeed.Filter{})
		receivers = append(receivers, r)
	}
	quick := newReceiver(t, nil)
	w.create(quick.URL, eventfeed.Filter{Lakes: []data.LakeID{"quick"}})
	w.happen(append(slices.Repeat([]data.LakeID{"a"}, backlog), "quick")...)
	w.serveWith(func(d *delivery.Deliverer) { d.Shorten(places, turn) })
	w.await("delivered to the quick one", func() bool { _, taken := quick.list(); return taken == "quick" })
	w.happen("quick")
	w.await("delivered to all", func() bool {
		for _, r := range receivers {
			if _, taken := r.list(); taken == "" {
				return false
			}
		}
		_, taken := quick.list()
		return taken == "quick quick"
	})
}
