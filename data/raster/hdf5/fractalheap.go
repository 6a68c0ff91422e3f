package hdf5

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
)

// A fractalHeap has the links or attributes of an object with many, or shared messages. Its space is divided into direct blocks, whose
// sizes grow; a doubling table in indirect blocks has their addresses. An object is found by its ID. Not safe for concurrent use.
type fractalHeap struct {
	cache       blockCache
	address     uint64
	idLength    int
	checksums   bool // direct blocks have them
	offsetBytes int  // of the offset in an ID, and of the offset in blocks
	lengthBytes int  // of the length in an ID
	width       uint64
	start       uint64 // bytes of the first direct block
	maxDirect   uint64 // bytes of the largest direct block
	root        uint64
	rootRows    int // 0: the root is a direct block
	hugeTree    uint64
	huge        *bTree2
}

const (
	maxHeapObject = 4 << 20 // bytes of an object
	maxDirectSize = 4 << 20 // bytes of a direct block; the HDF5 library writes 64 KiB
)

// openFractalHeap reads the header of a heap.
func (s *source) openFractalHeap(address uint64) (*fractalHeap, error) {
	size := int64(4 + 1 + 2 + 2 + 1 + 4 + 12*s.lengthSize + 3*s.offsetSize + 2 + 2 + 2 + 2 + 4)
	b, err := s.bytes(address, size)
	if err != nil {
		return nil, fmt.Errorf("fractal heap: %w", err)
	}
	c := s.decode(b, "fractal heap")
	c.expect("FRHP")
	version := c.uint8()
	h := &fractalHeap{cache: blockCache{src: s}, address: address}
	h.idLength = int(c.uint16())
	if filters := c.uint16(); c.err == nil && (version != 0 || filters != 0) {
		return nil, unsupported("fractal heap of version %d with %d bytes of filters, want version 0 without filters", version, filters)
	}
	if c.err == nil {
		c.err = verifyChecksum(b, address)
	}
	h.checksums = c.uint8()&2 != 0
	maxManaged := c.uint32()
	c.length()
	h.hugeTree = c.offset()
	c.length()
	c.offset()
	c.skip(8 * s.lengthSize)
	h.width = uint64(c.uint16())
	h.start, h.maxDirect = c.length(), c.length()
	bitsOfSize := int(c.uint16())
	c.skip(2)
	h.root = c.offset()
	h.rootRows = int(c.uint16())
	if c.err != nil {
		return nil, c.err
	}
	if bits.OnesCount64(h.width) != 1 || bits.OnesCount64(h.start) != 1 || bits.OnesCount64(h.maxDirect) != 1 ||
		h.start > h.maxDirect || h.maxDirect > maxDirectSize || bitsOfSize < 1 || bitsOfSize > 64 {
		return nil, damaged("fractal heap at address %d of 2^%d bytes in rows of %d blocks of %d to %d bytes",
			address, bitsOfSize, h.width, h.start, h.maxDirect)
	}
	h.offsetBytes = (bitsOfSize + 7) / 8
	h.lengthBytes = min((bits.Len64(h.maxDirect)-1+7)/8, bytesFor(uint64(maxManaged)))
	return h, nil
}

// object returns the object with an ID. It is valid until the next call.
func (h *fractalHeap) object(id []byte) ([]byte, error) {
	const (
		managed = iota
		huge
		tiny
	)
	if len(id) == 0 {
		return nil, damaged("an empty ID in the fractal heap at address %d", h.address)
	}
	switch kind := id[0] >> 4; kind {
	case managed:
		c := h.cache.src.decode(id[1:], "heap ID")
		offset, length := c.number(h.offsetBytes), c.number(h.lengthBytes)
		if c.err != nil {
			return nil, c.err
		}
		return h.managed(offset, length)
	case huge:
		return h.hugeObject(id[1:])
	case tiny:
		n, data := int(id[0]&0xf)+1, id[1:]
		if h.idLength-1 > 16 && len(data) > 0 {
			n, data = int(id[0]&0xf)<<8+int(data[0])+1, data[1:]
		}
		if n > len(data) {
			return nil, damaged("an object of %d bytes in a heap ID of %d", n, len(id))
		}
		return data[:n], nil
	default:
		return nil, unsupported("heap ID of type %d", kind)
	}
}

