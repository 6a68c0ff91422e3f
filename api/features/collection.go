package features

import (
	"net/http"

	"limnomap/api/answer"
	"limnomap/api/cql2"
	"limnomap/api/record"
)

// A Source is where the records of a collection come from.
type Source[R any] struct {
	// Walk visits the records in ascending order of their keys, from the first after a key on; "" is before all. Records that the query
	// cannot want may be left out. It ends where visit returns false, or before, when it has done as much as a request may: then it returns
	// the key of the last record that it has been at.
	Walk func(r *http.Request, q *Query, after string, visit func(R) bool) (resume string, err error)
	// Find returns the record with that key, or false.
	Find func(r *http.Request, key string) (record R, ok bool, err error)
	Key  func(R) string
	// Shape returns the place of a record, with its shore if outlines are asked for. It reports false if it has none.
	Shape func(record R, outlines bool) (s cql2.Shape, ok bool)
	Time  func(R) cql2.Value
	// CheckKey returns an error for a text that is no key.
	CheckKey func(key string) error
}

// A Collection is a kind of features.
type Collection struct {
	ID, Title, Description string
	Items                  string // what is at the end of the path of the features; empty: items
	Outlines               bool   // geometry=outline can be asked for
	Sortable               bool
	Count                  int // of all records; negative: not known without counting
	Properties             []Property
	queryables             []cql2.Property // those of Properties that can be filtered by, and the geometry

	check func(key string) error
	page  func(r *http.Request, q *Query) (*page, error)
	item  func(r *http.Request, key string, q *Query) (content []byte, err error)
}

// A Property is a property of features.
type Property struct {
	Name     string
	Type     string // in JSON
	Nullable bool
	Time     bool
	Queried  bool
}

// placeName is the name of the geometry in filters.
const placeName = "geometry"

// types are those of the columns that can be filtered by.
var types = map[record.Kind]cql2.Type{record.Texts: cql2.Text, record.Numbers: cql2.Number, record.Truths: cql2.Bool, record.Times: cql2.Time}

// New completes a collection with the records of a source and their columns.
func New[R any](c Collection, columns record.Columns[R], source Source[R]) *Collection {
	var queried []int // the columns of queryables
	for i := range columns {
		column := &columns[i]
		t, ok := types[column.Kind()]
		c.Properties = append(c.Properties, Property{column.Name, column.Type, column.Nullable, t == cql2.Time, ok})
		if ok {
			c.queryables = append(c.queryables, cql2.Property{Name: column.Name, Type: t})
			queried = append(queried, i)
		}
	}
	c.queryables = append(c.queryables, cql2.Property{Name: placeName, Type: cql2.Geometry})
	k := &kind[R]{source, columns, queried}
	c.check, c.page, c.item = source.CheckKey, k.page, k.item
	return &c
}

// A kind makes pages of records of one type.
type kind[R any] struct {
	Source[R]
	columns record.Columns[R]
	queried []int
}

// A candidate is a record about which a filter is asked.
type candidate[R any] struct {
	*kind[R]
	record   R
	outlines bool
	shape    cql2.Shape
	asked    bool // shape and placed are set
	placed   bool
}

// ask makes c a candidate for another record.
func (c *candidate[R]) ask(r R) { c.record, c.asked = r, false }

func (c *candidate[R]) Shape() *cql2.Shape {
	if !c.asked {
		c.shape, c.placed = c.kind.Source.Shape(c.record, c.outlines)
		c.asked = true
	}
	if !c.placed {
		return nil
	}
	return &c.shape
}

func (c *candidate[R]) Value(i int) cql2.Value { return valueOf(&c.columns[c.queried[i]], c.record) }

func valueOf[R any](column *record.Column[R], r R) cql2.Value {
	v := column.Value(r)
	switch kind := column.Kind(); {
	case v.Null:
		return cql2.Value{}
	case kind == record.Texts:
		return cql2.TextValue(v.Text)
	case kind == record.Times:
		return cql2.TimeValue(v.Time)
	case kind == record.Truths:
		return cql2.BoolValue(v.Number == 1)
	}
	return cql2.NumberValue(v.Number)
}

