package api

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"limnomap/api/apitest"
	"limnomap/data"
	"limnomap/tiles/admission"
)

const advisoriesURL = "/api/v1/bathing-lakes/advisories"

// testAdvisories are statements of each state at testNow.
func testAdvisories() []data.Advisory {
	now := testNow()
	day := func(d int) time.Time { return now.AddDate(0, 0, d) }
	statement := func(id data.AdvisoryID, lake data.LakeID, kind data.AdvisoryKind, issued int) data.Advisory {
		return data.Advisory{ID: id, LakeID: lake, Kind: kind, Cause: data.Cyanobacteria, Issuer: "Amt", Issued: day(issued), ValidFrom: day(issued)}
	}
	full := statement("closed", "de_mv_high", data.Closure, -3)
	full.TextEN, full.TextDE, full.URL, full.ValidUntil = "No bathing.\n\"Never\" <b>", "Baden\nverboten", "https://example.org/?a=1&b=2", day(2)
	over := statement("over", "de_mv_high", data.Closure, -9)
	over.ValidUntil = now // the first moment when it is not active
	withdrawn := statement("withdrawn", "de_mv_scum", data.Closure, -5)
	withdrawn.Withdrawn = day(-1)
	future := statement("future", "de_by_medium", data.Closure, -1)
	future.ValidFrom = day(1)
	begun := statement("begun", "de_mv_scum", data.Warning, 0)
	return []data.Advisory{
		statement("season", "fj_east", data.Season, -1), full, over, withdrawn, future, begun,
		statement("older", "fj_west", data.Warning, -2), statement("b_same", "fj_west", data.Info, -1), statement("a_same", "de_by_clean", data.Info, -1),
		statement("elsewhere", "unknown_lake", data.Closure, -1),
	}
}

func statementServer(tb testing.TB, opts Options) *Server {
	tb.Helper()
	f := testSource(tb)
	f.advisories = testAdvisories()
	return newServer(tb, opts, f)
}

// advisoryIDs returns the ids in an answer, in order.
func advisoryIDs(t *testing.T, body map[string]any) string {
	t.Helper()
	var ids []string
	for _, a := range body["advisories"].([]any) {
		ids = append(ids, a.(map[string]any)["id"].(string))
	}
	return strings.Join(ids, " ")
}

func TestAdvisories(t *testing.T) {
	s := statementServer(t, testOptions(t))
	for _, test := range []struct{ name, query, want string }{
		{"now", "", "closed begun older a_same b_same season"},
		{"a second before", "?active_at=2026-11-20T11:59:59Z", "closed over older a_same b_same season"},
		{"midnight of a day", "?active_at=2026-11-20", "closed over older a_same b_same season"},
		{"before the withdrawal", "?active_at=2026-11-19T11:59:59.5Z", "closed withdrawn over older"},
		{"tomorrow", "?active_at=2026-11-21T12:00:00Z", "future closed begun older a_same b_same season"},
		{"the day after its end", "?active_at=2026-11-23", "future begun older a_same b_same season"},
		{"all", "?active_at=any", "future closed withdrawn over begun older a_same b_same season"},
		{"one lake", "?lake=de_mv_high", "closed"},
		{"all of one lake", "?lake=de_mv_high&active_at=any", "closed over"},
		{"box", "?min_lat=53&max_lat=53.5", "closed"},
		{"box across the antimeridian", "?min_lon=179&max_lon=-179", "older b_same season"},
		{"bbox", "?bbox=12.7,53,13,53.4", "closed"},
		{"bbox across the antimeridian", "?bbox=179,-90,-179,90", "older b_same season"},
		{"bbox of the whole world", "?bbox=-180,-90,180,90&active_at=any&lake=de_mv_high", "closed over"},
		{"box and lake", "?min_lat=53&lake=de_by_clean", ""},
		{"unknown parameters are ignored", "?kind=closure", "closed begun older a_same b_same season"},
	} {
		t.Run(test.name, func(t *testing.T) {
			body := object(t, get(t, s, http.StatusOK, advisoriesURL+test.query))
			if got := advisoryIDs(t, body); got != test.want {
				t.Errorf("advisories = %q, want %q", got, test.want)
			}
			if body["generated_at"] != "2026-11-19T06:30:00Z" || len(body) != 2 {
				t.Errorf("answer %v, want generated_at of the data and advisories", body)
			}
		})
	}
}