// managed returns the bytes at an offset in the space of the heap.
func (h *fractalHeap) managed(offset, length uint64) ([]byte, error) {
	address, size := h.root, h.start
	// A block of a row below has fewer rows than the one above, so that cycles end.
	for rows := h.rootRows; rows > 0; {
		row, rowSize := 0, h.start
		if first := offset / (h.width * h.start); first > 0 {
			row = bits.Len64(first)
			rowSize = h.start << (row - 1)
			offset -= h.width * h.start << (row - 1)
		}
		if row >= rows {
			return nil, damaged("fractal heap at address %d has %d rows of blocks, want row %d", h.address, rows, row)
		}
		column := offset / rowSize
		offset %= rowSize
		direct := rowSize <= h.maxDirect
		child, err := h.child(address, rows, row*int(h.width)+int(column))
		if err != nil {
			return nil, err
		}
		address, size = child, rowSize
		if direct {
			break
		}
		rows = bits.Len64(rowSize) - bits.Len64(h.start*h.width) + 1
	}
	if size > h.maxDirect || offset > size || length > size-offset {
		return nil, damaged("an object of %d bytes at byte %d of a heap block of %d", length, offset, size)
	}
	block, err := h.directBlock(address, int64(size))
	if err != nil {
		return nil, err
	}
	return block[offset : offset+length], nil
}

// child returns the address of a child of an indirect block.
func (h *fractalHeap) child(address uint64, rows, i int) (uint64, error) {
	s := h.cache.src
	head := 4 + 1 + s.offsetSize + h.offsetBytes
	if int64(rows)*int64(h.width) > maxBlock {
		return 0, damaged("fractal heap at address %d with blocks of %d rows of %d", h.address, rows, h.width)
	}
	b, err := h.cache.get(address, int64(head)+int64(rows)*int64(h.width)*int64(s.offsetSize)+4, true)
	if err != nil {
		return 0, err
	}
	c := s.decode(b, "indirect heap block")
	c.expect("FHIB")
	c.skip(1)
	if owner := c.offset(); c.err == nil && owner != h.address {
		c.fail("indirect heap block at address %d of the heap at %d, not %d", address, owner, h.address)
	}
	c.skip(h.offsetBytes + i*s.offsetSize)
	return c.offset(), c.err
}

// directBlock reads a direct block.
func (h *fractalHeap) directBlock(address uint64, size int64) ([]byte, error) {
	s := h.cache.src
	if b, ok := h.cache.blocks[address]; ok && int64(len(b)) == size {
		return b, nil
	}
	b, err := s.bytes(address, size)
	if err != nil {
		return nil, err
	}
	c := s.decode(b, "heap block")
	c.expect("FHDB")
	c.skip(1)
	if owner := c.offset(); c.err == nil && owner != h.address {
		c.fail("heap block at address %d of the heap at %d, not %d", address, owner, h.address)
	}
	c.skip(h.offsetBytes)
	if h.checksums {
		if sum := c.bytes(4); sum != nil {
			want := binary.LittleEndian.Uint32(sum)
			block := bytes.Clone(b)
			clear(block[len(b)-len(c.b)-4:][:4]) // the checksum is that of a block with zeros in its place
			if got := lookup3(block); got != want {
				c.fail("heap block at address %d has the checksum %08x, want %08x", address, got, want)
			}
		}
	}
	if c.err != nil {
		return nil, c.err
	}
	h.cache.put(address, b)
	return b, nil
}

// Types of B-trees of huge objects.
const hugeUnfiltered = 1

// hugeObject returns an object that has bytes of the file of its own.
func (h *fractalHeap) hugeObject(id []byte) ([]byte, error) {
	s := h.cache.src
	if len(id) >= s.offsetSize+s.lengthSize {
		return h.ownBytes(s.decode(id, "heap ID"))
	}
	if h.huge == nil {
		tree, err := s.openBTree2(h.hugeTree)
		if err != nil {
			return nil, err
		}
		if want := s.offsetSize + 2*s.lengthSize; tree.kind != hugeUnfiltered || tree.recordSize != want {
			return nil, unsupported("huge objects in a B-tree of type %d with records of %d bytes, want type %d with %d",
				tree.kind, tree.recordSize, hugeUnfiltered, want)
		}
		h.huge = tree
	}
	key := littleEndian(id[:min(len(id), 8)])
	record, err := h.huge.find(func(record []byte) int {
		switch have := littleEndian(record[s.offsetSize+s.lengthSize:]); {
		case have < key:
			return -1
		case have > key:
			return 1
		}
		return 0
	})
	if err != nil {
		return nil, err
	}
	if record == nil {
		return nil, damaged("no huge object %d in the fractal heap at address %d", key, h.address)
	}
	return h.ownBytes(s.decode(record, "record of a huge object"))
}

// ownBytes reads the bytes at an address and of a length that follow in c.
func (h *fractalHeap) ownBytes(c *cursor) ([]byte, error) {
	address, length := c.offset(), c.length()
	if c.err != nil {
		return nil, c.err
	}
	if length > maxHeapObject {
		return nil, unsupported("an object of %d bytes, want at most %d", length, maxHeapObject)
	}
	return h.cache.src.bytes(address, int64(length))
}
