package ingest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"limnomap/data/store"
	"limnomap/data/store/storetest"
)

// valuesFile returns a CSV file with a value of each of n lakes.
func valuesFile(n int, date string, chl func(lake int) string) File {
	var b strings.Builder
	b.WriteString("lake_id,date,chl,data_type\n")
	for i := range n {
		fmt.Fprintf(&b, "l%d,%s,%s,satellite\n", i, date, chl(i))
	}
	return textFile("rows.csv", b.String())
}

func TestGuarded(t *testing.T) {
	clean := func(lake int) string { return fmt.Sprintf("%d.%02d", 3+lake%5, lake%89) }
	dirty := func(share int) func(int) string { // of 100
		return func(lake int) string {
			if lake%100 < share {
				return fmt.Sprintf("%d.%02d", 20+lake%20, lake%97)
			}
			return clean(lake)
		}
	}
	same := func(share int) func(int) string {
		return func(lake int) string {
			if lake%100 < share {
				return "9.99"
			}
			return clean(lake)
		}
	}
	for _, test := range []struct {
		name         string
		lakes, first int
		date         string
		chl          func(int) string
		rows         int
		want         string // of the error; empty: it is imported
	}{
		{"the first import", 100, 0, "2026-07-06", same(100), 100, ""},
		{"30 % of the classes", 100, 100, "2026-07-06", dirty(30), 100, ""},
		{"31 % of the classes", 100, 100, "2026-07-06", dirty(31), 100, "the class of the newest value of 31 of 100 lakes with values, 31 %, more than --max-class-changes 30 %"},
		{"of a later day", 100, 100, "2026-07-13", dirty(31), 100, "31 of 100 lakes"},
		{"of an earlier day", 100, 100, "2026-06-29", dirty(100), 100, ""},
		{"of the next year", 100, 100, "2027-07-06", dirty(100), 100, ""},
		{"all of few lakes in the file", 100, 100, "2026-07-06", dirty(100), 30, ""},
		{"of few lakes", 19, 19, "2026-07-06", dirty(100), 19, ""},
		{"of 20 lakes", 20, 20, "2026-07-06", dirty(100), 20, "20 of 20 lakes"},
		{"most lakes are new", 100, 20, "2026-07-06", dirty(100), 100, "20 of 20 lakes"},
		{"half to one value", 100, 100, "2026-07-06", same(50), 100, ""},
		{"more than half to one value", 100, 100, "2026-07-06", same(51), 100, "newest value of 51 lakes to 9.99 µg/l, more than half of the 100 lakes"},
		{"below the limit of detection", 100, 100, "2026-07-06", func(int) string { return "<5" }, 100, ""},
		{"a sample of many lakes", 20_000, 20_000, "2026-07-06", dirty(40), 20_000, "more than --max-class-changes 30 %"},
		{"a sample of many lakes that may change", 20_000, 20_000, "2026-07-06", dirty(25), 20_000, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := storetest.New(t)
			var lakes strings.Builder
			lakes.WriteString("id,name,lat,lon\n")
			for i := range test.lakes {
				fmt.Fprintf(&lakes, "l%d,L,50,10\n", i)
			}
			if _, err := Lakes(t.Context(), s, []File{textFile("rows.csv", lakes.String())}, nil); err != nil {
				t.Fatal(err)
			}
			opts := &Options{Now: func() time.Time { return time.Date(2027, 8, 1, 0, 0, 0, 0, time.UTC) }}
			if test.first > 0 {
				if _, err := Observations(t.Context(), s, []File{valuesFile(test.first, "2026-07-06", clean)}, opts); err != nil {
					t.Fatal(err)
				}
			}
			before, err := s.Revision(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, dryRun := range []bool{true, false} {
				opts.DryRun = dryRun
				report, err := Observations(t.Context(), Guarded(s, 0.3), []File{valuesFile(test.rows, test.date, test.chl)}, opts)
				if refused := errors.Is(err, ErrSuspicious); refused != (test.want != "") || !refused && err != nil || refused && !strings.Contains(err.Error(), test.want) {
					t.Errorf("dry run %t: %+v, %v, want the error %q", dryRun, report, err, test.want)
				}
			}
			if after, err := s.Revision(t.Context()); err != nil || (after.Number == before.Number) != (test.want != "") {
				t.Errorf("the revision was %d and is %d, %v", before.Number, after.Number, err)
			}
		})
	}
}

// A row that keeps the stored value, and an import of lakes, are compared with nothing.
func TestGuardedOtherRows(t *testing.T) {
	s := storetest.New(t)
	if _, err := Lakes(t.Context(), Guarded(s, 0), []File{textFile("rows.csv", "id,name,lat,lon\na,A,50,10\n")}, nil); err != nil {
		t.Error(err)
	}
	var _ store.Tx = (*guardedTx)(nil)
}
