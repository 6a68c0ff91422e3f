package pixels

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"

	"limnomap/data/raster/georef"
	"limnomap/data/raster/zonal"
)

// Packed is a [Map] as a database stores it. Many have the same Grid, and those of one lake and grid mostly the same Mask.
type Packed struct {
	Grid  string // see [georef.Grid.String]
	Mask  []byte
	Codes []byte
}

const (
	// MaxMaskBytes and MaxCodeBytes bound what is stored, and what it decompresses to: a code takes at most two bytes, a run three, but for the first of its row.
	MaxMaskBytes = 4 * MaxPixels
	MaxCodeBytes = 2*MaxPixels + 64<<10
)

// level of deflate makes the codes of a lake a thousandth larger than level 9, in a sixth of its time, which is mostly that of clearing tables.
const level = 6

// A Packer packs one map after the other. Its compressor is large.
type Packer struct {
	compressor *flate.Writer
	out        bytes.Buffer
	grid       georef.Grid // of the last map: all lakes of a file have the same
	text       string      // of grid; empty before the first map
}

// NewPacker returns a Packer.
func NewPacker() *Packer {
	w, err := flate.NewWriter(nil, level)
	if err != nil {
		panic("pixels: " + err.Error()) // the level is valid
	}
	return &Packer{compressor: w}
}

// Pack returns m as it is stored.
//
// The mask is its runs as differences, the codes are one byte each: those without a value, and those above the lowest value, which comes first. If the
// values differ by more than a factor of 146, which few lakes have, they are two bytes each. Both are compressed by deflate.
func (p *Packer) Pack(m *Map) Packed {
	if p.text == "" || p.grid != m.Grid {
		p.grid, p.text = m.Grid, m.Grid.String()
	}
	return Packed{Grid: p.text, Mask: p.deflate(packMask(m.Mask)), Codes: p.deflate(packCodes(m.Codes))}
}

func packMask(mask *zonal.Mask) []byte {
	var b []byte
	lastY, last, first := 0, 0, 0 // the row and the end of the last run, and the start of the first one of its row
	mask.Each(func(y, x0, x1 int) {
		from := last
		if y != lastY || b == nil {
			from, first = first, x0
		}
		b = binary.AppendVarint(b, int64(y-lastY))
		b = binary.AppendVarint(b, int64(x0-from))
		b = binary.AppendVarint(b, int64(x1-x0))
		lastY, last = y, x1
	})
	return b
}

func unpackMask(b []byte) (*zonal.Mask, error) {
	var damaged error
	next := func() int {
		n, size := binary.Varint(b)
		if size <= 0 || n != int64(int32(n)) {
			damaged = errDamaged
			b = nil
			return 0
		}
		b = b[size:]
		return int(n)
	}
	y, last, first, begun := 0, 0, 0, false
	mask, err := zonal.MaskOf(func() (int, int, int, bool) {
		if len(b) == 0 {
			return 0, 0, 0, false
		}
		dy, from := next(), last
		if dy != 0 || !begun {
			from = first
		}
		y += dy
		x0 := from + next()
		if dy != 0 || !begun {
			first = x0
		}
		last, begun = x0+next(), true
		return y, x0, last, damaged == nil
	})
	return mask, cmp.Or(damaged, err)
}

// The width of codes, which is their first byte.
const (
	oneByte  = 1
	twoBytes = 2
)

func packCodes(codes []Code) []byte {
	low, high := Code(0), Code(0)
	for _, c := range codes {
		if c >= firstValue {
			if low == 0 || c < low {
				low = c
			}
			high = max(high, c)
		}
	}
	width := byte(oneByte)
	if high-low > 255-firstValue {
		width, low = twoBytes, firstValue
	}
	low = max(low, firstValue)
	b := make([]byte, 0, int(width)*len(codes)+4)
	b = binary.AppendUvarint(append(b, width), uint64(low))
	for shift := 8 * (int(width) - 1); shift >= 0; shift -= 8 { // of two bytes, all first ones first
		for _, c := range codes {
			if c >= firstValue {
				c -= low - firstValue
			}
			b = append(b, byte(c>>shift))
		}
	}
	return b
}

// unpackAllCodes returns the codes of however many pixels there are.
func unpackAllCodes(b []byte) ([]Code, error) {
	if len(b) < 2 || b[0] != oneByte && b[0] != twoBytes {
		return nil, errDamaged
	}
	_, size := binary.Uvarint(b[1:])
	return unpackCodes(b, (len(b)-1-max(size, 0))/int(b[0]))
}

func unpackCodes(b []byte, count int) ([]Code, error) {
	if len(b) < 2 || b[0] != oneByte && b[0] != twoBytes {
		return nil, errDamaged
	}
	width := int(b[0])
	low, size := binary.Uvarint(b[1:])
	if size <= 0 || low < uint64(firstValue) || !Code(min(low, 1<<15)).valid() || len(b) != 1+size+width*count {
		return nil, errDamaged
	}
	b = b[1+size:]
	codes := make([]Code, count)
	for i := range codes {
		c := Code(b[i])
		if width == twoBytes {
			c = c<<8 | Code(b[count+i])
		}
		if c >= firstValue {
			c += Code(low) - firstValue
		}
		codes[i] = c
	}
	return codes, nil
}

var errDamaged = errors.New("damaged")

// Count returns how many pixels there are, from the mask only; 0 if that is damaged.
func (p Packed) Count() int {
	mask, err := p.unpackMask()
	if err != nil {
		return 0
	}
	return mask.Count()
}

func (p Packed) unpackMask() (mask *zonal.Mask, err error) {
	b, err := inflate(p.Mask, MaxMaskBytes)
	if err == nil {
		mask, err = unpackMask(b)
	}
	if err == nil && mask.Count() > MaxPixels {
		err = fmt.Errorf("%d pixels, want at most %d", mask.Count(), MaxPixels)
	}
	if err != nil {
		return nil, fmt.Errorf("pixels: mask: %w", err)
	}
	return mask, nil
}

// Unpack returns the map. It checks all that was stored.
func (p Packed) Unpack() (*Map, error) {
	m := new(Map)
	var err error
	if m.Grid, err = georef.Parse(p.Grid); err != nil {
		return nil, fmt.Errorf("pixels: %w", err)
	}
	if m.Mask, err = p.unpackMask(); err != nil {
		return nil, err
	}
	codes, err := inflate(p.Codes, MaxCodeBytes)
	if err == nil {
		m.Codes, err = unpackCodes(codes, m.Mask.Count())
	}
	if err == nil {
		err = m.check()
	}
	if err != nil {
		return nil, fmt.Errorf("pixels: codes: %w", err)
	}
	return m, nil
}

// deflate compresses b. The same bytes give the same result.
func (p *Packer) deflate(b []byte) []byte {
	p.out.Reset()
	p.compressor.Reset(&p.out)
	_, err := p.compressor.Write(b)
	if err = cmp.Or(err, p.compressor.Close()); err != nil {
		panic("pixels: deflate must not fail: " + err.Error())
	}
	return bytes.Clone(p.out.Bytes())
}

// inflaters have windows of 32 KB, a hundred times what most lakes take.
var inflaters = sync.Pool{New: func() any { return flate.NewReader(bytes.NewReader(nil)) }}

// inflate decompresses at most that many bytes.
func inflate(b []byte, most int64) ([]byte, error) {
	r := inflaters.Get().(io.Reader)
	defer inflaters.Put(r)
	if err := r.(flate.Resetter).Reset(bytes.NewReader(b), nil); err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(out)) > most {
		err = fmt.Errorf("more than %d bytes", most)
	}
	return out, err
}
