package palettepng

import (
	"bytes"
	"encoding/binary"
	"image/color"
	"slices"
)

const (
	// colourIndexed is the colour type of an image whose samples are palette indices (section 11.2.1).
	colourIndexed = 3
	// zlibHeader declares deflate with a window of 32 KiB and the default algorithm (RFC 1950, section 2.2).
	zlibHeader = "\x78\x9c"
)

// A Filter is what is done to the bytes of a line before they are compressed (section 9.2).
type Filter uint8

const (
	// None is for marks, and for areas of one colour.
	None Filter = 0
	// Sub, the difference from the byte to the left, is for fields: images whose neighbouring pixels are neighbours in the palette. It is left out for
	// lines of the index 0, and for images of fewer than manyColours colours, which are smaller without.
	Sub Filter = 1

	manyColours = 40
)

// mask returns the bits that a filter takes from the byte to the left.
func (f Filter) mask() uint8 { return -uint8(f) }

// A Palette has the colours of an image by pixel value.
type Palette [256]color.NRGBA

// An Image is an image that is not encoded.
type Image struct {
	Pixels  []uint8 // line by line, as indexes into Palette
	Width   int
	Palette *Palette
	Filter  Filter
}

// An Encoder encodes one image after another. It is not safe for concurrent use.
type Encoder struct {
	file     file
	lines    []uint8 // those of an image of few colours
	deflater deflater
}

// NewEncoder returns an Encoder.
func NewEncoder() *Encoder { return new(Encoder) }

// Encode returns the PNG file of an image of that width whose pixels are indices into p. The palette of the file has only
// the colours that are used, in the order of p, and the pixels have as few bits as that allows.
func (e *Encoder) Encode(pixels []uint8, width int, p *Palette, filter Filter) []byte {
	var index [256]uint8
	var trimmed Palette
	colors := trimmed[:0]
	e.deflater.find(pixels, width, filter)
	for i, used := range e.deflater.used {
		if used {
			index[i] = uint8(len(colors))
			colors = append(colors, p[i])
		}
	}
	depth := depthOf(len(colors))
	switch {
	case depth < 8:
		filter = None
		e.packLines(pixels, width, depth, &index)
		e.deflater.find(e.lines, len(e.lines), None)
		for i := range index {
			index[i] = uint8(i)
		}
	case len(colors) < manyColours && filter == Sub:
		filter = None
		e.deflater.find(pixels, width, None)
	}
	e.deflater.give(&index, filter)

	e.file = append(e.file[:0], signature...)
	e.header(width, len(pixels)/width, depth)
	e.colors(colors)
	e.data()
	e.file.end(e.file.begin("IEND"))
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

func (e *Encoder) header(width, height, depth int) {
	at := e.file.begin("IHDR")
	e.file = binary.BigEndian.AppendUint32(e.file, uint32(width))
	e.file = binary.BigEndian.AppendUint32(e.file, uint32(height))
	e.file = append(e.file, uint8(depth), colourIndexed, 0, 0, 0) // deflate, the five filters, not interlaced
	e.file.end(at)
}

// colors writes the palette and, up to the last colour that is not opaque, its alpha values.
func (e *Encoder) colors(colors []color.NRGBA) {
	at := e.file.begin("PLTE")
	translucent := 0
	for i, c := range colors {
		e.file = append(e.file, c.R, c.G, c.B)
		if c.A != 0xff {
			translucent = i + 1
		}
	}
	e.file.end(at)
	if translucent == 0 {
		return
	}
	at = e.file.begin("tRNS")
	for _, c := range colors[:translucent] {
		e.file = append(e.file, c.A)
	}
	e.file.end(at)
}

// data writes the image data (section 7.2): lines of indices, each after a byte that names its filter.
func (e *Encoder) data() {
	at := e.file.begin("IDAT")
	e.file = append(e.file, zlibHeader...)
	e.file = e.deflater.deflate(e.file)
	e.file = binary.BigEndian.AppendUint32(e.file, e.deflater.sum)
	e.file.end(at)
}

// packLines sets lines, as one line: with the filter types of all but the first.
func (e *Encoder) packLines(pixels []uint8, width, depth int, index *[256]uint8) {
	const slack = 3 // bytes that packLine may write past a line
	line := 1 + (width*depth+7)/8
	size := len(pixels)/width*line - 1
	e.lines = slices.Grow(e.lines[:0], size+slack)[:size]
	clear(e.lines)
	for rest := e.lines[:size+slack]; ; rest, pixels = rest[line:], pixels[width:] {
		packLine(rest, pixels[:width], index, depth)
		if len(pixels) == width {
			return
		}
	}
}
