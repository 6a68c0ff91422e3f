package ingest

import (
	"fmt"
	"strings"
	"testing"
)

func TestDates(t *testing.T) {
	for _, test := range []struct {
		order string
		want  string // a part of the error if they are no dates
		dates string
	}{
		{"", "2025-07-05", "2025-07-05|2025-7-5|2025/07/05|2025.07.05|20250705|05.07.2025|5.7.2025|5 Jul 2025|05-JUL-2025|5. Juli 2025|July 5, 2025|2025 Jul 5|2025-Jul-05"},
		{"", "2025-07-05", "2025-07-05T10:30:00Z|2025-07-05 23:30:00-07:00|2025-07-05T10:30:00.000+02:00|20250705T1030"},
		{"", "2025-07-25", "07/25/2025|25/07/2025|25-07-2025|25072025"},
		{"", "2025-07-07", "7/7/2025"},
		{"", "2025-03-01", "1. März 2025|1 Mrz 2025"},
		{"", "2025-09-05", "Sept 5 2025"},
		{"", "2018-09-17", "9/17/2018 0:00"},
		{"", "2025-08-07 or 2025-07-08; --date-order dmy or mdy", "07/08/2025|07-08-2025|07082025|07/08/2025 10:30:00.5"},
		{"mdy", "2025-07-05", "2025-07-05|5 July 2025|07.05.2025"}, // a year or a word says the order, a point does not
		{"mdy", "2025-07-08", "07/08/2025|07082025"},
		{"mdy", "2018-09-07", "9/7/2018 12:00:00 AM"},
		{"dmy", "2025-07-05", "2025/07/05|20250705|05072025"},
		{"dmy", "2025-08-07", "07/08/2025"},
		{"dmy", "in the order dmy", "07/25/2025"},
		{"dmy", "four digits", "5/7/25"},
		{"ymd", "in the order ymd", "07/08/2025"},
		{"", "want a day", "05.07.2025 10:30 Uhr|5/7/25|45843|2025-07|2025-02-29|2025-13-01|30/02/2025|1899-07-05|5 Quintilis 2025|2025-07-05-06|yesterday at 10:30"},
	} {
		for date := range strings.SplitSeq(test.dates, "|") {
			d, err := parseDate(date, dateOrder(test.order))
			got := d.String()
			if err != nil {
				got = "want " + err.Error()
			}
			if !strings.Contains(got, test.want) {
				t.Errorf("%q in the order %q is %s, want %s", date, test.order, got, test.want)
			}
		}
	}
}

func TestDateOrder(t *testing.T) {
	const american = "lake_id,date,chl,data_type\nx,9/17/2018,3.2,in_situ\nx,9/7/2018,2.9,in_situ\n"
	got, r, err := observe(t, Options{Table: TableFormat{DateOrder: "MDY"}}, american)
	if err != nil || len(got) != 2 || got[0].Date.String() != "2018-09-17" || got[1].Date.String() != "2018-09-07" {
		t.Errorf("stored %v, %v, %v, want September", got, r, err)
	}
	got, r, err = observe(t, Options{}, american)
	if err != nil || len(got) != 0 || r.Rejected != 1 || !strings.Contains(r.Bad[0].Reason, "2018-07-09 or 2018-09-07") {
		t.Errorf("stored %v, %v, %v, want the second row rejected, with both readings", got, r, err)
	}
	if _, _, err = observe(t, Options{Table: TableFormat{DateOrder: "mmddyyyy"}}, american); !strings.Contains(fmt.Sprint(err), "want one of dmy, mdy, ymd") {
		t.Errorf("another order: %v", err)
	}
}

func FuzzDate(f *testing.F) {
	for _, s := range []string{"2025-07-05", "5 Jul 2025", "07/08/2025", "20250705", "5.7.2025 10:30", "T:", "März 1, 2025", ".-/", "2025 Jul 5"} {
		f.Add(s, "dmy")
	}
	f.Fuzz(func(t *testing.T, s, order string) {
		d, err := parseDate(s, dateOrder(order))
		if y := d.Time().Year(); err == nil && (y < firstYear || y > lastYear) {
			t.Errorf("%q in the order %q is %s", s, order, d)
		}
		if again, errAgain := parseDate(d.String(), dateOrder(order)); err == nil && (errAgain != nil || again != d) {
			t.Errorf("%s is %s, %v", d, again, errAgain)
		}
	})
}
