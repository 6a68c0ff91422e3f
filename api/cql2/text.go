package cql2

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/encoding/wkt"

	"limnomap/data/raster/crs"
)

// ParseText reads a filter that is written as text. The coordinates of its areas are those of a system, nil for longitude and latitude.
func ParseText(s string, properties []Property, system *crs.System) (*Filter, error) {
	if len(s) > maxBytes {
		return nil, fmt.Errorf("the filter has %d bytes; at most %d are allowed", len(s), maxBytes)
	}
	p := &textParser{builder: builder{properties: properties, system: system}, text: s}
	p.next()
	root, err := p.or()
	if err == nil && p.token != "" {
		err = fmt.Errorf("want AND, OR or the end")
	}
	if err != nil {
		return nil, fmt.Errorf("at character %d (%s): %w", p.start+1, p.found(), err)
	}
	return &Filter{root, p.parts}, nil
}

// A textParser reads a filter token by token.
type textParser struct {
	builder
	text       string
	start, end int    // of the token
	token      string // words in upper case, texts with their first quote; empty at the end
}

// found returns the token as an error shows it.
func (p *textParser) found() string {
	if p.token == "" {
		return "the end"
	}
	return fmt.Sprintf("%.40q", p.text[p.start:p.end])
}

const wordCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789."

// next goes to the next token.
func (p *textParser) next() {
	p.start = p.end
	for p.start < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.start]) >= 0 {
		p.start++
	}
	rest := p.text[p.start:]
	n := len(rest) - len(strings.TrimLeft(rest, wordCharacters))
	switch {
	case rest == "":
	case rest[0] == '\'':
		n = textLength(rest)
	case rest[0] == '"':
		n = 2 + strings.IndexByte(rest[1:], '"')
		if n < 2 {
			n = len(rest)
		}
	case (rest[0] == '-' || rest[0] == '+') && len(rest) > 1:
		n = 1 + numberLength(rest[1:])
	case rest[0] >= '0' && rest[0] <= '9' || rest[0] == '.':
		n = numberLength(rest)
	case n > 0:
	case strings.HasPrefix(rest, "<>"), strings.HasPrefix(rest, "<="), strings.HasPrefix(rest, ">="):
		n = 2
	default:
		n = 1
	}
	p.end = p.start + n
	p.token = rest[:n]
	if n > 0 && rest[0] != '\'' && rest[0] != '"' {
		p.token = strings.ToUpper(p.token)
	}
}

// textLength returns the length of the text in quotes with which s begins. A quote in it is written twice, or after a backslash.
func textLength(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == '\'':
			i++
		case s[i] != '\'':
		case i+1 < len(s) && s[i+1] == '\'':
			i++
		default:
			return i + 1
		}
	}
	return len(s)
}

func numberLength(s string) int {
	n := len(s) - len(strings.TrimLeft(s, "0123456789."))
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		sign := n + 1
		if sign < len(s) && (s[sign] == '-' || s[sign] == '+') {
			sign++
		}
		if digits := len(s[sign:]) - len(strings.TrimLeft(s[sign:], "0123456789")); digits > 0 {
			n = sign + digits
		}
	}
	return max(n, 1)
}

// take goes on if the token is that one.
func (p *textParser) take(token string) bool {
	if p.token != token {
		return false
	}
	p.next()
	return true
}

func (p *textParser) want(token string) error {
	if !p.take(token) {
		return fmt.Errorf("want %s", token)
	}
	return nil
}

func (p *textParser) or() (condition, error) { return p.joined("OR", p.and, anyOf) }

func (p *textParser) and() (condition, error) { return p.joined("AND", p.not, all) }

// joined reads conditions with a word between them.
func (p *textParser) joined(word string, part func() (condition, error), join func([]condition) condition) (condition, error) {
	var conditions []condition
	for {
		c, err := part()
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, c)
		if !p.take(word) {
			break
		}
	}
	if len(conditions) == 1 {
		return conditions[0], nil
	}
	return join(conditions), p.count(1)
}

