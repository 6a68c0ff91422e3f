package api

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// policyOf returns the directives of a Content-Security-Policy.
func policyOf(h http.Header) map[string]string {
	directives := make(map[string]string)
	for d := range strings.SplitSeq(h.Get("Content-Security-Policy"), "; ") {
		name, sources, _ := strings.Cut(d, " ")
		directives[name] = sources
	}
	return directives
}

func TestEmbed(t *testing.T) {
	s := newServer(t, testOptions(t), nil) // it waits for no snapshot: the page does
	for _, query := range []string{
		"", "?lake=de_by_clean", "?lake=gone", "?bbox=12.9,52.3,13.8,52.7", "?bbox=179,-17,-179,-16", "?style=dots", "?lang=de",
		"?date=1999-12-31", "?unknown=1",
	} {
		w := get(t, s, http.StatusOK, "/embed"+query)
		if !strings.Contains(w.Body.String(), "limnomap, embedded") {
			t.Errorf("/embed%s is not the page for frames: %s", query, w.Body)
		}
	}
	for query, parameters := range map[string][]string{
		"?lake=":                           {"lake"},
		"?lake=-":                          {"lake"},
		"?lake=%22%3E%3Cscript":            {"lake"},
		"?lake=a&lake=b":                   {"lake"},
		"?bbox=":                           {"bbox"},
		"?bbox=1,2,3":                      {"bbox"},
		"?bbox=1,2,3,4,5":                  {"bbox"},
		"?bbox=1,2,3,NaN":                  {"bbox"},
		"?bbox=1,2,3,0x4p0":                {"bbox"},
		"?bbox=1,2,3,Inf":                  {"bbox"},
		"?bbox=-181,2,3,4":                 {"bbox"},
		"?bbox=1,-91,3,4":                  {"bbox"},
		"?bbox=1,5,3,4":                    {"bbox"},
		"?style=jet":                       {"style"},
		"?style=":                          {"style"},
		"?date=soon":                       {"date"},
		"?date=2026-11-31":                 {"date"},
		"?lang=fr":                         {"lang"},
		"?lang=de&bbox=x&date=y":           {"bbox", "date"},
		"?lake=a%zz":                       {"lake"},
		"?lake=" + strings.Repeat("a", 65): {"lake"},
	} {
		wantProblem(t, do(s, http.MethodGet, "/embed"+query), http.StatusBadRequest, parameters...)
	}
	wantProblem(t, do(s, http.MethodGet, "/embed.html"), http.StatusNotFound) // one address, whose query is checked
	wantProblem(t, do(s, http.MethodGet, "/embed/"), http.StatusNotFound)
}

// Who may show what in a frame, and where forms may lead.
func TestPoliciesOfDocuments(t *testing.T) {
	for _, test := range []struct {
		ancestors string // as the operator says them
		want      string // of the embedded map; empty: nothing keeps anybody out
	}{
		{"*", ""},
		{"self", "'self'"},
		{"'none'", "'none'"},
		{"https://example.org, https://*.example.org:8443 'self'", "https://example.org https://*.example.org:8443 'self'"},
	} {
		opts := testOptions(t)
		if err := opts.FrameAncestors.UnmarshalText([]byte(test.ancestors)); err != nil {
			t.Fatal(err)
		}
		s := newServer(t, opts, testSource(t))
		for _, target := range []string{"/embed", "/embed?style=jet"} {
			h := do(s, http.MethodGet, target).Header()
			got, limited := policyOf(h)["frame-ancestors"]
			if got != test.want || limited != (test.want != "") || h.Get("X-Frame-Options") != "" {
				t.Errorf("%s with %s: frame-ancestors %q, want %q", target, test.ancestors, got, test.want)
			}
			if got := policyOf(h)["form-action"]; got != "'none'" {
				t.Errorf("%s: form-action %s", target, got)
			}
		}
		for _, target := range append(cachedTargets(), "/nowhere", "/table?risk=no") {
			if target == "/embed" {
				continue
			}
			h := do(s, http.MethodGet, target, "X-API-Key", goodKey).Header()
			if isPicture(h.Get("Content-Type")) || strings.Contains(h.Get("Content-Type"), "mapbox-vector") {
				continue
			}
			policy := policyOf(h)
			form := "'none'"
			if strings.HasPrefix(target, "/table") && target != tableStyle {
				form = "'self'"
			}
			if policy["frame-ancestors"] != "'self'" || policy["form-action"] != form || policy["script-src"] != "'self'" {
				t.Errorf("%s with %s: %v, want frames by this server alone, and form-action %s", target, test.ancestors, policy, form)
			}
		}
	}
	var anybody FrameAncestors
	opts := testOptions(t)
	opts.FrameAncestors = anybody
	if got, ok := policyOf(get(t, newServer(t, opts, nil), http.StatusOK, "/embed").Header())["frame-ancestors"]; ok {
		t.Errorf("by default the map may be shown by %s, want anybody", got)
	}
}

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
			t.Errorf("%q reads as %q, %v, want %q", text, f.sources, err, want)
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
			t.Errorf("%q is taken for %q", text, f.sources)
		}
	}
}

// What the operator wrote never brings a directive, or a header field, of its own.
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
			t.Fatalf("%q reads as %q", text, a.sources)
		}
		sources := strings.Fields(a.sources)
		for _, source := range sources {
			if u, err := url.Parse(strings.Replace(source, "*.", "", 1)); source != "'self'" && source != "'none'" && (err != nil || u.Host == "" || source != u.Scheme+"://"+u.Host && !strings.HasPrefix(source, u.Scheme+"://*.")) {
				t.Fatalf("%q reads as %q", text, a.sources)
			}
		}
		if slices.Contains(sources, "'none'") && len(sources) > 1 {
			t.Fatalf("%q reads as %q", text, a.sources)
		}
	})
}
