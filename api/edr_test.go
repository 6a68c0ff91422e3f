package api

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/paulmach/orb"

	"limnomap/api/edr"
	"limnomap/data"
	"limnomap/data/index"
)

// seriesAt returns the address of a query for series.
func seriesAt(query string, parameters ...string) string {
	values := url.Values{}
	for i := 0; i < len(parameters); i += 2 {
		values.Set(parameters[i], parameters[i+1])
	}
	return pathSeries + query + "?" + values.Encode()
}

// seriesSource is featureSource with samples, of which one is on the day of a pass, and a pass without a value.
func seriesSource(tb testing.TB) *fakeSource {
	tb.Helper()
	f := featureSource(tb)
	add := func(o data.Observation) {
		o.Level, o.CellDensity = data.NoLevel, data.NoCellDensity
		f.observations = append(f.observations, o)
	}
	temperature := data.Known(data.Hundredths(18_50))
	add(data.Observation{LakeID: "de_by_clean", Date: date(tb, "2026-11-02"), Type: data.InSitu, Source: "Lab", Chlorophyll: 4_20, Quality: data.Suspect, Details: data.Details{WaterTemperature: temperature}})
	add(data.Observation{LakeID: "de_by_clean", Date: date(tb, "2019-07-02"), Type: data.InSitu, Source: "Lab", Chlorophyll: 5_00, Details: data.Details{BelowLimit: true, Upper: data.Known(data.Chlorophyll(5_00))}})
	add(data.Observation{LakeID: "de_by_medium", Date: date(tb, "2019-07-03"), Type: data.Satellite, Chlorophyll: data.NoChlorophyll})
	slices.SortStableFunc(f.observations, func(a, b data.Observation) int {
		return cmp.Or(strings.Compare(string(a.LakeID), string(b.LakeID)), cmp.Compare(a.Date, b.Date), cmp.Compare(a.Type, b.Type))
	})
	return f
}

func seriesServer(tb testing.TB) (*Server, *fakeSource) {
	tb.Helper()
	opts := testOptions(tb)
	source := seriesSource(tb)
	opts.Historian, opts.APIRate = source, 0
	return shortServer(tb, opts, source), source
}

// A coverageRange is the values of a parameter.
type coverageRange struct {
	Type, DataType string
	AxisNames      []string
	Shape          []int
	Values         []*float64
}

type coverageReference struct {
	Coordinates []string
	System      struct{ Type, ID, Calendar string }
}

type coverageParameter struct {
	Type             string
	ObservedProperty struct {
		ID         string
		Label      map[string]string
		Categories []struct {
			ID    string
			Label map[string]string
		}
	}
	CategoryEncoding map[string]int
	Unit             *struct {
		Label  map[string]string
		Symbol struct{ Value, Type string }
	}
}

// A coverage is a Coverage or a CoverageCollection of CoverageJSON.
type coverage struct {
	Type, DomainType string
	Coverages        []coverage
	Referencing      []coverageReference
	Parameters       map[string]coverageParameter
	Ranges           map[string]coverageRange
	Domain           struct {
		Type, DomainType string
		Referencing      []coverageReference
		Axes             struct {
			X, Y struct{ Values []float64 }
			T    struct{ Values []time.Time }
		}
	}
	Lake string `json:"lake_id"`
	Kind string `json:"data_type"`
}

