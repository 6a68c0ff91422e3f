package api

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/paulmach/orb"

	"limnomap/api/answer"
	"limnomap/api/coordinates"
	"limnomap/api/edr"
	"limnomap/api/ogc"
	"limnomap/api/params"
	"limnomap/api/record"
	"limnomap/api/route"
	"limnomap/data"
	"limnomap/data/pixels"
	"limnomap/tiles"
	"limnomap/tiles/mosaic"
)

// Pixels returns the pixels of which a satellite's observation of a lake was made; not ok where they are not kept.
type Pixels interface {
	Pixels(ctx context.Context, id data.LakeID, date data.Date, source string) (p pixels.Packed, ok bool, err error)
	// PixelPasses calls each with the pixels of a lake in a period, of the newest date first; an error from it ends the call and is returned.
	PixelPasses(ctx context.Context, id data.LakeID, period data.Period, each func(date data.Date, source string, p pixels.Packed) error) error
	// LakeSpreads calls each with how the pixels of each pass over a lake in a period are spread, and on which grid they are; an error from it ends the call and is returned.
	LakeSpreads(ctx context.Context, id data.LakeID, period data.Period, each func(date data.Date, source, grid string, spread *pixels.Spread) error) error
}

const (
	// maxCells bounds the pixels of an answer as GeoJSON or CSV: those of 4,500 km² at 300 m. A GeoTIFF takes a hundredth of the room.
	maxCells = 50_000
	// pixelPasses is how many of the newest passes of satellites are looked at until one has pixels: a pass under clouds has none.
	pixelPasses = 60
)

var (
	geoTIFFKind = answer.NewKind("image/tiff; application=geotiff", answer.CacheMinute) // as OGC 19-008r4 registers it
	errNoPixels = absent("No pixels of this lake are kept of that date or the weeks before it.")
)

// The formats of pixels.
const (
	cellsGeoJSON = "geojson"
	cellsCSV     = "csv"
	cellsTIFF    = "tif"
	cellsPNG     = "png" // a picture of the map
)

// A cell is a pixel of an answer.
type cell struct {
	of          *data.Observation
	profile     *data.Profile
	column, row int
	center      orb.Point
	code        pixels.Code
	lattice     *edr.Lattice // of answers to EDR
}

// stateNames are the words for what a pixel without a value is, and for one below the limit of detection.
var stateNames = map[pixels.Code]string{pixels.NoData: "no_data", pixels.BelowLimit: "below_limit", pixels.Ice: "ice", pixels.OutOfRange: "out_of_range"}

// state says what the pixel is: value, or one of stateNames.
func (c *cell) state() string {
	if name, ok := stateNames[c.code]; ok {
		return name
	}
	return "value"
}

// chlorophyll returns the value, NoChlorophyll if it has none.
func (c *cell) chlorophyll() data.Chlorophyll {
	chl, ok := c.code.Value()
	if !ok {
		return data.NoChlorophyll
	}
	value, err := data.ChlorophyllOf(chl)
	if err != nil {
		return data.NoChlorophyll
	}
	return value
}

// level returns the level of the value by the limits of chlorophyll, NoLevel if it has none.
func (c *cell) level() data.Level {
	o := data.Observation{Type: data.Satellite, Chlorophyll: c.chlorophyll(), Level: data.NoLevel, CellDensity: data.NoCellDensity}
	level, _ := c.profile.Classify(o)
	return level
}

