package edr

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/paulmach/orb"

	"limnomap/api/answer"
	"limnomap/api/coordinates"
	"limnomap/api/features"
	"limnomap/api/record"
)

// A Parameter is a column whose values are measured.
type Parameter struct {
	Column string
	Label  string // in English
	Unit   string // in the Unified Code for Units of Measure; empty: none
	Symbol string // of the unit, as people write it
	// Categories are the values of a column of texts, or what the one value of a column of truths means. They are 1, 2 and so on.
	Categories []string
}

// A Collection is of records that are series in time, or pixels.
type Collection[R any] struct {
	ID, Title  string
	Things     string // what a query asks for: series or pixels
	Kinds      []Kind // of queries that it answers
	Instead    string // where to find all if there are too many for an answer, such as "go through the pages of items"
	Parameters []Parameter
	Columns    record.Columns[R] // of all of which Parameters and About have the names
	About      string            // columns that are equal in all records of a series, with commas between them; the first is the lake
	Day        string            // the column with the day of a record
	Key        func(R) string
	Place      func(R) orb.Point
	// Lattice returns of which grid a record is a pixel, and its column and row. The pixels of one day and source have one Lattice. Nil for records that are
	// no pixels.
	Lattice func(R) (l *Lattice, column, row int)
}

func (c *Collection[R]) path() string { return features.Path + "/" + c.ID }

// all returns the indexes of all parameters.
func (c *Collection[R]) all() []int {
	all := make([]int, len(c.Parameters))
	for i := range all {
		all[i] = i
	}
	return all
}

func (c *Collection[R]) names() (names []string) {
	for _, p := range c.Parameters {
		names = append(names, p.Column)
	}
	return names
}

func (c *Collection[R]) parseParameters(s string) (picked []int, err error) {
	names := c.names()
	for name := range strings.SplitSeq(s, ",") {
		i := slices.Index(names, name)
		if i < 0 || slices.Contains(picked, i) {
			return nil, errors.New("unknown")
		}
		picked = append(picked, i)
	}
	return picked, nil
}

// column returns the column of a name.
func (c *Collection[R]) column(name string) *record.Column[R] {
	return &c.Columns[slices.IndexFunc(c.Columns, func(column record.Column[R]) bool { return column.Name == name })]
}

var coverageKind = answer.NewKind("application/prs.coverage+json", answer.CacheMinute)

// Answer sends the records that walk visits: lake by lake. It sorts those of a lake into its series, each from its oldest to its newest record.
func (c *Collection[R]) Answer(s *features.Service, w http.ResponseWriter, r *http.Request, q *Query, walk func(visit func(R) bool) error) error {
	a := c.newWriter(q)
	var lake []R
	total := 0
	if err := walk(func(record R) bool {
		if len(lake) > 0 && a.about[0].Value(lake[0]).Text != a.about[0].Value(record).Text {
			a.addLake(lake)
			lake = lake[:0]
		}
		lake = append(lake, record)
		total++
		return total <= MaxRecords
	}); err != nil {
		return err
	}
	if total > MaxRecords {
		return TooLarge("datetime", fmt.Sprintf("there are more than %d %s; ask for a shorter time or fewer lakes, or %s", MaxRecords, strings.ToLower(c.Title), c.Instead))
	}
	a.addLake(lake)
	base, private := s.Base(w, r)
	if !a.grids || !q.native { // grids have systems of their own
		w.Header().Set("Content-Crs", "<"+q.system.URI()+">")
	}
	kind := coverageKind
	switch q.format {
	case formatGeoJSON:
		kind = features.GeoJSONKind
	case formatCSV:
		kind = features.CSVKind
	}
	return s.Sender.SendBytes(w, r, kind.PrivateIf(private), a.end(base, r))
}

// A writer writes series in the form of a query.
type writer[R any] struct {
	*Collection[R]
	q          *Query
	grids      bool // records are written as grids
	about      []*record.Column[R]
	day        *record.Column[R]
	parameters []*record.Column[R]
	columns    record.Columns[R] // of CSV and GeoJSON

	content record.Object
	begin   int // of the first series
	domain  int // where the members of its domain begin
	series  int // how many there are
}

func (c *Collection[R]) newWriter(q *Query) *writer[R] {
	a := &writer[R]{Collection: c, q: q, day: c.column(c.Day), grids: c.Lattice != nil && q.Kind != Position && q.format == formatCoverage}
	for name := range strings.SplitSeq(c.About, ",") {
		a.about = append(a.about, c.column(name))
	}
	for _, i := range q.parameters {
		a.parameters = append(a.parameters, c.column(c.Parameters[i].Column))
	}
	a.columns = c.Columns.Pick(c.About + "," + c.Day)
	if q.format == formatCSV {
		a.columns = append(a.columns, record.Number("x", func(r R) float64 { return a.axis(r, 0) }), record.Number("y", func(r R) float64 { return a.axis(r, 1) }))
	}
	for _, column := range a.parameters {
		a.columns = append(a.columns, *column)
	}
	switch q.format {
	case formatCoverage:
		a.content = record.Object(`{`).Text("type", "CoverageCollection")
		if !a.grids {
			a.content = a.content.Text("domainType", "PointSeries")
		}
		a.content = a.appendParameters(appendReferences(a.content, q.system)).Array("coverages")
	case formatGeoJSON:
		a.content = record.Object(`{`).Text("type", "FeatureCollection").Array("features")
	case formatCSV:
		a.content = a.columns.Header()
	}
	a.begin = len(a.content)
	return a
}