func TestAdvisoryRecord(t *testing.T) {
	s := statementServer(t, testOptions(t))
	for query, want := range map[string]string{
		"?lake=de_mv_high": `{"generated_at":"2026-11-19T06:30:00Z","advisories":[{"id":"closed","lake_id":"de_mv_high","lake_name":"Müritz","lat":53.4,"lon":12.7,` +
			`"kind":"closure","cause":"cyanobacteria","issuer":"Amt","text":{"en":"No bathing.\n\"Never\" \u003cb\u003e","de":"Baden\nverboten"},"url":"https://example.org/?a=1\u0026b=2",` +
			`"issued":"2026-11-17T12:00:00Z","valid_from":"2026-11-17T12:00:00Z","valid_until":"2026-11-22T12:00:00Z","withdrawn":null,"active":true}]}` + "\n",
		"?active_at=any&lake=de_by_medium": `{"generated_at":"2026-11-19T06:30:00Z","advisories":[{"id":"future","lake_id":"de_by_medium","lake_name":"Grüner \"See\" \u003c\u0026\u003e","lat":48.5,"lon":12,` +
			`"kind":"closure","cause":"cyanobacteria","issuer":"Amt","text":{"en":null,"de":null},"url":null,` +
			`"issued":"2026-11-19T12:00:00Z","valid_from":"2026-11-21T12:00:00Z","valid_until":null,"withdrawn":null,"active":false}]}` + "\n",
		"?active_at=any&lake=de_by_clean&max_lat=0": `{"generated_at":"2026-11-19T06:30:00Z","advisories":[]}` + "\n",
	} {
		if got := get(t, s, http.StatusOK, advisoriesURL+query).Body.String(); got != want {
			t.Errorf("%s = %s\nwant %s", query, got, want)
		}
	}
	all := object(t, get(t, s, http.StatusOK, advisoriesURL+"?active_at=any"))["advisories"].([]any)
	active := 0
	for _, a := range all {
		if a.(map[string]any)["active"] == true {
			active++
		}
		if a := a.(map[string]any); a["id"] == "withdrawn" && a["withdrawn"] != "2026-11-19T12:00:00Z" {
			t.Errorf("withdrawn %v", a)
		}
	}
	if len(all) != 9 || active != 6 {
		t.Errorf("%d of all %d are active, want 6 of 9", active, len(all))
	}
}

