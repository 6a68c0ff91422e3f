package api

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/paulmach/orb"

	"limnomap/data"
	"limnomap/data/outline"
)

const itemsURL = "/ogc/collections/%s/items"

// featureSource is longSource with shores, regions and official statements.
func featureSource(tb testing.TB) *fakeSource {
	tb.Helper()
	f := longSource(tb)
	for i, rings := range map[int][]orb.Ring{
		2: {square(12.5, 53.3, 0.4), square(12.6, 53.4, 0.1)}, // with an island
		6: {square(179.4, -16.9, 1.2)},
	} {
		shore, err := outline.New(orb.MultiPolygon{rings})
		if err != nil {
			tb.Fatal(err)
		}
		f.lakes[i].Outline = shore
	}
	f.lakes[0].Region = "Bayern"
	for i := range 3 {
		f.advisories = append(f.advisories, data.Advisory{ID: data.AdvisoryID(fmt.Sprint("s", i)), LakeID: f.lakes[i].ID, Kind: data.Closure, Cause: data.Bacteria, Issuer: "Office",
			TextEN: "Closed", Issued: testNow().AddDate(0, 0, -i), ValidFrom: testNow().AddDate(0, 0, -i), ValidUntil: testNow().AddDate(0, 0, 1-i)})
	}
	return f
}

func square(x, y, side float64) orb.Ring {
	return orb.Ring{{x, y}, {x + side, y}, {x + side, y + side}, {x, y + side}, {x, y}}
}

// featureServer serves featureSource: what is older than a week comes from the store.
func featureServer(tb testing.TB) *Server {
	tb.Helper()
	opts := testOptions(tb)
	source := featureSource(tb)
	opts.Historian = source
	return shortServer(tb, opts, source)
}

// A featurePage is an answer with features.
type featurePage struct {
	Features []struct {
		ID       string
		Geometry *struct {
			Type        string
			Coordinates json.RawMessage
		}
		Properties map[string]any
	}
	NumberReturned int
	NumberMatched  *int
	Links          []link
}

// featuresAt returns the page at an address, and the address of the next one, if there is one.
func featuresAt(tb testing.TB, s *Server, target string) (p featurePage, next string) {
	tb.Helper()
	if err := json.Unmarshal(get(tb, s, http.StatusOK, target).Body.Bytes(), &p); err != nil {
		tb.Fatal(err)
	}
	if p.NumberReturned != len(p.Features) {
		tb.Errorf("%s: %d features, and numberReturned %d", target, len(p.Features), p.NumberReturned)
	}
	for _, l := range p.Links {
		if l.Rel == "next" {
			next = l.Href
		}
	}
	return p, next
}

// idsAt returns the ids of all features from an address on, page by page.
func idsAt(tb testing.TB, s *Server, target string) (ids []string) {
	tb.Helper()
	for pages := 0; target != ""; pages++ {
		if pages > 100 {
			tb.Fatalf("no end of pages at %s", target)
		}
		var p featurePage
		p, target = featuresAt(tb, s, target)
		for _, f := range p.Features {
			ids = append(ids, f.ID)
		}
	}
	return ids
}

// itemsAt returns the address of features with a query.
func itemsAt(collection string, query ...string) string {
	values := url.Values{}
	for i := 0; i < len(query); i += 2 {
		values.Set(query[i], query[i+1])
	}
	return fmt.Sprintf(itemsURL, collection) + "?" + values.Encode()
}

