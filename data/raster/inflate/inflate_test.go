package inflate

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"limnomap/data/testsize"
)

// compress returns zlib data of a level of compress/zlib.
func compress(t testing.TB, data []byte, level int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// samples are data with runs, repetitions and noise of several sizes.
func samples() map[string][]byte {
	rng := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 300_000)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	var planes []byte // as the planes of floats of mostly one value
	for plane := range 4 {
		for planes = append(planes, bytes.Repeat([]byte{byte(60 * plane)}, 400_000)...); rng.IntN(40) > 0; {
			at := rng.IntN(len(planes))
			copy(planes[at:], noise[:rng.IntN(3000)])
		}
	}
	text := bytes.Repeat([]byte("the quick brown fox and the lazy dog "), 9000)
	mixed := append(bytes.Clone(text), noise[:100_000]...)
	mixed = append(mixed, bytes.Repeat([]byte{7}, 200_000)...)
	mixed = append(mixed, text...)
	return map[string][]byte{
		"empty": nil, "one": {1}, "noise": noise, "planes": planes, "text": text, "mixed": mixed,
		"zeros": make([]byte, 5<<20), "run": bytes.Repeat([]byte{9}, 3*historySize+1),
		"two values": append(bytes.Repeat([]byte{1}, 200_000), bytes.Repeat([]byte{2}, 200_000)...),
	}
}

var levels = []int{flate.NoCompression, flate.BestSpeed, 4, flate.BestCompression, flate.HuffmanOnly}

func TestRead(t *testing.T) {
	var r Reader
	for name, data := range samples() {
		for _, level := range levels {
			z := compress(t, data, level)
			sources := map[string]io.Reader{"whole": bytes.NewReader(z), "halves": iotest.HalfReader(bytes.NewReader(z)),
				"bytes": iotest.OneByteReader(bytes.NewReader(z)), "end with data": iotest.DataErrReader(bytes.NewReader(z))}
			for kind, source := range sources {
				r.Reset(source)
				got, err := io.ReadAll(&r)
				if err != nil || !bytes.Equal(got, data) {
					t.Errorf("%s at level %d, %s: %d bytes, %v, want %d", name, level, kind, len(got), err, len(data))
				}
			}
		}
	}
}

// TestDecoder decodes into slices of all kinds of lengths.
func TestDecoder(t *testing.T) {
	var d Decoder
	for name, data := range samples() {
		for _, level := range levels {
			z := compress(t, data, level)
			for _, size := range []int{len(data), len(data) + 1, len(data) + 1000, len(data) / 2, len(data) / 3, 1, 0} {
				dst := make([]byte, size)
				want := min(size, len(data))
				if n, err := d.Decode(dst, z); n != want || err != nil || !bytes.Equal(dst[:n], data[:n]) {
					t.Errorf("%s at level %d into %d bytes: %d, %v, want %d", name, level, size, n, err, want)
				}
			}
			if len(data) > 0 {
				if n, err := d.Decode(make([]byte, len(data)+1), z[:len(z)-1]); !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("%s at level %d without its last byte: %d, %v", name, level, n, err)
				}
			}
		}
	}
}

func TestDamaged(t *testing.T) {
	good := compress(t, samples()["mixed"], 6)
	var d Decoder
	for name, data := range map[string][]byte{"empty": nil, "no zlib": []byte("hello world"), "dictionary": {0x78, 0xbb, 0, 0, 0, 0}, "type 3": {0x78, 0x9c, 7, 0, 0}} {
		var r Reader
		r.Reset(bytes.NewReader(data))
		if _, err := io.ReadAll(&r); !errors.Is(err, ErrDamaged) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v, want an error for damaged data", name, err)
		}
		if _, err := d.Decode(make([]byte, 10), data); !errors.Is(err, ErrDamaged) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v of the decoder, want an error for damaged data", name, err)
		}
	}
	for n := 0; n < len(good); n += testsize.Of(970, 97) {
		var r Reader
		r.Reset(bytes.NewReader(good[:n]))
		if got, err := io.ReadAll(&r); err == nil {
			t.Errorf("the first %d of %d bytes read as %d, want an error", n, len(good), len(got))
		}
		if n, err := d.Decode(make([]byte, 10<<20), good[:n]); !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, ErrDamaged) {
			t.Errorf("the first %d of %d bytes decoded: %v", n, len(good), err)
		}
	}
}

func TestChecksum(t *testing.T) {
	for name, data := range samples() {
		z := compress(t, data, 4)
		z[len(z)-1] ^= 1
		for _, without := range []bool{false, true} {
			r := Reader{NoChecksum: without}
			r.Reset(bytes.NewReader(z))
			if n, err := io.Copy(io.Discard, &r); n != int64(len(data)) || errors.Is(err, ErrDamaged) == without {
				t.Errorf("%s with NoChecksum %v: %d bytes, %v", name, without, n, err)
			}
		}
	}
}

// TestNext passes on pieces of many sizes.
func TestNext(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for name, data := range samples() {
		var r Reader
		r.Reset(bytes.NewReader(compress(t, data, 4)))
		at, runs := 0, 0
		for {
			most := 1 + rng.IntN(100_000)
			next, run, value, err := r.Next(int64(most))
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if next == nil {
				runs++
				next = bytes.Repeat([]byte{value}, int(run))
			}
			if len(next) == 0 || len(next) > most || !bytes.HasPrefix(data[at:], next) {
				t.Fatalf("%s: %d bytes at %d are not those of the data", name, len(next), at)
			}
			at += len(next)
		}
		if at != len(data) {
			t.Errorf("%s: %d bytes, want %d", name, at, len(data))
		}
		if name == "zeros" && runs == 0 {
			t.Errorf("%s have no run", name)
		}
	}
}

func TestSourceError(t *testing.T) {
	want := errors.New("network")
	z := compress(t, samples()["noise"], 6)
	var r Reader
	r.Reset(io.MultiReader(bytes.NewReader(z[:100_000]), iotest.ErrReader(want)))
	if _, err := io.ReadAll(&r); !errors.Is(err, want) {
		t.Errorf("error %v, want %v", err, want)
	}
}

func FuzzRead(f *testing.F) {
	for _, data := range samples() {
		f.Add(compress(f, data[:min(len(data), 2000)], 6))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var r Reader
		r.Reset(bytes.NewReader(data))
		got, err := io.ReadAll(io.LimitReader(&r, 1<<20))
		dst := make([]byte, 1<<20)
		n, derr := new(Decoder).Decode(dst, data)
		if err == nil && derr == nil && !bytes.Equal(dst[:n], got) || (err == nil) != (derr == nil) && n < len(dst) {
			t.Fatalf("the decoder made %d bytes, %v, the reader %d, %v", n, derr, len(got), err)
		}
		z, zerr := zlib.NewReader(bytes.NewReader(data))
		if zerr != nil {
			if err == nil {
				t.Fatalf("read %d bytes, but compress/zlib says %v", len(got), zerr)
			}
			return
		}
		want, zerr := io.ReadAll(io.LimitReader(z, 1<<20))
		if zerr == nil && err != nil {
			t.Fatalf("%v, but compress/zlib reads %d bytes", err, len(want))
		}
		if zerr == nil && !bytes.Equal(got, want) {
			t.Fatalf("%d bytes differ from %d of compress/zlib", len(got), len(want))
		}
	})
}
