package ingest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"limnomap/data"
	"limnomap/data/store/storetest"
)

func TestParseMapping(t *testing.T) {
	for _, test := range []struct {
		in   string
		want Mapping // nil for an error
	}{
		{"chl=chl_a_ugl,lake_id=lake", Mapping{"chl": "chl_a_ugl", "lake_id": "lake"}},
		{" CHL = Chl a ", Mapping{"chl": "Chl a"}},
		{`"chl=chl, µg/l",date=Datum`, Mapping{"chl": "chl, µg/l", "date": "Datum"}},
		{"chl=a=b", Mapping{"chl": "a=b"}},
		{"", nil}, {"chl", nil}, {"chl=", nil}, {"=x", nil}, {"chl=a,chl=b", nil}, {"chl=a,", nil}, {`"chl=a`, nil}, {"chl=a\ndate=b", nil},
	} {
		got, err := ParseMapping(test.in)
		if (err == nil) != (test.want != nil) || !maps.Equal(got, test.want) {
			t.Errorf("ParseMapping(%q) = %v, %v, want %v", test.in, got, err, test.want)
		}
		if err != nil && !strings.Contains(err.Error(), "chl=chl_a_ugl") {
			t.Errorf("ParseMapping(%q): %v, want an example", test.in, err)
		}
	}
}

func TestMappedColumns(t *testing.T) {
	s := storetest.New(t)
	r := mustImport(t, Lakes, s, &Options{Map: Mapping{"id": "Code", "lat": "lat_n"}, Set: Mapping{"region": "MV"}},
		"code;id;name;lat;LAT_N;lon\nx;7;X;1;50;10\n")
	if !slices.Equal(r.Ignored, []string{"id", "lat"}) || r.Added != 1 {
		t.Errorf("report = %+v, want a lake added, and the replaced columns ignored", r)
	}
	r = mustImport(t, Observations, s, &Options{Map: Mapping{"chl": "chl, µg/l", "lake_id": "lake"}, Set: Mapping{"data_type": "satellite"}},
		"lake,date,\"Chl, µg/l\",chl\nx,2024-01-01,12.3,99\n")
	if r.Added != 1 {
		t.Errorf("report = %+v, want an observation added", r)
	}
	lakes, observations := stored(t, s)
	if len(lakes) != 1 || lakes[0].ID != "x" || lakes[0].Point.Lat() != 50 || lakes[0].Region != "MV" {
		t.Errorf("stored %+v", lakes)
	}
	if len(observations) != 1 || observations[0].Chlorophyll != 12_30 || observations[0].Type != data.Satellite {
		t.Errorf("stored %+v", observations)
	}
	// A column that is set counts as a column of the file: it changes what is stored.
	if r := mustImport(t, Lakes, s, &Options{Set: Mapping{"region": "BE"}}, aLake); r.Changed != 1 {
		t.Errorf("report = %+v, want the region changed", r)
	}
	// Properties of features are mapped too, and their own id is not used for a column that is mapped.
	if r := mustImport(t, Lakes, s, &Options{Map: Mapping{"id": "gid", "name": "titel"}}, features(
		`{"type":"Feature","id":9,"properties":{"gid":"y","titel":"Y"},"geometry":{"type":"Point","coordinates":[10,50]}}`)); r.Added != 1 {
		t.Errorf("report = %+v, want a lake added", r)
	}
	if r := mustImport(t, Lakes, s, &Options{Map: Mapping{"id": "gid"}}, features(
		`{"type":"Feature","properties":{"gid":"y","name":"Y"},"geometry":{"type":"Point","coordinates":[10,50]}}`,
		`{"type":"Feature","id":9,"properties":{"name":"Z"},"geometry":{"type":"Point","coordinates":[10,50]}}`)); r.Rejected != 1 || !strings.Contains(r.Bad[0].Reason, "id is missing") {
		t.Errorf("report = %+v, want the feature without a gid rejected", r)
	}
}

func TestMappingErrors(t *testing.T) {
	aFeature := features(featureOf(`"id":"x","name":"X"`, `{"type":"Point","coordinates":[10,50]}`))
	for _, test := range []struct {
		name string
		opts Options
		text string
		want []string
	}{
		{"unknown column", Options{Map: Mapping{"chlor": "x"}}, aLake, []string{`no column "chlor" to map`, "id, external_id, name, lat, lon, region, area_km2"}},
		{"a column for features only", Options{Map: Mapping{"limnomap_outline": "x"}}, aLake, []string{`no column "limnomap_outline"`}},
		{"their column twice", Options{Map: Mapping{"id": "Key", "external_id": "key"}}, aLake, []string{`"Key" is mapped to external_id and to id`}},
		{"mapped and set", Options{Map: Mapping{"id": "key"}, Set: Mapping{"id": "x"}}, aLake, []string{`id is set to "x" and mapped to the column "key"`}},
		{"not in the file", Options{Map: Mapping{"id": "key"}}, aLake, []string{"a.csv", `lacks the column "key", which is mapped to id`, `it holds "id", "name"`}},
		{"an optional column that the file lacks", Options{Map: Mapping{"region": "land"}}, aLake, []string{`lacks the column "land", which is mapped to region`}},
		{"twice in the file", Options{Map: Mapping{"id": "key"}}, "key,KEY,name,lat,lon\nx,x,X,1,1\n", []string{`"KEY" twice`}},
		{"set, and in the file", Options{Set: Mapping{"name": "Y"}}, aLake, []string{`names the column "name" although name is set to "Y"`}},
		{"an id that is made and set", Options{Set: Mapping{"id": "Y"}, MakeIDs: true}, aLake, []string{"id is made from the name"}},
		{"in no feature", Options{Map: Mapping{"region": "land"}}, aFeature, []string{`no feature has the property "land", which is mapped to region`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := storetest.New(t)
			r, err := Lakes(t.Context(), s, files(test.text), &test.opts)
			if err == nil || r.Written {
				t.Fatalf("Lakes = %+v, %v, want an error", r, err)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
			if lakes, _ := stored(t, s); len(lakes) > 0 {
				t.Errorf("stored %v, want nothing", lakes)
			}
		})
	}
	// A feature with a property that is also set is rejected as a bad row.
	if r := mustImport(t, Lakes, storetest.New(t), &Options{Set: Mapping{"name": "Y"}}, aFeature); r.Rejected != 1 || !strings.Contains(r.Bad[0].Reason, `the property "name" although`) {
		t.Errorf("report = %+v, want the feature rejected", r)
	}
}
