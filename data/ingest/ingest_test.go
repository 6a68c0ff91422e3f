package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"go.uber.org/goleak"

	"limnomap/data"
	"limnomap/data/store"
	"limnomap/data/store/storetest"
	"limnomap/data/testsize"
)

func TestMain(m *testing.M) {
	testsize.FewerChecks("25")
	goleak.VerifyTestMain(m)
}

type importFunc func(context.Context, Store, []File, *Options) (Report, error)

// files returns texts as files a.csv, b.csv and so on.
func files(texts ...string) []File {
	var fs []File
	for i, text := range texts {
		fs = append(fs, textFile(string(rune('a'+i))+".csv", text))
	}
	return fs
}

func textFile(name, text string) File {
	return NewFile(name, strings.NewReader(text), int64(len(text)))
}

// fileOf returns a File that is what read returns each time.
func fileOf(name string, read func() io.Reader) File {
	return File{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(read()), nil }}
}

func mustImport(tb testing.TB, f importFunc, s *store.Store, opts *Options, texts ...string) Report {
	tb.Helper()
	r, err := f(tb.Context(), s, files(texts...), opts)
	if err != nil {
		tb.Fatalf("import: %v", err)
	}
	return r
}

// stored returns the content of a store, including forecasts.
func stored(tb testing.TB, s *store.Store) ([]data.Lake, []data.Observation) {
	tb.Helper()
	var lakes []data.Lake
	_, err := s.Scan(tb.Context(),
		func(l data.Lake) error { lakes = append(lakes, l); return nil },
		func(data.Observation) error { return nil })
	if err != nil {
		tb.Fatal(err)
	}
	var observations []data.Observation
	for _, l := range lakes {
		_, history, err := s.History(tb.Context(), l.ID, data.Newest(10000))
		if err != nil {
			tb.Fatal(err)
		}
		observations = append(observations, history...)
	}
	return lakes, observations
}

func TestLakes(t *testing.T) {
	muritz := data.Lake{ID: "de_mv_mueritz", ExternalID: "DEMV_1", Name: "Müritz", Point: orb.Point{12.7, 53.42}, Region: "MV", AreaKM2: 112.6}
	plain := data.Lake{ID: "de_mv_mueritz", ExternalID: "de_mv_mueritz", Name: "Müritz", Point: orb.Point{12.7, 53.42}}
	state := plain
	state.Region = "MV"
	quoted := plain
	quoted.Name = `Am "Hafen", Müritz`
	for _, test := range []struct {
		name, text string
		want       data.Lake
	}{
		{"all columns", "id,external_id,name,lat,lon,region,area_km2\nde_mv_mueritz,DEMV_1,Müritz,53.42,12.7,MV,112.6\n", muritz},
		{"any order and case", " Area_km2 ,REGION,Lon,lat,name,External_ID,ID\n112.6,MV,12.7,53.42,Müritz,DEMV_1,de_mv_mueritz\n", muritz},
		{"required columns only", "id,name,lat,lon\nde_mv_mueritz,Müritz,53.42,12.7", plain},
		{"nulls", "id,external_id,name,lat,lon,region,area_km2\nde_mv_mueritz,-,Müritz,53.42,12.7,n.a.,NA\n", plain},
		{"semicolons and decimal commas", "id;external_id;name;lat;lon;region;area_km2\r\nde_mv_mueritz;DEMV_1;Müritz;53,42;12,7;MV;112,6\r\n", muritz},
		{"semicolons and commas in the header", "id;name;\"lat, north\";lat;lon\nde_mv_mueritz;Müritz;;53.42;12.7\n", plain},
		{"tabs", "id\tname\tlat\tlon\nde_mv_mueritz\tMüritz\t53.42\t12.7\n", plain},
		{"commas and quoted decimal commas", "id,name,lat,lon\nde_mv_mueritz,Müritz,\"53,42\",\"12,7\"\n", plain},
		{"byte-order mark and quotes", "\ufeff\"id\",\"name\",\"lat\",\"lon\"\n\"de_mv_mueritz\",\"Müritz\",\"53.42\",\"12.7\"\n", plain},
		{"ISO-8859-1 from the header on", "id,name,lat,lon,gew\xe4sser\nde_mv_mueritz,M\xfcritz,53.42,12.7,See\n", plain},
		{"unknown columns", "id,name,eu_class,lat,lon,eu_class\nde_mv_mueritz,Müritz,gut,53.42,12.7,\n", plain},
		{"state for region", "id,name,lat,lon,state\nde_mv_mueritz,Müritz,53.42,12.7,MV\n", state},
		{"region before state", "id,state,name,lat,lon,region\nde_mv_mueritz,13,Müritz,53.42,12.7,MV\n", state},
		{"line break in quotes", "id,name,lat,lon\nde_mv_mueritz,\"Am \"\"Hafen\"\",\r\n  Müritz\",53.42,12.7\n", quoted},
		{"blank lines", "id,name,lat,lon\n\n,,,\nde_mv_mueritz,Müritz,53.42,12.7\n , \n \n\n", plain},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := storetest.New(t)
			want := Report{Read: 1, Added: 1, Written: true}
			if got := mustImport(t, Lakes, s, nil, test.text); !equal(got, want) {
				t.Errorf("report = %+v, want %+v", got, want)
			}
			if lakes, _ := stored(t, s); !slices.Equal(lakes, []data.Lake{test.want}) {
				t.Errorf("stored %+v, want %+v", lakes, test.want)
			}
		})
	}
}

