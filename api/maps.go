package api

import (
	"context"
	"errors"
	"image"
	"image/color"
	"net/http"
	"runtime"
	"slices"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
	"github.com/paulmach/orb/maptile"

	"limnomap/api/answer"
	"limnomap/api/coordinates"
	"limnomap/api/features"
	"limnomap/api/ogc"
	"limnomap/api/params"
	"limnomap/api/record"
	"limnomap/data"
	"limnomap/tiles"
	"limnomap/tiles/admission"
	"limnomap/tiles/mosaic"
)

// mapHandlers answer with pictures of any part of the map.
type mapHandlers struct {
	*common
	turns *admission.Turns // those of tiles are taken meanwhile
}

const (
	pathMap = "/api/v1/map.png"
	// waitingMaps and mapWait bound the queue for pictures, of which one takes some tenths of a second.
	waitingMaps = 256
	mapWait     = 15 * time.Second
	// defaultMapSide is the longer side of a picture for which none is given.
	defaultMapSide = 1024
	// maxMaps is how many pictures are drawn at once at most, each with up to 36 MB.
	maxMaps = 4
)

var mapKind = answer.NewKind(answer.TypePNG, cacheTile)

func newMapHandlers(s *common) *mapHandlers {
	return &mapHandlers{s, admission.NewTurns(admission.TurnsOptions{Count: min(runtime.GOMAXPROCS(0), maxMaps), Waiting: waitingMaps, Waits: true})}
}

// picture answers with a picture of a part of the map.
func (h *mapHandlers) picture(w http.ResponseWriter, r *http.Request, p *published) error {
	query := params.Of(r)
	m := h.readMap(&query, "date")
	t := ogc.Tile{Request: tiles.Request{Style: m.style, Colormap: m.colormap}, State: p.state, Of: m.of}
	t.Week, t.Dated = query.Week(p.snap)
	picture := h.pictureOf(&query, p)
	if err := query.Err(); err != nil {
		return err
	}
	if m.forecast != 0 {
		var err error
		if t.Forecast, err = weekAhead(p.snap, m.forecast); err != nil {
			return err
		}
	}
	return h.send(w, r, t, picture.Picture)
}

// ogcMap is picture with the parameters of OGC API - Maps (OGC 20-058).
func (h *mapHandlers) ogcMap(w http.ResponseWriter, r *http.Request, p *published) error {
	query := params.Of(r)
	t := ogc.Tile{Request: tiles.Request{Style: h.styleIDs[0], Colormap: h.colormaps.ids[0]}, State: p.state}
	t.Week, t.Dated = query.WeekOfTime("datetime", p.snap)
	params.OneOf(&query, "f", []string{"png"})
	picture := h.pictureOf(&query, p)
	if err := query.Err(); err != nil {
		return err
	}
	w.Header().Set("Content-Crs", "<"+picture.system.URI()+">")
	return h.send(w, r, t, picture.Picture)
}

// A mapPicture is a picture and the system of its bounds.
type mapPicture struct {
	mosaic.Picture
	system *coordinates.System
}

