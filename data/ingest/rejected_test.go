package ingest

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"limnomap/data"
	"limnomap/data/store"
	"limnomap/data/store/storetest"
)

// checkOneRejected imports a text whose second row of three is bad: first strictly, which must not change s, and then without
// that row. The reason must contain the wanted parts.
func checkOneRejected(t *testing.T, f importFunc, s *store.Store, text string, reason []string) {
	t.Helper()
	lakes, observations := stored(t, s)
	strict := mustImport(t, f, s, nil, text)
	lakesAfter, observationsAfter := stored(t, s)
	if !slices.Equal(lakesAfter, lakes) || !slices.Equal(observationsAfter, observations) || strict.Written {
		t.Errorf("strict: stored %v and %v, report %+v, want nothing written", lakesAfter, observationsAfter, strict)
	}
	got := mustImport(t, f, s, &Options{SkipBad: true}, text)
	if !slices.Equal(strict.Bad, got.Bad) {
		t.Errorf("strict reports %v, skipping %v", strict.Bad, got.Bad)
	}
	if got.Read != 3 || got.Added != 2 || got.Rejected != 1 || len(got.Bad) != 1 || !got.Written || got.Censored != 0 {
		t.Fatalf("report = %+v, want 2 of 3 rows added", got)
	}
	if bad := got.Bad[0]; bad.File != "a.csv" || bad.Number != 3 {
		t.Errorf("bad row = %+v, want a.csv, line 3", bad)
	}
	for _, want := range reason {
		if !strings.Contains(got.Bad[0].Reason, want) {
			t.Errorf("reason = %q, want %q in it", got.Bad[0].Reason, want)
		}
	}
}

// Each text has one bad row between good ones.
func TestRejectedLakes(t *testing.T) {
	const good = "a,A,50,10,1\n"
	for _, test := range []struct {
		name, row string
		want      []string // parts of the reason
	}{
		{"no id", ",B,50,10,1", []string{"id is missing"}},
		{"id with a blank", "b b,B,50,10,1", []string{`id "b b"`, "letters, digits"}},
		{"name that mirrors the value", "b,B \u202e1.25,50,10,1", []string{"name", `"B \u202e1.25"`, "U+202E at character 3", "want text without"}},
		{"no latitude", "b,B,n.a.,10,1", []string{"lat is missing", "from -90 to 90 degrees"}},
		{"no longitude", "b,B,50,,1", []string{"lon is missing", "from -180 to 180 degrees"}},
		{"latitude too large", "b,B,90.1,10,1", []string{`lat "90.1"`, "from -90 to 90 degrees"}},
		{"latitude not a number", "b,B,NaN,10,1", []string{`lat "NaN"`}},
		{"latitude with degrees", "b,B,50°,10,1", []string{`lat "50°"`}},
		{"two decimal signs", `b,B,"1.050,5",10,1`, []string{`lat "1.050,5"`}},
		{"negative area", "b,B,50,10,-1", []string{`area_km2 "-1"`, "from 0 to 400000 km²"}},
		{"thousands or decimals", `b,B,50,10,"1,234"`, []string{`area_km2 "1,234"`, "1.234", "1234"}},
		{"too few fields", "b,B,50,10", []string{"4 fields", "the header has 5"}},
		{"bare quote", `b,"B"C,50,10,1`, []string{"quote"}},
		{"contradiction", "a,A,50,11,1", []string{"this id", "line 2 of a.csv", "one row"}},
		{"two encodings", "b,M\xfcritz,50,10,1", []string{"name is not UTF-8"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := "id,name,lat,lon,area_km2\n" + good + test.row + "\nc,Cä,50,10,1\n"
			if test.name == "two encodings" {
				text = strings.Replace(text, ",A,", ",Ä,", 1)
			}
			checkOneRejected(t, Lakes, storetest.New(t), text, test.want)
		})
	}
}

