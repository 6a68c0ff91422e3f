package hdf5

import (
	"fmt"
	"slices"
)

// Types of the messages of object headers.
const (
	dataspaceMessage     = 0x01
	linkInfoMessage      = 0x02
	datatypeMessage      = 0x03
	oldFillMessage       = 0x04
	fillMessage          = 0x05
	linkMessage          = 0x06
	externalMessage      = 0x07
	layoutMessage        = 0x08
	groupInfoMessage     = 0x0a
	pipelineMessage      = 0x0b
	attributeMessage     = 0x0c
	sharedTableMessage   = 0x0f
	continuationMessage  = 0x10
	symbolTableMessage   = 0x11
	driverMessage        = 0x14
	attributeInfoMessage = 0x15
	cacheImageMessage    = 0x18
)

// Flags of messages.
const (
	sharedFlag       = 0x02 // the body says where the message is
	mustKnowFlag     = 0x80 // a reader that does not know the type must not open the object
	lastKnownMessage = 0x18
)

// A message is a part of an object header.
type message struct {
	kind, flags uint8
	order       uint16 // of creation, of attributes, if the header has it
	address     uint64 // of the body
	body        []byte
}

const (
	maxHeaderBytes = 8 << 20 // of the blocks of an object header
	maxMessages    = 1 << 16 // of an object header
)

// A headerReader collects the messages of an object header.
type headerReader struct {
	src      *source
	left     int64 // of maxHeaderBytes
	messages header
	blocks   [][2]uint64 // continuations to read, address and length
	tracked  bool        // messages have an order of creation
}

// header returns the messages of the object header at an address.
func (f *File) header(address uint64) (header, error) {
	h, err := f.headers.get(address, func() (header, int, error) {
		r := &headerReader{src: f.src, left: min(maxHeaderBytes, f.src.size)}
		left := r.left
		err := r.read(address)
		return r.messages, int(left-r.left) + 64*len(r.messages), err
	})
	if err != nil {
		return nil, fmt.Errorf("object header at address %d: %w", address, err)
	}
	return h, nil
}

// A header is the messages of an object.
type header []message

// has reports whether there is a message of one of these types.
func (h header) has(kinds ...uint8) bool {
	return slices.ContainsFunc(h, func(m message) bool { return slices.Contains(kinds, m.kind) })
}

func (h header) isDataset() bool { return h.has(layoutMessage, dataspaceMessage) }

func (h header) isGroup() bool {
	return !h.isDataset() && h.has(symbolTableMessage, linkInfoMessage, linkMessage, groupInfoMessage)
}

// kind names what the object is.
func (h header) kind() string {
	switch {
	case h.isDataset():
		return "a dataset"
	case h.isGroup():
		return "a group"
	case h.has(datatypeMessage):
		return "a named type"
	}
	return "an object of unknown kind"
}

// body returns the body of the first message of a type, nil if there is none. It follows a reference to a shared message.
func (f *File) body(h header, kind uint8) ([]byte, error) {
	for _, m := range h {
		if m.kind == kind {
			return f.resolve(m)
		}
	}
	return nil, nil
}

func (r *headerReader) read(address uint64) error {
	head, err := r.src.bytes(address, 8)
	if err != nil {
		return err
	}
	version2 := string(head[:4]) == "OHDR"
	if version2 {
		err = r.begin2(address, head)
	} else {
		err = r.begin1(address)
	}
	// A continuation takes bytes of the file, more of which than maxHeaderBytes are not read, so that cycles end.
	for i := 0; err == nil && i < len(r.blocks); i++ {
		block := r.blocks[i]
		var b []byte
		if b, err = r.block(block[0], block[1]); err != nil {
			break
		}
		if version2 {
			err = r.continuation2(b, block[0])
		} else {
			err = r.parse1(b, block[0])
		}
	}
	return err
}

// block reads a block of the header.
func (r *headerReader) block(address, length uint64) ([]byte, error) {
	if length > uint64(r.left) || length < 8 {
		return nil, damaged("header block of %d bytes, want at least 8, and at most %d for all blocks", length, min(maxHeaderBytes, r.src.size))
	}
	r.left -= int64(length)
	return r.src.bytes(address, int64(length))
}

