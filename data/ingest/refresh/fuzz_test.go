package refresh

import (
	"net/url"
	"strings"
	"testing"
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
