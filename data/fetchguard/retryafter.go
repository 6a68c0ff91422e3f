package fetchguard

import (
	"math"
	"net/http"
	"strconv"
	"time"
)

// RetryAfter returns the wait that a server asks for in a header, given in seconds or as a time (RFC 9110, section 10.2.3); 0 if none.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	field := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(field, 10, 63); err == nil {
		return time.Duration(min(seconds, math.MaxInt32)) * time.Second
	}
	if at, err := http.ParseTime(field); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
