package ingest

import (
	"context"
	"errors"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/ingest/satellite"
	"limnomap/data/store"
	"limnomap/data/store/storetest"
)

// someRows returns rows of satellites: each kind of value, and numbers between the decimals of a table and of the database.
func someRows() []satellite.Row {
	random := rand.New(rand.NewPCG(38, 1))
	number := func(most float64) float64 {
		switch random.IntN(4) {
		case 0:
			return math.Floor(random.Float64()*most*2e4) / 2e4 // half of the table's last decimal, or none
		case 1:
			return math.Floor(random.Float64()*most*100)/100 + 0.005 - float64(random.IntN(3))*0.00005
		case 2:
			return float64(float32(random.ExpFloat64() * 20))
		}
		return random.Float64() * most
	}
	var rows []satellite.Row
	for i := range 20_000 {
		r := satellite.Row{Lake: []data.LakeID{"x", "y"}[i%2], Date: data.Date(10_000 + i/4), Source: []string{"EPA CyAN", "Copernicus LWQ300"}[i/2%2], Uncertainty: -1,
			Version: []string{"", "V2.1.1", "V2.1.1 2025-09-24T10:00:00Z", "12 observations"}[random.IntN(4)], Method: "median of pixels wholly inside the outline, 2 pixels from the shore",
			Inside: 1 + random.IntN(1e6)}
		if random.IntN(2) == 0 {
			r.PeriodStart, r.Composite = data.Known(r.Date-6), data.MaximumComposite
		}
		for k := range r.Quantities {
			if random.IntN(3) == 0 {
				r.Quantities[k] = data.Known(data.Hundredths(random.IntN(100_00)))
			}
		}
		if random.IntN(3) == 0 {
			r.Scum = random.IntN(r.Inside + 1)
		}
		r.Valid = random.IntN(r.Inside + 1)
		if r.HasValue = random.IntN(5) > 0; r.HasValue {
			r.Value, r.P10, r.P90 = min(number(1500), 1500), number(1500), number(1500)
			r.Cells = float64(random.IntN(3)) * math.Floor(random.Float64()*1e6)
			r.Quality, r.Flags = data.Quality(random.IntN(int(data.Poor)+1)), data.FlagsOf(data.FewPixels)*data.Flags(random.IntN(2))|data.FlagsOf(data.OutOfRange)*data.Flags(random.IntN(2))
			switch random.IntN(3) {
			case 0:
				r.Uncertainty = min(number(1600), 1500)
			case 1:
				r.Limit = []float64{3.07, number(1500) + 0.0001}[random.IntN(2)]
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// observationsOf returns rows as they are stored.
func observationsOf(rows []satellite.Row) iter.Seq2[data.Observation, error] {
	return func(yield func(data.Observation, error) bool) {
		for i := range rows {
			if !yield(rows[i].Observation(), nil) {
				return
			}
		}
	}
}

// indexColumns are all that [satellite.Summary.Columns] may have.
var indexColumns = []string{"cell_density_cells_ml", "secchi_m", "water_temperature_c", "turbidity_ntu", "scum_percent"}

func noMore(store.Tx, Report) error { return nil }

const twoLakes = aLake + "y,Y,50,10\n"

// Rows that are stored as they are, and those that are first written to a table, are the same, and so are the reports.
func TestValuesAreThoseOfTheTable(t *testing.T) {
	rows := someRows()
	var text strings.Builder
	table, err := satellite.NewTable(&text, indexColumns...)
	for i := range rows {
		err = errors.Join(err, table.Write(&rows[i]))
	}
	if err := errors.Join(err, table.Flush()); err != nil {
		t.Fatal(err)
	}
	byTable, direct := storetest.New(t), storetest.New(t)
	mustImport(t, Lakes, byTable, nil, twoLakes)
	mustImport(t, Lakes, direct, nil, twoLakes)
	for range 2 { // the second time nothing changes
		want := mustImport(t, Observations, byTable, nil, text.String())
		got, err := AllValues(t.Context(), direct, []Values{{Name: "first.nc", Columns: indexColumns, Rows: observationsOf(rows[:15_000])}, {Name: "second.nc", Columns: indexColumns, Rows: observationsOf(rows[15_000:])}}, nil, noMore)
		if err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("the report is\n%s\nwant\n%s", got, want)
		}
	}
	_, want := stored(t, byTable)
	_, got := stored(t, direct)
	if len(got) != len(rows) || !slices.Equal(got, want) {
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Fatalf("stored %+v\n want  %+v", got[i], want[i])
			}
		}
		t.Errorf("%d rows are stored, want %d", len(got), len(want))
	}
}

func TestRejectedValues(t *testing.T) {
	s := storetest.New(t)
	mustImport(t, Lakes, s, nil, twoLakes)
	mustImport(t, Observations, s, nil, "lake_id,date,chl,data_type,source,who_level\nx,2024-07-01,9,satellite,EPA CyAN,2\n")
	july, err := data.ParseDate("2024-07-01")
	if err != nil {
		t.Fatal(err)
	}
	row := func(lake data.LakeID, date data.Date) satellite.Row {
		return satellite.Row{Lake: lake, Date: date, Source: "EPA CyAN", Inside: 10, Valid: 4, Uncertainty: -1}
	}
	rows := []satellite.Row{row("x", july), row("z", july), row("y", july), row("y", july+30)}
	rows[2].Source = "a\u202eb"
	files := []Values{{Name: "a.nc", Rows: observationsOf(rows[:2])}, {Name: "b.nc", Rows: observationsOf(rows[2:])}}
	opts := &Options{Now: func() time.Time { return july.Time() }}
	before, _ := s.Revision(t.Context())
	want := []string{`a.nc, lake "x": chl is missing or poor`, `a.nc, lake "z": the database does not hold`, `b.nc, lake "y": source`, `b.nc, lake "y": date 2024-07-31 is in the future`}
	for _, skip := range []bool{false, true} {
		opts.SkipBad = skip
		called := false
		report, err := AllValues(t.Context(), s, files, opts, func(_ store.Tx, r Report) error {
			called = true
			return nil
		})
		if err != nil || report.Read != 4 || report.Rejected != 4 || report.Written != skip || called != skip || !slices.Equal(report.Unknown, []data.LakeID{"z"}) {
			t.Errorf("with SkipBad %v: %+v, %v", skip, report, err)
		}
		for i, bad := range report.Bad {
			if !strings.HasPrefix(bad.String(), want[i]) {
				t.Errorf("row %d: %s, want %s", i, bad, want[i])
			}
		}
	}
	if after, err := s.Revision(t.Context()); err != nil || after != before {
		t.Errorf("the revision is %v, %v, want %v", after, err, before)
	}
}

// An import of values writes all, or nothing.
func TestValuesAreOneTransaction(t *testing.T) {
	bad := errors.New("bad")
	good := someRows()[:3]
	broken := func(yield func(data.Observation, error) bool) { yield(data.Observation{}, bad) }
	for name, test := range map[string]struct {
		files []Values
		opts  *Options
		last  error
		want  error
		text  string
	}{
		"the end fails":       {[]Values{{Name: "a.nc", Rows: observationsOf(good)}}, nil, bad, bad, "bad"},
		"a file breaks":       {[]Values{{Name: "a.nc", Rows: observationsOf(good)}, {Name: "b.nc", Rows: broken}}, nil, nil, bad, "import: b.nc: bad"},
		"it takes too long":   {[]Values{{Name: "a.nc", Rows: observationsOf(good)}}, &Options{Timeout: 1}, nil, ErrTimeout, "takes longer than allowed, 1ns"},
		"it is a dry run":     {[]Values{{Name: "a.nc", Rows: observationsOf(good)}}, &Options{DryRun: true}, nil, nil, ""},
		"there are no values": {[]Values{{Name: "a.nc", Rows: observationsOf(nil)}}, nil, nil, nil, ""},
	} {
		s := storetest.New(t)
		mustImport(t, Lakes, s, nil, twoLakes)
		before, _ := s.Revision(t.Context())
		report, err := AllValues(t.Context(), s, test.files, test.opts, func(store.Tx, Report) error { return test.last })
		if !errors.Is(err, test.want) || err != nil && !strings.Contains(err.Error(), test.text) || err != nil && (report.Added > 0 || report.Written) {
			t.Errorf("%s: %v, %+v", name, err, report)
		}
		if dry := name == "it is a dry run"; report.DryRun != dry || dry && report.Added != len(good) {
			t.Errorf("%s: %+v", name, report)
		}
		if after, err := s.Revision(t.Context()); err != nil || after != before {
			t.Errorf("%s: the revision is %v, %v, want %v", name, after, err, before)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := AllValues(ctx, storetest.New(t), []Values{{Name: "a.nc", Rows: observationsOf(good)}}, nil, noMore); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
}