// coveragesAt returns the coverages at an address, which must be as OGC 21-069r2 has them.
func coveragesAt(t *testing.T, s *Server, target string) (kind string, all []coverage) {
	t.Helper()
	w := get(t, s, http.StatusOK, target)
	if got := w.Header().Get("Content-Type"); got != "application/prs.coverage+json" {
		t.Errorf("%s is %s", target, got)
	}
	var root coverage
	if err := json.Unmarshal(w.Body.Bytes(), &root); err != nil {
		t.Fatal(err)
	}
	all = []coverage{root}
	referencing := root.Domain.Referencing
	if root.Type == "CoverageCollection" {
		all, referencing = root.Coverages, root.Referencing
		if root.DomainType != "PointSeries" || all == nil {
			t.Errorf("%s: %s with coverages %v", target, root.DomainType, all)
		}
	}
	if len(referencing) != 2 || len(referencing[0].Coordinates) != 2 || !slices.Equal(referencing[1].Coordinates, []string{"t"}) || referencing[1].System.Calendar != "Gregorian" ||
		!strings.HasSuffix(referencing[0].System.Type, "CRS") || !strings.HasPrefix(referencing[0].System.ID, "http://www.opengis.net/def/crs/") {
		t.Errorf("%s: referencing %+v", target, referencing)
	}
	for name, p := range root.Parameters {
		if p.Type != "Parameter" || p.ObservedProperty.ID == "" || p.ObservedProperty.Label["en"] == "" || p.Unit != nil && (p.Unit.Symbol.Value == "" || p.Unit.Symbol.Type != "http://www.opengis.net/def/uom/UCUM/") {
			t.Errorf("%s: parameter %s is %+v", target, name, p)
		}
		if n := len(p.ObservedProperty.Categories); n != len(p.CategoryEncoding) || n > 0 && p.Unit != nil {
			t.Errorf("%s: categories of %s: %+v", target, name, p)
		}
	}
	for _, c := range all {
		axes := c.Domain.Axes
		if c.Type != "Coverage" || c.Domain.Type != "Domain" || c.Domain.DomainType != "PointSeries" || len(axes.X.Values) != 1 || len(axes.Y.Values) != 1 || len(axes.T.Values) == 0 {
			t.Errorf("%s: coverage %+v", target, c)
		}
		if !slices.IsSortedFunc(axes.T.Values, func(a, b time.Time) int { return max(a.Compare(b), 0) - max(b.Compare(a), 0) }) || len(slices.Compact(slices.Clone(axes.T.Values))) != len(axes.T.Values) {
			t.Errorf("%s: times %v", target, axes.T.Values)
		}
		if len(c.Ranges) != len(root.Parameters) {
			t.Errorf("%s: %d ranges for %d parameters", target, len(c.Ranges), len(root.Parameters))
		}
		for name, r := range c.Ranges {
			if _, ok := root.Parameters[name]; !ok || r.Type != "NdArray" || r.DataType != "float" && r.DataType != "integer" || !slices.Equal(r.AxisNames, []string{"t"}) ||
				!slices.Equal(r.Shape, []int{len(axes.T.Values)}) || len(r.Values) != len(axes.T.Values) {
				t.Errorf("%s: range %s is %+v", target, name, r)
			}
			for _, v := range r.Values {
				if r.DataType == "integer" && v != nil && *v != math.Trunc(*v) {
					t.Errorf("%s: %v is no integer", name, *v)
				}
			}
		}
	}
	return root.Type, all
}

// valuesOf returns the values of chl, one a line: lake, type, day and value.
func valuesOf(coverages []coverage) (lines []string) {
	for _, c := range coverages {
		for i, at := range c.Domain.Axes.T.Values {
			lines = append(lines, valueLine(c.Lake, c.Kind, at.Format(time.DateOnly), c.Ranges["chl"].Values[i]))
		}
	}
	slices.Sort(lines)
	return lines
}

func valueLine(lake, kind, day string, v *float64) string {
	text := "null"
	if v != nil {
		text = fmt.Sprintf("%.2f", *v)
	}
	return strings.Join([]string{lake, kind, day, text}, " ")
}

