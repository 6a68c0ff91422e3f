package archive

import (
	"encoding/binary"
	"math"
)

const (
	// maxRootBytes is the largest root directory: readers fetch the first 16 KiB at once, which must contain the header and
	// the root directory (PMTiles 3, section 4).
	maxRootBytes = 16<<10 - headerBytes
	// maxRootEntries is the number of entries above which the root cannot hold all tiles: each takes a byte or more.
	maxRootEntries = maxRootBytes
	// minLeafEntries makes a leaf of about 10 kB, one small request for all tiles of a neighbourhood.
	minLeafEntries = 4096
)

// An entry has the position of a run of equal tiles in their section, or with a run of 0, that of a leaf directory.
type entry struct {
	id, offset  uint64
	length, run uint32
}

// A directory is the index of all tiles of an archive, in the order of their ids.
type directory struct {
	entries   []entry
	addressed uint64 // tiles
	z         compressor
}

// add adds the tile of that id, which is at offset. Ids come in order.
func (d *directory) add(id, offset uint64, length uint32) {
	d.addressed++
	if n := len(d.entries); n > 0 {
		last := &d.entries[n-1]
		if last.offset == offset && last.id+uint64(last.run) == id && last.run < math.MaxUint32 {
			last.run++
			return
		}
	}
	d.entries = append(d.entries, entry{id, offset, length, 1})
}

// encode returns the root and, if it cannot hold all tiles, the leaves that it points to, one after the other.
func (d *directory) encode() (root, leaves []byte, err error) {
	if len(d.entries) <= maxRootEntries {
		if root, err = d.appendEntries(nil, d.entries); err != nil || len(root) <= maxRootBytes {
			return root, nil, err
		}
	}
	return d.encodeLeavesFrom(minLeafEntries)
}

// encodeLeavesFrom begins with leaves of size entries, and doubles that until the root fits.
func (d *directory) encodeLeavesFrom(size int) (root, leaves []byte, err error) {
	for ; ; size *= 2 { // ends: a root of one leaf fits
		if root, leaves, err = d.encodeLeaves(size); err != nil || len(root) <= maxRootBytes {
			return root, leaves, err
		}
	}
}

func (d *directory) encodeLeaves(size int) (root, leaves []byte, err error) {
	var pointers []entry
	for from := 0; from < len(d.entries); from += size {
		leaf := d.entries[from:min(from+size, len(d.entries))]
		start := len(leaves)
		if leaves, err = d.appendEntries(leaves, leaf); err != nil {
			return nil, nil, err
		}
		pointers = append(pointers, entry{id: leaf[0].id, offset: uint64(start), length: uint32(len(leaves) - start)})
	}
	root, err = d.appendEntries(nil, pointers)
	return root, leaves, err
}

// appendEntries appends a directory in the format of PMTiles (section 4.2): column by column, ids as differences, an offset
// of 0 if the tile follows the previous one, all compressed.
func (d *directory) appendEntries(dst []byte, entries []entry) ([]byte, error) {
	plain := binary.AppendUvarint(nil, uint64(len(entries)))
	var id uint64
	for _, e := range entries {
		plain = binary.AppendUvarint(plain, e.id-id)
		id = e.id
	}
	for _, e := range entries {
		plain = binary.AppendUvarint(plain, uint64(e.run))
	}
	for _, e := range entries {
		plain = binary.AppendUvarint(plain, uint64(e.length))
	}
	var end uint64
	for i, e := range entries {
		offset := e.offset + 1
		if i > 0 && e.offset == end {
			offset = 0
		}
		plain = binary.AppendUvarint(plain, offset)
		end = e.offset + uint64(e.length)
	}
	return d.z.append(dst, plain)
}
