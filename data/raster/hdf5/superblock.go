package hdf5

import "fmt"

const signature = "\x89HDF\r\n\x1a\n"

// A superblock is what the start of a file says about the file.
type superblock struct {
	version   int
	root      uint64 // address of the object header of the root group
	extension uint64 // address of the object header with more about the file, or undefined
}

// readSuperblock finds the superblock, reads it, and sets the base address and the sizes of addresses and lengths.
func (f *File) readSuperblock() error {
	at, err := f.src.findSignature()
	if err != nil {
		return err
	}
	f.src.base = at
	head, err := f.src.bytes(0, min(f.src.size-at, 128))
	if err != nil {
		return fmt.Errorf("superblock: %w", err)
	}
	c := f.src.decode(head, "superblock")
	c.skip(len(signature))
	f.super = superblock{version: int(c.uint8()), extension: undefined}
	switch f.super.version {
	case 0, 1:
		return f.superblock0(c)
	case 2, 3:
		return f.superblock2(c, head)
	}
	return unsupported("superblock of version %d, want 0 to 3", f.super.version)
}

// findSignature returns the position of the signature: 0, or a power of two from 512 if the file begins with other data.
func (s *source) findSignature() (int64, error) {
	got := make([]byte, len(signature))
	for at := int64(0); at <= s.size-int64(len(signature)); at = max(512, 2*at) {
		if err := s.readAt(got, uint64(at)); err != nil {
			return 0, err
		}
		if string(got) == signature {
			return at, nil
		}
	}
	first := make([]byte, min(8, max(0, s.size)))
	if err := s.readAt(first, 0); err != nil {
		return 0, err
	}
	return 0, damaged("%d bytes that begin with %q, without the signature of HDF5", s.size, first)
}

// superblock0 decodes versions 0 and 1.
func (f *File) superblock0(c *cursor) error {
	c.skip(4)
	f.src.setSizes(c, int(c.uint8()), int(c.uint8()))
	c.skip(1 + 2 + 2 + 4)
	if f.super.version == 1 {
		c.skip(4)
	}
	base := c.offset()
	c.offset()
	end, driver := c.offset(), c.offset()
	c.offset()
	f.super.root = c.offset()
	if c.err == nil && driver != undefined {
		return unsupported("a file that is split by a driver")
	}
	return f.checkEnd(c, base, end)
}

// superblock2 decodes versions 2 and 3.
func (f *File) superblock2(c *cursor, head []byte) error {
	f.src.setSizes(c, int(c.uint8()), int(c.uint8()))
	c.skip(1)
	base := c.offset()
	f.super.extension = c.offset()
	end := c.offset()
	f.super.root = c.offset()
	if sum := lookup3(head[:len(head)-len(c.b)]); c.uint32() != sum {
		c.fail("superblock with a wrong checksum")
	}
	return f.checkEnd(c, base, end)
}

// setSizes sets the sizes of addresses and lengths.
func (s *source) setSizes(c *cursor, offset, length int) {
	for _, size := range []int{offset, length} {
		if c.err == nil && size != 2 && size != 4 && size != 8 {
			c.err = unsupported("addresses of %d and lengths of %d bytes, want 2, 4 or 8", offset, length)
		}
	}
	s.offsetSize, s.lengthSize = offset, length
	c.offsetSize, c.lengthSize = offset, length
	if c.err != nil {
		c.offsetSize, c.lengthSize = 8, 8
	}
}

// checkEnd refuses files that are shorter than the superblock says: downloads that were interrupted. The base address of the superblock
// only counts for the end, as in the HDF5 library: all other addresses are relative to the place of the superblock.
func (f *File) checkEnd(c *cursor, base, end uint64) error {
	switch {
	case c.err != nil:
		return c.err
	case end == undefined || base > end:
		return damaged("a superblock with the base address %d and the end %d", base, end)
	case end-base > uint64(f.src.size-f.src.base):
		return damaged("%d bytes from the superblock on, want %d: the file is incomplete", f.src.size-f.src.base, end-base)
	}
	return nil
}

// checkExtension refuses files whose objects are elsewhere.
func (f *File) checkExtension() error {
	if f.super.extension == undefined {
		return nil
	}
	extension, err := f.header(f.super.extension)
	if err != nil {
		return err
	}
	if extension.has(driverMessage) {
		return unsupported("a file that is split by a driver")
	}
	if extension.has(sharedTableMessage) {
		return unsupported("a file whose objects share messages in a heap; h5repack writes one without")
	}
	if extension.has(cacheImageMessage) {
		return unsupported("a file whose metadata are in an image of a cache; h5repack writes one without")
	}
	return nil
}
