package hdf5

import (
	"fmt"
	"strings"

	"limnomap/data/raster/number"
)

// A Class is the kind of a type.
type Class uint8

// The classes of types, by their numbers in the file.
const (
	Integer Class = iota
	Float
	Time
	String
	Bitfield
	Opaque
	Compound
	Reference
	Enum
	VariableLength
	Array
)

var classNames = [...]string{"integer", "float", "time", "string", "bitfield", "opaque", "compound", "reference", "enum",
	"variable-length", "array"}

func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return fmt.Sprintf("class %d", uint8(c))
}

// A Type is the type of an element of a dataset or an attribute.
type Type struct {
	Class     Class
	Size      int  // bytes of an element
	Signed    bool // of integers and enums
	BigEndian bool // of numbers
	Text      bool // of variable-length types: strings, not lists
	Base      *Type
	Shape     []int64 // of arrays
	Members   int     // of compounds

	padding   uint8  // of strings
	reference uint8  // kind of references
	odd       string // why numbers of this type are not read, "" if they are
}

// numeric returns nil if elements of the type read as numbers: integers, enums, bitfields and floating-point numbers.
func (t Type) numeric() error {
	switch {
	case t.Class != Integer && t.Class != Float && t.Class != Enum && t.Class != Bitfield:
		return unsupported("values of type %v, want numbers", t)
	case t.odd != "":
		return unsupported("%s", t.odd)
	}
	return nil
}

// converter returns the converter of a numeric type.
func (t *Type) converter() *number.Converter {
	kind := number.Uint
	switch {
	case t.Class == Float:
		kind = number.Float
	case t.Signed:
		kind = number.Int
	}
	c, _ := number.New(number.Format{Kind: kind, Bits: 8 * t.Size, BigEndian: t.BigEndian})
	return c
}

// String returns a short name, such as int16, float32 or "string of 8 bytes".
func (t Type) String() string {
	order := ""
	if t.BigEndian && t.Size > 1 {
		order = " big-endian"
	}
	switch t.Class {
	case Integer, Enum, Bitfield:
		name := fmt.Sprintf("uint%d%s", 8*t.Size, order)
		if t.Signed {
			name = name[1:]
		}
		if t.Class != Integer {
			name = t.Class.String() + " of " + name
		}
		return name
	case Float:
		return fmt.Sprintf("float%d%s", 8*t.Size, order)
	case VariableLength:
		if t.Text {
			return "string of variable length"
		}
		return "list of " + t.base()
	case Array:
		return fmt.Sprintf("array %s of %s", joined(t.Shape), t.base())
	case Compound:
		return fmt.Sprintf("compound of %d members", t.Members)
	case Reference:
		return "reference"
	}
	return fmt.Sprintf("%v of %d bytes", t.Class, t.Size)
}

func (t Type) base() string {
	if t.Base == nil {
		return "unknown"
	}
	return t.Base.String()
}

// joined writes a shape as 1 x 512 x 512.
func joined(shape []int64) string {
	var b strings.Builder
	for i, n := range shape {
		if i > 0 {
			b.WriteString(" x ")
		}
		fmt.Fprint(&b, n)
	}
	return b.String()
}
