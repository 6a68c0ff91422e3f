package api

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// The page, the table and the feed of a week compare the lakes that were measured in it and in the week before, as the first line of the map does.
func TestWeek(t *testing.T) {
	s := newServer(t, testOptions(t), twoWeeks(t))
	const numbers = "week and in the week before: 4; of these worse: 0, better: 2. Newly closed: 1. Not seen this week: 1."
	for target, wants := range map[string][]string{
		"/week":                     {numbers, "Week of 16 November 2026", `href="lakes/de_by_clean"`, "high → low", `href="week.csv?date=2026-11-16"`, `<p class="foot">`},
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
