package api

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"limnomap/data"
)

// creditsOfTest names the source itself, with characters that HTML and XML must escape.
func creditsOfTest(sources []string) []Credit {
	var credits []Credit
	for _, source := range sources {
		credits = append(credits, Credit{Text: "Data of " + source + ` & "others" <b>`, URL: "https://example.org/?a=1&b=" + source})
	}
	return credits
}

// productSource is testSource with a satellite value from one more source.
func productSource(tb testing.TB, source string) *fakeSource {
	tb.Helper()
	f := testSource(tb)
	o := f.observations[0]
	o.Type, o.Source, o.Date = data.Satellite, source, date(tb, "2026-11-16")
	f.observations = append(f.observations, o)
	slices.SortStableFunc(f.observations, func(a, b data.Observation) int {
		return cmp.Or(strings.Compare(string(a.LakeID), string(b.LakeID)), cmp.Compare(a.Date, b.Date), cmp.Compare(a.Type, b.Type), strings.Compare(a.Source, b.Source))
	})
	return f
}

// attributionURLs are the answers that say whose data the map shows.
var attributionURLs = []string{tileJSONURL, vectorJSONURL, wmtsURL, "/ogc/", "/ogc/collections", "/ogc/map/tiles/WebMercatorQuad", "/page.json", "/table"}

// Each answer that has the attribution of the operator names the providers after it, and has another entity tag for other providers.
func TestAttributionNamesProviders(t *testing.T) {
	opts := testOptions(t)
	opts.Notice, opts.Credits = "Simulated demo data", creditsOfTest
	s := newServer(t, opts, productSource(t, "A"))
	const credit = `Data of A & "others" <b>`
	for _, address := range []string{tileJSONURL, vectorJSONURL, "/ogc/", "/ogc/map/tiles/WebMercatorQuad"} {
		if got, want := object(t, get(t, s, http.StatusOK, address))["attribution"], "Simulated demo data | Example Agency | "+credit; got != want {
			t.Errorf("%s: attribution %q, want %q", address, got, want)
		}
	}
	if c := capabilitiesAt(t, s, wmtsURL); !strings.Contains(c.Abstract, "Example Agency | "+credit+".") {
		t.Errorf("capabilities: abstract %q, want %q in it", c.Abstract, credit)
	}
	settings := object(t, get(t, s, http.StatusOK, "/page.json"))
	if got, want := settings["attribution"], "Example Agency | "+credit; got != want {
		t.Errorf("page.json: attribution %q, want %q", got, want)
	}
	const markup = `Example Agency | <a href="https://example.org/?a=1&amp;b=A" target="_blank" rel="noopener">Data of A &amp; &#34;others&#34; &lt;b&gt;</a>`
	if got := settings["attribution_html"]; got != markup {
		t.Errorf("page.json: attribution_html %q, want %q", got, markup)
	}
	const link = `<a href="https://example.org/?a=1&amp;b=A" rel="noopener">Data of A &amp; &#34;others&#34; &lt;b&gt;</a>`
	if body := get(t, s, http.StatusOK, "/table").Body.String(); !strings.Contains(body, link) {
		t.Errorf("the table has no %s", link)
	}

	tags := make(map[string]string)
	for _, address := range attributionURLs {
		tags[address] = get(t, s, http.StatusOK, address).Header().Get("ETag")
	}
	before := s.common.current.Load().snap.Version
	snap := testSnapshot(t, productSource(t, "B"))
	snap.Version = before // so that only the providers differ
	if err := s.Publish(snap); err != nil {
		t.Fatal(err)
	}
	for _, address := range attributionURLs {
		answer := get(t, s, http.StatusOK, address)
		if body := answer.Body.String(); !strings.Contains(body, "Data of B") || strings.Contains(body, "Data of A") {
			t.Errorf("%s: does not name the provider of the new data", address)
		}
		if tag := answer.Header().Get("ETag"); tag == "" || tag == tags[address] {
			t.Errorf("%s: entity tag %s with other providers, was %s", address, tag, tags[address])
		}
	}
}

// A provider that the operator names already is not named twice. A notice that the operator repeats is not shown twice on the page.
func TestAttributionNamesNoOneTwice(t *testing.T) {
	opts := testOptions(t)
	opts.Credits = func([]string) []Credit { return []Credit{{Text: "Space Agency"}, {Text: "Other <Agency>"}} }
	opts.Attribution = "Lake Office, with data of the Space Agency"
	s := newServer(t, opts, testSource(t))
	if got, want := object(t, get(t, s, http.StatusOK, tileJSONURL))["attribution"], opts.Attribution+" | Other <Agency>"; got != want {
		t.Errorf("attribution %q, want %q", got, want)
	}
	to := s.common.opts.Adjustable
	to.Attribution = ""
	s.Adjust(to)
	settings := object(t, get(t, s, http.StatusOK, "/page.json"))
	if got, want := fmt.Sprint(settings["attribution"], ", ", settings["attribution_html"]), "Space Agency | Other <Agency>, Space Agency | Other &lt;Agency&gt;"; got != want {
		t.Errorf("page.json: %q, want %q", got, want)
	}

	opts.Notice, opts.Attribution = "Simulated", "Simulated"
	settings = object(t, get(t, newServer(t, opts, nil), http.StatusOK, "/page.json"))
	if settings["attribution"] != "" || settings["attribution_html"] != "" {
		t.Errorf("page.json before the first snapshot: %q and %q, want neither the notice nor providers", settings["attribution"], settings["attribution_html"])
	}
}

// A document about samples does not name the providers of satellite values.
func TestSwimGuideNamesNoProvider(t *testing.T) {
	s := sampleServer(t, func(o *Options) { o.Credits = func([]string) []Credit { return []Credit{{Text: "Space Agency"}} } })
	if body := get(t, s, http.StatusOK, pathSwimGuide).Body.String(); strings.Contains(body, "Space Agency") {
		t.Error("a document about samples names a provider of satellite values")
	}
}
