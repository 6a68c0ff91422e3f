package hdf5

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// A chunkRef says where the data of a chunk lie in the file.
type chunkRef struct {
	address uint64 // undefined for a chunk that is not in the file
	size    uint64 // stored bytes
	mask    uint32 // bit i: filter i was not applied
}

var missingChunk = chunkRef{address: undefined}

// A chunkIndex finds chunks by their coordinates in the grid of chunks. It reads only the nodes of the index that it needs, and is
// not safe for concurrent use.
type chunkIndex interface {
	find(at []uint64) (chunkRef, error)
}

// A linearIndex computes addresses: chunks without filters lie one after another.
type linearIndex struct {
	address uint64
	bytes   uint64 // of a chunk
	stride  uint64 // bytes from one chunk to the next, 0 if it is that of a chunk
	grid    gridOrder
	filters uint32 // mask of the only chunk
}

func (x *linearIndex) find(at []uint64) (chunkRef, error) {
	if x.address == undefined { // of a dataset without chunks, whose shape may be unlimited in all dimensions
		return missingChunk, nil
	}
	i, err := x.grid.index(at)
	if err != nil {
		return missingChunk, err
	}
	stride := cmp.Or(x.stride, x.bytes, 1)
	if i > (math.MaxUint64-x.address)/stride {
		return missingChunk, damaged("chunk %v is beyond the largest address", at)
	}
	return chunkRef{address: x.address + i*stride, size: x.bytes, mask: x.filters}, nil
}

// A gridOrder turns the coordinates of a chunk into its number in an array of chunks.
type gridOrder struct {
	counts []uint64 // chunks along each dimension; that of the first one in the order is not used
	first  int      // this dimension counts slowest, and the others follow in their order
}

// newGridOrder returns the order of the chunks of a dataset with a maximal shape, in which -1 is unlimited.
func newGridOrder(maxShape, chunk []int64, first int) gridOrder {
	g := gridOrder{counts: make([]uint64, len(chunk)), first: first}
	for k, c := range chunk {
		g.counts[k] = math.MaxUint64
		if maxShape[k] >= 0 {
			g.counts[k] = uint64(maxShape[k]/c) + min(1, uint64(maxShape[k]%c))
		}
	}
	return g
}

func (g *gridOrder) index(at []uint64) (uint64, error) {
	n := uint64(0)
	if len(at) > 0 {
		n = at[g.first]
	}
	for k, c := range g.counts {
		if k == g.first {
			continue
		}
		if at[k] >= c || n > (math.MaxUint64-at[k])/c {
			return 0, damaged("chunk %v is not within the maximal shape of the dataset, %v chunks", at, g.counts)
		}
		n = n*c + at[k]
	}
	return n, nil
}

// An arrayElement decodes the elements of fixed and extensible arrays.
type arrayElement struct {
	size       int // of an element
	offsetSize int
	filtered   bool
	bytes      uint64 // of a chunk without filters
}

// check verifies what the header of an array says about its elements.
func (e *arrayElement) check(client uint8, size int) error {
	e.filtered = client == 1
	e.size = size
	low, high := e.offsetSize, e.offsetSize
	if e.filtered {
		low, high = e.offsetSize+4+1, e.offsetSize+4+8
	}
	switch {
	case client > 1:
		return damaged("array of chunks for client %d, want 0 or 1", client)
	case size < low || size > high:
		return damaged("array of chunks with elements of %d bytes, want %d to %d", size, low, high)
	}
	return nil
}

// decode returns element i of a block of elements.
func (e *arrayElement) decode(elements []byte, i int) chunkRef {
	b := elements[i*e.size:][:e.size]
	ref := chunkRef{address: littleEndian(b[:e.offsetSize]), size: e.bytes}
	if allOnes(b[:e.offsetSize]) {
		return missingChunk
	}
	if e.filtered {
		ref.size = littleEndian(b[e.offsetSize : e.size-4])
		ref.mask = binary.LittleEndian.Uint32(b[e.size-4:])
	}
	return ref
}

// littleEndian decodes an unsigned integer of 1 to 8 bytes.
func littleEndian(b []byte) uint64 {
	v := uint64(0)
	for i, c := range b {
		v |= uint64(c) << (8 * i)
	}
	return v
}

// allOnes reports whether an address is the undefined one.
func allOnes(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c != 0xff })
}

// Bounds of the blocks of an index: of one, and of those that are kept.
const (
	maxBlock      = 4 << 20
	maxBlockCache = 4 << 20
)

// A blockCache keeps blocks of an index.
type blockCache struct {
	src    *source
	blocks map[uint64][]byte
	bytes  int
}

// get returns n bytes at an address. A block with a checksum in its last four bytes is verified when it is read.
func (c *blockCache) get(address uint64, n int64, sum bool) ([]byte, error) {
	if b, ok := c.blocks[address]; ok && int64(len(b)) == n {
		return b, nil
	}
	if n > maxBlock {
		return nil, damaged("index block of %d bytes at address %d, want at most %d", n, address, maxBlock)
	}
	b, err := c.src.bytes(address, n)
	if err != nil {
		return nil, err
	}
	if sum {
		if err := verifyChecksum(b, address); err != nil {
			return nil, err
		}
	}
	c.put(address, b)
	return b, nil
}

// block returns n bytes at an address with a checksum, a signature and version 0.
func (c *blockCache) block(signature, what string, address uint64, n int64) ([]byte, error) {
	b, err := c.get(address, n, true)
	if err == nil && (string(b[:4]) != signature || b[4] != 0) {
		return nil, damaged("no %s at address %d", what, address)
	}
	return b, err
}

func (c *blockCache) put(address uint64, b []byte) {
	if c.blocks == nil || c.bytes+len(b) > maxBlockCache {
		c.blocks, c.bytes = map[uint64][]byte{}, 0
	}
	c.bytes += len(b) - len(c.blocks[address])
	c.blocks[address] = b
}

// verifyChecksum compares the last four bytes of a block with the checksum of what is before.
func verifyChecksum(b []byte, address uint64) error {
	if len(b) < 4 {
		return damaged("block of %d bytes at address %d, want 4 or more", len(b), address)
	}
	n := len(b) - 4
	if got, want := lookup3(b[:n]), binary.LittleEndian.Uint32(b[n:]); got != want {
		return damaged("block %q at address %d has the checksum %08x, want %08x", b[:min(4, n)], address, got, want)
	}
	return nil
}