func TestWrongParametersOfAdvisories(t *testing.T) {
	s := statementServer(t, testOptions(t))
	const inTime = " is not a time as YYYY-MM-DDThh:mm:ssZ, a day as YYYY-MM-DD, or any"
	for query, want := range map[string]string{ // the mistakes, joined
		"active_at=":                               `active_at: ""` + inTime,
		"active_at=2026-02-30":                     `active_at: "2026-02-30"` + inTime,
		"active_at=2026-07-01T10:00:00":            `active_at: "2026-07-01T10:00:00"` + inTime,
		"active_at=any&active_at=any":              "active_at: given more than once; give it once or not at all",
		"lake=":                                    `lake: "" is no id`,
		"bbox=":                                    `bbox: "" is not west,south,east,north: four numbers of degrees, -180 to 180 and -90 to 90`,
		"bbox=1,2,3":                               `bbox: "1,2,3" is not west,south,east,north: four numbers of degrees, -180 to 180 and -90 to 90`,
		"bbox=1,5,3,4":                             `bbox: "1,5,3,4" has south, 5, greater than north, 4`,
		"bbox=1,2,3,4&bbox=1,2,3,4":                "bbox: given more than once; give it once or not at all",
		"bbox=1,2,3,4&max_lat=90&min_lon=-180":     "bbox: given together with max_lat, min_lon; give either bbox or min_lat, max_lat, min_lon and max_lon",
		"min_lat=50&max_lat=40":                    "min_lat: 50 is greater than max_lat, 40",
		"lake=no/lake&max_lon=181&active_at=never": `max_lon: "181" is not a number from -180 to 180; active_at: "never"` + inTime + `; lake: "no/lake" is no id`,
	} {
		var mistakes []string
		for _, e := range object(t, get(t, s, http.StatusBadRequest, advisoriesURL+"?"+query))["errors"].([]any) {
			mistakes = append(mistakes, fmt.Sprint(e.(map[string]any)["parameter"], ": ", e.(map[string]any)["detail"]))
		}
		if got := strings.Join(mistakes, "; "); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	wantProblem(t, do(s, http.MethodGet, advisoriesURL+"?lake=nowhere"), http.StatusNotFound)
	wantProblem(t, do(s, http.MethodGet, advisoriesURL+"?lake=unknown_lake"), http.StatusNotFound)
	wantProblem(t, do(newServer(t, testOptions(t), nil), http.MethodGet, advisoriesURL), http.StatusServiceUnavailable)
}

// No cache may send an answer about the present after the next change, not even while it revalidates it.
func TestAdvisoriesAreNotCachedBeyondTheirNextChange(t *testing.T) {
	clock := apitest.NewClock()
	opts := testOptions(t)
	opts.Now = clock.Now
	f := testSource(t)
	start := clock.Now()
	f.advisories = []data.Advisory{{ID: "a", LakeID: "de_by_clean", Kind: data.Closure, Issuer: "Amt", Issued: start.Add(-time.Hour), ValidFrom: start.Add(-time.Hour),
		ValidUntil: start.Add(600*time.Second + 500*time.Millisecond).Truncate(time.Second)}}
	end := f.advisories[0].ValidUntil
	s := newServer(t, opts, f)
	for _, step := range []struct {
		before time.Duration // the end
		want   string
		active bool
	}{
		{600 * time.Second, "public, max-age=60, stale-while-revalidate=300", true},
		{360 * time.Second, "public, max-age=60, stale-while-revalidate=300", true},
		{359900 * time.Millisecond, "public, max-age=60, stale-while-revalidate=299", true},
		{61 * time.Second, "public, max-age=60, stale-while-revalidate=1", true},
		{60 * time.Second, "public, max-age=60", true},
		{1900 * time.Millisecond, "public, max-age=1", true},
		{time.Second / 2, "no-cache", true},
		{0, "public, max-age=60, stale-while-revalidate=300", false},
	} {
		clock.Advance(end.Add(-step.before).Sub(clock.Now()))
		etags := make(map[string]bool)
		for _, query := range []string{"", "?active_at=any", "?lake=de_mv_never"} {
			h := get(t, s, http.StatusOK, advisoriesURL+query).Header()
			if got := h.Get("Cache-Control"); got != step.want {
				t.Errorf("%v before the end, Cache-Control of %q = %q, want %q", step.before, query, got, step.want)
			}
			etags[h.Get("ETag")] = true
		}
		body := get(t, s, http.StatusOK, advisoriesURL).Body.String()
		if strings.Contains(body, `"active":true`) != step.active {
			t.Errorf("%v before the end: %s", step.before, body)
		}
		h := get(t, s, http.StatusOK, advisoriesURL+"?active_at=2026-07-01T12:00:00Z").Header()
		if got := h.Get("Cache-Control"); got != "public, max-age=60, stale-while-revalidate=300" {
			t.Errorf("an answer about a given time has Cache-Control %q", got)
		}
	}
}

// A long list is made in turns, and in pieces.
func TestManyAdvisories(t *testing.T) {
	const count = 3000
	f := testSource(t)
	for i := range count {
		f.advisories = append(f.advisories, data.Advisory{ID: data.AdvisoryID(fmt.Sprintf("s%04d", i)), LakeID: "de_by_clean", Kind: data.Info, Issuer: "Amt",
			TextEN: strings.Repeat("x", 100), Issued: testNow(), ValidFrom: testNow()})
	}
	opts := testOptions(t)
	opts.sending.HeldItems = 1000
	opts.Memory = admission.NewBudget(4 << 20)
	s := newServer(t, opts, f)
	w := get(t, s, http.StatusOK, advisoriesURL)
	if all := object(t, w)["advisories"].([]any); len(all) != count || all[count-1].(map[string]any)["id"] != "s2999" {
		t.Errorf("%d statements, want %d", len(all), count)
	}
	get(t, s, http.StatusNotModified, advisoriesURL, "If-None-Match", w.Header().Get("ETag"))
	opts.Registry, opts.Memory = nil, admission.NewBudget(64<<10)
	s = newServer(t, opts, f)
	wantProblem(t, do(s, http.MethodGet, advisoriesURL), http.StatusServiceUnavailable)
	get(t, s, http.StatusOK, advisoriesURL+"?lake=de_mv_never")
}
