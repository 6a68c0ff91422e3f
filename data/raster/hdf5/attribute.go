package hdf5

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"limnomap/data/raster/number"
)

// A rawAttribute is an attribute message.
type rawAttribute struct {
	name  string
	order uint32 // of creation
	body  []byte
}

const (
	maxAttributes     = 8192    // of an object, as NC_MAX_ATTRS of the NetCDF library
	maxAttributeBytes = 4 << 20 // of the values of an attribute
	maxElements       = 1 << 20 // of an attribute, with those of its lists
	maxAttributesSize = 16 << 20
)

// An attributeList collects the attributes of an object.
type attributeList struct {
	file      *File
	list      []rawAttribute
	bytes     int
	unordered bool // the order of creation is not known
}

// objectAttributes are the attributes of an object.
type objectAttributes struct {
	list   []rawAttribute
	byName map[string]int // places in the list; of several of one name, that of the first
}

// rawAttributes returns the attributes of the object, in the order of their creation if the file has it, else in that of the file.
// Attributes without a name that could be read are left out.
func (o *object) rawAttributes() (objectAttributes, error) {
	attributes, err := o.file.attributes.get(o.address, func() (a objectAttributes, n int, err error) {
		h, err := o.file.header(o.address)
		if err != nil {
			return a, 0, err
		}
		l := &attributeList{file: o.file}
		if err := l.read(h); err != nil {
			return a, l.bytes, fmt.Errorf("attributes: %w", err)
		}
		if !l.unordered {
			slices.SortStableFunc(l.list, func(a, b rawAttribute) int { return cmp.Compare(a.order, b.order) })
		}
		a = objectAttributes{l.list, make(map[string]int, len(l.list))}
		for i := range slices.Backward(l.list) {
			a.byName[l.list[i].name] = i
		}
		return a, l.bytes + 128*len(l.list), nil
	})
	return attributes, o.wrap(err)
}

func (l *attributeList) read(h header) error {
	for _, m := range h {
		if m.kind != attributeMessage {
			continue
		}
		body, err := l.file.resolve(m)
		if err != nil {
			if errors.Is(err, ErrFormat) || errors.Is(err, ErrUnsupported) {
				continue
			}
			return err
		}
		if err := l.add(rawAttribute{order: uint32(m.order), body: body}); err != nil {
			return err
		}
	}
	body, err := l.file.body(h, attributeInfoMessage)
	if err != nil || body == nil {
		return err
	}
	return l.dense(body)
}

// add keeps an attribute that has a name.
func (l *attributeList) add(a rawAttribute) error {
	name, _, err := l.file.splitAttribute(a.body)
	if err != nil {
		return nil
	}
	a.name = name
	if l.bytes += len(a.body) + len(name); l.bytes > maxAttributesSize || len(l.list) == maxAttributes {
		return unsupported("more than %d attributes or %d bytes of attributes at one object", maxAttributes, maxAttributesSize)
	}
	l.list = append(l.list, a)
	return nil
}

// dense reads the attributes of an object with many: a fractal heap has the messages, and a B-tree their IDs.
func (l *attributeList) dense(body []byte) error {
	const (
		tracked    = 1
		byNameKind = 8
	)
	src := l.file.src
	c := src.decode(body, "attribute info")
	version, flags := c.uint8(), c.uint8()
	if c.err == nil && version != 0 {
		return unsupported("attribute info of version %d, want 0", version)
	}
	if flags&tracked != 0 {
		c.skip(2)
	}
	l.unordered = flags&tracked == 0
	address, byName := c.offset(), c.offset()
	if c.err != nil {
		return c.err
	}
	if address == undefined {
		return nil
	}
	heap, err := src.openFractalHeap(address)
	if err != nil {
		return err
	}
	return src.bTree2(byName, func(record []byte, kind uint8) error {
		if kind != byNameKind {
			return damaged("B-tree of type %d as an index of attributes, want %d", kind, byNameKind)
		}
		c := src.decode(record, "record of an attribute")
		id := c.bytes(8)
		c.skip(1)
		order := c.uint32()
		if c.err != nil {
			return c.err
		}
		body, err := heap.object(id)
		if err != nil {
			if errors.Is(err, ErrFormat) || errors.Is(err, ErrUnsupported) {
				return nil
			}
			return err
		}
		return l.add(rawAttribute{order: order, body: bytes.Clone(body)})
	})
}

