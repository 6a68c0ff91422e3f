package crs

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// FromWKT returns the system of well-known text: version 1 in the dialects of GDAL, GeoTools and ESRI, or version 2 (ISO 19162). An
// EPSG code of the whole system is used if this package knows it, else the parameters. Only the horizontal part of a compound system
// is used.
func FromWKT(wkt string) (*System, error) {
	root, err := parseWKT(wkt)
	if err != nil {
		return nil, err
	}
	return systemOfNode(root)
}

func systemOfNode(n *wktNode) (*System, error) {
	if d, ok := definitionOf(n.epsg()); ok && (d.method == geographic) == strings.HasPrefix(n.keyword, "GEO") {
		return d.system()
	}
	d := definition{name: n.text(0), code: n.epsg(), parameters: missing}
	switch n.keyword {
	case "COMPD_CS", "COMPOUNDCRS":
		for _, horizontal := range n.nodes {
			if strings.Contains(horizontal.keyword, "VERT") {
				continue
			}
			return systemOfNode(horizontal)
		}
		return nil, fmt.Errorf("%w: %s %.80q has no parts", ErrFormat, n.keyword, d.name)
	case "GEOGCS", "GEOGCRS", "GEOGRAPHICCRS", "GEODCRS", "GEODETICCRS":
		if cs := n.child("CS"); cs != nil && strings.EqualFold(cs.text(0), "Cartesian") {
			return nil, unsupported("%.80q, which is geocentric", d.name)
		}
		if derived := n.child("DERIVINGCONVERSION"); derived != nil {
			return nil, unsupported("%.80q, which is derived by %.80q", d.name, derived.text(0))
		}
		if err := d.readGeographic(n); err != nil {
			return nil, err
		}
	case "PROJCS", "PROJCRS", "PROJECTEDCRS":
		if err := d.readProjected(n); err != nil {
			return nil, err
		}
	default:
		return nil, unsupported("%.80q, which is a %.20s", d.name, n.keyword)
	}
	return d.system()
}

// readGeographic reads the ellipsoid of a geographic system and checks that its units are degrees from Greenwich.
func (d *definition) readGeographic(n *wktNode) error {
	datum := n.child("DATUM", "GEODETICDATUM", "TRF", "ENSEMBLE")
	if datum == nil {
		return fmt.Errorf("%w: %s %.80q has no datum", ErrFormat, n.keyword, n.text(0))
	}
	el := datum.child("SPHEROID", "ELLIPSOID")
	if el == nil {
		return fmt.Errorf("%w: datum %.80q has no ellipsoid", ErrFormat, datum.text(0))
	}
	var ok, ok2 bool
	d.ellipsoid.a, ok = el.number(1)
	d.ellipsoid.rf, ok2 = el.number(2)
	if !ok || !ok2 {
		return fmt.Errorf("%w: ellipsoid %.80q has no radius or flattening", ErrFormat, el.text(0))
	}
	if !d.ellipsoid.modern() {
		return unsupported("%.80q on the datum %.80q", d.name, datum.text(0))
	}
	if shift := datum.child("TOWGS84"); shift != nil {
		for i := range shift.values {
			// Up to here are 3 metres, 3 arc seconds and a scale in parts per million. Each one means at most about 30 m.
			if v, ok := shift.number(i); !ok || math.Abs(v) > maxShift {
				return unsupported("%.80q on the datum %.80q, which is shifted against WGS 84", d.name, datum.text(0))
			}
		}
	}
	if meridian := n.child("PRIMEM", "PRIMEMERIDIAN"); meridian != nil {
		if v, ok := meridian.number(1); !ok || v != 0 {
			return unsupported("%.80q with longitudes from the meridian of %.80q", d.name, meridian.text(0))
		}
	}
	return d.checkUnits(n, degree)
}

// maxShift bounds the parameters of a shift to WGS 84 that is taken as none.
const maxShift = 2

const (
	metre  = 1
	degree = math.Pi / 180
)

