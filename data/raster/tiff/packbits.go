package tiff

import "io"

// decodePackBits fills dst (TIFF 6.0, section 9), and returns how many bytes it wrote before src ended.
func decodePackBits(dst, src []byte) (n int) {
	for n < len(dst) && len(src) >= 2 {
		switch control := int8(src[0]); {
		case control >= 0:
			literal := src[1:min(len(src), 2+int(control))]
			n += copy(dst[n:], literal)
			src = src[1+len(literal):]
		case control == -128:
			src = src[1:]
		default:
			run := dst[n:min(len(dst), n+1-int(control))]
			for i := range run {
				run[i] = src[1]
			}
			n += len(run)
			src = src[2:]
		}
	}
	return n
}

// A packBitsReader decodes PackBits as a stream.
type packBitsReader struct {
	src     io.ByteReader
	literal int // bytes to copy
	run     int // bytes to repeat
	value   byte
}

// Read implements [io.Reader].
func (r *packBitsReader) Read(p []byte) (n int, err error) {
	for n < len(p) {
		switch {
		case r.run > 0:
			p[n] = r.value
			r.run--
			n++
		case r.literal > 0:
			if p[n], err = r.src.ReadByte(); err != nil {
				return n, err
			}
			r.literal--
			n++
		default:
			if err := r.control(); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// control reads the next control byte, and the value of a run.
func (r *packBitsReader) control() error {
	b, err := r.src.ReadByte()
	if err != nil {
		return err
	}
	switch control := int8(b); {
	case control >= 0:
		r.literal = int(control) + 1
	case control > -128:
		r.run = 1 - int(control)
		r.value, err = r.src.ReadByte()
	}
	return err
}
