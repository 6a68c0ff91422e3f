package refresh

import (
	"net/url"
	"strings"
	"testing"
	"time"
)

// No source is shown with its password or query, neither in errors nor as a name.
func FuzzSource(f *testing.F) {
	for _, seed := range []string{"https://", "http://", "ftp://", "htps://", "https://h:99999/", "http://[::1]", "//", "\x00://", "https://%zz"} {
		f.Add(seed, "hunter2", "/lakes.csv?token=")
	}
	f.Fuzz(func(t *testing.T, scheme, password, rest string) {
		const mark = "qqhunterqq"
		if strings.Contains(scheme+password+rest, mark) || !strings.Contains(scheme, "://") || len(scheme) > 100 {
			return // folders may be named
		}
		from := scheme + "u:" + mark + url.QueryEscape(password) + "@h" + rest + mark
		p, err := parseSource(from)
		if err != nil {
			if strings.Contains(err.Error(), mark) {
				t.Fatalf("parseSource(%q) = %v", from, err)
			}
			return
		}
		if u, err := url.Parse(from); err == nil && u.User != nil && strings.Contains(u.RawQuery, mark) && strings.Contains(p.String(), mark) {
			t.Fatalf("parseSource(%q) is shown as %s", from, p)
		}
	})
}

// The wait for a server is never negative, and never longer than a header field can express.
func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{"", "120", "-1", "1e9", "99999999999", "Fri, 20 Nov 2026 12:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"} {
		f.Add(seed)
	}
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, field string) {
		if got := retryAfter(field, now); got < 0 {
			t.Fatalf("retryAfter(%q) = %v", field, got)
		}
	})
}