var (
	pixelColumns = record.Columns[*cell]{
		record.Integer("column", func(c *cell) float64 { return float64(c.column) }),
		record.Integer("row", func(c *cell) float64 { return float64(c.row) }),
		record.Chlorophyll("chl", func(c *cell) data.Chlorophyll { return c.chlorophyll() }),
		record.Level("who_level", func(c *cell) data.Level { return c.level() }),
		record.Word("state", func(c *cell) string { return c.state() }),
	}
	pixelMembers = append(record.Columns[*cell]{
		record.Word("date", func(c *cell) string { return c.of.Date.String() }),
		record.Text("source", func(c *cell) string { return c.of.Source }).OrNull(),
	}, pixelColumns...)
	pixelCells = append(record.Columns[*cell]{
		record.Word("lake_id", func(c *cell) string { return string(c.of.LakeID) }),
		record.Word("date", func(c *cell) string { return c.of.Date.String() }),
		record.Text("source", func(c *cell) string { return c.of.Source }),
		record.Number("longitude", func(c *cell) float64 { return degrees(c.center[0]) }),
		record.Number("latitude", func(c *cell) float64 { return degrees(c.center[1]) }),
	}, pixelColumns...)
)

// degrees rounds to 10 cm, a part of any pixel.
func degrees(f float64) float64 { return math.Round(f*1e6) / 1e6 }

// pixels answers with the pixels of a lake: those of the newest pass of a satellite, or of the newest one up to a day.
func (h *mapHandlers) pixels(w http.ResponseWriter, r *http.Request, p *published) error {
	query := params.Of(r)
	lakes := &lakeHandlers{h.common}
	day := params.Parsed(&query, "date", p.snap.AsOf.Last(), data.ParseDate, "is not a day such as 2026-07-31")
	format := params.OneOf(&query, "f", []string{cellsGeoJSON, cellsCSV, cellsTIFF, cellsPNG})
	if err := query.Err(); err != nil {
		return err
	}
	i, ok := p.snap.Index(data.LakeID(route.Values(r)[0]))
	if !ok {
		return data.ErrNoLake
	}
	i = p.snap.FirstSite(i)
	o, packed, err := lakes.findPixels(r, p, i, data.Period{First: data.MinDate, Last: min(day, p.snap.AsOf.Last())})
	if err != nil {
		return err
	}
	lake := &p.snap.Lakes[i]
	if format == cellsPNG {
		return h.pixelPicture(w, r, p, i, o, packed)
	}
	name := fmt.Sprintf("pixels-%s-%s", o.LakeID, o.Date)
	var content []byte
	if err := h.sender.InTurn(r, packed.Count(), func() (err error) {
		content, err = pixelFile(lake, o, packed, p.snap.Profile, format)
		return err
	}); err != nil {
		return err
	}
	switch format {
	case cellsTIFF:
		w.Header()["Content-Disposition"] = []string{`attachment; filename="` + name + `.tif"`}
		return h.sender.SendBytes(w, r, geoTIFFKind, content)
	case cellsCSV:
		nameFile(w, name)
		return h.sender.SendBytes(w, r, csvKind, content)
	}
	return h.sender.SendBytes(w, r, geoJSONKind, content)
}

// pixelFile returns the pixels of an observation in a format.
func pixelFile(lake *data.Lake, o *data.Observation, packed pixels.Packed, profile *data.Profile, format string) ([]byte, error) {
	m, err := unpack(o, packed)
	if err != nil {
		return nil, err
	}
	if format != cellsTIFF && len(m.Codes) > maxCells {
		return nil, &answer.Problem{Status: http.StatusBadRequest, Detail: fmt.Sprintf("The lake has %d pixels, more than the %d of an answer in this format: ask for f=tif.",
			len(m.Codes), maxCells)}
	}
	switch format {
	case cellsTIFF:
		file, err := m.GeoTIFF("chlorophyll-a on " + o.Date.String())
		if err != nil {
			return nil, &answer.Problem{Status: http.StatusNotFound, Detail: err.Error() + "; ask for f=geojson."}
		}
		return file, nil
	case cellsCSV:
		return cellTable(lake, o, profile, m)
	}
	return cellFeatures(lake, o, profile, m)
}

// unpack returns the stored pixels of an observation.
func unpack(o *data.Observation, packed pixels.Packed) (*pixels.Map, error) {
	m, err := packed.Unpack()
	if err != nil {
		return nil, fmt.Errorf("%w: pixels of %s on %s: %w", errStore, o.LakeID, o.Date, err)
	}
	return m, nil
}

