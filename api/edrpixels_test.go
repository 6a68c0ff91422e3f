package api

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
	"github.com/paulmach/orb/planar"

	"limnomap/data"
	"limnomap/data/pixels"
	"limnomap/data/raster/crs"
	"limnomap/data/raster/georef"
	"limnomap/data/raster/zonal"
	"limnomap/data/snapshot"
)

// A pass is the pixels of a lake on a day.
type pass struct {
	lake   data.Lake
	date   data.Date
	source string
	pixels *pixels.Map
}

// pixelSource is a fakeSource with pixels.
type pixelSource struct {
	*fakeSource
	passes []pass // the newest first
}

func (s *pixelSource) PixelState(context.Context) (data.PixelState, error) {
	return data.PixelState{Count: int64(len(s.passes)), Digest: 1}, nil
}

func (s *pixelSource) Pixels(_ context.Context, id data.LakeID, date data.Date, source string) (pixels.Packed, bool, error) {
	for _, p := range s.passes {
		if p.lake.ID == id && p.date == date && p.source == source {
			return pixels.NewPacker().Pack(p.pixels), true, nil
		}
	}
	return pixels.Packed{}, false, nil
}

func (s *pixelSource) LakeSpreads(context.Context, data.LakeID, data.Period, func(date data.Date, source, grid string, spread *pixels.Spread) error) error {
	return nil
}

func (s *pixelSource) PixelPasses(_ context.Context, id data.LakeID, period data.Period, each func(data.Date, string, pixels.Packed) error) error {
	for _, p := range s.passes {
		if p.lake.ID == id && p.date >= period.First && p.date <= period.Last {
			if err := each(p.date, p.source, pixels.NewPacker().Pack(p.pixels)); err != nil {
				return err
			}
		}
	}
	return nil
}

// discOf returns the pixels of a grid around a point, each with another value, and one without any.
func discOf(tb testing.TB, epsg int, transform [6]float64, at orb.Point, radius float64) *pixels.Map {
	tb.Helper()
	system, err := crs.FromEPSG(epsg)
	if err != nil {
		tb.Fatal(err)
	}
	grid, err := georef.New(36000, 18000, transform, system)
	if err != nil {
		tb.Fatal(err)
	}
	center, ok := grid.PixelOf(at, grid.TurnOf(at[0]))
	if !ok {
		tb.Fatalf("%v is outside", at)
	}
	mask, err := zonal.NewDisc(center, radius, radius)
	if err != nil {
		tb.Fatal(err)
	}
	m := &pixels.Map{Grid: grid, Mask: mask, Codes: make([]pixels.Code, mask.Count())}
	for i := range m.Codes {
		m.Codes[i] = pixels.CodeOf(float64(i) / 3)
	}
	m.Codes[1] = pixels.NoData
	return m
}

func pixelServer(tb testing.TB) (*Server, *pixelSource) {
	tb.Helper()
	return pixelServerWith(tb, testOptions(tb))
}

func pixelServerWith(tb testing.TB, opts Options) (*Server, *pixelSource) {
	tb.Helper()
	f := featureSource(tb)
	source := &pixelSource{fakeSource: f}
	degrees := [6]float64{-180, 0.01, 0, 90, 0, -0.01}
	add := func(lake int, day, name string, m *pixels.Map) {
		source.passes = append(source.passes, pass{f.lakes[lake], date(tb, day), name, m})
	}
	high, clean, east := f.lakes[2].Point, f.lakes[0].Point, f.lakes[6].Point
	add(2, "2026-11-16", "LWQ", discOf(tb, 4326, degrees, high, 4.5))
	add(2, "2026-11-16", "S2", discOf(tb, 32633, [6]float64{200000, 300, 0, 6000000, 0, -300}, high, 3.5))
	add(2, "2026-11-09", "LWQ", discOf(tb, 4326, degrees, high, 4.5))
	add(0, "2026-11-16", "laea", discOf(tb, 3035, [6]float64{4000000, 300, 0, 3500000, 0, -300}, clean, 3.5))
	add(0, "2026-11-02", "turned", discOf(tb, 25832, [6]float64{600000, 300, 20, 5400000, 20, -300}, clean, 3.5))
	add(6, "2026-11-16", "LWQ", discOf(tb, 4326, degrees, orb.Point{179.995, east[1]}, 3.5)) // on both sides of the antimeridian

	opts.Historian, opts.APIRate, opts.Pixels = source, 0, source
	s := newServer(tb, opts, nil)
	snap, err := snapshot.Load(tb.Context(), source, &snapshot.Options{Present: data.ByClock(testNow), Weeks: 1})
	if err != nil {
		tb.Fatal(err)
	}
	if err := s.Publish(snap); err != nil {
		tb.Fatal(err)
	}
	return s, source
}

