package ingest

import (
	"strings"
	"testing"

	"limnomap/data"
	"limnomap/data/store"
	"limnomap/data/store/storetest"
)

func FuzzLakes(f *testing.F) {
	for _, seed := range []string{
		aLake,
		features(featureOf(`"id":"a","name":"A"`, pointGeometry), featureOf(`"id":"b","name":"B","area_km2":null`, island), featureOf(`"id":"c"`, box)),
		"\ufeff\n" + features(featureOf(`"ID":1,"name":"\u00c4","state":"","lat":"53,42","lon":12.7,"x":[{}]`, box), featureOf("", "null"), "7"),
		`{"features":[{"type":"Feature","id":"x","properties":{"name":"X"},"geometry":{"type":"MultiPolygon","coordinates":` +
			`[[[[179,1],[180,1],[180,2]]],[[[-180,1],[-179,1],[-180,2,7]]]]}}],"type":"FeatureCollection","crs":{"properties":{"name":"EPSG:4326"}}}`,
		"\ufeffid;external_id;name;lat;lon;state;area_km2\r\nde_mv_mueritz;DEMV_1;\"Müritz;\nHafen \"\"Süd\"\"\";53,42;12,7;MV;112,6\r\n",
		"ID\tName\tLat\tLon\nm\tM\xfcritz\t53.42\t12.7\nm\tM\xfcritz\t53.42\t12.8\n\n",
		"id|name|lat|lon\na|A|n.a.|1\nb|B|1e1\n\"c\"x|C|1|1\nd|\"",
		"id,name,lat,lon\na,A,\"1,234\",\"-1,5\"\n,,,\n",
		"bathingWaterIdentifier,bathingWaterName,bwWaterCategory,latitude,longitude\na,A,Lake,1,1\nb,B,coastalBathingWater,1,1\n",
		"id;name;lat;lon;area_km2\na;A;47.123;11,345;1.091\nb;B;1;1;1.091,5\nc;C;1;1;20.000\nd;D;1;1;12.5\ne;E;1;1;1.2.3\n",
		features(featureOf(`"id":"a","name":"A","lat":0,"lon":0,"limnomap_outline":"AcDr1gjCx+UI"`, box)),
		exportedSquare(f),
	} {
		f.Add([]byte(seed))
	}
	s := storetest.New(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		checkImport(t, Lakes, s, string(text))
		_, err := s.Scan(t.Context(), data.Lake.Check, data.Observation.Check)
		if err != nil {
			t.Errorf("stored a lake that may not be: %v", err)
		}
	})
}

func FuzzObservations(f *testing.F) {
	for _, seed := range []string{
		"lake_id,date,chl,data_type\nx,2024-01-01,12.3,satellite\nx,2024-01-01,,ai_forecast\ny,2024-01-01,1,satellite\n",
		"lake_id;date;chl;data_type;who_level;cell_density_cells_ml;measured_at\nx;01.02.2024;<0,5;satellite;3;1e4;2024-02-01T10:00:00+02:00\n",
		"date,lake_id,data_type,chl\n2024-01-01,x,satellite,1\n2024-01-01,x,satellite,2\n2024-1-1,x,satellite,n.a.\n2024-01-02,x,satellite,-1\n",
		"lake_id;date;chl;data_type;cell_density_cells_ml\nx;2024-01-01;1.091;satellite;20.000\nx;2024-01-08;1.091,5;satellite;1.234.567\nx;2024-01-15;<0,5;satellite;20 000\n",
		"lake_id,date,chl,data_type\nx,2024-01-01,1.091,satellite\nx,2024-01-08,\"1,091\",satellite\nx,2024-01-15,\"12,5\",satellite\n",
		"lake_id\tdate\tchl\tdata_type\tnote\nx\t2024-01-01\t1500\tsatellite\t\"a\nb\"\nx\t2024-01-08\tNA\tsatellite\n",
	} {
		f.Add([]byte(seed))
	}
	fuzzObservations(f)
}

// fuzzObservations imports texts as observations of one lake. All that is stored must be valid.
func fuzzObservations(f *testing.F) {
	s := storetest.New(f)
	mustImport(f, Lakes, s, nil, aLake)
	f.Fuzz(func(t *testing.T, text []byte) {
		checkImport(t, Observations, s, string(text))
		_, err := s.Scan(t.Context(), func(data.Lake) error { return nil }, data.Observation.Check)
		if err != nil {
			t.Errorf("stored an observation that may not be: %v", err)
		}
	})
}

// checkImport imports text strictly, then without bad rows, and then again, and compares the reports.
func checkImport(t *testing.T, f importFunc, s *store.Store, text string) {
	input := func() []File { return []File{textFile("fuzz.csv", text)} }
	before, err := s.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	strict, strictErr := f(t.Context(), s, input(), nil)
	if rev, err := s.Revision(t.Context()); err != nil || !strict.Written && rev != before {
		t.Errorf("nothing was to be written, but the revision went from %v to %v (%v)", before, rev, err)
	}
	if strictErr == nil && strict.Written != (strict.Rejected == 0) {
		t.Errorf("strict: %+v, want written if and only if nothing is rejected", strict)
	}
	checkReport(t, strict)
	skipping, err := f(t.Context(), s, input(), &Options{SkipBad: true})
	checkReport(t, skipping)
	if (err == nil) != (strictErr == nil) || skipping.Read != strict.Read || skipping.Rejected != strict.Rejected {
		t.Errorf("strict: %+v, %v; skipping: %+v, %v: want the same rows read and rejected", strict, strictErr, skipping, err)
	}
	if err != nil {
		return
	}
	again, err := f(t.Context(), s, input(), &Options{SkipBad: true})
	if err != nil || again.Added+again.Changed != 0 || again.Rejected != skipping.Rejected {
		t.Errorf("again: %+v, %v, want nothing changed after %+v", again, err, skipping)
	}
}

func checkReport(t *testing.T, r Report) {
	if r.Written && r.Read != r.Added+r.Changed+r.Unchanged+r.Rejected+r.LeftOut+r.Combined {
		t.Errorf("the rows of %+v do not add up", r)
	}
	if len(r.Bad) != min(r.Rejected, maxBadRows) {
		t.Errorf("%d rows rejected, %d of them in full", r.Rejected, len(r.Bad))
	}
	last := 0
	for _, bad := range r.Bad {
		if bad.Number <= last || bad.Reason == "" {
			t.Errorf("bad row %+v after number %d: want a reason, and lines or features in order", bad, last)
		}
		last = bad.Number
	}
	if strings.ContainsAny(r.String(), "\x1b\x00") {
		t.Errorf("the report passes control characters on: %q", r.String())
	}
}
