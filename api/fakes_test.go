package api

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/api/answer"
	"limnomap/api/sign"
	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/apikey"
	"limnomap/data/snapshot"
	"limnomap/render/palettepng"
	"limnomap/render/symbol"
	"limnomap/tiles"
)

// A fakeSource is a source in memory, and a Historian.
type fakeSource struct {
	snapshot.NoPixels
	revision     data.Revision
	lakes        []data.Lake
	observations []data.Observation
	advisories   []data.Advisory
	issues       []fakeIssue // the newest first
	test         data.ForecastTest
	err          error // of History, Past and of what is read of forecasts later
}

// A fakeIssue is an issue of the forecast, in ascending order of lake.
type fakeIssue struct {
	data.ForecastIssue
	lakes []data.LakeForecast
}

// issue returns the issue of a day, the newest if it is absent.
func (f *fakeSource) issue(issued data.Optional[data.Date]) (*fakeIssue, error) {
	for i := range f.issues {
		if !issued.Known || f.issues[i].Issued == issued.Value {
			return &f.issues[i], nil
		}
	}
	return nil, data.ErrNoForecast
}

func (f *fakeSource) Forecasts(ctx context.Context, issued data.Optional[data.Date], each func(data.LakeForecast) error) (data.ForecastIssue, data.Revision, error) {
	if issued.Known && f.err != nil {
		return data.ForecastIssue{}, data.Revision{}, f.err
	}
	issue, err := f.issue(issued)
	if err != nil {
		return data.ForecastIssue{}, f.revision, err
	}
	for _, l := range issue.lakes {
		if err := each(l); err != nil {
			return data.ForecastIssue{}, f.revision, err
		}
	}
	return issue.ForecastIssue, f.revision, ctx.Err()
}

func (f *fakeSource) LakeForecast(_ context.Context, id data.LakeID, issued data.Date) (data.ForecastIssue, data.LakeForecast, error) {
	if f.err != nil {
		return data.ForecastIssue{}, data.LakeForecast{}, f.err
	}
	issue, err := f.issue(data.Known(issued))
	if err != nil {
		return data.ForecastIssue{}, data.LakeForecast{}, err
	}
	for _, l := range issue.lakes {
		if l.LakeID == id {
			return issue.ForecastIssue, l, nil
		}
	}
	return data.ForecastIssue{}, data.LakeForecast{}, data.ErrNoForecast
}

func (f *fakeSource) ForecastIssues(context.Context) (issues []data.ForecastIssue, err error) {
	for i := range f.issues {
		issues = append(issues, f.issues[i].ForecastIssue)
	}
	return issues, f.err
}

func (f *fakeSource) ForecastTest(context.Context) (data.ForecastTest, error) { return f.test, nil }

func (f *fakeSource) Revision(context.Context) (data.Revision, error) { return f.revision, nil }

func (f *fakeSource) Scan(_ context.Context, lake func(data.Lake) error, observation func(data.Observation) error) (data.Revision, error) {
	for _, l := range f.lakes {
		if err := lake(l); err != nil {
			return data.Revision{}, err
		}
	}
	for _, o := range f.observations {
		if err := observation(o); err != nil {
			return data.Revision{}, err
		}
	}
	return f.revision, nil
}

func (f *fakeSource) Advisories(context.Context) ([]data.Advisory, data.Revision, error) {
	return f.advisories, f.revision, nil
}

func (f *fakeSource) Past(_ context.Context, period data.Period, observation func(data.Observation) error) (data.Revision, error) {
	if f.err != nil {
		return data.Revision{}, f.err
	}
	for _, l := range f.lakes {
		var rows []data.Observation
		for _, o := range f.observations {
			switch {
			case o.LakeID != l.ID || o.Type != data.Satellite || o.Date > period.Last:
			case o.Date >= period.First:
				rows = append(rows, o)
			case o.Chlorophyll.Valid():
				rows = []data.Observation{o} // the newest before the period so far
			}
		}
		for _, o := range rows {
			if err := observation(o); err != nil {
				return data.Revision{}, err
			}
		}
	}
	return f.revision, nil
}

