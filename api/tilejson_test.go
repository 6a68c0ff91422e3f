package api

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"limnomap/api/answer"
	"limnomap/data"
	"limnomap/tiles"

	"github.com/paulmach/orb"
)

const tileJSONURL = "/api/v1/tiles.json"

// tileTemplate returns the address of tiles in the TileJSON at target, requested with an untrusted Host.
func tileTemplate(t *testing.T, s *Server, target string, headers ...string) string {
	t.Helper()
	return object(t, get(t, s, http.StatusOK, "http://evil.example.org"+target, headers...))["tiles"].([]any)[0].(string)
}

func TestTileJSON(t *testing.T) {
	s := testServer(t)
	body := object(t, get(t, s, http.StatusOK, tileJSONURL))
	for name, want := range map[string]any{
		"tilejson": "3.0.0", "scheme": "xyz", "minzoom": 0.0, "maxzoom": 18.0, "attribution": "Example Agency",
	} {
		if body[name] != want {
			t.Errorf("%s = %v, want %v", name, body[name], want)
		}
	}
	bounds, center := body["bounds"].([]any), body["center"].([]any)
	for i := range 2 {
		low, middle, high := bounds[i].(float64), center[i].(float64), bounds[i+2].(float64)
		if low >= high || middle < low || middle > high {
			t.Errorf("bounds %v do not hold center %v", bounds, center)
		}
	}
	if _, ok := body["legend"]; ok {
		t.Error("legend is an address, which a client would show as the text that TileJSON says it is")
	}
	legend, _ := object(t, get(t, s, http.StatusOK, tileJSONURL+"?colormap=cividis"))["legend_url"].(string)
	if got := get(t, s, http.StatusOK, legend).Body.String(); !strings.Contains(got, "cividis") {
		t.Errorf("%s = %.200s, want the legend of the tiles' colours", legend, got)
	}
}

func TestTheTemplateMakesTilesImmutable(t *testing.T) {
	s := testServer(t)
	target := strings.NewReplacer("{z}", "6", "{x}", "33", "{y}", "21").Replace(tileTemplate(t, s, tileJSONURL))
	if got := get(t, s, http.StatusOK, target).Header().Get("Cache-Control"); got != answer.CacheForever {
		t.Errorf("Cache-Control of %s = %q, want immutable", target, got)
	}
	changed := testSource(t)
	changed.observations[0].Chlorophyll = 99_00
	if err := s.Publish(testSnapshot(t, changed)); err != nil {
		t.Fatal(err)
	}
	if got := get(t, s, http.StatusOK, target).Header().Get("Cache-Control"); got != cacheTile {
		t.Errorf("Cache-Control of an older version = %q, want the short one", got)
	}
	opts := testOptions(t)
	opts.RendererVersion = "2"
	if other := newServer(t, opts, testSource(t)).common.current.Load().state.MapVersion; other == testServer(t).common.current.Load().state.MapVersion {
		t.Errorf("another renderer has the version %s too", other)
	}
}

func TestTheTemplateCarriesChoicesOver(t *testing.T) {
	s := testServer(t)
	u, err := url.Parse(tileTemplate(t, s, tileJSONURL+"?style=dots&colormap=cividis&date=2026-11-11"))
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if q.Get("style") != "dots" || q.Get("colormap") != "cividis" || q.Get("date") != "2026-11-09" || q.Get("v") == "" {
		t.Errorf("query of the template = %v", q)
	}
	for query, parameter := range map[string]string{"style=x": "style", "colormap=x": "colormap", "date=x": "date"} {
		wantProblem(t, do(s, http.MethodGet, tileJSONURL+"?"+query), http.StatusBadRequest, parameter)
	}
}

