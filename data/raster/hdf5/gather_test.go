package hdf5

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime/metrics"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// A chunkFile is a file of one dataset that tests write: chunks, and a B-tree with one node.
type chunkFile struct {
	shape, chunk []int64
	typ          Type
	filters      []filter
	fill         float64
	values       []float64                // row-major
	missing      func(at []int64) bool    // chunks that are not written
	mask         func(at []int64) uint32  // filters that are left out
	edges        bool                     // chunks across the edge are written without filters
	damage       func(data []byte) []byte // of a chunk, when it is written
}

// elements calls each for all indices of a shape, in row-major order.
func elements(shape []int64, each func(at []int64)) {
	if slices.Contains(shape, 0) {
		return
	}
	at := make([]int64, len(shape))
	for {
		each(at)
		k := len(at) - 1
		for ; k >= 0; k-- {
			if at[k]++; at[k] < shape[k] {
				break
			}
			at[k] = 0
		}
		if k < 0 {
			return
		}
	}
}

// rows calls each for the first index of each row of a shape.
func rows(shape []int64, each func(at []int64, columns int64)) {
	if len(shape) == 0 {
		each(nil, 1)
		return
	}
	first := slices.Clone(shape)
	first[len(first)-1] = min(1, first[len(first)-1])
	elements(first, func(at []int64) { each(at, shape[len(shape)-1]) })
}

// offset returns the number of an element.
func offset(shape, at []int64) int64 {
	n := int64(0)
	for k := range shape {
		n = n*shape[k] + at[k]
	}
	return n
}

// appendNumber appends a number in the form of a type.
func appendNumber(b []byte, t Type, v float64) []byte {
	raw := uint64(int64(v))
	switch {
	case t.Class == Float && t.Size == 4:
		raw = uint64(math.Float32bits(float32(v)))
	case t.Class == Float:
		raw = math.Float64bits(v)
	}
	for k := range t.Size {
		if t.BigEndian {
			k = t.Size - 1 - k
		}
		b = append(b, byte(raw>>(8*k)))
	}
	return b
}

// applyFilters writes the data of a chunk.
func applyFilters(t testing.TB, filters []filter, mask uint32, size int, data []byte) []byte {
	t.Helper()
	for i, f := range filters {
		if mask>>i&1 != 0 {
			continue
		}
		switch f.id {
		case filterShuffle:
			n := len(data) / size
			shuffled := bytes.Clone(data)
			for j := range n {
				for k := range size {
					shuffled[k*n+j] = data[j*size+k]
				}
			}
			data = shuffled
		case filterDeflate:
			var b bytes.Buffer
			w, err := zlib.NewWriterLevel(&b, zlib.BestSpeed)
			must(t, err)
			w.Write(data)
			w.Close()
			data = b.Bytes()
		case filterZstd:
			w, err := zstd.NewWriter(nil)
			must(t, err)
			data = w.EncodeAll(data, nil)
		case filterFletcher32:
			var f fletcher32
			f.add(data)
			data = binary.LittleEndian.AppendUint32(bytes.Clone(data), f.value())
		case filterLZF: // literals only
			var b []byte
			for run := range slices.Chunk(data, 32) {
				b = append(append(b, byte(len(run)-1)), run...)
			}
			data = b
		}
	}
	return data
}

// dataset writes the file and returns its dataset.
func (c *chunkFile) dataset(t testing.TB) *Dataset {
	t.Helper()
	file := []byte("................")
	var keys []byte
	entries := 0
	grid := make([]int64, len(c.shape))
	for k := range grid {
		grid[k] = (c.shape[k] + c.chunk[k] - 1) / c.chunk[k]
	}
	key := func(size int, mask uint32, at []int64) {
		keys = binary.LittleEndian.AppendUint32(keys, uint32(size))
		keys = binary.LittleEndian.AppendUint32(keys, mask)
		for k, i := range at {
			keys = binary.LittleEndian.AppendUint64(keys, uint64(i*c.chunk[k]))
		}
		keys = binary.LittleEndian.AppendUint64(keys, 0)
	}
	elements(grid, func(at []int64) {
		if c.missing != nil && c.missing(at) {
			return
		}
		var data []byte
		where := make([]int64, len(at))
		elements(c.chunk, func(in []int64) {
			inside := true
			for k := range where {
				where[k] = at[k]*c.chunk[k] + in[k]
				inside = inside && where[k] < c.shape[k]
			}
			v := c.fill
			if inside {
				v = c.values[offset(c.shape, where)]
			}
			data = appendNumber(data, c.typ, v)
		})
		mask := uint32(0)
		if c.mask != nil {
			mask = c.mask(at)
		}
		filters := c.filters
		for k := range at {
			if c.edges && (at[k]+1)*c.chunk[k] > c.shape[k] {
				filters = nil
			}
		}
		data = applyFilters(t, filters, mask, c.typ.Size, data)
		if c.damage != nil {
			data = c.damage(data)
		}
		key(len(data), mask, at)
		keys = binary.LittleEndian.AppendUint64(keys, uint64(len(file)))
		file = append(file, data...)
		entries++
	})
	key(0, 0, grid)
	root := len(file)
	file = append(file, "TREE\x01\x00"...)
	file = binary.LittleEndian.AppendUint16(file, uint16(entries))
	file = append(file, bytes.Repeat([]byte{0xff}, 16)...)
	file = append(file, keys...)
	d := &Dataset{object: &object{path: "/test"}, shape: c.shape, maxShape: c.shape, typ: c.typ, filters: c.filters, fill: appendNumber(nil, c.typ, c.fill)}
	d.file = &File{src: &source{r: bytes.NewReader(file), size: int64(len(file)), offsetSize: 8, lengthSize: 8}, workers: 2}
	d.storage = storage{class: chunkedLayout, index: btree1, indexAddress: uint64(root), elementSize: uint32(c.typ.Size), partialUnfiltered: c.edges}
	for _, n := range c.chunk {
		d.storage.chunk = append(d.storage.chunk, uint64(n))
	}
	return d
}

