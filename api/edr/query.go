package edr

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/encoding/wkt"

	"limnomap/api/answer"
	"limnomap/api/coordinates"
	"limnomap/api/cql2"
	"limnomap/api/features"
	"limnomap/api/params"
)

// A Kind is what a query names places by. It is the end of its path.
type Kind string

const (
	Locations Kind = "locations" // the id of a lake
	Position  Kind = "position"  // a point
	Radius    Kind = "radius"    // a circle
	Area      Kind = "area"      // polygons
	Cube      Kind = "cube"      // a box
)

var kinds = []struct {
	kind  Kind
	title string   // with what a collection has
	place []string // the parameters that say where
}{
	{Locations, "The %s of a lake", nil},
	{Position, "The %s of the lake at a point", []string{"coords"}},
	{Radius, "The %s of the lakes around a point", []string{"coords", "within", "within-units"}},
	{Area, "The %s of the lakes in an area", []string{"coords"}},
	{Cube, "The %s of the lakes in a box", []string{"bbox"}},
}

// The forms of answers.
const (
	formatCoverage = "CoverageJSON"
	formatGeoJSON  = "GeoJSON"
	formatCSV      = "CSV"
)

var formats = []string{formatCoverage, formatGeoJSON, formatCSV}

// A Query is what a request asks for.
type Query struct {
	Kind   Kind
	Lake   string         // the id, of Locations; the caller sets it
	Select features.Query // its Area and its Period
	Place  orb.Point      // of Position and Radius, in longitude and latitude
	Metres int            // how far a lake may be from Place; of Radius

	system     *coordinates.System
	native     bool // no system is asked for
	format     string
	instead    string // of the collection
	parameters []int  // of the collection
}

const (
	// MaxLakes and MaxRecords bound an answer: 100 lakes with ten years of weeks are some 52,000 records.
	MaxLakes   = 500
	MaxRecords = 100_000
	// MaxCost is how many comparisons the search of lakes in an area may cost, some tenths of a second.
	MaxCost = 10_000_000
	// maxMetres is half the way around the globe.
	maxMetres = 20_016_000
)

// units are those of within, in metres. The international mile is that of 1959.
var units = []struct {
	name   string
	metres float64
}{{"km", 1000}, {"m", 1}, {"miles", 1609.344}}

func unitNames() (names []string) {
	for _, u := range units {
		names = append(names, u.name)
	}
	return names
}

// Parse returns what a request for that kind asks for.
func (c *Collection[R]) Parse(r *http.Request, kind Kind) (*Query, error) {
	p := params.Of(r)
	q := &Query{Kind: kind, native: !r.URL.Query().Has("crs"), instead: c.Instead}
	q.format = params.Parsed(&p, "f", formatCoverage, func(s string) (string, error) {
		i := slices.IndexFunc(formats, func(f string) bool { return strings.EqualFold(f, s) })
		if i < 0 {
			return "", errors.New("unknown")
		}
		return formats[i], nil
	}, "is none of "+strings.Join(formats, ", "))
	q.system = features.SystemOf(&p, "crs")
	q.Select.Period = features.PeriodOf(&p)
	names := "parameter-name"
	if asked := r.URL.Query(); asked.Has("parameter_names") && !asked.Has(names) {
		names = "parameter_names" // as OWSLib sends it
	}
	q.parameters = params.Parsed(&p, names, c.all(), c.parseParameters, "has a name that is none of "+strings.Join(c.names(), ", "))
	known := []string{"f", "crs", "datetime", names}
	for _, k := range kinds {
		if k.kind == kind {
			known = append(known, k.place...)
		}
	}
	switch kind {
	case Position, Radius:
		readCoords(&p, func(g orb.Geometry) error { return q.setPlace(g) })
	case Area:
		readCoords(&p, func(g orb.Geometry) error { return q.setArea(g) })
	case Cube:
		if text, ok := p.Required("bbox"); ok {
			least, greatest, err := q.system.ParseBox(text)
			if err != nil {
				p.Refuse("bbox", "%s %s", params.Quote(text), coordinates.MistakeInBox)
			} else if q.Select.Area, err = cql2.BoxArea(least, greatest, q.system.CRS); err != nil {
				p.Refuse("bbox", "%v", err)
			}
		}
	}
	if kind == Radius {
		q.Metres = metresOf(&p)
	}
	features.RefuseUnknown(&p, r, known)
	return q, p.Err()
}