// A gridCoverage is a coverage of pixels, or a collection of them.
type gridCoverage struct {
	Type      string
	Coverages []gridCoverage
	Lake      string `json:"lake_id"`
	Source    string
	Ranges    map[string]coverageRange
	Domain    struct {
		DomainType  string
		Referencing []coverageReference
		Axes        struct {
			X, Y *struct {
				Start, Stop float64
				Num         int
			}
			T         struct{ Values []string }
			Composite struct {
				DataType    string
				Coordinates []string
				Values      [][2]float64
			}
		}
	}
}

func pixelLine(lake, day, source string, at orb.Point, chl string) string {
	rounded := func(f float64) float64 { return math.Round(f*1e7) / 1e7 } // as an answer has it
	return fmt.Sprintf("%s %s %s %.5f %.5f %s", lake, day, source, rounded(math.Remainder(at[0], 360)), rounded(at[1]), chl)
}

// pixelsInGrids returns the pixels of an answer in longitude and latitude, one a line, and the kinds of domains.
func pixelsInGrids(t *testing.T, s *Server, source *pixelSource, target string) (lines, kinds []string) {
	t.Helper()
	var root gridCoverage
	if err := json.Unmarshal(get(t, s, http.StatusOK, target).Body.Bytes(), &root); err != nil {
		t.Fatal(err)
	}
	if root.Type != "CoverageCollection" || root.Coverages == nil {
		t.Fatalf("%s is a %s", target, root.Type)
	}
	for _, c := range root.Coverages {
		kinds = append(kinds, c.Domain.DomainType)
		day := strings.TrimSuffix(c.Domain.Axes.T.Values[0], "T00:00:00Z")
		values, states := c.Ranges["chl"], c.Ranges["state"]
		if c.Domain.DomainType == "MultiPoint" {
			for i, p := range c.Domain.Axes.Composite.Values {
				lines = append(lines, pixelLine(c.Lake, day, c.Source, p, chlOf(values.Values[i])))
			}
			continue
		}
		x, y := c.Domain.Axes.X, c.Domain.Axes.Y
		if !slices.Equal(values.AxisNames, []string{"t", "y", "x"}) || !slices.Equal(values.Shape, []int{1, y.Num, x.Num}) || len(values.Values) != x.Num*y.Num || len(c.Domain.Referencing) != 2 {
			t.Fatalf("%s: %+v", target, c)
		}
		i := slices.IndexFunc(source.passes, func(p pass) bool {
			return string(p.lake.ID) == c.Lake && p.source == c.Source && p.date.String() == day
		})
		grid := &source.passes[i].pixels.Grid
		geo := grid.Transform()
		for n := range values.Values {
			if states.Values[n] == nil {
				continue // no pixel
			}
			column, row := n%x.Num, n/x.Num
			at := func(start, stop float64, num, i int) float64 {
				return start + (stop-start)*float64(i)/float64(max(num-1, 1))
			}
			px, py := at(x.Start, x.Stop, x.Num, column), at(y.Start, y.Stop, y.Num, row)
			p, ok := grid.LonLat((px-geo[0])/geo[1], (py-geo[3])/geo[5], source.passes[i].lake.Point)
			if !ok {
				t.Fatalf("%v, %v is nowhere", px, py)
			}
			lines = append(lines, pixelLine(c.Lake, day, c.Source, p, chlOf(values.Values[n])))
		}
	}
	slices.Sort(lines)
	slices.Sort(kinds)
	return lines, kinds
}