// Pages of any length visit each feature once, in the same order, and each feature is at its own address.
func TestPagesVisitEachFeatureOnce(t *testing.T) {
	s := featureServer(t)
	for collection, want := range map[string]int{"lakes": 8, "observations": 13, "advisories": 3, "events": 0} {
		all := idsAt(t, s, itemsAt(collection))
		if len(all) != want || len(slices.Compact(slices.Sorted(slices.Values(all)))) != want {
			t.Errorf("%s: %d features, want %d different ones: %v", collection, len(all), want, all)
		}
		for _, limit := range []string{"1", "2", "3", "7"} {
			if got := idsAt(t, s, itemsAt(collection, "limit", limit)); !slices.Equal(got, all) {
				t.Errorf("%s in pages of %s: %v, want %v", collection, limit, got, all)
			}
		}
		for _, id := range all {
			if got := object(t, get(t, s, http.StatusOK, fmt.Sprintf(itemsURL, collection)+"/"+url.PathEscape(id)))["id"]; got != id {
				t.Errorf("%s: feature %s is at the address of %s", collection, got, id)
			}
		}
		wantProblem(t, do(s, http.MethodGet, fmt.Sprintf(itemsURL, collection)+"/none"), http.StatusNotFound)
	}
	wantProblem(t, do(s, http.MethodGet, fmt.Sprintf(itemsURL, "lake")), http.StatusNotFound)
}

// New values and lakes between two pages neither repeat nor leave out a feature that was there all the time.
func TestPagesWhileDataChange(t *testing.T) {
	opts := testOptions(t)
	source := featureSource(t)
	opts.Historian = source
	s := newServer(t, opts, source)
	for _, collection := range []string{"lakes", "observations"} {
		before := idsAt(t, s, itemsAt(collection))
		seen := make(map[string]int)
		target := itemsAt(collection, "limit", "2")
		for i := 0; target != ""; i++ {
			var p featurePage
			p, target = featuresAt(t, s, target)
			for _, f := range p.Features {
				seen[f.ID]++
			}
			source.lakes = append(source.lakes, data.Lake{ID: data.LakeID(fmt.Sprintf("%s_%s%02d", []string{"aa", "de_by", "zz"}[i%3], collection[:1], i)), Name: "New", Point: orb.Point{10, 50}})
			slices.SortFunc(source.lakes, func(a, b data.Lake) int { return strings.Compare(string(a.ID), string(b.ID)) })
			source.revision.Number++
			if err := s.Publish(snapshotAt(t, source, testNow())); err != nil {
				t.Fatal(err)
			}
			if i > 200 {
				t.Fatal("no end")
			}
		}
		for _, id := range before {
			if seen[id] != 1 {
				t.Errorf("%s was seen %d times", id, seen[id])
			}
		}
		if most := slices.Max(slices.Collect(maps.Values(seen))); most > 1 {
			t.Errorf("%s: a feature was seen %d times", collection, most)
		}
	}
}

