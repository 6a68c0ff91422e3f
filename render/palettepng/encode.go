package palettepng

import (
	"bytes"
	"encoding/binary"
	"image/color"
	"io"
	"slices"

	"github.com/klauspost/compress/flate"
)

const (
	// colourIndexed is the colour type of an image whose samples are palette indices (section 11.2.1).
	colourIndexed = 3
	// zlibHeader declares deflate with a window of 32 KiB and the default algorithm (RFC 1950, section 2.2).
	zlibHeader = "\x78\x9c"
	// deflateLevel 6 writes a sixth fewer bytes than level 1, and a whole tile takes a fifth longer.
	deflateLevel = 6
)

// The filters that are used (section 9.2).
const (
	filterNone = 0
	// filterSub stores the difference from the byte to the left. It makes files of at least manyColours colours a twelfth
	// smaller, because neighbours in a value field are neighbours in the palette. Images of fewer colours compress better
	// without it.
	filterSub   = 1
	manyColours = 64
)

// A Palette has the colours of an image by pixel value.
type Palette [256]color.NRGBA

// An Encoder encodes one image after another. It is not safe for concurrent use.
type Encoder struct {
	file  file
	lines []uint8 // the filtered lines of the image
	zip   *flate.Writer
}

// NewEncoder returns an Encoder.
func NewEncoder() *Encoder {
	zip, err := flate.NewWriter(io.Discard, deflateLevel)
	if err != nil {
		panic(err) // only for an unknown level
	}
	return &Encoder{zip: zip}
}

// Encode returns the PNG file of an image of that width whose pixels are indices into p. The palette of the file has only
// the colours that are used, in the order of p, and the pixels have as few bits as that allows.
func (e *Encoder) Encode(pixels []uint8, width int, p *Palette) []byte {
	var index [256]uint8
	var trimmed Palette
	colors := trimmed[:0]
	for i, used := range usedBy(pixels, width) {
		if used {
			index[i] = uint8(len(colors))
			colors = append(colors, p[i])
		}
	}
	depth := depthOf(len(colors))

	e.file = append(e.file[:0], signature...)
	e.header(width, len(pixels)/width, depth)
	e.colors(colors)
	e.pixels(pixels, width, depth, len(colors) >= manyColours, &index)
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

// pixels writes the image data (section 7.2): lines of indices, each after a byte that names its filter.
func (e *Encoder) pixels(pixels []uint8, width, depth int, subtract bool, index *[256]uint8) {
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
	at := e.file.begin("IDAT")
	e.file = append(e.file, zlibHeader...)
	e.zip.Reset(&e.file)
	// Writing to a file in memory never fails.
	e.zip.Write(e.lines)
	e.zip.Close()
	e.file = binary.BigEndian.AppendUint32(e.file, adler(e.lines))
	e.file.end(at)
}
