package api

import (
	"net/http"
	"slices"
	"time"

	"limnomap/api/answer"
	"limnomap/api/desk"
	"limnomap/api/edr"
	"limnomap/api/features"
	"limnomap/api/lakepage"
	"limnomap/api/ogc"
	"limnomap/api/sign"
	"limnomap/api/table"
	"limnomap/api/weekpage"
	"limnomap/data"
	"limnomap/tiles"
)

// handlers are those of all routes.
type handlers struct {
	lakes        *lakeHandlers
	tiles        *tileHandlers
	ahead        *aheadDrawer
	descriptions *descriptionHandlers
	ogc          *ogc.Service
	features     *featureHandlers
	maps         *mapHandlers
	events       *eventHandlers
	push         *pushHandlers
	page         *pageHandlers
	table        *tableHandler
	week         *weekHandler
	region       *regionHandler
	lakePage     *lakePageHandler
	signs        *signHandlers
	health       *health
	metrics      answer.Handler
	desk         *desk.Desk // nil without one; only AdminHandler has it
}

// newHandlers makes the handlers of all routes.
func newHandlers(s *common, health *health) (*handlers, error) {
	lakeTable, err := table.New(s.opts.Templates, s.encoder.scale)
	if err != nil {
		return nil, err
	}
	weekPages, err := weekpage.New(s.opts.Templates, s.encoder.scale)
	if err != nil {
		return nil, err
	}
	regionPages, err := weekpage.NewRegions(s.opts.Templates, s.encoder.scale)
	if err != nil {
		return nil, err
	}
	lakePages, err := lakepage.New(s.opts.Templates, s.encoder.scale)
	if err != nil {
		return nil, err
	}
	signs, err := sign.New(s.opts.Templates, s.encoder.scale)
	if err != nil {
		return nil, err
	}
	page, err := newPageHandlers(s)
	if err != nil {
		return nil, err
	}
	ahead := newAheadDrawer(s)
	tileHandlers := &tileHandlers{s, ahead}
	events := &eventHandlers{s, &eventPages{common: s, pages: newCache[data.EventQuery, []data.Event](maxEventPages)}, newEventStreams(s.opts.Requests)}
	featureHandlers := &featureHandlers{lakeHandlers: &lakeHandlers{s}, events: events, service: &features.Service{Sender: s.sender, Base: s.base, Notice: s.opts.Notice}}
	maps := newMapHandlers(s)
	descriptions := &descriptionHandlers{common: s, drawn: newCache[legendKey, []byte](maxLegends(len(s.colormaps.byID), len(s.styleIDs)))}
	featureHandlers.ogc = ogc.New(ogc.Options{
		Current: func() (*ogc.State, error) {
			p, err := s.published()
			if err != nil {
				return nil, err
			}
			return p.state, nil
		},
		Base:        s.base,
		TrueFor:     func(state *ogc.State) time.Duration { return s.trueFor(state.Snapshot) },
		Attribution: s.attribution,
		SendTile:    tileHandlers.send,
		Collections: featureHandlers.described,
		ConformsTo:  slices.Concat(features.ConformsTo, edr.ConformsTo),
		Page: func(title string, content []byte) ([]byte, error) {
			return features.Page(title, s.opts.Notice, content)
		},
		SendMap: func(w http.ResponseWriter, r *http.Request, m ogc.Map) error {
			return maps.send(w, r, m.Tile, m.Picture)
		},
		SendInfo:      maps.info,
		SendLegend:    descriptions.styleLegend,
		LegendSize:    descriptions.legendSize,
		Sender:        s.sender,
		Styles:        s.opts.Styles,
		Default:       tiles.Request{Scale: 1, Style: s.styleIDs[0], Colormap: s.colormaps.ids[0]},
		Notice:        s.opts.Notice,
		Caveat:        levelCaveat,
		MaxZoom:       s.opts.MaxZoom,
		MaxVectorZoom: maxVectorZoom,
		TilesPath:     pathTiles,
		LegendPath:    pathLegend,
		GeoJSONPath:   pathGeoJSON,
		OpenAPIPath:   pathOpenAPI,
		FeaturesPath:  features.PathDescription,
		DocsPath:      "/docs",
	})
	lakePage := &lakePageHandler{&lakeHandlers{s}, lakePages}
	return &handlers{
		lakes:        &lakeHandlers{s},
		tiles:        tileHandlers,
		ahead:        ahead,
		descriptions: descriptions,
		ogc:          featureHandlers.ogc,
		features:     featureHandlers,
		maps:         maps,
		events:       events,
		push:         &pushHandlers{s},
		page:         page,
		table:        &tableHandler{common: s, table: lakeTable},
		week:         &weekHandler{common: s, pages: weekPages},
		region:       &regionHandler{common: s, pages: regionPages},
		lakePage:     lakePage,
		signs:        &signHandlers{common: s, signs: signs, previews: newPreviews(), lakePage: lakePage},
		health:       health,
		metrics:      exposition(&s.opts),
	}, nil
}
