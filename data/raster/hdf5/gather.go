package hdf5

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"

	"limnomap/data/raster/blockread"
	"limnomap/data/raster/number"
)

// A Window is a box of elements: its first element and its shape, one number for each dimension.
type Window = blockread.Window

// Gather reads the raw values in each of the windows, which must lie within the dataset. It reads and decompresses each chunk that a
// window touches once, as a stream, whatever the number of windows, and calls each for parts of windows: part is a window in
// coordinates of the dataset, values has its values in row-major order. The parts of window i are disjoint and cover it; each lies in
// one chunk and has at most 65,536 values. Their order is not defined. Calls of each are serialised; part and values are reused after
// the call. Chunks that are not in the file have the fill value, or 0 without one. An error of each ends Gather and is returned as it
// is.
//
// The memory that Gather takes does not depend on the size of a chunk: at most 48 MiB, and some 200 bytes for each window. Shuffled
// chunks of which the windows need more than 4 MiB are decompressed by one stream for each byte of an element.
//
// Damage of stored data is found by a Fletcher32 checksum, which is always verified, and by the checksums of deflate and Zstandard, which
// are verified of chunks of up to 4 MiB: larger ones are not decompressed beyond what windows need. Values of a chunk are passed on
// before its checksums are known only if the windows need more than 4 MiB of it.
func (d *Dataset) Gather(ctx context.Context, windows []Window, each func(i int, part Window, values []float64) error) error {
	if d.err != nil {
		return d.err
	}
	if err := d.file.headers.work.add(0); err != nil { // attributes such as the fill value may not have been read
		return err
	}
	if err := checkWindows(windows, d.shape); err != nil {
		return err
	}
	if !slices.ContainsFunc(windows, func(w Window) bool { return !w.Empty() }) {
		return nil
	}
	g, err := d.newGathering(each)
	if err != nil {
		return err
	}
	read := func(p []byte, at int64) error { return d.file.src.readAt(p, uint64(at)) }
	newDecoder := func() blockread.Decoder[chunkJob] { return newWorker(g, windows) }
	return blockread.Read(ctx, g.blocks(windows), read, g.workers(), newDecoder)
}

// A gathering is one call of Gather. Large chunks are read by the workers, as streams.
type gathering struct {
	d       *Dataset
	chunk   []int64 // shape
	count   int64   // elements of a chunk
	size    int     // of an element
	index   chunkIndex
	convert *number.Converter
	fill    float64

	caller blockread.Caller
	each   func(i int, part Window, values []float64) error
}

// rawChunk is the size of the pieces that data without chunks are divided into.
const rawChunk = 16 << 20

func (d *Dataset) newGathering(each func(i int, part Window, values []float64) error) (*gathering, error) {
	g := &gathering{d: d, size: d.typ.Size, convert: d.typ.converter(), each: each}
	if len(d.fill) >= g.size {
		g.fill = g.convert.One(d.fill)
	}
	g.chunk = make([]int64, len(d.shape))
	if d.storage.class == chunkedLayout {
		if len(d.storage.chunk) != len(d.shape) {
			return nil, damaged("%s: chunks of %d dimensions for a dataset of %d", d.path, len(d.storage.chunk), len(d.shape))
		}
		for k, c := range d.storage.chunk {
			if c == 0 || c > math.MaxInt64 {
				return nil, damaged("%s: chunk of the shape %v", d.path, d.storage.chunk)
			}
			g.chunk[k] = int64(c)
		}
	} else {
		g.pseudoChunks()
	}
	var ok bool
	if g.count, ok = product(g.chunk, int64(g.size)); !ok {
		return nil, damaged("%s: chunk of the shape %v is too large", d.path, g.chunk)
	}
	err := g.openIndex()
	return g, err
}

// product multiplies the dimensions of a shape. It is not ok if the bytes of the elements exceed 2^62.
func product(shape []int64, size int64) (int64, bool) {
	n := uint64(1)
	for _, c := range shape {
		high, low := bits.Mul64(n, uint64(c))
		if high > 0 || low > 1<<62/uint64(size) {
			return 0, false
		}
		n = low
	}
	return int64(n), true
}

// pseudoChunks divides a dataset without chunks along its first dimension that has more than one element.
func (g *gathering) pseudoChunks() {
	copy(g.chunk, g.d.shape)
	for k, n := range g.chunk {
		if n > 1 {
			if row, ok := product(g.chunk[k+1:], int64(g.size)); ok {
				g.chunk[k] = min(n, max(1, rawChunk/int64(g.size)/row))
			}
			return
		}
	}
}

