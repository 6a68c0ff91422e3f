package api

import (
	"net/http"
	"strconv"
	"testing"
	"time"
	"unsafe"

	"limnomap/data/apikey"
)

// A wallClock is the clock of a machine whose time is set: the wall clock jumps, while the monotonic reading, which package
// time uses for differences, does not.
type wallClock struct {
	shown  time.Time
	passed time.Duration
}

func (c *wallClock) set(by time.Duration) { c.shown = c.shown.Add(by) }

func (c *wallClock) Advance(d time.Duration) {
	c.shown = c.shown.Add(d)
	c.passed += d
}

// Now returns a time with a wall clock and a monotonic reading that differ. Only package time can make one, so this depends on
// the layout of time.Time, which TestWallClock checks: in the first word a bit for the monotonic reading, the seconds since
// 1885, and the nanoseconds; in the second the reading.
func (c *wallClock) Now() (t time.Time) {
	seconds := c.shown.Unix() - time.Date(1885, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	words := (*[2]uint64)(unsafe.Pointer(&t))
	words[0] = 1<<63 | uint64(seconds)<<30 | uint64(c.shown.Nanosecond())
	words[1] = uint64(c.passed)
	return t
}

func TestWallClock(t *testing.T) {
	for _, by := range jumps() {
		c := wallClock{shown: testNow()}
		before := c.Now()
		c.Advance(time.Second)
		c.set(by)
		after := c.Now()
		if want := testNow().Add(time.Second + by); !after.Round(0).Equal(want) || after.Sub(before) != time.Second {
			t.Errorf("set by %v, the clock shows %v, %v later; want %v, 1s later", by, after, after.Sub(before), want)
		}
	}
}

// jumps are by how much clocks are set: a clock that was wrong, is set wrong, or is changed by hand for summer time.
func jumps() []time.Duration {
	return []time.Duration{-time.Hour, time.Hour, -24 * 365 * 10 * time.Hour, 24 * 365 * 10 * time.Hour}
}

// Setting the clock of a server changes nothing: limits are neither lifted nor stuck, keys stay valid, and a key that is
// revoked afterwards stops working as soon as usual.
func TestFaultClockSet(t *testing.T) {
	const tileURL = "/api/v1/tiles/5/17/11.png"
	for _, by := range jumps() {
		t.Run(by.String(), func(t *testing.T) {
			clock := wallClock{shown: testNow()}
			keys := &fakeKeys{keys: []apikey.Key{{Name: "agency", Hash: apikey.HashOf(goodKey), Scopes: apikey.ScopeMonitor}}}
			opts := testOptions(t)
			opts.APIRate, opts.TileRate, opts.KeyRate = 3, 3, 1000
			opts.Now, opts.Keys = clock.Now, keys
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
			clock.Advance(time.Minute)
			useUp()
			get(t, s, http.StatusOK, monitorURL, "X-API-Key", goodKey)

			clock.set(by) // and once more, between two reads of the keys
			keys.keys[0].RevokedAt = clock.Now()
			clock.Advance(15 * time.Second)
			wantProblem(t, do(s, http.MethodGet, monitorURL, "X-API-Key", goodKey), http.StatusUnauthorized)
		})
	}
}