func TestFeaturesAreSelected(t *testing.T) {
	s := featureServer(t)
	for _, tt := range []struct {
		collection string
		query      []string
		want       string // ids; of observations lake and date
	}{
		{"lakes", []string{"bbox", "12,48,13,53.5"}, "de_by_medium de_mv_high de_mv_never"},
		{"lakes", []string{"bbox", "48,12,53.5,13", "bbox-crs", "http://www.opengis.net/def/crs/EPSG/0/4326"}, "de_by_medium de_mv_high de_mv_never"},
		{"lakes", []string{"bbox", "12,48,0,13,53.5,100"}, "de_by_medium de_mv_high de_mv_never"},
		{"lakes", []string{"bbox", "179,-20,-179,-10"}, "fj_east fj_west"},
		{"lakes", []string{"bbox", "12.4,53.25,12.55,53.35"}, ""},
		{"lakes", []string{"bbox", "12.4,53.25,12.55,53.35", "geometry", "outline"}, "de_mv_high"},
		{"lakes", []string{"bbox", "12.62,53.42,12.68,53.48", "geometry", "outline"}, ""}, // the island
		{"lakes", []string{"bbox", "-179.6,-17,-179.45,-16.5", "geometry", "outline"}, "fj_east fj_west"},
		{"lakes", []string{"bbox", "1334000,6100000,1500000,7200000", "bbox-crs", "EPSG:3857"}, "de_by_medium de_mv_high de_mv_never de_mv_scum de_mv_stale"},
		{"lakes", []string{"risk", "high"}, "de_mv_high de_mv_scum de_mv_stale"},
		{"lakes", []string{"risk", "high", "stale", "false", "chl", "61.2"}, "de_mv_high"},
		{"lakes", []string{"filter", "chl > 5 AND NOT stale"}, "de_by_medium de_mv_high de_mv_scum fj_west"},
		{"lakes", []string{"filter", "region = 'Bayern' OR name LIKE '%see'"}, "de_by_clean de_mv_scum de_mv_stale fj_west"},
		{"lakes", []string{"filter", `{"op":"isNull","args":[{"property":"measured_at"}]}`, "filter-lang", "cql2-json"}, "de_mv_never"},
		{"lakes", []string{"filter", "S_INTERSECTS(geometry, BBOX(1334000,6100000,1500000,7200000))", "filter-crs", "http://www.opengis.net/def/crs/EPSG/0/3857"}, "de_by_medium de_mv_high de_mv_never de_mv_scum de_mv_stale"},
		{"lakes", []string{"datetime", "2026-11-10/.."}, "de_by_clean de_mv_high de_mv_scum fj_east fj_west"},
		{"lakes", []string{"datetime", "../2026-11-09"}, "de_by_medium de_mv_stale"},
		{"lakes", []string{"sortby", "-chl", "limit", "3"}, "de_mv_high fj_west de_by_medium de_mv_scum de_by_clean fj_east de_mv_never de_mv_stale"},
		{"lakes", []string{"sortby", "risk,-name", "limit", "2"}, "de_mv_stale de_mv_scum de_mv_high fj_east de_by_clean fj_west de_by_medium de_mv_never"},
		{"observations", []string{"lake_id", "de_by_clean"}, "de_by_clean:2026-11-16 de_by_clean:2026-11-02 de_by_clean:2019-07-01 de_by_clean:2013-01-07 de_by_clean:2012-05-14 de_by_clean:2012-05-07"},
		{"observations", []string{"datetime", "2012-05-14T00:00:00Z/2019-07-01T12:00:00Z"}, "de_by_clean:2019-07-01 de_by_clean:2013-01-07 de_by_clean:2012-05-14"},
		{"observations", []string{"bbox", "12,53,13,54", "filter", "chl IS NOT NULL AND date > DATE('2026-08-03')"}, "de_mv_high:2026-11-16 de_mv_scum:2026-11-16"},
		{"observations", []string{"filter", "lake_id IN ('fj_east','fj_west') AND chl >= 20"}, "fj_west:2026-11-16"},
		{"advisories", []string{"active", "true"}, "s0"},
		{"advisories", []string{"datetime", testNow().AddDate(0, 0, -1).Format(time.RFC3339)}, "s1 s2"},
		{"advisories", []string{"bbox", "12,53,13,54"}, "s2"},
	} {
		ids := idsAt(t, s, itemsAt(tt.collection, tt.query...))
		for i, id := range ids {
			if tt.collection == "observations" {
				ids[i], _, _ = strings.Cut(id, ":satellite")
			}
		}
		if got := strings.Join(ids, " "); got != tt.want {
			t.Errorf("%s %v: %s, want %s", tt.collection, tt.query, got, tt.want)
		}
	}
}

// What is wrong is refused, and the parameter named.
func TestFeaturesRefuse(t *testing.T) {
	s := featureServer(t)
	for _, tt := range []struct{ name, value string }{
		{"limit", "0"}, {"limit", "10001"}, {"bbox", "1,2,3"}, {"bbox", "1,60,2,50"}, {"bbox", "NaN,1,2,3"}, {"bbox-crs", "EPSG:27700"}, {"crs", "EPSG:1"},
		{"datetime", "yesterday"}, {"datetime", "../.."}, {"filter", "chl >"}, {"filter-lang", "sql"}, {"filter-crs", "x"}, {"properties", "chl,colour"}, {"properties", "chl,chl"},
		{"sortby", "colour"}, {"sortby", "geometry"}, {"after", "a b"}, {"f", "xml"}, {"geometry", "hull"}, {"skipGeometry", "1"}, {"chl", "much"}, {"stale", "no"}, {"colour", "red"}, {"offset", "10"},
	} {
		wantProblem(t, do(s, http.MethodGet, itemsAt("lakes", tt.name, tt.value)), http.StatusBadRequest, tt.name)
	}
	for _, tt := range []struct{ collection, name, value string }{
		{"observations", "sortby", "chl"}, {"observations", "after", "de_by_clean"}, {"events", "geometry", "outline"}, {"events", "after", "x"},
	} {
		wantProblem(t, do(s, http.MethodGet, itemsAt(tt.collection, tt.name, tt.value)), http.StatusBadRequest, tt.name)
	}
	wantProblem(t, do(s, http.MethodGet, itemsAt("lakes", "after", "x", "sortby", "chl")), http.StatusBadRequest, "after")
	get(t, s, http.StatusOK, itemsAt("lakes", "offset", "0")) // as @camptocamp/ogc-client sends it
	wantProblem(t, do(s, http.MethodGet, "/ogc/collections/lakes/queryables?limit=1"), http.StatusBadRequest, "limit")
}

