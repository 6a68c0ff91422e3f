//go:build long

package hdf5

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A jsonNumber is a number of the manifest, or the name of one that JSON does not have.
type jsonNumber float64

func (n *jsonNumber) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	*n = jsonNumber(v)
	return err
}

// An h5pyObject is what h5py says about an object.
type h5pyObject struct {
	Path       string
	Error      string
	Attributes []h5pyAttribute

	Group bool
	Names []string

	Shape, MaxShape, Chunks []int64
	Compact                 bool
	Type                    string
	Fill                    *jsonNumber
	Values                  []jsonNumber
	Large                   bool // values are left out
}

type h5pyAttribute struct {
	Name       string
	Shape      []int64
	Floats     []jsonNumber
	Strings    []string
	References []string
	Refused    bool
}

// An h5pyManifest is what h5py says about files.
type h5pyManifest struct {
	HDF5  string
	Files []struct {
		Name    string
		Objects []h5pyObject
	}
}

func readManifest(t *testing.T, path string) (m h5pyManifest) {
	t.Helper()
	raw, err := os.ReadFile(path)
	must(t, err)
	must(t, json.Unmarshal(raw, &m))
	return m
}

// TestObjects compares all that files have with what h5py says about them.
func TestObjects(t *testing.T) {
	dir := runH5py(t, "make_objects.py")
	manifest := readManifest(t, filepath.Join(dir, "manifest.json"))
	objects, attributes := 0, 0
	for _, file := range manifest.Files {
		t.Run(file.Name, func(t *testing.T) {
			raw, err := os.ReadFile(filepath.Join(dir, file.Name))
			must(t, err)
			f := openBytes(t, raw)
			for _, want := range file.Objects {
				want.check(t, f)
				objects++
				attributes += len(want.Attributes)
			}
		})
	}
	t.Logf("HDF5 %s: %d files, %d objects, %d attributes", manifest.HDF5, len(manifest.Files), objects, attributes)
}

func (want *h5pyObject) check(t *testing.T, f *File) {
	if want.Group {
		g, err := f.Root().Group(want.Path)
		if err != nil {
			t.Error(err)
			return
		}
		if g.Path() != want.Path {
			t.Errorf("path of %s = %s", want.Path, g.Path())
		}
		if names, err := g.Names(); err != nil || !slices.Equal(names, want.Names) {
			t.Errorf("names in %s = %.200q, %v; want %.200q", want.Path, names, err, want.Names)
		}
		want.checkAttributes(t, f, g.object)
		return
	}
	d, err := f.Root().Dataset(want.Path)
	if want.Error != "" {
		if want.Error == "any" && err != nil {
			return
		}
		errs := map[string]error{"not found": ErrNotFound, "unsupported": ErrUnsupported, "damaged": ErrFormat}
		if !errors.Is(err, errs[want.Error]) {
			t.Errorf("%s: %v, want %s", want.Path, err, want.Error)
		}
		return
	}
	if err != nil {
		t.Error(err)
		return
	}
	for what, shapes := range map[string][2][]int64{
		"shape": {d.Shape(), want.Shape}, "maximal shape": {d.MaxShape(), want.MaxShape}, "shape of chunks": {d.ChunkShape(), want.Chunks},
	} {
		if !slices.Equal(shapes[0], shapes[1]) {
			t.Errorf("%s: %s = %v, want %v", want.Path, what, shapes[0], shapes[1])
		}
	}
	if compact := d.storage.class == compactLayout; compact != want.Compact {
		t.Errorf("%s: compact = %v, want %v", want.Path, compact, want.Compact)
	}
	got := regexp.MustCompile("enum of |bitfield of | big-endian").ReplaceAllString(d.Type().String(), "")
	if want.Type != "" && got != want.Type && d.Err() == nil {
		t.Errorf("%s: type = %s, want %s", want.Path, got, want.Type)
	}
	if d.Type().numeric() == nil {
		if has := d.fill != nil; has != (want.Fill != nil) || has && !same(d.typ.converter().One(d.fill), float64(*want.Fill)) {
			t.Errorf("%s: fill value = %v, want %v", want.Path, d.fill, want.Fill)
		}
	}
	want.checkValues(t, d)
	want.checkAttributes(t, f, d.object)
}

