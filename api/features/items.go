package features

import (
	"bytes"
	"cmp"
	"html/template"
	"net/http"
	"net/url"

	"limnomap/api/answer"
	"limnomap/api/coordinates"
	"limnomap/api/params"
	"limnomap/api/record"
)

// Path is the folder of all collections.
const Path = "/ogc/collections"

// The path of what a collection has.
func (c *Collection) path() string { return Path + "/" + c.ID }

// ItemsPath returns the path of the features.
func (c *Collection) ItemsPath() string { return c.path() + "/" + cmp.Or(c.Items, "items") }

// A Service answers requests for features.
type Service struct {
	Sender *answer.Sender
	// Base returns what addresses in an answer to r begin with, and whether only the client's own cache may store the answer. It adds to the
	// header of w what that depends on.
	Base   func(w http.ResponseWriter, r *http.Request) (base string, private bool)
	Notice string // that the data are not real; empty for real data
}

// A page is what a query has found.
type page struct {
	n       int
	next    string // the key after which the next page begins; empty for the last one
	header  []byte // the first line of the table
	columns []string
	feature func(b []byte, i int) []byte // appends the i-th feature, without its last brace
	line    func(b []byte, i int) []byte
	key     func(i int) string
}

var (
	// GeoJSONKind and CSVKind are the kinds of answers in these formats.
	GeoJSONKind = answer.NewKind("application/geo+json", answer.CacheMinute)
	CSVKind     = answer.NewKind("text/csv; charset=utf-8; header=present", answer.CacheMinute)
	htmlKind    = answer.NewKind("text/html; charset=utf-8", answer.CacheMinute)
	schemaKind  = answer.NewKind("application/schema+json", answer.CacheMinute)
)

// begin returns what Base does, for an answer whose form the client may negotiate.
func (s *Service) begin(w http.ResponseWriter, r *http.Request) (base string, private bool) {
	w.Header().Add("Vary", "Accept")
	return s.Base(w, r)
}

// send sends a document as it is, or as a page with a title.
func (s *Service) send(w http.ResponseWriter, r *http.Request, kind answer.Kind, private bool, format, title string, content []byte) (err error) {
	if format == formatHTML {
		kind = htmlKind
		if content, err = Page(title, s.Notice, content); err != nil {
			return err
		}
	}
	return s.Sender.SendBytes(w, r, kind.PrivateIf(private), content)
}

// itemBytes is about what a record of a page takes.
const itemBytes = 600

// Items answers with a page of features of data that changed at a time, as RFC 3339.
func (s *Service) Items(w http.ResponseWriter, r *http.Request, c *Collection, updated string) error {
	q, err := c.queryOf(r)
	if err != nil {
		return err
	}
	p, err := c.page(r, q)
	if err != nil {
		return err
	}
	base, private := s.begin(w, r)
	w.Header().Set("Content-Crs", "<"+q.system.URI()+">")
	links := s.links(c, base, r, q, p)
	for _, l := range links {
		w.Header().Add("Link", "<"+l.Href+`>; rel="`+l.Rel+`"; type="`+l.Type+`"`)
	}
	switch q.format {
	case formatCSV:
		return s.Sender.SendList(w, r, CSVKind.PrivateIf(private), p.n, func() answer.List {
			return answer.List{Head: p.header, Append: p.line, Len: p.n, Memory: int64(p.n) * itemBytes}
		})
	case formatHTML:
		content, err := s.itemsPage(c, base, links, p)
		if err != nil {
			return err
		}
		return s.Sender.SendBytes(w, r, htmlKind.PrivateIf(private), content)
	}
	return s.Sender.SendList(w, r, GeoJSONKind.PrivateIf(private), p.n, func() answer.List {
		tail := record.Object("{").Int("numberReturned", p.n)
		if c.Count >= 0 && q.everything() {
			tail = tail.Int("numberMatched", c.Count)
		}
		tail = AppendLinks(tail.Text("timeStamp", updated), links)
		return answer.List{
			Head:    []byte(`{"type":"FeatureCollection","features":[`),
			Append:  func(b []byte, i int) []byte { return append(p.feature(b, i), '}') },
			Between: ",",
			Tail:    "]," + string(tail[1:]) + "}\n",
			Len:     p.n,
			Memory:  int64(p.n) * itemBytes,
		}
	})
}

