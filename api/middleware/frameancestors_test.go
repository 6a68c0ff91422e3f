package middleware

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestFrameAncestors(t *testing.T) {
	many := strings.Repeat("https://example.org,", maxAncestors)
	for text, want := range map[string]string{
		"*": "", "self": "'self'", "'self'": "'self'", "none": "'none'", "'NONE'": "'none'",
		"https://example.org":                        "https://example.org",
		"HTTPS://Example.ORG:443":                    "https://example.org:443",
		"http://intranet":                            "http://intranet",
		"https://*.example.org":                      "https://*.example.org",
		"https://*.example.org:8443 self,http://a.b": "https://*.example.org:8443 'self' http://a.b",
		strings.TrimSuffix(many, ","):                strings.TrimSpace(strings.ReplaceAll(many, ",", " ")),
	} {
		var f FrameAncestors
		if err := f.UnmarshalText([]byte(text)); err != nil || f.sources != want {
			t.Errorf("%q is parsed as %q, %v, want %q", text, f.sources, err, want)
		}
	}
	for _, text := range []string{
		"", " ", ",", "*,self", "none self", "https://a.example *", "example.org", "https://", "https:", "data:", "ftp://example.org",
		"https://example.org/", "https://example.org/path", "https://example.org;script-src", "https://example.org;", "https://*",
		"https://*.", "https://a.*.org", "https://**.example.org", "https://example.org:*", "https://example.org:99999", "https://example.org:",
		"https://user:pass@example.org", "https://exa mple.org;", "https://[::1]", "https://*.[::1]", "https://müritz.example", "'unsafe-inline'",
		"https://example.org\r\nX-Evil:1", "\"self\"", "self;script-src", "https://a.example\x00", "https://%65xample.org", many + "self",
	} {
		var f FrameAncestors
		if err := f.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is accepted as %q", text, f.sources)
		}
	}
}

// No text of the operator adds a directive or a header field.
func FuzzFrameAncestors(f *testing.F) {
	for _, seed := range []string{"*", "self", "https://*.example.org:8443,'self'", "https://a;b", "https://a\r\nb: c", "none none"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var a FrameAncestors
		if a.UnmarshalText([]byte(text)) != nil {
			return
		}
		if strings.ContainsAny(a.sources, ";,\"\r\n\t\x00*") && !strings.Contains(a.sources, "://*.") {
			t.Fatalf("%q is parsed as %q", text, a.sources)
		}
		sources := strings.Fields(a.sources)
		for _, source := range sources {
			if u, err := url.Parse(strings.Replace(source, "*.", "", 1)); source != "'self'" && source != "'none'" && (err != nil || u.Host == "" || source != u.Scheme+"://"+u.Host && !strings.HasPrefix(source, u.Scheme+"://*.")) {
				t.Fatalf("%q is parsed as %q", text, a.sources)
			}
		}
		if slices.Contains(sources, "'none'") && len(sources) > 1 {
			t.Fatalf("%q is parsed as %q", text, a.sources)
		}
	})
}
