package notify_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"limnomap/data"
	"limnomap/data/events/push"
)

// A clock that is more than a year ahead for two minutes, while a server runs or from its start, loses no subscription and nothing that waits for one; when
// it is right again, the message is sent.
func TestAClockThatIsAhead(t *testing.T) {
	for _, name := range []string{"while it runs", "at a start"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, ahead, stop := newFailing(t)
				time.Sleep(30 * time.Second)
				if taken, _ := b.network.counts(); taken == 0 {
					t.Fatal("there was no attempt")
				}
				b.wantCounts("before", 1, 1)
				if name == "at a start" {
					stop()
				}
				ahead(push.KeepFor + 30*24*time.Hour)
				if name == "at a start" {
					stop = b.serve()
				}
				before, _ := b.network.counts()
				time.Sleep(2 * time.Minute)
				if taken, _ := b.network.counts(); taken == before {
					t.Error("while the clock was ahead there was no attempt")
				}
				b.wantCounts("while the clock was ahead", 1, 1)
				b.fails(false)
				ahead(0)
				time.Sleep(3 * time.Minute) // a lease of the wrong time may last
				stop()
				b.wantCounts("when the clock is right again", 1, 0)
			})
		})
	}
}

// While the clock is in doubt, no subscription is dropped; afterwards those that nobody renewed are.
func TestNothingIsDroppedInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t)
		var sure atomic.Bool
		b.present = func() data.Present {
			if sure.Load() {
				return data.At(time.Now())
			}
			return data.Present{Now: time.Now(), Also: time.Now().AddDate(-1, 0, 0)}
		}
		b.add("https://push.example.org/new", "c", "l00")
		old := push.Subscription{Endpoint: "https://push.example.org/old", P256dh: b.browser.P256dh(), Auth: b.browser.Auth(), Lakes: []data.LakeID{"l00"}, Zone: "UTC",
			RenewedAt: time.Now().Add(-push.KeepFor - time.Hour)}
		if err := old.Check(); err != nil {
			t.Fatal(err)
		}
		b.subscribe(old)
		stop := b.begin()
		time.Sleep(2 * time.Minute)
		b.wantCounts("in doubt", 2, 0)
		sure.Store(true)
		time.Sleep(2 * time.Minute)
		stop()
		b.wantCounts("without a doubt", 1, 0)
	})
}

// What waits is dropped when a push service has failed for three days, and not after a few attempts.
func TestGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, ahead, stop := newFailing(t)
		time.Sleep(2 * time.Second)
		b.wantCounts("at first", 1, 1)
		passed := time.Duration(0)
		for queued := int64(1); queued > 0 && passed < 30*24*time.Hour; _, queued = b.counts() {
			passed += time.Hour
			ahead(passed)
			time.Sleep(12 * time.Second)
		}
		stop()
		b.wantCounts("at last", 1, 0)
		if taken, _ := b.network.counts(); taken < 10 || passed < 71*time.Hour || passed > 6*24*time.Hour {
			t.Errorf("given up after %v and %d attempts", passed, taken)
		}
	})
}
