package ogc

import (
	"encoding/json"
	"net/http"
	"slices"

	"limnomap/api/answer"
	"limnomap/api/params"
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

// conformsTo lists the conformance classes. Some are left out for a reason: datetime, since a tile shows one week and intervals
// are refused; geodata-tilesets, since the tilesets of the collection are at the address of the dataset; oas30 and the HTML of
// landing-page, since the description is in OpenAPI 3.1 and all documents are JSON.
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

func schemeLink(base string) answer.Link {
	return answer.Link{Rel: relScheme, Type: answer.TypeJSON, Title: "The tile matrix set " + quadName, Href: base + pathMatrixSet}
}

// A Document is a description of the API.
type Document struct {
	Path    string
	Handler answer.Handler
}

// Documents returns all documents of OGC API.
func (s *Service) Documents() []Document {
	return []Document{
		{PathLanding, s.document(s.landing)},
		{PathLanding + "/", s.document(s.landing)},
		{pathConformance, s.document(s.conformance)},
		{pathCollections, s.document(s.collections)},
		{pathCollection, s.document(s.collection)},
		{pathMatrixSets, s.document(s.matrixSets)},
		{pathMatrixSet, s.document(s.matrixSet)},
		{pathMapSets, s.document(s.mapTiles.describeList(s))},
		{pathMapSet, s.document(s.mapTiles.describe(s))},
		{pathVectorSets, s.document(s.vectorTiles.describeList(s))},
		{pathVectorSet, s.document(s.vectorTiles.describe(s))},
	}
}

var (
	jsonKind = answer.NewKind(answer.TypeJSON, answer.CacheMinute)
	htmlKind = answer.NewKind("text/html; charset=utf-8", answer.CacheMinute)
)

// document returns a handler that answers with what describe returns. Addresses in it begin with base.
func (s *Service) document(describe func(state *State, base string) any) answer.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		state, err := s.Current()
		if err != nil {
			return err
		}
		return s.Describe(w, r, func(base string) any { return describe(state, base) })
	}
}

// Describe answers with a description as JSON, or as a page for people. Addresses in it begin with base.
func (s *Service) Describe(w http.ResponseWriter, r *http.Request, describe func(base string) any) error {
	query := params.Of(r)
	format := params.FormatOf(&query, r, "json", "html")
	if err := query.Err(); err != nil {
		return err
	}
	state, err := s.Current()
	if err != nil {
		return err
	}
	answer.InfoOf(r).TrueFor = s.TrueFor(state)
	base, private := s.Base(w, r)
	w.Header().Add("Vary", "Accept")
	if format != "html" {
		return s.Sender.SendJSON(w, r, jsonKind.PrivateIf(private), describe(base))
	}
	content, err := json.Marshal(describe(base))
	if err == nil {
		content, err = s.Page(s.title("limnomap"), content)
	}
	if err != nil {
		return err
	}
	return s.Sender.SendBytes(w, r, htmlKind.PrivateIf(private), content)
}

// landing is the document from which a client of OGC API finds everything else.
func (s *Service) landing(state *State, base string) any {
	return map[string]any{
		"title":       s.title("limnomap"),
		"description": s.abstract(state),
		"attribution": s.Attribution(state),
		"links": []answer.Link{
			{Rel: "self", Type: answer.TypeJSON, Title: "This page", Href: base + PathLanding + "/"},
			{Rel: "service-desc", Type: "application/vnd.oai.openapi+json;version=3.0", Title: "The features (OpenAPI 3.0)", Href: base + s.FeaturesPath},
			{Rel: "service-desc", Type: "application/vnd.oai.openapi+json;version=3.1", Title: "All addresses (OpenAPI 3.1)", Href: base + s.OpenAPIPath},
			{Rel: "service-doc", Type: "text/html", Title: "All addresses, as a page", Href: base + s.DocsPath},
			{Rel: "conformance", Type: answer.TypeJSON, Title: "What it conforms to", Href: base + pathConformance},
			{Rel: relConformance, Type: answer.TypeJSON, Title: "What it conforms to", Href: base + pathConformance},
			{Rel: "data", Type: answer.TypeJSON, Title: "What there is", Href: base + pathCollections},
			{Rel: relData, Type: answer.TypeJSON, Title: "What there is", Href: base + pathCollections},
			{Rel: relMapSets, Type: answer.TypeJSON, Title: "Tilesets of pictures", Href: base + pathMapSets},
			{Rel: relVectorSets, Type: answer.TypeJSON, Title: "Tilesets of vector tiles", Href: base + pathVectorSets},
			{Rel: relSchemes, Type: answer.TypeJSON, Title: "Tile matrix sets", Href: base + pathMatrixSets},
			{Rel: "related", Type: answer.TypeXML, Title: "The same map as WMTS 1.0.0", Href: base + PathCapabilities},
		},
	}
}

func (s *Service) conformance(*State, string) any {
	return map[string]any{"conformsTo": slices.Concat(conformsTo, s.ConformsTo)}
}

// Extent returns where and when the data of a state are from.
func (s *Service) Extent(state *State) any {
	extent := map[string]any{"spatial": map[string]any{
		"bbox": [][4]float64{state.Bounds},
		"crs":  crs84,
	}}
	if weeks := state.Snapshot.Weeks; len(weeks) > 0 {
		extent["temporal"] = map[string]any{
			"interval": [][2]string{{startOf(weeks[0].Week.Monday()), startOf(weeks[len(weeks)-1].Week.Sunday())}},
			"trs":      "http://www.opengis.net/def/uom/ISO-8601/0/Gregorian",
		}
	}
	return extent
}

// collection describes the map.
func (s *Service) collection(state *State, base string) any {
	return map[string]any{
		"id":          layerName,
		"title":       s.title(layerTitle),
		"itemType":    "map", // it has no features: clients of features must not ask for them
		"description": s.abstract(state),
		"attribution": s.Attribution(state),
		"extent":      s.Extent(state),
		"crs":         []string{quadCRS},
		// EDR wants these of every collection: the map has no query of EDR.
		"data_queries": struct{}{}, "parameter_names": struct{}{}, "output_formats": []string{},
		"links": []answer.Link{
			{Rel: "self", Type: answer.TypeJSON, Title: "This collection", Href: base + pathCollection},
			{Rel: relMapSets, Type: answer.TypeJSON, Title: "Tilesets of pictures", Href: base + pathMapSets},
			{Rel: relVectorSets, Type: answer.TypeJSON, Title: "Tilesets of vector tiles", Href: base + pathVectorSets},
			{Rel: "enclosure", Type: "application/geo+json", Title: "All lakes as GeoJSON", Href: base + s.GeoJSONPath},
		},
	}
}

func startOf(d data.Date) string { return d.String() + "T00:00:00Z" }

func (s *Service) collections(state *State, base string) any {
	return map[string]any{
		"links":       []answer.Link{{Rel: "self", Type: answer.TypeJSON, Title: "This list", Href: base + pathCollections}},
		"collections": append([]any{s.collection(state, base)}, s.Collections(base)...),
	}
}

func (s *Service) matrixSets(_ *State, base string) any {
	return map[string]any{"tileMatrixSets": []any{map[string]any{
		"id": quadName, "title": quad().Title, "uri": quadURI, "crs": quadCRS,
		"links": []answer.Link{{Rel: "self", Type: answer.TypeJSON, Title: quadName, Href: base + pathMatrixSet}},
	}}}
}

func (s *Service) matrixSet(*State, string) any { return quad() }
