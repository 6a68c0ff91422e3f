package render

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image/color"
	"io"

	"github.com/klauspost/compress/zlib"
)

// pngHeader is the signature of a PNG file (PNG, third edition, section 5.2).
const pngHeader = "\x89PNG\r\n\x1a\n"

// colourIndexed is the PNG colour type of an image whose samples are palette indices.
const colourIndexed = 3

// deflateLevel saves a sixth of the bytes that level 1 makes, for a fifth more time on a whole tile.
const deflateLevel = 6

// An encoder writes paletted PNG files. It is reused, but not by two at once.
type encoder struct {
	file bytes.Buffer
	data bytes.Buffer // of the chunk being made
	line []byte
	zip  *zlib.Writer
}

func newEncoder() *encoder {
	// A level that the package knows is the only thing that it checks.
	zip, err := zlib.NewWriterLevel(io.Discard, deflateLevel)
	if err != nil {
		panic(err)
	}
	return &encoder{zip: zip}
}

// encode returns the PNG file of an image of that width whose pixels are entries of p. The file's own palette has the
// entries that are used, in p's order, and as few bits per pixel as they need.
func (e *encoder) encode(pixels []uint8, width int, p *palette) []byte {
	var used [256]bool
	for _, v := range pixels {
		used[v] = true
	}
	var index [256]uint8
	colors := make([]color.NRGBA, 0, len(p))
	for i, u := range used {
		if u {
			index[i] = uint8(len(colors))
			colors = append(colors, p[i])
		}
	}
	depth := depthOf(len(colors))

	e.file.Reset()
	e.file.WriteString(pngHeader)
	e.header(width, len(pixels)/width, depth)
	e.colors(colors)
	e.pixels(pixels, width, &index, depth)
	e.data.Reset()
	e.chunk("IEND")
	return bytes.Clone(e.file.Bytes())
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
	e.data.Reset()
	b := e.data.AvailableBuffer()
	b = binary.BigEndian.AppendUint32(b, uint32(width))
	b = binary.BigEndian.AppendUint32(b, uint32(height))
	b = append(b, uint8(depth), colourIndexed, 0, 0, 0) // deflate, the five filters, not interlaced
	e.data.Write(b)
	e.chunk("IHDR")
}

// colors writes the palette and, up to the last colour that is not opaque, its alpha.
func (e *encoder) colors(colors []color.NRGBA) {
	e.data.Reset()
	translucent := 0
	for i, c := range colors {
		e.data.Write([]byte{c.R, c.G, c.B})
		if c.A != 0xff {
			translucent = i + 1
		}
	}
	e.chunk("PLTE")
	if translucent == 0 {
		return
	}
	e.data.Reset()
	for _, c := range colors[:translucent] {
		e.data.WriteByte(c.A)
	}
	e.chunk("tRNS")
}

// pixels writes the image data.
func (e *encoder) pixels(pixels []uint8, width int, index *[256]uint8, depth int) {
	e.data.Reset()
	e.zip.Reset(&e.data)
	for ; len(pixels) > 0; pixels = pixels[width:] {
		if depth == 8 {
			e.subtracted(pixels[:width], index)
		} else {
			e.packed(pixels[:width], index, depth)
		}
		// Neither a flate writer nor the buffer beneath it fails.
		e.zip.Write(e.line)
	}
	e.zip.Close()
	e.chunk("IDAT")
}

// subtracted makes e.line the differences of each pixel from the one before it, the filter Sub. Neighbours in a field
// are neighbours in the palette too, and files of many shades become a fifth smaller.
func (e *encoder) subtracted(pixels []uint8, index *[256]uint8) {
	const sub = 1
	e.line = append(e.line[:0], sub)
	last := uint8(0)
	for _, v := range pixels {
		i := index[v]
		e.line = append(e.line, i-last)
		last = i
	}
}

// packed makes e.line the pixels, several to a byte, the leftmost in its highest bits, without a filter: a difference
// of whole bytes means nothing there.
func (e *encoder) packed(pixels []uint8, index *[256]uint8, depth int) {
	const none = 0
	e.line = append(e.line[:0], none)
	var b uint8
	free := 8
	for _, v := range pixels {
		free -= depth
		b |= index[v] << free
		if free == 0 {
			e.line = append(e.line, b)
			b, free = 0, 8
		}
	}
	if free < 8 {
		e.line = append(e.line, b)
	}
}

// chunk appends data to the file as a chunk of that type (section 5.3).
func (e *encoder) chunk(name string) {
	b := e.file.AvailableBuffer()
	b = binary.BigEndian.AppendUint32(b, uint32(e.data.Len()))
	b = append(b, name...)
	b = append(b, e.data.Bytes()...)
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
	e.file.Write(b)
}
