package api

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/api/answer"
	"limnomap/api/sign"
	"limnomap/data"
	"limnomap/tiles"
	"limnomap/tiles/admission"
)

const (
	// PreviewMapSide is the width and the height of the map in a preview, in pixels of tiles of scale 2.
	PreviewMapSide = 400
	// keptPreviews is how many previews are kept, some 50 kB each: a link that is shared is asked for by many programs at once.
	keptPreviews = 128
	// waitingPreviews is how many requests wait until theirs is drawn, and previewWait how long: drawing takes 40 ms.
	waitingPreviews = 64
	previewWait     = 10 * time.Second
	// The zooms of the map in a preview, and that around a lake whose size is not known.
	minPreviewZoom, maxPreviewZoom, unknownPreviewZoom = 6, 13, 10
	tilePixels                                         = 512 // of scale 2
)

// previewStyles are the styles of the map in a preview, the best first: those that draw the water of the lake. If the server has none, it is the default.
var previewStyles = []tiles.StyleID{stylePixels, "lakes"}

var previewKind = answer.NewKind(answer.TypePNG, answer.CacheMinute)

// A PreviewPicture is what a preview shows beside the verdict.
type PreviewPicture struct {
	*sign.Verdict
	ID      data.LakeID
	Credits string // whose data these are
	Map     []PreviewTile
}

// A PreviewTile is a tile as PNG, and where its upper left corner is in the map of a preview.
type PreviewTile struct {
	X, Y int
	PNG  []byte
}

// A previewKey names everything that can change a preview.
type previewKey struct {
	version  string // of the map
	lake     int
	language string
	today    data.Date
	credits  string
}

// previews draw previews, one at a time, and keep some.
type previews struct {
	turns *admission.Turns
	drawn *lru.Cache[previewKey, []byte]
}

func newPreviews() *previews {
	// Not the turns of tiles: previews must not take those.
	return &previews{admission.NewTurns(admission.TurnsOptions{Count: 1, Waiting: waitingPreviews, Waits: true}), newCache[previewKey, []byte](keptPreviews)}
}

// preview answers with the picture of a link to a lake's page (og:image).
func (h *signHandlers) preview(w http.ResponseWriter, r *http.Request, p *published) error {
	lake, reader, err := h.lakeIn(w, r, p)
	if err != nil {
		return err
	}
	verdict := h.signs.Verdict(p.snap, lake, reader)
	key := previewKey{p.state.MapVersion, lake, verdict.Language, reader.Today, h.sheetAttribution(p)}
	content, ok := h.previews.drawn.Get(key)
	if !ok {
		if content, err = h.drawPreview(r, p, key, verdict); err != nil {
			return err
		}
	}
	w.Header().Set("Content-Language", verdict.Language)
	return h.sender.SendBytes(w, r, previewKind, content)
}

// drawPreview draws a preview when it is the client's turn, unless another request has drawn it by then.
func (h *signHandlers) drawPreview(r *http.Request, p *published, key previewKey, verdict *sign.Verdict) ([]byte, error) {
	lake := &p.snap.Lakes[key.lake]
	ctx, cancel := answer.Waiting(r, previewWait)
	defer cancel()
	styles := append(slices.DeleteFunc(slices.Clone(previewStyles), func(s tiles.StyleID) bool { return !slices.Contains(h.styleIDs, s) }), h.styleIDs[0])
	var excerpt []PreviewTile
	var err error
	whole := true
	for i, style := range styles {
		end, _ := ctx.Deadline() // Waiting has set it; each style may take an equal part of what is left
		within, cancel := context.WithTimeout(ctx, time.Until(end)/time.Duration(len(styles)-i))
		excerpt, err = h.mapAround(within, p, lake, style)
		if cancel(); err == nil || ctx.Err() != nil {
			break
		}
		whole = false // without the pixels of lakes, but not without the verdict
		h.errors.Log(r, err)
	}
	if err != nil {
		return nil, fmt.Errorf("preview of %s: %w", lake.ID, err)
	}
	var content []byte
	err = h.previews.turns.Do(ctx, answer.ClientOf(r), func() (err error) {
		var ok bool
		if content, ok = h.previews.drawn.Get(key); ok {
			return nil
		}
		content, err = h.opts.Pictures.Preview(h.encoder.scale, &PreviewPicture{Verdict: verdict, ID: lake.ID, Credits: key.credits, Map: excerpt})
		if err == nil && whole {
			h.previews.drawn.Add(key, content)
		}
		return err
	})
	return content, err
}

// mapAround returns the tiles of the map in a style around a lake, which is in the middle.
func (h *signHandlers) mapAround(ctx context.Context, p *published, lake *data.Lake, style tiles.StyleID) ([]PreviewTile, error) {
	middle, zoom := lake.Point, previewZoom(lake, h.opts.MaxZoom)
	if lake.Outline != "" {
		middle = lake.Outline.Bound().Center()
	}
	at := maptile.Fraction(middle, zoom)
	left, top := int(at[0]*tilePixels)-PreviewMapSide/2, int(at[1]*tilePixels)-PreviewMapSide/2
	count := 1 << zoom
	var excerpt []PreviewTile
	for y := floorDiv(top, tilePixels); y*tilePixels < top+PreviewMapSide; y++ {
		if y < 0 || y >= count {
			continue
		}
		for x := floorDiv(left, tilePixels); x*tilePixels < left+PreviewMapSide; x++ {
			column := (x%count + count) % count // the map goes round the world
			tile, err := h.opts.Tiles.Tile(ctx, p.snap.Current.Values(), tiles.Request{
				Tile: maptile.New(uint32(column), uint32(y), zoom), Scale: 2, Style: style, Colormap: h.colormaps.ids[0],
			})
			if err != nil {
				return nil, err
			}
			if !tile.Blank {
				excerpt = append(excerpt, PreviewTile{x*tilePixels - left, y*tilePixels - top, tile.Bytes})
			}
		}
	}
	return excerpt, nil
}

// floorDiv returns the quotient rounded down.
func floorDiv(a, b int) int { return int(math.Floor(float64(a) / float64(b))) }

// previewZoom returns the zoom at which a lake fills up to two thirds of the map.
func previewZoom(lake *data.Lake, highest int) maptile.Zoom {
	zoom := unknownPreviewZoom
	if lake.Outline != "" {
		if bound := lake.Outline.Bound(); !bound.IsEmpty() {
			// Parts of the world's width at zoom 0.
			corner, other := maptile.Fraction(bound.Min, 0), maptile.Fraction(orb.Point{min(bound.Max.Lon(), 180), bound.Max.Lat()}, 0)
			if part := max(math.Abs(other[0]-corner[0]), math.Abs(other[1]-corner[1])); part > 0 {
				zoom = int(math.Floor(math.Log2(PreviewMapSide * 2 / 3 / (part * tilePixels))))
			}
		}
	}
	return maptile.Zoom(min(max(zoom, minPreviewZoom), maxPreviewZoom, highest))
}