// matches reports whether a record passes, and how much it cost to see that.
func (q *Query) matches(c cql2.Record, time cql2.Value) (ok bool, cost int) {
	cost = 1
	if q.Period.Known() && !time.Meets(q.Period) {
		return false, cost
	}
	if q.Area != nil {
		s := c.Shape()
		if s == nil {
			return false, cost
		}
		if cost += q.Area.Cost(s); !q.Area.Meets(s) {
			return false, cost
		}
	}
	for _, f := range q.Filters {
		factor := 1
		if q.Outlines {
			if s := c.Shape(); s != nil && s.Rings != nil {
				factor = 1 + s.Points/16
			}
		}
		if cost += f.Cost() * factor; !f.Matches(c) {
			return false, cost
		}
	}
	return true, cost
}

// MayMatch reports whether a record at that place may pass whose values are not known but for those that known returns.
func (q *Query) MayMatch(shape *cql2.Shape, known func(name string) (cql2.Value, bool)) bool {
	if q.Area != nil && !q.Area.Meets(shape) {
		return false
	}
	for _, f := range q.Filters {
		if !f.MayMatch(&part{q.queryables, shape, known}) {
			return false
		}
	}
	return true
}

// A part is what is known of a record before it is read.
type part struct {
	queryables []cql2.Property
	shape      *cql2.Shape
	known      func(name string) (cql2.Value, bool)
}

func (p *part) Shape() *cql2.Shape { return p.shape }

func (p *part) Value(i int) cql2.Value {
	if v, ok := p.known(p.queryables[i].Name); ok {
		return v
	}
	return cql2.Open()
}

const (
	// maxCost is how many comparisons a page may cost, some tenths of a second.
	maxCost = 10_000_000
	// maxPagePoints bounds the points of the shores on a page, some megabytes.
	maxPagePoints = 200_000
)

// page returns the records that a query asks for.
func (k *kind[R]) page(r *http.Request, q *Query) (*page, error) {
	if len(q.Sort) > 0 {
		return k.sortedPage(r, q)
	}
	var found []R
	next, cost, points := "", 0, 0
	var last R
	c := &candidate[R]{kind: k, outlines: q.Outlines}
	resume, err := k.Walk(r, q, q.After, func(record R) bool {
		c.ask(record)
		ok, n := q.matches(c, k.Time(record))
		if ok && len(found) == q.Limit {
			next = k.Key(last)
			return false
		}
		if ok {
			found = append(found, record)
			if s := c.Shape(); q.Outlines && !q.SkipGeometry && s != nil {
				points += s.Points
			}
		}
		last = record
		if cost += n; cost > maxCost || points > maxPagePoints {
			next = k.Key(record)
			return false
		}
		return true
	})
	if next == "" {
		next = resume
	}
	return k.pageOf(found, next, q), err
}

// pageOf returns the page of some records.
func (k *kind[R]) pageOf(found []R, next string, q *Query) *page {
	columns := k.columns
	if q.properties != "" {
		columns = columns.Pick(q.properties)
	}
	p := &page{next: next, n: len(found), header: columns.Header(), columns: make([]string, len(columns))}
	for i := range columns {
		p.columns[i] = columns[i].Name
	}
	p.feature = func(b []byte, i int) []byte { return k.appendFeature(b, columns, found[i], q) }
	p.line = func(b []byte, i int) []byte { return columns.AppendLine(b, found[i]) }
	p.key = func(i int) string { return k.Key(found[i]) }
	return p
}

func (k *kind[R]) appendFeature(b []byte, columns record.Columns[R], r R, q *Query) []byte {
	b = record.Member.Text(append(b, `{"type":"Feature","id":`...), k.Key(r))
	b = append(b, `,"geometry":`...)
	if q.SkipGeometry {
		b = append(b, "null"...)
	} else {
		c := candidate[R]{kind: k, record: r, outlines: q.Outlines}
		b = appendGeometry(b, c.Shape(), q.system)
	}
	b = append(b, `,"properties":`...)
	return columns.AppendObject(b, record.Property, r)
}

// item returns one feature, without the brace at its end.
func (k *kind[R]) item(r *http.Request, key string, q *Query) ([]byte, error) {
	found, ok, err := k.Find(r, key)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, &answer.Problem{Status: http.StatusNotFound, Detail: "This collection has no feature of that id."}
	}
	return k.appendFeature(nil, k.columns, found, q), nil
}