// axis returns a coordinate of the place of a record: 0 is longitude or easting. It is NaN too far from the area of the system.
func (a *writer[R]) axis(r R, i int) float64 {
	x, y, ok := a.q.system.Project(a.Place(r))
	if !ok {
		return math.NaN()
	}
	if a.q.system.NorthFirst {
		x, y = y, x
	}
	unit := math.Pow10(a.q.system.Decimals())
	return math.Round([2]float64{x, y}[i]*unit) / unit
}

// addLake writes the records of a lake, from the newest to the oldest.
func (a *writer[R]) addLake(records []R) {
	slices.Reverse(records)
	if !slices.IsSortedFunc(records, a.compare) { // most lakes have one series
		slices.SortStableFunc(records, a.compare)
	}
	for len(records) > 0 {
		n := slices.IndexFunc(records, func(r R) bool {
			return a.compare(r, records[0]) != 0 || a.grids && a.lattice(r) != a.lattice(records[0])
		})
		if n < 0 {
			n = len(records)
		}
		a.addSeries(records[:n])
		records = records[n:]
	}
}

// compare compares the series of two records. The pixel at a position may be another one in each pass.
func (a *writer[R]) compare(x, y R) (order int) {
	for _, column := range a.about {
		order = cmp.Or(order, cmp.Compare(column.Value(x).Text, column.Value(y).Text))
	}
	if order == 0 && a.q.Kind == Position {
		p, q := a.Place(x), a.Place(y)
		order = cmp.Or(cmp.Compare(p[0], q[0]), cmp.Compare(p[1], q[1]))
	}
	return order
}

func (a *writer[R]) lattice(r R) *Lattice {
	l, _, _ := a.Lattice(r)
	return l
}

func (a *writer[R]) addSeries(records []R) {
	switch a.q.format {
	case formatCoverage:
		if a.grids {
			a.addGrid(records)
		} else {
			a.addCoverage(records)
		}
	case formatGeoJSON:
		for i, r := range records {
			if a.series > 0 || i > 0 {
				a.content = append(a.content, ',')
			}
			a.addFeature(r)
		}
	case formatCSV:
		for _, r := range records {
			a.content = a.columns.AppendLine(a.content, r)
		}
	}
	a.series++
}

// addFeature writes a record as a feature.
func (a *writer[R]) addFeature(r R) {
	o := record.Member.Text(append(a.content, `{"type":"Feature","id":`...), a.Key(r))
	o = append(o, `,"geometry":`...)
	start := len(o)
	o, ok := features.AppendPoint(append(o, `{"type":"Point","coordinates":`...), a.Place(r), a.q.system)
	if o = append(o, '}'); !ok {
		o = append(o[:start], "null"...)
	}
	a.content = append(a.columns.AppendObject(append(o, `,"properties":`...), record.Property, r), '}')
}

// openCoverage appends the beginning of a coverage, up to the axes of its domain.
func (a *writer[R]) openCoverage(r R, domainType string) record.Object {
	o := a.content.Open("").Text("type", "Coverage")
	for _, column := range a.about {
		if v := column.Value(r); v.Text != "" {
			o = o.Text(column.Name, v.Text)
		}
	}
	o = o.Open("domain").Text("type", "Domain").Text("domainType", domainType)
	if a.series == 0 {
		a.domain = len(o)
	}
	return o.Open("axes")
}

// addCoverage writes a series as a coverage, without the members that all coverages have in common.
func (a *writer[R]) addCoverage(records []R) {
	o := a.openCoverage(records[0], "PointSeries")
	for i, name := range []string{"x", "y"} {
		o = appendNumber(o.Open(name).Array("values"), a.axis(records[0], i)).Close("]}")
	}
	o = a.appendDays(o, records).Close("}}")
	a.content = a.appendRanges(o, []string{"t"}, []int{len(records)}, func(i int) (R, bool) { return records[i], true })
}

// appendDays appends the axis of time.
func (a *writer[R]) appendDays(o record.Object, records []R) record.Object {
	o = o.Open("t").Array("values")
	for _, r := range records {
		o = o.Entry(a.day.Value(r).Text)
		o = append(o[:len(o)-1], `T00:00:00Z"`...)
	}
	return o.Close("]}")
}

