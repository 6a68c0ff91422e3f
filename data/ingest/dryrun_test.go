package ingest

import (
	"slices"
	"strings"
	"testing"

	"limnomap/data"
	"limnomap/data/store/storetest"
)

// A dry run reports the same as the import after it, and writes nothing.
func TestDryRun(t *testing.T) {
	for _, test := range []struct {
		name string
		f    importFunc
		text string
		opts Options
	}{
		{"lakes", Lakes, "id,name,lat,lon\nx,New name,50,10\nnew,N,1,1\ny,Y,50,10\n", Options{}},
		{"a bad lake", Lakes, "id,name,lat,lon\nnew,N,1,1\nbad,,1,1\n", Options{}},
		{"a bad lake, skipped", Lakes, "id,name,lat,lon\nnew,N,1,1\nbad,,1,1\n", Options{SkipBad: true}},
		{"a contradiction, skipped", Lakes, "id,name,lat,lon\nnew,N,1,1\nnew,M,1,1\nnew,N,1,1\n", Options{SkipBad: true}},
		{"observations", Observations, "lake_id,date,chl,data_type\nx,2024-01-01,<2,satellite\nx,2024-01-08,5,satellite\nnew,2024-01-01,1,satellite\n", Options{SkipBad: true}},
		{"statements", Advisories, anAdvisory + "s2,z,closure,other,Amt,,,,2024-07-01,2024-07-01,,\n", Options{SkipBad: true, Now: inJuly().Now}},
		{"nothing new", Lakes, aLake, Options{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := storetest.New(t)
			mustImport(t, Lakes, s, nil, aLake+"y,Y,50,10\n")
			mustImport(t, Observations, s, nil, "lake_id,date,chl,data_type\nx,2024-01-01,7,satellite\n")
			revision, err := s.Revision(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			lakes, observations := stored(t, s)
			dry := test.opts
			dry.DryRun = true
			would := mustImport(t, test.f, s, &dry, test.text)
			if after, err := s.Revision(t.Context()); err != nil || after != revision {
				t.Errorf("the revision went from %v to %v, %v", revision, after, err)
			}
			lakesAfter, observationsAfter := stored(t, s)
			if would.Written || !slices.Equal(lakesAfter, lakes) || !slices.Equal(observationsAfter, observations) {
				t.Errorf("stored %v and %v, want no change; report %+v", lakesAfter, observationsAfter, would)
			}
			did := mustImport(t, test.f, s, &test.opts, test.text)
			if would.DryRun != did.Written || !slices.Equal(would.Reasons, did.Reasons) {
				t.Errorf("the dry run reports %+v, the import %+v", would, did)
			}
			if want := "this was a dry run"; would.DryRun != strings.Contains(would.String(), want) || strings.Contains(did.String(), want) {
				t.Errorf("the reports read\n%s\n%s", would, did)
			}
			would.Written, would.DryRun = did.Written, false
			if !equal(would, did) || would.LeftOut != did.LeftOut {
				t.Errorf("the dry run reports %+v, the import %+v", would, did)
			}
		})
	}
}

// For keys beyond the number that an import remembers, the report says what to search for.
func TestLateContradiction(t *testing.T) {
	const most = 20
	var text strings.Builder
	text.WriteString("id,name,lat,lon\n")
	for i := range most + 10 {
		text.WriteString("x" + data.Date(i).String() + ",X,50,10\n") // a unique id
	}
	last := "x" + data.Date(most+9).String()
	r := mustImport(t, Lakes, storetest.New(t), &Options{SkipBad: true, firsts: most}, text.String(), "id,name,lat,lon\nx1970-01-02,Y,50,10\n"+last+",Y,50,10\n"+last+",X,50,10\n")
	if r.Added != most+10 || r.Rejected != 2 || r.Unchanged != 1 {
		t.Fatalf("report = %+v, want 2 rejected and 1 unchanged", r)
	}
	for i, want := range []string{"on line 3 of a.csv with other values", "in an earlier row of this import with other values: want one row for it (search the files for " + last} {
		if !strings.Contains(r.Bad[i].Reason, want) || r.Bad[i].File != "b.csv" || r.Bad[i].ID == "" {
			t.Errorf("bad row %+v, want %q", r.Bad[i], want)
		}
	}
}

// Rows of several batches are written in order, and an error of reading ends the import.
func TestManyBatches(t *testing.T) {
	var text strings.Builder
	text.WriteString("lake_id,date,chl,data_type\n")
	first := data.Date(0)
	n := 2*batchRows + 7
	for i := range n {
		text.WriteString("x," + (first + data.Date(i%15_000)).String() + ",1," + data.DataType(i/15_000%2).String() + "\n")
	}
	s := storetest.New(t)
	mustImport(t, Lakes, s, nil, aLake)
	r := mustImport(t, Observations, s, nil, text.String())
	if r.Read != n || r.Added != 30_000 || r.Unchanged != n-30_000 {
		t.Errorf("report = %+v, want %d rows, 30,000 of them added", r, n)
	}
	_, err := Observations(t.Context(), s, files(text.String()+"x,1990-01-01,\""), nil)
	if err != nil {
		t.Errorf("a bad row after many: %v", err)
	}
}
