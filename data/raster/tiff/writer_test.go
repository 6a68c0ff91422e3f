package tiff

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

// A fileWriter writes TIFF files that GDAL does not write.
type fileWriter struct {
	order binary.ByteOrder
	big   bool
	buf   []byte
	link  int // where the offset of the next directory belongs
}

func newFileWriter(order binary.ByteOrder, big bool) *fileWriter {
	w := &fileWriter{order: order, big: big}
	mark := "II"
	if order == binary.ByteOrder(binary.BigEndian) {
		mark = "MM"
	}
	w.buf = append(w.buf, mark...)
	if big {
		w.buf = w.put(w.buf, uint16(43), uint16(8), uint16(0), uint64(0))
		w.link = 8
	} else {
		w.buf = w.put(w.buf, uint16(42), uint32(0))
		w.link = 4
	}
	return w
}

func (w *fileWriter) put(buf []byte, values ...any) []byte {
	for _, v := range values {
		buf, _ = binary.Append(buf, w.order, v)
	}
	return buf
}

// data appends bytes and returns their offset.
func (w *fileWriter) data(b []byte) uint32 {
	at := len(w.buf)
	w.buf = append(w.buf, b...)
	return uint32(at)
}

// A field is a tag with its values: a slice of integers or floats, or a string.
type field struct {
	id     tag
	values any
}

// directory appends a directory and links it to the one before. It returns its offset.
func (w *fileWriter) directory(fields ...field) int {
	slices.SortStableFunc(fields, func(a, b field) int { return int(a.id) - int(b.id) })
	var entries []byte
	for _, f := range fields {
		kind, count := fieldTypeOf(f.values)
		values := w.put(nil, f.values)
		entries = w.put(entries, uint16(f.id), uint16(kind))
		inline := 4
		if w.big {
			inline = 8
			entries = w.put(entries, uint64(count))
		} else {
			entries = w.put(entries, uint32(count))
		}
		switch {
		case len(values) <= inline:
			entries = append(append(entries, values...), make([]byte, inline-len(values))...)
		case w.big:
			entries = w.put(entries, uint64(w.data(values)))
		default:
			entries = w.put(entries, w.data(values))
		}
	}
	at := len(w.buf)
	w.setLink(at)
	if w.big {
		w.buf = w.put(w.buf, uint64(len(fields)))
	} else {
		w.buf = w.put(w.buf, uint16(len(fields)))
	}
	w.buf = append(w.buf, entries...)
	w.link = len(w.buf)
	w.buf = append(w.buf, make([]byte, 8)...)[:w.link+map[bool]int{false: 4, true: 8}[w.big]]
	return at
}

// setLink sets the offset of the next directory.
func (w *fileWriter) setLink(at int) {
	if w.big {
		w.order.PutUint64(w.buf[w.link:], uint64(at))
	} else {
		w.order.PutUint32(w.buf[w.link:], uint32(at))
	}
}

func fieldTypeOf(values any) (fieldType, int) {
	switch v := values.(type) {
	case []byte:
		return typeASCII, len(v)
	case []uint16:
		return typeShort, len(v)
	case []uint32:
		return typeLong, len(v)
	case []uint64:
		return typeLong8, len(v)
	case []float64:
		return typeDouble, len(v)
	case []float32:
		return typeFloat, len(v)
	}
	panic("no type of TIFF")
}

// grayFields are the fields of an image of one strip with one band.
func grayFields(width, height int, bits, format uint16, at, n uint32) []field {
	return []field{
		{tagWidth, []uint32{uint32(width)}}, {tagHeight, []uint32{uint32(height)}}, {tagBitsPerSample, []uint16{bits}},
		{tagSampleFormat, []uint16{format}}, {tagStripOffsets, []uint32{at}}, {tagStripByteCounts, []uint32{n}},
		{tagRowsPerStrip, []uint32{uint32(height)}},
	}
}

// with returns fields with some replaced, or added. A field with nil values is taken away.
func with(fields []field, changes ...field) []field {
	fields = slices.Clone(fields)
	for _, c := range changes {
		fields = slices.DeleteFunc(fields, func(f field) bool { return f.id == c.id })
		if c.values != nil {
			fields = append(fields, c)
		}
	}
	return fields
}

// open opens a file of bytes.
func open(tb testing.TB, raw []byte) *File {
	tb.Helper()
	f, err := Open(bytes.NewReader(raw), int64(len(raw)), &Options{Workers: 2})
	must(tb, err)
	return f
}

// wantValues compares the values of a band.
func wantValues(tb testing.TB, im *Image, band int, want []float64) {
	tb.Helper()
	got, err := readWhole(im, band)
	must(tb, err)
	if !slices.EqualFunc(got, want, same) {
		tb.Errorf("values %v, want %v", got, want)
	}
}

// countingValues are as many different values of a type, and their bytes.
func countingValues(order binary.ByteOrder, s SampleType, n int) (values []float64, raw []byte) {
	for i := range n {
		v := uint64(i*37 + 1)
		switch s {
		case SampleType{Uint, 8}, SampleType{Int, 8}:
			raw = append(raw, byte(v))
			values = append(values, float64(byte(v)))
			if s.Format == Int {
				values[i] = float64(int8(v))
			}
		case SampleType{Float, 64}:
			raw, _ = binary.Append(raw, order, float64(v)/3)
			values = append(values, float64(v)/3)
		case SampleType{Float, 32}:
			raw, _ = binary.Append(raw, order, float32(v)/3)
			values = append(values, float64(float32(v)/3))
		case SampleType{Uint, 64}:
			raw, _ = binary.Append(raw, order, math.MaxUint64-v<<20)
			values = append(values, float64(math.MaxUint64-v<<20))
		case SampleType{Int, 64}:
			raw, _ = binary.Append(raw, order, -int64(v)<<30)
			values = append(values, float64(-int64(v)<<30))
		default:
			panic(s)
		}
	}
	return values, raw
}