func TestAbsoluteAddressesNeverComeFromHost(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} // httptest's client
	parse := func(s string) *url.URL {
		u, err := url.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	forwarded := []string{"X-Forwarded-Proto", "https", "X-Forwarded-Host", "maps.example.org", "X-Forwarded-For", "198.51.100.7"}
	for _, test := range []struct {
		name    string
		change  func(*Options)
		headers []string
		path    string
		want    string
	}{
		{"nothing known", func(*Options) {}, nil, "", "/api/"},
		{"base path", func(o *Options) { o.BasePath = "/lakes" }, nil, "/lakes", "/lakes/api/"},
		{"forwarded by a stranger", func(*Options) {}, forwarded, "", "/api/"},
		{"forwarded by a trusted proxy", func(o *Options) { o.TrustedProxies = trusted }, forwarded, "", "https://maps.example.org/api/"},
		{"public URL", func(o *Options) { o.PublicURL = parse("https://lakes.example.org") }, forwarded, "", "https://lakes.example.org/api/"},
		{"public URL and base path", func(o *Options) { o.PublicURL, o.BasePath = parse("https://example.org/"), "/lakes" }, nil, "/lakes", "https://example.org/lakes/api/"},
		{"public URL with the path", func(o *Options) { o.PublicURL, o.BasePath = parse("https://example.org/lakes"), "/lakes" }, nil, "/lakes", "https://example.org/lakes/api/"},
		{"a proxy that strips a path", func(o *Options) { o.PublicURL = parse("https://example.org/lakes/") }, nil, "", "https://example.org/lakes/api/"},
	} {
		t.Run(test.name, func(t *testing.T) {
			opts := testOptions(t)
			test.change(&opts)
			s := newServer(t, opts, testSource(t))
			got := tileTemplate(t, s, test.path+tileJSONURL, test.headers...)
			if want := test.want + "v1/tiles/{z}/{x}/{y}.png?v="; !strings.HasPrefix(got, want) {
				t.Errorf("template = %q, want %q…", got, want)
			}
		})
	}
}

func TestExtent(t *testing.T) {
	lake := func(lon, lat float64) data.Lake { return data.Lake{Point: orb.Point{lon, lat}} }
	for _, test := range []struct {
		name  string
		lakes []data.Lake
		want  orb.Bound
	}{
		{"none", nil, orb.Bound{Min: orb.Point{-180, -85.0511}, Max: orb.Point{180, 85.0511}}},
		{"one", []data.Lake{lake(10, 50)}, orb.Bound{Min: orb.Point{10 - reach, 50 - reach}, Max: orb.Point{10 + reach, 50 + reach}}},
		{"poles and antimeridian", []data.Lake{lake(-180, -90), lake(180, 90)},
			orb.Bound{Min: orb.Point{-180, -85.0511}, Max: orb.Point{180, 85.0511}}},
	} {
		if got := extentOf(test.lakes); !got.Equal(test.want) {
			t.Errorf("extent of %s = %v, want %v", test.name, got, test.want)
		}
	}
	for width, want := range map[float64]int{360: 1, 10: 6, 1e-12: 18} {
		b := orb.Bound{Max: orb.Point{width, 1}}
		if got := min(tiles.ZoomFor(b), 18); got != want {
			t.Errorf("zoom for %v degrees = %d, want %d", width, got, want)
		}
	}
}

func TestStyles(t *testing.T) {
	body := object(t, get(t, testServer(t), http.StatusOK, "/api/v1/styles"))
	for list, want := range map[string]string{"styles": "[heat dots]", "colormaps": "[limno viridis cividis algae]"} {
		var ids []string
		for i, entry := range body[list].([]any) {
			entry := entry.(map[string]any)
			ids = append(ids, entry["id"].(string))
			if entry["default"] != (i == 0) {
				t.Errorf("%v is default: %v, want only the first", entry["id"], entry["default"])
			}
			if entry["title"] == "" {
				t.Errorf("%v has no title", entry["id"])
			}
		}
		if got := fmt.Sprint(ids); got != want {
			t.Errorf("%s = %s, want %s", list, got, want)
		}
	}
}
