package delivery_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"limnomap/data"
	"limnomap/data/events/eventfeed"
	"limnomap/data/events/hook"
	"limnomap/data/events/hook/delivery"
)

// RoundTrip implements http.RoundTripper: the receiver answers after a tenth of a second, without a connection.
func (r *receiver) RoundTrip(req *http.Request) (*http.Response, error) {
	time.Sleep(100 * time.Millisecond)
	answer := httptest.NewRecorder()
	r.receive(answer, req)
	return answer.Result(), nil
}

// receive makes a receiver by the fake clock, with a webhook for it and a server. It refuses the events of the lakes with that beginning.
func (w *world) receive(status int, refused string) (r *receiver, h hook.Hook, stop func()) {
	r = &receiver{}
	r.answer = func(n int, answer http.ResponseWriter, _ *http.Request) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		if refused == "" || !strings.HasPrefix(r.got[n], refused) {
			return true
		}
		answer.WriteHeader(status)
		return false
	}
	h = w.create("https://one.example.org/", eventfeed.Filter{})
	return r, h, w.serveWith(func(d *delivery.Deliverer) { d.Use(r) })
}

// pass lets time pass by the clock of the servers, with few of their looks.
func (w *world) pass(hours int) {
	for range hours {
		w.clock.forward(time.Hour)
		time.Sleep(3 * time.Second)
	}
}

// ofBoth returns the closures and the other lakes.
func ofBoth(lakes string) (closures, others []string) {
	for _, l := range strings.Fields(lakes) {
		if isClosed(l) {
			closures = append(closures, l)
		} else {
			others = append(others, l)
		}
	}
	return closures, others
}

// A closure does not wait for the events that were before it in the log, whether they are being sent or not; each kind keeps its order.
func TestStatementsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bulk = 1500 // several pages
		w := newWorld(t)
		r, h, stop := w.receive(0, "")
		w.happen(append(slices.Repeat([]data.LakeID{"a"}, bulk), "c", "closed1")...)
		time.Sleep(time.Minute)
		w.happen("closed2", "b", "closed3")
		_, before := r.list()
		time.Sleep(4 * time.Minute)
		stop()
		r.check(t)
		_, taken := r.list()
		closures, others := ofBoth(taken)
		if !slices.Equal(closures, []string{"closed1", "closed2", "closed3"}) || !slices.Equal(others, append(slices.Repeat([]string{"a"}, bulk), "c", "b")) {
			t.Errorf("of each kind came, in this order, %v and %d others", closures, len(others))
		}
		lakes, known := strings.Fields(taken), len(strings.Fields(before))
		if i, j := slices.Index(lakes, "closed1"), slices.Index(lakes, "closed3"); i > 1 || j > known+20 || known < 100 {
			t.Errorf("the first closure was number %d, and the last one, which happened after %d, number %d", i, known, j)
		}
		if p := w.hook(h.ID); p.After != w.newest.Load() || p.Statements.After != w.newest.Load() || p.Statements.DeliveredAt.IsZero() {
			t.Errorf("in the end the webhook is %+v, %+v", p.Progress, p.Statements)
		}
	})
}

// An event that the receiver refuses holds up those of its kind only, and no closure when the webhook would be dead for it. What a receiver asks for by
// Retry-After holds for that kind too.
func TestRefusedEvents(t *testing.T) {
	for name, tt := range map[string]struct {
		status              int
		refused             string
		closures, others    []string
		failures, statement bool
	}{
		"an event of a value": {status: 500, refused: "bad", closures: []string{"closed1", "closed2", "closed3"}, others: []string{"a"}, failures: true},
		"it asks for time":    {status: 429, refused: "bad", closures: []string{"closed1", "closed2", "closed3"}, others: []string{"a"}, failures: true},
		"a closure":           {status: 500, refused: "closed2", closures: []string{"closed1"}, others: []string{"a", "bad", "b", "c"}, statement: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				r, h, stop := w.receive(tt.status, tt.refused)
				w.happen("a", "bad", "closed1", "b")
				time.Sleep(time.Minute)
				w.happen("closed2", "c")
				time.Sleep(time.Minute)
				w.happen("closed3")
				time.Sleep(time.Minute)
				_, taken := r.list()
				if closures, others := ofBoth(taken); !slices.Equal(closures, tt.closures) || !slices.Equal(others, tt.others) {
					t.Errorf("after three minutes it took %v and %v, want %v and %v", closures, others, tt.closures, tt.others)
				}
				failed := w.hook(h.ID)
				if (failed.Failures > 0) != tt.failures || (failed.Statements.Failures > 0) != tt.statement || failed.Both().Failures == 0 || failed.Both().LastError == "" || failed.State != hook.Active {
					t.Errorf("it is %+v", failed)
				}
				// Nothing is lost: repaired, it gets the rest.
				r.mu.Lock()
				r.answer = nil
				r.mu.Unlock()
				w.pass(12)
				stop()
				_, taken = r.list()
				closures, others := ofBoth(taken)
				if !slices.Equal(closures, []string{"closed1", "closed2", "closed3"}) || !slices.Equal(others, []string{"a", "bad", "b", "c"}) {
					t.Errorf("repaired, it took %v and %v", closures, others)
				}
				if p := w.hook(h.ID).Both(); p.Failures != 0 || p.After != w.newest.Load() || p.LastError != "" {
					t.Errorf("in the end it is %+v", p)
				}
			})
		})
	}
}

// A webhook whose receiver takes closures does not die of another event, and one that refuses a closure dies as one that refuses any event.
func TestDeathByKind(t *testing.T) {
	for name, tt := range map[string]struct {
		status        int
		refused       string
		before, after hook.State // while closures come each day, and when none has come for long
	}{
		"an event of a value": {500, "bad", hook.Active, hook.Dead},
		"a closure":           {500, "closed", hook.Dead, hook.Dead},
		"gone":                {410, "bad", hook.Dead, hook.Dead},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				_, h, stop := w.receive(tt.status, tt.refused)
				w.happen("bad")
				for range 5 {
					w.happen("closed", "a")
					w.pass(24)
				}
				if got := w.hook(h.ID).State; got != tt.before {
					t.Errorf("after five days it is %v, want %v", got, tt.before)
				}
				w.pass(6 * 24)
				stop()
				if got := w.hook(h.ID).State; got != tt.after {
					t.Errorf("at last it is %v, want %v", got, tt.after)
				}
			})
		})
	}
}

// Whatever is refused meanwhile, and whenever servers begin and end, each event is told at least once, and those of each kind in their order.
func TestNoEventIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		random := rand.New(rand.NewPCG(1, 2))
		r := &receiver{}
		r.answer = func(_ int, answer http.ResponseWriter, _ *http.Request) bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			if random.IntN(4) == 0 {
				answer.WriteHeader(http.StatusServiceUnavailable)
				return false
			}
			return true
		}
		h := w.create("https://one.example.org/", eventfeed.Filter{})
		var closures, others []string
		var stops []func()
		for i := range 60 {
			if i%7 == 0 {
				stops = append(stops, w.serveWith(func(d *delivery.Deliverer) { d.Use(r) }))
			}
			var lakes []data.LakeID
			for j := range 1 + i%5 {
				id := fmt.Sprintf("l%d-%d", i, j)
				if (i+j)%3 == 0 {
					id = "closed" + id
					closures = append(closures, id)
				} else {
					others = append(others, id)
				}
				lakes = append(lakes, data.LakeID(id))
			}
			w.happen(lakes...)
			time.Sleep(time.Duration(i%4) * 300 * time.Millisecond)
			if i%10 == 9 {
				stops[0]()
				stops = stops[1:]
			}
		}
		for i := 0; i < 200 && w.hook(h.ID).Both().After < w.newest.Load(); i++ {
			w.pass(1)
		}
		for _, stop := range stops {
			stop()
		}
		r.check(t)
		_, taken := r.list()
		gotClosures, gotOthers := ofBoth(taken) // a server that stops between the answer and storing it lets an event come twice
		if !slices.Equal(slices.Compact(gotClosures), closures) || !slices.Equal(slices.Compact(gotOthers), others) {
			t.Errorf("came\n%v\n%v, want\n%v\n%v", gotClosures, gotOthers, closures, others)
		}
	})
}
