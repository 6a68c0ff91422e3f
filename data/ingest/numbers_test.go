package ingest

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"limnomap/data"
	"limnomap/data/store/storetest"
)

const numbersHeader = "lake_id;date;chl;data_type;cell_density_cells_ml\n"

// numberRows returns a table of observations of lake x, one a day from 2024-01-01, from pairs of chl and cell density.
func numberRows(separator rune, pairs ...string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Comma = separator
	_ = w.Write(strings.Split(strings.TrimSpace(numbersHeader), ";")) // a strings.Builder returns no errors
	for i, pair := range pairs {
		chl, density, _ := strings.Cut(pair, "|")
		_ = w.Write([]string{"x", data.Date(19723 + i).String(), chl, "satellite", density})
	}
	w.Flush()
	return b.String()
}

// read returns chl and cell density of the stored observations, oldest first, in the form of numberRows.
func read(t *testing.T, opts Options, text string) (pairs []string, r Report, err error) {
	t.Helper()
	s := storetest.New(t)
	mustImport(t, Lakes, s, nil, aLake)
	opts.SkipBad = true
	r, err = Observations(t.Context(), s, files(text), &opts)
	_, observations := stored(t, s)
	slices.SortFunc(observations, func(a, b data.Observation) int { return int(a.Date - b.Date) })
	for _, o := range observations {
		pair := strconv.FormatFloat(o.Chlorophyll.Float(), 'f', 2, 64)
		if o.CellDensity != data.NoCellDensity {
			pair += "|" + strconv.FormatFloat(o.CellDensity, 'f', -1, 64)
		}
		pairs = append(pairs, pair)
	}
	return pairs, r, err
}