// Each query finds what a search through all observations finds, in each form.
func TestSeriesEqualANaiveSelection(t *testing.T) {
	s, source := seriesServer(t)
	inBox := func(west, south, east, north float64) func(data.Lake) bool {
		return func(l data.Lake) bool {
			return l.Point[0] >= west && l.Point[0] <= east && l.Point[1] >= south && l.Point[1] <= north
		}
	}
	only := func(ids ...data.LakeID) func(data.Lake) bool {
		return func(l data.Lake) bool { return slices.Contains(ids, l.ID) }
	}
	around := func(p orb.Point, metres int) func(data.Lake) bool {
		return func(l data.Lake) bool { return index.Metres(p, l.Point) <= metres }
	}
	for _, tt := range []struct {
		query      string
		parameters []string
		lakes      func(data.Lake) bool
	}{
		{"locations/de_by_clean", nil, only("de_by_clean")},
		{"locations/de_by_medium", nil, only("de_by_medium")},
		{"locations/de_mv_never", nil, only("de_mv_never")},
		{"position", []string{"coords", "POINT(12.55 53.35)"}, only("de_mv_high")}, // in its outline
		{"position", []string{"coords", "POINT(11.52 48.03)"}, only("de_by_clean")},
		{"position", []string{"coords", "POINT(48.03 11.52)", "crs", "EPSG:4326"}, only("de_by_clean")},
		{"position", []string{"coords", "POINT(686482 5319324)", "crs", "http://www.opengis.net/def/crs/EPSG/0/25832"}, only("de_by_clean")},
		{"radius", []string{"coords", "POINT(12 50)", "within", "300", "within-units", "km"}, around(orb.Point{12, 50}, 300_000)},
		{"radius", []string{"coords", "POINT(12 50)", "within", "250", "within-units", "miles"}, around(orb.Point{12, 50}, 402_336)},
		{"radius", []string{"coords", "POINT(179.9 -16.5)", "within", "99999", "within-units", "m"}, around(orb.Point{179.9, -16.5}, 99_999)},
		{"area", []string{"coords", "POLYGON((10 47,13 47,13 54,10 54,10 47))"}, inBox(10, 47, 13, 54)},
		{"area", []string{"coords", "MULTIPOLYGON(((11 47,12 47,12 49,11 49,11 47)),((170 -20,180 -20,180 -10,170 -10,170 -20)))"}, func(l data.Lake) bool { return inBox(11, 47, 12, 49)(l) || inBox(170, -20, 180, -10)(l) }},
		{"area", []string{"coords", "POLYGON((47 10,47 13,54 13,54 10,47 10))", "crs", "http://www.opengis.net/def/crs/EPSG/0/4326"}, inBox(10, 47, 13, 54)},
		{"cube", []string{"bbox", "12,48,13,53.5"}, inBox(12, 48, 13, 53.5)},
		{"cube", []string{"bbox", "179,-20,-179,-10"}, func(l data.Lake) bool { return inBox(179, -20, 180, -10)(l) || inBox(-180, -20, -179, -10)(l) }},
		{"cube", []string{"bbox", "48,12,53.5,13", "crs", "EPSG:4326"}, inBox(12, 48, 13, 53.5)},
		{"cube", []string{"bbox", "0,0,1,1"}, only()},
	} {
		for _, period := range []struct{ datetime, first, last string }{
			{"", "", "9"}, {"2012-05-14/2019-07-02T12:00:00Z", "2012-05-14", "2019-07-02"}, {"2019-07-02/..", "2019-07-02", "9"}, {"../2019-07-02", "", "2019-07-02"}, {"2026-11-02", "2026-11-02", "2026-11-02"},
		} {
			parameters := slices.Clone(tt.parameters)
			if period.datetime != "" {
				parameters = append(parameters, "datetime", period.datetime)
			}
			var want []string
			series := make(map[string]bool)
			for _, l := range source.lakes {
				for _, o := range source.observations {
					if day := o.Date.String(); o.LakeID == l.ID && tt.lakes(l) && o.Type.Measured() && day >= period.first && day <= period.last {
						var v *float64
						if o.Chlorophyll.Valid() {
							f := o.Chlorophyll.Float()
							v = &f
						}
						want = append(want, valueLine(string(l.ID), o.Type.String(), day, v))
						series[string(l.ID)+o.Type.String()] = true
					}
				}
			}
			slices.Sort(want)
			name := fmt.Sprint(tt.query, " ", parameters)
			kind, all := coveragesAt(t, s, seriesAt(tt.query, parameters...))
			if got := valuesOf(all); !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
			one := len(series) == 1 && (strings.HasPrefix(tt.query, "locations") || tt.query == "position")
			if wantKind := map[bool]string{true: "Coverage", false: "CoverageCollection"}[one]; kind != wantKind || len(all) != len(series) {
				t.Errorf("%s: %s of %d, want %s of %d", name, kind, len(all), wantKind, len(series))
			}
			if got := seriesInTable(t, s, seriesAt(tt.query, append(parameters, "f", "CSV")...)); !slices.Equal(got, want) {
				t.Errorf("%s as CSV: %v, want %v", name, got, want)
			}
			if got := seriesInFeatures(t, s, seriesAt(tt.query, append(parameters, "f", "GeoJSON")...)); !slices.Equal(got, want) {
				t.Errorf("%s as GeoJSON: %v, want %v", name, got, want)
			}
		}
	}
}

