package tiff

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// TestMain also checks that no goroutine of a test outlives it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A countingReader counts reads and bytes, and how often each byte is read.
type countingReader struct {
	raw []byte
	err error // of all reads, if not nil

	mu    sync.Mutex // guards what follows
	reads int
	bytes int64
	times []uint8
}

func (r *countingReader) ReadAt(p []byte, at int64) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return 0, r.err
	}
	if r.times == nil {
		r.times = make([]uint8, len(r.raw))
	}
	r.reads++
	r.bytes += int64(len(p))
	for i := range p {
		if k := at + int64(i); k < int64(len(r.raw)) {
			r.times[k]++
		}
	}
	return bytes.NewReader(r.raw).ReadAt(p, at)
}

// reset forgets what was read.
func (r *countingReader) reset() { r.reads, r.bytes, r.times = 0, 0, nil }

// A testImage is an image of uint16 in which a pixel's value follows from its position.
type testImage struct {
	raw           []byte
	width, height int
	dataEnd       int // where the segments end in the file
}

func testValue(x, y, band int) uint16 { return uint16(x*31 ^ y*57 + band*1000) }

// newTestImage writes an image of tiles, or of strips if tileWidth is 0, with some more fields.
func newTestImage(width, height, tileWidth, tileHeight, bands int, planes bool, e encoding, more ...field) *testImage {
	w := newFileWriter(binary.LittleEndian, true)
	tiled := tileWidth > 0
	if !tiled {
		tileWidth = width
	}
	across, down, planeCount, samples := (width-1)/tileWidth+1, (height-1)/tileHeight+1, 1, bands
	if planes {
		planeCount, samples = bands, 1
	}
	var offsets, counts []uint64
	for plane := range planeCount {
		for i := range across * down {
			x0, y0 := i%across*tileWidth, i/across*tileHeight
			rows := tileHeight
			if !tiled {
				rows = min(tileHeight, height-y0)
			}
			var segment []byte
			for y := y0; y < y0+rows; y++ {
				for x := x0; x < x0+tileWidth; x++ {
					for s := range samples {
						segment = binary.LittleEndian.AppendUint16(segment, testValue(x, y, plane+s))
					}
				}
			}
			segment = e.encode(segment)
			offsets = append(offsets, uint64(len(w.buf)))
			counts = append(counts, uint64(len(segment)))
			w.data(segment)
		}
	}
	end := len(w.buf)
	planar := map[bool]uint16{false: 1, true: 2}[planes]
	fields := []field{
		{tagWidth, []uint32{uint32(width)}}, {tagHeight, []uint32{uint32(height)}}, {tagBitsPerSample, []uint16{16}},
		{tagSamplesPerPixel, []uint16{uint16(bands)}}, {tagCompression, []uint16{uint16(e.compression)}}, {tagPlanarConfig, []uint16{planar}},
	}
	if tiled {
		fields = append(fields, field{tagTileWidth, []uint32{uint32(tileWidth)}}, field{tagTileHeight, []uint32{uint32(tileHeight)}},
			field{tagTileOffsets, offsets}, field{tagTileByteCounts, counts})
	} else {
		fields = append(fields, field{tagRowsPerStrip, []uint32{uint32(tileHeight)}}, field{tagStripOffsets, offsets}, field{tagStripByteCounts, counts})
	}
	w.directory(append(fields, more...)...)
	return &testImage{w.buf, width, height, end}
}

// randomWindows returns windows of all sizes, some empty, some equal, some of the whole image.
func randomWindows(rng *rand.Rand, width, height int) []image.Rectangle {
	var windows []image.Rectangle
	for range rng.IntN(30) {
		x, y := rng.IntN(width), rng.IntN(height)
		w := image.Rect(x, y, x+1+rng.IntN(width-x), y+1+rng.IntN(height-y))
		if rng.IntN(2) == 0 {
			w = w.Intersect(image.Rect(x, y, x+5, y+5))
		}
		windows = append(windows, w)
	}
	return append(windows, image.Rect(3, 3, 3, 3), image.Rect(0, 0, width, height), image.Rect(width-1, height-1, width, height))
}

