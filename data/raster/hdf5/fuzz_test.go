package hdf5

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"testing"

	"limnomap/data/testsize"
)

var damagedFiles = flag.Int("damaged", 1000, "damaged files that TestDamaged reads")

// A block is a structure of a file that begins with a signature.
type block struct{ at, length, sum int } // sum is the position of its checksum, or 0

// A sampleFile is a small file of testdata with its blocks, which the tests damage.
type sampleFile struct {
	name   string
	raw    []byte
	blocks []block
}

var signatures = []string{signature, "OHDR", "OCHK", "FRHP", "FHDB", "FHIB", "BTHD", "BTIN", "BTLF", "FAHD", "FADB",
	"EAHD", "EAIB", "EASB", "EADB", "TREE", "SNOD", "HEAP", "GCOL", "SMTB"}

// sampleFiles returns the files that testdata/make_objects.py wrote.
func sampleFiles(tb testing.TB) []sampleFile {
	tb.Helper()
	paths, err := filepath.Glob("testdata/*.h5")
	if err != nil || len(paths) == 0 {
		tb.Fatal("no files in testdata", err)
	}
	var all []sampleFile
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		must(tb, err)
		s := sampleFile{name: filepath.Base(path), raw: raw}
		for at := range raw {
			for _, sign := range signatures {
				if bytes.HasPrefix(raw[at:], []byte(sign)) {
					s.blocks = append(s.blocks, measureBlock(raw, at, sign))
				}
			}
		}
		all = append(all, s)
	}
	return all
}

// measureBlock finds the end of a block by its checksum. Blocks without checksums have a length of 64.
func measureBlock(raw []byte, at int, sign string) block {
	const longest = 4 << 10
	if sign == "FHDB" { // the checksum is in the block, and is that of a block with zeros in its place
		for sum := at + 13; sum <= at+21; sum++ {
			for length := 64; length <= 64<<10 && at+length <= len(raw); length *= 2 {
				if b := (block{at, length, sum}); b.checksum(raw) == binary.LittleEndian.Uint32(raw[sum:]) {
					return b
				}
			}
		}
	}
	for sum := at + 6; sum <= min(len(raw)-4, at+longest); sum++ {
		if lookup3(raw[at:sum]) == binary.LittleEndian.Uint32(raw[sum:]) {
			return block{at, sum + 4 - at, sum}
		}
	}
	return block{at, min(64, len(raw)-at), 0}
}

func (b block) checksum(raw []byte) uint32 {
	if b.sum == b.at+b.length-4 {
		return lookup3(raw[b.at:b.sum])
	}
	c := bytes.Clone(raw[b.at : b.at+b.length])
	clear(c[b.sum-b.at:][:4])
	return lookup3(c)
}

// repair sets the checksums of the blocks, so that damage in them is not found by these.
func (s *sampleFile) repair(raw []byte) {
	for _, b := range s.blocks {
		if b.sum > 0 && b.at+b.length <= len(raw) {
			binary.LittleEndian.PutUint32(raw[b.sum:], b.checksum(raw))
		}
	}
}

// damage returns a damaged copy of the file: mostly numbers in blocks that programs get wrong, with correct checksums.
func (s *sampleFile) damage(rng *rand.Rand) []byte {
	raw := bytes.Clone(s.raw)
	for range 1 + rng.IntN(3) {
		switch rng.IntN(12) {
		case 0:
			raw[rng.IntN(len(raw))] ^= 1 << rng.IntN(8)
		case 1:
			raw[rng.IntN(len(raw))] = byte(rng.Uint32())
		case 2:
			setNumber(rng, raw, rng.IntN(len(raw)))
		case 3: // a piece copied
			at := rng.IntN(len(raw))
			copy(raw[rng.IntN(len(raw)):], raw[at:min(len(raw), at+1+rng.IntN(64))])
		case 4: // a block in the place of another
			from, to := s.blocks[rng.IntN(len(s.blocks))], s.blocks[rng.IntN(len(s.blocks))]
			copy(raw[to.at:], raw[from.at:from.at+from.length])
		case 5: // the address of a block somewhere
			b := s.blocks[rng.IntN(len(s.blocks))]
			at := s.blocks[rng.IntN(len(s.blocks))]
			put(raw, at.at+rng.IntN(at.length), 8, uint64(b.at))
		default:
			b := s.blocks[rng.IntN(len(s.blocks))]
			setNumber(rng, raw, b.at+rng.IntN(b.length))
		}
	}
	if rng.IntN(8) > 0 {
		s.repair(raw)
	}
	if rng.IntN(40) == 0 {
		raw = raw[:1+rng.IntN(len(raw))]
	}
	return raw
}

// setNumber writes a number that programs get wrong.
func setNumber(rng *rand.Rand, raw []byte, at int) {
	numbers := []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 16, 31, 32, 33, 63, 64, 255, 256, 4095, 65535, 65536,
		1<<31 - 1, 1 << 31, 1<<32 - 1, 1<<63 - 1, 1 << 63, 1<<64 - 1, uint64(len(raw)), uint64(len(raw) - 1), uint64(at),
		uint64(rng.IntN(len(raw))), uint64(rng.IntN(1 << 20)), uint64(rng.IntN(256))}
	put(raw, at, 1<<rng.IntN(4), numbers[rng.IntN(len(numbers))])
}

// put writes the lowest bytes of a number, as far as there is room.
func put(raw []byte, at, size int, v uint64) {
	if at < len(raw) {
		copy(raw[at:], binary.LittleEndian.AppendUint64(nil, v)[:size])
	}
}