func (f *fakeSource) History(ctx context.Context, id data.LakeID, q data.HistoryQuery) (data.Lake, []data.Observation, error) {
	if f.err != nil {
		return data.Lake{}, nil, f.err
	}
	for _, l := range f.lakes {
		if l.ID != id {
			continue
		}
		rows := q.Rows()
		for i := len(f.observations) - 1; i >= 0; i-- {
			if f.observations[i].LakeID == id {
				rows.Add(f.observations[i])
			}
		}
		return l, rows.Picked(), ctx.Err()
	}
	return data.Lake{}, nil, fmt.Errorf("lake %q: %w", id, data.ErrNoLake)
}

// A fakeTiles returns tiles that contain their request.
type fakeTiles struct {
	err   error
	mu    sync.Mutex    // of asked and week; tests read them when no request is running
	asked tiles.Request // of a picture; of a vector tile only the address
	week  data.Week
	leave context.CancelFunc // called before the answer, as if the client left

	prepared, preparedVectors []*snapshot.View
}

func (f *fakeTiles) Tile(ctx context.Context, v *snapshot.Values, req tiles.Request) (tiles.Tile, error) {
	f.mu.Lock()
	f.asked, f.week = req, v.Week
	f.mu.Unlock()
	if f.leave != nil {
		f.leave()
		return tiles.Tile{}, fmt.Errorf("tile: %w", ctx.Err())
	}
	if f.err != nil {
		return tiles.Tile{}, fmt.Errorf("tile %v: %w", req, f.err)
	}
	picture, err := fakePicture(req.Scale)
	return tiles.Tile{Bytes: fmt.Appendf(picture, "%v %s", req, v.Week), ETag: "7e57"}, err // what follows the picture in a PNG file is ignored
}

// Paint returns a picture of one colour.
func (f *fakeTiles) Paint(_ context.Context, v *snapshot.Values, req tiles.Request, part image.Rectangle) (tiles.Painting, error) {
	f.mu.Lock()
	f.asked, f.week = req, v.Week
	f.mu.Unlock()
	if f.err != nil {
		return tiles.Painting{}, f.err
	}
	return tiles.Painting{Pixels: bytes.Repeat([]byte{1}, part.Dx()*part.Dy()), Width: part.Dx(), Palette: &palettepng.Palette{1: {R: 200, A: 128}}}, nil
}

// fakePicture returns a picture of one colour of the size of a tile.
func fakePicture(scale int) ([]byte, error) {
	var b bytes.Buffer
	err := png.Encode(&b, image.NewPaletted(image.Rect(0, 0, 256*scale, 256*scale), color.Palette{color.NRGBA{200, 0, 0, 128}}))
	return b.Bytes(), err
}

// Prepare and PrepareVectors remember what is prepared.
func (f *fakeTiles) Prepare(v *snapshot.View) { f.prepared = append(f.prepared, v) }

func (f *fakeTiles) Affords(*snapshot.Values) bool { return true }

func (f *fakeTiles) PrepareVectors(v *snapshot.View) {
	f.preparedVectors = append(f.preparedVectors, v)
}

