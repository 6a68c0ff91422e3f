package palettepng

import (
	"encoding/binary"
	"hash/crc32"
)

// signature begins a PNG file (section 5.2).
const signature = "\x89PNG\r\n\x1a\n"

// A file is a PNG file in memory: a signature and chunks (section 5.3).
type file []byte

// begin begins a chunk of that type and returns its offset, for end.
func (f *file) begin(name string) (at int) {
	at = len(*f)
	*f = append(append(*f, 0, 0, 0, 0), name...)
	return at
}

// end writes the length and the checksum of the chunk at an offset. The length excludes itself, the type and the checksum.
func (f *file) end(at int) {
	named := (*f)[at+4:]
	binary.BigEndian.PutUint32((*f)[at:], uint32(len(named)-4))
	*f = binary.BigEndian.AppendUint32(*f, crc32.ChecksumIEEE(named))
}
