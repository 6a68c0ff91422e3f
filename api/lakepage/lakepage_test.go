package lakepage

import (
	"bytes"
	"context"
	"flag"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"limnomap/api/pages"
	"limnomap/api/words/wordstest"
	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/snapshot"
)

var update = flag.Bool("update", false, "write the golden files")

func TestNoWordIsMissing(t *testing.T) {
	wordstest.NoneMissing[ownWords](t, "../../web", "lake")
}

// A fakeSource holds one lake in memory, for [snapshot.Load].
type fakeSource struct {
	snapshot.NoForecasts
	snapshot.Source
	observations []data.Observation
}

func (f *fakeSource) Scan(_ context.Context, lake func(data.Lake) error, observation func(data.Observation) error) (data.Revision, error) {
	if err := lake(data.Lake{ID: "a", Name: "Algensee"}); err != nil {
		return data.Revision{}, err
	}
	for _, o := range f.observations {
		if err := observation(o); err != nil {
			return data.Revision{}, err
		}
	}
	return data.Revision{}, nil
}

func (f *fakeSource) Advisories(context.Context) ([]data.Advisory, data.Revision, error) {
	return nil, data.Revision{}, nil
}

func (f *fakeSource) PixelState(context.Context) (data.PixelState, error) {
	return data.PixelState{}, nil
}

func (f *fakeSource) ForecastTest(context.Context) (data.ForecastTest, error) {
	return data.ForecastTest{}, nil
}

func (f *fakeSource) LakeForecast(context.Context, data.LakeID, data.Date) (data.ForecastIssue, data.LakeForecast, error) {
	return data.ForecastIssue{}, data.LakeForecast{}, data.ErrNoForecast
}

func (f *fakeSource) ForecastIssues(context.Context) ([]data.ForecastIssue, error) { return nil, nil }

func (f *fakeSource) Forecasts(context.Context, data.Optional[data.Date], func(data.LakeForecast) error) (data.ForecastIssue, data.Revision, error) {
	return data.ForecastIssue{}, data.Revision{}, data.ErrNoForecast
}

var today = data.DateOf(time.Date(2026, 7, 16, 0, 0, 0, 0, time.UTC))

// add adds an observation, that many days ago.
func (f *fakeSource) add(ago int, chl data.Chlorophyll, change func(*data.Observation)) {
	o := data.Observation{LakeID: "a", Date: today - data.Date(ago), Chlorophyll: chl, Level: data.NoLevel, CellDensity: data.NoCellDensity}
	if change != nil {
		change(&o)
	}
	f.observations = append(f.observations, o)
}

// pageOf returns the page of the lake of f.
func pageOf(t *testing.T, f *fakeSource, language string) string {
	t.Helper()
	snap, err := snapshot.Load(t.Context(), f, &snapshot.Options{AsOf: snapshot.Newest, Present: data.ByClock(today.Time)})
	if err != nil {
		t.Fatal(err)
	}
	scale, err := colormap.New(colormap.IDs()[0], colormap.Limits{Level1: 10, Level2: 50})
	if err != nil {
		t.Fatal(err)
	}
	maker, err := New(os.DirFS("../../web"), scale)
	if err != nil {
		t.Fatal(err)
	}
	history, whole := snap.History(0, HistoryQuery(snap, today))
	if !whole {
		t.Fatal("the history is not whole")
	}
	content, got, err := maker.Page(&Lake{Snapshot: snap, History: history, Known: KnownOf(f.observations, snap.Profile, snap.AsOf.Last())}, &pages.Reader{Language: language, Today: today})
	if err != nil || got != language {
		t.Fatal(got, err)
	}
	return string(content)
}

var chartPattern = regexp.MustCompile(`(?s)<svg class="chart".*?</svg>`)

