package hdf5

import (
	"encoding/binary"
	"math"
	"math/bits"
	"sort"
)

// A bTree2 is a B-tree of version 2: chunks, and links and attributes of objects with many.
type bTree2 struct {
	cache      blockCache
	offsetSize int
	kind       uint8
	recordSize int
	nodeSize   int
	depth      int
	root       bTree2Pointer
	countSize  int   // bytes of a child's number of records
	totalSizes []int // bytes of the number of records below a child, by depth of the child
}

// A bTree2Pointer points to a node.
type bTree2Pointer struct {
	address uint64
	records int
}

// A bTree2Node is a node in the file's form.
type bTree2Node struct {
	records, pointers []byte
}

const (
	bTree2Overhead = 10 // bytes of a node beside its records: signature, version, type and checksum
	maxBTree2Depth = 64
)

// openBTree2 reads the header of a B-tree.
func (s *source) openBTree2(address uint64) (*bTree2, error) {
	t := &bTree2{cache: blockCache{src: s}, offsetSize: s.offsetSize}
	b, err := t.cache.block("BTHD", "header of a B-tree", address, int64(4+2+4+2+2+2+s.offsetSize+2+s.lengthSize+4))
	if err != nil {
		return nil, err
	}
	t.kind = b[5]
	t.nodeSize = int(binary.LittleEndian.Uint32(b[6:]))
	t.recordSize = int(binary.LittleEndian.Uint16(b[10:]))
	t.depth = int(binary.LittleEndian.Uint16(b[12:]))
	t.root = bTree2Pointer{littleEndian(b[16:][:s.offsetSize]), int(binary.LittleEndian.Uint16(b[16+s.offsetSize:]))}
	if allOnes(b[16:][:s.offsetSize]) {
		t.root.records = 0
	}
	if t.recordSize == 0 || t.nodeSize < bTree2Overhead+t.recordSize || t.nodeSize > maxBlock || t.depth > maxBTree2Depth {
		return nil, damaged("B-tree at address %d of depth %d, nodes of %d bytes, records of %d; want depth <= %d, nodes <= %d with room for a record",
			address, t.depth, t.nodeSize, t.recordSize, maxBTree2Depth, maxBlock)
	}
	t.sizes()
	return t, nil
}

// sizes computes the sizes of the numbers in pointers from the most that nodes have room for.
func (t *bTree2) sizes() {
	most := uint64(t.nodeSize-bTree2Overhead) / uint64(t.recordSize)
	t.countSize = bytesFor(most)
	t.totalSizes = make([]int, t.depth+1)
	total := most
	for u := 1; u <= t.depth; u++ {
		pointer := t.pointerSize(u)
		most = uint64(max(0, t.nodeSize-bTree2Overhead-pointer)) / uint64(t.recordSize+pointer)
		if high, low := bits.Mul64(most+1, total); high > 0 || low > math.MaxUint64-most {
			total = math.MaxUint64
		} else {
			total = low + most
		}
		t.totalSizes[u] = bytesFor(total)
	}
}

func bytesFor(limit uint64) int { return max(1, (bits.Len64(limit)+7)/8) }

// pointerSize returns the size of a pointer in a node of a depth.
func (t *bTree2) pointerSize(depth int) int {
	return t.offsetSize + t.countSize + t.totalSizes[depth-1]
}

// node reads a node of a depth, 0 for leaves.
func (t *bTree2) node(p bTree2Pointer, depth int) (n bTree2Node, err error) {
	const head = 6
	records, pointers, signature := p.records*t.recordSize, 0, "BTLF"
	if depth > 0 {
		pointers, signature = (p.records+1)*t.pointerSize(depth), "BTIN"
	}
	size := head + records + pointers + 4
	if size > t.nodeSize {
		return n, damaged("B-tree node at address %d with %d records takes %d bytes, want at most %d", p.address, p.records, size, t.nodeSize)
	}
	b, err := t.cache.get(p.address, int64(size), true)
	if err != nil {
		return n, err
	}
	if string(b[:4]) != signature || b[4] != 0 || b[5] != t.kind {
		return n, damaged("no B-tree node %s of type %d at address %d", signature, t.kind, p.address)
	}
	return bTree2Node{b[head:][:records], b[head+records:][:pointers]}, nil
}

