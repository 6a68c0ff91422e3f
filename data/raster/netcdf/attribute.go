package netcdf

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"limnomap/data/raster/hdf5"
	"limnomap/data/raster/number"
)

// maxNumbers bounds the numbers of an attribute.
const maxNumbers = 1 << 16

// An attributeSet has the attributes of a file or variable.
type attributeSet struct{ attributes attributeSource }

// An attributeSource finds attributes.
type attributeSource interface {
	names() []string
	find(name string) (value attribute, ok bool)
	// each calls fn with the attributes in the order of the file.
	each(fn func(name string, value attribute))
}

// An attribute is a text or a list of numbers.
type attribute struct {
	text    string
	isText  bool
	numbers []float64
	bits    []uint64 // of integers, with their sign extended
}

// AttributeNames returns the names of the attributes in the order of the file.
func (s *attributeSet) AttributeNames() []string {
	if s.attributes == nil {
		return nil
	}
	return s.attributes.names()
}

func (s *attributeSet) find(name string) (attribute, bool) {
	if s.attributes == nil {
		return attribute{}, false
	}
	return s.attributes.find(name)
}

// Text returns an attribute as text: numbers are formatted, and several are separated by spaces. It returns "" if there is none.
func (s *attributeSet) Text(name string) string {
	a, _ := s.find(name)
	if a.isText {
		return a.text
	}
	var words []string
	for _, v := range a.numbers {
		words = append(words, strconv.FormatFloat(v, 'g', -1, 64))
	}
	return strings.Join(words, " ")
}

// Number returns the first number of an attribute, or a text that is a number.
func (s *attributeSet) Number(name string) (float64, bool) {
	a, _ := s.find(name)
	if len(a.numbers) > 0 {
		return a.numbers[0], true
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(a.text), 64)
	if errors.Is(err, strconv.ErrRange) { // -1.79769313486232e+308 is the largest number, rounded up
		return math.Copysign(math.MaxFloat64, v), true
	}
	return v, err == nil
}

// Numbers returns the numbers of an attribute, nil if there are none.
func (s *attributeSet) Numbers(name string) []float64 {
	a, _ := s.find(name)
	return a.numbers
}

// Integers returns the integers of an attribute with their sign extended, nil if it is not of integers.
func (s *attributeSet) Integers(name string) []uint64 {
	a, _ := s.find(name)
	return a.bits
}

// cleanText returns the text of bytes up to trailing NULs and spaces. Bytes that are not UTF-8 are taken for Latin-1.
func cleanText(raw []byte) string {
	text := strings.TrimRight(string(raw), "\x00 \r\n\t")
	if utf8.ValidString(text) {
		return text
	}
	runes := make([]rune, len(text))
	for i := range len(text) {
		runes[i] = rune(text[i])
	}
	return string(runes)
}

// A classicAttribute is an attribute in the header of a classic file.
type classicAttribute struct {
	name string
	typ  classicType
	raw  []byte
}

type classicAttributes []classicAttribute

func (s classicAttributes) names() []string {
	names := make([]string, len(s))
	for i, a := range s {
		names[i] = a.name
	}
	return names
}

func (s classicAttributes) find(name string) (attribute, bool) {
	for _, a := range s {
		if a.name == name {
			return a.decode(), true
		}
	}
	return attribute{}, false
}

func (s classicAttributes) each(fn func(name string, value attribute)) {
	for i := range s {
		fn(s[i].name, s[i].decode())
	}
}

func (a *classicAttribute) decode() attribute {
	if a.typ == classicChar {
		return attribute{isText: true, text: cleanText(a.raw)}
	}
	n := len(a.raw) / a.typ.size()
	if n > maxNumbers {
		return attribute{}
	}
	value := attribute{numbers: make([]float64, n)}
	convert, _ := number.New(classicTypes[a.typ].format)
	convert.Row(value.numbers, a.raw, 1)
	if classicTypes[a.typ].format.Kind != number.Float {
		value.bits = make([]uint64, n)
		for i := range value.bits {
			value.bits[i] = convert.Integer(a.raw[i*a.typ.size():])
		}
	}
	return value
}

// A classicType is a type of a classic file, as it is numbered there.
type classicType uint32

const (
	classicByte classicType = 1 + iota
	classicChar
	classicShort
	classicInt
	classicFloat
	classicDouble
	classicUbyte
	classicUshort
	classicUint
	classicInt64
	classicUint64
)

var classicTypes = [...]struct {
	name   string
	format number.Format
}{
	classicByte:   {"int8", number.Format{Kind: number.Int, Bits: 8, BigEndian: true}},
	classicChar:   {"char", number.Format{Kind: number.Uint, Bits: 8, BigEndian: true}},
	classicShort:  {"int16", number.Format{Kind: number.Int, Bits: 16, BigEndian: true}},
	classicInt:    {"int32", number.Format{Kind: number.Int, Bits: 32, BigEndian: true}},
	classicFloat:  {"float32", number.Format{Kind: number.Float, Bits: 32, BigEndian: true}},
	classicDouble: {"float64", number.Format{Kind: number.Float, Bits: 64, BigEndian: true}},
	classicUbyte:  {"uint8", number.Format{Kind: number.Uint, Bits: 8, BigEndian: true}},
	classicUshort: {"uint16", number.Format{Kind: number.Uint, Bits: 16, BigEndian: true}},
	classicUint:   {"uint32", number.Format{Kind: number.Uint, Bits: 32, BigEndian: true}},
	classicInt64:  {"int64", number.Format{Kind: number.Int, Bits: 64, BigEndian: true}},
	classicUint64: {"uint64", number.Format{Kind: number.Uint, Bits: 64, BigEndian: true}},
}

// valid reports whether files of a version have the type.
func (t classicType) valid(version byte) bool {
	return t >= classicByte && (t <= classicDouble || version == 5 && t <= classicUint64)
}

func (t classicType) String() string { return classicTypes[t].name }
func (t classicType) size() int      { return classicTypes[t].format.Bits / 8 }

// hdf5 returns the type as one of HDF5.
func (t classicType) hdf5() hdf5.Type {
	kind := classicTypes[t].format.Kind
	class := hdf5.Integer
	if kind == number.Float {
		class = hdf5.Float
	}
	return hdf5.Type{Class: class, Size: t.size(), Signed: kind == number.Int, BigEndian: true}
}