func (p *textParser) not() (condition, error) {
	if !p.take("NOT") {
		return p.simple()
	}
	c, err := p.deeper(p.not)
	if err != nil {
		return nil, err
	}
	return not(c), p.count(1)
}

// simple reads a condition in parentheses, a function or a comparison.
func (p *textParser) simple() (condition, error) {
	if p.take("(") {
		c, err := p.deeper(p.or)
		if err != nil {
			return nil, err
		}
		return c, p.want(")")
	}
	if name := strings.ToLower(p.token); isFunction(name) || strings.HasPrefix(name, "s_") && p.followedBy('(') || strings.HasPrefix(name, "t_") && p.followedBy('(') {
		p.next()
		args, err := p.list()
		if err != nil {
			return nil, err
		}
		return p.call(name, args)
	}
	left, err := p.operand()
	if err != nil {
		return nil, err
	}
	return p.comparison(left)
}

// followedBy reports whether a character follows the token, behind spaces.
func (p *textParser) followedBy(c byte) bool {
	rest := strings.TrimLeft(p.text[p.end:], " \t\r\n")
	return rest != "" && rest[0] == c
}

// comparison reads what follows the first operand of a comparison.
func (p *textParser) comparison(left operand) (c condition, err error) {
	switch op := p.token; op {
	case "=", "<>", "<", ">", "<=", ">=":
		p.next()
		right, err := p.operand()
		if err != nil {
			return nil, err
		}
		return p.compare(operator(op), left, right)
	case "IS":
		p.next()
		negative := p.take("NOT")
		if err := p.want("NULL"); err != nil {
			return nil, err
		}
		c, err = p.isNull(left)
		return negated(c, negative), err
	}
	negative := p.take("NOT")
	switch word := p.token; word {
	case "LIKE", "IN", "BETWEEN":
		p.next()
		switch word {
		case "LIKE":
			pattern, err := p.operand()
			if err != nil {
				return nil, err
			}
			c, err = p.like(left, pattern)
			return negated(c, negative), err
		case "IN":
			list, err := p.list()
			if err != nil {
				return nil, err
			}
			c, err = p.in(left, list)
			return negated(c, negative), err
		}
		low, err := p.operand()
		if err == nil {
			err = p.want("AND")
		}
		if err != nil {
			return nil, err
		}
		high, err := p.operand()
		if err != nil {
			return nil, err
		}
		c, err = p.between(left, low, high)
		return negated(c, negative), err
	}
	if negative {
		return nil, fmt.Errorf("want LIKE, IN or BETWEEN")
	}
	if left.typ == Bool {
		return p.isTrue(left)
	}
	return nil, fmt.Errorf("want a comparison: =, <>, <, >, <=, >=, LIKE, IN, BETWEEN, IS NULL")
}

func negated(c condition, negative bool) condition {
	if negative && c != nil {
		return not(c)
	}
	return c
}

// list reads operands in parentheses.
func (p *textParser) list() (list []operand, err error) {
	if err := p.want("("); err != nil {
		return nil, err
	}
	for {
		o, err := p.operand()
		if err != nil {
			return nil, err
		}
		if list = append(list, o); len(list) > maxItems {
			return nil, fmt.Errorf("a list has more than %d values", maxItems)
		}
		if !p.take(",") {
			return list, p.want(")")
		}
	}
}

// operand reads a property, a literal or an area.
func (p *textParser) operand() (o operand, err error) {
	token := p.token
	if token == "" {
		return o, fmt.Errorf("want a property or a value")
	}
	word := p.text[p.start:p.end]
	if p.followedBy('(') {
		switch token {
		case "DATE", "TIMESTAMP", "INTERVAL":
			p.next()
			return p.time(token)
		case "BBOX", "POINT", "POLYGON", "MULTIPOLYGON":
			return p.area()
		}
	}
	switch c := token[0]; {
	case c == '\'':
		if len(word) < 2 || textLength(word) != len(word) || word[len(word)-1] != '\'' {
			return o, fmt.Errorf("a text has no end")
		}
		p.next()
		return literal(TextValue(strings.NewReplacer("''", "'", `\'`, "'").Replace(word[1 : len(word)-1]))), nil
	case c == '"':
		if len(word) < 2 || word[len(word)-1] != '"' {
			return o, fmt.Errorf("a name has no end")
		}
		word = word[1 : len(word)-1]
	case c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.':
		n, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return o, fmt.Errorf("it is not a number")
		}
		p.next()
		return literal(NumberValue(n)), nil
	case token == "TRUE" || token == "FALSE":
		p.next()
		return literal(BoolValue(token == "TRUE")), nil
	case strings.IndexByte(wordCharacters, c) < 0:
		return o, fmt.Errorf("want a property or a value")
	}
	if o, err = p.property(word); err == nil {
		p.next()
	}
	return o, err
}

