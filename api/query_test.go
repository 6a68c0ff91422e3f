package api

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"limnomap/api/answer"
)

// FuzzQuery sends any query to each endpoint whose answers are not prepared: the result is a readable answer, or a problem that
// names a parameter.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{
		"", "date=2026-11-08", "date=2026-11-08&date=x", "date=9999-12-31", "date=-001-01-01",
		"lat=90&lon=-180&radius_km=20016&limit=1000", "lat=48&lon=11.5&radius_km=0", "lat=NaN&lon=1e999", "lat=-0&lon=%2B0",
		"q=see", "q=%F0%9F%8F%8A", "q=%FF", "q=M%C3%BCggel+see", "q=i%CC%87&limit=1", "q=%EF%B7%BA", "q=%00", "q=" + strings.Repeat("%C3%9F", 201),
		"by=risk", "by=trophic&date=2026-08-03", "by=", "from=2026-01-01&to=2026-12-31&data_type=ai_forecast&limit=5200",
		"from=2026-11-08&to=2026-11-07", "limit=%2B1", "limit=-1", "risk=high&min_lon=179&max_lon=-179", "%zz=1&lat=%zz", "&&=;",
	} {
		f.Add(seed)
	}
	s := testServer(f)
	addresses := []string{historyURL + "de_by_clean", historyURL + "de_by_clean.csv"}
	for _, address := range urlsOfStates {
		path, _, _ := strings.Cut(address, "?")
		addresses = append(addresses, path)
	}
	f.Fuzz(func(t *testing.T, query string) {
		for _, address := range addresses {
			r := httptest.NewRequest(http.MethodGet, address, nil)
			r.URL.RawQuery = query
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			switch {
			case w.Code == http.StatusOK && strings.HasSuffix(address, ".csv"):
				if _, err := csv.NewReader(w.Body).ReadAll(); err != nil {
					t.Errorf("%s?%q: %v", address, query, err)
				}
			case w.Code == http.StatusOK:
				if !json.Valid(w.Body.Bytes()) {
					t.Errorf("%s?%q = %s", address, query, w.Body)
				}
			default:
				var p struct{ Errors []answer.ParameterError }
				if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != http.StatusBadRequest || len(p.Errors) == 0 {
					t.Errorf("%s?%q = %d %s, want 200 or 400 that names a parameter", address, query, w.Code, w.Body)
				}
				for _, e := range p.Errors {
					if e.Parameter == "" || e.Detail == "" || len(e.Detail) > 512 {
						t.Errorf("%s?%q: %+v", address, query, e)
					}
				}
			}
		}
	})
}