func TestNumbers(t *testing.T) {
	for _, test := range []struct {
		name      string
		separator rune
		pairs     []string
		want      []string // what is stored
		rejected  []string // parts of the reason of each rejected row
	}{
		// With evidence in the number itself.
		{"both marks, English", ';', []string{"1,091.5|20,000.5"}, []string{"1091.50|20000.5"}, nil},
		{"both marks in a table with commas", ',', []string{"1.091,5|1,091.5"}, []string{"1091.50|1091.5"}, nil},
		{"two groups", ';', []string{"1|1.234.567"}, []string{"1.00|1234567"}, nil},
		{"two groups and decimals", ';', []string{"1|1.234.567,25"}, []string{"1.00|1234567.25"}, nil},
		{"a leading zero", ';', []string{"0.512|0,512"}, []string{"0.51|0.512"}, nil},
		{"an exponent", ';', []string{"1.091e1|2.000E+4"}, []string{"10.91|20000"}, nil},
		{"a decimal point and a decimal comma in a file", ';', []string{"12.5|", "12,5|"}, []string{"12.50", "12.50"}, nil},
		// Without any evidence.
		{"a dot, semicolons", ';', []string{"1|20.000"}, nil, []string{`cell_density_cells_ml "20.000": want a number with one reading: this may be 20.000 or 20000, and no other number of the column decides; set --decimal . for 20.000, or --thousands . for 20000`}},
		{"a dot, tabs", '\t', []string{"1.091|"}, nil, []string{`chl "1.091": want a number with one reading: this may be 1.091 or 1091`}},
		{"a dot, commas", ',', []string{"1.091|20.000"}, []string{"1.09|20"}, nil},
		{"a comma, semicolons", ';', []string{"1,091|"}, nil, []string{`set --decimal , for 1.091, or --thousands , for 1091`}},
		{"a comma, commas", ',', []string{"1,091|"}, nil, []string{`chl "1,091": want a number with one reading: this may be 1.091 or 1091`}},
		{"a comma, beyond the limit as thousands: it may be an error of the source", ';', []string{"12,345|"}, nil, []string{"this may be 12.345 or 12345"}},
		{"a dot, beyond the limit as thousands: a large value is not a thousandth of it", ';', []string{"1.600|"}, nil, []string{"this may be 1.600 or 1600"}},
		{"below a limit of detection", ';', []string{"<1.091|"}, nil, []string{`chl "1.091"`}},
		{"an implausible number is no evidence", '\t', []string{"1,640|", "5|150,000"}, nil, []string{`this may be 1.640 or 1640`, `this may be 150.000 or 150000`}},
		// With evidence of the same column.
		{"a decimal comma after", ';', []string{"1.091|", "1,091|", "12,5|"}, []string{"1091.00", "1.09", "12.50"}, nil},
		{"a decimal point after", ';', []string{"1.091|", "1,091|", "12.5|"}, []string{"1.09", "1091.00", "12.50"}, nil},
		{"a decimal comma, beyond the limit", ';', []string{"12,5|", "1.600|"}, []string{"12.50"}, []string{`chl "1.600": want a number from 0 to 1500 µg/l, < before it if below a limit, or empty for a gap; it is read as 1600`}},
		{"a decimal point, commas", ',', []string{"12.5|", "1,091|"}, []string{"12.50", "1091.00"}, nil},
		{"groups", ';', []string{"1|1.234.567", "1|20.000", "1|20,000"}, []string{"1.00|1234567", "1.00|20000", "1.00|20"}, nil},
		{"a limit of detection", ';', []string{"<0,5|", "1.091|"}, []string{"0.25", "1091.00"}, nil},
		{"both marks", ';', []string{"12.5|", "12,5|", "1.091|"}, []string{"12.50", "12.50"}, []string{`the file has both decimal marks ("12.5" on line 2, "12,5" on line 3)`}},
		// With evidence of another column only.
		{"a decimal comma decides", ';', []string{"12,5|20.000", "1|20,000"}, []string{"12.50|20000", "1.00|20"}, nil},
		{"a decimal point does not decide", ';', []string{"12.5|20.000"}, nil, []string{`cell_density_cells_ml "20.000"`}},
		{"own evidence first", ';', []string{"12.5|12,5", "1.091|20.000"}, []string{"12.50|12.5", "1.09|20000"}, nil},
		{"a bad row is no evidence", ';', []string{"2000,5|", "1|20.000"}, nil, []string{`chl "2000,5"`, `cell_density_cells_ml "20.000"`}},
		// Not numbers.
		{"bad groups", ';', []string{"1.23,5|", "1.2.3|", "0.123.456|", "1.234,567,8|", "1.091,|", "1,091.5e3|", "1.0912,5|", "..|", "1.,5|"}, nil,
			[]string{`"1.23,5"`, `"1.2.3"`, `"0.123.456"`, `"1.234,567,8"`, `"1.091,"`, `"1,091.5e3"`, `"1.0912,5"`, `".."`, `"1.,5"`}},
		{"spaces and apostrophes", ';', []string{"1|20 000", "1|20\u202f000", "1|20'000,5", "1|2 000 0"}, nil,
			[]string{"; set --thousands space to read it as 20000", "; set --thousands space to read it as 20000", `; set --thousands "'" to read it as 20000.5`, `"2 000 0": want a number from`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, r, err := read(t, Options{}, numberRows(test.separator, test.pairs...))
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("stored %q, %v, want %q", got, err, test.want)
			}
			if len(r.Bad) != len(test.rejected) {
				t.Fatalf("report = %v, want %d rows rejected", r, len(test.rejected))
			}
			for i, want := range test.rejected {
				if !strings.Contains(r.Bad[i].Reason, want) {
					t.Errorf("reason %q, want %q in it", r.Bad[i].Reason, want)
				}
			}
		})
	}
}

