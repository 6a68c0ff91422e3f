package api

import (
	"net/http"
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
	s := newServer(t, testOptions(t), nil) // it works without a snapshot: the page waits for one
	for _, query := range []string{
		"", "?lake=de_by_clean", "?lake=gone", "?bbox=12.9,52.3,13.8,52.7", "?bbox=179,-17,-179,-16", "?style=dots", "?colormap=algae", "?lang=de", "?lang=nl",
		"?date=1999-12-31", "?unknown=1",
	} {
		w := get(t, s, http.StatusOK, "/embed"+query)
		if !strings.Contains(w.Body.String(), "limnomap, embedded") {
			t.Errorf("/embed%s is not the embedded page: %s", query, w.Body)
		}
	}
	for query, parameters := range map[string][]string{
		"?lake=":                           {"lake"},
		"?lake=a&lake=b":                   {"lake"},
		"?bbox=1,2,3":                      {"bbox"},
		"?bbox=1,2,3,NaN":                  {"bbox"},
		"?bbox=1,5,3,4":                    {"bbox"},
		"?style=jet":                       {"style"},
		"?colormap=jet":                    {"colormap"},
		"?date=soon":                       {"date"},
		"?lang=xx":                         {"lang"},
		"?lang=de&bbox=x&date=y":           {"bbox", "date"},
		"?lake=a%zz":                       {"lake"},
		"?lake=" + strings.Repeat("a", 65): {"lake"},
	} {
		wantProblem(t, do(s, http.MethodGet, "/embed"+query), http.StatusBadRequest, parameters...)
	}
	wantProblem(t, do(s, http.MethodGet, "/embed.html"), http.StatusNotFound) // the only address is the one whose query is checked
	wantProblem(t, do(s, http.MethodGet, "/embed/"), http.StatusNotFound)
}

// Which sites may show a page in a frame, and where its forms may lead.
func TestPoliciesOfDocuments(t *testing.T) {
	for _, test := range []struct {
		ancestors string // as the operator writes them
		want      string // of the embedded map; empty: no directive, all are allowed
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
			form, script := "'none'", "'self'"
			if strings.HasSuffix(target, "/badge.svg") { // an image
				script = ""
			}
			if strings.HasPrefix(target, "/table") && target != "/table.css" {
				form = "'self'"
			}
			if policy["frame-ancestors"] != "'self'" || policy["form-action"] != form || policy["script-src"] != script {
				t.Errorf("%s with %s: %v, want frames only by this server, and form-action %s", target, test.ancestors, policy, form)
			}
		}
	}
	opts := testOptions(t)
	opts.FrameAncestors = FrameAncestors{}
	if got, ok := policyOf(get(t, newServer(t, opts, nil), http.StatusOK, "/embed").Header())["frame-ancestors"]; ok {
		t.Errorf("by default the map may be shown by %s, want all sites", got)
	}
}
