package api

import (
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// effort is how hard a body is compressed: once when data change and sent a thousand times, or for one answer.
type effort uint8

const (
	quick effort = iota
	thorough
	efforts // how many there are
)

// thoroughBytes is the size from which a prepared body is compressed quickly too, so that a million lakes are published
// in seconds.
const thoroughBytes = 16 << 20

// zstdWindow is how far back zstd looks. It holds the status of some 4,000 lakes whole; the 8 MB that each decoder must
// support (RFC 9659) would take an encoder ten times the memory.
const zstdWindow = 1 << 20

// The levels of each library. One beyond the thorough ones shrinks a status of 1,892 lakes by less than a tenth more, and
// takes about three times as long.
var (
	gzipLevels   = [efforts]int{quick: gzip.BestSpeed, thorough: 8}
	zstdLevels   = [efforts]zstd.EncoderLevel{quick: zstd.SpeedFastest, thorough: zstd.SpeedBetterCompression}
	brotliLevels = [efforts]int{quick: brotli.BestSpeed, thorough: 7}
)

// A compressor compresses whole bodies. It keeps the libraries' working memory, up to a megabyte for each, for the next
// one. It is safe for concurrent use.
type compressor struct {
	pools [encodings][efforts]sync.Pool
}

// A resettable writes what it is given compressed to w, until Close, and starts anew with Reset.
type resettable interface {
	io.WriteCloser
	Reset(w io.Writer)
}

// compress returns body in the coding e, which is not identity.
func (c *compressor) compress(body []byte, e encoding, how effort) ([]byte, error) {
	z, err := c.begin(e, how, len(body))
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(body); err != nil {
		return nil, err
	}
	return z.finish()
}

// A compression takes one body, with Write, and gives it compressed.
type compression struct {
	coding encoding
	pool   *sync.Pool
	z      resettable
	out    *chunks
}

// begin begins to compress a body of about size bytes.
func (c *compressor) begin(e encoding, how effort, size int) (*compression, error) {
	pool := &c.pools[e][how]
	z, ok := pool.Get().(resettable)
	if !ok {
		var err error
		if z, err = newResettable(e, how); err != nil {
			return nil, err
		}
	}
	out := newChunks(size/6 + 512)
	z.Reset(out)
	return &compression{coding: e, pool: pool, z: z, out: out}, nil
}

func (c *compression) Write(b []byte) (int, error) {
	n, err := c.z.Write(b)
	if err != nil {
		return n, fmt.Errorf("compress with %s: %w", c.coding, err)
	}
	return n, nil
}

// finish returns what was written, compressed.
func (c *compression) finish() ([]byte, error) {
	if err := c.z.Close(); err != nil {
		return nil, fmt.Errorf("compress with %s: %w", c.coding, err)
	}
	c.z.Reset(nil) // the pool must not keep what was written
	c.pool.Put(c.z)
	return c.out.join(), nil
}

func newResettable(e encoding, how effort) (resettable, error) {
	switch e {
	case gzipped:
		return gzip.NewWriterLevel(nil, gzipLevels[how])
	case zstandard:
		// One block after the other: with more, the encoder would own goroutines.
		return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstdLevels[how]), zstd.WithEncoderConcurrency(1),
			zstd.WithWindowSize(zstdWindow), zstd.WithLowerEncoderMem(true))
	case brotlied:
		return brotli.NewWriterLevel(nil, brotliLevels[how]), nil
	}
	return nil, fmt.Errorf("no compressor for content coding %s", e)
}