// child returns pointer i of a node of a depth.
func (t *bTree2) child(n bTree2Node, depth, i int) bTree2Pointer {
	b := n.pointers[i*t.pointerSize(depth):]
	return bTree2Pointer{littleEndian(b[:t.offsetSize]), int(littleEndian(b[t.offsetSize:][:t.countSize]))}
}

// find returns the record for which compare returns 0, or nil. Records are in ascending order of compare.
func (t *bTree2) find(compare func(record []byte) int) ([]byte, error) {
	p := t.root
	for depth := t.depth; p.records > 0; depth-- {
		n, err := t.node(p, depth)
		if err != nil {
			return nil, err
		}
		record := func(i int) []byte { return n.records[i*t.recordSize:][:t.recordSize] }
		i := sort.Search(p.records, func(i int) bool { return compare(record(i)) >= 0 })
		if i < p.records && compare(record(i)) == 0 {
			return record(i), nil
		}
		if depth == 0 {
			break
		}
		p = t.child(n, depth, i)
	}
	return nil, nil
}

// bTree2 calls each for all records of a B-tree, in order, with the tree's type. Records are valid during the call only.
func (s *source) bTree2(address uint64, each func(record []byte, kind uint8) error) error {
	t, err := s.openBTree2(address)
	if err != nil {
		return err
	}
	// Each node takes nodeSize bytes of the file: more of them are a cycle or an overlap.
	nodes := s.size/int64(t.nodeSize) + 1
	var visit func(p bTree2Pointer, depth int) error
	visit = func(p bTree2Pointer, depth int) error {
		if p.records == 0 && depth == 0 {
			return nil
		}
		if nodes--; nodes < 0 {
			return damaged("B-tree at address %d has more nodes than the file has room for", address)
		}
		n, err := t.node(p, depth)
		if err != nil {
			return err
		}
		for i := 0; i <= p.records; i++ {
			if depth > 0 {
				if err := visit(t.child(n, depth, i), depth-1); err != nil {
					return err
				}
			}
			if i < p.records {
				if err := each(n.records[i*t.recordSize:][:t.recordSize], t.kind); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if t.root.records == 0 {
		return nil
	}
	return visit(t.root, t.depth)
}

// Types of B-trees of chunks.
const (
	bTree2Chunks         = 10
	bTree2FilteredChunks = 11
)

// A bTree2Index finds chunks in a B-tree of version 2.
type bTree2Index struct {
	tree  *bTree2
	bytes uint64 // of a chunk
	rank  int
}

func newBTree2Index(s *source, address uint64, rank int, chunkBytes uint64) (*bTree2Index, error) {
	t, err := s.openBTree2(address)
	if err != nil {
		return nil, err
	}
	low, high := t.offsetSize+8*rank, t.offsetSize+8*rank
	if t.kind == bTree2FilteredChunks {
		low, high = low+4+1, low+4+8
	}
	if t.kind != bTree2Chunks && t.kind != bTree2FilteredChunks || t.recordSize < low || t.recordSize > high {
		return nil, damaged("B-tree of type %d with records of %d bytes as an index of chunks of %d dimensions", t.kind, t.recordSize, rank)
	}
	return &bTree2Index{t, chunkBytes, rank}, nil
}

// find implements [chunkIndex].
func (x *bTree2Index) find(at []uint64) (chunkRef, error) {
	scaled := x.tree.recordSize - 8*x.rank
	record, err := x.tree.find(func(record []byte) int {
		for k, c := range at {
			if have := binary.LittleEndian.Uint64(record[scaled+8*k:]); have != c {
				if have < c {
					return -1
				}
				return 1
			}
		}
		return 0
	})
	if err != nil || record == nil || allOnes(record[:x.tree.offsetSize]) {
		return missingChunk, err
	}
	ref := chunkRef{address: littleEndian(record[:x.tree.offsetSize]), size: x.bytes}
	if x.tree.kind == bTree2FilteredChunks {
		ref.size = littleEndian(record[x.tree.offsetSize : scaled-4])
		ref.mask = binary.LittleEndian.Uint32(record[scaled-4:])
	}
	return ref, nil
}
