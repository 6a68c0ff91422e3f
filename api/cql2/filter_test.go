package cql2

import (
	"strings"
	"testing"
	"time"

	"github.com/paulmach/orb"

	"limnomap/data/raster/crs"
)

var properties = []Property{{"name", Text}, {"chl", Number}, {"stale", Bool}, {"at", Time}, {"day", Text}, {"geometry", Geometry}}

// A fixed is a record with these values.
type fixed struct {
	values []Value
	shape  *Shape
}

func (f fixed) Value(i int) Value { return f.values[i] }
func (f fixed) Shape() *Shape     { return f.shape }

var instant = time.Date(2026, time.July, 6, 12, 0, 0, 0, time.UTC)

// lake has all values, and gap only a name.
var (
	lake = fixed{[]Value{TextValue("O'Hara_See"), NumberValue(42.5), BoolValue(true), TimeValue(instant), TextValue("2026-07-06")}, &Shape{Point: orb.Point{13.5, 52.25}}}
	gap  = fixed{[]Value{TextValue("x"), {}, {}, {}, {}}, nil}
)

// Each filter is true for the lake and for the gap, or not; a filter that is unknown does not pass, and neither does its opposite.
func TestFilters(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text, json string
		lake, gap  bool
	}{
		{"chl > 40", `{"op":">","args":[{"property":"chl"},40]}`, true, false},
		{"chl <= 42.5", `{"op":"<=","args":[{"property":"chl"},42.5]}`, true, false},
		{"-1e2<chl AND chl<>4.0E1", `{"op":"and","args":[{"op":"<","args":[-100,{"property":"chl"}]},{"op":"<>","args":[{"property":"chl"},40]}]}`, true, false},
		{"NOT chl > 40", `{"op":"not","args":[{"op":">","args":[{"property":"chl"},40]}]}`, false, false},
		{"chl IS NULL", `{"op":"isNull","args":[{"property":"chl"}]}`, false, true},
		{"chl is not null", `{"op":"not","args":[{"op":"isNull","args":[{"property":"chl"}]}]}`, true, false},
		{"name = 'O''Hara_See'", `{"op":"=","args":[{"property":"name"},"O'Hara_See"]}`, true, false},
		{`"name" = 'O\'Hara_See'`, `{"op":"=","args":["O'Hara_See",{"property":"name"}]}`, true, false},
		{"name LIKE 'O%\\_S__'", `{"op":"like","args":[{"property":"name"},"O%\\_S__"]}`, true, false},
		{"name NOT LIKE '%hara%'", `{"op":"not","args":[{"op":"like","args":[{"property":"name"},"%hara%"]}]}`, true, true},
		{"name IN ('x','y')", `{"op":"in","args":[{"property":"name"},["x","y"]]}`, false, true},
		{"chl NOT IN (1, 2)", `{"op":"not","args":[{"op":"in","args":[{"property":"chl"},[1,2]]}]}`, true, false},
		{"chl BETWEEN 42 AND 43", `{"op":"between","args":[{"property":"chl"},42,43]}`, true, false},
		{"chl not between 42 and 43 OR name='x'", `{"op":"or","args":[{"op":"not","args":[{"op":"between","args":[{"property":"chl"},42,43]}]},{"op":"=","args":[{"property":"name"},"x"]}]}`, false, true},
		{"stale", `{"property":"stale"}`, true, false},
		{"NOT (stale = FALSE)", `{"op":"not","args":[{"op":"=","args":[{"property":"stale"},false]}]}`, true, false},
		{"name='x' OR chl > 1 AND chl < 2", `{"op":"or","args":[{"op":"=","args":[{"property":"name"},"x"]},{"op":"and","args":[{"op":">","args":[{"property":"chl"},1]},{"op":"<","args":[{"property":"chl"},2]}]}]}`, false, true},
		{"at = DATE('2026-07-06')", `{"op":"=","args":[{"property":"at"},{"date":"2026-07-06"}]}`, true, false},
		{"at >= TIMESTAMP('2026-07-06T12:00:00Z')", `{"op":">=","args":[{"property":"at"},{"timestamp":"2026-07-06T12:00:00Z"}]}`, true, false},
		{"at > '2026-07-06T14:00:00+02:00'", `{"op":">","args":[{"property":"at"},"2026-07-06T14:00:00+02:00"]}`, false, false},
		{"day < DATE('2026-07-07')", `{"op":"<","args":[{"property":"day"},{"date":"2026-07-07"}]}`, true, false},
		{"T_DURING(at, INTERVAL('2026-07-01','..'))", `{"op":"t_during","args":[{"property":"at"},{"interval":["2026-07-01",".."]}]}`, true, false},
		{"T_AFTER(at, DATE('2026-07-05'))", `{"op":"t_after","args":[{"property":"at"},{"date":"2026-07-05"}]}`, true, false},
		{"T_BEFORE(day, TIMESTAMP('2026-07-06T12:00:00Z'))", `{"op":"t_before","args":[{"property":"day"},{"timestamp":"2026-07-06T12:00:00Z"}]}`, false, false},
		{"T_INTERSECTS(at, INTERVAL('..','2026-07-06'))", `{"op":"t_intersects","args":[{"property":"at"},{"interval":["..","2026-07-06"]}]}`, true, false},
		{"t_disjoint(at, DATE('2026-07-07'))", `{"op":"t_disjoint","args":[{"property":"at"},{"date":"2026-07-07"}]}`, true, false},
		{"T_EQUALS(at, TIMESTAMP('2026-07-06T12:00:00Z'))", `{"op":"t_equals","args":[{"property":"at"},{"timestamp":"2026-07-06T12:00:00Z"}]}`, true, false},
		{"S_INTERSECTS(geometry, BBOX(13,52,14,53))", `{"op":"s_intersects","args":[{"property":"geometry"},{"bbox":[13,52,14,53]}]}`, true, false},
		{"S_INTERSECTS(geometry,POLYGON((13 52,14 52,14 52.2,13 52)))", `{"op":"s_intersects","args":[{"property":"geometry"},{"type":"Polygon","coordinates":[[[13,52],[14,52],[14,52.2],[13,52]]]}]}`, false, false},
		{"S_INTERSECTS(geometry, MULTIPOLYGON (((13 52, 14 52, 14 53, 13 53, 13 52), (13.4 52.2, 13.6 52.2, 13.6 52.3, 13.4 52.3, 13.4 52.2))))",
			`{"op":"s_intersects","args":[{"property":"geometry"},{"type":"MultiPolygon","coordinates":[[[[13,52],[14,52],[14,53],[13,53],[13,52]],[[13.4,52.2],[13.6,52.2],[13.6,52.3],[13.4,52.3],[13.4,52.2]]]]}]}`, false, false},
		{"S_INTERSECTS(geometry, POINT(13.5 52.25))", `{"op":"s_intersects","args":[{"property":"geometry"},{"type":"Point","coordinates":[13.5,52.25]}]}`, true, false},
		{"geometry IS NULL", `{"op":"isNull","args":[{"property":"geometry"}]}`, false, true},
	} {
		for form, parse := range map[string]func(string, []Property, *crs.System) (*Filter, error){tt.text: ParseText, tt.json: ParseJSON} {
			f, err := parse(form, properties, nil)
			if err != nil {
				t.Errorf("%s: %v", form, err)
				continue
			}
			if a, b := f.Matches(lake), f.Matches(gap); a != tt.lake || b != tt.gap {
				t.Errorf("%s is %v, %v; want %v, %v", form, a, b, tt.lake, tt.gap)
			}
			if nothing := (fixed{[]Value{Open(), Open(), Open(), Open(), Open()}, lake.shape}); tt.lake && !f.MayMatch(nothing) {
				t.Errorf("%s cannot be true before the values are known", form)
			}
		}
	}
}

