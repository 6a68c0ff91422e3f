package api

import (
	"net/http"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/snapshot"
)

// No cache may use an answer about the present after an official statement has begun or ended.
func TestAnswersUntilAStatementChanges(t *testing.T) {
	f := testSource(t)
	ends := testNow().Add(25 * time.Second)
	f.advisories = []data.Advisory{{ID: "a", LakeID: "de_by_clean", Kind: data.Closure, Issuer: "Amt",
		Issued: testNow().Add(-time.Hour), ValidFrom: testNow().Add(-time.Hour), ValidUntil: ends}}
	now := testNow()
	opts := testOptions(t)
	opts.Now = func() time.Time { return now }
	s := newServer(t, opts, nil)
	snap, err := snapshot.Load(t.Context(), f, &snapshot.Options{Present: data.ByClock(opts.Now)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Publish(snap); err != nil {
		t.Fatal(err)
	}
	const lakes = "/api/v1/bathing-lakes/"
	for _, address := range []string{lakes + "status", lakes + "status.csv", lakes + "status?risk=low", lakes + "geojson", lakes + "near?lat=48&lon=11",
		lakes + "search?q=see", lakes + "stats", lakes + "advisories", "/api/v1/advisories.cap", "/api/v1/advisories/a.cap", "/table", "/api/v1/tiles.json",
		"/wmts/1.0.0/WMTSCapabilities.xml", "/wmts?service=WMTS&request=GetCapabilities", "/ogc/map/tiles", "/ogc/",
		"/api/v1/tiles/5/17/11.png?style=dots", "/api/v1/tiles/5/17/11.mvt"} {
		for at, want := range map[time.Time]string{
			testNow():                         "public, max-age=25",
			ends.Add(-500 * time.Millisecond): "no-cache",
		} {
			now = at
			if got := get(t, s, http.StatusOK, address).Header().Get("Cache-Control"); got != want {
				t.Errorf("%s, %s before the end: Cache-Control %q, want %q", address, ends.Sub(at), got, want)
			}
		}
	}
	now = testNow()
	versioned := "/api/v1/tiles/5/17/11.png?style=dots&v=" + s.handlers.lakes.current.Load().state.MapVersion
	if got := get(t, s, http.StatusOK, versioned).Header().Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
		t.Errorf("a tile with a version: Cache-Control %q", got)
	}
	now = ends.Add(-time.Minute)
	if got := get(t, s, http.StatusOK, lakes+"status").Header().Get("Cache-Control"); got != "public, max-age=60" {
		t.Errorf("a minute before the end: Cache-Control %q", got)
	}
}
