package netcdf

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
)

// A classicWriter writes classic files for tests.
type classicWriter struct {
	version    byte
	records    int64 // -1 for a stream
	dimensions []Dimension
	attributes []testAttribute
	variables  []testVariable
}

type testAttribute struct {
	name  string
	value any // string, or a slice of numbers
}

type testVariable struct {
	name       string
	dimensions []int
	attributes []testAttribute
	values     any // a slice of numbers or a string
}

// encode returns the type of a value, its number of elements and its bytes.
func encode(value any) (typ classicType, n int, raw []byte) {
	if text, ok := value.(string); ok {
		return classicChar, len(text), []byte(text)
	}
	raw, err := binary.Append(nil, binary.BigEndian, value)
	if err != nil {
		panic(err)
	}
	switch value.(type) {
	case []int8:
		typ = classicByte
	case []int16:
		typ = classicShort
	case []int32:
		typ = classicInt
	case []float32:
		typ = classicFloat
	case []float64:
		typ = classicDouble
	case []uint8:
		typ = classicUbyte
	case []uint16:
		typ = classicUshort
	case []uint32:
		typ = classicUint
	case []int64:
		typ = classicInt64
	case []uint64:
		typ = classicUint64
	}
	return typ, len(raw) / typ.size(), raw
}

func pad(raw []byte) []byte { return append(raw, make([]byte, (4-len(raw)%4)%4)...) }

func (c *classicWriter) count(raw []byte, n int64) []byte {
	if c.version == 5 {
		return binary.BigEndian.AppendUint64(raw, uint64(n))
	}
	return binary.BigEndian.AppendUint32(raw, uint32(n))
}

func (c *classicWriter) name(raw []byte, name string) []byte {
	return pad(append(c.count(raw, int64(len(name))), name...))
}

func (c *classicWriter) list(raw []byte, tag uint32, n int) []byte {
	if n == 0 {
		tag = tagAbsent
	}
	return c.count(binary.BigEndian.AppendUint32(raw, tag), int64(n))
}

func (c *classicWriter) attributeList(raw []byte, list []testAttribute) []byte {
	raw = c.list(raw, tagAttribute, len(list))
	for _, a := range list {
		typ, n, value := encode(a.value)
		raw = binary.BigEndian.AppendUint32(c.name(raw, a.name), uint32(typ))
		raw = pad(append(c.count(raw, int64(n)), value...))
	}
	return raw
}

// header returns a header whose variables begin at the given offsets.
func (c *classicWriter) header(begins []int64) []byte {
	raw := c.count([]byte{'C', 'D', 'F', c.version}, c.records)
	raw = c.list(raw, tagDimension, len(c.dimensions))
	for _, d := range c.dimensions {
		raw = c.count(c.name(raw, d.Name), d.Len)
	}
	raw = c.attributeList(raw, c.attributes)
	raw = c.list(raw, tagVariable, len(c.variables))
	for i, v := range c.variables {
		raw = c.count(c.name(raw, v.name), int64(len(v.dimensions)))
		for _, id := range v.dimensions {
			raw = c.count(raw, int64(id))
		}
		typ, _, values := encode(v.values)
		raw = c.attributeList(raw, v.attributes)
		raw = c.count(binary.BigEndian.AppendUint32(raw, uint32(typ)), int64(len(values)))
		if c.version == 1 {
			raw = binary.BigEndian.AppendUint32(raw, uint32(begins[i]))
		} else {
			raw = binary.BigEndian.AppendUint64(raw, uint64(begins[i]))
		}
	}
	return raw
}

// bytes returns the file. It has no record variables.
func (c *classicWriter) bytes() []byte {
	begins := make([]int64, len(c.variables))
	at := int64(len(c.header(begins)))
	var data []byte
	for i, v := range c.variables {
		begins[i] = at + int64(len(data))
		_, _, values := encode(v.values)
		data = pad(append(data, values...))
	}
	return append(c.header(begins), data...)
}

func (c *classicWriter) open(tb testing.TB) *File {
	tb.Helper()
	if c.version == 0 {
		c.version = 5
	}
	raw := c.bytes()
	f, err := Open(bytes.NewReader(raw), int64(len(raw)), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// variable opens a file that has the variable "v" with values in one dimension.
func variable(tb testing.TB, values any, attributes ...testAttribute) *Variable {
	tb.Helper()
	_, n, _ := encode(values)
	c := &classicWriter{dimensions: []Dimension{{"n", int64(n)}}, variables: []testVariable{{"v", []int{0}, attributes, values}}}
	v, ok := c.open(tb).Variable("v")
	if !ok {
		tb.Fatal("no variable v")
	}
	return v
}

// steps returns n regular numbers.
func steps(n int, first, step float64) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = first + float64(i)*step
	}
	return values
}

func singles(values []float64) []float32 {
	list := make([]float32, len(values))
	for i, v := range values {
		list[i] = float32(v)
	}
	return list
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }
