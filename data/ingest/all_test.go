package ingest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"limnomap/data"
	"limnomap/data/ingest"
	"limnomap/data/store"
	"limnomap/data/store/storetest"
)

func openable(name, text string) ingest.File {
	return ingest.File{Name: name, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(text)), nil
	}}
}

// counted returns the revision of s and the number of its lakes and observations.
func counted(t *testing.T, s *store.Store) (revision int64, lakes, observations int) {
	t.Helper()
	r, err := s.Scan(t.Context(),
		func(data.Lake) error { lakes++; return nil },
		func(data.Observation) error { observations++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return r.Number, lakes, observations
}

const (
	allLakes        = "id,name,lat,lon\na,See A,50,10\nb,See B,51,11\n"
	allObservations = "lake_id,date,chl,data_type\na,2024-07-01,5,satellite\n"
	allAdvisories   = "id,lake_id,kind,cause,issuer,issued,valid_from,valid_until\ns1,a,closure,bacteria,Amt,2024-07-01,2024-07-01,\n"
	allStatements   = `{"advisories":[{"id":"s2","lake_id":"b","kind":"info","cause":"other","issuer":"Amt","issued":"2024-07-01","valid_from":"2024-07-01","valid_until":null}]}`
	allGeoJSON      = `{"type":"FeatureCollection","features":[{"type":"Feature","id":"c","properties":{"name":"C"},"geometry":{"type":"Point","coordinates":[10,50]}}]}`
)

func pass(store.Tx, ingest.Reports) error { return nil }

func TestAll(t *testing.T) {
	s := storetest.New(t)
	// By name and by order the observations are first, and their lakes come with the same import.
	files := []ingest.File{openable("a.csv", allObservations), openable("b.csv", allLakes), openable("c.csv", allGeoJSON),
		openable("0.csv", allAdvisories), openable("1.json", allStatements)}
	called := 0
	r, err := ingest.All(t.Context(), s, files, nil, func(_ store.Tx, r ingest.Reports) error {
		called++
		if r.Lakes.Added != 3 || r.Observations.Added != 1 || r.Advisories.Added != 2 || r.Read() != 6 {
			t.Errorf("before the commit: %+v", r)
		}
		return nil
	})
	if err != nil || !r.Lakes.Written || !r.Observations.Written || r.Lakes.Added != 3 || r.Observations.Added != 1 || r.Advisories.Added != 2 || called != 1 {
		t.Errorf("All = %+v, %v after %d calls", r, err, called)
	}
	if statements, _, err := s.Advisories(t.Context()); err != nil || len(statements) != 2 {
		t.Errorf("stored are the statements %+v, %v, want 2", statements, err)
	}
	if revision, lakes, observations := counted(t, s); revision != 1 || lakes != 3 || observations != 1 {
		t.Errorf("revision %d with %d lakes and %d observations, want 1 with 3 and 1", revision, lakes, observations)
	}
}

func TestAllOrNothing(t *testing.T) {
	fault := errors.New("no")
	tests := []struct {
		name     string
		files    []ingest.File
		opts     ingest.Options
		last     error
		rejected int
		err      string // part of the error
		written  bool
	}{
		{name: "a bad observation", files: []ingest.File{openable("l", allLakes), openable("o", allObservations+"a,2024-07-02,-1,satellite\n")}, rejected: 1},
		{name: "both", files: []ingest.File{openable("l", allLakes+"c,See C,95,0\n"), openable("o", allObservations+"c,2024-07-02,1,satellite\n")}, rejected: 2},
		{name: "a bad statement", files: []ingest.File{openable("l", allLakes), openable("o", allObservations), openable("s", allAdvisories+"s2,c,info,other,Amt,2024-07-01,2024-07-01,\n")}, rejected: 1},
		{name: "skipped", files: []ingest.File{openable("l", allLakes), openable("o", allObservations+"a,2024-07-02,-1,satellite\n")}, opts: ingest.Options{SkipBad: true}, rejected: 1, written: true},
		{name: "the last step fails", files: []ingest.File{openable("l", allLakes), openable("o", allObservations)}, last: fault, err: "no"},
		{name: "a broken file", files: []ingest.File{openable("l", allLakes), openable("o", allObservations+"\"open")}, rejected: 1},
		{name: "mapped", files: []ingest.File{openable("l", allLakes)}, opts: ingest.Options{Map: ingest.Mapping{"id": "key"}}, err: "files of one kind only"},
		{name: "none of three", files: []ingest.File{openable("s", "{}")}, err: "s: it holds neither lakes (there are no features: want a FeatureCollection) nor observations (this is JSON: want CSV, " +
			"because JSON is for lakes and official statements, not for observations) nor official statements (there are no official statements: want"},
		{name: "GeoJSON and statements", files: []ingest.File{openable("s", strings.Replace(allGeoJSON, "{", `{"advisories":[],`, 1))}, err: "it has the columns of lakes and of official statements: want one file for each"},
		{name: "empty", files: []ingest.File{openable("l", allLakes), openable("o", "")}, err: "the file is empty"},
		{name: "cannot be opened", files: []ingest.File{{Name: "x", Open: func() (io.ReadCloser, error) { return nil, fault }}}, err: "import: x: no"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := storetest.New(t)
			r, err := ingest.All(t.Context(), s, test.files, &test.opts, func(store.Tx, ingest.Reports) error { return test.last })
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) || r.Rejected() != test.rejected {
				t.Errorf("All = %+v, %v; want %d rejected and an error that contains %q", r, err, test.rejected, test.err)
			}
			if r.Lakes.Written != test.written || r.Lakes.Added > 0 != test.written {
				t.Errorf("the report of lakes says %+v, want written %v", r.Lakes, test.written)
			}
			if revision, lakes, observations := counted(t, s); (revision == 1 && lakes == 2 && observations == 1) != test.written || !test.written && revision+int64(lakes+observations) > 0 {
				t.Errorf("revision %d with %d lakes and %d observations, want written %v", revision, lakes, observations, test.written)
			}
		})
	}
}

func TestAllDry(t *testing.T) {
	s := storetest.New(t)
	files := []ingest.File{openable("l", allLakes), openable("o", allObservations), openable("s", allAdvisories)}
	r, err := ingest.All(t.Context(), s, files, &ingest.Options{DryRun: true}, pass)
	if err != nil || r.Lakes.Added != 2 || r.Observations.Added != 1 || r.Advisories.Added != 1 || r.Lakes.Written || r.Observations.Written || r.Advisories.Written {
		t.Errorf("All = %+v, %v; want what would be added, and nothing written", r, err)
	}
	if revision, lakes, observations := counted(t, s); revision+int64(lakes+observations) > 0 {
		t.Errorf("revision %d with %d lakes and %d observations, want none", revision, lakes, observations)
	}
}

func TestAllInterrupted(t *testing.T) {
	s := storetest.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := ingest.All(ctx, s, []ingest.File{openable("l", allLakes)}, nil, func(store.Tx, ingest.Reports) error {
		cancel()
		return nil
	})
	if err == nil {
		t.Error("an import whose context ended was committed")
	}
	if revision, lakes, _ := counted(t, s); revision != 0 || lakes != 0 {
		t.Errorf("revision %d with %d lakes, want none", revision, lakes)
	}
}

// Any bytes give a result or an error, and never half an import.
func FuzzAll(f *testing.F) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(allLakes)); err != nil {
		f.Fatal(err)
	}
	z.Close()
	for _, seed := range []string{allLakes, allObservations, allAdvisories, allStatements, allGeoJSON, packed.String(), "", "{", "id;name;lat;lon;lake_id\n", "\xff\xfe"} {
		f.Add(seed)
	}
	s := storetest.New(f)
	f.Fuzz(func(t *testing.T, text string) {
		undone := errors.New("undone")
		reached := false
		_, err := ingest.All(t.Context(), s, []ingest.File{openable("x", text)}, nil, func(_ store.Tx, r ingest.Reports) error {
			if reached = true; max(r.Lakes.Read, r.Observations.Read, r.Advisories.Read) != r.Read() {
				t.Errorf("one file gave %d lakes, %d observations and %d statements", r.Lakes.Read, r.Observations.Read, r.Advisories.Read)
			}
			return undone
		})
		if reached && !errors.Is(err, undone) {
			t.Errorf("All = %v, want the error of its last step", err)
		}
		if revision, _, _ := counted(t, s); revision != 0 {
			t.Errorf("revision %d, want 0", revision)
		}
	})
}

// A file that is given to the import of another kind is called what it is, with the command for it.
func TestFilesOfAnotherKind(t *testing.T) {
	s := storetest.New(t)
	statement := "id,lake_id,kind,cause,issuer,issued,valid_from,valid_until\n"
	for _, test := range []struct {
		name, text string
		imp        func(context.Context, ingest.Store, []ingest.File, *ingest.Options) (ingest.Report, error)
		want       string
	}{
		{"observations as lakes", allObservations, ingest.Lakes, "import: x.csv holds observations, not lakes: limnomap import observations imports it"},
		{"lakes as observations", allLakes, ingest.Observations, "import: x.csv holds lakes, not observations: limnomap import lakes imports it"},
		{"statements as lakes", statement, ingest.Lakes, "import: x.csv holds official statements, not lakes: limnomap import advisories imports it"},
		{"lakes as statements", allLakes, ingest.Advisories, "import: x.csv holds lakes, not official statements: limnomap import lakes imports it"},
		{"something else", "a,b\n1,2\n", ingest.Lakes, "line 1 lacks the column id"},
	} {
		if _, err := test.imp(t.Context(), s, []ingest.File{openable("x.csv", test.text)}, nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
	}
}
