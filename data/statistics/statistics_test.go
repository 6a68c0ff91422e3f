package statistics

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"limnomap/data"
)

func day(t testing.TB, s string) data.Date {
	t.Helper()
	d, err := data.ParseDate(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// series returns a value every step days for that many years from 2000 on: a season, a trend in µg/l a year, and noise in which each value depends on the one before.
func series(years, step int, trend, noise float64, rnd *rand.Rand) []Value {
	var values []Value
	last := 0.0
	first := data.Date(10957) // 2000-01-01
	for d := first; d < first+data.Date(years*365); d += data.Date(step) {
		last = 0.6*last + 0.8*rnd.NormFloat64()
		season := 8 + 6*math.Sin(2*math.Pi*float64(dayOfYear(d)-120)/365)
		chl := season + trend*float64(d-first)/365 + noise*last
		values = append(values, Value{d, math.Round(100*max(chl, 0.1)) / 100})
	}
	return values
}

// What is said of a series with few values a year is what R says, which the file holds.
func TestSaysWhatRSays(t *testing.T) {
	want, err := os.ReadFile("testdata/rare_by_r.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := document(compared()["rare"]); got != string(want) {
		t.Errorf("it says\n%s\nR says\n%s", got, want)
	}
}

// compared returns made series by name.
func compared() map[string][]Value {
	rnd := rand.New(rand.NewPCG(1, 1))
	all := map[string][]Value{"weekly": series(14, 7, 0.2, 3, rnd), "rare": series(25, 43, 0, 4, rnd), "short": series(4, 10, 1, 2, rnd), "equal": series(12, 30, 0, 0, rnd)}
	gaps := series(20, 8, -0.1, 3, rnd)
	all["gaps"] = slices.DeleteFunc(gaps, func(v Value) bool { return monthOf(v.Date) < 4 || yearOf(v.Date)%5 == 0 || rnd.IntN(3) == 0 })
	return all
}

func inJuly(values []Value) (july []Value) {
	for _, v := range values {
		if monthOf(v.Date) == time.July {
			july = append(july, v)
		}
	}
	return july
}

// The variance of the trend test is that of S over all orders of the years, which keeps the months of a year together: so months that depend on each other do not
// count as independent. Here it is found by trying orders.
func TestVarianceOfOrders(t *testing.T) {
	const orders = 20_000
	rnd := rand.New(rand.NewPCG(6, 6))
	values := series(12, 10, 0, 3, rnd)
	trend, ok := TrendOf(values)
	x, _ := monthlyMedians(values)
	x = x[:trend.Years]
	if !ok || trend.Last-trend.First+1 != len(x) {
		t.Fatalf("the trend is %+v", trend)
	}
	sum, squares, independent := 0.0, 0.0, 0.0
	for range orders {
		rnd.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
		s := 0
		for g := range 12 {
			of := 0
			for j := range x {
				for i := range j {
					of += sign(x[j][g] - x[i][g])
				}
			}
			s += of
			independent += float64(of*of) / orders
		}
		sum, squares = sum+float64(s), squares+float64(s*s)
	}
	variance := squares/orders - math.Pow(sum/orders, 2)
	t.Logf("the variance is %.0f, that of orders %.0f, that of independent months %.0f", trend.Variance, variance, independent)
	if math.Abs(trend.Variance/variance-1) > 0.05 {
		t.Errorf("the variance is %v, that of %d orders of the years %v", trend.Variance, orders, variance)
	}
}

// document returns the statistics in the lines of testdata/statistics.R, with ten digits.
func document(values []Value) string {
	var b strings.Builder
	for _, p := range Band(values) {
		fmt.Fprintf(&b, "band %d %.10g %.10g %.10g %.10g %.10g %d %d\n", p.Day, p.P10, p.P25, p.P50, p.P75, p.P90, p.Values, p.Years)
	}
	profile := data.Profiles()[0]
	for _, y := range YearsOf(values, &profile, data.MaxDate-1) {
		fmt.Fprintf(&b, "year %d %d %.10g %.10g %.10g %d %d %d\n", y.Year, y.Values, y.Mean, y.Median, y.Max, y.MaxDate, y.Onset, y.End)
	}
	if trend, ok := TrendOf(values); ok {
		fmt.Fprintf(&b, "trend %.10g %.10g %d %.10g %d\n", trend.Slope, trend.P, trend.S, trend.Variance, trend.Last-trend.First+1)
	}
	if trend, ok := TrendOf(inJuly(values)); ok {
		fmt.Fprintf(&b, "kendall %.10g\n", trend.P)
	}
	return b.String()
}

// tableOf returns the name of a file with values.
func tableOf(t *testing.T, values []Value) string {
	t.Helper()
	var table bytes.Buffer
	table.WriteString("date,chl\n")
	for _, v := range values {
		fmt.Fprintf(&table, "%s,%v\n", v.Date, v.Chlorophyll)
	}
	name := filepath.Join(t.TempDir(), "values.csv")
	if err := os.WriteFile(name, table.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// Without a trend the test finds one in about one of twenty series whose values depend on those before; with one it finds it.
func TestTrendsAreFoundWhereTheyAre(t *testing.T) {
	const count = 300
	rnd := rand.New(rand.NewPCG(2, 2))
	for _, test := range []struct {
		trend       float64
		least, most int // of count
	}{{0, 0, count * 9 / 100}, {0.5, count * 95 / 100, count}, {-0.5, count * 95 / 100, count}} {
		found := 0
		for range count {
			trend, ok := TrendOf(series(15, 10, test.trend, 3, rnd))
			if !ok {
				t.Fatal("no trend of 15 years")
			}
			if trend.Significant() && (test.trend == 0 || trend.Slope*test.trend > 0) {
				found++
			}
		}
		t.Logf("a trend of %g µg/l a year: found in %d of %d series", test.trend, found, count)
		if found < test.least || found > test.most {
			t.Errorf("a trend of %g µg/l a year is found in %d of %d series, want %d to %d", test.trend, found, count, test.least, test.most)
		}
	}
}

// What has too few values has none.
func TestTooFewValues(t *testing.T) {
	profile := data.Profiles()[0]
	for name, values := range map[string][]Value{"none": nil, "one": {{day(t, "2020-07-01"), 5}}, "two years": series(2, 7, 0, 1, rand.New(rand.NewPCG(3, 3)))[:100]} {
		if band := Band(values); len(band) > 0 {
			t.Errorf("%s: a band of %d points", name, len(band))
		}
		if _, ok := TrendOf(values); ok {
			t.Errorf("%s: a trend", name)
		}
		if _, ok := PlaceOf(values, Value{day(t, "2026-07-01"), 3}); ok {
			t.Errorf("%s: a place", name)
		}
	}
	var summer []Value
	for d := range data.Date(20) {
		summer = append(summer, Value{day(t, "2020-06-20") + 3*d, 9})
	}
	if years := YearsOf(summer, &profile, data.MaxDate-1); len(years) > 0 {
		t.Errorf("a year with values of three months is %+v", years)
	}
}

func TestYears(t *testing.T) {
	profile := data.Profiles()[0] // 10 and 50 µg/l
	var values []Value
	for _, v := range []struct {
		date string
		chl  float64
	}{{"2021-01-04", 2}, {"2021-03-01", 4}, {"2021-04-05", 6}, {"2021-06-07", 12}, {"2021-06-10", 14}, {"2021-06-14", 60}, {"2021-07-12", 20}, {"2021-09-20", 9}, {"2021-11-01", 3}} {
		values = append(values, Value{day(t, v.date), v.chl})
	}
	years := YearsOf(values, &profile, data.MaxDate-1)
	if len(years) != 1 {
		t.Fatalf("%d years", len(years))
	}
	y := years[0]
	want := Year{Year: 2021, Values: 9, Weeks: [4]int{5, 2, 1, 0}, Days: [4]int{70, 21, 14, 0}, Mean: 130. / 9, Median: 9, Max: 60, MaxDate: day(t, "2021-06-14"),
		Trophic: data.Eutrophic, Onset: day(t, "2021-06-07"), End: day(t, "2021-07-12")}
	if math.Abs(y.Mean-want.Mean) > 1e-12 {
		t.Errorf("the mean is %v, want %v", y.Mean, want.Mean)
	}
	if y.Mean = want.Mean; y != want {
		t.Errorf("the year is\n%+v, want\n%+v", y, want)
	}
	// The last value counts up to the next one, the end of the year, and the day that the data are as of.
	for asOf, want := range map[string]int{"2021-11-03": 70 - 11, "2022-01-01": 70} {
		if got := YearsOf(values, &profile, day(t, asOf))[0].Days[0]; got != want {
			t.Errorf("as of %s %d days are of low level, want %d", asOf, got, want)
		}
	}
	late := append(slices.Clone(values), Value{day(t, "2021-12-27"), 3}, Value{day(t, "2022-01-03"), 3})
	if got := YearsOf(late, &profile, data.MaxDate-1)[0].Days[0]; got != 70+5 {
		t.Errorf("with a value of 27 December %d days are of low level, want 75", got)
	}
	if y.Length() != 36 {
		t.Errorf("the bloom season has %d days, want 36", y.Length())
	}
}

func TestPlaceOf(t *testing.T) {
	var values []Value
	for year := 2010; year < 2020; year++ {
		for _, d := range []string{"06-25", "07-05", "12-25"} {
			values = append(values, Value{day(t, fmt.Sprintf("%d-%s", year, d)), float64(year - 2000)})
		}
	}
	for _, test := range []struct {
		date  string
		chl   float64
		want  Place
		found bool
	}{
		{"2020-07-01", 18.5, Place{90, 10, 9, 1}, true},
		{"2020-07-01", 5, Place{0, 10, 0, 10}, true},
		{"2020-07-01", 19, Place{95, 10, 9, 0}, true},
		{"2021-01-03", 12.5, Place{30, 10, 3, 7}, true}, // December belongs to the next window
		{"2020-04-01", 12.5, Place{}, false},
	} {
		got, ok := PlaceOf(values, Value{day(t, test.date), test.chl})
		if ok != test.found || math.Abs(got.Percent-test.want.Percent) > 1e-9 || got.Years != test.want.Years || got.Lower != test.want.Lower || got.Higher != test.want.Higher {
			t.Errorf("%g on %s has the place %+v (%t), want %+v (%t)", test.chl, test.date, got, ok, test.want, test.found)
		}
	}
}

// The points of the band are on their day in each year, also in one with a 29 February.
func TestBandPointIn(t *testing.T) {
	for _, year := range []int{1900, 2000, 2023, 2024} {
		for day := 1; day <= yearDays; day++ {
			if d := (&BandPoint{Day: day}).In(year); dayOfYear(d) != day || yearOf(d) != year {
				t.Errorf("day %d of %d is %s", day, year, d)
			}
		}
	}
}

// In a week with a sample the sample counts, and otherwise the source with the best rank, as on the map.
func TestValuesOf(t *testing.T) {
	o := func(date string, of data.DataType, chl float64, source string, rank uint8, quality data.Quality) data.Observation {
		c, err := data.ChlorophyllOf(chl)
		if err != nil {
			t.Fatal(err)
		}
		return data.Observation{Date: day(t, date), Type: of, Chlorophyll: c, Source: source, Rank: rank, Quality: quality}
	}
	gap := o("2021-07-26", data.Satellite, 1, "", 0, 0)
	gap.Chlorophyll = data.NoChlorophyll
	observations := []data.Observation{
		o("2021-07-05", data.Satellite, 5, "LWQ", 2, data.Good), o("2021-07-05", data.Satellite, 7, "CyAN", 1, data.Good), o("2021-07-05", data.Satellite, 9, "other", 0, data.Good),
		o("2021-07-08", data.Satellite, 11, "LWQ", 2, data.Good), o("2021-07-13", data.InSitu, 13, "lab", 0, 0), o("2021-07-15", data.Satellite, 15, "LWQ", 2, 0),
		o("2021-07-19", data.Satellite, 99, "LWQ", 2, data.Poor), gap, o("2021-08-02", data.Forecast, 50, "", 0, 0),
	}
	for series, want := range map[Series][]Value{
		Together:    {{day(t, "2021-07-05"), 7}, {day(t, "2021-07-13"), 13}},
		OfSatellite: {{day(t, "2021-07-05"), 7}, {day(t, "2021-07-08"), 11}, {day(t, "2021-07-15"), 15}},
		OfSamples:   {{day(t, "2021-07-13"), 13}},
	} {
		if got := ValuesOf(observations, series); !slices.Equal(got, want) {
			t.Errorf("series %d is %v, want %v", series, got, want)
		}
	}
}

// BenchmarkStatistics makes all that is answered about a lake with that many observations: of each week, or of the same sixty years three sources a week.
func BenchmarkStatistics(b *testing.B) {
	profile := data.Profiles()[0]
	for _, of := range []struct{ count, perWeek int }{{104, 1}, {520, 1}, {10_000, 3}} {
		rnd := rand.New(rand.NewPCG(4, 4))
		var observations []data.Observation
		for i := range of.count {
			week := i / of.perWeek
			chl := math.Exp(1 + math.Sin(float64(week)/52*2*math.Pi) + 0.5*rnd.NormFloat64())
			observations = append(observations, data.Observation{Date: data.Date(7*week + 2*(i%of.perWeek)), Chlorophyll: data.Chlorophyll(100 * chl)})
			if i%5 == 0 {
				observations[i].Type = data.InSitu
			}
		}
		b.Run(fmt.Sprint(of.count), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, series := range []Series{Together, OfSatellite, OfSamples} {
					values := ValuesOf(observations, series)
					PlaceOf(values, values[len(values)-1])
					TrendOf(values)
					YearsOf(values, &profile, data.MaxDate-1)
					Band(values)
				}
			}
		})
	}
}