// Vector returns a compressed tile that contains its request.
func (f *fakeTiles) Vector(ctx context.Context, v *snapshot.View, t maptile.Tile) (tiles.Tile, error) {
	f.mu.Lock()
	f.asked, f.week = tiles.Request{Tile: t}, v.Week
	f.mu.Unlock()
	if f.err != nil {
		return tiles.Tile{}, fmt.Errorf("vector tile %v: %w", t, f.err)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	fmt.Fprintf(z, "%v %s", t, v.Week)
	if err := z.Close(); err != nil {
		return tiles.Tile{}, err
	}
	return tiles.Tile{Bytes: b.Bytes(), ETag: "7e57"}, nil
}

// fakeLegends counts the legends that it draws, and how many at a time.
type fakeLegends struct{ drawn, drawing, together atomic.Int32 }

func (f *fakeLegends) draw() {
	f.drawn.Add(1)
	if n := f.drawing.Add(1); n > f.together.Load() {
		f.together.Store(n)
	}
	runtime.Gosched()
	f.drawing.Add(-1)
}

func (f *fakeLegends) LegendPNG(m *colormap.Map, look tiles.Look, language string, width, scale int) ([]byte, error) {
	f.draw()
	var b bytes.Buffer
	err := png.Encode(&b, image.NewPaletted(image.Rect(0, 0, width*scale, 10), color.Palette{color.Black}))
	return fmt.Appendf(b.Bytes(), "%s %d %d in %s%s", m.ID, width, scale, language, labels(look.Signs)), err
}

func (f *fakeLegends) LegendSVG(m *colormap.Map, look tiles.Look, language string, width int) ([]byte, error) {
	f.draw()
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" width="%d"><!-- %s in %s %s%s --></svg>`,
		width, m.ID, language, strings.Repeat("x", 1024), labels(look.Signs)), nil
}

func (f *fakeLegends) Legend(m *colormap.Map, signs []tiles.Sign, language string) (any, error) {
	if m.ID == colormap.Forecast {
		return m.ForecastLegend(), nil
	}
	l := tiles.Legend{Legend: m.Legend(), Signs: signs}
	if language != "en" {
		l.Note = "in " + language
	}
	return l, nil
}

// fakePictures writes what a picture would say.
type fakePictures struct{}

func (*fakePictures) Badge(m *colormap.Map, v *sign.Verdict) ([]byte, error) {
	var text bytes.Buffer
	if err := xml.EscapeText(&text, []byte(v.Name+": "+v.Line())); err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg"><title>%s</title><!-- %s %s %t %t --></svg>`, text.Bytes(), m.ID, v.Class, v.Worse, v.Old), nil
}

func (*fakePictures) Preview(m *colormap.Map, p *PreviewPicture) ([]byte, error) {
	return fmt.Appendf(nil, "\x89PNG\r\n\x1a\n%s %s|%s|%s|%s|%s|%d", m.ID, p.Name, p.Line(), p.Day, p.Credits, p.Notice, len(p.Map)), nil
}

// labels returns the texts of signs, each after a bar.
func labels(signs []tiles.Sign) string {
	var b strings.Builder
	for _, sign := range signs {
		b.WriteString("|" + sign.Label)
	}
	return b.String()
}

// fakeKeys is a store of keys that can fail.
type fakeKeys struct {
	keys []apikey.Key
	err  error
}

func (f *fakeKeys) Keys(context.Context) ([]apikey.Key, error) { return f.keys, f.err }

// The keys of the tests: two that work and two that do not.
const (
	goodKey    = "good-key"
	metricsKey = "metrics-key" // works, but not for the monitoring endpoint
	otherKey   = "other-key"
	revokedKey = "revoked-key"
	expiredKey = "expired-key"
)

func testKeys() *fakeKeys {
	keys := &fakeKeys{}
	for _, text := range []string{goodKey, metricsKey, otherKey, revokedKey, expiredKey} {
		key := apikey.Key{Name: text, Hash: sha256.Sum256([]byte(text)), Scopes: apikey.ScopeMonitor, CreatedAt: testNow().AddDate(-1, 0, 0)}
		switch text {
		case metricsKey:
			key.Scopes = apikey.ScopeMetrics
		case revokedKey:
			key.RevokedAt = testNow().AddDate(0, 0, -1)
		case expiredKey:
			key.ExpiresAt = testNow().AddDate(0, 0, -1)
		}
		keys.keys = append(keys.keys, key)
	}
	return keys
}

// testNow is the time of all tests: a Friday.
func testNow() time.Time { return time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC) }