func (want *h5pyObject) checkValues(t *testing.T, d *Dataset) {
	if want.Values == nil || d.Err() != nil {
		if d.Err() == nil && want.Type != "" && !want.Large || d.Err() != nil && !errors.Is(d.Err(), ErrUnsupported) {
			t.Errorf("%s: error = %v, want values: %v", want.Path, d.Err(), want.Values != nil)
		}
		if d.Err() != nil {
			t.Logf("%s: %v", want.Path, d.Err())
		}
		return
	}
	got, err := gatherAll(d, []Window{{Start: make([]int64, len(d.Shape())), Shape: d.Shape()}})
	if err != nil {
		t.Errorf("%s: %v", want.Path, err)
		return
	}
	if !slices.EqualFunc(got[0], want.Values, func(a float64, b jsonNumber) bool { return same(a, float64(b)) }) {
		t.Errorf("%s = %v, want %v", want.Path, got[0], want.Values)
	}
}

// same compares numbers. NaN is NaN.
func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

func (want *h5pyObject) checkAttributes(t *testing.T, f *File, o *object) {
	names, err := o.AttributeNames()
	if err != nil || len(names) != len(want.Attributes) {
		t.Errorf("%s has the attributes %.200q, %v, want %d", want.Path, names, err, len(want.Attributes))
		return
	}
	for _, w := range want.Attributes {
		a, err := o.Attribute(w.Name)
		if a == nil || err != nil {
			t.Errorf("%s: attribute %s = %v, %v", want.Path, w.Name, a, err)
			continue
		}
		if err := w.check(f, a, slices.Index(names, w.Name)); err != nil {
			t.Errorf("%s: attribute %s, %v: %v", want.Path, w.Name, a.Type(), err)
		}
	}
	if a, err := o.Attribute("no such attribute"); a != nil || err != nil {
		t.Errorf("%s: an attribute that does not exist = %v, %v", want.Path, a, err)
	}
}

func (want *h5pyAttribute) check(f *File, a *Attribute, index int) error {
	if a.Name != want.Name || index < 0 {
		return fmt.Errorf("name %q at %d of the names", a.Name, index)
	}
	if !slices.Equal(a.Shape(), want.Shape) {
		return fmt.Errorf("shape %v, want %v", a.Shape(), want.Shape)
	}
	numbers, numbersErr := a.Floats()
	texts, textsErr := a.Strings()
	references, referencesErr := a.References()
	switch {
	case want.Refused:
		for _, err := range []error{numbersErr, textsErr, referencesErr} {
			if !errors.Is(err, ErrUnsupported) {
				return fmt.Errorf("error %v, want %v", err, ErrUnsupported)
			}
		}
	case want.Floats != nil:
		if numbersErr != nil || !slices.EqualFunc(numbers, want.Floats, func(a float64, b jsonNumber) bool { return same(a, float64(b)) }) {
			return fmt.Errorf("%v, %v, want %v", numbers, numbersErr, want.Floats)
		}
		return want.checkInts(a)
	case want.Strings != nil:
		if textsErr != nil || !slices.Equal(texts, want.Strings) {
			return fmt.Errorf("%q, %v, want %q", texts, textsErr, want.Strings)
		}
	case want.References != nil:
		for i, path := range want.References {
			o, err := f.Root().resolve(path)
			if referencesErr != nil || err != nil || len(references) != len(want.References) || references[i] != o.address {
				return fmt.Errorf("%d, %v, want the addresses of %q, %v", references, referencesErr, want.References, err)
			}
		}
	}
	return nil
}

// checkInts compares integers that float64 has exactly.
func (want *h5pyAttribute) checkInts(a *Attribute) error {
	inexact := func(v jsonNumber) bool { return math.Abs(float64(v)) > 1<<53 }
	if t := a.Type(); t.Class != Integer && t.Class != Enum || slices.ContainsFunc(want.Floats, inexact) {
		return nil
	}
	ints, err := a.Ints()
	if err != nil || !slices.EqualFunc(ints, want.Floats, func(a int64, b jsonNumber) bool { return float64(a) == float64(b) }) {
		return fmt.Errorf("integers %v, %v, want %v", ints, err, want.Floats)
	}
	return nil
}
