package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/paulmach/orb"

	"limnomap/api/weekpage"
	"limnomap/data"
)

// The page, the table and the feed of a week compare the lakes that were measured in it and in the week before, as the first line of the map does.
func TestWeek(t *testing.T) {
	s := newServer(t, testOptions(t), twoWeeks(t))
	const numbers = "week and in the week before: 4; of these worse: 0, better: 2. Newly closed: 1. Measured in the week before, not seen in this one: 1."
	for target, wants := range map[string][]string{
		"/week":                     {"5 of 8 lakes were seen in this week (63 %).", numbers, "Week of 16 November 2026", `href="lakes/de_by_clean"`, "high → low", `href="week.csv?date=2026-11-16"`, `<p class="foot">`},
		"/week?lang=de":             {"davon schlechter: 0, besser: 2", `href="lakes/de_by_clean?lang=de"`, "hoch → gering"},
		"/week?date=2026-11-09":     {"week and in the week before: 1; of these worse: 1", "Week of 9 November 2026"},
		"/week.csv":                 {"id,name,region,change,risk_before,risk\r\n", "de_by_clean,", ",better,high,low\r\n", "closed"},
		"/week.csv?date=2026-11-09": {"id,name"},
		"/week.atom":                {numbers, "Week of 2026-11-16", "/week?date=2026-11-16"},
	} {
		w := get(t, s, http.StatusOK, target)
		for _, want := range wants {
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s lacks %q: %s", target, want, w.Body)
			}
		}
		wantDescribed(t, descriptionRouter(t), target, w)
	}
	// On a Monday, before the first observation of the week, the newest week with any is compared.
	opts := testOptions(t)
	opts.Now = func() time.Time { return testNow().AddDate(0, 0, 3) }
	monday := newServer(t, opts, twoWeeks(t))
	if page := get(t, monday, http.StatusOK, "/week").Body.String(); !strings.Contains(page, "in the week before: 4;") || !strings.Contains(page, "Week of 16 November 2026") {
		t.Errorf("on Monday /week is %s", page)
	}
	if stats := get(t, monday, http.StatusOK, statsURL).Body.String(); !strings.Contains(stats, `"both_weeks":{"measured":4,"high":1,"high_before":3}`) {
		t.Errorf("on Monday the counts are %s", stats)
	}
	for target, parameter := range map[string]string{"/week?date=x": "date", "/week?lang=xx": "lang", "/week.csv?date=2020-01-01": "date"} {
		wantProblem(t, do(s, http.MethodGet, target), http.StatusBadRequest, parameter)
	}
}

// The page, the table, the feed and the counts of the first line are one computation: they agree.
func TestWeekAgreesWithCounts(t *testing.T) {
	s := newServer(t, testOptions(t), twoWeeks(t))
	for _, query := range []string{"", "?date=2026-11-09", "?date=2026-08-03"} {
		var stats struct {
			All struct {
				TotalLakes int `json:"total_lakes"`
			}
			WeekCounts struct {
				Measured  int
				BothWeeks struct{ Measured int } `json:"both_weeks"`
			} `json:"week_counts"`
		}
		if err := json.Unmarshal(get(t, s, http.StatusOK, statsURL+query).Body.Bytes(), &stats); err != nil {
			t.Fatal(err)
		}
		page, feed := get(t, s, http.StatusOK, "/week"+query).Body.String(), get(t, s, http.StatusOK, "/week.atom"+query).Body.String()
		seen := fmt.Sprintf("%d of %d lakes were seen", stats.WeekCounts.Measured, stats.All.TotalLakes)
		both := fmt.Sprintf("in the week before: %d;", stats.WeekCounts.BothWeeks.Measured)
		if !strings.Contains(page, seen) || !strings.Contains(feed, seen) || strings.Contains(page, "no week before") == strings.Contains(page, both) {
			t.Errorf("/week%s and its feed lack %q or %q", query, seen, both)
		}
		table := get(t, s, http.StatusOK, "/week.csv"+query).Body.String()
		for kind, heading := range map[string]string{"worse": "worse", "better": "better", "closed": "Newly closed", "not_seen": "not seen in this one"} {
			said := fmt.Sprintf("%s: %d", heading, strings.Count(table, ","+kind+","))
			if strings.Contains(page, both) && !strings.Contains(page, said) {
				t.Errorf("/week%s lacks %q, which the table has", query, said)
			}
		}
	}
}

// A closure counts at once, also on a page that was made before.
func TestWeekOfAClosure(t *testing.T) {
	source := twoWeeks(t)
	s := newServer(t, testOptions(t), source)
	get(t, s, http.StatusOK, "/week")
	source.advisories = append(source.advisories, data.Advisory{ID: "b", LakeID: "de_by_clean", Kind: data.Closure, Issuer: "Amt", Issued: testNow(), ValidFrom: testNow()})
	if err := s.Publish(testSnapshot(t, source)); err != nil {
		t.Fatal(err)
	}
	if page := get(t, s, http.StatusOK, "/week").Body.String(); !strings.Contains(page, "Newly closed: 2") {
		t.Errorf("after a second closure /week is %s", page)
	}
}

// BenchmarkWeek makes the page and the table of a week in which each of many lakes was seen, and of which half have changed.
func BenchmarkWeek(b *testing.B) {
	source := &fakeSource{revision: testSource(b).revision}
	before, now := date(b, "2026-11-09"), date(b, "2026-11-16")
	for i := range 1_400_000 {
		id := data.LakeID(fmt.Sprintf("lake_%07d", i))
		source.lakes = append(source.lakes, data.Lake{ID: id, Name: "See " + string(id), Region: fmt.Sprintf("Region %d", i%1000), Point: orb.Point{float64(i%3600)/10 - 180, float64(i/3600%1600)/10 - 80}})
		for day, chl := range map[data.Date]int{before: i % 4 * 20_00, now: i % 3 * 30_00} {
			source.observations = append(source.observations, data.Observation{
				LakeID: id, Date: day, Chlorophyll: data.Chlorophyll(1_00 + chl), Level: data.NoLevel, CellDensity: data.NoCellDensity,
			})
		}
	}
	slices.SortFunc(source.observations, func(a, b data.Observation) int {
		return cmp.Or(cmp.Compare(a.LakeID, b.LakeID), cmp.Compare(a.Date, b.Date))
	})
	snap := testSnapshot(b, source)
	b.Run("compare", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			weekpage.Of(snap, snap.Current)
		}
	})
	source.lakes, source.observations = nil, nil
	s := newServer(b, testOptions(b), nil)
	if err := s.Publish(snap); err != nil {
		b.Fatal(err)
	}
	for _, target := range []string{"/week", "/week.atom", "/week.csv"} {
		b.Run(target[1:], func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, target, nil)
			w := &countingWriter{nullWriter: nullWriter{header: make(http.Header)}}
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				w.n = 0
				s.ServeHTTP(w, r)
			}
			b.ReportMetric(float64(w.n), "bytes")
		})
	}
}

// A countingWriter counts the bytes of an answer.
type countingWriter struct {
	nullWriter
	n int
}

func (w *countingWriter) Write(b []byte) (int, error) {
	w.n += len(b)
	return len(b), nil
}