// date reads a date of a test.
func date(tb testing.TB, s string) data.Date {
	tb.Helper()
	d, err := data.ParseDate(s)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// testSource has a lake of each sort: clean, greenish, green, with scum, once measured, never measured, and two at the
// antimeridian.
func testSource(tb testing.TB) *fakeSource {
	tb.Helper()
	f := &fakeSource{
		revision: data.Revision{Number: 3, ChangedAt: time.Date(2026, time.November, 19, 6, 30, 0, 0, time.UTC)},
		lakes: []data.Lake{
			{ID: "de_by_clean", ExternalID: "Z-1", Name: "Klarer See", Point: orb.Point{11.5, 48}},
			{ID: "de_by_medium", ExternalID: "Y-2", Name: `Grüner "See" <&>`, Point: orb.Point{12, 48.5}},
			{ID: "de_mv_high", ExternalID: "X-3", Name: "Müritz", Point: orb.Point{12.7, 53.4}},
			{ID: "de_mv_never", ExternalID: "W-4", Name: "Unbekannt", Point: orb.Point{12.9, 53.5}},
			{ID: "de_mv_scum", ExternalID: "V-5", Name: "Schlierensee", Point: orb.Point{12.8, 53.6}},
			{ID: "de_mv_stale", ExternalID: "U-6", Name: "Wolkensee", Point: orb.Point{13, 53.7}},
			{ID: "fj_east", ExternalID: "T-7", Name: "Ostsee auf Taveuni", Point: orb.Point{179.5, -16.8}},
			{ID: "fj_west", ExternalID: "S-8", Name: "Westsee", Point: orb.Point{-179.5, -16.9}},
		},
	}
	gap := data.NoChlorophyll
	for _, o := range []struct {
		lake, date string
		chl        data.Chlorophyll
		level      data.Level
		density    float64
		kind       data.DataType
	}{
		{"de_by_clean", "2026-11-02", 2_00, data.NoLevel, data.NoCellDensity, data.Satellite},
		{"de_by_clean", "2026-11-16", 3_45, data.NoLevel, data.NoCellDensity, data.Satellite},
		{"de_by_clean", "2026-11-23", 4_00, data.NoLevel, data.NoCellDensity, data.Forecast},
		{"de_by_medium", "2026-11-09", 10_00, data.NoLevel, data.NoCellDensity, data.Satellite},
		{"de_by_medium", "2026-11-16", gap, data.NoLevel, data.NoCellDensity, data.Satellite},
		{"de_mv_high", "2026-11-16", 61_20, data.NoLevel, 250000, data.Satellite},
		{"de_mv_scum", "2026-11-16", 8_00, 3, data.NoCellDensity, data.Satellite},
		{"de_mv_stale", "2026-08-03", 55_00, data.NoLevel, data.NoCellDensity, data.Satellite},
		{"fj_east", "2026-11-16", 1_00, data.NoLevel, data.NoCellDensity, data.Satellite},
		{"fj_west", "2026-11-16", 20_00, data.NoLevel, data.NoCellDensity, data.Satellite},
	} {
		f.observations = append(f.observations, data.Observation{
			LakeID: data.LakeID(o.lake), Date: date(tb, o.date), Type: o.kind,
			Chlorophyll: o.chl, Level: o.level, CellDensity: o.density,
		})
	}
	return f
}

// forecastSource is testSource with two issues of the forecast and a test of it. One lake has all weeks, one is out of season in two, one
// has a value that is too old, and the others have none.
func forecastSource(tb testing.TB) *fakeSource {
	tb.Helper()
	f := testSource(tb)
	f.revision.Forecasts = 7
	f.lakes[0].Region, f.lakes[2].Region = "Bayern", "Mecklenburg"
	week := func(chl, sigma float64) data.StoredForecast {
		return data.StoredForecast{Chl: data.TenThousandths(chl * 1e4), Sigma: data.TenThousandths(sigma * 1e4)}
	}
	for _, issued := range []string{"2026-11-16", "2026-11-09"} {
		issue := fakeIssue{ForecastIssue: data.ForecastIssue{Issued: date(tb, issued), Model: "limnomap-1", Weeks: data.ForecastWeeks, Input: 3}}
		issue.lakes = []data.LakeForecast{
			{LakeID: "de_by_clean", BasedOn: issue.Issued, Weeks: [data.ForecastWeeks]data.StoredForecast{week(3.5, 0.5), week(4, 0.6), week(4.5, 0.7), week(5, 0.8)}},
			{LakeID: "de_mv_high", BasedOn: issue.Issued - 7, Weeks: [data.ForecastWeeks]data.StoredForecast{week(55.125, 0.4), week(50, 0.5)}},
			{LakeID: "de_mv_stale", BasedOn: date(tb, "2026-08-03"), Withheld: 2},
		}
		for i := range issue.lakes {
			issue.Counts.Add(&issue.lakes[i])
		}
		f.issues = append(f.issues, issue)
	}
	f.issues[1].lakes[0].Weeks[0] = week(2.5, 0.5)
	one := data.WeekSkill{Lakes: 300, Pairs: 4000, RMSE: 0.6, Persistence: 0.8, Coverage: 0.79}
	other := data.WeekSkill{Lakes: 20, Pairs: 250, RMSE: 0.66, Persistence: 0.6, Coverage: 0.75}
	f.test = data.ForecastTest{Model: "limnomap-1", Date: data.Known(date(tb, "2026-11-02")), Skill: []data.ForecastSkill{
		{All: true, Weeks: [data.ForecastWeeks]data.WeekSkill{one, one, one, one}},
		{Region: "Bayern", Weeks: [data.ForecastWeeks]data.WeekSkill{other}},
	}}
	return f
}

// testSnapshot loads f as of testNow.
func testSnapshot(tb testing.TB, f *fakeSource) *snapshot.Snapshot {
	tb.Helper()
	return snapshotAt(tb, f, testNow())
}

// snapshotAt loads f as of a time.
func snapshotAt(tb testing.TB, f *fakeSource, now time.Time) *snapshot.Snapshot {
	tb.Helper()
	snap, err := snapshot.Load(context.Background(), f, &snapshot.Options{Present: data.ByClock(func() time.Time { return now })})
	if err != nil {
		tb.Fatal(err)
	}
	return snap
}

// testOptions are options with fakes, which a test may change.
func testOptions(tb testing.TB) Options {
	tb.Helper()
	return Options{
		DataOptions: DataOptions{Historian: testSource(tb)},
		MapOptions: MapOptions{Tiles: &fakeTiles{}, Legends: &fakeLegends{}, Pictures: &fakePictures{}, Styles: []tiles.Style{
			{ID: "heat", Title: "Heat map", Description: "The value as a surface."},
			{ID: "dots", Title: "Dots", Description: "A marker for each lake.", Look: tiles.Look{Kind: symbol.Markers, Signs: []tiles.Sign{
				{ID: "closed", Label: "Closed by an official statement"}, {ID: "worse", Label: "Level worse than the colour: cells or report"},
			}}},
		}, Limits: colormap.Limits{Title: "WHO 2003", Level1: 10, Level2: 50}, RendererVersion: "1", MaxZoom: 18},
		PageOptions: PageOptions{Page: fstest.MapFS{
			"index.html":         {Data: []byte("<!doctype html><title>limnomap</title>")},
			"docs.html":          {Data: []byte("<!doctype html><title>limnomap, interface</title>")},
			"embed.html":         {Data: []byte("<!doctype html><title>limnomap, embedded</title>")},
			"assets/app-1234.js": {Data: []byte(strings.Repeat("// a script\n", 200))},
			"outline.geojson":    {Data: []byte(`{"type":"FeatureCollection","features":[]}`)},
			"images/marker.png":  {Data: []byte("\x89PNG" + strings.Repeat(" ", 2000))},
			".keep":              {},
		}, Templates: os.DirFS("../web"), BasemapURL: "https://tile.example.org/{z}/{x}/{y}.png", BasemapAttribution: "© Example"},
		AccessOptions: AccessOptions{Keys: testKeys(), AdminHosts: []string{"example.com"}}, // that of httptest
		Adjustable:    Adjustable{Attribution: "Example Agency"},
		Now:           testNow,
	}
}

// newServer returns a server with those options that has published f.
func newServer(tb testing.TB, opts Options, f *fakeSource) *Server {
	tb.Helper()
	s, err := New(opts)
	if err != nil {
		tb.Fatal(err)
	}
	if f != nil {
		if err := s.Publish(snapshotAt(tb, f, opts.Now())); err != nil {
			tb.Fatal(err)
		}
		s.FinishLists()
	}
	return s
}

// longSource is testSource with a history of many years for one of its lakes.
func longSource(tb testing.TB) *fakeSource {
	tb.Helper()
	f := testSource(tb)
	var old []data.Observation
	for i, day := range []string{"2012-05-07", "2012-05-14", "2013-01-07", "2019-07-01"} {
		old = append(old, data.Observation{
			LakeID: "de_by_clean", Date: date(tb, day), Type: data.Satellite,
			Chlorophyll: data.Chlorophyll(20_00 + i), Level: data.NoLevel, CellDensity: data.NoCellDensity,
		})
	}
	f.observations = append(old, f.observations...) // that lake is the first
	return f
}

// shortServer returns a server that has published longSource and holds only its newest week: older ones are in source.
func shortServer(tb testing.TB, opts Options, source *fakeSource) *Server {
	tb.Helper()
	s := newServer(tb, opts, nil)
	publishShort(tb, s, source)
	return s
}

// publishShort publishes a source of which the server holds only the newest week.
func publishShort(tb testing.TB, s *Server, source snapshot.Source) {
	tb.Helper()
	snap, err := snapshot.Load(tb.Context(), source, &snapshot.Options{Present: data.ByClock(testNow), Weeks: 1})
	if err == nil {
		err = s.Publish(snap)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// testServer returns a server with the usual fakes.
func testServer(tb testing.TB) *Server {
	tb.Helper()
	return newServer(tb, testOptions(tb), testSource(tb))
}

// do sends a request to h. Headers are pairs of name and value.
func do(h http.Handler, method, target string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// get sends GET to h, and fails unless the answer has that status.
func get(tb testing.TB, h http.Handler, status int, target string, headers ...string) *httptest.ResponseRecorder {
	tb.Helper()
	w := do(h, http.MethodGet, target, headers...)
	if w.Code != status {
		tb.Fatalf("GET %s %v = %d, want %d: %s", target, headers, w.Code, status, w.Body)
	}
	return w
}

// object reads a JSON object.
func object(tb testing.TB, w *httptest.ResponseRecorder) map[string]any {
	tb.Helper()
	var o map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &o); err != nil {
		tb.Fatalf("body is no JSON object: %v: %.200s", err, w.Body)
	}
	return o
}

// wantProblem fails unless w is a problem with that status that names those parameters.
func wantProblem(tb testing.TB, w *httptest.ResponseRecorder, status int, parameters ...string) {
	tb.Helper()
	if w.Code != status {
		tb.Fatalf("status = %d, want %d: %s", w.Code, status, w.Body)
	}
	if got := w.Header().Get("Content-Type"); got != answer.ProblemType {
		tb.Errorf("Content-Type = %q, want %q", got, answer.ProblemType)
	}
	var body struct {
		Title  string
		Status int
		Errors []struct{ Parameter, Detail string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		tb.Fatalf("problem is no JSON: %v: %s", err, w.Body)
	}
	if body.Status != status || body.Title == "" {
		tb.Errorf("problem has status %d and title %q, want %d and some", body.Status, body.Title, status)
	}
	var named []string
	for _, e := range body.Errors {
		named = append(named, e.Parameter)
		if e.Detail == "" {
			tb.Errorf("the problem has no detail for parameter %s", e.Parameter)
		}
	}
	if fmt.Sprint(named) != fmt.Sprint(parameters) {
		tb.Errorf("problem names parameters %v, want %v", named, parameters)
	}
}