func TestRejectedObservations(t *testing.T) {
	for _, test := range []struct {
		name, row string
		want      []string
	}{
		{"no lake", ",2024-01-08,1,satellite,,,", []string{"lake_id is missing"}},
		{"unknown lake", "y,2024-01-08,1,satellite,,,", []string{"does not hold this lake", "import the lakes first"}},
		{"no date", "x,,1,satellite,,,", []string{"date is missing", "YYYY-MM-DD or dd.mm.yyyy"}},
		{"American date", "x,01/08/2024,1,satellite,,,", []string{`date "01/08/2024"`, "2024-08-01 or 2024-01-08", "--date-order"}},
		{"no such day", "x,2023-02-29,1,satellite,,,", []string{`date "2023-02-29"`}},
		{"year mistyped", "x,2204-01-08,1,satellite,,,", []string{`date "2204-01-08"`, "1900 to 2100"}},
		{"no type", "x,2024-01-08,1,,,,", []string{"data_type is missing", "satellite, in_situ or ai_forecast"}},
		{"unknown type", "x,2024-01-08,1,Satellit,,,", []string{`"Satellit"`, "satellite", "ai_forecast"}},
		{"negative", "x,2024-01-08,-0.01,satellite,,,", []string{`chl "-0.01"`, "from 0 to 1500 µg/l"}},
		{"too large", "x,2024-01-08,1500.01,satellite,,,", []string{`chl "1500.01"`, "from 0 to 1500 µg/l"}},
		{"no number", "x,2024-01-08,clear,satellite,,,", []string{`chl "clear"`}},
		{"above a limit", "x,2024-01-08,>100,satellite,,,", []string{`chl ">100"`}},
		{"below nothing", "x,2024-01-08,<0,satellite,,,", []string{`chl "<0"`, "above 0"}},
		{"thousands or decimals", `x,2024-01-08,"1,234",satellite,,,`, []string{`chl "1,234"`, "1.234", "1234"}},
		{"impossible density", "x,2024-01-08,1,satellite,1e11,,", []string{`cell_density_cells_ml "1e11"`}},
		{"level and a half", "x,2024-01-08,1,satellite,,1.5,", []string{`who_level "1.5"`, "without decimals"}},
		{"scum without a value", "x,2024-01-08,,satellite,,3,", []string{"who_level 3 without chl"}},
		{"time without a day", "x,2024-01-08,1,satellite,,,10:30", []string{`measured_at "10:30"`, "2026-07-01T10:30:00Z"}},
		{"contradiction", "x,2024-01-01,2,satellite,,,", []string{"this lake, date 2024-01-01, data_type satellite", "line 2 of a.csv"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := "lake_id,date,chl,data_type,cell_density_cells_ml,who_level,measured_at\n" +
				"x,2024-01-01,1,satellite,,,\n" + test.row + "\nx,2024-01-01,1,ai_forecast,,,\n"
			s := storetest.New(t)
			mustImport(t, Lakes, s, nil, aLake)
			checkOneRejected(t, Observations, s, text, test.want)
		})
	}
}

// A report names the lake of a bad row if the row has one, so that no one has to count lines. An invalid id is not shown as
// the lake.
func TestBadRowsNameTheirLake(t *testing.T) {
	s := storetest.New(t)
	mustImport(t, Lakes, s, nil, aLake)
	for _, test := range []struct {
		name string
		f    importFunc
		text string
		want string
	}{
		{"lake", Lakes, "name,lat,lon,id\nB,,10,b\n", "a.csv, line 2 (b): lat is missing"},
		{"contradiction", Lakes, aLake + "x,X,1,1\n", "a.csv, line 3 (x): this id is already on line 2 of a.csv"},
		{"observation", Observations, "lake_id,date,chl,data_type\nx,never,1,satellite\n", `a.csv, line 2 (x): date "never"`},
		{"rejected by the store", Observations, "lake_id,date,chl,data_type\ny,2024-01-01,1,satellite\n", "a.csv, line 2 (y): the database"},
		{"no id", Lakes, "id,name,lat,lon\n,B,50,10\n", "a.csv, line 2: id is missing"},
		{"not an id", Lakes, "id,name,lat,lon\nb): (b,B,50,10\n", `a.csv, line 2: id "b): (b"`},
		{"cannot be taken apart", Lakes, "id,name,lat,lon\nb,B,50\n", "a.csv, line 2: it has 3 fields"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := mustImport(t, test.f, s, nil, test.text)
			if len(r.Bad) != 1 || !strings.HasPrefix(r.Bad[0].String(), test.want) || !strings.Contains(r.String(), "\n"+test.want) {
				t.Errorf("report = %s, want one bad row, %s", r, test.want)
			}
		})
	}
}