// openIndex opens the index of chunks.
func (g *gathering) openIndex() (err error) {
	d, s := g.d, &g.d.storage
	bytes := uint64(g.count) * uint64(g.size)
	shape := d.MaxShape()
	switch {
	case s.class == compactLayout, s.class == contiguousLayout:
		return g.openRaw(s.size, s.address)
	}
	for k, n := range shape {
		if n >= 0 && n < d.shape[k] {
			return damaged("%s: shape %v beyond the maximal one, %v", d.path, d.shape, shape)
		}
	}
	file := d.file.src
	order := newGridOrder(shape, g.chunk, 0)
	if s.indexAddress == undefined {
		g.index = &linearIndex{address: undefined, bytes: bytes, grid: order}
		return nil
	}
	switch s.index {
	case btree1:
		g.index = &btree1Index{cache: blockCache{src: file}, root: s.indexAddress, chunk: g.chunk, offsetSize: file.offsetSize}
	case singleChunk:
		x := &linearIndex{address: s.indexAddress, bytes: bytes, grid: order}
		if s.singleFiltered {
			x.bytes, x.filters = s.singleSize, s.singleMask
		}
		g.index = x
	case implicit:
		g.index = &linearIndex{address: s.indexAddress, bytes: bytes, stride: s.record, grid: order}
	case fixedArray:
		g.index, err = newFixedArrayIndex(file, s.indexAddress, order, bytes)
	case extensibleArray:
		order.first = max(0, slices.Index(shape, -1))
		g.index, err = newExtensibleArrayIndex(file, s.indexAddress, order, bytes)
	case btree2:
		g.index, err = newBTree2Index(file, s.indexAddress, len(g.chunk), bytes)
	default:
		err = unsupported("%s: chunk index of type %d", d.path, s.index)
	}
	return err
}

// openRaw opens data without chunks.
func (g *gathering) openRaw(size, address uint64) error {
	d := g.d
	if size == 0 {
		size = math.MaxUint64 // old layouts do not say it
	}
	if address != undefined && address > uint64(d.file.src.size) {
		return damaged("%s: data at address %d in a file of %d bytes", d.path, address, d.file.src.size)
	}
	elements, ok := product(d.shape, int64(g.size))
	if !ok || address != undefined && size < uint64(elements)*uint64(g.size) {
		return damaged("%s: %d bytes for a dataset of the shape %v with elements of %d bytes", d.path, size, d.shape, g.size)
	}
	g.index = &linearIndex{address: address, bytes: uint64(g.count) * uint64(g.size), grid: newGridOrder(d.shape, g.chunk, 0)}
	return nil
}

// A chunkJob is one chunk with the windows that touch it.
type chunkJob struct {
	at      []uint64 // coordinates in the grid of chunks
	windows []int
	ref     chunkRef
}

// blocks yields the chunks that windows touch.
func (g *gathering) blocks(windows []Window) iter.Seq2[blockread.Block[chunkJob], error] {
	return func(yield func(blockread.Block[chunkJob], error) bool) {
		for at, touching := range blockread.Touched(windows, g.chunk) {
			ref, err := g.index.find(at)
			if err != nil {
				yield(blockread.Block[chunkJob]{}, fmt.Errorf("%s: index of chunks: %w", g.d.path, err))
				return
			}
			j := chunkJob{slices.Clone(at), slices.Clone(touching), ref}
			b := blockread.Block[chunkJob]{Job: j, At: int64(min(j.ref.address, math.MaxInt64)), Parts: len(j.windows)}
			if g.small(j.ref) {
				b.Size = int64(j.ref.size)
			}
			if !yield(b, nil) {
				return
			}
		}
	}
}

// small reports whether a chunk is read as a whole before it is decoded. Of data without filters only what windows need is read.
func (g *gathering) small(ref chunkRef) bool {
	limit := uint64(maxRead)
	if len(g.d.filters) == 0 {
		limit = blockread.MaxGap
	}
	return ref.address != undefined && ref.size <= limit && g.d.file.src.check(ref.address, int64(ref.size)) == nil
}

// Bounds of memory: of all workers together, and of the bytes of elements that a worker collects in one pass through a chunk.
const (
	maxMemory    = 48 << 20
	maxCollected = 4 << 20
	maxSpans     = 1 << 16
	maxValues    = 1 << 16
	decoderBytes = maxRead + 256<<10
)

// workers returns how many workers fit into the memory.
func (g *gathering) workers() int {
	each := int64(blockread.MaxRun+maxRead+maxCollected+16*maxSpans+8*maxValues) + int64(g.streams())*g.decoderMemory()
	return int(max(1, min(int64(g.d.file.workers), maxMemory/each)))
}

// decoderMemory returns what a decoder takes.
func (g *gathering) decoderMemory() int64 {
	memory := int64(decoderBytes)
	for _, f := range g.d.filters {
		if f.id == filterZstd {
			memory += 2 * int64(zstdWindow(g.count*int64(g.size)))
		}
	}
	return memory
}

// streams returns how many decoders a chunk needs at most: one for each plane of a shuffled chunk that is too large to be collected
// in one pass, if they fit into the memory. Otherwise passes begin at the start of the chunk.
func (g *gathering) streams() int {
	shuffled := slices.ContainsFunc(g.d.filters, func(f filter) bool { return f.id == filterShuffle })
	if !shuffled || g.count <= int64(maxCollected/g.size) || int64(g.size)*g.decoderMemory() > maxMemory-maxCollected {
		return 1
	}
	return g.size
}
