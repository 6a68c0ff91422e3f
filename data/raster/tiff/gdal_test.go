//go:build long

package tiff

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"limnomap/data/testsize"
)

// A gdalFile is what GDAL says about a file of testdata/make_tiffs.py.
type gdalFile struct {
	Name                 string
	Width, Height, Bands int
	Masked               bool
	Transform            *[6]float64
	NoData               *string
	Scale, Offset        []float64
	Description, Unit    []string
	Metadata             map[string]string
	EPSG                 int
}

// gdalMatrix lets GDAL write the files of testdata/make_tiffs.py into a new directory.
func gdalMatrix(t *testing.T) (dir string, files []gdalFile) {
	t.Helper()
	const python = "/usr/bin/python3" // that of Debian, which has python3-gdal
	if err := exec.Command(python, "-c", "from osgeo import gdal; import numpy").Run(); err != nil {
		testsize.LeaveOut(t, "python3-gdal and python3-numpy are not installed")
	}
	dir = t.TempDir()
	if out, err := exec.CommandContext(t.Context(), python, "testdata/make_tiffs.py", "matrix", dir).CombinedOutput(); err != nil {
		t.Fatalf("make_tiffs.py: %v\n%s", err, out)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	must(t, err)
	var manifest struct {
		GDAL  string
		Files []gdalFile
	}
	must(t, json.Unmarshal(raw, &manifest))
	t.Logf("GDAL %s", manifest.GDAL)
	return dir, manifest.Files
}

// differing counts values that are not those of a file of float64.
func differing(values []float64, want []byte) int {
	n := 0
	for i, v := range values {
		if !same(v, math.Float64frombits(binary.LittleEndian.Uint64(want[8*i:]))) {
			n++
		}
	}
	return n
}

// TestGDAL compares values and metadata with those that GDAL reads.
func TestGDAL(t *testing.T) {
	dir, files := gdalMatrix(t)
	read, refused := 0, map[string]int{}
	for _, file := range files {
		raw, err := os.ReadFile(filepath.Join(dir, file.Name+".tif"))
		must(t, err)
		f, err := Open(bytes.NewReader(raw), int64(len(raw)), nil)
		if err != nil {
			t.Errorf("%s: %v", file.Name, err)
			continue
		}
		if len(f.Images()) != 1 {
			t.Errorf("%s has %d images, want 1", file.Name, len(f.Images()))
		}
		im := f.Images()[0]
		compareMetadata(t, im, &file)
		if err := im.Err(); err != nil {
			if !errors.Is(err, ErrUnsupported) {
				t.Errorf("%s: %v", file.Name, err)
			}
			reason, _, _ := strings.Cut(err.Error(), ";")
			refused[reason]++
			continue
		}
		want, err := os.ReadFile(filepath.Join(dir, file.Name+".f64"))
		must(t, err)
		if compareValues(t, im, &file, want) {
			read++
		}
	}
	t.Logf("%d files, %d equal", len(files), read)
	total := read
	for _, reason := range slices.Sorted(maps.Keys(refused)) {
		t.Logf("%d refused: %s", refused[reason], reason)
		total += refused[reason]
	}
	if total != len(files) {
		t.Errorf("%d of %d files are wrong", len(files)-total, len(files))
	}
	if len(refused) > 12 {
		t.Errorf("%d reasons to refuse files, want those for compressions and complex numbers only", len(refused))
	}
}

// compareValues compares the bands and the mask with the values that GDAL read.
func compareValues(t *testing.T, im *Image, file *gdalFile, want []byte) (ok bool) {
	t.Helper()
	ok = true
	size := 8 * file.Width * file.Height
	for band := range file.Bands {
		got, err := readWhole(im, band)
		if err != nil {
			t.Errorf("%s: %v", file.Name, err)
			return false
		}
		if n := differing(got, want[band*size:]); n > 0 {
			t.Errorf("%s (%v): %d of %d values of band %d differ", file.Name, im.Type(), n, len(got), band)
			ok = false
		}
	}
	if file.Masked != (im.Mask() != nil) {
		t.Errorf("%s: mask %v, want %v", file.Name, im.Mask() != nil, file.Masked)
		return false
	}
	if !file.Masked {
		return ok
	}
	mask, err := readWhole(im.Mask(), 0)
	if err != nil {
		t.Errorf("mask of %s: %v", file.Name, err)
		return false
	}
	for i, v := range mask {
		if (v != 0) != (math.Float64frombits(binary.LittleEndian.Uint64(want[file.Bands*size+8*i:])) != 0) {
			t.Errorf("%s: pixel %d of the mask is %g", file.Name, i, v)
			return false
		}
	}
	return ok
}

// compareMetadata compares all that is not a value.
func compareMetadata(t *testing.T, im *Image, file *gdalFile) {
	t.Helper()
	if im.Width() != file.Width || im.Height() != file.Height || im.Bands() != file.Bands {
		t.Errorf("%s has %d bands of %d x %d, want %d of %d x %d", file.Name, im.Bands(), im.Width(), im.Height(), file.Bands, file.Width, file.Height)
	}
	transform, ok := im.Transform()
	if ok != (file.Transform != nil) {
		t.Errorf("%s: transform %v, want %v", file.Name, ok, file.Transform != nil)
	} else if ok && transform != *file.Transform {
		t.Errorf("%s: transform %v, want %v", file.Name, transform, *file.Transform)
	}
	noData, ok := im.NoData()
	want, wanted := 0.0, false
	if file.NoData != nil {
		var err error
		if want, err = strconv.ParseFloat(*file.NoData, 64); err != nil {
			t.Fatal(err)
		}
		wanted = im.Type().holds(want) // GDAL returns any number
	}
	if ok != wanted || ok && !same(noData, want) {
		t.Errorf("%s: nodata %v, %v, want %v, %v", file.Name, noData, ok, want, wanted)
	}
	for band := range file.Bands {
		scale, offset := im.Scale(band)
		if scale != file.Scale[band] || offset != file.Offset[band] || im.Description(band) != file.Description[band] || im.Unit(band) != file.Unit[band] {
			t.Errorf("%s: band %d has scale %g, offset %g, description %q, unit %q, want %g, %g, %q, %q", file.Name, band,
				scale, offset, im.Description(band), im.Unit(band), file.Scale[band], file.Offset[band], file.Description[band], file.Unit[band])
		}
	}
	for name, want := range file.Metadata {
		got := im.Metadata()[name]
		if name == "AREA_OR_POINT" || strings.HasPrefix(name, "TIFFTAG_") {
			continue // from the GeoKey, and tags that are not read
		}
		if got != want {
			t.Errorf("%s: %s is %q, want %q", file.Name, name, got, want)
		}
	}
	if file.EPSG != 0 {
		key := ProjectedCSType
		if im.GeoKeys()[GTModelType] == uint16(2) {
			key = GeographicType
		}
		if got := im.GeoKeys()[key]; got != uint16(file.EPSG) {
			t.Errorf("%s: GeoKey %d is %v, want %d", file.Name, key, got, file.EPSG)
		}
	}
}
