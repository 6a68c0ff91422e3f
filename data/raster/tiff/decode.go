package tiff

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math/bits"

	"github.com/klauspost/compress/zstd"

	"limnomap/data/raster/blockread"
	"limnomap/data/raster/inflate"
)

// A decoder decompresses segments of one image, one at a time. A worker of Gather has one.
type decoder struct {
	compression compression
	size        int64 // bytes of a segment; the last strip may have less
	reversed    bool
	reverse     []byte // the source with its bits reversed

	inflater *inflate.Decoder
	inflated *inflate.Reader
	lzw      *lzwDecoder
	zstd     *zstd.Decoder
}

func newDecoder(im *Image) *decoder {
	l := &im.layout
	return &decoder{compression: l.compression, size: int64(l.height) * int64(l.rowBytes), reversed: l.reversed}
}

// close releases what the decoders hold.
func (d *decoder) close() {
	if d.zstd != nil {
		d.zstd.Close()
	}
}

// whole fills dst with the beginning of a segment. Data that end before are an error. It may use the capacity of dst, which should
// be that of the segment. It does not change src, which other segments may share.
func (d *decoder) whole(dst, src []byte) (err error) {
	if d.reversed {
		d.reverse = append(d.reverse[:0], src...)
		src = reverseBits(d.reverse)
	}
	n := 0
	switch d.compression {
	case compressionNone:
		n = copy(dst, src)
	case compressionPackBits:
		n = decodePackBits(dst, src)
	case compressionLZW:
		if d.lzw == nil {
			d.lzw = &lzwDecoder{}
		}
		n, err = d.lzw.decode(dst, src)
	case compressionDeflate, compressionOldDeflate:
		if d.inflater == nil {
			d.inflater = &inflate.Decoder{}
		}
		if n, err = d.inflater.Decode(dst, src); err != nil {
			err = streamError(d.compression, err)
		}
	case compressionZstd:
		n, err = d.wholeZstd(dst, src)
	}
	if err == nil && n < len(dst) {
		err = damaged("%v data have %d bytes, want %d or more", d.compression, n, len(dst))
	}
	return err
}

// wholeZstd decodes at once, which needs no window, even if the frame asks for one of 128 MiB.
func (d *decoder) wholeZstd(dst, src []byte) (int, error) {
	if d.zstd == nil {
		var err error
		d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecodeAllCapLimit(true),
			zstd.WithDecoderMaxWindow(1<<31), zstd.WithDecodeBuffersBelow(0))
		if err != nil {
			return 0, err
		}
	}
	out, err := d.zstd.DecodeAll(src, dst[:0])
	switch {
	case err == nil:
		return copy(dst, out), nil
	case errors.Is(err, zstd.ErrCRCMismatch):
		return 0, streamError(d.compression, err)
	}
	// The frame may have more data than the segment, such as the rows of a whole strip in the last one.
	r, release, err := d.streamZstd(bufio.NewReader(bytes.NewReader(src)))
	if err != nil {
		return 0, err
	}
	defer release()
	if _, err = io.ReadFull(r, dst); err == nil {
		// What follows does not matter, but at the end a checksum does.
		if _, err = r.Read(make([]byte, 1)); errors.Is(err, io.EOF) {
			err = nil
		}
	}
	if err != nil {
		return 0, streamError(d.compression, err)
	}
	return len(dst), nil
}

// stream returns a reader of the decoded data of a segment that is too large to be held, and a function that releases it.
func (d *decoder) stream(src io.Reader) (r io.Reader, release func(), err error) {
	if d.reversed {
		src = reversingReader{src}
	}
	in := bufio.NewReaderSize(src, 256<<10)
	release = func() {}
	switch d.compression {
	case compressionNone:
		return in, release, nil
	case compressionPackBits:
		return &packBitsReader{src: in}, release, nil
	case compressionLZW:
		if head, _ := in.Peek(2); oldLZW(head) {
			return nil, nil, errOldLZW()
		}
		return newLZWReader(in), release, nil
	case compressionZstd:
		return d.streamZstd(in)
	default:
		if d.inflated == nil {
			d.inflated = &inflate.Reader{}
		}
		d.inflated.Reset(in)
		return d.inflated, release, nil
	}
}

// Bounds of the window of Zstandard streams. Levels up to 20 have no larger one than maxStreamWindow; in levels 21 and 22 it
// matters only for segments that are larger themselves. Blocks of the smallest size need minStreamWindow.
const (
	minStreamWindow = 128 << 10
	maxStreamWindow = 32 << 20
)

func (d *decoder) streamZstd(in *bufio.Reader) (io.Reader, func(), error) {
	head, _ := in.Peek(zstd.HeaderMaxSize)
	var header zstd.Header
	if err := header.Decode(head); err != nil {
		return nil, nil, damaged("Zstandard data: %v", err)
	}
	// No distance can exceed the segment, so a window of its size is enough.
	exponent := bits.Len64(uint64(max(d.size, minStreamWindow) - 1))
	enough := uint64(1) << exponent
	window := header.WindowSize
	if header.SingleSegment {
		window = header.FrameContentSize
	}
	source := io.Reader(in)
	switch {
	case min(enough, window) > maxStreamWindow:
		return nil, nil, unsupported("a Zstandard window of more than %d MiB in a strip or tile of %d MiB; convert the file with: gdal_translate -co TILED=YES",
			maxStreamWindow>>20, d.size>>20)
	case header.SingleSegment && window > enough:
		return nil, nil, damaged("Zstandard data of %d bytes, want at most %d", window, d.size)
	case window > enough:
		// Change the header to ask for no more (RFC 8878, section 3.1.1.1.2: 2^(10 + exponent), the exponent in the 5 high bits of
		// byte 5).
		changed := bytes.Clone(head)
		changed[5] = byte(exponent-10) << 3
		if _, err := in.Discard(len(head)); err != nil {
			return nil, nil, err
		}
		source = io.MultiReader(bytes.NewReader(changed), in)
	}
	z, err := zstd.NewReader(source, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxStreamWindow))
	if err != nil {
		return nil, nil, streamError(d.compression, err)
	}
	return z, z.Close, nil
}

// streamError tells damaged data from errors of the file's reader.
func streamError(c compression, err error) error {
	var file *blockread.FileError
	switch {
	case errors.As(err, &file):
		return file.Err
	case errors.Is(err, ErrFormat) || errors.Is(err, ErrUnsupported):
		return err
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return damaged("%v data end too early", c)
	case errors.Is(err, inflate.ErrDamaged):
		return damaged("%v", err)
	default:
		return damaged("%v data: %v", c, err)
	}
}

// A reversingReader reverses the bits of each byte.
type reversingReader struct{ r io.Reader }

// Read implements [io.Reader].
func (r reversingReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	reverseBits(p[:n])
	return n, err
}

func reverseBits(p []byte) []byte {
	for i, b := range p {
		p[i] = bits.Reverse8(b)
	}
	return p
}