// appendRanges appends the values of a coverage, of a shape, and its end. record returns the record of a value; not ok if there is none.
func (a *writer[R]) appendRanges(o record.Object, axes []string, shape []int, record func(i int) (r R, ok bool)) record.Object {
	o = o.Open("ranges")
	for i, column := range a.parameters {
		p := &a.Parameters[a.q.parameters[i]]
		o = o.Open(column.Name).Text("type", "NdArray").Text("dataType", dataType(column, p)).Array("axisNames")
		for _, axis := range axes {
			o = o.Entry(axis)
		}
		o = o.Close("]").Array("shape")
		n := 1
		for i, side := range shape {
			if n *= side; i > 0 {
				o = append(o, ',')
			}
			o = strconv.AppendInt(o, int64(side), 10)
		}
		o = o.Close("]").Array("values")
		for j := range n {
			if j > 0 {
				o = append(o, ',')
			}
			value := math.NaN()
			if r, ok := record(j); ok {
				value = p.number(column.Value(r))
			}
			o = appendNumber(o, value)
		}
		o = o.Close("]}")
	}
	return o.Close("}}")
}

func appendNumber(o record.Object, n float64) record.Object {
	if math.IsNaN(n) {
		return append(o, "null"...)
	}
	if whole := int64(n); float64(whole) == n && math.Abs(n) < 1<<53 {
		return strconv.AppendInt(o, whole, 10)
	}
	return strconv.AppendFloat(o, n, 'f', -1, 64)
}

// number returns a value as a number, NaN if it is null.
func (p *Parameter) number(v record.Value) float64 {
	switch {
	case v.Null:
		return math.NaN()
	case v.Text != "":
		return float64(1 + slices.Index(p.Categories, v.Text))
	}
	return v.Number
}

func dataType[R any](column *record.Column[R], p *Parameter) string {
	if p.Categories != nil || column.Type == "integer" {
		return "integer"
	}
	return "float"
}

// end returns the whole answer.
func (a *writer[R]) end(base string, r *http.Request) []byte {
	switch {
	case a.q.format == formatCSV:
		return a.content
	case a.q.format == formatGeoJSON:
		self := base + a.path() + "/" + string(a.q.Kind)
		if a.q.Lake != "" {
			self += "/" + url.PathEscape(a.q.Lake)
		}
		if r.URL.RawQuery != "" {
			self += "?" + r.URL.RawQuery
		}
		return features.AppendLinks(a.content.Close("]"), []answer.Link{
			{Rel: "self", Type: "application/geo+json", Title: "This answer", Href: self},
			{Rel: "collection", Type: answer.TypeJSON, Title: a.Title, Href: base + a.path()},
		}).Close("}\n")
	case a.series == 1 && !a.grids && (a.q.Kind == Locations || a.q.Kind == Position):
		// The one coverage has what the collection would have.
		one := slices.Clone(a.content[a.begin:a.domain])
		one = appendReferences(one, a.q.system)
		one = append(one, a.content[a.domain:len(a.content)-1]...)
		return a.appendParameters(one).Close("}\n")
	}
	return a.content.Close("]}\n")
}

// appendReferences appends in which systems the coordinates are. Those of the place are in the order of the axes of their system.
func appendReferences(o record.Object, system *coordinates.System) record.Object {
	kind, first, second := "GeographicCRS", "x", "y"
	if system.CRS != nil {
		kind = "ProjectedCRS"
	}
	if system.NorthFirst {
		first, second = second, first
	}
	o = o.Array("referencing").Open("").Array("coordinates").Entry(first).Entry(second).Close("]")
	o = o.Open("system").Text("type", kind).Text("id", system.URI()).Close("}}")
	return o.Open("").Array("coordinates").Entry("t").Close("]").Open("system").Text("type", "TemporalRS").Text("calendar", "Gregorian").Close("}}]")
}

func (a *writer[R]) appendParameters(o record.Object) record.Object {
	o = o.Open("parameters")
	for _, i := range a.q.parameters {
		o = a.Parameters[i].append(o, a.Parameters[i].Column).Close("}")
	}
	return o.Close("}")
}

// append appends a parameter as a member, without the brace at its end (OGC 21-069r2, section 7).
func (p *Parameter) append(o record.Object, name string) record.Object {
	o = o.Open(name).Text("type", "Parameter").Open("observedProperty").Text("id", p.Column).Open("label").Text("en", p.Label).Close("}")
	if p.Categories == nil {
		if o = o.Close("}"); p.Unit != "" {
			o = o.Open("unit").Open("label").Text("en", p.Symbol).Close("}").
				Open("symbol").Text("value", p.Unit).Text("type", "http://www.opengis.net/def/uom/UCUM/").Close("}}")
		}
		return o
	}
	o = o.Array("categories")
	for _, c := range p.Categories {
		o = o.Open("").Text("id", c).Open("label").Text("en", c).Close("}}")
	}
	o = o.Close("]}").Open("categoryEncoding")
	for i, c := range p.Categories {
		o = o.Int(c, i+1)
	}
	return o.Close("}")
}
