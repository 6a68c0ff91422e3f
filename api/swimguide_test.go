package api

import (
	"bytes"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"limnomap/data"
	"limnomap/data/swimguide"
)

// sampleSource is advisorySource with samples, of which those of three lakes are current and counted.
func sampleSource(tb testing.TB) *fakeSource {
	tb.Helper()
	f := advisorySource(tb)
	add := func(lake, day string, cells float64, taken time.Time) {
		o := data.Observation{LakeID: data.LakeID(lake), Date: date(tb, day), Type: data.InSitu, Chlorophyll: 20_00, Level: data.NoLevel, CellDensity: cells, MeasuredAt: taken}
		for i, other := range f.observations {
			if other.LakeID > o.LakeID || other.LakeID == o.LakeID && (other.Date > o.Date || other.Date == o.Date && other.Type > o.Type) {
				f.observations = append(f.observations[:i:i], append([]data.Observation{o}, f.observations[i:]...)...)
				return
			}
		}
		f.observations = append(f.observations, o)
	}
	add("de_by_clean", "2026-11-15", 150_000, time.Date(2026, 11, 15, 9, 30, 0, 0, time.UTC)) // closed
	add("de_by_medium", "2026-11-16", data.NoCellDensity, time.Time{})                        // its density is derived
	add("de_mv_never", "2026-11-14", 12.5, time.Time{})                                       // information and the season
	add("de_mv_stale", "2026-08-04", 7, time.Time{})                                          // too old
	add("fj_west", "2026-11-16", 0, time.Time{})                                              // a closure that is over, another that has not begun
	return f
}

func sampleServer(t *testing.T, change func(*Options)) *Server {
	t.Helper()
	opts := testOptions(t)
	opts.PublicURL = &url.URL{Scheme: "https", Host: "Lakes.Example.org:8443", Path: "/map"}
	if change != nil {
		change(&opts)
	}
	return newServer(t, opts, sampleSource(t))
}

// readSwimGuide reads a document, which must be valid by the standard.
func readSwimGuide(t *testing.T, content []byte) (records []swimguide.Record, issued time.Time) {
	t.Helper()
	issued, err := swimguide.Read(bytes.NewReader(content), func(_ int, r swimguide.Record, err error) error {
		records = append(records, r)
		return err
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, content)
	}
	if name := os.Getenv("LIMNOMAP_TEST_SWIMGUIDE_SCHEMA"); name != "" {
		checkSwimGuideSchema(t, name, content)
	}
	return records, issued
}

func checkSwimGuideSchema(t *testing.T, name string, content []byte) {
	t.Helper()
	parse := func(content []byte) any {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	schema, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("https://example.org/schema.json", parse(schema)); err != nil {
		t.Fatal(err)
	}
	if err := c.MustCompile("https://example.org/schema.json").Validate(parse(content)); err != nil {
		t.Errorf("%v\n%s", err, content)
	}
}

func TestSwimGuide(t *testing.T) {
	s := sampleServer(t, nil)
	w := get(t, s, http.StatusOK, pathSwimGuide)
	records, issued := readSwimGuide(t, w.Body.Bytes())
	changed := time.Date(2026, 11, 19, 12, 0, 0, 0, time.UTC) // a statement was withdrawn after the data changed
	if !issued.Equal(changed) || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("the document is of %s, a %s", issued, w.Header().Get("Content-Type"))
	}
	loaded := time.Date(2026, 11, 19, 6, 30, 0, 0, time.UTC)
	want := []swimguide.Record{
		{AdvisoryIssued: true, Advisory: "closure, cause: cyanobacteria, issued by Gesundheitsamt: Do not swim.", Updated: loaded,
			Published: time.Date(2026, 11, 15, 9, 30, 0, 0, time.UTC), Location: swimguide.Location{ID: "de_by_clean", Name: "Klarer See", Lat: 48, Lon: 11.5},
			Sample: swimguide.Sample{Result: 150_000}},
		{Updated: loaded, Published: time.Date(2026, 11, 14, 0, 0, 0, 0, time.UTC),
			Location: swimguide.Location{ID: "de_mv_never", Name: "Unbekannt", Lat: 53.5, Lon: 12.9}, Sample: swimguide.Sample{Result: 12.5}},
		{Updated: loaded, Published: time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC),
			Location: swimguide.Location{ID: "fj_west", Name: "Westsee", Lat: -16.9, Lon: -179.5}, Sample: swimguide.Sample{Result: 0}},
	}
	if len(records) != len(want) {
		t.Fatalf("%d records, want %d\n%s", len(records), len(want), w.Body)
	}
	guids := make(map[string]bool)
	for i := range want {
		r, want := records[i], &want[i]
		day := want.Published.Format("20060102")
		if !strings.HasPrefix(r.GUID, "org.example.lakes/"+day+"-") || guids[r.GUID] {
			t.Errorf("guid %s of a sample of %s, want another one for each", r.GUID, day)
		}
		guids[r.GUID] = true
		want.GUID, want.Organization = r.GUID, "Example Agency"
		want.Sample = swimguide.Sample{Collected: want.Published, Location: want.Location, Kind: "single", Method: "unknown",
			Substance: "cyanobacteria", Units: "cells", Result: want.Sample.Result}
		r.References = nil
		got, err := r.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		if want, err := want.Append(nil); err != nil || string(got) != string(want) {
			t.Errorf("record\n%s\nwant\n%s (%v)", got, want, err)
		}
	}
}

