package api

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"limnomap/api/answer"
	"limnomap/api/ogc"
	"limnomap/api/params"
	"limnomap/api/route"
	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/tiles"
	"limnomap/tiles/admission"
)

// cacheTile is for tiles without a current v=: they are used for five minutes, and longer while a new one is fetched, so that
// a map that is moved back and forth does not flicker.
const cacheTile = "public, max-age=300, stale-while-revalidate=86400"

// A tileFormat is the format of pictures or of vector tiles.
type tileFormat struct {
	coding          answer.Coding // in which tiles are kept
	kind, versioned answer.Kind   // versioned: at an address with the current v=
}

var (
	pictures = tileFormat{
		coding:    answer.Identity,
		kind:      answer.NewKind(answer.TypePNG, cacheTile),
		versioned: answer.NewKind(answer.TypePNG, answer.CacheForever),
	}
	vectors = tileFormat{ // no browser shows a vector tile by itself
		coding:    answer.Gzip,
		kind:      answer.NewKind(ogc.TypeVector, cacheTile).NotDocument(),
		versioned: answer.NewKind(ogc.TypeVector, answer.CacheForever).NotDocument(),
	}
)

// ClientIn returns who sent the request with that context; it is a value for [tiles.Options].
func ClientIn(ctx context.Context) admission.Client { return answer.ClientIn(ctx) }

// tileHandlers answer requests for tiles.
type tileHandlers struct {
	*common
	ahead *aheadDrawer
}

// tile answers with a tile of the map as a picture.
func (h *tileHandlers) tile(w http.ResponseWriter, r *http.Request) error {
	query := params.Of(r)
	t, err := h.read(r, &query)
	if err != nil {
		return err
	}
	readTime(&t, &query)
	m := h.readMap(&query, "date", "time", "risk")
	t.Style, t.Colormap, t.Of = m.style, m.colormap, m.of
	if m.forecast == 0 {
		t.Filter = h.filter(&query, t.Style)
	}
	if err := query.Err(); err != nil {
		return err
	}
	if m.forecast != 0 {
		if t.Forecast, err = weekAhead(t.State.Snapshot, m.forecast); err != nil {
			return err
		}
	}
	return h.send(w, r, t)
}

// filter returns the filter that risk= asks for.
func (h *tileHandlers) filter(query *params.Params, style tiles.StyleID) tiles.Filter {
	if _, given := query.Text("risk"); !given {
		return 0
	}
	var filtered []string
	for _, s := range h.opts.Styles {
		if s.Filtered() {
			filtered = append(filtered, string(s.ID))
		}
	}
	if !slices.Contains(filtered, string(style)) {
		query.Refuse("risk", "not for the style %s, which shows all lakes; only for %s", style, strings.Join(filtered, ", "))
		return 0
	}
	return params.Parsed(query, "risk", 0, tiles.ParseFilter, "is no list of "+strings.Join(tiles.FilterNames(), ", "))
}

// vector answers with a vector tile.
func (h *tileHandlers) vector(w http.ResponseWriter, r *http.Request) error {
	query := params.Of(r)
	t, err := h.read(r, &query)
	if err != nil {
		return err
	}
	if t.Scale != 1 {
		return tiles.ErrOutOfRange
	}
	if _, given := query.Text("forecast"); given { // present values in its place would be taken for the forecast
		query.Refuse("forecast", "not for vector tiles, which show values; only for pictures (.png), and %s.geojson has the values of forecasts", h.prefix+pathForecast)
	}
	if err := query.Err(); err != nil {
		return err
	}
	t.Vector = true
	return h.send(w, r, t)
}

// read reads the address of a tile, v= and date=.
func (h *tileHandlers) read(r *http.Request, query *params.Params) (t ogc.Tile, err error) {
	if err := params.PlainTilePath(r.URL); err != nil {
		return t, err
	}
	values := route.Values(r)
	if t.Tile, t.Scale, err = params.Tile(values[0], values[1], values[2], h.opts.MaxZoom); err != nil {
		return t, err
	}
	p, err := h.published()
	if err != nil {
		return t, err
	}
	t.State = p.state
	t.Version, _ = query.Text("v")
	t.Week, t.Dated = query.Week(p.snap)
	return t, nil
}

// readTime reads the week that time= names: clients of WMTS fill in the dimension Time like this. A tile has one week, so
// time= and date= must not be given both.
func readTime(t *ogc.Tile, query *params.Params) {
	if _, given := query.Text("time"); !given {
		return
	}
	if t.Dated {
		query.Refuse("time", "given together with date; give only one")
		return
	}
	if t.Week, t.Dated = ogc.Week(query, t.State.Snapshot); !t.Dated || t.Week == t.State.Snapshot.Current.Week {
		// Some clients keep the template for years, with v= in it. If the current map were immutable at such an address,
		// a client with a cached tile would show it as the current map long after. The newest week has that
		// map too, which changes by the clock: a closure begins or ends.
		t.Version = ""
	}
}

// send answers with a tile.
func (h *tileHandlers) send(w http.ResponseWriter, r *http.Request, t ogc.Tile) (err error) {
	answer.InfoOf(r).TrueFor = h.trueFor(t.State.Snapshot)
	t.State.SetDates(w.Header(), data.Optional[data.Week]{Value: t.Week, Known: t.Dated})
	ctx, view := r.Context(), t.State.Snapshot.Current
	var values *snapshot.Values // of the view, or of a week whose view need not be made for a picture
	format, version := &pictures, t.State.MapVersion
	if t.Vector {
		format, version = &vectors, t.State.VectorVersion
		if err := answer.CheckCoding(r); err != nil {
			return err
		}
	}
	switch snap := t.State.Snapshot; {
	case t.Forecast != 0:
		version = t.State.ForecastVersion
		values, err = snap.Chances(t.Forecast, t.Of)
	case t.Dated && (t.Vector || snap.Old(t.Week)):
		var release func()
		if view, release, err = h.weeks.get(r, snap, t.Week); err == nil {
			defer release()
		}
	case t.Dated:
		values, err = snap.Values(ctx, t.Week)
	}
	if err != nil {
		return err
	}
	if values == nil {
		values = view.Values()
	}
	var tile tiles.Tile
	if t.Vector {
		tile, err = h.opts.Tiles.Vector(ctx, view, t.Tile)
	} else {
		tile, err = h.opts.Tiles.Tile(ctx, values, t.Request)
	}
	if err != nil {
		return err
	}
	if t.Dated && !t.Vector && t.Forecast == 0 {
		h.ahead.offer(t)
	}
	kind := format.kind
	if t.Version == version && !values.Later {
		kind = format.versioned
	}
	return h.sender.SendStored(w, r, kind, tile.Bytes, format.coding, fieldsOf(tile, format.coding))
}

// fieldsOf returns the header fields of a tile that is kept in that coding. A tile in memory keeps them in its Note, which
// saves three allocations for each cached tile.
func fieldsOf(t tiles.Tile, coding answer.Coding) *answer.StoredFields {
	if t.Note == nil {
		return answer.NewStoredFields(t.Bytes, coding, t.ETag)
	}
	if kept, ok := t.Note.Read().(*answer.StoredFields); ok {
		return kept
	}
	fields := answer.NewStoredFields(t.Bytes, coding, t.ETag)
	t.Note.Write(fields)
	return fields
}