func equal(a, b Report) bool {
	bad := slices.Equal(a.Bad, b.Bad)
	a.Bad, b.Bad = nil, nil
	return bad && a.Read == b.Read && a.Added == b.Added && a.Changed == b.Changed && a.Unchanged == b.Unchanged &&
		a.Rejected == b.Rejected && a.Censored == b.Censored && a.Written == b.Written
}

const aLake = "id,name,lat,lon\nx,X,50,10\n"

func TestObservations(t *testing.T) {
	const header = "lake_id,date,chl,data_type,cell_density_cells_ml,who_level,measured_at\n"
	observation := func(edit func(*data.Observation)) data.Observation {
		o := data.Observation{LakeID: "x", Date: 20000, Chlorophyll: 12_35, Level: data.NoLevel, CellDensity: data.NoCellDensity}
		edit(&o)
		return o
	}
	at := time.Date(2024, 10, 4, 10, 30, 5, 0, time.UTC)
	for _, test := range []struct {
		name, text string
		censored   int
		edit       func(*data.Observation)
	}{
		{"required columns only", "lake_id,date,chl,data_type\nx,2024-10-04,12.345,satellite", 0, func(*data.Observation) {}},
		{"forecast", header + "x,2024-10-04,12.345,ai_forecast,,,", 0, func(o *data.Observation) { o.Type = data.Forecast }},
		{"short German date", header + "x,4.10.2024,12.35,satellite,,,", 0, func(*data.Observation) {}},
		{"decimal comma", "lake_id;date;chl;data_type\nx;04.10.2024;12,3450;satellite", 0, func(*data.Observation) {}},
		{"rounded into its class", header + "x,2024-10-04,9.996,satellite,,,", 0, func(o *data.Observation) { o.Chlorophyll = 10_00 }},
		{"zero is a value", header + "x,2024-10-04,0,satellite,,,", 0, func(o *data.Observation) { o.Chlorophyll = 0 }},
		{"empty", header + "x,2024-10-04,,satellite,,,", 0, func(o *data.Observation) { o.Chlorophyll = data.NoChlorophyll }},
		{"n.a.", header + "x,2024-10-04, n.a. ,satellite,n.a.,n.a.,n.a.", 0, func(o *data.Observation) { o.Chlorophyll = data.NoChlorophyll }},
		{"censored", header + "x,2024-10-04,<15,satellite,,,", 1, func(o *data.Observation) { o.Chlorophyll = 7_50; belowLimit(o, 15_00) }},
		{"both censored", header + `x,2024-10-04,"< 0,5",satellite,<1000,,`, 2, func(o *data.Observation) { o.Chlorophyll = 25; o.CellDensity = 500; belowLimit(o, 50) }},
		{"own level and density", header + "x,2024-10-04,12.35,satellite,20000.5,3,", 0, func(o *data.Observation) { o.Level = 3; o.CellDensity = 20000.5 }},
		{"own level of zero, as a decimal", header + "x,2024-10-04,12.35,satellite,0,0.0,", 0, func(o *data.Observation) { o.Level = 0; o.CellDensity = 0 }},
		{"time in UTC", header + "x,2024-10-04,12.35,satellite,,,2024-10-04T10:30:05Z", 0, func(o *data.Observation) { o.MeasuredAt = at }},
		{"time in a zone", header + "x,2024-10-04,12.35,satellite,,,2024-10-04T12:30:05.999+02:00", 0, func(o *data.Observation) { o.MeasuredAt = at }},
		{"time as Python writes it", header + "x,2024-10-04,12.35,satellite,,,2024-10-04 10:30:05+00:00", 0, func(o *data.Observation) { o.MeasuredAt = at }},
		{"naive time", header + "x,2024-10-04,12.35,satellite,,,2024-10-04T10:30:05", 0, func(o *data.Observation) { o.MeasuredAt = at }},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := storetest.New(t)
			mustImport(t, Lakes, s, nil, aLake)
			want := Report{Read: 1, Added: 1, Censored: test.censored, Written: true}
			if got := mustImport(t, Observations, s, nil, test.text); !equal(got, want) {
				t.Errorf("report = %+v, want %+v", got, want)
			}
			o := observation(func(*data.Observation) {})
			test.edit(&o)
			if _, got := stored(t, s); !slices.Equal(got, []data.Observation{o}) {
				t.Errorf("stored %+v, want %+v", got, o)
			}
		})
	}
}