// A date or time in the future is a typing error.
func TestFutureObservations(t *testing.T) {
	// In UTC it is still 2026-07-01.
	now := func() time.Time { return time.Date(2026, 7, 2, 1, 59, 0, 0, time.FixedZone("CEST", 2*60*60)) }
	for _, test := range []struct {
		name, row string
		want      string // part of the reason; empty if the row is good
	}{
		{"satellite today", "x,2026-07-01,1,satellite,", ""},
		{"satellite tomorrow", "x,2026-07-02,1,satellite,2026-07-02T23:59:59Z", ""},
		{"satellite later", "x,2026-07-03,1,satellite,", "date 2026-07-03 is in the future: want a day up to 2026-07-02 for satellite (today is 2026-07-01)"},
		{"measured later", "x,2026-07-01,1,satellite,2026-07-03T00:00:00Z", "measured_at 2026-07-03T00:00:00Z is in the future: want a time up to 2026-07-02"},
		{"forecast of next year", "x,2027-07-02,1,ai_forecast,", ""},
		{"forecast beyond", "x,2027-07-03,1,ai_forecast,", "date 2027-07-03 is in the future: want a day up to 2027-07-02 for ai_forecast"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := storetest.New(t)
			mustImport(t, Lakes, s, nil, aLake)
			r := mustImport(t, Observations, s, &Options{Now: now}, "lake_id,date,chl,data_type,measured_at\n"+test.row+"\n")
			switch {
			case test.want == "" && r.Added != 1:
				t.Errorf("report = %+v, want the row added", r)
			case test.want != "" && (len(r.Bad) != 1 || !strings.Contains(r.Bad[0].Reason, test.want)):
				t.Errorf("report = %+v, want the row rejected with %q", r, test.want)
			}
		})
	}
}

// Without a given clock an import uses the real one.
func TestFutureByTheRealClock(t *testing.T) {
	s := storetest.New(t)
	mustImport(t, Lakes, s, nil, aLake)
	for _, opts := range []*Options{nil, {}} {
		text := fmt.Sprintf("lake_id,date,chl,data_type\nx,%s,1,satellite\n", data.DateOf(time.Now())+30)
		if r := mustImport(t, Observations, s, opts, text); r.Rejected != 1 {
			t.Errorf("report = %+v, want a satellite's value of next month rejected", r)
		}
	}
}

// The line number is that in the file, however many lines a row has. The order is that of lines, whether the importer or the
// store rejects a row.
func TestBadLinesInOrder(t *testing.T) {
	s := storetest.New(t)
	mustImport(t, Lakes, s, nil, aLake)
	text := "lake_id,date,chl,data_type,note\n\nx,2024-01-01,1,satellite,\"two\nlines\"\n\r\ny,2024-01-01,1,satellite,unknown lake\nx,never,1,satellite,\"three\n\nlines\"\nz,2024-01-01,1,satellite,"
	var got []string
	for _, bad := range mustImport(t, Observations, s, nil, text, text).Bad {
		got = append(got, fmt.Sprintf("%s:%d", bad.File, bad.Number))
	}
	if want := []string{"a.csv:6", "a.csv:7", "a.csv:10", "b.csv:6", "b.csv:7", "b.csv:10"}; !slices.Equal(got, want) {
		t.Errorf("bad rows at %v, want %v", got, want)
	}
}

func TestEqualRowsAreUnchanged(t *testing.T) {
	got := mustImport(t, Lakes, storetest.New(t), nil, aLake+"x,X,50.0,1e1\n", "id;name;lat;lon\nx;X;50,0;10,000\n")
	if want := (Report{Read: 3, Added: 1, Unchanged: 2, Written: true}); !equal(got, want) {
		t.Errorf("report = %+v, want %+v", got, want)
	}
}