// With Decimal or Thousands nothing is detected.
func TestNumbersAsSet(t *testing.T) {
	for _, test := range []struct {
		decimal, thousands, number string
		want                       string // "" if it is rejected
	}{
		{",", "", "1.091", "1091"}, {",", "", "20.000", "20000"}, {",", "", "1.091,5", "1091.5"}, {",", "", "12,345", "12.345"}, {",", "", "12.5", ""},
		{",", "", "0.512", ""}, {",", "", "1,091.5", ""}, {",", "", "7", "7"}, {",", "", "1,5e3", "1500"}, {",", "", "1.091e3", ""},
		{".", "", "1.091", "1.091"}, {".", "", "1,091", "1091"}, {".", "", "12,5", ""}, {".", "", "12.5", "12.5"}, {".", "", "1,091,000.25", "1091000.25"},
		{"", ".", "1.091", "1091"}, {"", ".", "12,5", "12.5"}, {"", ".", "12.5", ""},
		{"", ",", "1,091", "1091"}, {"", ",", "1.091", "1.091"},
		{"", "none", "1.091", "1.091"}, {"", "none", "1,091", "1.091"}, {"", "none", "1.091,5", ""}, {",", "none", "1.091", ""}, {",", "none", "1,091", "1.091"},
		{"", "'", "20'000", "20000"}, {"", "'", "20’000.5", "20000.5"}, {"", "'", "20'000,5", "20000.5"}, {"", "'", "1.091", "1.091"}, {".", "'", "20'000,5", ""},
		{"", " ", "20 000", "20000"}, {"", "space", "20\u00a0000,5", "20000.5"}, {"", "\u202f", "1\u2009234\u202f567", "1234567"}, {"", " ", "20 00", ""}, {"", " ", "2 0000", ""},
		{"", " ", "20'000", ""}, {",", "space", "1.091", ""},
	} {
		got, r, err := read(t, Options{Decimal: test.decimal, Thousands: test.thousands}, numberRows(';', "1|"+test.number))
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		if test.want != "" {
			want = []string{"1.00|" + test.want}
		} else if len(r.Bad) != 1 || !strings.Contains(r.Bad[0].Reason, fmt.Sprintf("cell_density_cells_ml %q: want a number", test.number)) ||
			!strings.Contains(r.Bad[0].Reason, "with the decimal mark ") {
			t.Errorf("decimal %q, thousands %q, number %q: report %v, want the row rejected", test.decimal, test.thousands, test.number, r)
		}
		if !slices.Equal(got, want) {
			t.Errorf("decimal %q, thousands %q: %q is read as %q, want %q", test.decimal, test.thousands, test.number, got, want)
		}
	}
}

func TestCheckMarks(t *testing.T) {
	for _, test := range []struct{ decimal, thousands, want string }{
		{"", "", ""}, {".", ",", ""}, {",", ".", ""}, {",", "none", ""}, {".", "space", ""},
		{".", ".", `are both "."`}, {",", ",", `are both ","`}, {";", "", `decimal mark ";": want . or ,`}, {"..", "", "want . or ,"},
		{"", "_", `thousands separator "_": want . or , or ' or space or none`}, {"", "..", "want ."},
	} {
		err := CheckMarks(test.decimal, test.thousands)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("CheckMarks(%q, %q) = %v, want %q", test.decimal, test.thousands, err, test.want)
		}
		if _, imported := Lakes(t.Context(), storetest.New(t), files(aLake), &Options{Decimal: test.decimal, Thousands: test.thousands}); (imported == nil) != (err == nil) {
			t.Errorf("Lakes with %q, %q: %v, want %v", test.decimal, test.thousands, imported, err)
		}
	}
}