// pictureOf returns the picture of the parameters bbox, bbox-crs, crs, width, height, transparent and bgcolor. Without bbox it is of all lakes; without a width
// or a height, that follows from the other one.
func (h *mapHandlers) pictureOf(query *params.Params, p *published) (m mapPicture) {
	parse := func(name string, byDefault *coordinates.System) *coordinates.System {
		return params.Parsed(query, name, byDefault, coordinates.Parse, coordinates.Mistake)
	}
	m.MaxZoom = h.opts.MaxZoom
	boxSystem := parse("bbox-crs", coordinates.Systems[0])
	m.system = parse("crs", boxSystem)
	m.System = m.system.CRS
	type box struct{ min, max orb.Point }
	bounds := p.state.Bounds
	all := box{orb.Point{bounds[0], bounds[1]}, orb.Point{bounds[2], bounds[3]}}
	_, given := query.Text("bbox")
	b := params.Parsed(query, "bbox", all, func(s string) (b box, err error) {
		b.min, b.max, err = boxSystem.ParseBox(s)
		if err == nil && !(b.min[0] < b.max[0] && b.min[1] < b.max[1]) {
			err = mosaic.ErrBounds
		}
		return b, err
	}, coordinates.MistakeInBox)
	switch {
	case m.system == boxSystem && given:
		m.Min, m.Max = b.min, b.max
	case given && boxSystem.CRS != nil:
		query.Refuse("crs", "is another system than that of bbox; give bbox in it, or in degrees")
		return m
	default: // degrees in another system: the bound of the corners and the middles of the sides
		m.Min, m.Max = boundIn(m.system, b.min, b.max)
		if !(m.Min[0] < m.Max[0] && m.Min[1] < m.Max[1]) {
			query.Refuse("crs", "is not defined in that part of the Earth")
			return m
		}
	}
	m.Width, m.Height = query.Integer("width", 1, mosaic.MaxSide, 0), query.Integer("height", 1, mosaic.MaxSide, 0)
	m.fit()
	m.Background = backgroundOf(query, params.OneOf(query, "transparent", []string{"true", "false"}) == "true")
	return m
}

// fit sets the width or the height, or both, where they are not given.
func (m *mapPicture) fit() {
	shape := (m.Max[0] - m.Min[0]) / (m.Max[1] - m.Min[1])
	side := func(n float64) int { return int(min(max(n+.5, 1), mosaic.MaxSide)) }
	switch {
	case m.Width > 0 && m.Height > 0:
	case m.Width > 0:
		m.Height = side(float64(m.Width) / shape)
	case m.Height > 0:
		m.Width = side(float64(m.Height) * shape)
	default:
		m.Width, m.Height = side(defaultMapSide*min(shape, 1)), side(defaultMapSide*min(1/shape, 1))
	}
}

// boundIn returns the bound in a system of what lies between two longitudes and latitudes, of which it looks at some points of the border.
func boundIn(s *coordinates.System, least, greatest orb.Point) (orb.Point, orb.Point) {
	const parts = 16
	bound := orb.Bound{Min: orb.Point{1, 1}, Max: orb.Point{-1, -1}}
	for i := range parts + 1 {
		f := float64(i) / parts
		x, y := least[0]+(greatest[0]-least[0])*f, least[1]+(greatest[1]-least[1])*f
		for _, p := range []orb.Point{{x, least[1]}, {x, greatest[1]}, {least[0], y}, {greatest[0], y}} {
			if s.CRS != nil {
				var ok bool
				if p[0], p[1], ok = s.CRS.Project(p[0], p[1]); !ok {
					continue
				}
			}
			if bound.Min[0] > bound.Max[0] {
				bound = p.Bound()
			}
			bound = bound.Extend(p)
		}
	}
	return bound.Min, bound.Max
}

// backgroundOf returns the colour on which a picture lies: none if it is transparent, otherwise white or the one that is given.
func backgroundOf(query *params.Params, transparent bool) color.NRGBA {
	c := params.Parsed(query, "bgcolor", mosaic.White, mosaic.ParseColor, "is not a colour as 0xRRGGBB")
	if transparent {
		return color.NRGBA{}
	}
	return c
}

// fingerPixels is how far from a pixel a lake may be that is there, in pixels: a finger's width on a screen.
const fingerPixels = 10

