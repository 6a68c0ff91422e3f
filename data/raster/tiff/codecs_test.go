package tiff

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// samples are data that lead decoders through all of their branches.
func samples() map[string][]byte {
	rng := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 150_000)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	few := make([]byte, 140_000)
	for i := range few {
		few[i] = byte(rng.ExpFloat64() * 4)
	}
	repeats := []byte{1}
	for len(repeats) < 140_000 {
		switch n := 1 + rng.IntN(300); rng.IntN(3) {
		case 0:
			repeats = append(repeats, noise[rng.IntN(1000):][:n]...)
		default: // all distances, and copies that overlap
			for from := len(repeats) - 1 - rng.IntN(min(len(repeats), 1<<rng.IntN(16))); n > 0; n-- {
				repeats = append(repeats, repeats[from])
				from++
			}
		}
	}
	return map[string][]byte{
		"empty": {}, "one": {7}, "zeros": make([]byte, 150_000), "noise": noise, "few": few, "repeats": repeats, "short": repeats[:300],
	}
}

// encodeLZW is an encoder of TIFF's LZW.
func encodeLZW(data []byte) []byte {
	var out []byte
	var value, count uint
	width := uint(9)
	put := func(code int) {
		value = value<<width | uint(code)
		for count += width; count >= 8; count -= 8 {
			out = append(out, byte(value>>(count-8)))
		}
		value &= 1<<count - 1
	}
	codes := map[[2]int]int{} // of a code and the byte after it
	put(lzwClear)
	code := -1
	for _, b := range data {
		if code < 0 {
			code = int(b)
			continue
		}
		if longer, ok := codes[[2]int{code, int(b)}]; ok {
			code = longer
			continue
		}
		put(code)
		codes[[2]int{code, int(b)}] = lzwFirst + len(codes)
		switch next := lzwFirst + len(codes); {
		case next == 4094:
			put(lzwClear)
			clear(codes)
			width = 9
		case next >= 1<<width-1+1:
			width++
		}
		code = int(b)
	}
	if code >= 0 {
		put(code)
		// The decoder adds a string for this code too.
		if next := lzwFirst + len(codes) + 1; next >= 1<<width && width < 12 {
			width++
		}
	}
	put(lzwEnd)
	return append(out, byte(value<<(8-count)))
}

// encodePackBits is an encoder of PackBits.
func encodePackBits(data []byte) (out []byte) {
	for len(data) > 0 {
		run := 1
		for run < min(len(data), 128) && data[run] == data[0] {
			run++
		}
		if run > 1 {
			out = append(out, byte(1-run), data[0])
			data = data[run:]
			continue
		}
		n := 1
		for n < min(len(data), 128) && data[n] != data[n-1] {
			n++
		}
		out = append(append(append(out, byte(n-1)), data[:n]...), 0x80) // 0x80 means nothing
		data = data[n:]
	}
	return out
}

func encodeZlib(tb testing.TB, data []byte, level int) []byte {
	var buf bytes.Buffer
	w, err := zlib.NewWriterLevel(&buf, level)
	must(tb, err)
	w.Write(data)
	w.Close()
	return buf.Bytes()
}

func encodeZstd(tb testing.TB, data []byte, opts ...zstd.EOption) []byte {
	var buf bytes.Buffer
	w, err := zstd.NewWriter(&buf, append(opts, zstd.WithEncoderConcurrency(1))...)
	must(tb, err)
	w.Write(data)
	w.Close()
	return buf.Bytes()
}

// An encoding is a name for an encoder of a compression.
type encoding struct {
	name        string
	compression compression
	encode      func(data []byte) []byte
}

func encodings(tb testing.TB) []encoding {
	all := []encoding{
		{"none", compressionNone, bytes.Clone},
		{"LZW", compressionLZW, encodeLZW},
		{"PackBits", compressionPackBits, encodePackBits},
		{"Zstandard", compressionZstd, func(d []byte) []byte { return encodeZstd(tb, d) }},
		{"Zstandard, large window", compressionZstd, func(d []byte) []byte { return encodeZstd(tb, d, zstd.WithWindowSize(8<<20)) }},
		{"Zstandard, size known", compressionZstd, func(d []byte) []byte {
			w, err := zstd.NewWriter(nil)
			must(tb, err)
			return w.EncodeAll(d, nil)
		}},
	}
	for _, level := range []int{zlib.HuffmanOnly, zlib.NoCompression, 1, 6, 9} {
		all = append(all, encoding{fmt.Sprintf("deflate %d", level), compressionDeflate, func(d []byte) []byte { return encodeZlib(tb, d, level) }})
	}
	return all
}

// TestCodecs decodes samples at once, in part and as streams.
func TestCodecs(t *testing.T) {
	for _, e := range encodings(t) {
		for name, data := range samples() {
			t.Run(e.name+"/"+name, func(t *testing.T) {
				encoded := e.encode(data)
				d := &decoder{compression: e.compression, size: int64(len(data))}
				defer d.close()
				for _, n := range []int{len(data), len(data) - 1, len(data) / 2, len(data) / 3, 1} {
					if n < 0 || n > len(data) {
						continue
					}
					got := make([]byte, n, len(data)+8)
					if err := d.whole(got, encoded); err != nil {
						t.Fatalf("%d bytes of %d: %v", n, len(data), err)
					}
					if !bytes.Equal(got, data[:n]) {
						t.Fatalf("%d bytes of %d differ", n, len(data))
					}
				}
				if len(data) == 0 && e.compression == compressionZstd {
					return
				}
				r, release, err := d.stream(bytes.NewReader(encoded))
				must(t, err)
				defer release()
				got := make([]byte, len(data))
				if _, err := io.ReadFull(r, got); err != nil || !bytes.Equal(got, data) {
					t.Errorf("the stream differs, or has the error %v", err)
				}
			})
		}
	}
}

// TestTruncated: data that end too early are an error and never zeros.
func TestTruncated(t *testing.T) {
	for _, e := range encodings(t) {
		for name, data := range samples() {
			if len(data) < 2 {
				continue
			}
			encoded := e.encode(data)
			d := &decoder{compression: e.compression, size: int64(len(data))}
			for _, n := range []int{0, 1, 2, len(encoded) / 2, len(encoded) * 9 / 10, len(encoded) - 6} {
				if n < 0 || n > len(encoded) {
					continue
				}
				if err := d.whole(make([]byte, len(data)), encoded[:n]); err == nil {
					t.Errorf("%s/%s: no error with %d bytes of %d", e.name, name, n, len(encoded))
				}
			}
			d.close()
		}
	}
}

// TestExcess: what follows the data of a segment does not matter.
func TestExcess(t *testing.T) {
	data := samples()["few"]
	for _, e := range encodings(t) {
		d := &decoder{compression: e.compression, size: int64(len(data))}
		for _, size := range []int{1000, len(data) / 2} {
			got := make([]byte, size)
			if err := d.whole(got, e.encode(data)); err != nil || !bytes.Equal(got, data[:size]) {
				t.Errorf("%s: %d bytes of %d differ, or have the error %v", e.name, size, len(data), err)
			}
		}
		d.close()
	}
}

// TestChecksum: a changed byte of deflate data is found when they are decoded to the end.
func TestChecksum(t *testing.T) {
	data := samples()["noise"][:1000]
	encoded := encodeZlib(t, data, zlib.NoCompression)
	encoded[500] ^= 1
	d := &decoder{compression: compressionDeflate}
	if err := d.whole(make([]byte, len(data)), encoded); err == nil {
		t.Error("no error")
	}
}
