package api

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"limnomap/api/answer"
	"limnomap/data"
	"limnomap/data/snapshot"
)

// urlsOfStates are the addresses with the states of lakes: each has the parameter date.
var urlsOfStates = []string{statusURL + "?", statusURL + ".csv?", geoJSONURL + "?", nearURL + "?lat=50&lon=12&radius_km=20000&", searchURL + "?q=see&", statsURL + "?"}

func TestStatusOfAWeek(t *testing.T) {
	s := testServer(t)
	body := object(t, get(t, s, http.StatusOK, statusURL+"?date=2026-11-08"))
	lakes := lakesOf(t, body)
	if r := lakes["de_by_clean"]; r["chl"] != 2.0 || r["measured_at"] != "2026-11-02T00:00:00Z" {
		t.Errorf("chl, measured_at on 2026-11-08 = %v, %v, want those of 2026-11-02", r["chl"], r["measured_at"])
	}
	if r := lakes["de_mv_high"]; r["chl"] != nil || r["risk"] != nil {
		t.Errorf("chl, risk before the first value = %v, %v, want null", r["chl"], r["risk"])
	}
	if body["total_lakes"] != 8.0 || body["lakes_with_data"] != 1.0 || body["generated_at"] != "2026-11-19T06:30:00Z" {
		t.Errorf("envelope = %v, %v, %v, want 8 lakes, 1 with data, and the snapshot's time",
			body["total_lakes"], body["lakes_with_data"], body["generated_at"])
	}
	for query, want := range map[string]string{
		"date=2026-11-02&risk=low":                "de_by_clean",
		"date=2026-11-15&risk=medium":             "de_by_medium",
		"date=2026-11-15&risk=medium&max_lat=48":  "",
		"date=2026-11-15&min_lat=53&min_lon=12.8": "de_mv_never de_mv_scum de_mv_stale",
		"date=2026-08-09&risk=high":               "de_mv_stale",
	} {
		if got := idsOf(t, object(t, get(t, s, http.StatusOK, statusURL+"?"+query))); got != want {
			t.Errorf("lakes with %s = %q, want %q", query, got, want)
		}
	}
}

// TestAWeekIsTheStateOfTheArchiveThen compares each answer for a week with that of a server of an archive as of its Sunday.
func TestAWeekIsTheStateOfTheArchiveThen(t *testing.T) {
	whole := testServer(t)
	for _, day := range []string{"2026-08-03", "2026-08-09", "2026-11-08", "2026-11-11", "2026-11-16"} {
		s := newServer(t, testOptions(t), nil)
		asOf := snapshot.Day(min(date(t, day).Week().Sunday(), data.DateOf(testNow())))
		archive, err := snapshot.Load(t.Context(), testSource(t), &snapshot.Options{AsOf: asOf})
		if err == nil {
			err = s.Publish(archive)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, address := range urlsOfStates {
			want := get(t, s, http.StatusOK, address).Body.String()
			if got := get(t, whole, http.StatusOK, address+"date="+day).Body.String(); got != want {
				t.Errorf("%s on %s = %s\nwant %s", address, day, got, want)
			}
		}
	}
}

func TestTheCurrentWeekIsThePreparedAnswer(t *testing.T) {
	s := testServer(t)
	for _, address := range urlsOfStates {
		want := get(t, s, http.StatusOK, address, "Accept-Encoding", "br")
		got := get(t, s, http.StatusOK, address+"date=2026-11-22", "Accept-Encoding", "br")
		if got.Body.String() != want.Body.String() || got.Header().Get("ETag") != want.Header().Get("ETag") {
			t.Errorf("%s of the current week is another answer than that of no week", address)
		}
	}
}

// One observation with a wrong year opens one year of weeks, not all since then. The refusal says what is allowed.
func TestAWeekFarFromAnyObservationIs400(t *testing.T) {
	source := testSource(t)
	wrong := source.observations[0]
	wrong.Date, wrong.MeasuredAt = date(t, "1900-01-01"), time.Time{}
	source.observations = append([]data.Observation{wrong}, source.observations...)
	s := newServer(t, testOptions(t), source)
	for _, address := range append(urlsOfStates, "/api/v1/tiles/3/4/2.png?", "/api/v1/tiles/3/4/2.mvt?", "/api/v1/tiles.json?") {
		for _, day := range []string{"1900-01-07", "1900-12-31", "2026-11-16"} {
			get(t, s, http.StatusOK, address+"date="+day)
		}
		for _, day := range []string{"1899-12-31", "1901-01-07", "1950-06-15", "2026-08-02"} {
			problem := get(t, s, http.StatusBadRequest, address+"date="+day).Body.String()
			if want := "from 1900-01-01 to 2026-11-22, at most 52 weeks after a week with an observation"; !strings.Contains(problem, want) {
				t.Errorf("%s on %s: %s, want %q", address, day, problem, want)
			}
		}
	}
}

func TestAWrongDateIs400(t *testing.T) {
	s := testServer(t)
	for _, address := range urlsOfStates {
		for _, query := range []string{"date=", "date=2026-11-23", "date=2026-08-02", "date=16.11.2026", "date=2026-11-16&date=2026-11-16"} {
			wantProblem(t, do(s, http.MethodGet, address+query), http.StatusBadRequest, "date")
		}
	}
}

func TestAnOldWeekWhileTheStoreIsAwayIs503(t *testing.T) {
	source := longSource(t)
	s := shortServer(t, testOptions(t), source)
	source.err = errors.New("secret: the disk is on fire")
	for _, address := range append([]string{"/api/v1/tiles/0/0/0.png?", "/api/v1/tiles/0/0/0.mvt?"}, urlsOfStates...) {
		w := do(s, http.MethodGet, address+"date=2012-05-07")
		wantProblem(t, w, http.StatusServiceUnavailable)
		if w.Header().Get("Retry-After") == "" || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s: Retry-After %q, body %s, want when to ask again and no word on why", address, w.Header().Get("Retry-After"), w.Body)
		}
		get(t, s, http.StatusOK, address+"date=2026-11-16") // weeks in memory need no store
	}
	source.err = nil
	for _, address := range urlsOfStates {
		want := get(t, newServer(t, testOptions(t), source), http.StatusOK, address+"date=2012-05-07")
		if got := get(t, s, http.StatusOK, address+"date=2012-05-07"); got.Body.String() != want.Body.String() {
			t.Errorf("%s from the store = %s\nfrom memory %s", address, got.Body, want.Body)
		}
	}
}

// TestAnOldWeekOfALaterRevisionIsNotKept requests an old week after an import that the server has not loaded yet, and again
// after the import is undone.
func TestAnOldWeekOfALaterRevisionIsNotKept(t *testing.T) {
	const week = "&date=2012-05-07"
	source := longSource(t)
	s := shortServer(t, testOptions(t), source)
	stats := statsURL + "?by=risk" + week
	want := get(t, shortServer(t, testOptions(t), source), http.StatusOK, stats).Body.String()
	p := s.common.current.Load()
	tilesOfVersion := []string{tileURL + "?v=" + p.state.MapVersion + week, vectorURL + "?v=" + p.state.VectorVersion + week}

	imported := source.observations[0].Chlorophyll
	source.observations[0].Chlorophyll = 90_00
	source.revision.Number++
	if got := get(t, s, http.StatusOK, stats).Body.String(); got == want {
		t.Fatalf("stats after the import = %s, want those of its later revision", got)
	}
	for _, address := range tilesOfVersion {
		if got := get(t, s, http.StatusOK, address).Header().Get("Cache-Control"); got != cacheTile {
			t.Errorf("Cache-Control of %s = %q while the week is of a later revision, want %q", address, got, cacheTile)
		}
	}

	source.observations[0].Chlorophyll = imported
	source.revision.Number--
	if got := get(t, s, http.StatusOK, stats).Body.String(); got != want {
		t.Errorf("stats after the import was undone = %s\nwant %s", got, want)
	}
	for _, address := range tilesOfVersion {
		if got := get(t, s, http.StatusOK, address).Header().Get("Cache-Control"); got != answer.CacheForever {
			t.Errorf("Cache-Control of %s = %q, want %q", address, got, answer.CacheForever)
		}
	}
}

func TestWhatIsFoundIsOfTheNewLakesAfterAnImport(t *testing.T) {
	source := testSource(t)
	s := newServer(t, testOptions(t), source)
	before := s.common.current.Load().lookup
	source.observations[1].Chlorophyll = 9_00
	source.revision.Number++
	if err := s.Publish(testSnapshot(t, source)); err != nil {
		t.Fatal(err)
	}
	if s.common.current.Load().lookup != before {
		t.Error("new values have the names of the same lakes sorted again")
	}
	if r := lakesOf(t, object(t, get(t, s, http.StatusOK, searchURL+"?q=klarer")))["de_by_clean"]; r["chl"] != 9.0 {
		t.Errorf("chl of a found lake = %v, want the new 9", r["chl"])
	}
	source.lakes[0].Name = "Trüber See"
	source.lakes = append(source.lakes, data.Lake{ID: "zz_new", Name: "Neuer See", Point: source.lakes[0].Point})
	if err := s.Publish(testSnapshot(t, source)); err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]string{
		searchURL + "?q=klarer":         "",
		searchURL + "?q=truber":         "de_by_clean",
		nearURL + "?lat=48&lon=11.5":    "de_by_clean zz_new",
		searchURL + "?q=see&limit=1000": "zz_new de_by_clean fj_east de_mv_scum fj_west de_mv_stale de_by_medium",
	} {
		if got := idsOf(t, object(t, get(t, s, http.StatusOK, target))); strings.Contains(target, "limit") {
			if len(strings.Fields(got)) != len(strings.Fields(want)) {
				t.Errorf("%s finds %q, want those of %q", target, got, want)
			}
		} else if got != want {
			t.Errorf("%s finds %q, want %q", target, got, want)
		}
	}
}
