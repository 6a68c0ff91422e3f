package refresh

import (
	"net/url"
	"strings"
	"testing"
	"time"
)

// No text that says where to refresh from is told with its password or query, neither in errors nor as a name.
func FuzzSource(f *testing.F) {
	for _, seed := range []string{"https://", "http://", "ftp://", "htps://", "https://h:99999/", "http://[::1]", "//", "\x00://", "https://%zz"} {
		f.Add(seed, "hunter2", "/lakes.csv?token=")
	}
	f.Fuzz(func(t *testing.T, scheme, password, rest string) {
		const mark = "qqhunterqq"
		if strings.Contains(scheme+password+rest, mark) || !strings.Contains(scheme, "://") || len(scheme) > 100 {
			return // only folders are looked for on the disk, and they are named
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

// A server is never waited for in the past, and for no longer than a field can say.
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
