package features

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"limnomap/api/coordinates"
	"limnomap/api/cql2"
	"limnomap/api/params"
)

const (
	// defaultLimit is some hundred kilobytes: clients that follow links need few of them. maxLimit is some megabytes.
	defaultLimit = 1000
	maxLimit     = 10_000
)

// A Query is which features a request asks for, and in what form.
type Query struct {
	Area         *cql2.Area     // nil: everywhere
	Period       cql2.Value     // null: always
	Filters      []*cql2.Filter // all must be true
	Limit        int
	After        string // the key after which the page begins
	Sort         []sortKey
	Outlines     bool
	SkipGeometry bool

	queryables []cql2.Property
	properties string // with commas between them; empty: all
	place      *place // like After, of a query with an order of its own
	system     *coordinates.System
	format     string
}

// The forms of answers.
const (
	formatJSON = "json"
	formatHTML = "html"
	formatCSV  = "csv"
)

// queryOf returns what a request for features of the collection asks for.
func (c *Collection) queryOf(r *http.Request) (*Query, error) {
	p := params.Of(r)
	q := &Query{format: c.formatOf(&p, r), queryables: c.queryables}
	q.Limit = p.Integer("limit", 1, maxLimit, defaultLimit)
	q.system = SystemOf(&p, "crs")
	q.Area = areaOf(&p)
	q.Period = PeriodOf(&p)
	q.SkipGeometry = params.OneOf(&p, "skipGeometry", []string{"false", "true"}) == "true"
	known := []string{"f", "limit", "crs", "bbox", "bbox-crs", "datetime", "skipGeometry", "properties", "filter", "filter-lang", "filter-crs", "after"}
	if c.Outlines {
		known = append(known, "geometry")
		q.Outlines = params.OneOf(&p, "geometry", []string{"point", "outline"}) == "outline"
	}
	q.properties = params.Parsed(&p, "properties", "", c.parseProperties, "has a name that is none of "+c.names())
	c.addFilters(&p, q, r, &known)
	if c.Sortable {
		known = append(known, "sortby")
		q.Sort = params.Parsed(&p, "sortby", nil, c.parseSort, fmt.Sprintf("is not one to %d of %s, each with a minus before it or without", maxSort, c.queryableNames()))
	}
	if after, ok := p.Text("after"); ok {
		var err error
		if len(q.Sort) > 0 {
			q.place, err = c.placeOf(after, q.Sort)
		} else {
			q.After, err = after, c.check(after)
		}
		if err != nil {
			p.Refuse("after", "%s is not from the link to the next page", params.Quote(after))
		}
	}
	if offset, ok := p.Text("offset"); ok && offset != "0" { // some clients send 0
		p.Refuse("offset", "%s is not 0; follow the link to the next page", params.Quote(offset))
	}
	RefuseUnknown(&p, r, append(known, "offset"))
	return q, p.Err()
}

// formatOf returns the form of an answer. Instead of items its name may be that of EDR too.
func (c *Collection) formatOf(p *params.Params, r *http.Request) string {
	allowed := []string{formatJSON, formatHTML, formatCSV}
	if c.Items != "" {
		allowed = append(allowed, "GeoJSON", "CSV")
	}
	switch f := params.FormatOf(p, r, allowed...); f {
	case "GeoJSON":
		return formatJSON
	case "CSV":
		return formatCSV
	default:
		return f
	}
}

// SystemOf returns the system that a parameter names.
func SystemOf(p *params.Params, name string) *coordinates.System {
	return params.Parsed(p, name, coordinates.Systems[0], coordinates.Parse, coordinates.Mistake)
}

// PeriodOf returns the period of the parameter datetime, null without it.
func PeriodOf(p *params.Params) cql2.Value {
	return params.Parsed(p, "datetime", cql2.Value{}, cql2.ParsePeriod, "is not a time as YYYY-MM-DDThh:mm:ssZ, a day as YYYY-MM-DD, or two with a slash between them, of which one may be ..")
}

// areaOf returns the area of the parameters bbox and bbox-crs.
func areaOf(p *params.Params) *cql2.Area {
	system := SystemOf(p, "bbox-crs")
	return params.Parsed(p, "bbox", nil, func(s string) (*cql2.Area, error) {
		least, greatest, err := system.ParseBox(s)
		if err != nil {
			return nil, err
		}
		return cql2.BoxArea(least, greatest, system.CRS)
	}, coordinates.MistakeInBox)
}

func (c *Collection) parseProperties(s string) (string, error) {
	seen := make(map[string]bool)
	for name := range strings.SplitSeq(s, ",") {
		if seen[name] || !slices.ContainsFunc(c.Properties, func(p Property) bool { return p.Name == name }) {
			return "", fmt.Errorf("unknown")
		}
		seen[name] = true
	}
	return s, nil
}

func (c *Collection) names() string {
	var names []string
	for _, p := range c.Properties {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

func (c *Collection) queryableNames() string {
	var names []string
	for _, q := range c.queryables[:len(c.queryables)-1] {
		names = append(names, q.Name)
	}
	return strings.Join(names, ", ")
}

// addFilters adds the filter of a request, and that of each parameter that has the name of a property.
func (c *Collection) addFilters(p *params.Params, q *Query, r *http.Request, known *[]string) {
	language := params.OneOf(p, "filter-lang", []string{"cql2-text", "cql2-json"})
	system := SystemOf(p, "filter-crs")
	if text, ok := p.Text("filter"); ok {
		parse := cql2.ParseText
		if language == "cql2-json" {
			parse = cql2.ParseJSON
		}
		f, err := parse(text, c.queryables, system.CRS)
		if err == nil && system.NorthFirst {
			err = fmt.Errorf("areas in %s are not read, whose axes are northing and easting; use another filter-crs", system.URI())
		}
		if err != nil {
			p.Refuse("filter", "%v", err)
		} else {
			q.Filters = append(q.Filters, f)
		}
	}
	asked := r.URL.Query()
	for _, property := range c.queryables[:len(c.queryables)-1] {
		*known = append(*known, property.Name)
		if len(asked[property.Name]) == 0 {
			continue
		}
		text, _ := p.Text(property.Name)
		f, err := cql2.Equal(property.Name, text, c.queryables)
		if err != nil {
			p.Refuse(property.Name, "%v", err)
			continue
		}
		q.Filters = append(q.Filters, f)
	}
}

// RefuseUnknown refuses parameters that a request has and that are not known (OGC 17-069r4, requirement 8).
func RefuseUnknown(p *params.Params, r *http.Request, known []string) {
	asked, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		p.Refuse("query", "%v", err)
	}
	names := make([]string, 0, len(asked))
	for name := range asked {
		if !slices.Contains(known, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		p.Refuse(name, "unknown here; known are %s", strings.Join(known, ", "))
	}
}
