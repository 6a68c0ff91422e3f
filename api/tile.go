package api

import (
	"net/http"

	"limnomap/api/answer"
	"limnomap/api/ogc"
	"limnomap/api/params"
	"limnomap/api/route"
	"limnomap/colormap"
	"limnomap/data"
	"limnomap/tiles"
)

// cacheTile is for tiles without a current v=: they are used for five minutes, and longer while a new one is fetched, so that
// a map that is moved back and forth does not flicker.
const cacheTile = "public, max-age=300, stale-while-revalidate=86400"

var (
	tileKind          = answer.NewKind(answer.TypePNG, cacheTile)
	versionedTileKind = answer.NewKind(answer.TypePNG, answer.CacheForever)
	// No browser shows a vector tile by itself.
	vectorKind          = answer.NewKind(ogc.TypeVector, cacheTile).NotDocument()
	versionedVectorKind = answer.NewKind(ogc.TypeVector, answer.CacheForever).NotDocument()
)

// tileHandlers answer requests for tiles.
type tileHandlers struct {
	*snapshots
	tiles       Tiles
	maxZoom     int
	styleIDs    []tiles.StyleID // the default first
	colormapIDs []colormap.ID   // the default first
}

// A tileRequest is a request for a tile, by any address.
type tileRequest struct {
	tiles.Request // of a vector tile only the address
	state         *ogc.State
	week          data.Week
	dated         bool   // a week is given
	version       string // the value of v=
}

// tile answers with a tile of the map as a picture.
func (h *tileHandlers) tile(w http.ResponseWriter, r *http.Request) error {
	query := params.Of(r)
	t, err := h.read(r, &query)
	if err != nil {
		return err
	}
	t.readTime(&query)
	t.Style, t.Colormap = params.OneOf(&query, "style", h.styleIDs), params.OneOf(&query, "colormap", h.colormapIDs)
	if err := query.Err(); err != nil {
		return err
	}
	return h.send(w, r, t)
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
	if err := query.Err(); err != nil {
		return err
	}
	return h.sendVector(w, r, t)
}

// read reads the address of a tile, v= and date=.
func (h *tileHandlers) read(r *http.Request, query *params.Params) (t tileRequest, err error) {
	values := route.Values(r)
	if t.Tile, t.Scale, err = params.Tile(values[0], values[1], values[2], h.maxZoom); err != nil {
		return t, err
	}
	p, err := h.published()
	if err != nil {
		return t, err
	}
	t.state = p.state
	t.version, _ = query.Text("v")
	t.week, t.dated = query.Week(p.snap)
	return t, nil
}

// readTime reads the week that time= names: clients of WMTS fill in the dimension Time like this. A tile has one week, so
// time= and date= must not be given both.
func (t *tileRequest) readTime(query *params.Params) {
	if _, given := query.Text("time"); !given {
		return
	}
	if t.dated {
		query.Refuse("time", "given together with date; give only one")
		return
	}
	if t.week, t.dated = ogc.Week(query, t.state.Snapshot); !t.dated {
		// Some clients keep the template for years, with v= in it. If the current map were immutable at such an address,
		// a client with a cached tile would show it as the current map long after.
		t.version = ""
	}
}

// send answers with a picture.
func (h *tileHandlers) send(w http.ResponseWriter, r *http.Request, t tileRequest) error {
	view := t.state.Snapshot.Current
	if t.dated {
		var err error
		if view, err = t.state.Snapshot.LazyView(r.Context(), t.week); err != nil {
			return err
		}
	}
	tile, err := h.tiles.Tile(r.Context(), view, t.Request)
	if err != nil {
		return err
	}
	kind := tileKind
	if t.version == t.state.MapVersion && !view.Later {
		kind = versionedTileKind
	}
	return h.sender.Send(w, r, kind, answer.Stored(tile.Bytes, answer.Identity, fieldsOf(tile, answer.Identity)))
}

// sendVector answers with a vector tile.
func (h *tileHandlers) sendVector(w http.ResponseWriter, r *http.Request, t tileRequest) error {
	if err := answer.CheckCoding(r); err != nil {
		return err
	}
	view := t.state.Snapshot.Current
	if t.dated {
		var err error
		if view, err = t.state.Snapshot.View(r.Context(), t.week); err != nil {
			return err
		}
	}
	tile, err := h.tiles.Vector(r.Context(), view, t.Tile)
	if err != nil {
		return err
	}
	kind := vectorKind
	if t.version == t.state.VectorVersion && !view.Later {
		kind = versionedVectorKind
	}
	return h.sender.Send(w, r, kind, answer.Stored(tile.Bytes, answer.Gzip, fieldsOf(tile, answer.Gzip)))
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

// An ogcMap is the ogc.Map of this API.
type ogcMap struct {
	*tileHandlers
	addresses   *addresses
	attribution func() string
}

// Current returns the published snapshot.
func (m *ogcMap) Current() (*ogc.State, error) {
	p, err := m.published()
	if err != nil {
		return nil, err
	}
	return p.state, nil
}

// Base returns what addresses begin with.
func (m *ogcMap) Base(w http.ResponseWriter, r *http.Request) string { return m.addresses.base(w, r) }

// Attribution returns whose data the map shows.
func (m *ogcMap) Attribution() string { return m.attribution() }

// SendTile answers with a tile.
func (m *ogcMap) SendTile(w http.ResponseWriter, r *http.Request, t ogc.Tile) error {
	request := tileRequest{
		Request: tiles.Request{Tile: t.Address, Scale: 1, Style: t.Style, Colormap: m.colormapIDs[0]},
		state:   t.State,
		week:    t.Week,
		dated:   t.Dated,
		version: t.Version,
	}
	if t.Vector {
		return m.sendVector(w, r, request)
	}
	return m.send(w, r, request)
}
