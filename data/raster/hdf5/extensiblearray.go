package hdf5

import (
	"math/bits"
)

// An extensibleArrayIndex finds the chunks of a dataset with one unlimited dimension. Its first elements lie in the index block, those
// that follow in data blocks, which grow. The index block has the addresses of the first data blocks and of super blocks, which have
// those of the other data blocks.
type extensibleArrayIndex struct {
	cache   blockCache
	grid    gridOrder
	element arrayElement

	offsetBytes    int // size of a block's offset within the array
	direct         uint64
	smallest       uint64 // elements of the first data block
	pageBits       uint
	firstSuper     int // super blocks before this one have their data blocks in the index block
	superBlocks    int
	dataAddresses  int // in the index block
	superAddresses int
	block          uint64 // address of the index block
}

func newExtensibleArrayIndex(s *source, address uint64, grid gridOrder, chunkBytes uint64) (*extensibleArrayIndex, error) {
	x := &extensibleArrayIndex{cache: blockCache{src: s}, grid: grid, element: arrayElement{offsetSize: s.offsetSize, bytes: chunkBytes}}
	b, err := x.cache.block("EAHD", "header of an extensible array", address, int64(4+1+1+6+6*s.lengthSize+s.offsetSize+4))
	if err != nil {
		return nil, err
	}
	if err := x.element.check(b[5], int(b[6])); err != nil {
		return nil, err
	}
	maxBits := uint(b[7])
	x.direct, x.smallest = uint64(b[8]), uint64(b[9])
	pointers := uint64(b[10])
	x.pageBits = uint(b[11])
	if maxBits < 1 || maxBits > 64 || bits.OnesCount64(x.smallest) != 1 || bits.OnesCount64(pointers) != 1 || pointers < 2 ||
		x.pageBits > maxPageBits || x.smallest > 1<<x.pageBits || bits.Len64(x.smallest) > int(maxBits) {
		return nil, damaged("extensible array at address %d: 2^%d elements, data blocks from %d, super blocks from %d pointers, pages of 2^%d",
			address, maxBits, x.smallest, pointers, x.pageBits)
	}
	x.offsetBytes = int(maxBits+7) / 8
	x.superBlocks = 1 + int(maxBits) - (bits.Len64(x.smallest) - 1)
	x.firstSuper = min(x.superBlocks, 2*(bits.Len64(pointers)-1))
	x.dataAddresses = 2 * (int(pointers) - 1)
	x.superAddresses = x.superBlocks - x.firstSuper
	x.block = s.decode(b[12+6*s.lengthSize:], "extensible array").offset()
	return x, nil
}

// find implements [chunkIndex].
func (x *extensibleArrayIndex) find(at []uint64) (chunkRef, error) {
	i, err := x.grid.index(at)
	if err != nil || x.block == undefined {
		return missingChunk, err
	}
	head := 4 + 1 + 1 + x.cache.src.offsetSize
	offsetSize := x.cache.src.offsetSize
	elements := int(x.direct) * x.element.size
	index, err := x.get("EAIB", x.block, head+elements+(x.dataAddresses+x.superAddresses)*offsetSize+4)
	if err != nil {
		return missingChunk, err
	}
	if i < x.direct {
		return x.element.decode(index[head:], int(i)), nil
	}
	if i -= x.direct; i > 1<<62 {
		return missingChunk, damaged("chunk %v has number %d in an extensible array, want less than 2^62", at, i)
	}
	// Super block u has 2^(u/2) data blocks with 2^((u+1)/2) times the smallest number of elements.
	u := bits.Len64(i/x.smallest+1) - 1
	if u >= x.superBlocks {
		return missingChunk, damaged("chunk %v has number %d in an extensible array of %d super blocks", at, i, x.superBlocks)
	}
	i -= (1<<u - 1) * x.smallest
	count := x.smallest << ((u + 1) / 2) // elements of a data block
	k := i / count
	i %= count
	addresses := index[head+elements:]
	if u < x.firstSuper {
		before := uint64(1)<<(u/2) - 1 // data blocks of the super blocks before, with those of even and of odd numbers
		before += uint64(1)<<((u+1)/2) - 1
		return x.inBlock(addresses[int(before+k)*offsetSize:][:offsetSize], count, i, nil)
	}
	addresses = addresses[(x.dataAddresses+u-x.firstSuper)*offsetSize:][:offsetSize]
	if allOnes(addresses) {
		return missingChunk, nil
	}
	blocks := uint64(1) << (u / 2)
	pages := uint64(0)
	if count > 1<<x.pageBits {
		pages = count >> x.pageBits
	}
	if blocks > maxBlock || pages > maxBlock || blocks*pages > maxBlock {
		return missingChunk, damaged("super block of an extensible array with %d data blocks of %d pages", blocks, pages)
	}
	bitmap := blocks * ((pages + 7) / 8)
	start := head + x.offsetBytes
	super, err := x.get("EASB", littleEndian(addresses), start+int(bitmap)+int(blocks)*offsetSize+4)
	if err != nil {
		return missingChunk, err
	}
	address := super[start+int(bitmap)+int(k)*offsetSize:][:offsetSize]
	if pages == 0 {
		return x.inBlock(address, count, i, nil)
	}
	return x.inBlock(address, count, i, func(page uint64) bool { return bitSet(super[start:], k*pages+page) })
}

// inBlock returns element i of a data block of count elements. If it has pages, isSet reports whether one was written.
func (x *extensibleArrayIndex) inBlock(address []byte, count, i uint64, isSet func(page uint64) bool) (chunkRef, error) {
	if allOnes(address) {
		return missingChunk, nil
	}
	at := littleEndian(address)
	head := 4 + 1 + 1 + x.cache.src.offsetSize + x.offsetBytes
	if isSet == nil {
		b, err := x.get("EADB", at, head+int(count)*x.element.size+4)
		if err != nil {
			return missingChunk, err
		}
		return x.element.decode(b[head:], int(i)), nil
	}
	page := i >> x.pageBits
	if !isSet(page) {
		return missingChunk, nil
	}
	if _, err := x.get("EADB", at, head+4); err != nil {
		return missingChunk, err
	}
	size := uint64(x.element.size)<<x.pageBits + 4
	b, err := x.cache.get(at+uint64(head)+4+page*size, int64(size), true)
	if err != nil {
		return missingChunk, err
	}
	return x.element.decode(b, int(i-page<<x.pageBits)), nil
}

// get returns a block with a signature.
func (x *extensibleArrayIndex) get(signature string, address uint64, size int) ([]byte, error) {
	return x.cache.block(signature, "block "+signature+" of an extensible array", address, int64(size))
}
