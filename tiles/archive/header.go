package archive

import (
	"encoding/binary"
	"math"
)

// headerBytes is the length of PMTiles' header (version 3, section 3).
const headerBytes = 127

// Numbers of PMTiles for the contents of an archive (sections 3.2 and 3.3).
const (
	version3      = 3
	isClustered   = 1
	uncompressed  = 1 // the tiles, since PNGs are compressed already
	gzipped       = 2 // directories and metadata
	typePNG       = 2
	unitsPerAngle = 1e7 // units of a coordinate per degree
)

// A header has the lengths of the sections, which follow it in this order, and counts of tiles.
type header struct {
	root, metadata, leaves, data uint64 // bytes
	addressed, entries, contents uint64
}

// encode returns the header of an archive of m.
func (h header) encode(m *Metadata) []byte {
	b := append(make([]byte, 0, headerBytes), "PMTiles"...)
	b = append(b, version3)
	offset := uint64(headerBytes)
	for _, length := range []uint64{h.root, h.metadata, h.leaves, h.data} {
		b = binary.LittleEndian.AppendUint64(b, offset)
		b = binary.LittleEndian.AppendUint64(b, length)
		offset += length
	}
	for _, count := range []uint64{h.addressed, h.entries, h.contents} {
		b = binary.LittleEndian.AppendUint64(b, count)
	}
	b = append(b, isClustered, gzipped, uncompressed, typePNG, byte(m.MinZoom), byte(m.MaxZoom))
	b = appendPosition(b, m.Bound.Min)
	b = appendPosition(b, m.Bound.Max)
	b = append(b, byte(m.CenterZoom))
	return appendPosition(b, m.Center)
}

// appendPosition appends a longitude and a latitude.
func appendPosition(b []byte, p [2]float64) []byte {
	for _, angle := range p {
		b = binary.LittleEndian.AppendUint32(b, uint32(int32(math.Round(angle*unitsPerAngle))))
	}
	return b
}
