package data_test

import (
	"testing"
	"time"

	"limnomap/data"

	"pgregory.net/rapid"
)

func TestWeek(t *testing.T) {
	tests := []struct{ date, week, monday, sunday string }{
		{"1970-01-01", "1970-W01", "1969-12-29", "1970-01-04"},
		{"1969-12-29", "1970-W01", "1969-12-29", "1970-01-04"},
		{"1969-12-28", "1969-W52", "1969-12-22", "1969-12-28"},
		{"1964-12-31", "1964-W53", "1964-12-28", "1965-01-03"},
		{"1900-01-01", "1900-W01", "1900-01-01", "1900-01-07"},
		{"2020-12-31", "2020-W53", "2020-12-28", "2021-01-03"},
		{"2021-01-03", "2020-W53", "2020-12-28", "2021-01-03"},
		{"2021-01-04", "2021-W01", "2021-01-04", "2021-01-10"},
		{"2024-02-29", "2024-W09", "2024-02-26", "2024-03-03"},
		{"2024-12-30", "2025-W01", "2024-12-30", "2025-01-05"},
		{"2026-11-20", "2026-W47", "2026-11-16", "2026-11-22"},
	}
	for _, tt := range tests {
		w := day(t, tt.date).Week()
		if w.String() != tt.week || w.Monday().String() != tt.monday || w.Sunday().String() != tt.sunday {
			t.Errorf("week of %s = %s, %s to %s, want %s, %s to %s",
				tt.date, w, w.Monday(), w.Sunday(), tt.week, tt.monday, tt.sunday)
		}
	}
	if got := day(t, "1970-01-01").Week(); got != 0 {
		t.Errorf("week of 1970-01-01 = %d, want 0", got)
	}
}

func TestDates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := data.Date(rapid.Int32Range(-719_528, 2_932_896).Draw(t, "date"))
		if back, err := data.ParseDate(d.String()); err != nil || back != d {
			t.Fatalf("ParseDate(%s) = %v, %v", d, back, err)
		}
		second := rapid.Int64Range(0, 24*60*60-1).Draw(t, "second")
		if got := data.DateOf(time.Unix(d.Time().Unix()+second, 999_999_999)); got != d {
			t.Fatalf("second %d of %s is on %s", second, d, got)
		}
		w := d.Week()
		if w.Monday() > d || w.Sunday() < d || w.Monday().Week() != w || (w.Sunday()+1).Week() != w+1 {
			t.Fatalf("week %d of %s is %s to %s", w, d, w.Monday(), w.Sunday())
		}
		if w.Monday().Time().Weekday() != time.Monday {
			t.Fatalf("%s begins on a %s", w, w.Monday().Time().Weekday())
		}
		year, week := d.Time().ISOWeek()
		if yearOf, weekOf := w.Monday().Time().ISOWeek(); year != yearOf || week != weekOf {
			t.Fatalf("%s is in %d-W%d, its week begins in %d-W%d", d, year, week, yearOf, weekOf)
		}
	})
}

func TestDateOfOtherZone(t *testing.T) {
	zone := time.FixedZone("east", 2*60*60)
	if got := data.DateOf(time.Date(2026, 7, 1, 1, 0, 0, 0, zone)); got.String() != "2026-06-30" {
		t.Errorf("01:00 two hours east of Greenwich is on %s in UTC, want 2026-06-30", got)
	}
}

func TestParseDateRejects(t *testing.T) {
	for _, in := range []string{"", "2026-7-1", "2026-02-29", "2026-13-01", "01.07.2026", "2026-07-01T00:00:00Z", " 2026-07-01", "12026-07-01"} {
		if got, err := data.ParseDate(in); err == nil {
			t.Errorf("ParseDate(%q) = %s, want an error", in, got)
		}
	}
}

func FuzzParseDate(f *testing.F) {
	for _, s := range []string{"2026-11-20", "0000-01-01", "9999-12-31", "2026-02-30", "2026-1-1", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := data.ParseDate(s); err == nil && d.String() != s {
			t.Fatalf("ParseDate(%q) = %s", s, d)
		}
	})
}

func day(t testing.TB, s string) data.Date {
	t.Helper()
	d, err := data.ParseDate(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