// readCoords reads the parameter coords, which must be given.
func readCoords(p *params.Params, set func(orb.Geometry) error) {
	text, ok := p.Required("coords")
	if !ok {
		return
	}
	g, err := wkt.Unmarshal(text)
	if err != nil {
		p.Refuse("coords", "%s is not well-known text, such as POINT(12.7 53.4): %v", params.Quote(text), err)
	} else if err := set(g); err != nil {
		p.Refuse("coords", "%v", err)
	}
}

func (q *Query) setPlace(g orb.Geometry) error {
	point, ok := g.(orb.Point)
	if !ok {
		return fmt.Errorf("%s is not supported; want POINT", g.GeoJSONType())
	}
	if q.Place, ok = q.system.Unproject(point); !ok {
		return fmt.Errorf("the position %v is not on the Earth in %s", point, q.system.URI())
	}
	return nil
}

func (q *Query) setArea(g orb.Geometry) (err error) {
	var polygons orb.MultiPolygon
	switch g := g.(type) {
	case orb.Polygon:
		polygons = orb.MultiPolygon{g}
	case orb.MultiPolygon:
		polygons = g
	default:
		return fmt.Errorf("%s is not supported; want POLYGON or MULTIPOLYGON", g.GeoJSONType())
	}
	if q.system.NorthFirst {
		for _, polygon := range polygons {
			for _, ring := range polygon {
				for i, p := range ring {
					ring[i] = orb.Point{p[1], p[0]}
				}
			}
		}
	}
	q.Select.Area, err = cql2.PolygonArea(polygons, q.system.CRS)
	return err
}

// metresOf returns the length of the parameters within and within-units, which must be given.
func metresOf(p *params.Params) int {
	_, withUnit := p.Required("within-units")
	_, given := p.Required("within")
	if !withUnit || !given {
		return 0
	}
	unit := params.OneOf(p, "within-units", unitNames())
	i := slices.Index(unitNames(), unit)
	within, _ := p.Float("within", 0, maxMetres/units[i].metres)
	return int(math.Round(within * units[i].metres))
}

// TooLarge returns the error for a query that asks for more than an answer may have, with the parameter to change.
func TooLarge(parameter, detail string) error {
	return &answer.Problem{Status: http.StatusRequestEntityTooLarge, Detail: "the query asks for too much: " + parameter,
		Errors: []answer.ParameterError{{Parameter: parameter, Detail: detail}}}
}

// placeParameter returns the parameter of a query that says where.
func (q *Query) placeParameter() string {
	switch q.Kind {
	case Radius:
		return "within"
	case Area:
		return "coords"
	case Cube:
		return "bbox"
	}
	return "datetime"
}

// TooManyLakes returns the error for a query that finds more than MaxLakes.
func (q *Query) TooManyLakes() error {
	return TooLarge(q.placeParameter(), fmt.Sprintf("there are more than %d lakes; ask for a smaller part of the map, or %s", MaxLakes, q.instead))
}

// TooManyPixels returns the error for a query of which the pixels that must be looked at cost more than MaxCost.
func (q *Query) TooManyPixels() error {
	return TooLarge("datetime", "there are too many pixels to look at; ask for a shorter time or fewer lakes, or "+q.instead)
}

// TooComplex returns the error for a query whose search costs more than MaxCost.
func (q *Query) TooComplex() error {
	return TooLarge(q.placeParameter(), "the area has too many points for so many lakes; ask with fewer points, or for a smaller area")
}