// begin1 reads the first block of a header of version 1.
func (r *headerReader) begin1(address uint64) error {
	c, err := r.src.cursor(address, 16, "object header")
	if err != nil {
		return err
	}
	if version := c.uint8(); version != 1 {
		return damaged("no object header: version %d, want 1 or the signature OHDR", version)
	}
	c.skip(1 + 2 + 4) // among them the number of messages, which the length of the blocks implies
	length := uint64(c.uint32())
	if length == 0 {
		return nil
	}
	b, err := r.block(address+16, length)
	if err != nil {
		return err
	}
	return r.parse1(b, address+16)
}

// parse1 decodes the messages of a block of version 1.
func (r *headerReader) parse1(b []byte, address uint64) error {
	c := r.src.decode(b, "object header")
	for len(c.b) >= 8 {
		m := message{}
		kind, size := c.uint16(), int(c.uint16())
		m.kind, m.flags = uint8(min(kind, 0xff)), c.uint8()
		c.skip(3)
		m.address = address + uint64(len(b)-len(c.b))
		m.body = c.bytes(size)
		if c.err != nil {
			return c.err
		}
		if err := r.add(m); err != nil {
			return err
		}
	}
	return nil
}

// begin2 reads the first block of a header of version 2.
func (r *headerReader) begin2(address uint64, head []byte) error {
	const (
		sizeBits      = 3
		ordered       = 1 << 2
		hasPhases     = 1 << 4
		hasTimestamps = 1 << 5
	)
	if head[4] != 2 {
		return unsupported("object header of version %d, want 1 or 2", head[4])
	}
	flags := head[5]
	r.tracked = flags&ordered != 0
	prefix := 6
	if flags&hasTimestamps != 0 {
		prefix += 16
	}
	if flags&hasPhases != 0 {
		prefix += 4
	}
	c, err := r.src.cursor(address, int64(prefix+1<<(flags&sizeBits)), "object header")
	if err != nil {
		return err
	}
	c.skip(prefix)
	length := c.number(1 << (flags & sizeBits))
	prefix += 1 << (flags & sizeBits)
	if length > maxHeaderBytes {
		return damaged("header block of %d bytes, want at most %d", length, maxHeaderBytes)
	}
	b, err := r.block(address, uint64(prefix)+length+4)
	if err != nil {
		return err
	}
	if err := verifyChecksum(b, address); err != nil {
		return err
	}
	return r.parse2(b[:len(b)-4], prefix, address)
}

func (r *headerReader) continuation2(b []byte, address uint64) error {
	if err := verifyChecksum(b, address); err != nil {
		return err
	}
	if string(b[:4]) != "OCHK" {
		return damaged("header block with the signature %q, want OCHK", b[:4])
	}
	return r.parse2(b[:len(b)-4], 4, address)
}

// parse2 decodes the messages of a block of version 2 that begin at byte at of it. What is too short for a message is a gap.
func (r *headerReader) parse2(b []byte, at int, address uint64) error {
	c := r.src.decode(b[at:], "object header")
	size := 4
	if r.tracked {
		size += 2
	}
	for c.err == nil && len(c.b) >= size {
		m := message{kind: c.uint8()}
		length := int(c.uint16())
		m.flags = c.uint8()
		if r.tracked {
			m.order = c.uint16()
		}
		m.address = address + uint64(len(b)-len(c.b))
		if m.body = c.bytes(length); c.err != nil {
			break
		}
		if err := r.add(m); err != nil {
			return err
		}
	}
	return c.err
}

// add keeps a message that matters, and remembers continuations.
func (r *headerReader) add(m message) error {
	switch m.kind {
	case dataspaceMessage, linkInfoMessage, datatypeMessage, oldFillMessage, fillMessage, linkMessage, externalMessage, layoutMessage,
		groupInfoMessage, pipelineMessage, attributeMessage, sharedTableMessage, symbolTableMessage, driverMessage,
		attributeInfoMessage, cacheImageMessage:
		if len(r.messages) == maxMessages {
			return damaged("more than %d messages", maxMessages)
		}
		r.messages = append(r.messages, m)
	case continuationMessage:
		c := r.src.decode(m.body, "continuation message")
		block := [2]uint64{c.offset(), c.length()}
		if c.err != nil {
			return c.err
		}
		r.blocks = append(r.blocks, block)
	default:
		if m.kind > lastKnownMessage && m.flags&mustKnowFlag != 0 {
			return unsupported("a message of type %d", m.kind)
		}
	}
	return nil
}
