package api

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"limnomap/data"
)

// For any Accept-Language, the language of the table is one of ours, and is found quickly.
func FuzzAcceptLanguage(f *testing.F) {
	for _, seed := range []string{"", "de-AT,de;q=0.9,en;q=0.1", "*", "x-y-z", strings.Repeat("de,", 1000), "de;q=NaN", "\xff", strings.Repeat("a-", 500)} {
		f.Add(seed)
	}
	s := testServer(f)
	f.Fuzz(func(t *testing.T, accept string) {
		r := httptest.NewRequest("GET", "/table", nil)
		r.Header["Accept-Language"] = []string{accept}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if got := w.Header().Get("Content-Language"); w.Code != http.StatusOK || !slices.Contains([]string{"de", "en"}, got) {
			t.Fatalf("Accept-Language %q: status %d, Content-Language %q", accept, w.Code, got)
		}
	})
}

// For any id the page of a lake is there or is not found, and its bytes are in one language.
func FuzzLakePage(f *testing.F) {
	for _, seed := range []string{"de_by_clean", "de_mv_never", "nowhere", "", "..", "%00", "de_by_clean/", "de_by_clean%2F", "a b", "<script>", strings.Repeat("a", 300)} {
		f.Add(seed)
	}
	s := testServer(f)
	f.Fuzz(func(t *testing.T, id string) {
		r := httptest.NewRequest("GET", "/", nil)
		r.URL.Path = "/lakes/" + id
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		switch _, known := s.common.current.Load().snap.Index(data.LakeID(id)); {
		case known && w.Code == http.StatusOK:
		case known || w.Code != http.StatusNotFound:
			t.Fatalf("id %q: status %d", id, w.Code)
		}
	})
}

// Any query of features, a map or WMS is answered or refused, and never an error of the server.
func FuzzMapsAndFeatures(f *testing.F) {
	for _, seed := range []string{
		"lakes|bbox=11,48,13,54&datetime=2026-11-01/..&filter=chl>5&sortby=-chl&limit=2", "observations|after=de_by_clean:2026-11-16:satellite:-&crs=EPSG:3035", "events|bbox=179,-20,-179,-10&f=csv",
		"map|bbox=11,48,13,54&width=9&crs=EPSG:25832", "map|bbox=-180,-90,180,90&bbox-crs=EPSG:4326&height=3", "map|bbox=1e300,1,2e300,2&bbox-crs=EPSG:3857&width=1&height=1",
		"wms|service=WMS&version=1.3.0&request=GetMap&layers=chlorophyll&styles=&crs=EPSG:4326&bbox=48,11,54,13&width=5&height=5&format=image/png&time=current",
		"wms|version=1.1.1&request=GetFeatureInfo&layers=chlorophyll&query_layers=chlorophyll&srs=EPSG:3035&bbox=4300000,2700000,4500000,2900000&width=5&height=5&x=1&y=1",
	} {
		f.Add(seed)
	}
	s := featureServer(f)
	f.Fuzz(func(t *testing.T, asked string) {
		what, query, _ := strings.Cut(asked, "|")
		r := httptest.NewRequest("GET", "/", nil)
		switch r.URL.Path = "/ogc/collections/" + what + "/items"; what {
		case "map":
			r.URL.Path = pathMap
		case "wms":
			r.URL.Path = "/wms"
		}
		r.URL.RawQuery = query
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code >= http.StatusInternalServerError {
			t.Fatalf("%s: %d %s", asked, w.Code, w.Body)
		}
	})
}