// The answer changes when a statement begins or ends, and no cache keeps it longer.
func TestSwimGuideFollowsStatements(t *testing.T) {
	clock := testNow()
	s := sampleServer(t, func(o *Options) { o.Now = func() time.Time { return clock } })
	clock = testNow().Add(time.Hour - 30*time.Second)
	w := get(t, s, http.StatusOK, pathSwimGuide)
	if got := w.Header().Get("Cache-Control"); got != "public, max-age=30" {
		t.Errorf("Cache-Control %q half a minute before a closure", got)
	}
	clock = testNow().Add(time.Hour)
	records, issued := readSwimGuide(t, get(t, s, http.StatusOK, pathSwimGuide).Body.Bytes())
	if r := records[2]; !r.AdvisoryIssued || r.Advisory != "closure, cause: other, issued by Gesundheitsamt" || !r.Updated.Equal(clock) || !issued.Equal(clock) {
		t.Errorf("%+v in a document of %s, want a closure since %s", r, issued, clock)
	}
	if r := records[0]; r.Updated.Equal(clock) {
		t.Errorf("%s is updated by a statement about another lake", r.Location.ID)
	}
}

// Records of simulated data say so, and without an attribution they name the host.
func TestSwimGuideOrganization(t *testing.T) {
	for _, test := range []struct{ notice, attribution, want string }{
		{"Simulated demo data", "Example Agency", "Simulated demo data | Example Agency"},
		{"", "", "Lakes.Example.org"},
	} {
		s := sampleServer(t, func(o *Options) { o.Notice, o.Attribution = test.notice, test.attribution })
		records, _ := readSwimGuide(t, get(t, s, http.StatusOK, pathSwimGuide).Body.Bytes())
		if records[0].Organization != test.want {
			t.Errorf("organization %q, want %q", records[0].Organization, test.want)
		}
	}
}

func TestNoSwimGuide(t *testing.T) {
	const noName = "The public address of this server (--public-url) has no domain name"
	for _, test := range []struct {
		name   string
		public *url.URL
		source *fakeSource
		want   string
	}{
		{"no public address", nil, sampleSource(t), noName},
		{"an IP address", &url.URL{Scheme: "https", Host: "192.0.2.1"}, sampleSource(t), noName},
		{"this machine", &url.URL{Scheme: "http", Host: "localhost:8080"}, sampleSource(t), noName},
		{"no sample", &url.URL{Scheme: "https", Host: "lakes.example.org"}, advisorySource(t), "No sample with a cell count is current"},
		{"no lake", &url.URL{Scheme: "https", Host: "lakes.example.org"}, &fakeSource{}, "No sample with a cell count is current"},
	} {
		opts := testOptions(t)
		opts.PublicURL = test.public
		w := get(t, newServer(t, opts, test.source), http.StatusNotFound, pathSwimGuide)
		if got := w.Body.String(); !strings.Contains(got, test.want) || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %s", test.name, got)
		}
	}
}

// The description has the answer, and all its headers and errors.
func TestOpenAPIDescribesSwimGuide(t *testing.T) {
	router := descriptionRouter(t)
	opts := testOptions(t)
	opts.PublicURL = &url.URL{Scheme: "https", Host: "lakes.example.org"}
	s := newServer(t, opts, sampleSource(t))
	for _, test := range []struct {
		status  int
		headers []string
	}{
		{200, nil}, {206, []string{"Range", "bytes=0-3"}}, {304, []string{"If-None-Match", "*"}}, {406, []string{"Accept-Encoding", "identity;q=0, *;q=0"}},
		{412, []string{"If-Match", `"older"`}}, {416, []string{"Range", "bytes=9999999-"}},
	} {
		wantDescribed(t, router, pathSwimGuide, get(t, s, test.status, pathSwimGuide, test.headers...))
	}
}
