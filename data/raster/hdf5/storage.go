package hdf5

import "math"

// A layoutClass says how the values of a dataset are stored.
type layoutClass uint8

const (
	compactLayout layoutClass = iota
	contiguousLayout
	chunkedLayout
	virtualLayout
)

// An indexKind is the structure that finds the chunks of a dataset. The values from singleChunk on are those of the file.
type indexKind uint8

const (
	btree1 indexKind = iota // a B-tree of version 1
	singleChunk
	implicit
	fixedArray
	extensibleArray
	btree2
)

// A storage is the data layout message of a dataset.
type storage struct {
	class   layoutClass
	address uint64 // of contiguous and of compact values; undefined if nothing was written
	size    uint64 // of them in bytes

	index        indexKind
	indexAddress uint64   // of the chunk itself for singleChunk, of the first chunk for implicit; undefined if nothing was written
	chunk        []uint64 // shape of a chunk, without the element size
	record       uint64   // bytes from one chunk to the next, of arrays of other formats, else 0
	elementSize  uint32   // of chunked and contiguous values of layout versions 1 to 3, else 0

	singleFiltered    bool   // the only chunk was filtered:
	singleSize        uint64 // its stored bytes
	singleMask        uint32 // its filter mask
	partialUnfiltered bool   // chunks that reach beyond the shape of the dataset are stored without filters
	pageBits          uint8  // of fixedArray and extensibleArray; the header of the array has it too
}

const maxRank = 32

// layout decodes a data layout message. The address of compact values is that in the message. Versions 1 and 2 do not have the size of
// contiguous values.
func (s *source) layout(body []byte) (st storage, err error) {
	c := s.decode(body, "data layout")
	switch version := c.uint8(); {
	case c.err != nil:
	case version == 1 || version == 2:
		st.layout1(c, body)
	case version == 3 || version == 4:
		st.class = layoutClass(c.uint8())
		switch {
		case c.err != nil:
		case st.class == compactLayout:
			st.compact(c, body, int(c.uint16()))
		case st.class == contiguousLayout:
			st.address, st.size = c.offset(), c.length()
		case st.class == chunkedLayout && version == 3:
			st.index = btree1
			rank := c.uint8()
			st.indexAddress = c.offset()
			st.chunkShape(c, rank, 4)
		case st.class == chunkedLayout:
			st.layout4(c)
		case st.class == virtualLayout && version == 4:
		default:
			c.fail("data layout of class %d, want 0 to 3", st.class)
		}
	default:
		return st, unsupported("data layout of version %d, want 1 to 4", version)
	}
	return st, c.err
}

// layout1 decodes versions 1 and 2.
func (st *storage) layout1(c *cursor, body []byte) {
	rank := c.uint8()
	st.class = layoutClass(c.uint8())
	c.skip(5)
	switch st.class {
	case compactLayout:
		c.skip(4 * int(rank))
		st.compact(c, body, int(c.uint32()))
	case contiguousLayout:
		st.address = c.offset()
	case chunkedLayout:
		st.index = btree1
		st.indexAddress = c.offset()
		st.chunkShape(c, rank, 4)
	default:
		c.fail("data layout of class %d, want 0 to 2", st.class)
	}
}

// compact decodes the values of a compact layout.
func (st *storage) compact(c *cursor, body []byte, size int) {
	st.address, st.size = uint64(len(body)-len(c.b)), uint64(size)
	c.skip(size)
}

// layout4 decodes the chunked layout of version 4.
func (st *storage) layout4(c *cursor) {
	const (
		partialUnfiltered = 1
		singleFiltered    = 2
	)
	flags := c.uint8()
	rank := c.uint8()
	width := int(c.uint8())
	if c.err == nil && (width < 1 || width > 8) {
		c.fail("shape of chunks in numbers of %d bytes, want 1 to 8", width)
	}
	st.chunkShape(c, rank, width)
	st.partialUnfiltered = flags&partialUnfiltered != 0
	st.index = indexKind(c.uint8())
	switch st.index {
	case singleChunk:
		if st.singleFiltered = flags&singleFiltered != 0; st.singleFiltered {
			st.singleSize, st.singleMask = c.length(), c.uint32()
		}
	case implicit:
	case fixedArray:
		st.pageBits = c.uint8()
	case extensibleArray:
		c.skip(4) // index block elements, pointers and so on: the header of the array has them too
		st.pageBits = c.uint8()
	case btree2:
		c.skip(4 + 1 + 1)
	default:
		c.fail("chunk index of type %d, want 1 to 5", st.index)
	}
	st.indexAddress = c.offset()
}

// chunkShape decodes the shape of a chunk, which is followed by the element size.
func (st *storage) chunkShape(c *cursor, rank uint8, width int) {
	if c.err == nil && (rank < 2 || rank > maxRank+1) {
		c.fail("chunks of %d dimensions, want 1 to %d", int(rank)-1, maxRank)
	}
	if c.err != nil {
		return
	}
	bytes := uint64(1)
	for range rank - 1 {
		n := c.number(width)
		if c.err == nil && (n == 0 || n > math.MaxInt64/bytes) {
			c.fail("a chunk of %d elements in one dimension", n)
		}
		if c.err != nil {
			return
		}
		st.chunk = append(st.chunk, n)
		bytes *= n
	}
	size := c.number(width)
	if c.err == nil && (size == 0 || size > math.MaxUint32 || size > math.MaxInt64/bytes) {
		c.fail("chunks of %d elements of %d bytes", bytes, size)
	}
	st.elementSize = uint32(size)
}

// A filter is a step of the pipeline that chunks were written through.
type filter struct {
	id, flags uint16
	name      string
	params    []uint32
}

const (
	maxFilters      = 32
	maxFilterParams = 16 // that are kept: those of filters that are read are fewer
)

// pipeline decodes a filter pipeline message.
func (s *source) pipeline(body []byte) ([]filter, error) {
	c := s.decode(body, "filter pipeline")
	version := c.uint8()
	count := c.uint8()
	switch {
	case c.err != nil:
	case version != 1 && version != 2:
		return nil, unsupported("filter pipeline of version %d, want 1 or 2", version)
	case count > maxFilters:
		c.fail("%d filters, want at most %d", count, maxFilters)
	}
	if version == 1 {
		c.skip(6)
	}
	filters := make([]filter, 0, min(int(count), maxFilters))
	for range count {
		f := filter{id: c.uint16()}
		length := 0
		if version == 1 || f.id >= 256 {
			length = int(c.uint16())
		}
		f.flags = c.uint16()
		params := int(c.uint16())
		if version == 1 {
			length = (length + 7) &^ 7
		}
		f.name = text(c.bytes(length))
		values := c.bytes(4 * params)
		if version == 1 && params%2 == 1 {
			c.skip(4)
		}
		if c.err != nil {
			return nil, c.err
		}
		for v := s.decode(values, "filter"); len(v.b) > 0 && len(f.params) < maxFilterParams; {
			f.params = append(f.params, v.uint32())
		}
		filters = append(filters, f)
	}
	return filters, c.err
}

// text returns the text before the first zero byte.
func text(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}