// A column that cannot hold thousands needs no evidence, and its points are none for others.
func TestCoordinatesHaveNoThousands(t *testing.T) {
	const header = "id;name;lat;lon;area_km2\n"
	for _, test := range []struct {
		name, text string
		lat, area  float64 // of lake x; 0 if it is rejected
	}{
		{"points", "x;X;47.123;11.345;0.5\n", 47.123, 0.5},
		{"commas", "x;X;47,123;11,345;0,5\n", 47.123, 0.5},
		{"points in coordinates, commas in areas", "x;X;47.123;11.345;1.091\ny;Y;47.12;11.3;12,5\n", 47.123, 1091},
		{"points in coordinates only", "x;X;47.12;11.3;1.091\n", 0, 0},
		{"commas in coordinates only", "x;X;47,12;11,3;1,091\n", 47.12, 1.091},
		{"commas in coordinates, a point in an area", "x;X;47,12;11,3;1.091\n", 47.12, 1091},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := storetest.New(t)
			mustImport(t, Lakes, s, &Options{SkipBad: true}, header+test.text)
			lakes, _ := stored(t, s)
			if i := slices.IndexFunc(lakes, func(l data.Lake) bool { return l.ID == "x" }); i < 0 {
				if test.lat != 0 {
					t.Error("lake x is rejected")
				}
			} else if l := lakes[i]; l.Point.Lat() != test.lat || l.AreaKM2 != test.area {
				t.Errorf("lat %v, area %v, want %v and %v", l.Point.Lat(), l.AreaKM2, test.lat, test.area)
			}
		})
	}
}

// The marks are those of one file, and all its rows count.
func TestMarksOfFiles(t *testing.T) {
	s := storetest.New(t)
	r := mustImport(t, Lakes, s, &Options{SkipBad: true}, "id;name;lat;lon;area_km2\na;A;50;10;12,5\n", "id;name;lat;lon;area_km2\nb;B;50;10;1.091\n")
	if r.Added != 1 || r.Rejected != 1 || r.Bad[0].File != "b.csv" || r.Bad[0].ID != "b" {
		t.Errorf("report = %v, want b rejected: numbers of another file do not count", r)
	}
	many := strings.ReplaceAll(strings.ReplaceAll(manyLakes(batchRows), ",", ";"), "\n", ";\n")
	for _, test := range []struct {
		first, last string
		rejected    int
	}{{"12,5", "1.091", 0}, {"1.091", "12,5", 0}, {"1.091", "1.091", 2}, {"1.091,5", "12.5", 0}} {
		text := "id;name;lat;lon;area_km2\nfirst;F;50;10;" + test.first + "\n" + many + "last;L;50;10;" + test.last + "\n"
		if r := mustImport(t, Lakes, storetest.New(t), &Options{SkipBad: true}, text); r.Rejected != test.rejected {
			t.Errorf("%s, then %s: %v, want %d rejected", test.first, test.last, r, test.rejected)
		}
	}
	// A file that proves both marks has no reading for others, in whatever order.
	for _, pairs := range [][]string{{"12,5|", "1.091|", "12.5|"}, {"1.091|", "12.5|", "12,5|"}} {
		if got, r, err := read(t, Options{}, numberRows(';', pairs...)); err != nil || len(got) != 2 || r.Rejected != 1 {
			t.Errorf("%q: stored %q, %v, %v", pairs, got, r, err)
		}
	}
}

// A table that cannot be read a second time ends the import.
func TestSecondReadingFails(t *testing.T) {
	gone := errors.New("the disk is gone")
	reads := 0
	file := File{Name: "a.csv", Open: func() (io.ReadCloser, error) {
		if reads++; reads > 1 {
			return nil, gone
		}
		return io.NopCloser(strings.NewReader("id;name;lat;lon;area_km2\na;A;50;10;1.091\nb;B;50;10;12,5\n")), nil
	}}
	if r, err := Lakes(t.Context(), storetest.New(t), []File{file}, &Options{SkipBad: true}); !errors.Is(err, gone) || r.Written {
		t.Errorf("Lakes = %v, %v, want %v", r, err, gone)
	}
}

// A value that Options set for all rows is read like those of the file, but proves nothing.
func TestSetNumbers(t *testing.T) {
	for _, test := range []struct {
		set, area string
		want      float64 // of y; 0 if it is rejected
	}{{"1.091", "1,5", 1091}, {"1.091", "", 0}, {"12.5", "", 12.5}} {
		s := storetest.New(t)
		mustImport(t, Lakes, s, &Options{SkipBad: true, Set: Mapping{"area_km2": test.set}}, "id;name;lat;lon\nx;X;50;1"+strings.TrimPrefix(test.area, "1")+"\n")
		lakes, _ := stored(t, s)
		if got := len(lakes) == 1; got != (test.want != 0) || got && lakes[0].AreaKM2 != test.want {
			t.Errorf("set %s with lon 1%s: stored %v, want %v", test.set, strings.TrimPrefix(test.area, "1"), lakes, test.want)
		}
	}
}

// Neither options nor other numbers change numbers of GeoJSON.
func TestNumbersOfFeatures(t *testing.T) {
	text := features(
		featureOf(`"id":"a","name":"A","area_km2":"12,5"`, pointGeometry),
		featureOf(`"id":"b","name":"B","area_km2":1.091`, pointGeometry),
		featureOf(`"id":"c","name":"C","area_km2":"1,091"`, pointGeometry))
	for _, opts := range []Options{{}, {Decimal: ","}, {Thousands: "."}} {
		s := storetest.New(t)
		opts.SkipBad = true
		r := mustImport(t, Lakes, s, &opts, text)
		lakes, _ := stored(t, s)
		if len(lakes) != 2 || lakes[0].AreaKM2 != 12.5 || lakes[1].AreaKM2 != 1.091 || !strings.Contains(r.Bad[0].Reason, "1.091 or as 1091") {
			t.Errorf("with %+v: %v, stored %v", opts, r, lakes)
		}
	}
}

// A style is how a column writes numbers.
type style struct{ decimal, thousands string }

func (n style) write(f float64, digits int) string {
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(f, 'f', digits, 64), ".")
	if n.thousands != "" {
		for at := len(whole) - 3; at > 0; at -= 3 {
			whole = whole[:at] + n.thousands + whole[at:]
		}
	}
	if fraction == "" {
		return whole
	}
	return whole + n.decimal + fraction
}

var (
	german      = style{",", "."}
	english     = style{".", ","}
	plainPoints = style{".", ""}
	plainCommas = style{",", ""}
)

// No number is read as another one, whatever the order of rows; and with one number of each column that proves the decimal mark
// all are read.
func TestNumbersAreNeverMisread(t *testing.T) {
	s := storetest.New(t)
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		separator := rapid.SampledFrom([]rune(",;\t|")).Draw(rt, "separator")
		chlStyle := rapid.SampledFrom([]style{german, english, plainPoints, plainCommas}).Draw(rt, "style of chl")
		densityStyle := chlStyle
		const none, first, last = 0, 1, 2
		proof := rapid.SampledFrom([]int{none, first, last}).Draw(rt, "proof")
		if proof == first && rapid.Bool().Draw(rt, "mixed") { // without a proof in each column, a decimal comma decides for both
			densityStyle = rapid.SampledFrom([]style{german, english, plainPoints, plainCommas}).Draw(rt, "style of density")
		}
		if separator == ',' && densityStyle.decimal == "," && proof == none {
			proof = first // such a table is taken to have decimal points
		}
		type values struct {
			chl, density   float64
			chlDigits, den int
		}
		var rows []values
		for range rapid.IntRange(1, 8).Draw(rt, "rows") {
			v := values{chlDigits: rapid.IntRange(0, 4).Draw(rt, "digits of chl"), den: rapid.IntRange(0, 4).Draw(rt, "digits of density")}
			v.chl = float64(rapid.IntRange(0, rapid.SampledFrom([]int{1500_0000, 5000_0000}).Draw(rt, "most chl")).Draw(rt, "chl")) / 1e4
			v.density = float64(rapid.IntRange(0, 10_000_000).Draw(rt, "density")) / float64(rapid.SampledFrom([]int{1, 1000}).Draw(rt, "scale"))
			rows = append(rows, v)
		}
		proving := values{12.5, 12.5, 1, 1}
		switch proof {
		case first:
			rows = append([]values{proving}, rows...)
		case last:
			rows = append(rows, proving)
		}
		var pairs []string
		for _, v := range rows {
			pairs = append(pairs, chlStyle.write(v.chl, v.chlDigits)+"|"+densityStyle.write(v.density, v.den))
		}
		id := data.LakeID(fmt.Sprintf("run_%d", run))
		mustImport(t, Lakes, s, nil, fmt.Sprintf("id,name,lat,lon\n%s,X,50,10\n", id))
		text := strings.ReplaceAll(numberRows(separator, pairs...), "\nx", "\n"+string(id))
		r, err := Observations(t.Context(), s, files(text), &Options{SkipBad: true})
		beyond := slices.ContainsFunc(rows, func(v values) bool { return v.chl > 1500 })
		if proof != none && (err != nil || r.Rejected > 0 && !beyond) {
			rt.Fatalf("%v, %v, want all rows of\n%s", r, err, text)
		}
		_, got, historyErr := s.History(t.Context(), id, data.Newest(len(rows)))
		if historyErr != nil || err != nil && len(got) > 0 {
			rt.Fatalf("%d observations, %v; import: %v", len(got), historyErr, err)
		}
		for _, o := range got {
			v := rows[o.Date-19723]
			chl, _ := strconv.ParseFloat(strconv.FormatFloat(v.chl, 'f', v.chlDigits, 64), 64)
			density, _ := strconv.ParseFloat(strconv.FormatFloat(v.density, 'f', v.den, 64), 64)
			want, wantErr := data.ChlorophyllOf(chl)
			if wantErr != nil || o.Chlorophyll != want || o.CellDensity != density {
				rt.Fatalf("%s is read as %v, %v, want %v, %v, in\n%s", pairs[o.Date-19723], o.Chlorophyll, o.CellDensity, want, density, text)
			}
		}
	})
}

// The order of rows does not change what is stored.
func TestOrderOfRows(t *testing.T) {
	const header = "lake_id;date;chl;data_type;chl_lower;chl_upper;n_valid;n_total;secchi_m\n"
	for _, test := range []struct {
		name string
		rows []string
		chl  []float64 // stored, in the order of rows; -1 if it is rejected
	}{
		{"its own bounds decide", []string{"1.091;satellite;900,5;1.300,5;;;"}, []float64{1091}},
		{"another row decides about a bound", []string{"950;satellite;900;1.091;;;", "9,5;satellite;;;;;"}, []float64{950, 9.5}},
		{"a later column of the row decides", []string{"5;satellite;;;1.091;2.000;1,5"}, []float64{5}},
		{"both marks", []string{"12,5;satellite;;;;;", "1.091;satellite;;;;;", "12.5;satellite;;;;;"}, []float64{12.5, -1, 12.5}},
		{"implausible", []string{"1,640;satellite;;;;;", "1,091;satellite;;;;;", "980;satellite;;;;;"}, []float64{-1, -1, 980}},
		{"a depth is no evidence", []string{"5;satellite;;;;;1,234", "1,091;satellite;;;;;"}, []float64{5, -1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}} {
				text := header
				for _, at := range order {
					if at < len(test.rows) {
						text += "x;" + data.Date(19723+at).String() + ";" + test.rows[at] + "\n"
					}
				}
				got, r, err := read(t, Options{}, text)
				var want []string
				for _, chl := range test.chl {
					if chl >= 0 {
						want = append(want, strconv.FormatFloat(chl, 'f', 2, 64))
					}
				}
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("stored %q, %v, %v, want %q, of\n%s", got, r, err, want, text)
				}
			}
		})
	}
}
