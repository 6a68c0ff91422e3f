package ingest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"limnomap/data"
	"limnomap/data/outline"
	"limnomap/data/store"
	"limnomap/data/store/storetest"
)

// features returns a FeatureCollection.
func features(fs ...string) string {
	return `{"type": "FeatureCollection", "features": [` + strings.Join(fs, ",\n") + "]}\n"
}

// feature returns a Feature with these properties and this geometry, both in JSON.
func featureOf(properties, geometry string) string {
	return fmt.Sprintf(`{"type": "Feature", "properties": {%s}, "geometry": %s}`, properties, geometry)
}

const (
	// box is 0.02 degrees wide and high; island covers the middle quarter of it.
	box    = `{"type": "Polygon", "coordinates": [[[12.69, 53.41], [12.71, 53.41], [12.71, 53.43], [12.69, 53.43], [12.69, 53.41]]]}`
	island = `{"type": "Polygon", "coordinates": [
		[[12.69, 53.41], [12.71, 53.41], [12.71, 53.43], [12.69, 53.43], [12.69, 53.41]],
		[[12.695, 53.415, 62], [12.695, 53.425, 62], [12.705, 53.425, 62], [12.705, 53.415, 62], [12.695, 53.415, 62]]]}`
	pointGeometry = `{"type": "Point", "coordinates": [12.7, 53.42]}`
)

func boxRing() orb.Ring {
	return orb.Ring{{12.69, 53.41}, {12.71, 53.41}, {12.71, 53.43}, {12.69, 53.43}, {12.69, 53.41}}
}

func outlineOf(tb testing.TB, polygons ...orb.Polygon) outline.Outline {
	tb.Helper()
	o, err := outline.New(polygons)
	if err != nil {
		tb.Fatal(err)
	}
	return o
}

func TestGeoJSON(t *testing.T) {
	plain := data.Lake{ID: "m", ExternalID: "m", Name: "Müritz", Point: orb.Point{12.7, 53.42}}
	full := plain
	full.ExternalID, full.Region, full.AreaKM2 = "DEMV_1", "MV", 112.6
	// 0.02 degrees of latitude are 2,226.4 m on a sphere of 6,378,137 m, of longitude 0.5959 times as many.
	boxed := plain
	boxed.Outline, boxed.AreaKM2 = outlineOf(t, orb.Polygon{boxRing()}), 2.953985
	hollow := boxed
	hollow.Outline = outlineOf(t, orb.Polygon{boxRing(), {{12.695, 53.415}, {12.695, 53.425}, {12.705, 53.425}, {12.705, 53.415}}})
	hollow.AreaKM2 = 2.215489
	hollow.Point = orb.Point{12.692, 53.412}
	moved := boxed
	moved.Point = orb.Point{12.691, 53.411}
	for _, test := range []struct {
		name, text string
		want       data.Lake
	}{
		{"point", features(featureOf(`"id": "m", "name": "Müritz"`, pointGeometry)), plain},
		{"all properties", features(featureOf(`"id":"m","external_id":"DEMV_1","name":"Müritz","region":"MV","area_km2":112.6`, pointGeometry)), full},
		{"any case, numbers as texts", features(featureOf(`"ID":"m","External_Id":"DEMV_1","NAME":" Müritz\n","state":"MV","Area_KM2":"112,6"`, pointGeometry)), full},
		{"id of the feature", features(`{"type":"Feature","id":"m","properties":{"name":"Müritz"},"geometry":` + pointGeometry + `}`), plain},
		{"a number for an id", features(`{"type":"Feature","id":7,"properties":{"name":"Müritz"},"geometry":` + pointGeometry + `}`),
			data.Lake{ID: "7", ExternalID: "7", Name: "Müritz", Point: plain.Point}},
		{"a text of digits for an id", features(`{"type":"Feature","id":"7.0","properties":{"name":"Müritz"},"geometry":` + pointGeometry + `}`),
			data.Lake{ID: "7.0", ExternalID: "7.0", Name: "Müritz", Point: plain.Point}},
		{"two ids", features(`{"type":"Feature","id":"other","properties":{"id":"m","name":"Müritz"},"geometry":` + pointGeometry + `}`), plain},
		{"nulls", features(featureOf(`"id":"m","name":"Müritz","region":null,"external_id":"-","area_km2":null,"lat":null,"lon":""`, pointGeometry)), plain},
		{"no geometry", features(featureOf(`"id":"m","name":"Müritz","lat":53.42,"lon":12.7`, "null")), plain},
		{"no member geometry", features(`{"type":"Feature","properties":{"id":"m","name":"Müritz","lat":53.42,"lon":12.7}}`), plain},
		{"polygon", features(featureOf(`"id":"m","name":"Müritz"`, box)), boxed},
		{"multi polygon", features(featureOf(`"id":"m","name":"Müritz"`,
			`{"type":"MultiPolygon","coordinates":[[[[12.69,53.41],[12.71,53.41],[12.71,53.43],[12.69,53.43],[12.69,53.41]]]]}`)), boxed},
		{"island", features(featureOf(`"id":"m","name":"Müritz","lat":53.412,"lon":12.692`, island)), hollow},
		{"its own point and area", features(featureOf(`"id":"m","name":"Müritz","lat":53.411,"lon":12.691,"area_km2":2.953985`, box)), moved},
		{"byte-order mark and white space", "\ufeff \r\n\t" + features(featureOf(`"id":"m","name":"Müritz"`, pointGeometry)), plain},
		{"escapes", features(featureOf(`"id":"m","name":"M\u00fcritz"`, pointGeometry)), plain},
		{"foreign members", `{"name":{"features":[1]},"bbox":[1,2,3,4],"features":[` + featureOf(`"id":"m","name":"Müritz"`, pointGeometry) +
			`],"crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:OGC:1.3:CRS84"}},"type":"FeatureCollection"}`, plain},
		{"twice the same", features(featureOf(`"id":"m","name":"Müritz"`, box), featureOf(`"id":"m","name":"Müritz"`, box)), boxed},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := storetest.New(t)
			if r := mustImport(t, Lakes, s, nil, test.text); r.Added != 1 || !r.Written {
				t.Fatalf("report: %v", r)
			}
			if got, _ := stored(t, s); !slices.Equal(got, []data.Lake{test.want}) {
				t.Errorf("stored %+v\nwant %+v", got, test.want)
			}
			if r := mustImport(t, Lakes, s, nil, test.text); r.Unchanged != r.Read {
				t.Errorf("the same again: %v", r)
			}
		})
	}
}

