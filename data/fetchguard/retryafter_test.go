package fetchguard

import (
	"math"
	"net/http"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for field, want := range map[string]time.Duration{
		"": 0, "0": 0, "120": 2 * time.Minute, "-1": 0, "1.5": 0, "99999999999": math.MaxInt32 * time.Second, "99999999999999999999": 0,
		"Wed, 01 Jul 2026 12:00:30 GMT": 30 * time.Second, "Wed, 01 Jul 2026 11:00:00 GMT": 0, "tomorrow": 0,
	} {
		if got := RetryAfter(http.Header{"Retry-After": {field}}, now); got != want {
			t.Errorf("RetryAfter of %q = %v, want %v", field, got, want)
		}
	}
}

// The wait for a server is never negative, and never longer than a header field can express.
func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{"", "120", "-1", "1e9", "99999999999", "Fri, 20 Nov 2026 12:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"} {
		f.Add(seed)
	}
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, field string) {
		if got := RetryAfter(http.Header{"Retry-After": {field}}, now); got < 0 {
			t.Fatalf("RetryAfter(%q) = %v", field, got)
		}
	})
}