// belowLimit makes o a value below a limit.
func belowLimit(o *data.Observation, limit data.Chlorophyll) {
	o.Details.BelowLimit, o.Details.Upper = true, data.Known(limit)
}

func TestImportAgain(t *testing.T) {
	const observations = "lake_id,date,chl,data_type\nx,2024-01-01,1,satellite\nx,2024-01-08,,satellite\nx,2024-01-08,2,ai_forecast\n"
	s := storetest.New(t)
	mustImport(t, Lakes, s, nil, aLake)
	mustImport(t, Observations, s, nil, observations)
	before, _ := s.Revision(t.Context())
	for _, again := range []struct {
		f    importFunc
		text string
		want Report
	}{
		{Lakes, aLake, Report{Read: 1, Unchanged: 1, Written: true}},
		{Observations, observations, Report{Read: 3, Unchanged: 3, Written: true}},
		{Observations, "lake_id,date,chl,data_type\n", Report{Written: true}},
	} {
		if got := mustImport(t, again.f, s, nil, again.text); !equal(got, again.want) {
			t.Errorf("the same again: %+v, want %+v", got, again.want)
		}
	}
	if after, _ := s.Revision(t.Context()); after != before {
		t.Errorf("importing the same again raised the revision from %v to %v", before, after)
	}
	got := mustImport(t, Observations, s, nil, strings.Replace(observations, ",1,sat", ",1.5,sat", 1))
	if want := (Report{Read: 3, Changed: 1, Unchanged: 2, Written: true}); !equal(got, want) {
		t.Errorf("one value changed: %+v, want %+v", got, want)
	}
}

func TestProgress(t *testing.T) {
	text := "id,name,lat,lon\n" + strings.Repeat(manyLakes(60), 1000)
	var calls []int64
	r := mustImport(t, Lakes, storetest.New(t), &Options{Progress: func(n int64) { calls = append(calls, n) }}, text, aLake)
	if r.Read != 60001 || r.Unchanged != 60000-60 {
		t.Errorf("report = %+v, want 60001 rows, all but 61 of them the same as earlier ones", r)
	}
	if total := int64(len(text) + len(aLake)); len(calls) < 3 || !slices.IsSorted(calls) || calls[len(calls)-1] != total {
		t.Errorf("progress %v, want several growing numbers up to %d", calls, total)
	}
}

func TestCancelled(t *testing.T) {
	s := storetest.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	text := "id,name,lat,lon\n" + manyLakes(200_000)
	_, err := Lakes(ctx, s, files(text), &Options{Progress: func(int64) { cancel() }})
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "\n") {
		t.Errorf("a cancelled import returned %v", err)
	}
	if lakes, _ := stored(t, s); len(lakes) > 0 {
		t.Errorf("a cancelled import left %v", lakes)
	}
}

// refusing is a store that rejects all writes.
type refusing struct{ store.Tx }

var errRefused = errors.New("refused")

func (refusing) PutLakes(context.Context, []data.Lake, store.LakeColumns) ([]store.Change, error) {
	return nil, errRefused
}

// refuser makes transactions that are refusing.
type refuser struct{ *store.Store }

func (refuser) Import(_ context.Context, fn func(store.Tx) error) error { return fn(refusing{}) }

// An error of writing ends the reading, also of a file that never ends.
func TestRejectedWhileReading(t *testing.T) {
	endlessly := fileOf("endless", func() io.Reader {
		return io.MultiReader(strings.NewReader("id,name,lat,lon\n"), &endless{text: "x,X,50,10\n", bytes: 1 << 50})
	})
	if _, err := Lakes(t.Context(), refuser{}, []File{endlessly}, nil); !errors.Is(err, errRefused) {
		t.Errorf("Lakes: %v, want %v", err, errRefused)
	}
}

// manyLakes returns rows of n lakes, lake_0 and so on.
func manyLakes(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "lake_%d,X,50,10\n", i)
	}
	return b.String()
}