func TestGeoJSONRejects(t *testing.T) {
	good := featureOf(`"id":"good","name":"G"`, pointGeometry)
	geometry := func(g string) string { return featureOf(`"id":"x","name":"X"`, g) }
	for _, test := range []struct {
		name, text string
		want       string // beginning of the reason
	}{
		{"no object", `7`, `"7": want a Feature as an object`},
		{"no type", `{"properties":{}}`, `its type is missing: want Feature`},
		{"geometry for a feature", box, `its type is "Polygon": want Feature`},
		{"no id", featureOf(`"name":"X"`, pointGeometry), `id is missing: want the lake's id`},
		{"properties in an array", `{"type":"Feature","properties":["x"],"geometry":null}`, `properties "[\"x\"]": want an object or null`},
		{"property twice", featureOf(`"id":"x","name":"X","Name":"Y"`, pointGeometry), `it has the property "Name" twice`},
		{"name that is an object", featureOf(`"id":"x","name":{"de":"X"}`, pointGeometry), `name "{\"de\":\"X\"}": want a text or a number`},
		{"ambiguous area", featureOf(`"id":"x","name":"X","area_km2":"1,234"`, pointGeometry), `area_km2 "1,234": want a decimal point`},
		{"null geometry, no place", geometry("null"), `lat is missing: want a number from -90 to 90 degrees`},
		{"only lon", featureOf(`"id":"x","name":"X","lon":12.7`, box), `lat is missing: want lat and lon, or neither`},
		{"place elsewhere", featureOf(`"id":"x","name":"X","lat":12.7,"lon":53.42`, box), `lat 12.7, lon 53.42 are more than 0.1 degrees outside`},
		{"geometry of another kind", geometry(`{"type":"MultiPoint","coordinates":[[1,1]]}`), `geometry "MultiPoint": want Point, Polygon or MultiPolygon`},
		{"geometry without a type", geometry(`{"coordinates":[1,1]}`), `geometry has no type`},
		{"no coordinates", geometry(`{"type":"Polygon"}`), `Polygon: want an array of rings`},
		{"too deep", geometry(`{"type":"Polygon","coordinates":[[[[1,2]]]]}`), `Polygon: ring 1: point 1: "[1,2]": want a number`},
		{"one number", geometry(`{"type":"Point","coordinates":[12.7]}`), `Point: want an array of two numbers`},
		{"text for a number", geometry(`{"type":"Point","coordinates":["12.7","53.42"]}`), `Point: "12.7": want a number`},
		{"empty position in a ring", geometry(`{"type":"Polygon","coordinates":[[[1,2],[]]]}`), `Polygon: ring 1: point 2: want an array of two numbers`},
		{"vast number", geometry(`{"type":"Point","coordinates":[12.7,1e999]}`), `Point: "1e999": want a number in the range of floating point`},
		{"five numbers", geometry(`{"type":"Point","coordinates":[12.7,53.4,1,2,3]}`), `Point: want at most 4 numbers`},
		{"lat", geometry(`{"type":"Point","coordinates":[12.7,91]}`), `lat 91: want degrees from -90 to 90`},
		{"lon", geometry(`{"type":"Point","coordinates":[200,1]}`), `lon 200: want degrees from -180 to 180`},
		{"two points", geometry(`{"type":"MultiPolygon","coordinates":[[[[1,1],[2,2],[1,1]]]]}`), `MultiPolygon: polygon 1, ring 1 has 2 distinct points`},
		{"crs of a feature", strings.Replace(good, "{", `{"crs":{"type":"name","properties":{"name":"EPSG:25833"}},`, 1), `crs "{\"type\":\"name\"`},
		{"crs of a geometry", geometry(strings.Replace(pointGeometry, "{", `{"crs":{"type":"name","properties":{"name":"EPSG:25833"}},`, 1)), `crs "{\"type\":\"name\"`},
		{"larger than any lake", geometry(`{"type":"Polygon","coordinates":[[[0,0],[20,0],[20,20],[0,20]]]}`), `the area of its polygons is 4.`},
		{"hole larger than its ring", geometry(`{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1]],[[0,0],[2,0],[2,2]]]}`), `the area of its polygons is -`},
		{"a polygon twice", geometry(`{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1]]],[[[0,0],[1,0],[1,1]]]]}`), `MultiPolygon: there is no water in the middle of polygon 1`},
		{"all hole", geometry(`{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1]],[[0,0],[1,0],[1,1]]]}`), `Polygon: there is no water in the middle of polygon 1`},
		{"figure of eight", geometry(`{"type":"Polygon","coordinates":[[[0,0],[1,1],[1,0],[0,1]]]}`), `the area of its polygons is less than a square metre`},
		{"not UTF-8", featureOf("\"id\":\"x\",\"name\":\"M\xfcritz\"", pointGeometry), `it is not UTF-8`},
		{"another value", featureOf(`"id":"good","name":"H"`, pointGeometry), `this id is already in feature 1 of a.csv with other values: want one row for it`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := storetest.New(t)
			text := features(good, test.text)
			r := mustImport(t, Lakes, s, nil, text)
			if r.Written || r.Read != 2 || len(r.Bad) != 1 {
				t.Fatalf("report: %v", r)
			}
			if bad := r.Bad[0]; bad.Number != 2 || bad.unit != ofFeatures || !strings.HasPrefix(bad.Reason, test.want) {
				t.Errorf("rejected: %v\nwant feature 2: %s", bad, test.want)
			}
			if r := mustImport(t, Lakes, s, &Options{SkipBad: true}, text); r.Added != 1 || r.Rejected != 1 {
				t.Errorf("skipping bad ones: %v", r)
			}
		})
	}
}