// An error names what is wrong, and what is allowed.
func TestMistakes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                     "at character 1 (the end): want a property or a value",
		"chl":                                  "want a comparison: =, <>",
		"chl > ":                               "at character 7 (the end)",
		"chl > 'a'":                            "a number cannot be compared with a text",
		"colour = 1":                           `no property "colour"; there are name, chl`,
		"chl = 1 chl":                          "want AND, OR or the end",
		"(chl = 1":                             "want )",
		"chl BETWEEN 1 OR 2":                   "want AND",
		"name = 'x":                            "a text has no end",
		"chl NOT = 1":                          "want LIKE, IN or BETWEEN",
		"at > 'yesterday'":                     "is not a day as YYYY-MM-DD",
		"S_WITHIN(geometry, POINT(1 2))":       `no function "s_within"; there are S_INTERSECTS`,
		"S_INTERSECTS(geometry, POINT(1 200))": "not on the Earth",
		"S_INTERSECTS(geometry, POLYGON((1 2, 3 4, 1 2)))":     "less than four points",
		"S_INTERSECTS(geometry, BBOX(1,2,3))":                  "a box has 3 numbers",
		"T_DURING(at, INTERVAL('2026-07-02','2026-07-01'))":    "ends before it begins",
		"chl = 1 AND " + strings.Repeat("(", 40) + "chl=1":     "more than 32 conditions deep",
		strings.Repeat("chl=1 OR ", maxParts) + "chl=1":        "more than 500 parts",
		"chl IN (" + strings.Repeat("1,", maxItems) + "1)":     "more than 1000 values",
		"name = '" + strings.Repeat("a", maxBytes) + "'":       "at most 16384 are allowed",
		"geometry = geometry":                                  "use S_INTERSECTS",
		"name LIKE chl":                                        "LIKE compares a text",
		"stale > 1":                                            "true or false cannot be compared with a number",
		"S_INTERSECTS(chl, POINT(1 2))":                        "compares the geometry of the features with an area",
		"S_INTERSECTS(geometry, POLYGON((1 2, 3 4, 5 6, 1 2))": "want )",
	} {
		if _, err := ParseText(text, properties, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v; want %q", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                            "not JSON",
		"[]":                          "no value, property or geometry",
		`{"op":"=","args":[1]}`:       `operator "=" with 1 arguments`,
		`{"op":"casei","args":["a"]}`: `no operator "casei"`,
		`{"op":"not","args":[]}`:      "not has 0 arguments",
		`{"op":"in","args":[1]}`:      "in has 1 arguments",
		`{"property":"chl"}`:          "a number is not a condition",
		`{"op":"s_intersects","args":[{"property":"geometry"},{"type":"LineString","coordinates":[[1,2],[3,4]]}]}`: "want Point, Polygon",
		strings.Repeat(`{"op":"not","args":[`, 40) + "1" + strings.Repeat("]}", 40):                                "more than 32 conditions deep",
	} {
		if _, err := ParseJSON(text, properties, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v; want %q", text, err, want)
		}
	}
}

