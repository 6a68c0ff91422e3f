package answer

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// An effort is how much time compressing a body may take: thorough for a body that is compressed when data change and sent
// a thousand times, quick for one answer.
type effort uint8

const (
	quick effort = iota
	thorough
	efforts // how many there are
)

// thoroughBytes is the size from which a prepared body is compressed quickly too, so that publishing a million lakes takes
// seconds.
const thoroughBytes = 16 << 20

// zstdWindow is how far back zstd looks. It holds the whole status of some 4,000 lakes. The 8 MB that each decoder must
// support (RFC 9659) would take an encoder ten times the memory.
const zstdWindow = 1 << 20

// The levels of each library. The next level after the thorough one makes a status of 1,892 lakes smaller by less than a
// tenth, and takes about three times as long.
var (
	gzipLevels   = [efforts]int{quick: gzip.BestSpeed, thorough: 8}
	zstdLevels   = [efforts]zstd.EncoderLevel{quick: zstd.SpeedFastest, thorough: zstd.SpeedBetterCompression}
	brotliLevels = [efforts]int{quick: brotli.BestSpeed, thorough: 7}
)

// A compressor compresses whole bodies. It keeps the encoders of the libraries, up to a megabyte of memory each, for the
// next body. It is safe for concurrent use.
type compressor struct {
	pools [codings][efforts]sync.Pool
}

// An encoder compresses its input and writes it to w, until Close; Reset lets it start again.
type encoder interface {
	io.WriteCloser
	Reset(w io.Writer)
}

// A compression is the compressing of one body: it takes the body by Write.
type compression struct {
	coding  Coding
	pool    *sync.Pool
	encoder encoder
	out     bytes.Buffer
}

// begin begins to compress a body in a coding other than Identity, with room for a result of that many bytes.
func (c *compressor) begin(coding Coding, how effort, room int) (*compression, error) {
	pool := &c.pools[coding][how]
	e, ok := pool.Get().(encoder)
	if !ok {
		var err error
		if e, err = newEncoder(coding, how); err != nil {
			return nil, err
		}
	}
	z := &compression{coding: coding, pool: pool, encoder: e}
	z.out.Grow(room)
	e.Reset(&z.out)
	return z, nil
}

// roomFor returns about how many bytes a body of size bytes has when it is compressed.
func roomFor(size int) int { return size/6 + 512 }

func (z *compression) Write(b []byte) (int, error) {
	n, err := z.encoder.Write(b)
	if err != nil {
		return n, fmt.Errorf("compress with %s: %w", z.coding, err)
	}
	return n, nil
}

// finish returns the compressed body. The compression must not be used again.
func (z *compression) finish() ([]byte, error) {
	if err := z.encoder.Close(); err != nil {
		return nil, fmt.Errorf("compress with %s: %w", z.coding, err)
	}
	z.encoder.Reset(nil) // the pool must not keep the output
	z.pool.Put(z.encoder)
	return z.out.Bytes(), nil
}

func newEncoder(coding Coding, how effort) (encoder, error) {
	switch coding {
	case Gzip:
		return gzip.NewWriterLevel(nil, gzipLevels[how])
	case Zstd:
		// One block after the other: with more at once the encoder would start goroutines.
		return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstdLevels[how]), zstd.WithEncoderConcurrency(1),
			zstd.WithWindowSize(zstdWindow), zstd.WithLowerEncoderMem(true))
	case Brotli:
		return brotli.NewWriterLevel(nil, brotliLevels[how]), nil
	}
	return nil, fmt.Errorf("no compressor for content coding %s", coding)
}
