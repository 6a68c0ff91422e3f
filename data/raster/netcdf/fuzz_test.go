package netcdf

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"limnomap/data/testsize"
)

var damagedFiles = flag.Int("damaged", 1000, "damaged files that TestDamaged reads")

// seeds returns the small files of testdata, which testdata/make_nc.py wrote.
func seeds(tb testing.TB) [][]byte {
	tb.Helper()
	var all [][]byte
	for _, pattern := range []string{"testdata/*.nc", "testdata/*.h5"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			tb.Fatal("no seeds in testdata", err)
		}
		for _, path := range paths {
			raw, err := os.ReadFile(path)
			if err != nil {
				tb.Fatal(err)
			}
			all = append(all, raw)
		}
	}
	return all
}

// readAll reads whatever a file has: its metadata and, of its variables, the first and the last values, and all if they are few. It
// returns the error of opening the file or of reading values.
func readAll(tb testing.TB, r io.ReaderAt, size int64) (err error) {
	check := func(e error) {
		if e != nil && !errors.Is(e, ErrFormat) && !errors.Is(e, ErrUnsupported) {
			tb.Errorf("error %v is neither of the format nor of an unsupported feature", e)
		}
	}
	f, err := Open(r, size, &Options{Workers: 2})
	check(err)
	if err != nil {
		return err
	}
	for _, name := range f.AttributeNames() {
		f.Text(name)
	}
	for i, v := range f.Variables() {
		if i == 40 { // of thousands that damage may make
			break
		}
		if e := readVariable(v, check); e != nil {
			err = e
		}
	}
	return err
}

// readVariable reads what a variable has, and passes errors to check. It returns that of reading values.
func readVariable(v *Variable, check func(error)) error {
	ctx := context.Background()
	for _, name := range v.AttributeNames() {
		v.Text(name)
		v.Number(name)
	}
	_, err := v.Grid(ctx)
	check(err)
	_, err = v.Times(ctx)
	check(err)
	_, err = v.TimeBounds(ctx)
	check(err)
	d, err := v.Decoder()
	check(err)
	first, last := Window{}, Window{}
	for _, d := range v.Dimensions() {
		length := min(d.Len, 8)
		first.Start, first.Shape = append(first.Start, 0), append(first.Shape, length)
		last.Start, last.Shape = append(last.Start, d.Len-length), append(last.Shape, length)
	}
	var windows []Window
	if boxSize(first) <= 1<<16 {
		windows = []Window{first, last}
	}
	if all, _ := whole(v); boxSize(all) <= 1<<16 {
		windows = append(windows, all)
	}
	err = v.Gather(ctx, windows, func(_ int, _ Window, values []float64) error {
		for _, raw := range values {
			if d != nil {
				d.Decode(raw)
			}
		}
		return nil
	})
	check(err)
	return err
}

func boxSize(w Window) float64 {
	n := 1.0
	for _, length := range w.Shape {
		n *= float64(length)
	}
	return n
}

// A mutator damages files, those of the classic format mostly in their headers.
type mutator struct{ rng *rand.Rand }

// damage returns a damaged copy.
func (m mutator) damage(raw []byte) []byte {
	raw = bytes.Clone(raw)
	header := len(raw)
	if raw[0] == 'C' {
		header = min(header, 1400)
	}
	for range 1 + m.rng.IntN(3) {
		at := m.rng.IntN(header) % len(raw)
		switch m.rng.IntN(8) {
		case 0:
			raw[at] ^= 1 << m.rng.IntN(8)
		case 1:
			raw[at] = byte(m.rng.Uint32())
		case 2: // a piece copied
			from := m.rng.IntN(len(raw))
			copy(raw[at:], raw[from:min(len(raw), from+1+m.rng.IntN(64))])
		case 3:
			if m.rng.IntN(4) == 0 {
				raw = raw[:1+m.rng.IntN(len(raw))]
			}
		case 4, 5:
			m.setNumber(raw, at&^3) // where numbers of classic files are
		default:
			m.setNumber(raw, at)
		}
	}
	return raw
}

// setNumber writes a number that programs get wrong.
func (m mutator) setNumber(raw []byte, at int) {
	numbers := []uint64{0, 1, 2, 3, 4, 5, 6, 10, 11, 12, 16, 64, 255, 256, 1024, 65535, 65536, 1 << 20, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1<<61 + 1, 1<<63 - 1,
		1<<64 - 1, uint64(len(raw)), uint64(len(raw) - 1), uint64(at), uint64(m.rng.IntN(len(raw)))}
	v := numbers[m.rng.IntN(len(numbers))]
	var order binary.ByteOrder = binary.LittleEndian
	if raw[0] == 'C' {
		order = binary.BigEndian
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

// allocatedBytes returns the bytes that f allocates.
func allocatedBytes(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// checkDamaged reads a file that may be damaged.
func checkDamaged(tb testing.TB, raw []byte) (allocated uint64, err error) {
	tb.Helper()
	allocated = allocatedBytes(func() { err = readAll(tb, bytes.NewReader(raw), int64(len(raw))) })
	return allocated, err
}

// TestDamaged reads damaged files: no panic, little memory, and errors that say what is wrong.
func TestDamaged(t *testing.T) {
	n := testsize.Of(*damagedFiles/10, *damagedFiles)
	originals := seeds(t)
	failed, largest := 0, uint64(0)
	for i := range n {
		raw := mutator{rand.New(rand.NewPCG(19, uint64(i)))}.damage(originals[i%len(originals)])
		allocated, err := checkDamaged(t, raw)
		if err != nil {
			failed++
		}
		if allocated > largest {
			largest = allocated
		}
		if allocated > 64<<20 {
			t.Errorf("file %d, of %d bytes: %d bytes allocated, error %v", i, len(raw), allocated, err)
		}
	}
	t.Logf("%d damaged files, %d with an error, at most %d KiB allocated for one", n, failed, largest>>10)
}

// FuzzClassic reads classic files.
func FuzzClassic(f *testing.F) {
	for _, raw := range seeds(f) {
		if raw[0] == 'C' {
			f.Add(raw, uint64(0))
		}
	}
	fuzzFile(f, "CDF")
}

// FuzzFile reads files of all formats.
func FuzzFile(f *testing.F) {
	for _, raw := range seeds(f) {
		f.Add(raw, uint64(0))
	}
	fuzzFile(f, "")
}

func fuzzFile(f *testing.F, prefix string) {
	f.Fuzz(func(t *testing.T, raw []byte, damage uint64) {
		if len(raw) == 0 || len(raw) > 96<<10 || !bytes.HasPrefix(raw, []byte(prefix)) {
			return
		}
		if damage > 0 { // where the fuzzer's own changes rarely get
			raw = mutator{rand.New(rand.NewPCG(damage, 0))}.damage(raw)
		}
		checkDamaged(t, raw)
	})
}

// FuzzTime parses units of time.
func FuzzTime(f *testing.F) {
	for _, text := range []string{"days since 1970-01-01", "hours since 2000-1-1 6:30:15.5 +05:30", "seconds since 0001-01-01T00:00:00Z"} {
		f.Add(text, "standard")
	}
	f.Fuzz(func(t *testing.T, text, calendar string) {
		if _, start, err := parseTimeUnits(text, calendar); err == nil && (start.Year() < -1 || start.Year() > 10000) {
			t.Errorf("%q starts in the year %d", text, start.Year())
		}
	})
}