func seriesInTable(t *testing.T, s *Server, target string) (lines []string) {
	t.Helper()
	rows, err := csv.NewReader(get(t, s, http.StatusOK, target).Body).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := func(row []string, name string) string { return row[slices.Index(rows[0], name)] }
	for _, row := range rows[1:] {
		var v *float64
		if text := column(row, "chl"); text != "" {
			v = new(float64)
			if _, err := fmt.Sscan(text, v); err != nil {
				t.Error(err)
			}
		}
		lines = append(lines, valueLine(column(row, "lake_id"), column(row, "data_type"), column(row, "date"), v))
	}
	slices.Sort(lines)
	return lines
}

func seriesInFeatures(t *testing.T, s *Server, target string) (lines []string) {
	t.Helper()
	var page featurePage
	if err := json.Unmarshal(get(t, s, http.StatusOK, target).Body.Bytes(), &page); err != nil {
		t.Fatal(err)
	}
	for _, l := range page.Links {
		if l.Rel == "self" && l.Href != target {
			t.Errorf("self is %s, want %s", l.Href, target)
		}
	}
	for _, f := range page.Features {
		var v *float64
		if n, ok := f.Properties["chl"].(float64); ok {
			v = &n
		}
		lines = append(lines, valueLine(f.Properties["lake_id"].(string), f.Properties["data_type"].(string), f.Properties["date"].(string), v))
		if got := object(t, get(t, s, http.StatusOK, fmt.Sprintf(itemsURL, "observations")+"/"+url.PathEscape(f.ID)))["id"]; got != f.ID {
			t.Errorf("%s is no item", f.ID)
		}
	}
	slices.Sort(lines)
	return lines
}

