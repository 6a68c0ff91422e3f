package render

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image/color"
	"io"
	"slices"

	"github.com/klauspost/compress/flate"
)

const (
	// pngHeader is the signature of a PNG file (PNG, third edition, section 5.2).
	pngHeader = "\x89PNG\r\n\x1a\n"
	// colourIndexed is the PNG colour type of an image whose samples are palette indices (section 11.2.1).
	colourIndexed = 3
	// zlibHeader says deflate with a window of 32 KiB, made by the default algorithm (RFC 1950, section 2.2).
	zlibHeader = "\x78\x9c"
	// deflateLevel saves a sixth of the bytes that level 1 makes, for a fifth more time on a whole tile.
	deflateLevel = 6
)

// The filters that are used (section 9.2).
const (
	filterNone = 0
	// filterSub makes differences from the byte to the left. Neighbours in a field are neighbours in the palette, and the
	// edge between two levels is the same wherever it runs: files of manyShades and more become a twelfth smaller. Fewer
	// shades repeat themselves as they are, and where several share a byte a difference of bytes means nothing.
	filterSub  = 1
	manyShades = 64
)

// An encoder writes paletted PNG files. It is reused, but not by two at once.
type encoder struct {
	file  file
	lines []uint8 // of the image, as they are compressed
	zip   *flate.Writer
}

// A file is written by appending to it.
type file []byte

func (f *file) Write(b []byte) (int, error) {
	*f = append(*f, b...)
	return len(b), nil
}

func newEncoder() *encoder {
	// A level that the package knows is the only thing that it checks.
	zip, err := flate.NewWriter(io.Discard, deflateLevel)
	if err != nil {
		panic(err)
	}
	return &encoder{zip: zip}
}

// encode returns the PNG file of an image of that width whose pixels are entries of p. The file's own palette has the
// entries that are used, in p's order, and as few bits per pixel as they need.
func (e *encoder) encode(pixels []uint8, width int, p *palette) []byte {
	var index [256]uint8
	var trimmed palette
	colors := trimmed[:0]
	for i, used := range usedBy(pixels, width) {
		if used {
			index[i] = uint8(len(colors))
			colors = append(colors, p[i])
		}
	}
	depth := depthOf(len(colors))

	e.file = append(e.file[:0], pngHeader...)
	e.header(width, len(pixels)/width, depth)
	e.colors(colors)
	e.pixels(pixels, width, depth, len(colors) >= manyShades, &index)
	e.end(e.begin("IEND"))
	return bytes.Clone(e.file)
}

// depthOf returns the smallest number of bits that PNG allows for an index into n colours.
func depthOf(n int) int {
	switch {
	case n <= 2:
		return 1
	case n <= 4:
		return 2
	case n <= 16:
		return 4
	}
	return 8
}

func (e *encoder) header(width, height, depth int) {
	at := e.begin("IHDR")
	e.file = binary.BigEndian.AppendUint32(e.file, uint32(width))
	e.file = binary.BigEndian.AppendUint32(e.file, uint32(height))
	e.file = append(e.file, uint8(depth), colourIndexed, 0, 0, 0) // deflate, the five filters, not interlaced
	e.end(at)
}

// colors writes the palette and, up to the last colour that is not opaque, its alpha.
func (e *encoder) colors(colors []color.NRGBA) {
	at := e.begin("PLTE")
	translucent := 0
	for i, c := range colors {
		e.file = append(e.file, c.R, c.G, c.B)
		if c.A != 0xff {
			translucent = i + 1
		}
	}
	e.end(at)
	if translucent == 0 {
		return
	}
	at = e.begin("tRNS")
	for _, c := range colors[:translucent] {
		e.file = append(e.file, c.A)
	}
	e.end(at)
}

// pixels writes the image data (section 7.2): lines of indices, each after a byte that names its filter.
func (e *encoder) pixels(pixels []uint8, width, depth int, subtract bool, index *[256]uint8) {
	const slack = 3 // bytes that packLine may write past a line
	line := 1 + (width*depth+7)/8
	size := len(pixels) / width * line
	e.lines = slices.Grow(e.lines[:0], size+slack)[:size]
	for rest := e.lines[:size+slack]; len(pixels) > 0; rest, pixels = rest[line:], pixels[width:] {
		rest[0] = filterNone
		if subtract {
			rest[0] = filterSub
		}
		if depth == 8 {
			mapLine(rest[1:], pixels[:width], index, subtract)
		} else {
			packLine(rest[1:], pixels[:width], index, depth)
		}
	}
	at := e.begin("IDAT")
	e.file = append(e.file, zlibHeader...)
	e.zip.Reset(&e.file)
	// Neither a flate writer nor the file beneath it fails.
	e.zip.Write(e.lines)
	e.zip.Close()
	e.file = binary.BigEndian.AppendUint32(e.file, adler(e.lines))
	e.end(at)
}

// begin begins a chunk of that type (section 5.3) and returns where, for end.
func (e *encoder) begin(name string) (at int) {
	at = len(e.file)
	e.file = append(append(e.file, 0, 0, 0, 0), name...)
	return at
}

// end ends the chunk that begins at a place: its length does not count itself, its name and the checksum.
func (e *encoder) end(at int) {
	named := e.file[at+4:]
	binary.BigEndian.PutUint32(e.file[at:], uint32(len(named)-4))
	e.file = binary.BigEndian.AppendUint32(e.file, crc32.ChecksumIEEE(named))
}