// Geometries are in the system that was asked for, as PROJ has them, in the order of its axes, and shores are cut at the antimeridian.
func TestFeatureGeometries(t *testing.T) {
	s := featureServer(t)
	for _, tt := range []struct{ id, crs, geometry, kind, want string }{
		{"de_by_clean", "", "", "Point", "[11.5,48]"},
		{"de_by_clean", "http://www.opengis.net/def/crs/EPSG/0/4326", "", "Point", "[48,11.5]"},
		{"de_by_clean", "http://www.opengis.net/def/crs/EPSG/0/3857", "", "Point", "[1280174.14,6106854.83]"},
		{"de_by_clean", "http://www.opengis.net/def/crs/EPSG/0/25832", "", "Point", "[686482.64,5319324.56]"},
		{"de_by_clean", "http://www.opengis.net/def/crs/EPSG/0/3035", "", "Point", "[2766293.99,4432988.94]"},
		{"de_by_clean", "", "outline", "Point", "[11.5,48]"},
		{"de_mv_high", "", "outline", "MultiPolygon", "[[[[12.5,53.3],[12.9,53.3],[12.9,53.7],[12.5,53.7],[12.5,53.3]],[[12.6,53.4],[12.6,53.5],[12.7,53.5],[12.7,53.4],[12.6,53.4]]]]"},
		{"fj_east", "", "outline", "MultiPolygon", "[[[[179.4,-16.9],[180,-16.9],[180,-15.7],[179.4,-15.7],[179.4,-16.9]]],[[[-180,-16.9],[-179.4,-16.9],[-179.4,-15.7],[-180,-15.7],[-180,-16.9]]]]"},
	} {
		query := url.Values{}
		if tt.crs != "" {
			query.Set("crs", tt.crs)
		}
		if tt.geometry != "" {
			query.Set("geometry", tt.geometry)
		}
		w := get(t, s, http.StatusOK, fmt.Sprintf(itemsURL, "lakes")+"/"+tt.id+"?"+query.Encode())
		var f struct {
			Geometry struct {
				Type        string
				Coordinates json.RawMessage
			}
		}
		if err := json.Unmarshal(w.Body.Bytes(), &f); err != nil {
			t.Fatal(err)
		}
		if f.Geometry.Type != tt.kind || string(f.Geometry.Coordinates) != tt.want {
			t.Errorf("%s %v: %s %s, want %s %s", tt.id, query, f.Geometry.Type, f.Geometry.Coordinates, tt.kind, tt.want)
		}
		if got, want := w.Header().Get("Content-Crs"), "<"+tt.crs+">"; tt.crs != "" && got != want {
			t.Errorf("Content-Crs: %s, want %s", got, want)
		}
	}
	if p, _ := featuresAt(t, s, itemsAt("lakes", "limit", "3")); p.NumberReturned != 3 || p.NumberMatched == nil || *p.NumberMatched != 8 {
		t.Errorf("%d returned, %v matched", p.NumberReturned, p.NumberMatched)
	}
	if p, _ := featuresAt(t, s, itemsAt("lakes", "bbox", "12,48,13,53.5")); p.NumberReturned != 3 || p.NumberMatched != nil {
		t.Errorf("%d returned, %v matched, which is not known", p.NumberReturned, p.NumberMatched)
	}
	p, _ := featuresAt(t, s, itemsAt("lakes", "skipGeometry", "true", "limit", "1", "properties", "chl,name"))
	if f := p.Features[0]; f.Geometry != nil || len(f.Properties) != 2 || f.Properties["chl"] != 3.45 {
		t.Errorf("%+v", f)
	}
}