// everything reports whether the query asks for all records.
func (q *Query) everything() bool {
	return q.Area == nil && !q.Period.Known() && len(q.Filters) == 0
}

// AppendLinks appends links as a member.
func AppendLinks(o record.Object, links []answer.Link) record.Object {
	o = o.Array("links")
	for _, l := range links {
		o = o.Open("").Text("rel", l.Rel).Text("type", l.Type).Text("title", l.Title).Text("href", l.Href).Close("}")
	}
	return o.Close("]")
}

var mediaTypes = []struct{ format, mediaType string }{{formatJSON, "application/geo+json"}, {formatHTML, "text/html"}, {formatCSV, "text/csv"}}

// links returns those of a page.
func (s *Service) links(c *Collection, base string, r *http.Request, q *Query, p *page) (links []answer.Link) {
	address := func(name, value string) string {
		query := r.URL.Query()
		query.Set(name, value)
		return base + c.ItemsPath() + "?" + query.Encode()
	}
	own := ""
	for _, m := range mediaTypes {
		l := answer.Link{Rel: "alternate", Type: m.mediaType, Title: "These features as " + m.mediaType, Href: address("f", m.format)}
		if m.format == q.format {
			l.Rel, l.Title, own = "self", "These features", m.mediaType
			if r.URL.RawQuery == "" {
				l.Href = base + c.ItemsPath()
			}
		}
		links = append(links, l)
	}
	links = append(links, answer.Link{Rel: "collection", Type: answer.TypeJSON, Title: c.Title, Href: base + c.path()})
	if p.next != "" {
		links = append(links, answer.Link{Rel: "next", Type: own, Title: "The next features", Href: address("after", p.next)})
	}
	return links
}

// Item answers with one feature.
func (s *Service) Item(w http.ResponseWriter, r *http.Request, c *Collection, key string) error {
	p := params.Of(r)
	known := []string{"f", "crs"}
	q := &Query{format: params.FormatOf(&p, r, formatJSON, formatHTML), system: SystemOf(&p, "crs")}
	if c.Outlines {
		known = append(known, "geometry")
		q.Outlines = params.OneOf(&p, "geometry", []string{"point", "outline"}) == "outline"
	}
	RefuseUnknown(&p, r, known)
	if err := p.Err(); err != nil {
		return err
	}
	if c.check(key) != nil {
		return &answer.Problem{Status: http.StatusNotFound, Detail: "This collection has no feature of that id."}
	}
	content, err := c.item(r, key, q)
	if err != nil {
		return err
	}
	base, private := s.begin(w, r)
	w.Header().Set("Content-Crs", "<"+q.system.URI()+">")
	self := base + c.ItemsPath() + "/" + url.PathEscape(key)
	links := []answer.Link{
		{Rel: "self", Type: geoJSONType, Title: "This feature", Href: self},
		{Rel: "alternate", Type: htmlType, Title: "This feature as a page", Href: self + "?f=html"},
		{Rel: "collection", Type: answer.TypeJSON, Title: c.Title, Href: base + c.path()},
	}
	content = AppendLinks(content, links).Close("}\n")
	return s.send(w, r, GeoJSONKind, private, q.format, c.Title+": "+key, content)
}

const (
	geoJSONType = "application/geo+json"
	htmlType    = "text/html"
)

// itemsTemplate is a page of features, without scripts.
var itemsTemplate = template.Must(template.New("items").Parse(pageHead + `<p>{{.Description}}</p>
<p>{{range .Links}}<a href="{{.Href}}" rel="{{.Rel}}">{{.Title}}</a> · {{end}}<a href="{{.Queryables}}">What can be asked for</a></p>
<table>
<thead><tr><th scope="col">feature</th>{{range .Columns}}<th scope="col">{{.}}</th>{{end}}</tr></thead>
<tbody>
{{range .Rows}}<tr><td><a href="{{.Href}}">{{.Key}}</a></td>{{range .Cells}}<td>{{.}}</td>{{end}}</tr>
{{end}}</tbody>
</table>
</html>
`))

