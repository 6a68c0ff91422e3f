package cql2

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"limnomap/data/raster/crs"
)

// A Property is one that a filter may name.
type Property struct {
	Name string
	Type Type
}

// A Record is what a filter is asked about.
type Record interface {
	// Value returns the value of the i-th property; it is not asked for a geometry.
	Value(i int) Value
	// Shape returns the place of the record, nil if it has none.
	Shape() *Shape
}

// A Filter is a condition. Nil lets all records pass.
type Filter struct {
	root  condition
	parts int
}

// A condition is a part of a filter.
type condition func(r Record) truth

// Matches reports whether the condition is true for r.
func (f *Filter) Matches(r Record) bool { return f == nil || f.root(r) == yes }

// MayMatch reports whether the condition may be true once the values of r that are open are known.
func (f *Filter) MayMatch(r Record) bool { return f == nil || f.root(r) != no }

// Cost is how many comparisons one record costs.
func (f *Filter) Cost() int {
	if f == nil {
		return 1
	}
	return 1 + f.parts
}

// A builder makes the conditions of a filter, whatever form it is written in.
type builder struct {
	properties []Property
	system     *crs.System // of the coordinates of areas
	parts      int
	depth      int
}

// An operand is a property, a literal or an area.
type operand struct {
	property int // its number, -1 for a literal
	typ      Type
	value    Value
	area     *Area
}

// count notes one more part.
func (b *builder) count(n int) error {
	if b.parts += n; b.parts > maxParts {
		return fmt.Errorf("the filter has more than %d parts", maxParts)
	}
	return nil
}

// deeper runs f, which reads what is inside of a condition.
func (b *builder) deeper(f func() (condition, error)) (condition, error) {
	if b.depth++; b.depth > maxDepth {
		return nil, fmt.Errorf("the filter is more than %d conditions deep", maxDepth)
	}
	c, err := f()
	b.depth--
	return c, err
}

func (b *builder) property(name string) (operand, error) {
	i := slices.IndexFunc(b.properties, func(p Property) bool { return p.Name == name })
	if i >= 0 {
		return operand{property: i, typ: b.properties[i].Type}, nil
	}
	names := make([]string, len(b.properties))
	for i, p := range b.properties {
		names[i] = p.Name
	}
	return operand{}, fmt.Errorf("there is no property %.40q; there are %s", name, strings.Join(names, ", "))
}

func literal(v Value) operand { return operand{property: -1, typ: v.typ, value: v} }

// of returns the value of the operand for a record.
func (o *operand) of(r Record) Value {
	if o.property < 0 {
		return o.value
	}
	v := r.Value(o.property)
	if v.known && v.typ == Text && o.typ == Time { // a day in a column of texts
		v, _ = ParseTime(v.text)
	}
	return v
}

// alike makes two operands comparable, or returns an error. A text beside a time is read as one.
func alike(a, b *operand) error {
	for _, o := range []struct{ o, other *operand }{{a, b}, {b, a}} {
		if o.o.typ == Text && o.other.typ == Time {
			if o.o.property < 0 {
				v, err := ParseTime(o.o.value.text)
				if err != nil {
					return err
				}
				o.o.value = v
			}
			o.o.typ = Time
		}
	}
	switch {
	case a.typ != b.typ:
		return fmt.Errorf("%s cannot be compared with %s", a.typ, b.typ)
	case a.typ == Geometry:
		return fmt.Errorf("a geometry cannot be compared; use S_INTERSECTS")
	}
	return nil
}

func (b *builder) compare(op operator, left, right operand) (condition, error) {
	if err := alike(&left, &right); err != nil {
		return nil, err
	}
	return func(r Record) truth { return op.compare(left.of(r), right.of(r)) }, b.count(1)
}

func (b *builder) between(o, low, high operand) (condition, error) {
	least, err := b.compare(">=", o, low)
	if err != nil {
		return nil, err
	}
	most, err := b.compare("<=", o, high)
	return all([]condition{least, most}), err
}

func (b *builder) like(o operand, pattern operand) (condition, error) {
	if o.typ != Text || pattern.typ != Text || pattern.property >= 0 {
		return nil, fmt.Errorf("LIKE compares a text with a pattern in quotes")
	}
	runes := []rune(pattern.value.text)
	return func(r Record) truth {
		v := o.of(r)
		if !v.known {
			return unknown
		}
		return truthOf(like([]rune(v.text), runes))
	}, b.count(1 + len(runes)/16)
}