// The same features are a table, and a page for people without scripts.
func TestFeatureForms(t *testing.T) {
	s := featureServer(t)
	w := get(t, s, http.StatusOK, itemsAt("lakes", "f", "csv", "properties", "id,name,chl", "limit", "2"))
	rows, err := csv.NewReader(w.Body).ReadAll()
	if err != nil || len(rows) != 3 || rows[0][2] != "chl" || rows[2][1] != `Grüner "See" <&>` {
		t.Errorf("%v, %v", rows, err)
	}
	if got := strings.Join(w.Header().Values("Link"), " "); !strings.Contains(got, `after=de_by_medium`) || !strings.Contains(got, `rel="next"`) {
		t.Errorf("Link: %s", got)
	}
	for _, target := range []string{"/ogc/", "/ogc/conformance", "/ogc/collections", "/ogc/collections/chlorophyll", "/ogc/collections/lakes", "/ogc/collections/lakes/queryables", itemsAt("lakes"),
		itemsAt("observations"), itemsAt("advisories"), itemsAt("events"), fmt.Sprintf(itemsURL, "lakes") + "/de_by_medium"} {
		w := get(t, s, http.StatusOK, target, "Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
		page := w.Body.String()
		if got := w.Header().Get("Content-Type"); got != "text/html; charset=utf-8" || strings.Contains(page, "<script") || !strings.Contains(page, "<h1>") || !strings.Contains(page, "</html>") {
			t.Errorf("%s is %s: %.300s", target, got, page)
		}
		if !strings.Contains(strings.Join(w.Header().Values("Vary"), ","), "Accept") {
			t.Errorf("%s: Vary %v", target, w.Header().Values("Vary"))
		}
		if strings.Contains(page, `"See" <&>`) {
			t.Errorf("%s: a name is not escaped", target)
		}
	}
	queryables := object(t, get(t, s, http.StatusOK, "/ogc/collections/lakes/queryables"))["properties"].(map[string]any)
	if queryables["chl"].(map[string]any)["type"] != "number" || queryables["measured_at"].(map[string]any)["format"] != "date-time" || queryables["geometry"] == nil || queryables["advisory"] != nil {
		t.Errorf("queryables %v", queryables)
	}
}

// The description of the features is valid OpenAPI 3.0, and has each collection at an address of its own, with the largest limit.
func TestFeaturesDescription(t *testing.T) {
	s, _ := pixelServer(t)
	w := get(t, s, http.StatusOK, "/ogc/api")
	doc, err := openapi3.NewLoader().LoadFromData(w.Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil || doc.OpenAPI != "3.0.3" {
		t.Errorf("%s: %v", doc.OpenAPI, err)
	}
	for _, collection := range []string{"lakes", "observations", "advisories", "events"} {
		limit := doc.Paths.Value("/collections/"+collection+"/items").Get.Parameters.GetByInAndName("query", "limit")
		if limit == nil || *limit.Schema.Value.Max != 10_000 || limit.Schema.Value.Default != 1000. {
			t.Errorf("%s: limit %+v", collection, limit)
		}
	}
	for path, item := range doc.Paths.Map() {
		if strings.HasSuffix(path, "/{featureId}") {
			continue
		}
		query := url.Values{}
		for name, value := range map[string]string{"coords": map[bool]string{false: "POINT(11.5 48)", true: "POLYGON((11 47,12 47,12 49,11 47))"}[strings.HasSuffix(path, "/area")], "bbox": "11,47,13,54", "within": "9", "within-units": "km"} {
			if item.Get.Parameters.GetByInAndName("query", name) != nil {
				query.Set(name, value)
			}
		}
		get(t, s, http.StatusOK, "/ogc"+strings.Replace(path, "{locationId}", "de_by_clean", 1)+"?"+query.Encode())
	}
}