// The chart has dots for a satellite and squares for samples, gaps where no value is, a sign where the risk was worse than the value, and
// the worst value within its axis.
func TestChart(t *testing.T) {
	f := &fakeSource{}
	sample := func(o *data.Observation) { o.Type = data.InSitu }
	for _, v := range []struct {
		ago    int
		chl    data.Chlorophyll
		change func(*data.Observation)
	}{
		{800, 99_00, nil}, // before the chart begins
		{420, 2_00, nil}, {413, 4_00, nil}, {406, data.NoChlorophyll, nil}, {399, 8_00, nil}, {392, 0, nil}, {371, 20_00, nil},
		{369, 30_00, sample},
		{60, 400_00, nil},
		{53, 12_00, func(o *data.Observation) { o.Level = 3 }},
		{10, 60_00, nil},
		{3, 45_00, sample},
	} {
		f.add(v.ago, v.chl, v.change)
	}
	for _, language := range []string{"en", "de"} {
		got := chartPattern.FindString(pageOf(t, f, language)) + "\n"
		name := filepath.Join("testdata", "chart-"+language+".svg")
		if *update {
			if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal([]byte(got), want) {
			t.Errorf("the chart differs from %s:\n%s", name, got)
		}
	}
}

// One value, or many in one week, make a chart; none do not.
func TestChartOfFewValues(t *testing.T) {
	f := &fakeSource{}
	if page := pageOf(t, f, "en"); chartPattern.MatchString(page) || !strings.Contains(page, "There is no value of the last two years.") {
		t.Error("a lake without values has a chart")
	}
	f.add(900, 5_00, nil)
	if page := pageOf(t, f, "en"); chartPattern.MatchString(page) || !strings.Contains(page, "Last known risk: low") {
		t.Error("a lake without newer values has a chart, or its last risk is not said")
	}
	f.add(0, 5_00, nil)
	page := pageOf(t, f, "en")
	if !strings.Contains(page, "1 value, 16 July 2026 to 16 July 2026. Lowest 5\u00a0µg/l, highest 5\u00a0µg/l.") || strings.Contains(page, "NaN") || strings.Contains(page, "Inf") {
		t.Errorf("the chart of one value: %s", chartPattern.FindString(page))
	}
	if rows := strings.Count(page, `<tr class="none">`); rows != tableWeeks-1 {
		t.Errorf("%d weeks have no value, want %d", rows, tableWeeks-1)
	}
}

// A lake with many years has the band of its season, a bar for each year, and words about the newest value and the trend.
func TestKnown(t *testing.T) {
	f := &fakeSource{}
	for ago := 11 * 365 / 7 * 7; ago >= 0; ago -= 7 {
		day := today - data.Date(ago)
		chl := data.Chlorophyll(8_00 + 700*math.Sin(2*math.Pi*float64(day.Time().YearDay()-120)/365) - float64(ago)/10 + 4_00)
		if ago == 0 {
			chl = 80_00
		}
		f.add(ago, max(chl, 1), nil)
	}
	for language, wants := range map[string][]string{
		"en": {"The value of 16 July 2026 is higher than in 11 of 11 other years at this time of the year.", "From 2015 to 2026 the chlorophyll rose by 0.3", "Grey area: four of five", `<path class="usual" d="M`, "2025: 30 of 52 measured weeks"},
		"de": {"Der Wert vom 16. Juli 2026 ist höher als in 11 von 11 anderen Jahren um diese Jahreszeit.", "Von 2015 bis 2026 ist das Chlorophyll um 0,3"},
	} {
		page := pageOf(t, f, language)
		for _, want := range wants {
			if !strings.Contains(page, want) {
				t.Errorf("the page lacks %q:\n%s", want, regexp.MustCompile(`(?s)<h2>[^<]*</h2>\s*<figure>.*</figcaption>.*?</section>`).FindString(page))
			}
		}
		if bars := strings.Count(page, `y="91"`); bars != maxBars {
			t.Errorf("%d years have a bar, want %d", bars, maxBars)
		}
	}
	if page := pageOf(t, &fakeSource{}, "en"); strings.Contains(page, `class="bars"`) || strings.Contains(page, "other years") {
		t.Error("a lake without values has a season")
	}
}

func TestNiceAbove(t *testing.T) {
	for value, want := range map[float64]float64{0: 1, 1: 1, 1.01: 2, 99: 100, 100: 100, 101: 200, 201: 500, 501: 1000, 20_000: 20_000} {
		if got := niceAbove(value); got != want {
			t.Errorf("niceAbove(%v) = %v, want %v", value, got, want)
		}
	}
}
