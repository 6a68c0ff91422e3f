package hdf5

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/klauspost/compress/zstd"

	"limnomap/data/raster/inflate"
)

// Filters by their registered numbers.
const (
	filterDeflate     = 1
	filterShuffle     = 2
	filterFletcher32  = 3
	filterSZIP        = 4
	filterNBit        = 5
	filterScaleOffset = 6
	filterLZF         = 32000
	filterBlosc       = 32001
	filterZstd        = 32015
)

var filterNames = map[uint16]string{
	filterDeflate: "deflate", filterShuffle: "shuffle", filterFletcher32: "Fletcher32", filterSZIP: "SZIP", filterNBit: "N-bit",
	filterScaleOffset: "scale-offset", filterLZF: "LZF", filterBlosc: "Blosc", filterZstd: "Zstandard",
	307: "bzip2", 32004: "LZ4", 32008: "bitshuffle", 32013: "ZFP", 32019: "JPEG", 32026: "Blosc2",
}

// String returns the name of a filter.
func (f filter) String() string {
	if name, ok := filterNames[f.id]; ok {
		return name
	}
	if f.name != "" {
		return fmt.Sprintf("filter %d (%q)", f.id, f.name)
	}
	return fmt.Sprintf("filter %d", f.id)
}

// checkFilters refuses pipelines that cannot be undone. No known program writes one that has a filter twice, or
// compresses before it shuffles; the NetCDF library computes the checksum first.
func checkFilters(filters []filter, elementSize int) error {
	for i, f := range filters {
		if slices.ContainsFunc(filters[:i], func(before filter) bool { return before.id == f.id }) {
			return unsupported("%v twice", f)
		}
		switch f.id {
		case filterDeflate, filterFletcher32, filterLZF, filterZstd:
		case filterShuffle:
			if len(f.params) > 0 && int64(f.params[0]) != int64(elementSize) {
				return unsupported("shuffle of elements of %d bytes for a type of %d", f.params[0], elementSize)
			}
			if i > 1 || i == 1 && filters[0].id != filterFletcher32 {
				return unsupported("%v before shuffle", filters[i-1])
			}
		default:
			return unsupported("%v; convert the file with: h5repack -f SHUF -f GZIP=4, or nccopy -d 4", f)
		}
	}
	return nil
}

// A decoder reads the decoded data of one chunk from the beginning to the end. It is reused for other chunks.
type decoder struct {
	file     *source
	chunk    int64 // bytes of a decoded chunk
	r        io.Reader
	next     nexter    // r, if it can pass on data without a copy
	at       int64     // position in the decoded data
	summed   bool      // the chunk has a checksum after the shuffle
	shuffled *planeSum // nil without a checksum before the shuffle
	discard  []byte
	gathered []byte // of spans that are read at once

	// Parts that are reused.
	stored *bufio.Reader
	sum    fletcherReader
	zlib   inflate.Reader
	zstd   *zstd.Decoder
}

func newDecoder(file *source, chunk int64) *decoder {
	return &decoder{file: file, chunk: chunk}
}

// close releases what the decoders hold.
func (d *decoder) close() {
	if d.zstd != nil {
		d.zstd.Close()
	}
}

// open begins with a chunk, whose stored data may have been read already. If sum is not nil, it computes the checksum of shuffled data.
func (d *decoder) open(ref chunkRef, data []byte, filters []filter, sum *planeSum) error {
	source, err := d.source(ref, data)
	if err != nil {
		return err
	}
	d.at, d.summed, d.shuffled = 0, false, sum
	in := io.Reader(source)
	for _, f := range slices.Backward(filters) {
		switch f.id {
		case filterFletcher32:
			d.summed = true
			d.sum.reset(in)
			in = &d.sum
		case filterLZF:
			in = &lzfReader{src: newByteSource(in)}
		case filterDeflate:
			d.zlib.NoChecksum = d.chunk > maxVerified
			d.zlib.Reset(in)
			in = &d.zlib
		case filterZstd:
			if err := d.openZstd(in); err != nil {
				return d.error(err)
			}
			in = d.zstd
		}
	}
	d.r = in
	d.next, _ = in.(nexter)
	return nil
}

// maxZstdWindow bounds the memory of a decoder of Zstandard data.
const maxZstdWindow = 8 << 20

// zstdWindow returns the largest window that a chunk may need.
func zstdWindow(chunk int64) uint64 {
	return min(uint64(1)<<bits.Len64(uint64(max(chunk, 128<<10)-1)), maxZstdWindow)
}

func (d *decoder) openZstd(in io.Reader) (err error) {
	if d.zstd != nil {
		return d.zstd.Reset(in)
	}
	d.zstd, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindow(d.chunk)))
	return err
}

// pick reads the bytes of spans into dst, one after another. Positions before the current one cannot be read.
func (d *decoder) pick(ctx context.Context, dst []byte, order *byteOrder, plane int, spans []span) error {
	for _, s := range spans {
		start, end := order.locate(plane, s)
		if err := d.skip(ctx, start-d.at); err != nil {
			return err
		}
		n := int(end - start)
		if err := d.read(dst[:n]); err != nil {
			return err
		}
		dst = dst[n:]
	}
	return nil
}

// A nexter passes on its next bytes, at most n: data or a run of one value.
type nexter interface {
	Next(n int64) (data []byte, run int64, value byte, err error)
}

func (d *decoder) skip(ctx context.Context, n int64) error {
	if d.discard == nil && d.next == nil {
		d.discard = make([]byte, 32<<10)
	}
	for end := d.at + n; d.at < end; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if d.next == nil {
			if err := d.read(d.discard[:min(end-d.at, int64(len(d.discard)))]); err != nil {
				return err
			}
			continue
		}
		data, run, value, err := d.next.Next(end - d.at)
		if err != nil {
			return d.error(err)
		}
		if d.shuffled != nil {
			d.shuffled.add(d.at, data)
			d.shuffled.addRun(d.at, run, value)
		}
		d.at += int64(len(data)) + run
	}
	return nil
}

func (d *decoder) read(p []byte) error {
	n, err := io.ReadFull(d.r, p)
	if d.shuffled != nil {
		d.shuffled.add(d.at, p[:n])
	}
	d.at += int64(n)
	if err != nil {
		return d.error(err)
	}
	return nil
}

// maxVerified bounds the chunks that are decompressed to their end to verify the checksums of deflate and Zstandard. Of larger ones
// only what windows need is decompressed.
const maxVerified = 4 << 20

// finish verifies checksums, which need all data.
func (d *decoder) finish(ctx context.Context) error {
	size := d.chunk
	if d.shuffled != nil {
		size += checksumSize
	}
	if d.shuffled != nil || d.chunk <= maxVerified {
		if err := d.skip(ctx, size-d.at); err != nil {
			return err
		}
		// Reading the end verifies the checksums of the compressions.
		var more [1]byte
		switch n, err := d.r.Read(more[:]); {
		case n > 0:
			return damaged("more than %d bytes of data", size)
		case err != nil && !errors.Is(err, io.EOF):
			return d.error(err)
		}
	}
	if d.shuffled != nil {
		if err := d.shuffled.verify(); err != nil {
			return err
		}
	}
	if d.summed {
		if err := d.sum.verify(ctx); err != nil {
			return d.error(err)
		}
	}
	return nil
}