// findPixels returns the newest observation of a period whose pixels are kept, of a site that of the first site of its water.
func (h *lakeHandlers) findPixels(r *http.Request, p *published, i int, period data.Period) (o *data.Observation, packed pixels.Packed, err error) {
	if h.opts.Pixels == nil {
		return nil, packed, errNoPixels
	}
	i = p.snap.FirstSite(i)
	id := p.snap.Lakes[i].ID
	q := data.HistoryQuery{Limit: pixelPasses, Period: period, Types: data.TypesOf(data.Satellite)}
	passes, whole := p.snap.History(i, q)
	if !whole {
		if _, passes, err = h.readHistory(r, id, q); err != nil {
			return nil, packed, fmt.Errorf("history of %s: %w", id, err)
		}
	}
	slices.SortStableFunc(passes, func(a, b data.Observation) int { // of one day, those of the best source first
		return cmp.Or(cmp.Compare(b.Date, a.Date), cmp.Compare(a.Rank-1, b.Rank-1)) // 0, no rank, becomes the largest
	})
	err = h.askStore(r, errStore, func(ctx context.Context) error {
		for k := range passes {
			found, ok, err := h.opts.Pixels.Pixels(ctx, id, passes[k].Date, passes[k].Source)
			if err != nil {
				return err
			}
			if ok {
				o, packed = &passes[k], found
				return nil
			}
		}
		return nil
	})
	if err == nil && o == nil {
		err = errNoPixels
	}
	return o, packed, err
}

// cellTable returns the pixels as a table.
func cellTable(lake *data.Lake, o *data.Observation, profile *data.Profile, m *pixels.Map) ([]byte, error) {
	content, failed := pixelCells.Header(), false
	m.Each(func(x, y int, code pixels.Code) {
		center, ok := m.Grid.LonLat(float64(x)+0.5, float64(y)+0.5, lake.Point)
		failed = failed || !ok
		content = pixelCells.AppendLine(content, &cell{of: o, profile: profile, column: x, row: y, center: center, code: code})
	})
	if failed {
		return nil, errUnplaced(o)
	}
	return content, nil
}

// errUnplaced is the error for pixels whose place cannot be told.
func errUnplaced(o *data.Observation) error {
	return fmt.Errorf("%w: pixels of %s on %s are outside of their coordinate system", errStore, o.LakeID, o.Date)
}

// cellFeatures returns the pixels as features of their squares.
func cellFeatures(lake *data.Lake, o *data.Observation, profile *data.Profile, m *pixels.Map) ([]byte, error) {
	content := record.Object("{").Text("type", "FeatureCollection").Text("lake_id", string(o.LakeID)).Text("date", o.Date.String()).TextOrNull("source", o.Source).Array("features")
	first, failed := true, false
	m.Each(func(x, y int, code pixels.Code) {
		if !first {
			content = append(content, ',')
		}
		first = false
		content = append(content, `{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[`...)
		for k, corner := range [5][2]int{{0, 1}, {1, 1}, {1, 0}, {0, 0}, {0, 1}} { // counterclockwise (RFC 7946, section 3.1.6), as rows go down
			point, ok := m.Grid.LonLat(float64(x+corner[0]), float64(y+corner[1]), lake.Point)
			failed = failed || !ok
			point[0] += 360 * math.Round((lake.Point[0]-point[0])/360) // a square at the antimeridian is one, as wide as any other
			if k > 0 {
				content = append(content, ',')
			}
			content = strconv.AppendFloat(append(content, '['), degrees(point[0]), 'f', -1, 64)
			content = append(strconv.AppendFloat(append(content, ','), degrees(point[1]), 'f', -1, 64), ']')
		}
		content = append(content, `]]},"properties":`...)
		content = append(pixelColumns.AppendObject(content, record.Property, &cell{of: o, profile: profile, column: x, row: y, code: code}), '}')
	})
	if failed {
		return nil, errUnplaced(o)
	}
	return content.Close("]}\n"), nil
}

// mercator is the system in which the squares of pixels have the shape that people know from maps.
var mercator = func() *coordinates.System {
	s, err := coordinates.Parse("EPSG:3857")
	if err != nil {
		panic(err) // it is one of coordinates.Systems
	}
	return s
}()

const (
	// stylePixels is the style of the pixels in package render.
	stylePixels = "pixels"
	// pixelWidth and pixelHeight are the size of a picture of a lake, for two columns of a card on a screen with small pixels.
	pixelWidth, pixelHeight = 640, 400
	// pixelRoom is the part of its sides that a picture has around the lake, all together.
	pixelRoom = 0.15
)

// pixelPicture answers with a picture of the map in the style pixels, around the i-th lake and the pixels of an observation: of the current map if it shows that
// observation, otherwise of that of its week. Where that one shows another observation there is no picture.
func (h *mapHandlers) pixelPicture(w http.ResponseWriter, r *http.Request, p *published, i int, o *data.Observation, packed pixels.Packed) error {
	lake := &p.snap.Lakes[i]
	t := ogc.Tile{Request: tiles.Request{Style: stylePixels, Colormap: h.colormaps.ids[0]}, State: p.state, Week: o.Date.Week()}
	if shown := p.snap.Current.States[i]; shown.Date != o.Date || shown.MeasuredBy != data.Satellite {
		view, release, err := h.weeks.get(r, p.snap, t.Week)
		if err != nil {
			return err
		}
		shown = view.States[i]
		release()
		if shown.Date != o.Date || shown.MeasuredBy != data.Satellite {
			return &answer.Problem{Status: http.StatusNotFound, Detail: fmt.Sprintf("the map of that week shows another value of the lake than the pass of %s, of which the other forms have the pixels", o.Date)}
		}
		t.Dated = true
	}
	bound := orb.Bound{Min: orb.Point{math.Inf(1), math.Inf(1)}, Max: orb.Point{math.Inf(-1), math.Inf(-1)}}
	if err := h.sender.InTurn(r, packed.Count(), func() error {
		m, err := unpack(o, packed)
		if err != nil {
			return err
		}
		var corners []orb.Point
		b := m.Mask.Bounds()
		for _, corner := range [...]image.Point{b.Min, b.Max, {X: b.Min.X, Y: b.Max.Y}, {X: b.Max.X, Y: b.Min.Y}} {
			at, ok := m.Grid.LonLat(float64(corner.X), float64(corner.Y), lake.Point)
			if !ok {
				return errUnplaced(o)
			}
			corners = append(corners, at)
		}
		if lake.Outline != "" {
			shore := lake.Outline.Bound()
			corners = append(corners, shore.Min, shore.Max)
		}
		for _, at := range corners {
			at[0] += 360 * math.Round((lake.Point[0]-at[0])/360)
			x, y, ok := mercator.CRS.Project(at[0], at[1])
			if !ok {
				return errUnplaced(o)
			}
			bound = bound.Extend(orb.Point{x, y})
		}
		return nil
	}); err != nil {
		return err
	}
	width, height := bound.Max[0]-bound.Min[0], bound.Max[1]-bound.Min[1]
	width = max(width, height*pixelWidth/pixelHeight) * (1 + pixelRoom)
	height = width * pixelHeight / pixelWidth
	center := bound.Center()
	return h.send(w, r, t, mosaic.Picture{Width: pixelWidth, Height: pixelHeight, System: mercator.CRS, Background: mosaic.White, MaxZoom: h.opts.MaxZoom,
		Min: orb.Point{center[0] - width/2, center[1] - height/2}, Max: orb.Point{center[0] + width/2, center[1] + height/2}})
}
