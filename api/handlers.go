package api

import (
	"fmt"
	"io/fs"

	"limnomap/api/answer"
	"limnomap/api/ogc"
	"limnomap/api/table"
	"limnomap/colormap"
	"limnomap/tiles"
)

// handlers are those of all routes.
type handlers struct {
	lakes        *lakeHandlers
	tiles        *tileHandlers
	descriptions *descriptionHandlers
	styles       *styleHandlers
	ogc          *ogc.Service
	page         *pageHandlers
	table        *tableHandler
	health       *health
	metrics      answer.Handler
}

// newHandlers makes the handlers of all routes.
func newHandlers(opts *Options, maps *colormaps, current *snapshots, health *health, adjustable func() *Adjustable) (*handlers, error) {
	sender := current.sender
	var styleIDs []tiles.StyleID
	for _, style := range opts.Styles {
		styleIDs = append(styleIDs, style.ID)
	}
	attribution := func() string { return attributionOf(opts.Notice, adjustable().Attribution) }
	addresses := newAddresses(opts.PublicURL, opts.BasePath, adjustable)

	page, err := loadPage(sender, opts.Page)
	if err != nil {
		return nil, err
	}
	lakeTable, err := table.New(opts.Table, maps.byID[maps.ids[0]])
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	tableStyle, err := fs.ReadFile(opts.Table, "table/table.css")
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	if err := page.add(opts.Table, "table.css", tableStyle); err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	openAPI, err := sender.Prepare(settingsKind, []byte(openAPIDocument))
	if err != nil {
		return nil, err
	}
	styles, err := newStyleHandlers(sender, opts.Styles, maps, opts.Legends, addresses.prefix)
	if err != nil {
		return nil, err
	}
	tiles := &tileHandlers{snapshots: current, tiles: opts.Tiles, maxZoom: opts.MaxZoom, styleIDs: styleIDs, colormapIDs: maps.ids}
	return &handlers{
		lakes: &lakeHandlers{snapshots: current, historian: opts.Historian, monitorPath: addresses.prefix + pathMonitor},
		tiles: tiles,
		descriptions: &descriptionHandlers{
			snapshots: current, addresses: addresses, attribution: attribution, maxZoom: opts.MaxZoom, styleIDs: styleIDs, colormapIDs: maps.ids,
		},
		styles: styles,
		ogc: ogc.New(ogc.Options{
			Map:           &ogcMap{tileHandlers: tiles, addresses: addresses, attribution: attribution},
			Sender:        sender,
			Styles:        opts.Styles,
			Notice:        opts.Notice,
			Caveat:        levelCaveat,
			MaxZoom:       opts.MaxZoom,
			MaxVectorZoom: maxVectorZoom,
			TilesPath:     pathTiles,
			LegendPath:    pathLegend,
			GeoJSONPath:   pathGeoJSON,
			OpenAPIPath:   pathOpenAPI,
		}),
		page:    newPageHandlers(page, current, openAPI, styleIDs, opts, adjustable),
		table:   &tableHandler{snapshots: current, table: lakeTable, notice: opts.Notice, adjustable: adjustable, now: opts.Now},
		health:  health,
		metrics: exposition(opts.Registry),
	}, nil
}

// attributionOf returns whose data are shown, after a notice that they are not real if they are not.
func attributionOf(notice, attribution string) string {
	if notice == "" || attribution == "" {
		return notice + attribution
	}
	return notice + " | " + attribution
}

// colormaps are all colour maps.
type colormaps struct {
	ids  []colormap.ID // the default first
	byID map[colormap.ID]*colormap.Map
}

func newColormaps(limits colormap.Limits) (*colormaps, error) {
	maps := &colormaps{ids: colormap.IDs(), byID: make(map[colormap.ID]*colormap.Map)}
	for _, id := range maps.ids {
		m, err := colormap.New(id, limits)
		if err != nil {
			return nil, fmt.Errorf("colour map %s: %w", id, err)
		}
		maps.byID[id] = m
	}
	return maps, nil
}
