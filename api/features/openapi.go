package features

import (
	"net/http"
	"strconv"

	"limnomap/api/answer"
	"limnomap/api/params"
	"limnomap/api/record"
)

// PathDescription is the address of the description of the collections for clients of OGC API - Features: in OpenAPI 3.0 and with an address for
// each collection, as they look for it.
const PathDescription = "/ogc/api"

// typeOpenAPI is the media type of that description (OGC 17-069r4, requirement 29).
const typeOpenAPI = "application/vnd.oai.openapi+json;version=3.0"

var openAPIKind = answer.NewKind(typeOpenAPI, answer.CacheMinute)

// An Operation is an address that is described besides those of features.
type Operation struct {
	Path, ID, Type string // below /ogc
	Parameters     []string
}

// Description answers with the description of the collections.
func (s *Service) Description(w http.ResponseWriter, r *http.Request, all []*Collection, more ...Operation) error {
	p := params.Of(r)
	f := params.FormatOf(&p, r, formatJSON, formatHTML)
	if err := p.Err(); err != nil {
		return err
	}
	base, private := s.begin(w, r)
	return s.send(w, r, openAPIKind, private, f, "limnomap: features", describe(base, all, more))
}

// describe returns the description. Exact schemas are in that of all addresses, in OpenAPI 3.1.
func describe(base string, all []*Collection, more []Operation) []byte {
	o := record.Object("{").Text("openapi", "3.0.3")
	o = o.Open("info").Text("title", "limnomap: features").Text("version", "1.0.0").Close("}")
	o = o.Array("servers").Open("").Text("url", base+"/ogc").Close("}]")
	o = o.Open("paths")
	o = addPath(o, "/", "landing", answer.TypeJSON)
	o = addPath(o, "/conformance", "conformance", answer.TypeJSON)
	o = addPath(o, "/collections", "collections", answer.TypeJSON)
	for _, c := range all {
		path := "/collections/" + c.ID
		o = addPath(o, path, c.ID, answer.TypeJSON)
		o = addPath(o, path+"/queryables", c.ID+"_queryables", "application/schema+json")
		names := []string{"limit", "after", "bbox", "bbox-crs", "crs", "datetime", "filter", "filter-lang", "filter-crs", "properties", "skipGeometry"}
		if c.Outlines {
			names = append(names, "geometry")
		}
		if c.Sortable {
			names = append(names, "sortby")
		}
		o = addPath(o, path+"/items", c.ID+"_items", geoJSONType, names...)
		o = addPath(o, path+"/items/{featureId}", c.ID+"_item", geoJSONType, "featureId", "crs")
	}
	for _, operation := range more {
		o = addPath(o, operation.Path, operation.ID, operation.Type, operation.Parameters...)
	}
	o = o.Close("}").Open("components").Open("parameters")
	text := `{"type":"string"}`
	required := text + `,"required":true`
	for _, parameter := range []struct{ name, schema string }{
		{"limit", `{"type":"integer","minimum":1,"maximum":` + strconv.Itoa(maxLimit) + `,"default":` + strconv.Itoa(defaultLimit) + `}`},
		{"after", text}, {"bbox-crs", text}, {"crs", text}, {"datetime", text}, {"filter", text}, {"filter-crs", text}, {"properties", text}, {"sortby", text},
		{"f", text}, {"parameter-name", text}, {"coords", required}, {"within", required}, {"within-units", required},
		{"filter-lang", `{"type":"string","enum":["cql2-text","cql2-json"],"default":"cql2-text"}`},
		{"skipGeometry", `{"type":"boolean","default":false}`},
		{"geometry", `{"type":"string","enum":["point","outline"],"default":"point"}`},
	} {
		o = o.Open(parameter.name).Text("name", parameter.name).Text("in", "query").Name("schema").Close(parameter.schema + "}")
	}
	o = o.Open("bbox").Text("name", "bbox").Text("in", "query").Text("style", "form").Name("explode").Close("false").
		Name("schema").Close(`{"type":"array","items":{"type":"number"},"minItems":4,"maxItems":6}}`)
	for _, name := range []string{"featureId", "locationId"} {
		o = o.Open(name).Text("name", name).Text("in", "path").Name("required").Close("true").Name("schema").Close(text + "}")
	}
	return o.Close("}}}\n")
}

// addPath appends the description of an address.
func addPath(o record.Object, path, id, mediaType string, parameters ...string) record.Object {
	o = o.Open(path).Open("get").Text("operationId", id)
	if len(parameters) > 0 {
		o = o.Array("parameters")
		for _, name := range parameters {
			o = o.Open("").Text("$ref", "#/components/parameters/"+name).Close("}")
		}
		o = o.Close("]")
	}
	o = o.Open("responses").Open("200").Text("description", "The answer.").Open("content").Open(mediaType).Close("}")
	if mediaType == answer.TypeJSON || mediaType == geoJSONType {
		o = o.Open(htmlType).Close("}")
	}
	return o.Close("}}").Open("default").Text("description", "What is wrong.").Open("content").Open("application/problem+json").Close("}}}}}}")
}
