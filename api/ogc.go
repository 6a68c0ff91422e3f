package api

import (
	"net/http"

	"limnomap/api/answer"
	"limnomap/data"
)

// The relations of OGC's links (OGC 20-057, section 6.2).
const (
	relOGC         = "http://www.opengis.net/def/rel/ogc/1.0/"
	relConformance = relOGC + "conformance"
	relData        = relOGC + "data"
	relGeodata     = relOGC + "geodata"
	relMapSets     = relOGC + "tilesets-map"
	relVectorSets  = relOGC + "tilesets-vector"
	relTileset     = relOGC + "tileset" // of drafts, which older clients know
	relScheme      = relOGC + "tiling-scheme"
	relSchemes     = relOGC + "tiling-schemes"
)

// conformsTo lists the conformance classes that are kept. Those left out for a reason: datetime, since a tile shows one
// week, so that intervals are refused; geodata-tilesets, since the collection's tilesets stand at the dataset's address;
// oas30 and landing-page's HTML, since the description is of OpenAPI 3.1 and all is JSON.
var conformsTo = []string{
	"http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/core",
	"http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/landing-page",
	"http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/json",
	"http://www.opengis.net/spec/ogcapi-common-2/1.0/conf/collections",
	"http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/core",
	"http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/tileset",
	"http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/tilesets-list",
	"http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/dataset-tilesets",
	"http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/png",
	"http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/mvt",
	"http://www.opengis.net/spec/tms/2.0/conf/tilematrixset",
	"http://www.opengis.net/spec/tms/2.0/conf/json-tilematrixset",
}

// An ogcLink leads from one document to another.
type ogcLink struct {
	Rel       string `json:"rel"`
	Type      string `json:"type"`
	Title     string `json:"title"`
	Href      string `json:"href"`
	Templated bool   `json:"templated,omitempty"`
}

func schemeLink(base string) ogcLink {
	return ogcLink{Rel: relScheme, Type: answer.TypeJSON, Title: "The tile matrix set " + quadName, Href: base + pathMatrixSet}
}

// ogcDocument returns a handler that answers with a document of OGC API, which has one form. describe makes it
// of what is published, with addresses that begin with base.
func (s *Server) ogcDocument(describe func(p *published, base string) any) answer.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		params := paramsOf(r)
		oneOf(params, "f", []string{"json"})
		if err := params.err(); err != nil {
			return err
		}
		p, err := s.published()
		if err != nil {
			return err
		}
		s.varyOrigin(w)
		return s.sender.Send(w, r, jsonKind, answer.JSON(describe(p, s.base(r))))
	}
}

// ogcLanding is the page from which a client of OGC API finds everything else.
func (s *Server) ogcLanding(_ *published, base string) any {
	return map[string]any{
		"title":       s.ogcTitle("limnomap"),
		"description": s.ogcAbstract(),
		"attribution": s.attribution(),
		"links": []ogcLink{
			{Rel: "self", Type: answer.TypeJSON, Title: "This page", Href: base + pathOGC + "/"},
			{Rel: "service-desc", Type: answer.TypeJSON, Title: "All addresses (OpenAPI 3.1)", Href: base + "/openapi.json"},
			{Rel: "conformance", Type: answer.TypeJSON, Title: "What it conforms to", Href: base + pathConformance},
			{Rel: relConformance, Type: answer.TypeJSON, Title: "What it conforms to", Href: base + pathConformance},
			{Rel: "data", Type: answer.TypeJSON, Title: "What there is", Href: base + pathCollections},
			{Rel: relData, Type: answer.TypeJSON, Title: "What there is", Href: base + pathCollections},
			{Rel: relMapSets, Type: answer.TypeJSON, Title: "Tilesets of pictures", Href: base + pathMapSets},
			{Rel: relVectorSets, Type: answer.TypeJSON, Title: "Tilesets of vector tiles", Href: base + pathVectorSets},
			{Rel: relSchemes, Type: answer.TypeJSON, Title: "Tile matrix sets", Href: base + pathMatrixSets},
			{Rel: "related", Type: answer.TypeXML, Title: "The same map as WMTS 1.0.0", Href: base + pathCapabilities},
		},
	}
}

func (s *Server) ogcConformance(*published, string) any {
	return map[string]any{"conformsTo": conformsTo}
}

// ogcCollection describes the lakes as the one collection that there is.
func (s *Server) ogcCollection(p *published, base string) map[string]any {
	extent := map[string]any{"spatial": map[string]any{
		"bbox": [][4]float64{{
			round(p.extent.Min.Lon()), round(p.extent.Min.Lat()), round(p.extent.Max.Lon()), round(p.extent.Max.Lat()),
		}},
		"crs": crs84,
	}}
	if weeks := p.snap.Weeks; len(weeks) > 0 {
		extent["temporal"] = map[string]any{"interval": [][2]string{{
			startOf(weeks[0].Week.Monday()), startOf(weeks[len(weeks)-1].Week.Sunday()),
		}}}
	}
	return map[string]any{
		"id":          layerName,
		"title":       s.ogcTitle(ogcLayerTitle),
		"description": s.ogcAbstract(),
		"attribution": s.attribution(),
		"extent":      extent,
		"crs":         []string{quadCRS},
		"links": []ogcLink{
			{Rel: "self", Type: answer.TypeJSON, Title: "This collection", Href: base + pathCollection},
			{Rel: relMapSets, Type: answer.TypeJSON, Title: "Tilesets of pictures", Href: base + pathMapSets},
			{Rel: relVectorSets, Type: answer.TypeJSON, Title: "Tilesets of vector tiles", Href: base + pathVectorSets},
			{Rel: "enclosure", Type: geoJSONKind.ContentType(), Title: "All lakes as GeoJSON", Href: base + pathGeoJSON},
		},
	}
}

func startOf(d data.Date) string { return d.String() + "T00:00:00Z" }

func (s *Server) ogcCollections(p *published, base string) any {
	return map[string]any{
		"links":       []ogcLink{{Rel: "self", Type: answer.TypeJSON, Title: "This list", Href: base + pathCollections}},
		"collections": []any{s.ogcCollection(p, base)},
	}
}

func (s *Server) ogcMatrixSets(_ *published, base string) any {
	return map[string]any{"tileMatrixSets": []any{map[string]any{
		"id": quadName, "title": quad().Title, "uri": quadURI, "crs": quadCRS,
		"links": []ogcLink{{Rel: "self", Type: answer.TypeJSON, Title: quadName, Href: base + pathMatrixSet}},
	}}}
}

func (s *Server) ogcMatrixSet(*published, string) any { return quad() }