// attributeParts are the parts of an attribute message.
type attributeParts struct {
	flags            uint8
	typ, space, data []byte
}

// splitAttribute divides an attribute message.
func (f *File) splitAttribute(body []byte) (name string, p attributeParts, err error) {
	c := f.src.decode(body, "attribute")
	version := c.uint8()
	p.flags = c.uint8()
	nameSize, typeSize, spaceSize := int(c.uint16()), int(c.uint16()), int(c.uint16())
	pad := func(n int) int { return n }
	switch {
	case c.err != nil:
	case version == 1:
		p.flags = 0
		pad = func(n int) int { return (n + 7) &^ 7 }
	case version == 3:
		c.skip(1)
	case version != 2:
		return "", p, unsupported("attribute of version %d, want 1 to 3", version)
	}
	name = text(c.bytes(pad(nameSize)))
	p.typ, p.space = c.bytes(pad(typeSize)), c.bytes(pad(spaceSize))
	p.data = c.b
	return name, p, c.err
}

// AttributeNames returns the names of the attributes, in the order of their creation if the file has it, else in that of the file.
func (o *object) AttributeNames() ([]string, error) {
	attributes, err := o.rawAttributes()
	if err != nil {
		return nil, err
	}
	names := make([]string, len(attributes.list))
	for i, a := range attributes.list {
		names[i] = a.name
	}
	return names, nil
}

// Attribute returns an attribute, or nil if the object has none of that name. Damage of other attributes is no error.
func (o *object) Attribute(name string) (*Attribute, error) {
	attributes, err := o.rawAttributes()
	if err != nil {
		return nil, err
	}
	i, ok := attributes.byName[name]
	if !ok {
		return nil, nil
	}
	a, err := o.file.attribute(attributes.list[i])
	if err != nil {
		return nil, fmt.Errorf("%s: attribute %q: %w", o.path, name, err)
	}
	return a, nil
}

// An Attribute is a small array of values at a group or a dataset.
type Attribute struct {
	// Name is the attribute's name.
	Name string

	file     *File
	typ      Type
	shape    []int64
	elements int64
	data     []byte
}

// attribute decodes an attribute message.
func (f *File) attribute(raw rawAttribute) (*Attribute, error) {
	const (
		sharedType  = 1
		sharedSpace = 2
	)
	_, parts, err := f.splitAttribute(raw.body)
	if err != nil {
		return nil, err
	}
	part := func(kind uint8, shared bool, body []byte) ([]byte, error) {
		if shared {
			return f.sharedBody(kind, f.src.decode(body, "shared message"))
		}
		return body, nil
	}
	body, err := part(datatypeMessage, parts.flags&sharedType != 0, parts.typ)
	if err != nil {
		return nil, err
	}
	typ, err := f.src.datatype(body)
	if err != nil {
		return nil, err
	}
	if body, err = part(dataspaceMessage, parts.flags&sharedSpace != 0, parts.space); err != nil {
		return nil, err
	}
	space, err := f.src.dataspace(body)
	if err != nil {
		return nil, err
	}
	if space.elements > maxElements || space.elements*int64(typ.Size) > maxAttributeBytes {
		return nil, unsupported("%d elements of %d bytes, want at most %d and %d bytes", space.elements, typ.Size, maxElements, maxAttributeBytes)
	}
	size := space.elements * int64(typ.Size)
	if size > int64(len(parts.data)) {
		return nil, damaged("%d elements of %d bytes in %d bytes", space.elements, typ.Size, len(parts.data))
	}
	data := bytes.Clone(parts.data[:size])
	return &Attribute{Name: raw.name, file: f, typ: typ, shape: space.shape, elements: space.elements, data: data}, nil
}

// Type returns the type of the values.
func (a *Attribute) Type() Type { return a.typ }

// Shape returns the lengths of the dimensions: none for a single value, 0 for an attribute without values.
func (a *Attribute) Shape() []int64 { return slices.Clone(a.shape) }

// An attributeReader visits the elements of an attribute, one after the other, also those in arrays and lists.
type attributeReader struct {
	heap globalHeap
	left int // of maxElements
	each func(t *Type, b []byte) error
}