// info answers with the lakes at a pixel of a map, the nearest first: those whose water it is, and those whose point is within reach.
func (h *mapHandlers) info(w http.ResponseWriter, r *http.Request, info ogc.Info) error {
	p, err := h.published()
	if err != nil {
		return err
	}
	view := p.snap.Current
	if info.Dated {
		var release func()
		if view, release, err = h.weeks.get(r, p.snap, info.Week); err != nil {
			return err
		}
		defer release()
	}
	p.state.SetDates(w.Header(), data.Optional[data.Week]{Value: info.Week, Known: info.Dated})
	found, err := h.lakesAt(r, p, info)
	if err != nil {
		return err
	}
	content := record.Object("{").Text("type", "FeatureCollection").Array("features")
	text := []byte(nil)
	for i, lake := range found {
		if i > 0 {
			content = append(content, ',')
		}
		l := h.encoder.lake(view, lake)
		content = lakeColumns.AppendFeature(content, l.lake, l)
		text = append(append(append(text, lakeColumns.Header()...), lakeColumns.AppendLine(nil, l)...), '\n')
	}
	content = content.Close("]}\n")
	switch info.Format {
	case "text/plain":
		return h.sender.SendBytes(w, r, plainKind, append(text, '\n'))
	case "text/html":
		if content, err = features.Page("Lakes at this place", h.opts.Notice, content); err != nil {
			return err
		}
		return h.sender.SendBytes(w, r, pageKind, content)
	}
	return h.sender.SendBytes(w, r, jsonKind, content)
}

var plainKind = answer.NewKind("text/plain; charset=utf-8", answer.CacheMinute)

// lakesAt returns the lakes at a pixel.
func (h *mapHandlers) lakesAt(r *http.Request, p *published, info ogc.Info) (found []int, err error) {
	at, ok := info.Picture.Place(info.X, info.Y)
	beside, okBeside := info.Picture.Place(info.X+fingerPixels, info.Y)
	if !ok || !okBeside {
		return nil, nil
	}
	err = (&lakeHandlers{h.common}).searchLakes(r, p, func() {
		if lake, ok := lakeAt(p.snap, at); ok {
			found = append(found, lake)
		}
		for _, n := range p.lookup.places.Nearest(p.snap.Lakes, at, int(geo.Distance(at, beside)), info.Count+len(found)) {
			if len(found) < info.Count && !slices.Contains(found, n.Lake) {
				found = append(found, n.Lake)
			}
		}
	})
	return found, err
}

// send answers with a picture of the map that t asks for.
func (h *mapHandlers) send(w http.ResponseWriter, r *http.Request, t ogc.Tile, m mosaic.Picture) error {
	answer.InfoOf(r).TrueFor = h.trueFor(t.State.Snapshot)
	t.State.SetDates(w.Header(), data.Optional[data.Week]{Value: t.Week, Known: t.Dated})
	snap := t.State.Snapshot
	values := snap.Current.Values()
	switch {
	case t.Forecast != 0:
		var err error
		if values, err = snap.Chances(t.Forecast, t.Of); err != nil {
			return err
		}
	case t.Dated:
		view, release, err := h.weeks.get(r, snap, t.Week)
		if err != nil {
			return err
		}
		defer release()
		values = view.Values()
	}
	ctx, cancel := answer.Waiting(r, mapWait)
	defer cancel()
	var content []byte
	err := h.turns.Do(ctx, answer.ClientOf(r), func() error {
		// Only while it is drawn: those that wait take nothing.
		hold, err := h.opts.Memory.Hold(answer.ClientOf(r), m.Memory())
		if err != nil {
			return err
		}
		defer hold.Release()
		content, err = mosaic.Draw(r.Context(), m, func(ctx context.Context, zoom maptile.Zoom, scale int, part image.Rectangle) (tiles.Painting, error) {
			request := t.Request
			request.Tile, request.Scale = maptile.Tile{Z: zoom}, scale
			return h.opts.Tiles.Paint(ctx, values, request, part)
		})
		return err
	})
	switch {
	case errors.Is(err, mosaic.ErrTooLarge), errors.Is(err, mosaic.ErrBounds):
		return &answer.Problem{Status: http.StatusBadRequest, Detail: "wrong parameter: bbox", Errors: []answer.ParameterError{{Parameter: "bbox", Detail: err.Error()}}}
	case err != nil:
		return err
	}
	return h.sender.SendBytes(w, r, mapKind, content)
}
