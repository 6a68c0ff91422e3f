package api

import (
	"net/http"
	"net/url"
	"strings"

	"limnomap/api/answer"
	"limnomap/api/middleware"
)

// A tileJSON describes the tiles to a map library (TileJSON 3.0.0).
type tileJSON struct {
	TileJSON    string     `json:"tilejson"`
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Version     string     `json:"version"`
	Attribution string     `json:"attribution,omitempty"`
	Scheme      string     `json:"scheme"`
	Format      string     `json:"format"`
	TileSize    int        `json:"tileSize,omitempty"` // of pictures
	Tiles       []string   `json:"tiles"`
	MinZoom     int        `json:"minzoom"`
	MaxZoom     int        `json:"maxzoom"`
	Bounds      [4]float64 `json:"bounds"`
	Center      [3]float64 `json:"center"`
	LegendURL   string     `json:"legend_url"` // legend itself is text that clients show as it is (3.11)
	GeneratedAt string     `json:"generated_at"`
	Snapshot    string     `json:"snapshot"` // what v= in the address of a tile says

	VectorLayers []vectorLayer `json:"vector_layers,omitempty"` // required of vector tiles, and of no others
}

// tileJSON answers with the description of the tiles, for the map that the parameters choose.
func (s *Server) tileJSON(w http.ResponseWriter, r *http.Request) error {
	p, err := s.published()
	if err != nil {
		return err
	}
	params := paramsOf(r)
	look := s.look(params)
	week, dated := params.week(p.snap)
	if err := params.err(); err != nil {
		return err
	}
	// What the client chose is carried over into the addresses; what it left to us stays left to us.
	chosen := url.Values{}
	if look.style != s.styleIDs[0] {
		chosen.Set("style", string(look.style))
	}
	if look.colormap != s.colormapIDs[0] {
		chosen.Set("colormap", string(look.colormap))
	}
	legend := legendQuery(look.colormap, s.colormapIDs[0])
	if dated {
		chosen.Set("date", week.Monday().String())
	}
	chosen.Set("v", p.version)
	description := s.describeTiles(w, r, p)
	base := s.base(r)
	description.Name = "limnomap chlorophyll-a"
	description.Description = "Chlorophyll-a of lakes, in µg/l, measured by satellite. " + levelCaveat
	description.Format, description.TileSize = "png", 256
	description.Tiles = []string{base + pathTiles + "/{z}/{x}/{y}.png?" + chosen.Encode()}
	description.LegendURL = base + pathLegend + ".svg" + legend
	description.MaxZoom, description.Snapshot = s.opts.MaxZoom, p.version
	return s.sender.Send(w, r, jsonKind, answer.JSON(description))
}

// levelCaveat is what every description of the levels has to say.
const levelCaveat = "Warning levels hold where cyanobacteria dominate, which a satellite does not know."

// describeTiles returns what the descriptions of all sorts of tiles have in common.
func (s *Server) describeTiles(w http.ResponseWriter, r *http.Request, p *published) tileJSON {
	s.varyOrigin(w)
	center := p.extent.Center()
	return tileJSON{
		TileJSON:    "3.0.0",
		Version:     "1.0.0",
		Attribution: s.attribution(),
		Scheme:      "xyz",
		MinZoom:     0,
		Bounds: [4]float64{
			round(p.extent.Min.Lon()), round(p.extent.Min.Lat()),
			round(p.extent.Max.Lon()), round(p.extent.Max.Lat()),
		},
		Center:      [3]float64{round(center.Lon()), round(center.Lat()), float64(zoomFor(p.extent, s.opts.MaxZoom))},
		GeneratedAt: string(appendTimeText(nil, generatedAt(p.snap))),
	}
}

// attribution returns whom the data are owed to, behind a notice that they are not real where that is so.
func (s *Server) attribution() string {
	if s.opts.Notice == "" || s.adjustable().Attribution == "" {
		return s.opts.Notice + s.adjustable().Attribution
	}
	return s.opts.Notice + " | " + s.adjustable().Attribution
}

// origin returns the scheme and host that the outside calls this server by: as configured, or as a trusted proxy says.
// Otherwise it returns nothing, which leaves addresses relative to the host that the client asked: the Host field is
// whatever somebody sends, and a cache would give it to everybody.
func (s *Server) origin(r *http.Request) string {
	if s.opts.PublicURL != nil {
		return s.opts.PublicURL.Scheme + "://" + s.opts.PublicURL.Host
	}
	if scheme, host, ok := middleware.ForwardedOrigin(r, s.adjustable().TrustedProxies); ok {
		return scheme + "://" + host
	}
	return ""
}

// varyOrigin adds what a shared cache must know of an answer with addresses that may be told by a trusted proxy.
func (s *Server) varyOrigin(w http.ResponseWriter) {
	if s.opts.PublicURL == nil && len(s.adjustable().TrustedProxies) > 0 {
		w.Header().Add("Vary", "X-Forwarded-Host, X-Forwarded-Proto")
	}
}

// base returns what addresses in an answer to r begin with.
func (s *Server) base(r *http.Request) string { return s.origin(r) + s.prefix }

// prefixOf returns the path that the outside finds this server's root at, without a final slash. A public URL with a
// path of its own says it all: it may lead through a proxy that strips that path. One without leaves it to basePath.
func prefixOf(public *url.URL, basePath string) string {
	if public != nil {
		if path := strings.TrimRight(public.EscapedPath(), "/"); path != "" {
			return path
		}
	}
	return basePath
}