// TestGather: the parts of each window are disjoint, cover it, and have the values of their pixels; no byte is read twice.
func TestGather(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, e := range encodings(t) {
		for _, shape := range [][3]int{{0, 1, 1}, {0, 7, 3}, {0, 200, 2}, {16, 16, 1}, {32, 16, 3}, {256, 128, 1}} {
			for _, planes := range []bool{false, true} {
				bands := shape[2]
				if planes && bands == 1 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%d x %d/%d bands, planes %v", e.name, shape[0], shape[1], bands, planes), func(t *testing.T) {
					file := newTestImage(83, 61, shape[0], shape[1], bands, planes, e)
					r := &countingReader{raw: file.raw}
					f, err := Open(r, int64(len(file.raw)), &Options{Workers: 1 + rng.IntN(4)})
					must(t, err)
					for band := range bands {
						checkGather(t, f.Images()[0], band, randomWindows(rng, file.width, file.height))
					}
					r.reset()
					checkGather(t, f.Images()[0], bands-1, randomWindows(rng, file.width, file.height))
					for at, times := range r.times[16:file.dataEnd] {
						if times > 1 {
							t.Fatalf("byte %d is read %d times", 16+at, times)
						}
					}
				})
			}
		}
	}
}

// checkGather compares the values of windows of a testImage.
func checkGather(t *testing.T, im *Image, band int, windows []image.Rectangle) {
	t.Helper()
	seen := make([]map[image.Point]bool, len(windows))
	for i := range seen {
		seen[i] = map[image.Point]bool{}
	}
	err := im.Gather(t.Context(), band, windows, func(i int, part image.Rectangle, values []float64) error {
		if part.Empty() || !part.In(windows[i]) || len(values) != part.Dx()*part.Dy() || len(values) > maxValues {
			return fmt.Errorf("part %v of window %v with %d values", part, windows[i], len(values))
		}
		for k, v := range values {
			p := image.Pt(part.Min.X+k%part.Dx(), part.Min.Y+k/part.Dx())
			if seen[i][p] {
				return fmt.Errorf("pixel %v of window %v comes twice", p, windows[i])
			}
			seen[i][p] = true
			if want := float64(testValue(p.X, p.Y, band)); v != want {
				return fmt.Errorf("pixel %v is %g, want %g", p, v, want)
			}
		}
		return nil
	})
	must(t, err)
	for i, w := range windows {
		if len(seen[i]) != w.Dx()*w.Dy() {
			t.Errorf("%d pixels of window %v", len(seen[i]), w)
		}
	}
}

// TestLargeStrips: a strip that is too large to be held is decoded as a stream, no further than to the last row needed.
func TestLargeStrips(t *testing.T) {
	for _, e := range encodings(t) {
		t.Run(e.name, func(t *testing.T) {
			file := newTestImage(2100, 1100, 0, 2000, 1, false, e)
			r := &countingReader{raw: file.raw}
			f, err := Open(r, int64(len(file.raw)), nil)
			must(t, err)
			im := f.Images()[0]
			if im.streams() != (e.compression != compressionNone) {
				t.Fatalf("streams: %v", im.streams())
			}
			windows := []image.Rectangle{image.Rect(0, 0, 3, 3), image.Rect(100, 40, 120, 60), image.Rect(0, 60, 2100, 61)}
			r.reset()
			checkGather(t, im, 0, windows)
			if r.bytes > int64(len(file.raw))/3 {
				t.Errorf("%d bytes read for the first rows of a file of %d", r.bytes, len(file.raw))
			}
			checkGather(t, im, 0, append(windows, image.Rect(2000, 1050, 2100, 1100)))
		})
	}
}

// TestWideRows: parts have at most 65,536 values, also where a row has more.
func TestWideRows(t *testing.T) {
	file := newTestImage(70_000, 3, 0, 3, 1, false, encoding{"LZW", compressionLZW, encodeLZW})
	checkGather(t, open(t, file.raw).Images()[0], 0, []image.Rectangle{image.Rect(0, 0, 70_000, 3), image.Rect(69_000, 1, 70_000, 2)})
}

// TestFewReads: neighbouring tiles are read together, and of many tiles only those of the windows.
func TestFewReads(t *testing.T) {
	file := newTestImage(2000, 2000, 16, 16, 1, false, encoding{"none", compressionNone, bytes.Clone})
	r := &countingReader{raw: file.raw}
	f, err := Open(r, int64(len(file.raw)), nil)
	must(t, err)
	if r.reads > 4 || r.bytes > 64<<10 {
		t.Errorf("Open reads %d times, %d bytes", r.reads, r.bytes)
	}
	r.reset()
	checkGather(t, f.Images()[0], 0, []image.Rectangle{image.Rect(0, 0, 600, 16), image.Rect(1900, 1900, 1950, 1910)})
	// 15,625 tiles have 4 blocks of offsets and 4 of byte counts; the windows need the first and the last of each. Tiles of
	// three rows are read, one range each.
	if r.reads > 4+3 || r.bytes > 200<<10 {
		t.Errorf("Gather reads %d times, %d bytes of %d", r.reads, r.bytes, len(file.raw))
	}
}

