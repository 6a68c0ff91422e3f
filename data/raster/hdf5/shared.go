package hdf5

import (
	"bytes"
	"fmt"
	"slices"
)

// resolve returns the body of a message, which may be shared with other objects.
func (f *File) resolve(m message) ([]byte, error) {
	if m.flags&sharedFlag == 0 {
		return m.body, nil
	}
	return f.sharedBody(m.kind, f.src.decode(m.body, "shared message"))
}

// sharedBody decodes where a shared message is and returns its body: a message of the header of another object, such as a named type,
// or one in a heap of the file.
func (f *File) sharedBody(kind uint8, c *cursor) ([]byte, error) {
	const inHeap = 1
	version, where := c.uint8(), c.uint8()
	switch {
	case c.err != nil:
		return nil, c.err
	case version == 1:
		c.skip(6)
		c.length()
	case version != 2 && version != 3:
		return nil, unsupported("shared message of version %d, want 1 to 3", version)
	case version == 3 && where == inHeap:
		id := c.bytes(8)
		if c.err != nil {
			return nil, c.err
		}
		return f.heapMessage(kind, id)
	}
	address := c.offset()
	if c.err != nil {
		return nil, c.err
	}
	messages, err := f.header(address)
	if err != nil {
		return nil, err
	}
	for _, m := range messages {
		if m.kind == kind && m.flags&sharedFlag == 0 {
			return m.body, nil
		}
	}
	return nil, damaged("no message of type %d in the object header at address %d", kind, address)
}

// A sharedTable is the table of the heaps that have messages of many objects.
type sharedTable struct {
	heaps []sharedHeap
}

// A sharedHeap has the messages of some types.
type sharedHeap struct {
	kinds uint16 // bit n: messages of type n
	heap  *fractalHeap
}

// heapMessage returns the message with an ID in the heap of shared messages of a type.
func (f *File) heapMessage(kind uint8, id []byte) ([]byte, error) {
	f.sharedMu.Lock()
	defer f.sharedMu.Unlock()
	if f.shared == nil {
		table, err := f.sharedMessages()
		if err != nil {
			return nil, fmt.Errorf("shared messages: %w", err)
		}
		f.shared = table
	}
	for _, s := range f.shared.heaps {
		if kind < 16 && s.kinds>>kind&1 == 1 {
			body, err := s.heap.object(id)
			return bytes.Clone(body), err
		}
	}
	return nil, damaged("a shared message of type %d in a file without such messages", kind)
}

// sharedMessages reads the table of the superblock extension.
func (f *File) sharedMessages() (*sharedTable, error) {
	table := &sharedTable{}
	if f.super.extension == undefined {
		return table, nil
	}
	extension, err := f.header(f.super.extension)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(extension, func(m message) bool { return m.kind == sharedTableMessage && m.flags&sharedFlag == 0 })
	if i < 0 {
		return table, nil
	}
	c := f.src.decode(extension[i].body, "shared message table message")
	c.skip(1)
	address, count := c.offset(), int(c.uint8())
	if c.err != nil {
		return nil, c.err
	}
	const maxIndexes = 8 // as in the HDF5 library
	if count > maxIndexes {
		return nil, damaged("%d indexes, want at most %d", count, maxIndexes)
	}
	size := int64(4 + count*(1+1+2+4+3*2+2*f.src.offsetSize) + 4)
	b, err := f.src.bytes(address, size)
	if err != nil {
		return nil, err
	}
	if err := verifyChecksum(b, address); err != nil {
		return nil, err
	}
	c = f.src.decode(b, "shared message table")
	c.expect("SMTB")
	for range count {
		c.skip(1 + 1)
		s := sharedHeap{kinds: c.uint16()}
		c.skip(4 + 3*2)
		c.offset()
		heap := c.offset()
		if c.err != nil {
			return nil, c.err
		}
		if heap == undefined {
			continue
		}
		if s.heap, err = f.src.openFractalHeap(heap); err != nil {
			return nil, err
		}
		table.heaps = append(table.heaps, s)
	}
	return table, nil
}
