package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/paulmach/orb/maptile"

	"limnomap/api/answer"
	"limnomap/colormap"
	"limnomap/data"
	"limnomap/tiles"
)

const (
	// largestZoom is the deepest zoom whose columns and rows fit maptile's 32 bits.
	largestZoom = 30
	// tileSuffix is the extension of tiles that are pictures.
	tileSuffix = ".png"
	// retina is what Leaflet's {r} becomes on a screen with small pixels.
	retina = "@2x"
	// cacheTile is how long a tile without a current v= is shown: five minutes, then once more while the new one is
	// fetched, so that a map that is panned back and forth does not flicker.
	cacheTile = "public, max-age=300, stale-while-revalidate=86400"
)

var (
	tileKind          = answer.NewKind(answer.TypePNG, cacheTile)
	versionedTileKind = answer.NewKind(answer.TypePNG, answer.CacheForever)
)

// A look is which map a tile or a legend shows.
type look struct {
	style    tiles.StyleID
	colormap colormap.ID
}

// look returns the map that style and colormap name.
func (s *Server) look(p *params) look {
	return look{style: oneOf(p, "style", s.styleIDs), colormap: oneOf(p, "colormap", s.colormapIDs)}
}

// tile answers with one tile of the map.
func (s *Server) tile(w http.ResponseWriter, r *http.Request) error {
	asked, err := s.askedTile(r, tileSuffix)
	if err != nil {
		return err
	}
	asked.wmtsTime()
	return s.sendTile(w, r, &asked, s.look(&asked.params))
}

// sendTile answers with the tile that was asked for, in that look, if nothing was wrong with how it was asked.
func (s *Server) sendTile(w http.ResponseWriter, r *http.Request, asked *askedTile, look look) error {
	if err := asked.params.err(); err != nil {
		return err
	}
	view, err := asked.shown(r.Context())
	if err != nil {
		return err
	}
	tile, err := s.opts.Tiles.Tile(r.Context(), view, tiles.Request{
		Tile:     asked.address,
		Scale:    asked.scale,
		Style:    look.style,
		Colormap: look.colormap,
	})
	if err != nil {
		return err
	}
	k := tileKind
	if asked.version == asked.published.version && !view.Later {
		k = versionedTileKind
	}
	return s.sender.Send(w, r, k, answer.Stored(tile.Bytes, answer.Identity, fieldsOf(tile, answer.Identity)))
}

// An askedTile is what the address of a tile of any sort says.
type askedTile struct {
	address   maptile.Tile
	scale     int
	published *published
	params    params
	week      data.Week
	dated     bool
	version   string // v=
}

// askedTile reads the address of a tile with that extension. What is wrong with its parameters is not an error yet, since a
// sort of tile may have more of them.
func (s *Server) askedTile(r *http.Request, suffix string) (a askedTile, err error) {
	z, x, y, _ := splitTile(s.below(r.URL.Path), suffix)
	if a, err = s.tileAt(r, z, x, y); err == nil {
		a.week, a.dated = a.params.week(a.published.snap)
	}
	return a, err
}

// tileAt is askedTile for an address that was taken apart, without its week.
func (s *Server) tileAt(r *http.Request, z, x, y string) (a askedTile, err error) {
	if a.address, a.scale, err = parseTile(z, x, y); err != nil {
		return a, err
	}
	if int(a.address.Z) > s.opts.MaxZoom {
		return a, tiles.ErrOutOfRange
	}
	if a.published, err = s.published(); err != nil {
		return a, err
	}
	a.params = params{query: r.URL.RawQuery}
	a.version, _ = a.params.text("v")
	return a, nil
}

// view returns the map of the week that is asked for.
func (a *askedTile) view(ctx context.Context) (*data.View, error) {
	return a.published.view(ctx, a.week, a.dated)
}

// shown is view, for whoever only draws it.
func (a *askedTile) shown(ctx context.Context) (*data.View, error) {
	if !a.dated {
		return a.published.snap.Current, nil
	}
	return a.published.snap.LazyView(ctx, a.week)
}

// fieldsOf returns the header fields of a tile that is kept in that coding. A tile in memory keeps them in its Note, which saves three allocations for
// each cached tile.
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

// splitTile takes the path of a tile with that extension, below the base path, apart. It reports false for the path of
// anything else: what it takes is exactly what the route's pattern matches.
func splitTile(path, suffix string) (z, x, y string, ok bool) {
	rest, ok := strings.CutPrefix(path, pathTiles+"/")
	if !ok {
		return "", "", "", false
	}
	if rest, ok = strings.CutSuffix(rest, suffix); !ok {
		return "", "", "", false
	}
	z, rest, _ = strings.Cut(rest, "/")
	x, y, _ = strings.Cut(rest, "/")
	return z, x, y, z != "" && x != "" && y != "" && !strings.Contains(y, "/")
}

// parseTile reads the address of a tile as it stands in its path: zoom, column, and row with or without "@2x". Each
// tile has one spelling, in plain digits, so that no cache keeps it under several.
func parseTile(z, x, y string) (address maptile.Tile, scale int, err error) {
	scale = 1
	if row, ok := strings.CutSuffix(y, retina); ok {
		y, scale = row, 2
	}
	var numbers [3]uint32
	for i, s := range [...]string{z, x, y} {
		n, err := strconv.ParseUint(s, 10, 32)
		if err != nil || s[0] == '+' || len(s) > 1 && s[0] == '0' {
			return maptile.Tile{}, 0, tiles.ErrOutOfRange
		}
		numbers[i] = uint32(n)
	}
	// The zoom is checked before anything is shifted by it.
	if numbers[0] > largestZoom {
		return maptile.Tile{}, 0, tiles.ErrOutOfRange
	}
	address = maptile.New(numbers[1], numbers[2], maptile.Zoom(numbers[0]))
	if !address.Valid() {
		return maptile.Tile{}, 0, tiles.ErrOutOfRange
	}
	return address, scale, nil
}
