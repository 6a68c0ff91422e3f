package tiff

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"image"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"limnomap/data/testsize"
)

var damagedFiles = flag.Int("damaged", 2000, "damaged files that TestDamaged reads")

// seeds returns the small files of testdata, which testdata/make_tiffs.py wrote.
func seeds(tb testing.TB) [][]byte {
	tb.Helper()
	paths, err := filepath.Glob("testdata/*.tif")
	if err != nil || len(paths) == 0 {
		tb.Fatal("no seeds in testdata", err)
	}
	var all [][]byte
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		must(tb, err)
		all = append(all, raw)
	}
	return all
}

// readAll reads whatever a file has: its metadata and, of its images, the first and the last pixels, and all if they are few.
func readAll(r io.ReaderAt, size int64) error {
	f, err := Open(r, size, &Options{Workers: 2})
	if err != nil {
		return err
	}
	for _, im := range f.Images() {
		im.Transform()
		im.NoData()
		for _, im := range []*Image{im, im.Mask()} {
			if im == nil {
				continue
			}
			bounds := image.Rect(0, 0, im.Width(), im.Height())
			windows := []image.Rectangle{image.Rect(0, 0, 50, 50).Intersect(bounds), bounds.Intersect(image.Rect(0, 0, 50, 50).Add(bounds.Max).Sub(image.Pt(50, 50)))}
			if im.Width() <= 1000 && im.Height() <= 1000 {
				windows = append(windows, bounds)
			}
			for _, band := range []int{0, im.Bands() - 1} {
				im.Scale(band)
				if e := im.Gather(context.Background(), band, windows, func(int, image.Rectangle, []float64) error { return nil }); e != nil {
					err = e
				}
			}
		}
	}
	return err
}

// A mutator damages files where it matters: in their headers, entries of directories, offsets and data.
type mutator struct{ rng *rand.Rand }

// damage returns a damaged copy.
func (m mutator) damage(raw []byte) []byte {
	raw = bytes.Clone(raw)
	entries := entryPositions(raw)
	for range 1 + m.rng.IntN(3) {
		switch m.rng.IntN(10) {
		case 0: // a bit
			raw[m.rng.IntN(len(raw))] ^= 1 << m.rng.IntN(8)
		case 1: // a byte
			raw[m.rng.IntN(len(raw))] = byte(m.rng.Uint32())
		case 2: // a number somewhere
			m.setNumber(raw, m.rng.IntN(len(raw)))
		case 3: // a piece copied
			at := m.rng.IntN(len(raw))
			copy(raw[m.rng.IntN(len(raw)):], raw[at:min(len(raw), at+1+m.rng.IntN(64))])
		case 4: // the end
			if m.rng.IntN(4) == 0 {
				raw = raw[:1+m.rng.IntN(len(raw))]
			}
		default: // tag, type, count or value of an entry
			if len(entries) > 0 {
				m.setNumber(raw, entries[m.rng.IntN(len(entries))]+[]int{0, 2, 4, 8, 12}[m.rng.IntN(5)])
			}
		}
	}
	return raw
}

// setNumber writes a number that programs get wrong.
func (m mutator) setNumber(raw []byte, at int) {
	numbers := []uint64{0, 1, 2, 3, 5, 7, 8, 16, 64, 255, 256, 32946, 32773, 50000, 65535, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1<<63 - 1, 1<<64 - 1,
		uint64(len(raw)), uint64(len(raw) - 1), uint64(at), uint64(m.rng.IntN(len(raw))), uint64(m.rng.IntN(1 << 20))}
	v := numbers[m.rng.IntN(len(numbers))]
	order := byteOrders[m.rng.IntN(2)]
	if m.rng.IntN(4) > 0 && raw[0] == 'I' {
		order = binary.LittleEndian
	}
	number := make([]byte, 8)
	switch size := 1 << m.rng.IntN(4); size {
	case 1, 2:
		order.PutUint16(number, uint16(v))
		number = number[:2]
	case 4:
		order.PutUint32(number, uint32(v))
		number = number[:4]
	default:
		order.PutUint64(number, v)
	}
	if at < len(raw) {
		copy(raw[at:], number)
	}
}

