package tiff

import (
	"fmt"
	"math"
	"sync"
)

// A lazyIntegers is an array of integers in the file, such as the offsets of tiles. Of an image with a million tiles it reads only
// the blocks that are asked for.
type lazyIntegers struct {
	file *File
	name tag
	entry

	mu     sync.Mutex // guards what follows
	blocks map[int64][]byte
}

// Blocks of a lazyIntegers: 32 KiB of 8-byte values, of which at most 1 MiB are kept.
const (
	lazyBlockValues = 4096
	lazyBlocks      = 32
)

// at returns the i-th integer. The caller has checked that there are so many.
func (l *lazyIntegers) at(i int64) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := i / lazyBlockValues
	block, ok := l.blocks[n]
	if !ok {
		size := int64(l.kind.size())
		first := n * lazyBlockValues
		block = make([]byte, size*min(lazyBlockValues, int64(l.count)-first))
		if err := readFull(l.file.r, block, l.entry.at+first*size); err != nil {
			return 0, fmt.Errorf("tag %v: %w", l.name, err)
		}
		if len(l.blocks) >= lazyBlocks {
			clear(l.blocks)
		}
		l.blocks[n] = block
	}
	return l.kind.integerAt(l.file.order, block, int(i%lazyBlockValues)), nil
}

// readSegments finds the arrays of offsets and byte counts of the segments, and checks that they are long enough.
func (im *Image) readSegments(t *tagReader, d *directory) error {
	ids, countIDs := [2]tag{tagStripOffsets, tagTileOffsets}, [2]tag{tagStripByteCounts, tagTileByteCounts}
	if im.layout.tiled {
		// Some writers use the tags of strips for tiles, and readers follow.
		ids[0], ids[1] = ids[1], ids[0]
		countIDs[0], countIDs[1] = countIDs[1], countIDs[0]
	}
	var err error
	if im.offsets, err = im.segmentArray(t, d, ids); err != nil {
		return err
	}
	if im.offsets == nil {
		return damaged("tag %v is missing", ids[0])
	}
	im.counts, err = im.segmentArray(t, d, countIDs)
	return err
}

// segmentArray returns the array of the first of two tags that the directory has, nil if it has none.
func (im *Image) segmentArray(t *tagReader, d *directory, ids [2]tag) (*lazyIntegers, error) {
	for _, id := range ids {
		e, ok := d.entries[id]
		if !ok {
			continue
		}
		segments := uint64(im.layout.across) * uint64(im.layout.down) // at most 2^62
		if im.layout.planes {
			if segments > math.MaxInt64/uint64(im.bands) {
				return nil, damaged("more than 2^63 strips or tiles")
			}
			segments *= uint64(im.bands)
		}
		if !e.kind.integer() {
			return nil, damaged("tag %v has values of type %d, want integers", id, e.kind)
		}
		if e.count < segments {
			return nil, damaged("tag %v has %d values for %d strips or tiles", id, e.count, segments)
		}
		e.count = segments
		size := e.kind.size()
		if segments > uint64(t.size)/size || e.at > t.size-int64(segments*size) {
			return nil, damaged("%d values of tag %v at offset %d are beyond the end of the file, which has %d bytes", segments, id, e.at, t.size)
		}
		return &lazyIntegers{file: im.file, name: id, entry: e, blocks: map[int64][]byte{}}, nil
	}
	return nil, nil
}

// A byteRange is where the data of a segment are. It is empty for a segment that is not in the file.
type byteRange struct{ at, n int64 }

// segment returns the byte range of a segment, within the file and no longer than any encoding of its values.
func (im *Image) segment(column, row, band int) (byteRange, error) {
	l := &im.layout
	i := int64(row)*int64(l.across) + int64(column)
	if l.planes {
		i += int64(band) * int64(l.across) * int64(l.down)
	}
	at, err := im.offsets.at(i)
	if err != nil {
		return byteRange{}, err
	}
	rows := min(l.height, im.height-row*l.height)
	if l.tiled {
		rows = l.height
	}
	decoded := int64(rows) * int64(l.rowBytes)
	single := l.across == 1 && l.down == 1 && !(l.planes && im.bands > 1)
	var n uint64
	if im.counts != nil {
		if n, err = im.counts.at(i); err != nil {
			return byteRange{}, err
		}
		if n == 0 && !(single && at != 0 && l.compression == compressionNone) {
			return byteRange{}, nil // sparse
		}
	}
	if n == 0 {
		// Without byte counts the length follows from the size, or the decoder finds the end.
		n = uint64(maxEncoded(decoded))
	}
	if at < 8 || at >= uint64(im.file.size) {
		return byteRange{}, damaged("the data are at offset %d of %d bytes", at, im.file.size)
	}
	n = min(n, uint64(maxEncoded(decoded)), uint64(im.file.size)-at)
	if l.compression == compressionNone {
		if n < uint64(decoded) {
			return byteRange{}, damaged("%d bytes of uncompressed data at offset %d, want %d", n, at, decoded)
		}
		n = uint64(decoded)
	}
	return byteRange{int64(at), int64(n)}, nil
}

// maxEncoded bounds the bytes that any encoder makes of so many: LZW writes at most 12 bits for a byte.
func maxEncoded(decoded int64) int64 { return 2*decoded + 64<<10 }
