package api

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"limnomap/data"
)

func TestPageFiles(t *testing.T) {
	s := newServer(t, testOptions(t), nil)
	for target, want := range map[string][2]string{
		"/":                   {"text/html; charset=utf-8", "no-cache"},
		"/index.html":         {"text/html; charset=utf-8", "no-cache"},
		"/assets/app-1234.js": {"text/javascript; charset=utf-8", "public, max-age=31536000, immutable"},
		"/outline.geojson":    {"application/geo+json", "no-cache"},
		"/images/marker.png":  {"image/png", "no-cache"},
	} {
		h := get(t, s, http.StatusOK, target).Header()
		if got := [2]string{h.Get("Content-Type"), h.Get("Cache-Control")}; got != want {
			t.Errorf("%s: Content-Type, Cache-Control = %q, want %q", target, got, want)
		}
	}
	h := get(t, s, http.StatusOK, "/assets/app-1234.js", "Accept-Encoding", "br").Header()
	if h.Get("Content-Encoding") != "br" {
		t.Errorf("a script comes as %q, want br", h.Get("Content-Encoding"))
	}
	if got := get(t, s, http.StatusOK, "/").Header().Get("Content-Security-Policy"); got == "" {
		t.Error("the page has no Content-Security-Policy")
	}
}

// Files that were compressed when the page was built are sent like that, and have no address of their own.
func TestPageFilesCompressedInAdvance(t *testing.T) {
	opts := testOptions(t)
	files := maps.Clone(opts.Page.(fstest.MapFS))
	files["assets/app-1234.js.br"] = &fstest.MapFile{Data: []byte("compressed before")}
	files["licences.txt"] = &fstest.MapFile{Data: []byte("too small to gain by it")}
	files["licences.txt.br"] = &fstest.MapFile{Data: []byte("compressed before")}
	opts.Page = files
	s := newServer(t, opts, nil)
	for _, c := range []struct{ target, accept, coding string }{
		{"/assets/app-1234.js", "br", "br"},
		{"/assets/app-1234.js", "gzip", "gzip"},
		{"/assets/app-1234.js", "identity", ""},
		{"/licences.txt", "br", ""},
	} {
		w := get(t, s, http.StatusOK, c.target, "Accept-Encoding", c.accept)
		sent := w.Body.String() == "compressed before"
		if got := w.Header().Get("Content-Encoding"); got != c.coding || sent != (c.coding == "br") {
			t.Errorf("%s, accepting %s, comes as %q, compressed before: %t", c.target, c.accept, got, sent)
		}
	}
	get(t, s, http.StatusNotFound, "/assets/app-1234.js.br")
}

func TestAPageThatCannotBeServedIsRefused(t *testing.T) {
	for name, files := range map[string]fstest.MapFS{
		"no index.html":   {"assets/app.js": {}, "docs.html": {}, "embed.html": {}},
		"no docs.html":    {"index.html": {}, "embed.html": {}},
		"no embed.html":   {"index.html": {}, "docs.html": {}},
		"unknown content": {"index.html": {}, "docs.html": {}, "embed.html": {}, "tool.exe": {}},
	} {
		opts := testOptions(t)
		opts.Page = files
		if _, err := New(opts); err == nil {
			t.Errorf("%s: New accepts it", name)
		}
	}
}

func TestPageSettings(t *testing.T) {
	opts := testOptions(t)
	opts.Notice = "Simulated"
	opts.BasemapLabelsURL = "https://{s}.labels.example.org/{z}/{x}/{y}.png"
	s := newServer(t, opts, nil)
	want := map[string]any{
		"basemap": map[string]any{"url": "https://tile.example.org/{z}/{x}/{y}.png", "labels_url": "https://{s}.labels.example.org/{z}/{x}/{y}.png", "attribution": "© Example"},
		"notice":  "Simulated", "simulated": true, "attribution": "Example Agency", "attribution_html": "Example Agency", "contact": nil, "links": map[string]any{"imprint": "", "privacy": "", "accessibility": ""}, "max_zoom": 18.0, "version": "", "total_lakes": 0.0, "changes_at": nil, "push_key": nil, "embeddable": true, "places": nil, "forecast": nil,
	}
	if got := object(t, get(t, s, http.StatusOK, "/page.json")); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("page.json = %v, want %v", got, want)
	}
	policy := get(t, s, http.StatusOK, "/").Header().Get("Content-Security-Policy")
	if want := "img-src 'self' data: blob: https://tile.example.org https://*.labels.example.org; "; !strings.Contains(policy, want) {
		t.Errorf("the page's policy is %q, want %q in it", policy, want)
	}
	opts.BasemapLabelsURL = "https://tile.example.org/labels/{z}/{x}/{y}.png"
	policy = get(t, newServer(t, opts, nil), http.StatusOK, "/").Header().Get("Content-Security-Policy")
	if want := "blob: https://tile.example.org; "; !strings.Contains(policy, want) {
		t.Errorf("with labels from the host of the basemap the page's policy is %q, want %q in it", policy, want)
	}
	opts = testOptions(t)
	opts.BasemapURL = ""
	if err := opts.FrameAncestors.UnmarshalText([]byte("self")); err != nil {
		t.Fatal(err)
	}
	got := object(t, get(t, newServer(t, opts, testSource(t)), http.StatusOK, "/page.json"))
	if got["basemap"] != nil || got["simulated"] != false || got["version"] == "" || got["total_lakes"] != 8.0 || got["embeddable"] != false {
		t.Errorf("page.json without a basemap and a notice = %v", got)
	}
}

