package hdf5

import "fmt"

const (
	maxCollections     = 8 << 20 // bytes of collections that the values of one attribute are in
	minCollectionBytes = 16
)

// A globalHeap reads objects of variable length, which are in collections. It keeps the collections that it has read, so that each is
// read once for all values of an attribute.
type globalHeap struct {
	src         *source
	collections map[uint64]map[uint16][]byte
	bytes       int64
}

// object returns the bytes that a reference consisting of the address of a collection and an index refers to, at least n of them.
func (h *globalHeap) object(address uint64, index uint32, n int64) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	objects, ok := h.collections[address]
	if !ok {
		var err error
		if objects, err = h.collection(address); err != nil {
			return nil, fmt.Errorf("global heap at address %d: %w", address, err)
		}
		if h.collections == nil {
			h.collections = map[uint64]map[uint16][]byte{}
		}
		h.collections[address] = objects
	}
	b, ok := objects[uint16(index)]
	if !ok || index > 0xffff || int64(len(b)) < n {
		return nil, damaged("object %d of the global heap at address %d has %d bytes, want %d", index, address, len(b), n)
	}
	return b[:n], nil
}

// collection reads a collection.
func (h *globalHeap) collection(address uint64) (map[uint16][]byte, error) {
	head := 8 + h.src.lengthSize
	c, err := h.src.cursor(address, int64(head), "collection")
	if err != nil {
		return nil, err
	}
	c.expect("GCOL")
	version := c.uint8()
	c.skip(3)
	length := c.length()
	if c.err == nil && (version != 1 || length < minCollectionBytes) {
		c.fail("collection of version %d with %d bytes", version, length)
	}
	if c.err == nil && length > uint64(maxCollections-h.bytes) {
		c.err = unsupported("an attribute whose values are in more than %d bytes of global heaps", maxCollections)
	}
	if c.err != nil {
		return nil, c.err
	}
	h.bytes += int64(length)
	if c, err = h.src.cursor(address+uint64(head), int64(length)-int64(head), "collection"); err != nil {
		return nil, err
	}
	objects := map[uint16][]byte{}
	for len(c.b) >= 8+h.src.lengthSize {
		index := c.uint16()
		c.skip(2 + 4)
		size := c.length()
		if index == 0 {
			break // the rest is free
		}
		if c.err == nil && size > uint64(len(c.b)) {
			return nil, damaged("object %d of %d bytes where %d are left", index, size, len(c.b))
		}
		objects[index] = c.bytes(int(size))
		c.skip(min(-int(size)&7, len(c.b)))
	}
	return objects, c.err
}