// A reading reads whatever a file has, and measures what that takes.
type reading struct {
	file    *File
	err     error  // the last one
	largest uint64 // bytes that one call allocated
	total   uint64 // bytes that all calls allocated
	objects int    // that may still be read
}

// step measures a call.
func (r *reading) step(call func() error) {
	samples := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(samples)
	before := samples[0].Value.Uint64()
	if err := call(); err != nil {
		r.err = err
	}
	metrics.Read(samples)
	n := samples[0].Value.Uint64() - before
	r.largest, r.total = max(r.largest, n), r.total+n
}

func readAll(raw []byte) *reading {
	r := &reading{objects: 60}
	r.step(func() (err error) {
		r.file, err = Open(bytes.NewReader(raw), int64(len(raw)), &Options{Workers: 2})
		return err
	})
	if r.file != nil {
		r.group(r.file.Root(), 4)
	}
	return r
}

func (r *reading) group(g *Group, depth int) {
	r.attributes(g.object)
	var names []string
	r.step(func() (err error) { names, err = g.Names(); return err })
	for _, name := range names {
		if r.objects--; r.objects < 0 {
			return
		}
		var d *Dataset
		var below *Group
		r.step(func() (err error) {
			if d, err = g.Dataset(name); errors.Is(err, ErrNotFound) && depth > 0 {
				below, err = g.Group(name)
			}
			if errors.Is(err, ErrNotFound) {
				return nil
			}
			return err
		})
		switch {
		case d != nil:
			r.attributes(d.object)
			r.dataset(d)
		case below != nil:
			r.group(below, depth-1)
		}
	}
}

func (r *reading) attributes(o *object) {
	var names []string
	r.step(func() (err error) { names, err = o.AttributeNames(); return err })
	for i, name := range names {
		if i == 40 {
			break
		}
		r.step(func() error {
			a, err := o.Attribute(name)
			if err != nil || a == nil {
				return err
			}
			a.Floats()
			a.Ints()
			a.Strings()
			_ = a.Type().String()
			a.References()
			return nil
		})
	}
}

func (r *reading) dataset(d *Dataset) {
	shape := d.Shape()
	first, last, whole := Window{Start: make([]int64, len(shape))}, Window{}, Window{Start: make([]int64, len(shape)), Shape: shape}
	elements := int64(1)
	for _, n := range shape {
		first.Shape = append(first.Shape, min(n, 3))
		last.Start = append(last.Start, max(0, n-3))
		last.Shape = append(last.Shape, min(n, 3))
		if elements <= 1<<20 {
			elements *= min(n, 1<<20)
		}
	}
	windows := []Window{first, last}
	if elements <= 1<<16 {
		windows = append(windows, whole)
	}
	if len(shape) > 8 {
		windows = []Window{{Start: first.Start, Shape: slices.Repeat([]int64{0}, len(shape))}}
	}
	r.step(func() error {
		return d.Gather(context.Background(), windows, func(int, Window, []float64) error { return nil })
	})
}

// check refuses errors of unknown kinds and calls that allocate too much.
func (r *reading) check(tb testing.TB, size int) {
	tb.Helper()
	if r.err != nil && !errors.Is(r.err, ErrFormat) && !errors.Is(r.err, ErrUnsupported) {
		tb.Errorf("error %v is neither of the format nor of an unsupported feature", r.err)
	}
	if r.largest > 64<<20 {
		tb.Errorf("%d bytes allocated by one call for a file of %d: %v", r.largest, size, r.err)
	}
}

// TestDamaged reads damaged files: no panic, little memory, and errors that say what is wrong.
func TestDamaged(t *testing.T) {
	n := testsize.Of(*damagedFiles/10, *damagedFiles)
	files := sampleFiles(t)
	failed, largest, total := 0, uint64(0), uint64(0)
	for i := range n {
		s := &files[i%len(files)]
		raw := s.damage(rand.New(rand.NewPCG(19, uint64(i))))
		r := readAll(raw)
		if r.err != nil {
			failed++
		}
		if r.check(t, len(raw)); t.Failed() {
			t.Fatalf("file %d, made of %s", i, s.name)
		}
		largest, total = max(largest, r.largest), max(total, r.total)
	}
	t.Logf("%d damaged files, %d with an error; one call allocated at most %d KiB, all calls for one file %d KiB",
		n, failed, largest>>10, total>>10)
}

// FuzzFile applies edits to one of the files of testdata and repairs the checksums, or reads the edits themselves as a file.
func FuzzFile(f *testing.F) {
	files := sampleFiles(f)
	const whole = 255
	for i, s := range files {
		f.Add(uint8(i), []byte{})
		f.Add(uint8(whole), s.raw)
	}
	f.Fuzz(func(t *testing.T, which uint8, edits []byte) {
		if len(edits) > 64<<10 {
			return
		}
		raw := edits
		if which < whole {
			s := &files[int(which)%len(files)]
			raw = bytes.Clone(s.raw)
			for ; len(edits) >= 4; edits = edits[4:] { // block or any place, place in it, size and place, value
				at := int(edits[1])
				if b := int(edits[0]); b < len(s.blocks) {
					at += s.blocks[b].at
				} else {
					at += b << 8
				}
				v := uint64(edits[3])
				switch edits[2] >> 2 & 3 {
				case 1:
					v <<= 8 * (edits[2] >> 4 & 7)
				case 2:
					v = ^v
				case 3:
					v = uint64(s.blocks[int(v)%len(s.blocks)].at)
				}
				put(raw, at, 1<<(edits[2]&3), v)
			}
			s.repair(raw)
		}
		readAll(raw).check(t, len(raw))
	})
}