// itemsPage returns a page of features in HTML.
func (s *Service) itemsPage(c *Collection, base string, links []answer.Link, p *page) ([]byte, error) {
	type row struct {
		Key, Href string
		Cells     []string
	}
	rows := make([]row, 0, p.n)
	for i := range p.n {
		cells, err := cellsOf(p.line(nil, i))
		if err != nil {
			return nil, err
		}
		key := p.key(i)
		href := base + c.ItemsPath() + "/" + url.PathEscape(key)
		if c.Items == "" {
			href += "?f=html"
		}
		rows = append(rows, row{key, href, cells})
	}
	var b bytes.Buffer
	err := itemsTemplate.Execute(&b, map[string]any{"Title": c.Title, "Description": c.Description, "Notice": s.Notice, "Links": links, "Columns": p.columns, "Rows": rows,
		"Queryables": base + c.path() + "/queryables?f=html"})
	return b.Bytes(), err
}

// Queryables answers with the properties of a collection that a filter may name, as JSON Schema (OGC 19-079r2, section 6.2).
func (s *Service) Queryables(w http.ResponseWriter, r *http.Request, c *Collection) error {
	p := params.Of(r)
	f := params.FormatOf(&p, r, formatJSON, formatHTML)
	RefuseUnknown(&p, r, []string{"f"})
	if err := p.Err(); err != nil {
		return err
	}
	base, private := s.begin(w, r)
	o := record.Object("{").Text("$schema", "https://json-schema.org/draft/2020-12/schema").Text("$id", base+c.path()+"/queryables").
		Text("type", "object").Text("title", c.Title).Name("additionalProperties").Close("false").Open("properties")
	for _, property := range c.Properties {
		if !property.Queried {
			continue
		}
		o = o.Open(property.Name).Text("title", property.Name).Text("type", property.Type)
		if property.Time {
			o = o.Text("format", "date-time")
		}
		o = o.Close("}")
	}
	o = o.Open(placeName).Text("title", "Place").Text("format", "geometry-any").Close("}}}\n")
	return s.send(w, r, schemaKind, private, f, "What can be asked for: "+c.Title, o)
}

// Describe returns what a list of collections says about one.
func (c *Collection) Describe(base string, extent any) map[string]any {
	links := []answer.Link{
		{Rel: "self", Type: answer.TypeJSON, Title: "This collection", Href: base + c.path()},
		{Rel: "alternate", Type: htmlType, Title: "This collection as a page", Href: base + c.path() + "?f=html"},
		{Rel: "http://www.opengis.net/def/rel/ogc/1.0/queryables", Type: "application/schema+json", Title: "What can be asked for", Href: base + c.path() + "/queryables"},
	}
	var forms []string
	for _, m := range mediaTypes {
		links = append(links, answer.Link{Rel: "items", Type: m.mediaType, Title: "The features as " + m.mediaType, Href: base + c.ItemsPath() + "?f=" + m.format})
		forms = append(forms, m.format)
	}
	items := map[string]any{"rel": "items", "href": base + c.ItemsPath(), "variables": map[string]string{"title": "The features", "query_type": "items"}}
	return map[string]any{
		"id": c.ID, "title": c.Title, "description": c.Description, "itemType": "feature", "extent": extent,
		"crs": coordinates.URIs(), "storageCrs": coordinates.CRS84, "links": links,
		// EDR wants these of every collection.
		"data_queries": map[string]any{"items": map[string]any{"link": items}}, "parameter_names": struct{}{}, "output_formats": forms,
	}
}

// ConformsTo lists the conformance classes of features.
var ConformsTo = []string{
	"http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core",
	"http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/geojson",
	"http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/html",
	"http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/oas30",
	"http://www.opengis.net/spec/ogcapi-features-2/1.0/conf/crs",
	"http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/queryables",
	"http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/queryables-query-parameters",
	"http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/filter",
	"http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/features-filter",
	"http://www.opengis.net/spec/cql2/1.0/conf/cql2-text",
	"http://www.opengis.net/spec/cql2/1.0/conf/cql2-json",
	"http://www.opengis.net/spec/cql2/1.0/conf/basic-cql2",
	"http://www.opengis.net/spec/cql2/1.0/conf/advanced-comparison-operators",
	"http://www.opengis.net/spec/cql2/1.0/conf/basic-spatial-functions",
}
