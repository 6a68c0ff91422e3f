package tiff

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zlib"
)

// benchData is 1 MiB of float32 as chlorophyll values have them, noise with gaps, the bytes in planes as predictor 3 leaves them.
func benchData() []byte {
	rng := rand.New(rand.NewPCG(5, 6))
	const n = 256 << 10
	data := make([]byte, 4*n)
	for i := range n {
		v := float32(math.NaN())
		if i/500%3 > 0 {
			v = float32(math.Exp(rng.NormFloat64()*0.3) * 20)
		}
		for plane, b := range binary.BigEndian.AppendUint32(nil, math.Float32bits(v)) {
			data[plane*n+i] = b
		}
	}
	for i := len(data) - 1; i > 0; i-- {
		data[i] -= data[i-1]
	}
	return data
}

// BenchmarkDecode decodes a tile at once and as a stream; the bytes are those of the decoded tile.
func BenchmarkDecode(b *testing.B) {
	data := benchData()
	dst := make([]byte, len(data), len(data)+64)
	for _, e := range encodings(b) {
		src := e.encode(data)
		d := &decoder{compression: e.compression, size: int64(len(data))}
		b.Run(e.name+"/whole", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportMetric(float64(len(src))/float64(len(data)), "ratio")
			for b.Loop() {
				if err := d.whole(dst, src); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(e.name+"/stream", func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				r, release, err := d.stream(bytes.NewReader(src))
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(r, dst); err != nil {
					b.Fatal(err)
				}
				release()
			}
		})
		d.close()
	}
	b.Run("deflate 6/klauspost", func(b *testing.B) { // for comparison
		src := encodeZlib(b, data, 6)
		b.SetBytes(int64(len(data)))
		in := bytes.NewReader(src)
		r, err := zlib.NewReader(in)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			in.Reset(src)
			if err := r.(zlib.Resetter).Reset(in, nil); err != nil {
				b.Fatal(err)
			}
			if _, err := io.ReadFull(r, dst); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkPredictor undoes predictors of rows of 512 values.
func BenchmarkPredictor(b *testing.B) {
	row := make([]byte, 2048)
	for name, undo := range map[string]predictor{"bytes": undoBytes, "16": undo16(binary.LittleEndian), "32": undo32(binary.LittleEndian), "64": undo64(binary.LittleEndian)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(row)))
			for b.Loop() {
				undo(row, 1)
			}
		})
	}
}

// BenchmarkGather reads small windows all over an image of tiles; the bytes are those of the decoded image.
func BenchmarkGather(b *testing.B) {
	file := newTestImage(2048, 2048, 256, 256, 1, false, encoding{"deflate", compressionDeflate, func(d []byte) []byte { return encodeZlib(b, d, 6) }})
	rng := rand.New(rand.NewPCG(7, 8))
	var windows []image.Rectangle
	for range 500 {
		x, y := rng.IntN(2000), rng.IntN(2000)
		windows = append(windows, image.Rect(x, y, x+20, y+20))
	}
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("%d workers", workers), func(b *testing.B) {
			f, err := Open(bytes.NewReader(file.raw), int64(len(file.raw)), &Options{Workers: workers})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(2 * 2048 * 2048)
			b.ReportAllocs()
			for b.Loop() {
				err := f.Images()[0].Gather(context.Background(), 0, windows, func(int, image.Rectangle, []float64) error { return nil })
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
