package netcdf

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"

	"limnomap/data/raster/hdf5"
)

// Bounds of a classic header.
const (
	maxHeader  = 8 << 20
	maxObjects = 1 << 16 // dimensions, variables, or attributes of all variables
	maxRank    = 1024    // dimensions of a variable, as in the NetCDF library
	maxRanks   = 1 << 18 // dimensions of all variables together
)

// Tags of the lists in a classic header.
const (
	tagAbsent    = 0
	tagDimension = 10
	tagVariable  = 11
	tagAttribute = 12
)

// A classicFile is a NetCDF classic file: a header, values of fixed size, and records of one value of each record variable.
type classicFile struct {
	r    io.ReaderAt
	size int64

	dimensions []Dimension
	record     int // index of the record dimension, -1 without one
	records    int64
	recordSize int64
	attributes classicAttributes
	variables  []*classicVariable
	found      struct{ attributes, ranks int }
}

// A classicVariable says where the values of a variable are.
type classicVariable struct {
	file       *classicFile
	name       string
	attributes classicAttributes
	dimensions []int
	shape      []int64
	typ        classicType
	begin      int64
	record     bool
	inner      int64 // bytes of one record, or of all values of other variables, without padding
}

func openClassic(r io.ReaderAt, size int64) (*File, error) {
	h := &header{r: bufio.NewReaderSize(io.NewSectionReader(r, 0, size), int(min(size, 64<<10))), size: size}
	c := &classicFile{r: r, size: size, record: -1}
	if c.parse(h); h.err != nil {
		return nil, h.err
	}
	f := &File{byName: map[string]*Variable{}, attributeSet: attributeSet{c.attributes}}
	for _, v := range c.variables {
		f.add(c.variable(f, v))
	}
	return f, nil
}

// variable returns a variable of the file.
func (c *classicFile) variable(f *File, cv *classicVariable) *Variable {
	v := &Variable{attributeSet: attributeSet{cv.attributes}, file: f, name: cv.name, typ: cv.typ.String(), data: cv}
	for k, id := range cv.dimensions {
		d := c.dimensions[id]
		v.dimensions = append(v.dimensions, Dimension{d.Name, cv.shape[k]})
		v.coordinates = append(v.coordinates, d.Name)
	}
	if cv.typ == classicChar {
		v.err = fmt.Errorf("variable %s: %w", v.name, unsupported("values of type char"))
	}
	return v
}

// gather reads windows, after checking that the file has their values.
func (v *classicVariable) gather(ctx context.Context, windows []Window, each func(i int, part Window, values []float64) error) error {
	for i, w := range windows {
		if end := v.end(w); end > v.file.size {
			return damaged("the values of window %d end at offset %d, the file at %d", i, end, v.file.size)
		}
	}
	record := int64(0)
	if v.record {
		record = v.file.recordSize
	}
	return fromHDF5(hdf5.NewArray(v.file.r, v.file.size, v.typ.hdf5(), v.shape, v.begin, record).Gather(ctx, windows, each))
}

// end returns where the last value of a window ends, 0 for an empty window.
func (v *classicVariable) end(w Window) int64 {
	end, size := v.begin+int64(v.typ.size()), int64(v.typ.size())
	for k := len(v.shape) - 1; k >= 0; k-- {
		if w.Shape[k] == 0 {
			return 0
		}
		if v.record && k == 0 {
			size = v.file.recordSize
		}
		end += (w.Start[k] + w.Shape[k] - 1) * size
		size *= v.shape[k]
	}
	return end
}

// A header decodes the header of a classic file. It keeps its first error.
type header struct {
	r       io.Reader
	at      int64 // what was read
	size    int64 // of the file
	version byte
	err     error
}

func (h *header) fail(err error) {
	if h.err == nil {
		h.err = err
	}
}