// checkUnits returns an error if a unit among the children of n, or of their axes, has another size.
func (d *definition) checkUnits(n *wktNode, size float64) error {
	for _, c := range n.nodes {
		switch c.keyword {
		case "UNIT", "LENGTHUNIT", "ANGLEUNIT":
			if v, ok := c.number(1); !ok || math.Abs(v/size-1) > 1e-7 {
				return unsupported("%.80q in units of %.40q", d.name, c.text(0))
			}
		case "AXIS":
			if err := d.checkUnits(c, size); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *definition) readProjected(n *wktNode) error {
	base := n.child("GEOGCS", "BASEGEOGCRS", "BASEGEODCRS")
	if base == nil {
		return fmt.Errorf("%w: %s %.80q has no geographic system", ErrFormat, n.keyword, d.name)
	}
	if err := d.readGeographic(base); err != nil {
		return err
	}
	if err := d.checkUnits(n, metre); err != nil {
		return err
	}
	conversion := n
	if n.keyword != "PROJCS" {
		if conversion = n.child("CONVERSION"); conversion == nil {
			return fmt.Errorf("%w: %s %.80q has no conversion", ErrFormat, n.keyword, d.name)
		}
	}
	projection := conversion.child("PROJECTION", "METHOD")
	if projection == nil {
		return fmt.Errorf("%w: %s %.80q has no projection", ErrFormat, n.keyword, d.name)
	}
	var ok bool
	if d.method, ok = methods[simple(projection.text(0))]; !ok {
		if simple(projection.text(0)) != "mercator1sp" || !strings.Contains(extension(n), "+proj=merc +a=6378137 +b=6378137 ") {
			return unsupported("%.80q in the projection %.80q", d.name, projection.text(0))
		}
		d.method = pseudoMercator
	} else if e := extension(n); e != "" {
		return unsupported("%.80q with the extension %.200q", d.name, e)
	}
	for _, p := range conversion.nodes {
		if p.keyword != "PARAMETER" {
			continue
		}
		value, ok := p.number(1)
		if !ok {
			return fmt.Errorf("%w: parameter %.80q of %.80q has no value", ErrFormat, p.text(0), d.name)
		}
		if simple(p.text(0)) == "auxiliaryspheretype" && value == 0 { // the sphere has the radius of the equator
			continue
		}
		if !d.set(p.text(0), value) {
			return unsupported("%.80q with the parameter %.80q", d.name, p.text(0))
		}
		for _, unit := range p.nodes {
			size := 1.
			switch unit.keyword {
			case "ANGLEUNIT":
				size = degree
			case "LENGTHUNIT", "SCALEUNIT":
			default:
				continue
			}
			if v, ok := unit.number(1); !ok || math.Abs(v/size-1) > 1e-7 {
				return unsupported("%.80q with a parameter in units of %.40q", d.name, unit.text(0))
			}
		}
	}
	return nil
}

// extension returns the definition for PROJ that GDAL adds to systems that WKT 1 cannot describe.
func extension(n *wktNode) string {
	if e := n.child("EXTENSION"); e != nil && strings.EqualFold(e.text(0), "PROJ4") {
		return e.text(1)
	}
	return ""
}

// Limits of well-known text. That of compound systems with their areas of use has about 5,000 bytes and 150 elements, in 8 levels.
const (
	maxWKT      = 1 << 16
	maxElements = 4096
	maxDepth    = 32
)

// A wktNode is an element of well-known text: KEYWORD[values and nodes].
type wktNode struct {
	keyword string // in upper case
	values  []string
	nodes   []*wktNode
}

// text returns a value that is not a node, "" if there is none.
func (n *wktNode) text(i int) string {
	if i >= len(n.values) {
		return ""
	}
	return n.values[i]
}

// number returns a value that is a finite number.
func (n *wktNode) number(i int) (float64, bool) {
	v, err := strconv.ParseFloat(n.text(i), 64)
	return v, err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
}

// child returns the first child with one of the keywords, nil if there is none.
func (n *wktNode) child(keywords ...string) *wktNode {
	for _, c := range n.nodes {
		for _, k := range keywords {
			if c.keyword == k {
				return c
			}
		}
	}
	return nil
}

// epsg returns the EPSG code of the element itself, 0 if there is none.
func (n *wktNode) epsg() int {
	id := n.child("AUTHORITY", "ID")
	if id == nil || !strings.EqualFold(id.text(0), "EPSG") {
		return 0
	}
	code, err := strconv.Atoi(id.text(1))
	if err != nil || code < 0 {
		return 0
	}
	return code
}

// A wktParser reads well-known text.
type wktParser struct {
	text     string
	pos      int
	elements int
}

var errTooComplex = errors.New("too many or too deeply nested elements")

func parseWKT(text string) (*wktNode, error) {
	if len(text) > maxWKT {
		return nil, fmt.Errorf("%w: well-known text of %d bytes, want at most %d", ErrFormat, len(text), maxWKT)
	}
	p := &wktParser{text: text}
	n, err := p.node(p.word(), 1)
	if err == nil {
		if p.space(); p.pos < len(p.text) {
			err = errors.New("more text after the end")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: well-known text %.60q, byte %d: %w", ErrFormat, text, p.pos, err)
	}
	return n, nil
}

func (p *wktParser) space() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n\x00", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

// peek returns the next byte after spaces, 0 at the end.
func (p *wktParser) peek() byte {
	if p.space(); p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

// word reads a keyword, a number or a name without quotes.
func (p *wktParser) word() string {
	p.space()
	start := p.pos
	for p.pos < len(p.text) && strings.IndexByte("[](),\" \t\r\n\x00", p.text[p.pos]) < 0 {
		p.pos++
	}
	return p.text[start:p.pos]
}

// quoted reads a text in quotes, in which two quotes stand for one.
func (p *wktParser) quoted() (string, error) {
	var b strings.Builder
	for {
		end := strings.IndexByte(p.text[p.pos+1:], '"')
		if end < 0 {
			return "", errors.New("a quote is not closed")
		}
		b.WriteString(p.text[p.pos+1:][:end])
		p.pos += end + 2
		if p.pos >= len(p.text) || p.text[p.pos] != '"' {
			return b.String(), nil
		}
		b.WriteByte('"')
	}
}

// node reads what follows the keyword of an element.
func (p *wktParser) node(keyword string, depth int) (*wktNode, error) {
	n := &wktNode{keyword: strings.ToUpper(keyword)}
	closing := byte(']')
	switch p.peek() {
	case '[':
	case '(':
		closing = ')'
	default:
		return nil, errors.New("want a keyword and a bracket")
	}
	if keyword == "" {
		return nil, errors.New("want a keyword")
	}
	if depth > maxDepth {
		return nil, errTooComplex
	}
	p.pos++
	for {
		if p.elements++; p.elements > maxElements {
			return nil, errTooComplex
		}
		if p.peek() == '"' {
			value, err := p.quoted()
			if err != nil {
				return nil, err
			}
			n.values = append(n.values, value)
		} else {
			word := p.word()
			if next := p.peek(); next == '[' || next == '(' {
				c, err := p.node(word, depth+1)
				if err != nil {
					return nil, err
				}
				n.nodes = append(n.nodes, c)
			} else if word == "" {
				return nil, errors.New("want a value")
			} else {
				n.values = append(n.values, word)
			}
		}
		switch p.peek() {
		case ',':
			p.pos++
		case closing:
			p.pos++
			return n, nil
		default:
			return nil, fmt.Errorf("want a comma or %q", closing)
		}
	}
}