func TestPeriods(t *testing.T) {
	t.Parallel()
	day := func(s string) Value {
		v, err := ParseTime(s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for text, want := range map[string][2]bool{ // whether they meet the 5th and the 7th of July
		"2026-07-05":              {true, false},
		"2026-07-05T23:59:59Z":    {true, false},
		"2026-07-06T00:00:00Z/..": {false, true},
		"../2026-07-06":           {true, false},
		"/2026-07-06":             {true, false},
		"2026-07-06/":             {false, true},
		"2026-07-05T12:00:00Z/2026-07-07T00:00:00Z": {true, true},
	} {
		v, err := ParsePeriod(text)
		if got := [2]bool{v.Meets(day("2026-07-05")), v.Meets(day("2026-07-07"))}; err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "..", "../..", "/", "2026-07-06/2026-07-05", "2026-7-6", "2026-07-06/x", "a/b/c"} {
		if v, err := ParsePeriod(text); err == nil {
			t.Errorf("%q is %v", text, v)
		}
	}
}

// FuzzText reads any text; what is read can be evaluated.
func FuzzText(f *testing.F) {
	for _, s := range []string{"chl > 40 AND NOT (name LIKE 'a%')", "S_INTERSECTS(geometry, POLYGON((13 52,14 52,14 53,13 52)))", "T_DURING(at,INTERVAL('..','2026-07-01'))", "name IN ('a','b''c') OR stale", `"name" IS NOT NULL`} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, s string) {
		if filter, err := ParseText(s, properties, nil); err == nil {
			filter.Matches(lake)
			filter.Matches(gap)
		}
	})
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"op":"and","args":[{"op":">","args":[{"property":"chl"},4]},{"property":"stale"}]}`, `{"op":"s_intersects","args":[{"property":"geometry"},{"type":"Polygon","coordinates":[[[13,52],[14,52],[14,53],[13,52]]]}]}`} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, s string) {
		if filter, err := ParseJSON(s, properties, nil); err == nil {
			filter.Matches(lake)
			filter.Matches(gap)
		}
	})
}