// bytes returns the next n bytes, which are padded to a multiple of 4.
func (h *header) bytes(n uint64) []byte {
	padded := n + (4-n%4)%4
	switch {
	case h.err != nil:
		return nil
	case n > uint64(h.size) || padded > uint64(h.size-h.at):
		h.fail(damaged("header: %d bytes at offset %d of a file of %d", n, h.at, h.size))
		return nil
	case padded > uint64(maxHeader-h.at):
		h.fail(unsupported("a header of more than %d MiB", maxHeader>>20))
		return nil
	}
	raw := make([]byte, padded)
	if _, err := io.ReadFull(h.r, raw); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = damaged("the file ends before")
		}
		h.fail(fmt.Errorf("read %d bytes at offset %d: %w", padded, h.at, err))
		return nil
	}
	h.at += int64(padded)
	return raw[:n:n]
}

func (h *header) uint32() uint32 {
	raw := h.bytes(4)
	if raw == nil {
		return 0
	}
	return binary.BigEndian.Uint32(raw)
}

func (h *header) uint64() uint64 {
	raw := h.bytes(8)
	if raw == nil {
		return 0
	}
	return binary.BigEndian.Uint64(raw)
}

// count returns a number that is not negative: 64 bits in CDF-5, otherwise 32.
func (h *header) count() int64 {
	n := uint64(h.uint32())
	if h.version == 5 && h.err == nil {
		n = n<<32 | uint64(h.uint32())
	}
	limit := uint64(math.MaxInt32)
	if h.version == 5 {
		limit = math.MaxInt64
	}
	if n > limit {
		h.fail(damaged("header: negative number before offset %d", h.at))
		return 0
	}
	return int64(n)
}

// list returns the number of elements of a list, each of which has at least minimum bytes.
func (h *header) list(tag uint32, what string, minimum int64) int64 {
	found := h.uint32()
	n := h.count()
	switch {
	case h.err != nil:
		return 0
	case found == tagAbsent && n == 0:
		return 0
	case found != tag:
		h.fail(damaged("header: tag %d for the list of %s, want %d", found, what, tag))
	case n > (h.size-h.at)/minimum:
		h.fail(damaged("header: %d %s in the %d bytes that are left", n, what, h.size-h.at))
	case n > maxObjects:
		h.fail(unsupported("%d %s, at most %d are read", n, what, maxObjects))
	}
	if h.err != nil {
		return 0
	}
	return n
}

func (h *header) name() string { return string(h.bytes(uint64(h.count()))) }

func (c *classicFile) parse(h *header) {
	magic := h.bytes(4)
	if h.err != nil {
		return
	}
	h.version = magic[3]
	if v := h.version; v != 1 && v != 2 && v != 5 {
		h.fail(damaged("NetCDF classic of version %d, want 1, 2 or 5", h.version))
		return
	}
	c.parseRecords(h)
	for range h.list(tagDimension, "dimensions", 8) {
		d := Dimension{Name: h.name(), Len: h.count()}
		if h.err != nil {
			return
		}
		if d.Len == 0 {
			if c.record >= 0 {
				h.fail(damaged("two record dimensions, %s and %s", c.dimensions[c.record].Name, d.Name))
				return
			}
			c.record = len(c.dimensions)
		}
		c.dimensions = append(c.dimensions, d)
	}
	c.attributes = c.parseAttributes(h)
	for range h.list(tagVariable, "variables", 24) {
		v := c.parseVariable(h)
		if h.err != nil {
			return
		}
		c.variables = append(c.variables, v)
	}
	if h.err == nil {
		c.placeRecords(h)
	}
}

// parseRecords reads the number of records, which is -1 in a file that was written as a stream.
func (c *classicFile) parseRecords(h *header) {
	if h.version == 5 {
		n := h.uint64()
		c.records = int64(n)
		if n > math.MaxInt64 && n != math.MaxUint64 {
			h.fail(damaged("header: %d records", n))
		}
		return
	}
	c.records = int64(int32(h.uint32()))
	if c.records < -1 {
		h.fail(damaged("header: %d records", c.records))
	}
}