func TestGatherErrors(t *testing.T) {
	file := newTestImage(40, 30, 16, 16, 1, false, encoding{"LZW", compressionLZW, encodeLZW})
	r := &countingReader{raw: file.raw}
	f, err := Open(r, int64(len(file.raw)), nil)
	must(t, err)
	im := f.Images()[0]
	all := []image.Rectangle{image.Rect(0, 0, 40, 30)}
	nothing := func(int, image.Rectangle, []float64) error { return nil }

	var beyond *WindowError
	err = im.Gather(t.Context(), 0, []image.Rectangle{all[0], image.Rect(0, 0, 41, 1)}, nothing)
	if !errors.As(err, &beyond) || beyond.Index != 1 {
		t.Errorf("a window beyond the image: error %v", err)
	}
	for _, band := range []int{-1, 1} {
		if err := im.Gather(t.Context(), band, all, nothing); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("band %d of an image with 1", band)) {
			t.Errorf("band %d: error %v", band, err)
		}
	}
	stop := errors.New("stop")
	calls := 0
	err = im.Gather(t.Context(), 0, all, func(int, image.Rectangle, []float64) error { calls++; return stop })
	if err != stop || calls != 1 {
		t.Errorf("error %v after %d calls, want that of the first call as it is", err, calls)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = im.Gather(ctx, 0, all, func(int, image.Rectangle, []float64) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after cancel", err)
	}
	r.err = errors.New("connection lost")
	for _, im := range []*Image{im, streamed(t, r)} {
		if err := im.Gather(t.Context(), 0, []image.Rectangle{image.Rect(0, 0, 1, 1)}, nothing); !errors.Is(err, r.err) || errors.Is(err, ErrFormat) {
			t.Errorf("error %v, want that of the reader", err)
		}
	}
}

// streamed returns an image that is read as a stream, whose reader fails as another.
func streamed(t *testing.T, fails *countingReader) *Image {
	file := newTestImage(2100, 1100, 0, 1100, 1, false, encoding{"LZW", compressionLZW, encodeLZW})
	r := &countingReader{raw: file.raw}
	f, err := Open(r, int64(len(file.raw)), nil)
	must(t, err)
	im := f.Images()[0]
	if _, err := im.offsets.at(0); err != nil { // so that the stream fails, and not the offsets
		t.Fatal(err)
	}
	if _, err := im.counts.at(0); err != nil {
		t.Fatal(err)
	}
	r.err = fails.err
	return im
}

// TestTruncatedFile: a file that is shorter than the given size is an error of reading.
func TestTruncatedFile(t *testing.T) {
	file := newTestImage(40, 30, 16, 16, 1, false, encoding{"none", compressionNone, bytes.Clone})
	for _, n := range []int{4, 100, len(file.raw) - 1} {
		if _, err := Open(bytes.NewReader(file.raw[:n]), int64(len(file.raw)), nil); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes: error %v, want an unexpected end", n, err)
		}
	}
}

// TestConcurrentGather reads an image on several goroutines at once.
func TestConcurrentGather(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("testdata", "deflate_tiles_p3.tif"))
	must(t, err)
	im := open(t, raw).Images()[0]
	want, err := readWhole(im, 0)
	must(t, err)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() { wantValues(t, im, 0, want) })
	}
	group.Wait()
}

// TestMemory: an image of one strip of 128 MiB takes a few MiB.
func TestMemory(t *testing.T) {
	const width, height = 8192, 8192
	w := newFileWriter(binary.LittleEndian, false)
	strip := encodeZlib(t, make([]byte, 2*width*height), 1)
	w.directory(with(grayFields(width, height, 16, 1, w.data(strip), uint32(len(strip))), field{tagCompression, []uint16{8}})...)
	strip = nil
	im := open(t, w.buf).Images()[0]
	allocated := allocatedBytes(func() {
		n := 0
		err := im.Gather(t.Context(), 0, []image.Rectangle{image.Rect(0, 0, width, height)}, func(_ int, _ image.Rectangle, values []float64) error {
			n += len(values)
			return nil
		})
		if err != nil || n != width*height {
			t.Errorf("%d values, error %v", n, err)
		}
	})
	if allocated > 8<<20 {
		t.Errorf("%d bytes allocated", allocated)
	}
}

// allocatedBytes returns the bytes that f and concurrent goroutines allocate, freed ones included.
func allocatedBytes(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
