package tiff

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
)

// Bounds of what Open reads. The first two are far above what real files have: a series of 20 years of dekads in one file has
// 720 images, each with a few hundred bytes of tags.
const (
	maxDirectories = 4096
	maxTagBytes    = 8 << 20 // values of tags, without offsets and byte counts of tiles, which are read later
	headerRead     = 16 << 10
)

// A tagReader reads the structure of a file: header, directories and values of tags.
type tagReader struct {
	r      io.ReaderAt
	size   int64
	order  binary.ByteOrder
	big    bool // BigTIFF
	budget int  // bytes of values that may still be read

	window   []byte // the last bytes read, from windowAt
	windowAt int64
}

// An entry says where the values of a tag are.
type entry struct {
	kind  fieldType
	count uint64
	at    int64 // file offset of the values, within the directory if they fit in there
}

// A directory has the entries of an image that this package knows.
type directory struct {
	entries map[tag]entry
}

// bytes returns n bytes of the file, valid until the next call. The caller bounds n.
func (t *tagReader) bytes(at, n int64) ([]byte, error) {
	if at < 0 || n < 0 || at > t.size-n {
		return nil, damaged("%d bytes at offset %d are beyond the end of the file, which has %d bytes", n, at, t.size)
	}
	if at < t.windowAt || at+n > t.windowAt+int64(len(t.window)) {
		window := make([]byte, min(max(n, headerRead), t.size-at))
		if err := readFull(t.r, window, at); err != nil {
			return nil, err
		}
		t.window, t.windowAt = window, at
	}
	return t.window[at-t.windowAt:][:n], nil
}

// header reads the header and returns the offset of the first directory.
func (t *tagReader) header() (int64, error) {
	if t.size < 8 {
		return 0, damaged("the file has %d bytes", t.size)
	}
	head, err := t.bytes(0, 8)
	if err != nil {
		return 0, err
	}
	switch string(head[:2]) {
	case "II":
		t.order = binary.LittleEndian
	case "MM":
		t.order = binary.BigEndian
	default:
		return 0, damaged("it begins with % x, want II or MM", head[:4])
	}
	switch version := t.order.Uint16(head[2:]); version {
	case 42:
		return int64(t.order.Uint32(head[4:])), nil
	case 43:
		t.big = true
	default:
		return 0, damaged("TIFF version %d, want 42 or 43", version)
	}
	if size := t.order.Uint16(head[4:]); size != 8 {
		return 0, damaged("BigTIFF with offsets of %d bytes, want 8", size)
	}
	if head, err = t.bytes(8, 8); err != nil {
		return 0, err
	}
	return offset(t.order.Uint64(head)), nil
}

// offset converts an offset of the file. What no file can have becomes an offset beyond the end of any file.
func offset(v uint64) int64 { return int64(min(v, math.MaxInt64)) }

// directories reads the chain of directories. A chain that returns to a directory is an error, as is one whose directories have
// more bytes than the file: they would overlap.
func (t *tagReader) directories(next int64) ([]*directory, error) {
	var dirs []*directory
	seen := map[int64]bool{}
	left := t.size
	for next != 0 {
		if seen[next] {
			return nil, damaged("the chain of image directories returns to offset %d", next)
		}
		if len(dirs) == maxDirectories {
			return nil, unsupported("more than %d image directories", maxDirectories)
		}
		seen[next] = true
		dir, length, after, err := t.directory(next, left)
		if err != nil {
			return nil, err
		}
		dirs = append(dirs, dir)
		left -= length
		next = after
	}
	if len(dirs) == 0 {
		return nil, damaged("it has no image directory")
	}
	return dirs, nil
}

// directory reads the directory at an offset. It returns its length in bytes, which is at most left, and the offset of the next.
func (t *tagReader) directory(at, left int64) (dir *directory, length, next int64, err error) {
	countSize, entrySize, offsetSize := int64(2), int64(12), int64(4)
	if t.big {
		countSize, entrySize, offsetSize = 8, 20, 8
	}
	head, err := t.bytes(at, countSize)
	if err != nil {
		return nil, 0, 0, err
	}
	n := uint64(t.order.Uint16(head))
	if t.big {
		n = t.order.Uint64(head)
	}
	if n > uint64(max(left, 0)/entrySize) { // left is negative if links of empty directories overlap
		return nil, 0, 0, damaged("the directory at offset %d has %d entries, which is more than the file can have", at, n)
	}
	length = countSize + int64(n)*entrySize + offsetSize
	dir = &directory{entries: map[tag]entry{}}
	// Entries are read in pieces: a directory may be as long as the file.
	for i := range int64(n) {
		entryAt := at + countSize + i*entrySize
		raw, err := t.bytes(entryAt, entrySize)
		if err != nil {
			return nil, 0, 0, err
		}
		dir.add(t, raw, entryAt)
	}
	raw, err := t.bytes(at+length-offsetSize, offsetSize)
	if err != nil {
		return nil, 0, 0, err
	}
	if t.big {
		return dir, length, offset(t.order.Uint64(raw)), nil
	}
	return dir, length, int64(t.order.Uint32(raw)), nil
}