// A gazetteer of the operator has an address that changes with it, and is stored for ever.
func TestPagePlaces(t *testing.T) {
	opts := testOptions(t)
	opts.Places = []byte(`{"names":"` + strings.Repeat("Ottawa\n", 1000) + `"}`)
	s := newServer(t, opts, nil)
	address, _ := object(t, get(t, s, http.StatusOK, "/page.json"))["places"].(string)
	if !regexp.MustCompile(`^assets/places-[0-9A-F]{8}\.json$`).MatchString(address) {
		t.Fatalf("the gazetteer is at %q", address)
	}
	answer := get(t, s, http.StatusOK, "/"+address)
	if answer.Body.String() != string(opts.Places) || answer.Header().Get("Content-Type") != "application/json" || !strings.Contains(answer.Header().Get("Cache-Control"), "immutable") || answer.Header().Get("ETag") == "" {
		t.Errorf("the gazetteer is %d bytes with %v", answer.Body.Len(), answer.Header())
	}
	if packed := get(t, s, http.StatusOK, "/"+address, "Accept-Encoding", "br"); packed.Header().Get("Content-Encoding") != "br" || packed.Body.Len() > 500 {
		t.Errorf("compressed it has %d bytes, in %q", packed.Body.Len(), packed.Header().Get("Content-Encoding"))
	}
	opts.Places = []byte(`{}`)
	if other := object(t, get(t, newServer(t, opts, nil), http.StatusOK, "/page.json"))["places"]; other == address {
		t.Errorf("another gazetteer has the same address %s", address)
	}
}

// The page learns from its settings when the next statement begins or ends.
func TestPageSettingsAnnounceChanges(t *testing.T) {
	source := testSource(t)
	begins := time.Now().Truncate(time.Second).Add(time.Hour)
	source.advisories = []data.Advisory{{ID: "a", LakeID: source.lakes[0].ID, Kind: data.Closure, Issuer: "Amt", Issued: begins, ValidFrom: begins}}
	s := newServer(t, testOptions(t), source)
	if got, want := object(t, get(t, s, http.StatusOK, "/page.json"))["changes_at"], begins.UTC().Format(time.RFC3339); got != want {
		t.Errorf("changes_at = %v, want %s", got, want)
	}
}

// The page learns from its settings whether there is a forecast that is not over.
func TestPageSettingsNameForecast(t *testing.T) {
	for _, c := range []struct {
		name, now string
		want      []any // issued_at and weeks
	}{
		{"the day of issue", "2026-11-16", []any{"2026-11-16", 4.0}},
		{"the last day", "2026-12-14", []any{"2026-11-16", 4.0}},
		{"the day after", "2026-12-15", nil},
	} {
		opts := testOptions(t)
		opts.Now = func() time.Time { return date(t, c.now).Time().Add(23 * time.Hour) }
		got := object(t, get(t, newServer(t, opts, forecastSource(t)), http.StatusOK, "/page.json"))
		forecast, _ := got["forecast"].(map[string]any)
		if c.want == nil {
			if forecast != nil {
				t.Errorf("%s: forecast = %v, want null", c.name, forecast)
			}
			continue
		}
		if forecast["issued_at"] != c.want[0] || forecast["weeks"] != c.want[1] || forecast["version"] == "" || forecast["version"] == got["version"] {
			t.Errorf("%s: forecast = %v, want %v and a version of its own", c.name, forecast, c.want)
		}
	}
}