// entryPositions returns where the entries of all directories are.
func entryPositions(raw []byte) (positions []int) {
	t := &tagReader{r: bytes.NewReader(raw), size: int64(len(raw))}
	next, err := t.header()
	for n := 0; n < 100 && err == nil && next != 0; n++ { // a chain of empty directories may return to its beginning
		size, count := int64(12), int64(2)
		if t.big {
			size, count = 20, 8
		}
		at := next
		var length int64
		_, length, next, err = t.directory(at, t.size)
		for k := at + count; err == nil && k+size <= at+length; k += size {
			positions = append(positions, int(k))
		}
	}
	return positions
}

// checkDamaged reads a file that may be damaged.
func checkDamaged(tb testing.TB, raw []byte) {
	tb.Helper()
	var err error
	allocated := allocatedBytes(func() { err = readAll(bytes.NewReader(raw), int64(len(raw))) })
	if err != nil && !errors.Is(err, ErrFormat) && !errors.Is(err, ErrUnsupported) {
		tb.Errorf("error %v is neither of the format nor of an unsupported feature", err)
	}
	// Each image may take its buffers twice, for two bands, and its mask too.
	if allocated > 64<<20 {
		tb.Errorf("%d bytes allocated for a file of %d: %v", allocated, len(raw), err)
	}
}

// TestDamaged reads damaged files: no panic, little memory, and errors that say what is wrong.
func TestDamaged(t *testing.T) {
	n := testsize.Of(*damagedFiles/10, *damagedFiles)
	originals := seeds(t)
	failed, largest := 0, uint64(0)
	for i := range n {
		raw := mutator{rand.New(rand.NewPCG(19, uint64(i)))}.damage(originals[i%len(originals)])
		var err error
		allocated := allocatedBytes(func() { err = readAll(bytes.NewReader(raw), int64(len(raw))) })
		if err != nil {
			failed++
		}
		largest = max(largest, allocated)
		if err != nil && !errors.Is(err, ErrFormat) && !errors.Is(err, ErrUnsupported) || allocated > 64<<20 {
			t.Errorf("file %d: %d bytes allocated, error %v", i, allocated, err)
		}
	}
	t.Logf("%d damaged files, %d with an error, at most %d KiB allocated for one", n, failed, largest>>10)
}

func FuzzFile(f *testing.F) {
	for _, raw := range seeds(f) {
		f.Add(raw, uint64(0))
	}
	f.Fuzz(func(t *testing.T, raw []byte, damage uint64) {
		if len(raw) == 0 || len(raw) > 64<<10 {
			return
		}
		if damage > 0 { // where the fuzzer's own changes rarely get
			raw = mutator{rand.New(rand.NewPCG(damage, 0))}.damage(raw)
		}
		checkDamaged(t, raw)
	})
}

// FuzzCodecs decodes any bytes with each codec at once and as a stream, which must agree.
func FuzzCodecs(f *testing.F) {
	data := samples()["repeats"][:2000]
	for _, e := range encodings(f) {
		f.Add(e.encode(data), uint16(e.compression), uint16(len(data)))
	}
	f.Fuzz(func(t *testing.T, src []byte, kind, size uint16) {
		c := compression(kind)
		if !c.supported() || len(src) > 32<<10 {
			return
		}
		d := &decoder{compression: c, size: int64(size)}
		defer d.close()
		whole := make([]byte, size)
		err := d.whole(whole, src)
		r, release, streamErr := d.stream(bytes.NewReader(src))
		streamed := make([]byte, size)
		if streamErr == nil {
			defer release()
			_, streamErr = io.ReadFull(r, streamed)
		}
		switch {
		case err == nil && streamErr != nil && size > 0:
			t.Errorf("%v: error %v of the stream only", c, streamErr)
		case err == nil && !bytes.Equal(whole, streamed):
			t.Errorf("%v: the stream differs", c)
		case err != nil && !errors.Is(err, ErrFormat) && !errors.Is(err, ErrUnsupported):
			t.Errorf("%v: error %v", c, err)
		}
	})
}