// add adds the entry with the given bytes if its tag is known. The first of several entries of one tag counts, as in libtiff.
func (d *directory) add(t *tagReader, raw []byte, at int64) {
	id := tag(t.order.Uint16(raw))
	if _, ok := d.entries[id]; ok || !id.known() {
		return
	}
	e := entry{kind: fieldType(t.order.Uint16(raw[2:]))}
	inline := uint64(4)
	if t.big {
		inline = 8
		e.count = t.order.Uint64(raw[4:])
		e.at = offset(t.order.Uint64(raw[12:]))
		at += 12
	} else {
		e.count = uint64(t.order.Uint32(raw[4:]))
		e.at = int64(t.order.Uint32(raw[8:]))
		at += 8
	}
	if size := e.kind.size(); size == 0 || e.count <= inline/size {
		e.at = at
	}
	d.entries[id] = e
}

// values returns the bytes of a tag's values, of which there must be between 1 and most.
func (t *tagReader) values(id tag, e entry, most uint64) ([]byte, error) {
	if e.count == 0 || e.count > most {
		return nil, damaged("tag %v has %d values, want 1 to %d", id, e.count, most)
	}
	size := e.kind.size()
	if size == 0 {
		return nil, damaged("tag %v has values of the unknown type %d", id, e.kind)
	}
	if e.count > uint64(t.size)/size {
		return nil, damaged("tag %v has %d values, which is more than the file can have", id, e.count)
	}
	n := e.count * size
	if n > uint64(t.budget) {
		return nil, unsupported("more than %d bytes of tags, with those of tag %v", maxTagBytes, id)
	}
	t.budget -= int(n)
	return t.bytes(e.at, int64(n))
}

// integers returns the values of a tag, nil if the directory has none.
func (d *directory) integers(t *tagReader, id tag, most uint64) ([]uint64, error) {
	e, ok := d.entries[id]
	if !ok {
		return nil, nil
	}
	if !e.kind.integer() {
		return nil, damaged("tag %v has values of type %d, want integers", id, e.kind)
	}
	raw, err := t.values(id, e, most)
	if err != nil {
		return nil, err
	}
	values := make([]uint64, e.count)
	for i := range values {
		values[i] = e.kind.integerAt(t.order, raw, i)
	}
	return values, nil
}

// integer returns the first value of a tag, or the default if the directory has none.
func (d *directory) integer(t *tagReader, id tag, byDefault uint64) (uint64, error) {
	values, err := d.integers(t, id, math.MaxUint16)
	if err != nil || values == nil {
		return byDefault, err
	}
	return values[0], nil
}

// doubles returns the values of a tag, nil if the directory has none.
func (d *directory) doubles(t *tagReader, id tag) ([]float64, error) {
	e, ok := d.entries[id]
	if !ok {
		return nil, nil
	}
	if e.kind != typeDouble && e.kind != typeFloat {
		return nil, damaged("tag %v has values of type %d, want floating-point numbers", id, e.kind)
	}
	raw, err := t.values(id, e, maxTagBytes)
	if err != nil {
		return nil, err
	}
	values := make([]float64, e.count)
	for i := range values {
		if e.kind == typeFloat {
			values[i] = float64(math.Float32frombits(t.order.Uint32(raw[4*i:])))
		} else {
			values[i] = math.Float64frombits(t.order.Uint64(raw[8*i:]))
		}
	}
	return values, nil
}

// text returns the text of a tag up to its first NUL, "" if the directory has none.
func (d *directory) text(t *tagReader, id tag, most uint64) (string, error) {
	e, ok := d.entries[id]
	if !ok || e.count == 0 {
		return "", nil
	}
	if e.kind.size() != 1 {
		return "", damaged("tag %v has values of type %d, want a text", id, e.kind)
	}
	raw, err := t.values(id, e, most)
	if err != nil {
		return "", err
	}
	if end := bytes.IndexByte(raw, 0); end >= 0 {
		raw = raw[:end]
	}
	return string(raw), nil
}

// subfileType returns the bits that tell overviews and masks.
func (d *directory) subfileType(t *tagReader) (uint64, error) {
	kind, err := d.integer(t, tagNewSubfileType, 0)
	if err != nil {
		return 0, err
	}
	if _, ok := d.entries[tagNewSubfileType]; ok {
		return kind, nil
	}
	old, err := d.integer(t, tagSubfileType, 1) // of TIFF 5: 1 full resolution, 2 reduced, 3 page
	if old == 2 {
		return subfileReduced, err
	}
	return 0, err
}
