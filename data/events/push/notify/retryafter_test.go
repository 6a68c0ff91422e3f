package notify_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"limnomap/data"
)

// A push service that answers 503 with Retry-After is left alone for all its subscriptions, by closures for five minutes only; one that answers 429 so
// means one subscription. No other is delayed.
func TestRetryAfter(t *testing.T) {
	for _, tt := range []struct {
		status int
		of     string // the paths for which it asks for an hour
		most   int    // requests to that service in ten minutes
		taken  int    // subscriptions that it takes meanwhile
	}{
		{http.StatusServiceUnavailable, "", 4, 0},
		{http.StatusTooManyRequests, "/0", 21, 19},
	} {
		t.Run(fmt.Sprint(tt.status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const subscriptions, others = 20, 5
				b := newBubble(t)
				asked, taken := make(map[string]int), make(map[string]int)
				repaired := false
				b.network.asks = func(r *http.Request) (int, string) {
					asked[r.URL.Host]++
					if r.URL.Host == "asks.example.org" && !repaired && (tt.of == "" || tt.of == r.URL.Path) {
						return tt.status, "3600"
					}
					taken[r.URL.Host]++
					return http.StatusCreated, ""
				}
				counts := func() (askedOf, takenOf, other int) {
					b.network.mu.Lock()
					defer b.network.mu.Unlock()
					return asked["asks.example.org"], taken["asks.example.org"], taken["push.example.org"]
				}
				for i := range subscriptions {
					b.add(fmt.Sprint("https://asks.example.org/", i), fmt.Sprint(i), "l00")
				}
				for i := range others {
					b.add(fmt.Sprint("https://push.example.org/", i), fmt.Sprint(i), "l00")
				}
				stop := b.begin()
				defer stop()
				b.happen(changed("l00", 0, 2))
				time.Sleep(10 * time.Minute)
				requests, took, other := counts()
				if requests == 0 || requests > tt.most || took != tt.taken || other != others {
					t.Errorf("after ten minutes it was asked %d times, want %d at most, and took %d, want %d; the other took %d", requests, tt.most, took, tt.taken, other)
				}
				b.happen(closed("l00", data.AdvisoryIssued))
				time.Sleep(10 * time.Minute)
				again, _, other := counts()
				if again == requests || again > requests+2*tt.most || other != 2*others {
					t.Errorf("ten minutes after a closure it was asked %d times more, and the other took %d", again-requests, other)
				}
				b.network.mu.Lock()
				repaired = true
				b.network.mu.Unlock()
				time.Sleep(2 * time.Hour)
				if _, took, _ := counts(); took != 2*subscriptions {
					t.Errorf("repaired, it took %d messages, want %d", took, 2*subscriptions)
				}
			})
		})
	}
}