func TestInvalidGeoJSON(t *testing.T) {
	good := featureOf(`"id":"x","name":"X"`, pointGeometry)
	for _, test := range []struct{ name, text, want string }{
		{"a feature", good, `its type is "Feature": want a FeatureCollection`},
		{"an array", "\n[" + good + "]", "want one FeatureCollection"},
		{"a sequence", "\x1e" + good + "\n\x1e" + good + "\n", "want one FeatureCollection"},
		{"no features", `{"type":"FeatureCollection"}`, "there are no features"},
		{"no type", `{"features":[` + good + `]}`, `the file has no "type"`},
		{"features in an object", `{"type":"FeatureCollection","features":{}}`, `"features" is not an array`},
		{"features twice", `{"type":"FeatureCollection","features":[],"features":[` + good + `]}`, `two members "features"`},
		{"another after it", features(good) + features(good), "there is more after the end of its JSON"},
		{"cut amid a feature", features(good)[:120], "feature 1: the file ends before"},
		{"cut after a feature", `{"type":"FeatureCollection","features":[` + good, "after feature 1: the file ends before"},
		{"cut after the features", `{"type":"FeatureCollection","features":[` + good + `]`, "after the features: the file ends before"},
		{"comma missing", features(good + good), "feature 2: "},
		{"crs", `{"type":"FeatureCollection","crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::3857"}},"features":[]}`, "EPSG::3857"},
		{"endless feature", `{"type":"FeatureCollection","features":[{"x":[` + strings.Repeat("1,", maxFeatureBytes), "feature 1: does not end within 33554432 bytes"},
		{"endless text", `{"type":"FeatureCollection","features":[{"type":"` + strings.Repeat("x", maxFeatureBytes*2), "feature 1: does not end within 33554432 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := storetest.New(t)
			_, err := Lakes(t.Context(), s, files(test.text), &Options{SkipBad: true})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Lakes = %v, want an error that names %q", err, test.want)
			}
			if got, _ := stored(t, s); len(got) > 0 {
				t.Errorf("stored %v, want nothing", got)
			}
		})
	}
	if _, err := Observations(t.Context(), storetest.New(t), files(features(good)), nil); err == nil || !strings.Contains(err.Error(), "want CSV") {
		t.Errorf("Observations = %v, want a word on CSV", err)
	}
}