func TestReport(t *testing.T) {
	var text strings.Builder
	text.WriteString("id,name,lat,lon\n")
	for i := range 25 {
		fmt.Fprintf(&text, "x%d,X,,10\n", i)
	}
	text.WriteString("y,Y,50,10\n")
	s := storetest.New(t)
	for _, test := range []struct {
		opts *Options
		want []string
	}{
		{nil, []string{"26 rows read, 25 rejected.\n", "a.csv, line 2 (x0): lat is missing: want a number from -90 to 90 degrees.\n",
			"a.csv, line 21 (x19): ", "And 5 rejected rows more.\n", "Nothing was written. "}},
		{&Options{SkipBad: true}, []string{"26 rows read: 1 added, 0 changed, 0 unchanged, 25 rejected.\n", "And 5 rejected rows more.\n"}},
	} {
		r := mustImport(t, Lakes, s, test.opts, text.String())
		var written strings.Builder
		if n, err := r.WriteTo(&written); err != nil || n != int64(len(r.String())) || written.String() != r.String() {
			t.Errorf("WriteTo wrote %q (%d, %v), want %q", written.String(), n, err, r.String())
		}
		for _, want := range test.want {
			if !strings.Contains(r.String(), want) {
				t.Errorf("report lacks %q:\n%s", want, r)
			}
		}
		if strings.Contains(r.String(), "line 22") || strings.Contains(r.String(), "Nothing") == r.Written {
			t.Errorf("report of a %t import:\n%s", r.Written, r)
		}
	}
	mustImport(t, Lakes, s, nil, aLake)
	r := mustImport(t, Observations, s, nil, "lake_id,date,chl,data_type\nx,2024-01-01,<1,satellite\n")
	if want := "1 row read: 1 added, 0 changed, 0 unchanged, 0 rejected.\n1 value below a limit of detection, such as <15: half the limit was taken.\n"; r.String() != want {
		t.Errorf("report =\n%s\nwant\n%s", r, want)
	}
}

func TestBadFiles(t *testing.T) {
	long := strings.Repeat("ä", maxRowBytes)
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"empty", "", []string{"empty"}},
		{"UTF-16", "\xff\xfei\x00d\x00", []string{"UTF-16"}},
		{"gzip", "\x1f\x8b\x08\x00", []string{"gzip", "ends early"}},
		{"spreadsheet", "PK\x03\x04", []string{"spreadsheet"}},
		{"missing columns", "id;name;breite\n", []string{"lacks the column lat, lon", `"id", "name", "breite"`, "required are id, name, lat, lon", "optional are external_id, region, area_km2"}},
		{"column twice", "id,name,lat,lon,LAT\n", []string{`names the column "LAT" twice`}},
		{"many columns", strings.Repeat("x,", 1000), []string{"..."}},
		{"two encodings in the header", "id,name,lat,lon,ä,\xe4\n", []string{"column 6", "not UTF-8"}},
		{"long row", aLake + "y," + long + ",50,10\n", []string{"after that of line 2", "does not end within 65536 bytes"}},
		{"open quote", aLake + "y,\"" + strings.Repeat("y,Y,50,10\n", 10000), []string{"after that of line 2", "quote"}},
		{"endless blank lines", aLake + strings.Repeat("\n", 100_000), []string{"after that of line 2"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := storetest.New(t)
			r, err := Lakes(t.Context(), s, files(aLake+"bad\n", test.text), &Options{SkipBad: true})
			if err == nil || r.Written || r.Added != 0 || len(r.Bad) != 1 {
				t.Fatalf("Lakes = %+v, %v, want an error, nothing written, and the bad row before it", r, err)
			}
			for _, want := range append(test.want, "b.csv") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
			if len(err.Error()) > 1000 {
				t.Errorf("the error has %d bytes: %v", len(err.Error()), err)
			}
			if lakes, _ := stored(t, s); len(lakes) != 0 {
				t.Errorf("stored %v, want nothing", lakes)
			}
		})
	}
	if _, err := Lakes(t.Context(), storetest.New(t), nil, nil); err == nil {
		t.Error("an import of no file succeeded")
	}
	broken := []File{fileOf("broken.csv", func() io.Reader { return iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(aLake))) })}
	if _, err := Lakes(t.Context(), storetest.New(t), broken, nil); err == nil || !strings.Contains(err.Error(), "broken.csv: timeout") {
		t.Errorf("a file that cannot be read gave %v", err)
	}
}

// A row of exactly the maximum size is accepted.
func TestLargestRow(t *testing.T) {
	text := "id,name,lat,lon,note\nx,X,50,10," + strings.Repeat("n", maxRowBytes-len("x,X,50,10,\n")) + "\ny,Y,50,10,\n"
	if got := mustImport(t, Lakes, storetest.New(t), nil, text); got.Added != 2 {
		t.Errorf("report = %+v, want both rows added", got)
	}
}
