package forecast_test

import (
	"compress/gzip"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"limnomap/data/forecast"
	"limnomap/data/forecast/forecasttest"
)

// Every number of the reference is equal to the last printed digit, and it has a forecast for exactly the origins of its rules.
func TestReference(t *testing.T) {
	z, err := gzip.NewReader(forecasttest.Open(t, "forecast/global.even.forecasts.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][][]string{} // rows by lake
	rows := forecasttest.Rows(t, z)
	for _, row := range rows {
		want[row[0]] = append(want[row[0]], row)
	}
	lakes, numbers := 0, 0
	for _, l := range forecasttest.Lakes(t) {
		if !l.Even() {
			continue
		}
		lakes++
		rows := want[l.ID]
		f, next := forecast.New(l.Latitude), 0
		last := l.Values[len(l.Values)-1].Day
		year := time.Unix(int64(last)*86400, 0).UTC().Year()
		for origin := forecasttest.Day(t, strconv.Itoa(year-2)+"-01-01"); origin < last; origin++ {
			for ; next < len(l.Values) && l.Values[next].Day <= origin; next++ {
				f.Add(l.Values[next])
			}
			if time.Unix(int64(origin)*86400, 0).UTC().Weekday() != time.Monday {
				continue
			}
			for target := origin + 7; target <= origin+28; target += 7 {
				// The reference does not know seasons.
				if r := f.Withheld(origin, target); r != forecast.None && r != forecast.OutOfSeason {
					continue
				}
				if len(rows) == 0 {
					t.Fatalf("%s: the reference has no forecast of day %d for day %d", l.ID, origin, target)
				}
				row := rows[0]
				rows = rows[1:]
				if forecasttest.Day(t, row[1]) != origin || forecasttest.Day(t, row[2]) != target {
					t.Fatalf("%s: the next forecast of the reference is %v, want day %d for day %d", l.ID, row, origin, target)
				}
				p := f.Predict(target)
				got := strings.Split(fmt.Sprintf("%.2f %.2f %.2f %.4f %.4f", p.Chl(), p.Lower(), p.Upper(), p.Exceeds(10), p.Exceeds(50)), " ")
				if !slices.Equal(got, row[3:]) {
					t.Fatalf("got %v, want %v", got, row)
				}
				numbers += len(got)
			}
		}
		if len(rows) > 0 {
			t.Fatalf("%s: the reference also has %v", l.ID, rows[0])
		}
	}
	if lakes != len(want) || numbers != 5*len(rows) {
		t.Errorf("%d lakes and %d numbers, but the reference has %d and %d", lakes, numbers, len(want), 5*len(rows))
	}
	t.Logf("%d lakes, %d numbers are equal", lakes, numbers)
}
