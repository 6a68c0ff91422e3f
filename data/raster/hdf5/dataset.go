package hdf5

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// A Dataset is an array of elements of one type.
type Dataset struct {
	*object
	shape, maxShape []int64
	elements        int64
	typ             Type
	storage         storage
	filters         []filter
	fill            []byte // the fill value as an element of the type, nil if none was set
	err             error  // why values are not read
}

// dataset decodes the header of a dataset. What is valid and not supported becomes the error of [Dataset.Err], so that the attributes of
// the dataset can still be read.
func (f *File) dataset(o *object) (*Dataset, error) {
	h, err := f.header(o.address)
	if err != nil {
		return nil, o.wrap(err)
	}
	if !h.isDataset() {
		return nil, fmt.Errorf("%s is %s, not a dataset: %w", o.path, h.kind(), ErrNotFound)
	}
	d := &Dataset{object: o}
	for _, decode := range []func(header) error{d.decodeSpace, d.decodeType, d.decodeLayout, d.decodeFilters, d.decodeFill} {
		if err := decode(h); errors.Is(err, ErrUnsupported) {
			d.refuse(err)
		} else if err != nil {
			return nil, o.wrap(err)
		}
	}
	if d.err == nil {
		d.refuse(d.check(h))
	}
	return d, nil
}

// refuse keeps the first error.
func (d *Dataset) refuse(err error) {
	if d.err == nil && err != nil {
		d.err = d.wrap(err)
	}
}

// message returns the body of a message that every dataset has.
func (d *Dataset) message(h header, kind uint8, name string) ([]byte, error) {
	body, err := d.file.body(h, kind)
	if err == nil && body == nil {
		return nil, damaged("a dataset without a message of its %s", name)
	}
	return body, err
}

func (d *Dataset) decodeSpace(h header) error {
	body, err := d.message(h, dataspaceMessage, "dataspace")
	if err != nil {
		return err
	}
	space, err := d.file.src.dataspace(body)
	d.shape, d.maxShape, d.elements = space.shape, space.maxShape, space.elements
	return err
}

func (d *Dataset) decodeType(h header) error {
	body, err := d.message(h, datatypeMessage, "type")
	if err != nil {
		return err
	}
	d.typ, err = d.file.src.datatype(body)
	return err
}

// decodeLayout decodes the layout. The values of a compact dataset are in the message: they are read from there as if they were contiguous.
func (d *Dataset) decodeLayout(h header) error {
	for _, m := range h {
		if m.kind != layoutMessage {
			continue
		}
		if m.flags&sharedFlag != 0 {
			return damaged("a shared data layout")
		}
		st, err := d.file.src.layout(m.body)
		if err != nil {
			return err
		}
		if st.class == compactLayout {
			st.address += m.address
		}
		if st.class == contiguousLayout && st.size == 0 {
			st.size = uint64(d.elements) * uint64(d.typ.Size) // versions 1 and 2 do not say it
		}
		d.storage = st
		return nil
	}
	return damaged("a dataset without a data layout")
}

func (d *Dataset) decodeFilters(h header) error {
	body, err := d.file.body(h, pipelineMessage)
	if err != nil || body == nil {
		return err
	}
	d.filters, err = d.file.src.pipeline(body)
	return err
}

// decodeFill decodes the fill value, of the new message if there are both. That of a type without numbers is not kept.
func (d *Dataset) decodeFill(h header) error {
	body, err := d.file.body(h, fillMessage)
	if err != nil {
		return err
	}
	var value []byte
	if body != nil {
		value, err = d.file.src.fillValue(body)
	} else {
		if body, err = d.file.body(h, oldFillMessage); err != nil || body == nil {
			return err
		}
		c := d.file.src.decode(body, "fill value")
		value, err = c.bytes(int(c.uint32())), c.err
	}
	if err != nil || d.typ.numeric() != nil || len(value) == 0 {
		return err
	}
	if len(value) != d.typ.Size {
		return damaged("a fill value of %d bytes for %v", len(value), d.typ)
	}
	d.fill = slices.Clone(value)
	return nil
}

// fillValue decodes a fill value message. The value is empty if it was not set.
func (s *source) fillValue(body []byte) ([]byte, error) {
	const hasValue = 1 << 5
	c := s.decode(body, "fill value")
	version := c.uint8()
	has := false
	switch {
	case c.err != nil:
	case version == 1 || version == 2:
		c.skip(2)
		has = c.uint8() != 0
	case version == 3:
		has = c.uint8()&hasValue != 0
	default:
		return nil, unsupported("fill value of version %d, want 1 to 3", version)
	}
	if !has || c.err != nil {
		return nil, c.err
	}
	size := c.uint32()
	if c.err == nil && size > math.MaxInt32 {
		size = 0 // -1: not set
	}
	value := c.bytes(int(size))
	return value, c.err
}

// check returns why values cannot be read although the messages could.
func (d *Dataset) check(h header) error {
	if err := d.typ.numeric(); err != nil {
		return err
	}
	if h.has(externalMessage) {
		return unsupported("values in external files")
	}
	if d.storage.class == virtualLayout {
		return unsupported("a virtual dataset, which has its values in other datasets")
	}
	if d.storage.class != chunkedLayout {
		return nil
	}
	if len(d.storage.chunk) != len(d.shape) {
		return damaged("chunks of %d dimensions in a dataset of %d", len(d.storage.chunk), len(d.shape))
	}
	if int(d.storage.elementSize) != d.typ.Size {
		return damaged("chunks of elements of %d bytes, want %d for %v", d.storage.elementSize, d.typ.Size, d.typ)
	}
	return checkFilters(d.filters, d.typ.Size)
}

// Shape returns the lengths of the dimensions, none for a scalar.
func (d *Dataset) Shape() []int64 { return slices.Clone(d.shape) }

// MaxShape returns the lengths to which the dimensions may grow, -1 for unlimited ones.
func (d *Dataset) MaxShape() []int64 { return slices.Clone(d.maxShape) }

// ChunkShape returns the shape of a chunk, nil if the dataset is not chunked.
func (d *Dataset) ChunkShape() []int64 {
	if d.storage.class != chunkedLayout {
		return nil
	}
	shape := make([]int64, len(d.storage.chunk))
	for i, n := range d.storage.chunk {
		shape[i] = int64(n)
	}
	return shape
}

// Type returns the type of an element.
func (d *Dataset) Type() Type { return d.typ }

// Err returns why [Dataset.Gather] does not read values: [ErrUnsupported] with the name of a feature, or [ErrFormat] if what the file says
// of the dataset is contradictory. It is nil if Gather would try.
func (d *Dataset) Err() error { return d.err }
