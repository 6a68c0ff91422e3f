package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/render"
	"limnomap/tiles"
)

// germany returns as many lakes as in the contract, spread over Germany, each with a value.
func germany(tb testing.TB) *fakeSource {
	tb.Helper()
	const lakes = 1892
	f := &fakeSource{revision: testSource(tb).revision}
	day := date(tb, "2026-11-16")
	for i := range lakes {
		id := data.LakeID(fmt.Sprintf("de_lake_%04d", i))
		// Steps of the golden ratio spread evenly; files of lakes have four decimals.
		lon, lat := 6+float64(i*6180%90000)/1e4, 47.3+float64(i*3820%76000)/1e4
		f.lakes = append(f.lakes, data.Lake{ID: id, Name: fmt.Sprintf("Größerer See Nr. %d", i), Point: orb.Point{lon, lat}})
		f.observations = append(f.observations, data.Observation{
			LakeID: id, Date: day, Chlorophyll: data.Chlorophyll(i * 7919 % 15000), Level: data.NoLevel, CellDensity: data.NoCellDensity,
		})
	}
	return f
}

// BenchmarkPublish publishes snapshots with new values, for which all answers are prepared, and with new forecasts only.
func BenchmarkPublish(b *testing.B) {
	source := germany(b)
	one, other := testSnapshot(b, source), testSnapshot(b, source)
	for _, bench := range []struct {
		name  string
		snaps [2]*snapshot.Snapshot // in turns
	}{{"new", [2]*snapshot.Snapshot{one, other}}, {"forecasts", [2]*snapshot.Snapshot{one, one}}} {
		b.Run(bench.name, func(b *testing.B) {
			s := newServer(b, testOptions(b), nil)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if err := s.Publish(bench.snaps[i%2]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A nullWriter is a connection that costs nothing, so that only our own allocations are counted.
type nullWriter struct{ header http.Header }

func (w *nullWriter) Header() http.Header         { return w.header }
func (w *nullWriter) WriteHeader(int)             {}
func (w *nullWriter) Write(b []byte) (int, error) { return len(b), nil }

func BenchmarkServe(b *testing.B) {
	opts := testOptions(b)
	opts.Tiles = &heldTiles{tiles.Tile{Bytes: make([]byte, 4096), ETag: "7e57", Note: new(tiles.Note)}}
	s := newServer(b, opts, germany(b))
	for _, bench := range []struct {
		name, target string
		headers      []string
	}{
		{"status", statusURL, nil},
		{"status/br", statusURL, []string{"Accept-Encoding", "br"}},
		{"status/304", statusURL, []string{"If-None-Match", do(s, http.MethodGet, statusURL).Header().Get("ETag")}},
		{"geojson", "/api/v1/bathing-lakes/geojson", nil},
		{"filtered", statusURL + "?min_lat=48", nil},
		{"filtered/zstd", statusURL + "?min_lat=48", []string{"Accept-Encoding", "zstd"}},
		{"tile", tileURL, nil},
		{"tile/ogc", ogcTileURL, nil},
		{"tile/versioned", tileURL + "?v=" + s.common.current.Load().state.MapVersion, nil},
	} {
		b.Run(bench.name, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, bench.target, nil)
			for i := 0; i < len(bench.headers); i += 2 {
				r.Header.Set(bench.headers[i], bench.headers[i+1])
			}
			w := &nullWriter{header: make(http.Header)}
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				s.ServeHTTP(w, r)
			}
		})
	}
}

// BenchmarkMap requests a tile and pictures of 1,024 x 1,024 pixels of about its zoom, none of which is kept: on the grid of the zoom, beside it, and in UTM.
func BenchmarkMap(b *testing.B) {
	opts := testOptions(b)
	service, err := tiles.New(render.New(opts.Limits), &tiles.Options{MemoryBytes: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer service.Close()
	opts.Tiles, opts.Styles, opts.TileRate, opts.APIRate = service, render.Styles(), 0, 0
	s := newServer(b, opts, germany(b))
	const edge, zoom = 20037508.342789244, 7
	side := 2 * edge / (1 << zoom)
	getMap := "/wms?service=WMS&version=1.3.0&request=GetMap&layers=chlorophyll&styles=&width=1024&height=1024&format=image/png&transparent=true&crs="
	box := func(x, y float64) string {
		west, north := (66+x)*side-edge, edge-(40+y)*side
		return fmt.Sprintf("EPSG:3857&bbox=%f,%f,%f,%f", west, north-4*side, west+4*side, north)
	}
	w := &nullWriter{header: make(http.Header)}
	for _, bench := range []struct{ name, target string }{
		{"tile", fmt.Sprintf("/api/v1/tiles/%d/67/41.png", zoom)}, {"grid", getMap + box(0, 0)}, {"beside", getMap + box(0.37, 0.21)}, {"utm", getMap + "EPSG:25832&bbox=300000,5300000,900000,5900000"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			get(b, s, http.StatusOK, bench.target)
			r := httptest.NewRequest(http.MethodGet, bench.target, nil)
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				s.ServeHTTP(w, r)
			}
		})
	}
}

// BenchmarkCachedTile requests tiles of zoom 6 to 8 in turn, which the real tile service has in memory: a hit with the
// fingerprint of its lakes.
func BenchmarkCachedTile(b *testing.B) {
	opts := testOptions(b)
	service, err := tiles.New(render.New(opts.Limits), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer service.Close()
	opts.Tiles, opts.Styles = service, render.Styles()
	s := newServer(b, opts, germany(b))
	var requests []*http.Request
	for _, lake := range s.common.current.Load().snap.Lakes[:20] {
		for z := maptile.Zoom(6); z <= 8; z++ {
			t := maptile.At(lake.Point, z)
			target := fmt.Sprintf("/api/v1/tiles/%d/%d/%d.png", t.Z, t.X, t.Y)
			get(b, s, http.StatusOK, target) // draws it
			requests = append(requests, httptest.NewRequest(http.MethodGet, target, nil))
		}
	}
	w := &nullWriter{header: make(http.Header)}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		clear(w.header)
		s.ServeHTTP(w, requests[i%len(requests)])
	}
}

// world returns that many lakes, spread over the globe.
func world(tb testing.TB, lakes int) *fakeSource {
	tb.Helper()
	f := &fakeSource{revision: testSource(tb).revision}
	for i := range lakes {
		id := data.LakeID(fmt.Sprintf("SIM_%03d_%07d", i/10_000, i))
		lon, lat := float64(i*6180%360000)/1e3-180, float64(i*3820%130000)/1e3-55
		f.lakes = append(f.lakes, data.Lake{
			ID: id, Name: fmt.Sprintf("Größerer See Nr. %d", i), Point: orb.Point{lon, lat}, Region: fmt.Sprint("Region ", i/10_000),
		})
		for week := range 2 {
			f.observations = append(f.observations, data.Observation{
				LakeID: id, Date: date(tb, "2026-11-09") + data.Date(7*week), Chlorophyll: data.Chlorophyll((i + week) * 7919 % 15000),
				Level: data.NoLevel, CellDensity: data.NoCellDensity,
			})
		}
	}
	return f
}

// BenchmarkOnDemand requests answers that are not prepared, with as many lakes as in Germany and as in the world.
func BenchmarkOnDemand(b *testing.B) {
	for _, lakes := range []int{1892, 1_400_000} {
		s := newServer(b, testOptions(b), world(b, lakes))
		for _, bench := range []struct{ name, target string }{
			{"near", nearURL + "?lat=%d.3&lon=%d.7&radius_km=500"},
			{"search", searchURL + "?q=see+nr+%d%d"},
			{"search/nowhere", searchURL + "?q=nowhere+%d%d"},
			{"stats", statsURL + "?by=region&nothing=%d%d"},
			{"status/date", statusURL + "?date=2026-11-09&nothing=%d%d"},
			{"status/date/box", statusURL + "?date=2026-11-09&min_lat=%d&max_lon=%d"},
			{"geojson/date", geoJSONURL + "?date=2026-11-09&nothing=%d%d"},
			{"items", fmt.Sprintf(itemsURL, "lakes") + "?limit=1000&after=" + string(s.common.current.Load().snap.Lakes[lakes*5/7].ID) + "%d%d"},
			{"items/filter", fmt.Sprintf(itemsURL, "lakes") + "?limit=1000&filter=chl+BETWEEN+%d+AND+%d"},
			{"items/sortby", fmt.Sprintf(itemsURL, "lakes") + "?limit=100&sortby=-chl&bbox=-180,-90,1%d,80.%d"},
			{"status.csv", statusURL + ".csv?nothing=%d%d"},
		} {
			b.Run(fmt.Sprintf("%s/%d", bench.name, lakes), func(b *testing.B) {
				w := &nullWriter{header: make(http.Header)}
				var requests []*http.Request
				for i := range 50 {
					requests = append(requests, httptest.NewRequest(http.MethodGet, fmt.Sprintf(bench.target, i, i*3), nil))
				}
				took := make([]time.Duration, 0, 1<<16)
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					clear(w.header)
					start := time.Now()
					s.ServeHTTP(w, requests[i%len(requests)])
					if len(took) < cap(took) {
						took = append(took, time.Since(start))
					}
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2])/1e6, "p50-ms")
				b.ReportMetric(float64(took[len(took)*99/100])/1e6, "p99-ms")
			})
		}
		// The stats above are kept; this is the cost of counting.
		p := s.common.current.Load()
		for _, by := range snapshot.Groupings() {
			b.Run(fmt.Sprintf("count/%s/%d", by, lakes), func(b *testing.B) {
				for b.Loop() {
					statsBody(p.snap, p.snap.Current, by)
				}
			})
		}
	}
}