// gatherAll reads windows and checks that the parts cover each exactly once.
func gatherAll(d *Dataset, windows []Window) ([][]float64, error) {
	all := make([][]float64, len(windows))
	seen := make([][]bool, len(windows))
	for i, w := range windows {
		n := int64(1)
		for _, s := range w.Shape {
			n *= s
		}
		all[i], seen[i] = make([]float64, n), make([]bool, n)
	}
	err := d.Gather(context.Background(), windows, func(i int, part Window, values []float64) error {
		if len(values) == 0 || len(values) > 65536 {
			return fmt.Errorf("part with %d values", len(values))
		}
		var err error
		n := 0
		rows(part.Shape, func(at []int64, columns int64) {
			first := int64(0)
			for k, w := range windows[i].Shape {
				in := at[k] + part.Start[k] - windows[i].Start[k]
				if in < 0 || in+part.Shape[k]-at[k] > w {
					err = fmt.Errorf("part %v is not within window %v", part, windows[i])
					return
				}
				first = first*w + in
			}
			for c := range columns {
				if seen[i][first+c] {
					err = fmt.Errorf("element %d of window %d is passed twice", first+c, i)
				}
				seen[i][first+c] = true
				all[i][first+c] = values[n]
				n++
			}
		})
		if err == nil && n != len(values) {
			err = fmt.Errorf("part %v has %d values, want %d", part, len(values), n)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range seen {
		if slices.Contains(seen[i], false) {
			return nil, fmt.Errorf("window %d, %v, is not covered", i, windows[i])
		}
	}
	return all, nil
}

// checkGather compares the values of windows with those of the whole array.
func checkGather(t testing.TB, d *Dataset, values []float64, windows []Window) {
	t.Helper()
	got, err := gatherAll(d, windows)
	if err != nil {
		t.Errorf("%v", err)
		return
	}
	for i, w := range windows {
		n, wrong := 0, 0
		rows(w.Shape, func(at []int64, columns int64) {
			first := int64(0)
			for k, size := range d.shape {
				first = first*size + at[k] + w.Start[k]
			}
			for c := range columns {
				if want := values[first+c]; got[i][n] != want && !(math.IsNaN(want) && math.IsNaN(got[i][n])) {
					wrong++
				}
				n++
			}
		})
		if wrong > 0 {
			t.Errorf("window %d, %v: %d of %d values differ", i, w, wrong, n)
		}
	}
}

// randomWindows returns windows of a shape, some of them whole or empty.
func randomWindows(rng *rand.Rand, shape []int64, n int) []Window {
	windows := make([]Window, n)
	for i := range windows {
		w := Window{Start: make([]int64, len(shape)), Shape: make([]int64, len(shape))}
		for k, size := range shape {
			w.Start[k] = rng.Int64N(size + 1)
			w.Shape[k] = rng.Int64N(size - w.Start[k] + 1)
			if rng.IntN(4) == 0 {
				w.Start[k], w.Shape[k] = 0, size
			}
		}
		windows[i] = w
	}
	return windows
}

var (
	pipelines = map[string][]filter{
		"none":                       nil,
		"shuffle":                    {{id: filterShuffle}},
		"deflate":                    {{id: filterDeflate}},
		"shuffle, deflate":           {{id: filterShuffle}, {id: filterDeflate}},
		"shuffle, deflate, checksum": {{id: filterShuffle}, {id: filterDeflate}, {id: filterFletcher32}},
		"checksum, shuffle, deflate": {{id: filterFletcher32}, {id: filterShuffle}, {id: filterDeflate}},
		"checksum, shuffle":          {{id: filterFletcher32}, {id: filterShuffle}},
		"shuffle, checksum, deflate": {{id: filterShuffle}, {id: filterFletcher32}, {id: filterDeflate}},
		"checksum":                   {{id: filterFletcher32}},
		"Zstandard":                  {{id: filterZstd}},
		"shuffle, Zstandard":         {{id: filterShuffle}, {id: filterZstd}},
		"shuffle, LZF":               {{id: filterShuffle}, {id: filterLZF}},
		"LZF, checksum":              {{id: filterLZF}, {id: filterFletcher32}},
	}
	numberTypes = []Type{
		{Class: Float, Size: 4}, {Class: Float, Size: 8}, {Class: Float, Size: 4, BigEndian: true}, {Class: Float, Size: 8, BigEndian: true},
		{Class: Integer, Size: 1}, {Class: Integer, Size: 2, Signed: true}, {Class: Integer, Size: 4, Signed: true, BigEndian: true},
		{Class: Integer, Size: 8, Signed: true}, {Class: Enum, Size: 1}, {Class: Integer, Size: 2, BigEndian: true},
	}
)

// TestGatherProperty compares windows of random datasets with their values.
func TestGatherProperty(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for name, filters := range pipelines {
		for round := range 30 {
			rank := rng.IntN(5)
			c := &chunkFile{typ: numberTypes[rng.IntN(len(numberTypes))], filters: filters, fill: 7}
			n := int64(1)
			for range rank {
				size := 1 + rng.Int64N(12)
				c.shape = append(c.shape, size)
				c.chunk = append(c.chunk, 1+rng.Int64N(size+2))
				n *= size
			}
			for range n {
				c.values = append(c.values, float64(rng.IntN(120)))
			}
			if rng.IntN(2) == 0 {
				c.mask = func(at []int64) uint32 { return uint32(len(at)+int(offset(c.shape, at))) % 8 }
			}
			if rank == 0 {
				c.shape, c.chunk = []int64{}, []int64{}
			}
			c.edges = rng.IntN(3) == 0
			absent := rng.Int64N(4)
			c.missing = func(at []int64) bool { return absent > 0 && offset(c.shape, at)%4 == absent }
			d := c.dataset(t)
			want := slices.Clone(c.values)
			elements(c.shape, func(at []int64) {
				chunk := slices.Clone(at)
				for k := range chunk {
					chunk[k] /= c.chunk[k]
				}
				if c.missing(chunk) {
					want[offset(c.shape, at)] = c.fill
				}
			})
			checkGather(t, d, want, randomWindows(rng, c.shape, rng.IntN(12)))
			if t.Failed() {
				t.Fatalf("%s, round %d: %v, shape %v, chunks %v", name, round, c.typ, c.shape, c.chunk)
			}
		}
	}
}

// TestGatherLarge reads chunks that do not fit into one pass.
func TestGatherLarge(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, shape := range [][]int64{{1, 1100, 1200}, {3, 5, 80_000, 1}} {
		c := &chunkFile{shape: shape, chunk: shape, typ: Type{Class: Float, Size: 4}}
		n := int64(1)
		for _, s := range shape {
			n *= s
		}
		c.values = make([]float64, 0, n)
		for range n {
			v := 9.0
			if rng.IntN(3) == 0 {
				v = float64(rng.IntN(1000))
			}
			c.values = append(c.values, v)
		}
		whole := Window{Start: make([]int64, len(shape)), Shape: shape}
		for _, name := range []string{"none", "shuffle", "deflate", "shuffle, deflate, checksum", "shuffle, Zstandard", "checksum, shuffle, deflate"} {
			c.filters = pipelines[name]
			checkGather(t, c.dataset(t), c.values, append(randomWindows(rng, shape, 1), whole))
			if t.Failed() {
				t.Fatalf("%s, shape %v", name, shape)
			}
		}
	}
}

func TestGatherErrors(t *testing.T) {
	c := &chunkFile{shape: []int64{40, 40}, chunk: []int64{20, 20}, typ: Type{Class: Float, Size: 4}, filters: pipelines["shuffle, deflate, checksum"]}
	for i := range 1600 {
		c.values = append(c.values, float64(i*7919%1000))
	}
	d := c.dataset(t)
	all := []Window{{Start: []int64{0, 0}, Shape: []int64{40, 40}}}
	none := func(int, Window, []float64) error { return nil }
	for _, w := range []Window{
		{Start: []int64{0}, Shape: []int64{1}}, {Start: []int64{-1, 0}, Shape: []int64{1, 1}}, {Start: []int64{0, 30}, Shape: []int64{1, 11}},
		{Start: []int64{41, 0}, Shape: []int64{0, 0}}, {Start: []int64{0, 1}, Shape: []int64{1, math.MaxInt64}}, {Start: []int64{0, 1}, Shape: []int64{1, -1}},
	} {
		var wrong *WindowError
		if err := d.Gather(context.Background(), []Window{all[0], w}, none); !errors.As(err, &wrong) || wrong.Index != 1 {
			t.Errorf("window %v: error %v, want one that says that window 1 is wrong", w, err)
		}
	}
	want := errors.New("enough")
	if err := d.Gather(context.Background(), all, func(int, Window, []float64) error { return want }); err != want {
		t.Errorf("error %v, want that of the function", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := d.Gather(ctx, all, none); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	c.damage = func(data []byte) []byte { data[len(data)/2] ^= 4; return data }
	if err := c.dataset(t).Gather(context.Background(), []Window{{Start: []int64{0, 0}, Shape: []int64{1, 1}}}, none); !errors.Is(err, ErrFormat) {
		t.Errorf("damaged data: error %v, want ErrFormat", err)
	}
	c.damage = func(data []byte) []byte { return data[:len(data)/2] }
	for name, filters := range pipelines {
		c.filters = filters
		if err := c.dataset(t).Gather(context.Background(), all, none); !errors.Is(err, ErrFormat) {
			t.Errorf("%s, half of the data: error %v, want ErrFormat", name, err)
		}
	}
	for _, filters := range [][]filter{{{id: 4}}, {{id: 32001}}, {{id: 999, name: "own"}}, {{id: filterDeflate}, {id: filterShuffle}}, {{id: filterDeflate}, {id: filterDeflate}},
		{{id: filterShuffle, params: []uint32{3}}}} {
		d := &Dataset{object: d.object, shape: d.shape, typ: d.typ, storage: d.storage, filters: filters}
		d.refuse(d.check(nil))
		if err := d.Gather(context.Background(), all, none); !errors.Is(err, ErrUnsupported) {
			t.Errorf("filters %v: error %v, want ErrUnsupported", filters, err)
		}
	}
}

// TestChecksums changes single bits of stored data: wherever the windows are, it is found, or has no effect, as that of padding.
func TestChecksums(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	whole := Window{Start: []int64{0, 0}, Shape: []int64{20, 20}}
	found := 0
	for _, name := range []string{"shuffle, deflate", "shuffle, deflate, checksum", "checksum, shuffle, deflate", "shuffle, checksum, deflate", "checksum", "checksum, shuffle"} {
		for _, typ := range numberTypes {
			for range 20 {
				c := &chunkFile{shape: whole.Shape, chunk: whole.Shape, typ: typ, filters: pipelines[name]}
				for range 400 {
					c.values = append(c.values, float64(rng.IntN(1+rng.IntN(120))))
				}
				c.damage = func(data []byte) []byte { data[rng.IntN(len(data))] ^= 1 << rng.IntN(8); return data }
				d := c.dataset(t)
				corner := Window{Start: []int64{rng.Int64N(20), 0}, Shape: []int64{1, 1}}
				switch _, err := gatherAll(d, []Window{corner}); {
				case errors.Is(err, ErrFormat):
					found++
				case err != nil:
					t.Errorf("%s of %v: %v", name, typ, err)
				default:
					checkGather(t, d, c.values, []Window{whole})
				}
			}
		}
	}
	t.Logf("%d of %d changes are found", found, 6*20*len(numberTypes))
}

// A brokenDisk fails from a number of reads on.
type brokenDisk struct {
	r    io.ReaderAt
	left atomic.Int64
}

var errDisk = errors.New("disk failure")

// ReadAt implements [io.ReaderAt].
func (r *brokenDisk) ReadAt(p []byte, at int64) (int, error) {
	if r.left.Add(-1) < 0 {
		return 0, errDisk
	}
	return r.r.ReadAt(p, at)
}

// TestReadErrors passes on the errors of a file's reader as they are.
func TestReadErrors(t *testing.T) {
	for name, filters := range pipelines {
		c := &chunkFile{shape: []int64{300, 300}, chunk: []int64{300, 150}, typ: Type{Class: Float, Size: 8}, filters: filters}
		rng := rand.New(rand.NewPCG(17, 18))
		for range 300 * 300 {
			c.values = append(c.values, rng.Float64())
		}
		d := c.dataset(t)
		whole := []Window{{Start: []int64{0, 0}, Shape: c.shape}}
		r := &brokenDisk{r: d.file.src.r}
		d.file.src.r = r
		for n := range int64(100) {
			r.left.Store(n)
			_, err := gatherAll(d, whole)
			if err == nil && n >= 3 {
				break
			}
			if !errors.Is(err, errDisk) || errors.Is(err, ErrFormat) {
				t.Errorf("%s, failure after %d reads: %v, want the reader's error", name, n, err)
				break
			}
		}
	}
}

// hugeChunk returns a dataset of one chunk, whose elements are equal.
func hugeChunk(t testing.TB, rows, columns int64, filters []filter) *Dataset {
	t.Helper()
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, zlib.BestSpeed)
	must(t, err)
	for plane := range 4 {
		for range rows {
			w.Write(bytes.Repeat([]byte{byte(10 * plane)}, int(columns)))
		}
	}
	w.Close()
	d := &Dataset{object: &object{path: "/huge"}, shape: []int64{rows, columns}, maxShape: []int64{rows, columns}, typ: Type{Class: Float, Size: 4}, filters: filters}
	d.file = &File{src: &source{r: bytes.NewReader(b.Bytes()), size: int64(b.Len()), offsetSize: 8, lengthSize: 8}, workers: 2}
	d.storage = storage{class: chunkedLayout, index: singleChunk, indexAddress: 0, elementSize: 4, chunk: []uint64{uint64(rows), uint64(columns)},
		singleFiltered: true, singleSize: uint64(b.Len())}
	return d
}

// TestGatherMemory reads a chunk of 200 MB with some MB of memory, for a few windows as for all of it.
func TestGatherMemory(t *testing.T) {
	const rows, columns = 5000, 10_000
	d := hugeChunk(t, rows, columns, pipelines["shuffle, deflate"])
	want := float64(math.Float32frombits(30<<24 | 20<<16 | 10<<8))
	for _, test := range []struct {
		name    string
		windows []Window
		most    uint64
	}{
		{"corners", []Window{{Start: []int64{0, 0}, Shape: []int64{20, 20}}, {Start: []int64{rows - 20, columns - 20}, Shape: []int64{20, 20}}}, 3 << 20},
		{"whole", []Window{{Start: []int64{0, 0}, Shape: []int64{rows, columns}}}, 24 << 20},
	} {
		samples := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
		metrics.Read(samples)
		before := samples[0].Value.Uint64()
		n, wrong := 0, 0
		err := d.Gather(context.Background(), test.windows, func(_ int, _ Window, values []float64) error {
			n += len(values)
			for _, v := range values {
				if v != want {
					wrong++
				}
			}
			return nil
		})
		if err != nil || wrong > 0 {
			t.Errorf("%s: %d of %d values differ, %v", test.name, wrong, n, err)
		}
		metrics.Read(samples)
		if taken := samples[0].Value.Uint64() - before; taken > test.most {
			t.Errorf("%s: %d KiB allocated, want at most %d", test.name, taken>>10, test.most>>10)
		}
	}
}

// TestZstdWindow refuses windows that take too much memory.
func TestZstdWindow(t *testing.T) {
	w, err := zstd.NewWriter(nil, zstd.WithWindowSize(maxZstdWindow*2), zstd.WithSingleSegment(false))
	must(t, err)
	const size = 5 * maxZstdWindow
	var b bytes.Buffer
	w.Reset(&b)
	for range size >> 20 {
		w.Write(make([]byte, 1<<20))
	}
	w.Close()
	d := hugeChunk(t, 1, 1, pipelines["Zstandard"])
	d.shape, d.maxShape, d.storage.chunk = []int64{size / 4}, []int64{size / 4}, []uint64{size / 4}
	d.storage.singleSize = uint64(b.Len())
	d.file.src.r, d.file.src.size = bytes.NewReader(b.Bytes()), int64(b.Len())
	err = d.Gather(context.Background(), []Window{{Start: []int64{0}, Shape: []int64{1}}}, func(int, Window, []float64) error { return nil })
	if !errors.Is(err, ErrUnsupported) {
		t.Errorf("error %v, want ErrUnsupported", err)
	}
}