// A property that a feature lacks keeps the stored value, like a missing column; one that is null deletes it. Features of one
// file may differ in that.
func TestGeoJSONKeepsWhatItLacks(t *testing.T) {
	outline := outlineOf(t, orb.Polygon{boxRing()})
	before := data.Lake{ID: "x", ExternalID: "X1", Name: "X", Point: orb.Point{12.7, 53.42}, Region: "MV", AreaKM2: 3, Outline: outline}
	with := func(edit func(*data.Lake)) data.Lake { l := before; edit(&l); return l }
	base := `"id":"x","name":"X"`
	for _, test := range []struct {
		name, text string
		want       data.Lake
	}{
		{"point", features(featureOf(base, pointGeometry)), before},
		{"no geometry", features(`{"type":"Feature","properties":{` + base + `,"lat":53.42,"lon":12.7}}`), before},
		{"table", "id,name,lat,lon\nx,X,53.42,12.7\n", before},
		{"full table", "id,name,lat,lon,external_id,region,area_km2\nx,X,53.42,12.7,,,\n",
			with(func(l *data.Lake) { l.ExternalID, l.Region, l.AreaKM2 = "x", "", 0 })},
		{"polygon", features(featureOf(base, box)), with(func(l *data.Lake) { l.AreaKM2 = 2.953985 })},
		{"null geometry", features(featureOf(base+`,"lat":53.42,"lon":12.7`, "null")), with(func(l *data.Lake) { l.Outline = "" })},
		{"null region", features(featureOf(base+`,"region":null`, pointGeometry)), with(func(l *data.Lake) { l.Region = "" })},
		{"null area", features(featureOf(base+`,"area_km2":null`, pointGeometry)), with(func(l *data.Lake) { l.AreaKM2 = 0 })},
		{"region of a later feature", features(featureOf(base, pointGeometry), featureOf(`"id":"y","name":"Y","region":"BY"`, pointGeometry)), before},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := storetest.New(t)
			err := s.Import(t.Context(), func(tx store.Tx) error {
				_, err := tx.PutLakes(t.Context(), []data.Lake{before}, store.LakeColumns{})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			mustImport(t, Lakes, s, nil, test.text)
			if got, _ := stored(t, s); got[0] != test.want {
				t.Errorf("stored %+v\nwant %+v", got[0], test.want)
			}
		})
	}
}

func TestGeoJSONTogetherWithCSV(t *testing.T) {
	s := storetest.New(t)
	r := mustImport(t, Lakes, s, nil,
		"id,name,lat,lon,depth\na,A,53,12,7\n",
		features(
			featureOf(`"id":"b","name":"B","depth":7,"Ufer":"Sand"`, box),
			featureOf(`"id":"c","name":"C","region":"BY","owner":null`, pointGeometry),
			featureOf(`"id":"d","name":"D"`, pointGeometry)))
	if r.Added != 4 || !slices.Equal(r.Ignored, []string{"depth", "Ufer", "owner"}) {
		t.Errorf("report: %v", r)
	}
	lakes, _ := stored(t, s)
	if len(lakes) != 4 || lakes[2].Region != "BY" || lakes[3].Region != "" {
		t.Errorf("stored %v", lakes)
	}
	r = mustImport(t, Lakes, s, nil, "id,name,lat,lon\na,A,99,12\n", features(featureOf(`"id":"b","lon":1`, box)),
		features(featureOf(`"id":"a","name":"B"`, box), featureOf(`"id":"a","name":"B"`, "{}")))
	var rowNames []string
	for _, bad := range r.Bad {
		rowName, _, _ := strings.Cut(bad.String(), ":")
		rowNames = append(rowNames, rowName)
	}
	if want := []string{"a.csv, line 2 (a)", "b.csv, feature 1 (b)", "c.csv, feature 2 (a)"}; !slices.Equal(rowNames, want) {
		t.Errorf("rejected %q, want %q", rowNames, want)
	}
}
