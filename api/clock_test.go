package api

import (
	"crypto/sha256"
	"net/http"
	"strconv"
	"testing"
	"time"
	"unsafe"

	"limnomap/data/apikey"
)

// A wallClock tells the time as a machine does whose clock is set: what it shows jumps, while the monotonic reading,
// which package time takes for differences, goes on.
type wallClock struct {
	shown  time.Time
	passed time.Duration
}

func (c *wallClock) set(by time.Duration) { c.shown = c.shown.Add(by) }

func (c *wallClock) pass(d time.Duration) {
	c.shown = c.shown.Add(d)
	c.passed += d
}

// now makes a time that nothing but package time can make otherwise, hence the look into its layout, which TestWallClock
// finds out if it has changed: a bit for there being a monotonic reading, the seconds since 1885, and the nanoseconds in
// one word, the reading in the next.
func (c *wallClock) now() (t time.Time) {
	seconds := c.shown.Unix() - time.Date(1885, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	words := (*[2]uint64)(unsafe.Pointer(&t))
	words[0] = 1<<63 | uint64(seconds)<<30 | uint64(c.shown.Nanosecond())
	words[1] = uint64(c.passed)
	return t
}

func TestWallClock(t *testing.T) {
	for _, by := range jumps() {
		c := wallClock{shown: testNow()}
		before := c.now()
		c.pass(time.Second)
		c.set(by)
		after := c.now()
		if want := testNow().Add(time.Second + by); !after.Round(0).Equal(want) || after.Sub(before) != time.Second {
			t.Errorf("set by %v, the clock shows %v, %v later; want %v, 1s later", by, after, after.Sub(before), want)
		}
	}
}

// jumps are those of a clock that was wrong, is set wrong, or is changed by hand for summer time.
func jumps() []time.Duration {
	return []time.Duration{-time.Hour, time.Hour, -24 * 365 * 10 * time.Hour, 24 * 365 * 10 * time.Hour}
}

// A server whose clock is set goes on as if nothing had happened: limits neither lift nor lock, keys stay valid, and a
// key that is revoked afterwards stops working as soon as ever.
func TestFaultClockSet(t *testing.T) {
	const tileURL = "/api/v1/tiles/5/17/11.png"
	for _, by := range jumps() {
		t.Run(by.String(), func(t *testing.T) {
			clock := wallClock{shown: testNow()}
			keys := &fakeKeys{keys: []apikey.Key{{Name: "agency", Hash: sha256.Sum256([]byte(goodKey)), Scopes: apikey.ScopeMonitor}}}
			opts := testOptions(t)
			opts.APIRate, opts.TileRate, opts.KeyRate = 3, 3, 1000
			opts.Now, opts.Keys = clock.now, keys
			s := newServer(t, opts, testSource(t))
			useUp := func() {
				for _, target := range []string{statusURL, tileURL} {
					for range 3 {
						get(t, s, http.StatusOK, target)
					}
				}
			}
			useUp()
			get(t, s, http.StatusOK, monitorURL, "X-API-Key", goodKey)

			clock.set(by)
			for _, target := range []string{statusURL, tileURL} {
				w := get(t, s, http.StatusTooManyRequests, target)
				if wait, err := strconv.Atoi(w.Header().Get("Retry-After")); err != nil || wait < 1 || wait > 60 {
					t.Errorf("%s: Retry-After = %q, want up to a minute", target, w.Header().Get("Retry-After"))
				}
			}
			get(t, s, http.StatusOK, "/healthz")
			get(t, s, http.StatusOK, "/readyz")
			get(t, s, http.StatusOK, "/metrics")
			clock.pass(time.Minute)
			useUp()
			get(t, s, http.StatusOK, monitorURL, "X-API-Key", goodKey)

			clock.set(by) // and once more, between two readings of the keys
			keys.keys[0].RevokedAt = clock.now()
			clock.pass(15 * time.Second)
			wantProblem(t, do(s, http.MethodGet, monitorURL, "X-API-Key", goodKey), http.StatusUnauthorized)
		})
	}
}
