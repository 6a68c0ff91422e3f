package api

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"limnomap/api/answer"
	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/outline"
	"limnomap/render"
	"limnomap/tiles"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
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
		if got, _ := extentsOf(test.lakes); !got.Equal(test.want) {
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

// The bounds of the map and of an archive have a part of each tile that is not blank, at every zoom and in every style: clients ask for no tile outside of them.
func TestBoundsTouchEachTile(t *testing.T) {
	const maxZoom = 8
	lake := func(lon, lat float64) data.Lake { return data.Lake{Point: orb.Point{lon, lat}} }
	near := func(lon, lat float64, n int) (lakes []data.Lake) {
		random := rand.New(rand.NewPCG(1, uint64(n)))
		for range n {
			lakes = append(lakes, lake(lon+random.Float64(), lat+random.Float64()))
		}
		return lakes
	}
	outlined := lake(0.1, 50)
	var err error
	if outlined.Outline, err = outline.New(orb.MultiPolygon{{{{-0.4, 49.9}, {0.6, 49.9}, {0.6, 50.1}, {-0.4, 50.1}, {-0.4, 49.9}}}}); err != nil {
		t.Fatal(err)
	}
	world := [2]float64{-180, 180}
	for name, tt := range map[string]struct {
		lakes []data.Lake
		lons  [2]float64 // of the bound that is told, if it goes around the globe
	}{
		"one":                          {[]data.Lake{lake(12, 47)}, [2]float64{}},
		"at a corner of tiles":         {[]data.Lake{lake(0.01, 0.01)}, [2]float64{}},
		"below an edge":                {[]data.Lake{lake(44.9, 40.9)}, [2]float64{}},
		"west of the antimeridian":     {[]data.Lake{lake(179.98, -41)}, world},
		"east of the antimeridian":     {[]data.Lake{lake(-179.9, 66)}, world},
		"on both sides":                {[]data.Lake{lake(179, 0), lake(-179, 0)}, world},
		"not far from it":              {[]data.Lake{lake(172, -43)}, [2]float64{}},
		"a crowd":                      {near(10.5, 51, 60), [2]float64{}},
		"two crowds":                   {append(near(-1, 40.5, 20), near(89, 65.9, 20)...), [2]float64{}},
		"near the pole":                {[]data.Lake{lake(-89.99, 85)}, [2]float64{}},
		"with an outline over an edge": {[]data.Lake{outlined}, [2]float64{}},
	} {
		t.Run(name, func(t *testing.T) {
			source := &fakeSource{}
			for i, l := range tt.lakes {
				l.ID = data.LakeID(fmt.Sprintf("lake%03d", i))
				l.ExternalID, l.Name = string(l.ID), string(l.ID)
				source.lakes = append(source.lakes, l)
				source.observations = append(source.observations, data.Observation{LakeID: l.ID, Date: data.DateOf(testNow()), Type: data.Satellite, Chlorophyll: []data.Chlorophyll{300, 2000, 12000}[i%3], Level: -1, CellDensity: -1})
			}
			opts := testOptions(t)
			service, err := tiles.New(render.New(opts.Limits), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer service.Close()
			snap := snapshotAt(t, source, opts.Now())
			_, told := extentsOf(snap.Lakes)
			if tt.lons == world && (told.Min.Lon() != -180 || told.Max.Lon() != 180) {
				t.Errorf("the bounds are %v, want all longitudes", told)
			}
			for _, style := range render.Styles() {
				pyramid := tiles.Pyramid{MaxZoom: maxZoom, Bound: tiles.World(), Scale: 1, Style: style.ID, Colormap: colormap.Default}
				plot, err := service.Plot(t.Context(), snap.Current.Values(), pyramid)
				if err != nil {
					t.Fatal(err)
				}
				survey, err := plot.Survey(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				drawn := 0
				err = plot.Draw(t.Context(), func(tile maptile.Tile, png []byte) error {
					if png == nil {
						return nil
					}
					drawn++
					for who, b := range map[string]orb.Bound{"map": told, "archive": survey.Extent} {
						if tb := tile.Bound(); b.Min.Lon() >= tb.Max.Lon() || b.Max.Lon() <= tb.Min.Lon() || b.Min.Lat() >= tb.Max.Lat() || b.Max.Lat() <= tb.Min.Lat() {
							t.Errorf("%s: tile %d/%d/%d is not blank and outside of the bounds %v of the %s", style.ID, tile.Z, tile.X, tile.Y, b, who)
						}
					}
					return nil
				})
				if err != nil || drawn < maxZoom {
					t.Fatalf("%d tiles are drawn, %v", drawn, err)
				}
			}
		})
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