// read calls each for the elements of the attribute that are neither arrays nor lists. Strings of variable length are passed as their
// text.
func (a *Attribute) read(each func(t *Type, b []byte) error) error {
	r := attributeReader{heap: globalHeap{src: a.file.src}, left: maxElements, each: each}
	if err := r.elements(&a.typ, a.data, a.elements); err != nil {
		return fmt.Errorf("attribute %q: %w", a.Name, err)
	}
	return nil
}

// elements visits n elements of a type. Types are nested at most [maxTypeDepth] deep.
func (r *attributeReader) elements(t *Type, b []byte, n int64) error {
	size := int64(t.Size)
	if n > int64(len(b))/size {
		return damaged("%d elements of %d bytes in %d", n, size, len(b))
	}
	for i := range n {
		if r.left--; r.left < 0 {
			return unsupported("more than %d elements", maxElements)
		}
		if err := r.element(t, b[i*size:(i+1)*size]); err != nil {
			return err
		}
	}
	return nil
}

func (r *attributeReader) element(t *Type, b []byte) error {
	switch t.Class {
	case Array:
		return r.elements(t.Base, b, int64(t.Size/t.Base.Size))
	case VariableLength:
		c := r.heap.src.decode(b, "reference to values of variable length")
		n := int64(c.uint32())
		address, index := c.offset(), c.uint32()
		if c.err != nil {
			return c.err
		}
		if t.Text {
			text, err := r.heap.object(address, index, n)
			if err != nil {
				return err
			}
			return r.each(t, text)
		}
		data, err := r.heap.object(address, index, n*int64(t.Base.Size))
		if err != nil {
			return err
		}
		return r.elements(t.Base, data, n)
	}
	return r.each(t, b)
}

// readNumbers calls each for the numbers of the attribute.
func (a *Attribute) readNumbers(each func(t *Type, c *number.Converter, b []byte) error) error {
	var of *Type
	var convert *number.Converter
	return a.read(func(t *Type, b []byte) error {
		if t != of {
			if err := t.numeric(); err != nil {
				return err
			}
			of, convert = t, t.converter()
		}
		return each(t, convert, b)
	})
}

// Floats returns the values of a numeric attribute. Arrays and lists are flattened.
func (a *Attribute) Floats() ([]float64, error) {
	var values []float64
	err := a.readNumbers(func(_ *Type, c *number.Converter, b []byte) error {
		values = append(values, c.One(b))
		return nil
	})
	return values, err
}

// Ints returns the values of an attribute of integers. Arrays and lists are flattened.
func (a *Attribute) Ints() ([]int64, error) {
	var values []int64
	err := a.readNumbers(func(t *Type, c *number.Converter, b []byte) error {
		bits := c.Integer(b)
		switch {
		case t.Class == Float:
			return unsupported("values of type %v, want integers", *t)
		case !t.Signed && bits > math.MaxInt64:
			return unsupported("the value %d, want at most %d", bits, int64(math.MaxInt64))
		default:
			values = append(values, int64(bits))
		}
		return nil
	})
	return values, err
}

// Strings returns the values of an attribute of strings, of fixed or of variable length.
func (a *Attribute) Strings() ([]string, error) {
	var values []string
	left := maxAttributeBytes
	err := a.read(func(t *Type, b []byte) error {
		if t.Class != String && (t.Class != VariableLength || !t.Text) {
			return unsupported("values of type %v, want strings", *t)
		}
		s := trim(b, t.padding)
		if left -= len(s); left < 0 {
			return unsupported("strings of more than %d bytes", maxAttributeBytes)
		}
		values = append(values, s)
		return nil
	})
	return values, err
}

// trim removes the padding of a string.
func trim(b []byte, padding uint8) string {
	switch padding {
	case zeroTerminated:
		return text(b)
	case spacePadded:
		return strings.TrimRight(string(b), " ")
	}
	return strings.TrimRight(string(b), "\x00")
}

// References returns the addresses of object references, also those in lists of variable length, one list after the other. An address
// is that of [Dataset.Address].
func (a *Attribute) References() ([]uint64, error) {
	var values []uint64
	err := a.read(func(t *Type, b []byte) error {
		const object = 0
		if t.Class != Reference || t.reference != object || t.Size != a.file.src.offsetSize {
			return unsupported("values of type %v, want references to objects", *t)
		}
		values = append(values, littleEndian(b))
		return nil
	})
	return values, err
}
