package notify_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"limnomap/data"
	"limnomap/data/testsize"
)

// Push services that hang do not keep a closure from those that answer: not those of one host, nor of many, nor those that one client made at the host
// of the others, whether they are asked for the first time or again.
func TestHangingPushServices(t *testing.T) {
	const quick = 20
	for _, tt := range []struct {
		name     string
		endpoint func(i int) string
		clients  int
		again    bool // they have failed before, and the others have been told before
		most     int  // requests that hang, before all others are told
	}{
		{"one host", func(i int) string { return fmt.Sprint("https://hang.example.org/", i) }, 1000, false, 2},
		{"one host, again", func(i int) string { return fmt.Sprint("https://hang.example.org/", i) }, 1000, true, 2},
		{"many hosts, again", func(i int) string { return fmt.Sprintf("https://hang%d.example.org/", i) }, 1000, true, 16},
		{"the same host, one client", func(i int) string { return fmt.Sprint("https://push.example.org/hang", i) }, 1, false, 24},
		{"the same host, without a client", func(i int) string { return fmt.Sprint("https://push.example.org/hang", i) }, 0, false, 24},
		{"the same host, again", func(i int) string { return fmt.Sprint("https://push.example.org/hang", i) }, 1000, true, 24},
	} {
		for _, hanging := range testsize.Of([]int{320}, []int{320, 960}) {
			t.Run(fmt.Sprint(tt.name, " ", hanging), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBubble(t)
					for i := range hanging {
						client := "" // of a subscription from before there were clients
						if tt.clients > 0 {
							client = fmt.Sprint("hostile", i%tt.clients)
						}
						b.add(tt.endpoint(i), client, "l00")
					}
					if tt.again {
						b.fail()
					}
					for i := range quick {
						b.add(fmt.Sprint("https://push.example.org/", i), fmt.Sprint(i), "l00")
					}
					stop := b.begin()
					defer stop()
					b.happen(closed("l00", data.AdvisoryIssued))
					began := time.Now()
					for taken := 0; taken < quick && time.Since(began) < time.Hour; taken, _ = b.network.counts() {
						time.Sleep(100 * time.Millisecond)
					}
					if _, hung := b.network.counts(); time.Since(began) > 20*time.Second || hung > tt.most || hung == 0 {
						t.Errorf("beside %d that hang, a closure took %v by the fake clock, after %d requests to them, want %d at most", hanging, time.Since(began), hung, tt.most)
					}
				})
			})
		}
	}
}

// What an import changed is sent while the rest of it is put into the queue, and a closure, although the last of the events, before all else.
func TestMessagesLeaveWhileTheyAreMade(t *testing.T) {
	const subscriptions, lakes = 400, 20
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t)
		var all []data.LakeID
		var events []data.Event
		for i := range lakes {
			all = append(all, data.LakeID(fmt.Sprintf("l%02d", i)))
			events = append(events, changed(all[i], 0, 2))
		}
		for i := range subscriptions {
			b.add(fmt.Sprint("https://push.example.org/", i), fmt.Sprint(i), all...)
		}
		stop := b.begin()
		defer stop()
		pages := 0
		b.network.first = func() { pages, _ = b.store.counts() }
		b.happen(append(events, closed("l00", data.AdvisoryIssued))...)
		for taken := 0; taken < subscriptions*(lakes+1); taken, _ = b.network.counts() {
			time.Sleep(time.Second)
		}
		if total, _ := b.store.counts(); pages == 0 || pages >= total || total < 4 {
			t.Errorf("the first message leaves after %d of %d pages", pages, total)
		}
		first := b.network.took[:subscriptions]
		if i := slices.IndexFunc(first, func(m string) bool { return !strings.HasPrefix(m, "high") }); i >= 0 {
			t.Errorf("message %d is %s, want the closure to all first", i, first[i])
		}
	})
}

// While push services fail, what is due is looked up once a second at most, and nothing that waits for a later attempt is found.
func TestFailingPushServicesAreQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t)
		for i := range 200 {
			b.add(fmt.Sprint("https://push.example.org/", i), fmt.Sprint(i), "l00", "l01")
		}
		b.network.failed = true
		stop := b.begin()
		defer stop()
		b.happen(changed("l00", 0, 2), changed("l01", 0, 2))
		time.Sleep(10 * time.Minute)
		pages, looks := b.store.counts()
		if taken, _ := b.network.counts(); taken < 1000 || taken > 4000 || looks > 610 || pages > 3 {
			t.Errorf("in ten minutes %d attempts for 200 subscriptions, %d looks, %d pages", taken, looks, pages)
		}
		due, err := b.store.Store.DueSubscriptions(t.Context(), time.Now())
		if err != nil || len(due) > 20 {
			t.Errorf("%d are due, %v, though all have failed many times", len(due), err)
		}
		// Back, it gets a closure at once, and what waits with it.
		b.network.mu.Lock()
		b.network.failed, b.network.took = false, nil
		b.network.mu.Unlock()
		b.happen(closed("l00", data.AdvisoryIssued))
		time.Sleep(time.Minute)
		if taken, _ := b.network.counts(); taken != 3*200 {
			t.Errorf("a minute after a closure %d messages were taken, want %d", taken, 3*200)
		}
	})
}

// What a push service has taken while the disk of the database was full does not keep the subscription from a closure, and is not sent twice.
func TestOutcomeIsStoredLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t)
		b.add("https://push.example.org/one", "c", "l00")
		stop := b.begin()
		defer stop()
		b.store.full.Store(true)
		b.happen(changed("l00", 0, 2))
		time.Sleep(5 * time.Second)
		b.happen(closed("l00", data.AdvisoryIssued))
		time.Sleep(20 * time.Second)
		if taken, _ := b.network.counts(); taken != 1 {
			t.Fatalf("while the disk was full, %d messages were taken, want the first", taken)
		}
		b.store.full.Store(false)
		time.Sleep(5 * time.Second)
		if taken, _ := b.network.counts(); taken != 2 {
			t.Errorf("5 s later %d messages were taken, want the closure too", taken)
		}
	})
}

// A server that stops while a push service hangs ends its lease: the next server sends the message at once.
func TestStopEndsLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t)
		b.add("https://hangs.example.org/one", "c", "l00")
		stop := b.begin()
		b.happen(closed("l00", data.AdvisoryIssued))
		time.Sleep(3 * time.Second)
		if _, hung := b.network.counts(); hung == 0 {
			t.Fatal("there was no attempt")
		}
		stop()
		due, err := b.store.DueSubscriptions(t.Context(), time.Now())
		if err != nil || len(due) != 1 {
			t.Errorf("after the stop %d subscriptions are due, %v, want the one whose message was on its way", len(due), err)
		}
	})
}