func chlOf(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

// Each query finds the pixels that a search through all of them finds, in each form: none is resampled, and none is missing.
func TestPixelsEqualANaiveSelection(t *testing.T) {
	s, source := pixelServer(t)
	in := func(rings ...orb.Ring) func(pass, orb.Point) bool {
		return func(_ pass, p orb.Point) bool { return planar.MultiPolygonContains(orb.MultiPolygon{rings}, p) }
	}
	of := func(id data.LakeID) func(pass, orb.Point) bool {
		return func(p pass, _ orb.Point) bool { return p.lake.ID == id }
	}
	box := func(west, south, east, north float64) func(pass, orb.Point) bool {
		return func(_ pass, p orb.Point) bool {
			inside := p[0] >= west && p[0] <= east
			if west > east {
				inside = p[0] >= west || p[0] <= east
			}
			return inside && p[1] >= south && p[1] <= north
		}
	}
	within := func(q orb.Point, metres float64) func(pass, orb.Point) bool {
		return func(_ pass, p orb.Point) bool { // by orb, whose Earth is 0.1 % larger; no centre is that near the edge
			return geo.DistanceHaversine(q, p)*6_371_008.8/orb.EarthRadius <= metres
		}
	}
	at := func(q orb.Point) func(pass, orb.Point) bool {
		return func(p pass, center orb.Point) bool {
			column, row, _, ok := p.pixels.At(q)
			if !ok {
				return false
			}
			own, _ := p.pixels.Grid.LonLat(float64(column)+.5, float64(row)+.5, p.lake.Point)
			return planar.Distance(own, center) < 1e-9
		}
	}
	for _, tt := range []struct {
		query      string
		parameters []string
		want       func(pass, orb.Point) bool
		kinds      string // of the domains of all days
	}{
		{"locations/de_mv_high", nil, of("de_mv_high"), "Grid Grid Grid"},
		{"locations/de_mv_high", []string{"crs", "EPSG:25833"}, of("de_mv_high"), ""},
		{"locations/de_by_clean", nil, of("de_by_clean"), "Grid MultiPoint"},
		{"locations/de_by_medium", nil, of("de_by_medium"), ""},
		{"locations/fj_east", nil, of("fj_east"), "Grid"},
		{"position", []string{"coords", "POINT(12.704 53.404)"}, at(orb.Point{12.704, 53.404}), ""},
		{"position", []string{"coords", "POINT(11.504 48.004)"}, at(orb.Point{11.504, 48.004}), ""},
		{"position", []string{"coords", "POINT(48.004 11.504)", "crs", "EPSG:4326"}, at(orb.Point{11.504, 48.004}), ""},
		{"area", []string{"coords", "POLYGON((12.68 53.38,12.73 53.39,12.69 53.42,12.68 53.38))"}, in(orb.Ring{{12.68, 53.38}, {12.73, 53.39}, {12.69, 53.42}, {12.68, 53.38}}), "Grid Grid Grid"},
		{"area", []string{"coords", "POLYGON((11 47,13 47,13 54,11 54,11 47))"}, box(11, 47, 13, 54), "Grid Grid Grid Grid MultiPoint"},
		{"cube", []string{"bbox", "12.69,53.39,12.71,53.405"}, box(12.69, 53.39, 12.71, 53.405), "Grid Grid Grid"},
		{"cube", []string{"bbox", "53.39,12.69,53.405,12.71", "crs", "EPSG:4326"}, box(12.69, 53.39, 12.71, 53.405), "Grid Grid MultiPoint"},
		{"cube", []string{"bbox", "179.98,-17,-179.99,-16"}, box(179.98, -17, -179.99, -16), "Grid"},
		{"cube", []string{"bbox", "0,0,1,1"}, box(0, 0, 1, 1), ""},
		{"radius", []string{"coords", "POINT(12.7 53.4)", "within", "900", "within-units", "m"}, within(orb.Point{12.7, 53.4}, 900), "Grid Grid Grid"},
		{"radius", []string{"coords", "POINT(12 51)", "within", "400", "within-units", "km"}, within(orb.Point{12, 51}, 400_000), "Grid Grid Grid Grid MultiPoint"},
		{"radius", []string{"coords", "POINT(-179.99 -16.6)", "within", "30", "within-units", "km"}, within(orb.Point{-179.99, -16.6}, 30_000), "Grid"},
		{"radius", []string{"coords", "POINT(12 89)", "within", "5000", "within-units", "km"}, within(orb.Point{12, 89}, 5_000_000), ""},
	} {
		for _, period := range []struct{ datetime, first, last string }{{"", "", "9"}, {"2026-11-09/..", "2026-11-09", "9"}, {"2026-11-09", "2026-11-09", "2026-11-09"}} {
			parameters := slices.Clone(tt.parameters)
			if period.datetime != "" {
				parameters = append(parameters, "datetime", period.datetime)
			}
			var want []string
			for _, p := range source.passes {
				if day := p.date.String(); day < period.first || day > period.last {
					continue
				}
				p.pixels.Each(func(x, y int, code pixels.Code) {
					center, ok := p.pixels.Grid.LonLat(float64(x)+.5, float64(y)+.5, p.lake.Point)
					if !ok || !tt.want(p, center) {
						return
					}
					chl := ""
					if v, ok := code.Value(); ok {
						c, err := data.ChlorophyllOf(v)
						if err != nil {
							t.Fatal(err)
						}
						chl = strconv.FormatFloat(c.Float(), 'f', -1, 64)
					}
					want = append(want, pixelLine(string(p.lake.ID), p.date.String(), p.source, center, chl))
				})
			}
			slices.Sort(want)
			target := func(form string) string {
				return strings.Replace(seriesAt(tt.query, append(parameters, "f", form)...), pathSeries, pathLakePixels, 1)
			}
			name := fmt.Sprint(tt.query, " ", parameters)
			if len(want) == 0 && tt.query == "position" {
				wantProblem(t, do(s, http.MethodGet, target("CSV")), http.StatusNotFound, "coords")
				continue
			}
			projected := strings.Contains(name, "25833")
			if !projected {
				if got := pixelsInTable(t, s, target("CSV")); !slices.Equal(got, want) {
					t.Errorf("%s as CSV: %d pixels, want %d: %v, want %v", name, len(got), len(want), head(got), head(want))
				}
			}
			var page featurePage
			if err := json.Unmarshal(get(t, s, http.StatusOK, target("GeoJSON")).Body.Bytes(), &page); err != nil || len(page.Features) != len(want) {
				t.Errorf("%s as GeoJSON: %d pixels, want %d, %v", name, len(page.Features), len(want), err)
			}
			if tt.query == "position" {
				_, all := coveragesAt(t, s, target("CoverageJSON"))
				n := 0
				for _, c := range all {
					n += len(c.Domain.Axes.T.Values)
				}
				if n != len(want) {
					t.Errorf("%s: %d pixels, want %d", name, n, len(want))
				}
				continue
			}
			got, kinds := pixelsInGrids(t, s, source, target("CoverageJSON"))
			if !projected && !slices.Equal(got, want) || len(got) != len(want) {
				t.Errorf("%s: %d pixels, want %d: %v, want %v", name, len(got), len(want), head(got), head(want))
			}
			if tt.kinds != "" && period.datetime == "" && strings.Join(kinds, " ") != tt.kinds {
				t.Errorf("%s: domains %v, want %s", name, kinds, tt.kinds)
			}
		}
	}
}

func head(lines []string) []string { return lines[:min(len(lines), 3)] }

func pixelsInTable(t *testing.T, s *Server, target string) (lines []string) {
	t.Helper()
	rows, err := csv.NewReader(get(t, s, http.StatusOK, target).Body).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := func(row []string, name string) string { return row[slices.Index(rows[0], name)] }
	for _, row := range rows[1:] {
		var p orb.Point
		for i, name := range []string{"x", "y"} {
			if p[i], err = strconv.ParseFloat(column(row, name), 64); err != nil {
				t.Fatal(err)
			}
		}
		lines = append(lines, pixelLine(column(row, "lake_id"), column(row, "date"), column(row, "source"), p, column(row, "chl")))
	}
	slices.Sort(lines)
	return lines
}

// A client finds the queries for pixels in the description of the lakes, and what costs too much is refused.
func TestPixelQueriesAreDescribedAndBounded(t *testing.T) {
	s, source := pixelServer(t)
	var c struct {
		Queries map[string]struct{ Link struct{ Href, Title string } } `json:"data_queries"`
		Names   map[string]coverageParameter                           `json:"parameter_names"`
	}
	if err := json.Unmarshal(get(t, s, http.StatusOK, "/ogc/collections/lakes").Body.Bytes(), &c); err != nil {
		t.Fatal(err)
	}
	if len(c.Queries) != 6 || c.Queries["cube"].Link.Href != pathLakePixels+"cube" || c.Queries["area"].Link.Title != "The pixels of the lakes in an area" || c.Names["state"].CategoryEncoding["no_data"] != 3 {
		t.Errorf("%+v", c)
	}
	if ids := idsAt(t, s, pathLakePixels+"locations?limit=3"); len(ids) != 8 {
		t.Errorf("locations %v", ids)
	}
	wantProblem(t, do(s, http.MethodGet, pathLakePixels+"locations/nowhere"), http.StatusNotFound)
	wantProblem(t, do(s, http.MethodGet, pathLakePixels+"cube?bbox=1,2,3"), http.StatusBadRequest, "bbox")
	wantProblem(t, do(s, http.MethodGet, pathLakePixels+"radius?coords=POINT(1%202)&within-units=km"), http.StatusBadRequest, "within")
	wantProblem(t, do(s, http.MethodGet, pathLakePixels+"position?coords=POINT(12.9%2053.5)"), http.StatusNotFound, "coords")

	large := discOf(t, 4326, [6]float64{-180, 0.01, 0, 90, 0, -0.01}, source.lakes[2].Point, 190)
	source.passes = []pass{{source.lakes[2], date(t, "2026-11-16"), "LWQ", large}}
	w := do(s, http.MethodGet, pathLakePixels+"locations/de_mv_high")
	wantProblem(t, w, http.StatusRequestEntityTooLarge, "datetime")
	if !strings.Contains(w.Body.String(), "100000 pixels") {
		t.Errorf("refused with %s", w.Body)
	}
	for range 100 {
		source.passes = append(source.passes, source.passes[0])
	}
	wantProblem(t, do(s, http.MethodGet, pathLakePixels+"position?coords=POINT(12.704%2053.404)"), http.StatusRequestEntityTooLarge, "datetime")
}
