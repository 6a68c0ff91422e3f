package cql2

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/paulmach/orb"

	"limnomap/data/raster/crs"
)

// ParseJSON reads a filter that is written as JSON. The coordinates of its areas are those of a system, nil for longitude and latitude.
func ParseJSON(s string, properties []Property, system *crs.System) (*Filter, error) {
	if len(s) > maxBytes {
		return nil, fmt.Errorf("the filter has %d bytes; at most %d are allowed", len(s), maxBytes)
	}
	var root json.RawMessage
	if err := json.Unmarshal([]byte(s), &root); err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	p := &jsonParser{builder{properties: properties, system: system}}
	c, err := p.condition(root)
	if err != nil {
		return nil, err
	}
	return &Filter{c, p.parts}, nil
}

type jsonParser struct{ builder }

// A jsonNode is a condition or an operand.
type jsonNode struct {
	Op          string            `json:"op"`
	Args        []json.RawMessage `json:"args"`
	Property    *string           `json:"property"`
	Date        *string           `json:"date"`
	Timestamp   *string           `json:"timestamp"`
	Interval    []string          `json:"interval"`
	Box         []float64         `json:"bbox"`
	Type        string            `json:"type"`
	Coordinates json.RawMessage   `json:"coordinates"`
}

// condition reads a condition.
func (p *jsonParser) condition(text json.RawMessage) (condition, error) {
	var node jsonNode
	if err := json.Unmarshal(text, &node); err != nil || node.Op == "" {
		o, err := p.operand(text)
		if err != nil {
			return nil, err
		}
		return p.isTrue(o)
	}
	op := strings.ToLower(node.Op)
	switch op {
	case "and", "or", "not":
		return p.deeper(func() (condition, error) { return p.joined(op, node.Args) })
	case "in":
		return p.inList(node.Args)
	}
	args := make([]operand, len(node.Args))
	for i, arg := range node.Args {
		var err error
		if args[i], err = p.operand(arg); err != nil {
			return nil, err
		}
	}
	switch n := len(args); {
	case op == "isnull" && n == 1:
		return p.isNull(args[0])
	case op == "between" && n == 3:
		return p.between(args[0], args[1], args[2])
	case op == "like" && n == 2:
		return p.like(args[0], args[1])
	case n == 2 && (op == "=" || op == "<>" || op == "<" || op == ">" || op == "<=" || op == ">="):
		return p.compare(operator(op), args[0], args[1])
	case isFunction(op) || strings.HasPrefix(op, "s_") || strings.HasPrefix(op, "t_"):
		return p.call(op, args)
	}
	return nil, fmt.Errorf("there is no operator %.40q with %d arguments; there are and, or, not, =, <>, <, >, <=, >=, like, between, in, isNull, s_intersects, and t_after and others of time",
		node.Op, len(args))
}

// joined reads the arguments of and, or, and not.
func (p *jsonParser) joined(op string, args []json.RawMessage) (condition, error) {
	if len(args) == 0 || op == "not" && len(args) != 1 {
		return nil, fmt.Errorf("%s has %d arguments", op, len(args))
	}
	conditions := make([]condition, len(args))
	for i, arg := range args {
		var err error
		if conditions[i], err = p.condition(arg); err != nil {
			return nil, err
		}
	}
	err := p.count(1)
	switch op {
	case "not":
		return not(conditions[0]), err
	case "and":
		return all(conditions), err
	}
	return anyOf(conditions), err
}

func (p *jsonParser) inList(args []json.RawMessage) (condition, error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("in has %d arguments; want a property and a list", len(args))
	}
	o, err := p.operand(args[0])
	if err != nil {
		return nil, err
	}
	var items []json.RawMessage
	if err := json.Unmarshal(args[1], &items); err != nil || len(items) > maxItems {
		return nil, fmt.Errorf("in wants a list of at most %d values", maxItems)
	}
	list := make([]operand, len(items))
	for i, item := range items {
		if list[i], err = p.operand(item); err != nil {
			return nil, err
		}
	}
	return p.in(o, list)
}

// operand reads a property, a literal or an area.
func (p *jsonParser) operand(text json.RawMessage) (o operand, err error) {
	var scalar any
	if err := json.Unmarshal(text, &scalar); err != nil {
		return o, err
	}
	switch v := scalar.(type) {
	case string:
		return literal(TextValue(v)), nil
	case float64:
		return literal(NumberValue(v)), nil
	case bool:
		return literal(BoolValue(v)), nil
	}
	var node jsonNode
	if err := json.Unmarshal(text, &node); err != nil {
		return o, fmt.Errorf("%.40q is no value, property or geometry", text)
	}
	var v Value
	switch {
	case node.Property != nil:
		return p.property(*node.Property)
	case node.Date != nil:
		v, err = timeLiteral("date", []string{*node.Date})
	case node.Timestamp != nil:
		v, err = timeLiteral("timestamp", []string{*node.Timestamp})
	case node.Interval != nil:
		v, err = timeLiteral("interval", node.Interval)
	case node.Type != "":
		return p.geometry(&node)
	case node.Box != nil:
		return p.box(node.Box)
	default:
		return o, fmt.Errorf("%.40q is no value, property or geometry", text)
	}
	return literal(v), err
}

// geometry reads an area as GeoJSON.
func (p *jsonParser) geometry(node *jsonNode) (o operand, err error) {
	switch node.Type {
	case "Point":
		var g orb.Point
		err = json.Unmarshal(node.Coordinates, &g)
		o, err = p.read(g, err)
	case "Polygon":
		var g orb.Polygon
		err = json.Unmarshal(node.Coordinates, &g)
		o, err = p.read(g, err)
	case "MultiPolygon":
		var g orb.MultiPolygon
		err = json.Unmarshal(node.Coordinates, &g)
		o, err = p.read(g, err)
	default:
		err = fmt.Errorf("geometry %.40q is not supported; want Point, Polygon, MultiPolygon or a box", node.Type)
	}
	return o, err
}

func (p *jsonParser) read(g orb.Geometry, err error) (operand, error) {
	if err != nil {
		return operand{}, fmt.Errorf("coordinates of a %s: %w", g.GeoJSONType(), err)
	}
	return p.areaOf(g)
}
