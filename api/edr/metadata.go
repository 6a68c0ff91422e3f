package edr

import (
	"encoding/json"
	"fmt"
	"slices"

	"limnomap/api/answer"
	"limnomap/api/coordinates"
	"limnomap/api/features"
	"limnomap/api/record"
)

// Describe adds to the description of a collection of features how it can be asked for by these queries.
func (c *Collection[R]) Describe(base string, description map[string]any) {
	queries := description["data_queries"].(map[string]any)
	var systems []any
	for _, s := range coordinates.Systems {
		systems = append(systems, map[string]string{"crs": s.URI(), "wkt": s.WKT()})
	}
	links := description["links"].([]answer.Link)
	for _, k := range kinds {
		if !slices.Contains(c.Kinds, k.kind) {
			continue
		}
		title := fmt.Sprintf(k.title, c.Things)
		variables := map[string]any{"title": title, "description": title, "query_type": k.kind, "output_formats": formats, "default_output_format": formatCoverage, "crs_details": systems}
		switch k.kind {
		case Radius:
			variables["within_units"] = unitNames()
		case Cube:
			variables["height_units"] = []string{} // water at the surface has no height
		}
		href := base + c.path() + "/" + string(k.kind)
		queries[string(k.kind)] = map[string]any{"link": map[string]any{"rel": "data", "type": "application/prs.coverage+json", "title": title, "href": href, "variables": variables}}
		mediaType := "application/prs.coverage+json"
		if k.kind == Locations {
			mediaType = "application/geo+json" // the list of lakes
		}
		links = append(links, answer.Link{Rel: "data", Type: mediaType, Title: title, Href: href})
	}
	names := record.Object("{")
	for i := range c.Parameters {
		p := &c.Parameters[i]
		names = p.append(names, p.Column).Text("id", p.Column).Text("data-type", dataType(c.column(p.Column), p)).Close("}")
	}
	description["links"], description["parameter_names"] = links, json.RawMessage(names.Close("}"))
	description["output_formats"], description["distanceunits"] = formats, unitNames()
}

// Operations returns the addresses of the queries.
func (c *Collection[R]) Operations() (all []features.Operation) {
	for _, k := range kinds {
		if !slices.Contains(c.Kinds, k.kind) {
			continue
		}
		path := "/collections/" + c.ID + "/" + string(k.kind)
		parameters := slices.Concat(k.place, []string{"datetime", "parameter-name", "crs", "f"})
		if k.kind == Locations {
			all = append(all, features.Operation{Path: path, ID: c.ID + "_locations", Type: "application/geo+json", Parameters: []string{"limit", "after", "bbox", "bbox-crs", "crs"}})
			path, parameters = path+"/{locationId}", append(parameters, "locationId")
		}
		all = append(all, features.Operation{Path: path, ID: c.ID + "_" + string(k.kind) + "_series", Type: "application/prs.coverage+json", Parameters: parameters})
	}
	return all
}

// ConformsTo lists the conformance classes of these queries. Not among them: edr-geojson, since it is not known without reading them from when on a lake
// has observations, and html, since series are data for programs.
var ConformsTo = []string{
	"http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf/core",
	"http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf/collections",
	"http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf/json",
	"http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf/geojson",
	"http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf/covjson",
	"http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf/oas30",
	"http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf/queries",
}
