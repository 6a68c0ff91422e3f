package hdf5

import (
	"bytes"
	"encoding/binary"
	"sort"
)

// A btree1Index finds chunks in a B-tree of version 1, whose keys are the first elements of chunks.
type btree1Index struct {
	cache      blockCache
	root       uint64
	chunk      []int64
	offsetSize int
}

// find implements [chunkIndex]. The levels of the nodes decrease, so that a tree with cycles cannot hold it up.
func (x *btree1Index) find(at []uint64) (chunkRef, error) {
	address, level := x.root, -1
	for address != undefined {
		n, err := x.node(address)
		if err != nil {
			return missingChunk, err
		}
		if level >= 0 && n.level != level-1 {
			return missingChunk, damaged("B-tree node at address %d is of level %d, want %d", address, n.level, level-1)
		}
		level = n.level
		i := sort.Search(n.entries, func(i int) bool { return x.compare(n.key(i), at) > 0 }) - 1
		if i < 0 {
			break
		}
		key := n.key(i)
		address = littleEndian(key[n.keySize:][:x.offsetSize])
		if level == 0 {
			if x.compare(key, at) != 0 {
				break
			}
			return chunkRef{address: address, size: uint64(binary.LittleEndian.Uint32(key)), mask: binary.LittleEndian.Uint32(key[4:])}, nil
		}
	}
	return missingChunk, nil
}

// compare compares a key with the coordinates of a chunk.
func (x *btree1Index) compare(key []byte, at []uint64) int {
	for k, c := range at {
		have, want := binary.LittleEndian.Uint64(key[8+8*k:]), c*uint64(x.chunk[k])
		if have != want {
			if have < want {
				return -1
			}
			return 1
		}
	}
	return 0
}

// A btree1Node is a node in the file's form.
type btree1Node struct {
	level, entries    int
	data              []byte // keys and children in turn
	keySize, pairSize int
}

func (n *btree1Node) key(i int) []byte { return n.data[i*n.pairSize:] }

// usualEntries is what a node of a B-tree of chunks has room for, unless a file says otherwise.
const usualEntries = 64

func (x *btree1Index) node(address uint64) (btree1Node, error) {
	head := 8 + 2*x.offsetSize
	n := btree1Node{keySize: 8 + 8*(len(x.chunk)+1)}
	n.pairSize = n.keySize + x.offsetSize
	b, ok := x.cache.blocks[address]
	if !ok {
		// Read a whole node of usual size at once, and the rest of a larger one.
		var err error
		if b, err = x.cache.src.upTo(address, int64(head+usualEntries*n.pairSize)); err != nil {
			return n, err
		}
	}
	if len(b) < head || !bytes.HasPrefix(b, []byte("TREE\x01")) {
		return n, damaged("no B-tree node of chunks at address %d", address)
	}
	n.level = int(b[5])
	n.entries = int(binary.LittleEndian.Uint16(b[6:]))
	size := head + n.entries*n.pairSize
	switch {
	case len(b) >= size:
		x.cache.put(address, b)
	default:
		var err error
		if b, err = x.cache.get(address, int64(size), false); err != nil {
			return n, err
		}
	}
	n.data = b[head:size]
	return n, nil
}

// upTo returns n bytes at an address, or fewer at the end of the file.
func (s *source) upTo(address uint64, n int64) ([]byte, error) {
	if left := s.size - s.base; address < uint64(left) {
		n = min(n, left-int64(address))
	}
	return s.bytes(address, n)
}