func (b *builder) in(o operand, list []operand) (condition, error) {
	if len(list) == 0 || len(list) > maxItems {
		return nil, fmt.Errorf("IN has %d values; want 1 to %d", len(list), maxItems)
	}
	values := make(map[Value]bool, len(list))
	for _, item := range list {
		if item.property >= 0 {
			return nil, fmt.Errorf("IN compares with values, not with properties")
		}
		if err := alike(&o, &item); err != nil {
			return nil, err
		}
		values[item.value] = true
	}
	return func(r Record) truth {
		v := o.of(r)
		if !v.known {
			return unknown
		}
		return truthOf(values[v])
	}, b.count(1)
}

func (b *builder) isNull(o operand) (condition, error) {
	if o.typ == Geometry {
		return func(r Record) truth { return truthOf(r.Shape() == nil) }, b.count(1)
	}
	return func(r Record) truth {
		v := o.of(r)
		if v.open {
			return unknown
		}
		return truthOf(!v.known)
	}, b.count(1)
}

func (b *builder) isTrue(o operand) (condition, error) {
	if o.typ != Bool {
		return nil, fmt.Errorf("%s is not a condition", o.typ)
	}
	return b.compare("=", o, literal(BoolValue(true)))
}

func not(c condition) condition { return func(r Record) truth { return yes - c(r) } }

func all(conditions []condition) condition {
	return func(r Record) truth {
		least := yes
		for _, c := range conditions {
			if least = min(least, c(r)); least == no {
				break
			}
		}
		return least
	}
}

func anyOf(conditions []condition) condition {
	return func(r Record) truth {
		most := no
		for _, c := range conditions {
			if most = max(most, c(r)); most == yes {
				break
			}
		}
		return most
	}
}

const intersects = "s_intersects"

// timeFunctions are the functions of two times, of which each is from number to last.
var timeFunctions = map[string]func(a, b Value) bool{
	"t_after":      func(a, b Value) bool { return a.number > b.last },
	"t_before":     func(a, b Value) bool { return a.last < b.number },
	"t_disjoint":   func(a, b Value) bool { return !a.Meets(b) },
	"t_during":     func(a, b Value) bool { return a.number > b.number && a.last < b.last },
	"t_equals":     func(a, b Value) bool { return a.number == b.number && a.last == b.last },
	"t_intersects": Value.Meets,
}

// isFunction reports whether a filter may call a function of that name in lower case.
func isFunction(name string) bool { return name == intersects || timeFunctions[name] != nil }

// call returns the condition of a function of two operands.
func (b *builder) call(name string, args []operand) (condition, error) {
	if len(args) != 2 {
		return nil, fmt.Errorf("%s has %d arguments; want 2", strings.ToUpper(name), len(args))
	}
	if name == intersects {
		place, area := args[0], args[1].area
		if area == nil {
			place, area = args[1], args[0].area
		}
		if area == nil || place.property < 0 || place.typ != Geometry {
			return nil, fmt.Errorf("S_INTERSECTS compares the geometry of the features with an area")
		}
		return func(r Record) truth {
			s := r.Shape()
			if s == nil {
				return unknown
			}
			return truthOf(area.Meets(s))
		}, b.count(1 + len(area.points)/4)
	}
	f := timeFunctions[name]
	if f == nil {
		return nil, fmt.Errorf("there is no function %.40q; there are S_INTERSECTS, T_AFTER, T_BEFORE, T_DISJOINT, T_DURING, T_EQUALS and T_INTERSECTS", name)
	}
	for i := range args {
		if err := alike(&args[i], &operand{typ: Time}); err != nil {
			return nil, fmt.Errorf("%s: %w", strings.ToUpper(name), err)
		}
	}
	return func(r Record) truth {
		first, second := args[0].of(r), args[1].of(r)
		if !first.known || !second.known {
			return unknown
		}
		return truthOf(f(first, second))
	}, b.count(1)
}

// Equal returns the filter for records whose property has the value that a text says.
func Equal(name, text string, properties []Property) (*Filter, error) {
	b := &builder{properties: properties}
	o, err := b.property(name)
	if err != nil {
		return nil, err
	}
	value := TextValue(text)
	switch o.typ {
	case Number:
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("%.40q is not a number", text)
		}
		value = NumberValue(n)
	case Bool:
		if text != "true" && text != "false" {
			return nil, fmt.Errorf("%.40q is not true or false", text)
		}
		value = BoolValue(text == "true")
	}
	c, err := b.compare("=", o, literal(value))
	return &Filter{c, b.parts}, err
}
