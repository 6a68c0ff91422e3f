package hdf5

// A fixedArrayIndex finds the chunks of a dataset of fixed maximal shape.
type fixedArrayIndex struct {
	cache    blockCache
	grid     gridOrder
	element  arrayElement
	pageBits uint
	count    uint64 // elements
	block    uint64 // address
}

// maxPageBits bounds a page of elements: the HDF5 library writes 10.
const maxPageBits = 16

func newFixedArrayIndex(s *source, address uint64, grid gridOrder, chunkBytes uint64) (*fixedArrayIndex, error) {
	x := &fixedArrayIndex{cache: blockCache{src: s}, grid: grid, element: arrayElement{offsetSize: s.offsetSize, bytes: chunkBytes}}
	b, err := x.cache.block("FAHD", "header of a fixed array", address, int64(4+1+1+1+1+s.lengthSize+s.offsetSize+4))
	if err != nil {
		return nil, err
	}
	if err := x.element.check(b[5], int(b[6])); err != nil {
		return nil, err
	}
	if x.pageBits = uint(b[7]); x.pageBits > maxPageBits {
		return nil, damaged("fixed array at address %d with pages of 2^%d elements, want at most 2^%d", address, x.pageBits, maxPageBits)
	}
	x.count = littleEndian(b[8:][:s.lengthSize])
	x.block = s.decode(b[8+s.lengthSize:], "fixed array").offset()
	return x, nil
}

// find implements [chunkIndex].
func (x *fixedArrayIndex) find(at []uint64) (chunkRef, error) {
	i, err := x.grid.index(at)
	if err != nil {
		return missingChunk, err
	}
	if i >= x.count {
		return missingChunk, damaged("chunk %v has number %d in a fixed array of %d", at, i, x.count)
	}
	if x.block == undefined {
		return missingChunk, nil
	}
	head := int64(4 + 1 + 1 + x.cache.src.offsetSize)
	page := uint64(1) << x.pageBits
	if x.count <= page {
		b, err := x.dataBlock(head + int64(x.count)*int64(x.element.size) + 4)
		if err != nil {
			return missingChunk, err
		}
		return x.element.decode(b[head:], int(i)), nil
	}
	pages := (x.count-1)>>x.pageBits + 1
	if pages > 8*maxBlock {
		return missingChunk, damaged("fixed array of %d pages, want at most %d", pages, 8*maxBlock)
	}
	head += int64(pages+7)/8 + 4
	b, err := x.dataBlock(head)
	if err != nil {
		return missingChunk, err
	}
	p := i >> x.pageBits
	if !bitSet(b[4+1+1+x.cache.src.offsetSize:], p) {
		return missingChunk, nil
	}
	n := min(page, x.count-p<<x.pageBits)
	b, err = x.cache.get(x.block+uint64(head)+p*(page*uint64(x.element.size)+4), int64(n)*int64(x.element.size)+4, true)
	if err != nil {
		return missingChunk, err
	}
	return x.element.decode(b, int(i-p<<x.pageBits)), nil
}

func (x *fixedArrayIndex) dataBlock(size int64) ([]byte, error) {
	return x.cache.block("FADB", "data block of a fixed array", x.block, size)
}

// bitSet reports bit i of a bitmap, whose first bit is the highest of a byte.
func bitSet(bitmap []byte, i uint64) bool { return bitmap[i/8]&(0x80>>(i%8)) != 0 }