func (c *classicFile) parseAttributes(h *header) classicAttributes {
	n := h.list(tagAttribute, "attributes", 12)
	c.found.attributes += int(n)
	if c.found.attributes > maxObjects {
		h.fail(unsupported("more than %d attributes", maxObjects))
	}
	if h.err != nil || n == 0 {
		return nil
	}
	list := make(classicAttributes, 0, min(n, 64))
	for range n {
		a := classicAttribute{name: h.name(), typ: classicType(h.uint32())}
		if h.err == nil && !a.typ.valid(h.version) {
			h.fail(damaged("attribute %s has type %d", a.name, uint32(a.typ)))
		}
		count := h.count()
		if h.err != nil {
			return nil
		}
		if count > h.size {
			h.fail(damaged("attribute %s has %d values in a file of %d bytes", a.name, count, h.size))
			return nil
		}
		a.raw = h.bytes(uint64(count) * uint64(a.typ.size()))
		list = append(list, a)
	}
	return list
}

func (c *classicFile) parseVariable(h *header) *classicVariable {
	v := &classicVariable{file: c, name: h.name()}
	rank := h.count()
	c.found.ranks += int(min(rank, maxRanks+1))
	if h.err == nil && (rank > maxRank || c.found.ranks > maxRanks) {
		h.fail(unsupported("variable %s has %d dimensions", v.name, rank))
	}
	if h.err != nil {
		return nil
	}
	for k := range rank {
		id := h.count()
		if h.err == nil && (id >= int64(len(c.dimensions)) || int(id) == c.record && k > 0) {
			h.fail(damaged("dimension %d of variable %s is number %d of %d; the record dimension can only be the first",
				k, v.name, id, len(c.dimensions)))
		}
		if h.err != nil {
			return nil
		}
		v.dimensions = append(v.dimensions, int(id))
		v.record = v.record || int(id) == c.record
	}
	v.attributes = c.parseAttributes(h)
	v.typ = classicType(h.uint32())
	if h.err == nil && !v.typ.valid(h.version) {
		h.fail(damaged("variable %s has type %d", v.name, uint32(v.typ)))
	}
	h.count() // its size, which is wrong for large variables
	begin := uint64(0)
	if h.version == 1 {
		begin = uint64(h.uint32())
	} else {
		begin = h.uint64()
	}
	if h.err == nil && begin > uint64(h.size) {
		begin = uint64(h.size) // reading it fails
	}
	v.begin = int64(begin)
	if h.err == nil {
		c.measure(h, v)
	}
	return v
}

// measure computes the size of a variable.
func (c *classicFile) measure(h *header, v *classicVariable) {
	v.inner = int64(v.typ.size())
	for k, id := range v.dimensions {
		n := c.dimensions[id].Len
		v.shape = append(v.shape, n)
		if v.record && k == 0 {
			continue
		}
		high, low := bits.Mul64(uint64(v.inner), uint64(n))
		if high != 0 || low > math.MaxInt64/4 {
			h.fail(damaged("variable %s has more than 2^61 bytes", v.name))
			return
		}
		v.inner = int64(low)
	}
}

// placeRecords computes the size of a record and, for a file that was written as a stream, the number of records.
func (c *classicFile) placeRecords(h *header) {
	first, count := int64(math.MaxInt64), 0
	var last *classicVariable
	for _, v := range c.variables {
		if !v.record {
			continue
		}
		count++
		last = v
		first = min(first, v.begin)
		c.recordSize += v.inner + (4-v.inner%4)%4
		if c.recordSize > math.MaxInt64/4 {
			h.fail(damaged("a record has more than 2^61 bytes"))
			return
		}
	}
	if count == 1 {
		c.recordSize = last.inner // without padding
	}
	if c.records < 0 {
		c.records = 0
		if count > 0 && c.recordSize > 0 {
			c.records = (c.size - first) / c.recordSize
		}
	}
	if c.recordSize > 0 && c.records > math.MaxInt64/4/c.recordSize {
		h.fail(damaged("%d records of %d bytes in a file of %d", c.records, c.recordSize, c.size))
		return
	}
	if c.record >= 0 {
		c.dimensions[c.record].Len = c.records
	}
	for _, v := range c.variables {
		if v.record {
			v.shape[0] = c.records
		}
	}
}