// The parameters that are asked for are there, and no others, with categories as numbers.
func TestSeriesParameters(t *testing.T) {
	s, _ := seriesServer(t)
	_, all := coveragesAt(t, s, seriesAt("locations/de_by_clean", "parameter-name", "quality,below_limit,water_temperature_c"))
	if len(all) != 2 || all[0].Kind != "in_situ" || len(all[0].Ranges) != 3 {
		t.Fatalf("%+v", all)
	}
	numbers := func(name string) (texts []string) {
		for _, v := range all[0].Ranges[name].Values {
			if v == nil {
				texts = append(texts, "null")
				continue
			}
			texts = append(texts, fmt.Sprint(*v))
		}
		return texts
	}
	for name, want := range map[string]string{"quality": "null 2", "below_limit": "1 null", "water_temperature_c": "null 18.5"} {
		if got := strings.Join(numbers(name), " "); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if _, all = coveragesAt(t, s, seriesAt("locations/de_by_clean", "parameter_names", "chl,quality")); len(all) != 2 || len(all[0].Ranges) != 2 {
		t.Errorf("by the name that OWSLib sends: %+v", all)
	}
	_, all = coveragesAt(t, s, seriesAt("locations/de_by_medium", "crs", "EPSG:3035", "parameter-name", "chl"))
	if axes := all[0].Domain.Axes; axes.X.Values[0] < 4e6 || axes.Y.Values[0] > 4e6 {
		t.Errorf("x %v, y %v: want easting and northing", axes.X.Values, axes.Y.Values)
	}
	if got := all[0].Domain.Referencing[0]; got.System.Type != "ProjectedCRS" || got.Coordinates[0] != "y" {
		t.Errorf("%+v: want the order of axes of EPSG:3035", got)
	}
}

// What is wrong is refused with the name of the parameter, and so is more than an answer may have.
func TestSeriesRefuse(t *testing.T) {
	s, _ := seriesServer(t)
	circle := []string{"coords", "POINT(12 50)", "within", "1", "within-units", "km"}
	for _, tt := range []struct {
		query, name string
		parameters  []string
	}{
		{"position", "coords", nil}, {"position", "coords", []string{"coords", "POINT"}}, {"position", "coords", []string{"coords", "LINESTRING(1 2,3 4)"}}, {"position", "coords", []string{"coords", "POINT(181 0)"}},
		{"position", "coords", []string{"coords", "POINT(1e9 1e9)", "crs", "EPSG:25832"}}, {"position", "z", []string{"coords", "POINT(12 50)", "z", "1"}},
		{"radius", "within", []string{"coords", "POINT(12 50)", "within-units", "km"}}, {"radius", "within-units", []string{"coords", "POINT(12 50)", "within", "1"}},
		{"radius", "within", append(slices.Clone(circle), "within", "-1")}, {"radius", "within-units", append(slices.Clone(circle), "within-units", "feet")},
		{"area", "coords", []string{"coords", "POINT(1 2)"}}, {"area", "coords", []string{"coords", "POLYGON((1 2,3 4))"}}, {"area", "bbox", []string{"coords", "POLYGON((1 2,3 4,5 2,1 2))", "bbox", "1,2,3,4"}},
		{"cube", "bbox", nil}, {"cube", "bbox", []string{"bbox", "1,2,3"}}, {"cube", "bbox", []string{"bbox", "1,60,2,50"}},
		{"locations/de_by_clean", "f", []string{"f", "netCDF"}}, {"locations/de_by_clean", "parameter-name", []string{"parameter-name", "chl,colour"}}, {"locations/de_by_clean", "datetime", []string{"datetime", "../.."}},
		{"locations/de_by_clean", "crs", []string{"crs", "EPSG:27700"}}, {"locations/de_by_clean", "limit", []string{"limit", "1"}}, {"locations", "parameters", []string{"parameters", "1"}},
		{"locations/de_by_clean", "parameter_names", []string{"parameter_names", "colour"}}, {"locations/de_by_clean", "parameter_names", []string{"parameter-name", "chl", "parameter_names", "chl"}},
	} {
		wantProblem(t, do(s, http.MethodGet, seriesAt(tt.query, tt.parameters...)), http.StatusBadRequest, tt.name)
	}
	wantProblem(t, do(s, http.MethodGet, seriesAt("locations/nowhere")), http.StatusNotFound)
	wantProblem(t, do(s, http.MethodGet, seriesAt("position", "coords", "POINT(0 0)")), http.StatusNotFound, "coords")
	wantProblem(t, do(s, http.MethodGet, "/ogc/collections/advisories/position?coords=POINT(0%200)"), http.StatusNotFound)

	opts := testOptions(t)
	source := germany(t)
	opts.Historian = source
	many := newServer(t, opts, source)
	for kind, parameters := range map[string][]string{"cube": {"bbox", "5,45,16,56"}, "area": {"coords", "POLYGON((5 45,16 45,16 56,5 56,5 45))"}, "radius": {"coords", "POINT(10 50)", "within", "900", "within-units", "km"}} {
		name := map[string]string{"cube": "bbox", "area": "coords", "radius": "within"}[kind]
		wantProblem(t, do(many, http.MethodGet, seriesAt(kind, parameters...)), http.StatusRequestEntityTooLarge, name)
	}
}

func TestSeriesOfTooManyObservations(t *testing.T) {
	source := seriesSource(t)
	source.observations = nil
	last := date(t, "2026-11-16")
	for _, l := range source.lakes {
		for i := range edr.MaxRecords/len(source.lakes) + 1 {
			source.observations = append(source.observations, data.Observation{LakeID: l.ID, Date: last - data.Date(edr.MaxRecords/len(source.lakes)) + data.Date(i), Type: data.Satellite, Chlorophyll: 1_00, Level: data.NoLevel, CellDensity: data.NoCellDensity})
		}
	}
	opts := testOptions(t)
	opts.Historian = source
	s := newServer(t, opts, source)
	wantProblem(t, do(s, http.MethodGet, seriesAt("cube", "bbox", "-180,-90,180,90", "parameter-name", "chl")), http.StatusRequestEntityTooLarge, "datetime")
}

// A client finds the queries, their parameters and forms in the description of the collection.
func TestSeriesAreDescribed(t *testing.T) {
	s, _ := seriesServer(t)
	var c struct {
		Queries map[string]struct {
			Link struct {
				Href, Rel string
				Variables map[string]any
			}
		} `json:"data_queries"`
		Names   map[string]coverageParameter `json:"parameter_names"`
		Formats []string                     `json:"output_formats"`
		Links   []link
	}
	if err := json.Unmarshal(get(t, s, http.StatusOK, "/ogc/collections/observations").Body.Bytes(), &c); err != nil {
		t.Fatal(err)
	}
	if items := c.Queries["items"].Link; items.Href != "/ogc/collections/observations/items" || items.Variables["query_type"] != "items" {
		t.Errorf("items: %+v", items)
	}
	delete(c.Queries, "items")
	if len(c.Queries) != 5 || len(c.Formats) != 3 || c.Names["chl"].Unit.Symbol.Value != "ug/L" || c.Names["quality"].CategoryEncoding["poor"] != 3 {
		t.Errorf("%+v", c)
	}
	for kind, q := range c.Queries {
		if q.Link.Href != pathSeries+kind || q.Link.Rel != "data" || q.Link.Variables["query_type"] != kind || q.Link.Variables["default_output_format"] != "CoverageJSON" || len(q.Link.Variables["crs_details"].([]any)) != 6 {
			t.Errorf("%s: %+v", kind, q)
		}
	}
	if ids := idsAt(t, s, seriesAt("locations", "f", "GeoJSON", "limit", "3", "datetime", "2026-01-01/..")); len(ids) != 8 {
		t.Errorf("locations %v", ids)
	}
	conformance := object(t, get(t, s, http.StatusOK, "/ogc/conformance"))["conformsTo"].([]any)
	if !slices.Contains(conformance, any("http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf/queries")) {
		t.Errorf("conforms to %v", conformance)
	}
}

// Any parameters of a query are answered or refused, and what is answered is JSON.
func FuzzSeries(f *testing.F) {
	queries := []string{"position", "radius", "area", "cube"}
	for i, seed := range []string{"POINT(12.55 53.35)", "POINT(11.5 48)", "POLYGON((10 47,13 47,13 54,10 54,10 47))", "12,48,13,53.5", "MULTIPOLYGON(((11 47,12 47,12 49,11 49,11 47)))", "POINT EMPTY", "POLYGON EMPTY",
		"POLYGON(())", "MULTIPOLYGON(((", "GEOMETRYCOLLECTION(POINT(1 2))", "POINT(NaN NaN)", "POINT(1e400 0)", "POLYGON((1 1))"} {
		f.Add(uint8(i), seed, "2019-07-02/..", "9", "EPSG:25832")
		f.Add(uint8(i), seed, "2026-11-02", "1e3", "CRS:84")
		f.Add(uint8(2), seed, "", "1e3", "EPSG:4326")
		f.Add(uint8(128+i), seed, "2026-11-09/..", "1", "EPSG:25833")
	}
	s, _ := pixelServer(f)
	f.Fuzz(func(t *testing.T, query uint8, place, datetime, within, crs string) {
		kind := queries[int(query)%len(queries)]
		parameters := []string{"coords", place, "datetime", datetime, "crs", crs}
		switch kind {
		case "cube":
			parameters[0] = "bbox"
		case "radius":
			parameters = append(parameters, "within", within, "within-units", "km")
		}
		target := seriesAt(kind, parameters...)
		if query >= 128 {
			target = strings.Replace(target, pathSeries, pathLakePixels, 1)
		}
		w := do(s, http.MethodGet, target)
		if w.Code != http.StatusOK && w.Code != http.StatusBadRequest && w.Code != http.StatusNotFound || !json.Valid(w.Body.Bytes()) {
			t.Fatalf("%s %q: %d %.300s", kind, parameters, w.Code, w.Body)
		}
	})
}