// time reads what follows DATE, TIMESTAMP or INTERVAL.
func (p *textParser) time(kind string) (o operand, err error) {
	list, err := p.list()
	if err != nil {
		return o, err
	}
	texts := make([]string, len(list))
	for i, item := range list {
		if item.property >= 0 || item.typ != Text {
			return o, fmt.Errorf("%s takes texts in quotes", kind)
		}
		texts[i] = item.value.text
	}
	v, err := timeLiteral(strings.ToLower(kind), texts)
	return literal(v), err
}

// timeLiteral returns the value of a date, a timestamp or an interval.
func timeLiteral(kind string, texts []string) (v Value, err error) {
	if kind == "interval" {
		if len(texts) != 2 {
			return v, fmt.Errorf("an interval has %d ends; want 2", len(texts))
		}
		return periodOf(texts[0], texts[1])
	}
	if len(texts) != 1 {
		return v, fmt.Errorf("a %s has one value", kind)
	}
	if isDay := !strings.Contains(texts[0], "T"); isDay != (kind == "date") {
		return v, fmt.Errorf("%.40q is not a %s", texts[0], kind)
	}
	return ParseTime(texts[0])
}

// area reads an area as well-known text, or a box.
func (p *textParser) area() (o operand, err error) {
	if p.token == "BBOX" {
		p.next()
		list, err := p.list()
		if err != nil {
			return o, err
		}
		numbers := make([]float64, len(list))
		for i, item := range list {
			if item.property >= 0 || item.typ != Number {
				return o, fmt.Errorf("BBOX takes numbers")
			}
			numbers[i] = item.value.number
		}
		return p.box(numbers)
	}
	rest, depth := p.text[p.start:], 0
	end := strings.IndexFunc(rest, func(c rune) bool {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
			return depth == 0
		}
		return false
	})
	if end < 0 {
		return o, fmt.Errorf("a geometry has no end")
	}
	g, err := wkt.Unmarshal(rest[:end+1])
	if err != nil {
		return o, fmt.Errorf("it is not well-known text: %w", err)
	}
	p.end = p.start + end + 1
	p.next()
	return p.areaOf(g)
}

// box returns the area of a box of four numbers, or of six with heights, which are ignored.
func (b *builder) box(n []float64) (o operand, err error) {
	if len(n) == 6 {
		n = []float64{n[0], n[1], n[3], n[4]}
	}
	if len(n) != 4 {
		return o, fmt.Errorf("a box has %d numbers; want 4", len(n))
	}
	area, err := BoxArea(orb.Point{n[0], n[1]}, orb.Point{n[2], n[3]}, b.system)
	return operand{property: -1, typ: Geometry, area: area}, err
}

// areaOf returns the area of a geometry.
func (b *builder) areaOf(g orb.Geometry) (o operand, err error) {
	var polygons orb.MultiPolygon
	switch g := g.(type) {
	case orb.Point:
		polygons = orb.MultiPolygon{{{g}}}
	case orb.Polygon:
		polygons = orb.MultiPolygon{g}
	case orb.MultiPolygon:
		polygons = g
	default:
		return o, fmt.Errorf("%s is not supported; want Point, Polygon, MultiPolygon or a box", g.GeoJSONType())
	}
	area, err := newArea(polygons, false, b.system)
	return operand{property: -1, typ: Geometry, area: area}, err
}
