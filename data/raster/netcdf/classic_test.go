package netcdf

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestStream reads files whose number of records says that they were written as a stream: it follows from their size.
func TestStream(t *testing.T) {
	for name, size := range map[string]int{"netcdf3_classic": 4, "netcdf3_64bit_offset": 4, "netcdf3_64bit_data": 8} {
		raw, err := os.ReadFile("testdata/seed_" + name + ".nc")
		if err != nil {
			t.Fatal(err)
		}
		want, err := Open(bytes.NewReader(raw), int64(len(raw)), nil)
		if err != nil {
			t.Fatal(err)
		}
		copy(raw[4:4+size], strings.Repeat("\xff", size))
		got, err := Open(bytes.NewReader(raw), int64(len(raw)), nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got.Variables() {
			if !slices.Equal(v.Dimensions(), want.Variables()[i].Dimensions()) {
				t.Errorf("%s, %s has dimensions %v, want %v", name, v.Name(), v.Dimensions(), want.Variables()[i].Dimensions())
			}
		}
	}
}

// TestHeader opens classic files whose headers are damaged.
func TestHeader(t *testing.T) {
	number := func(numbers ...uint32) (raw []byte) {
		for _, n := range numbers {
			raw = binary.BigEndian.AppendUint32(raw, n)
		}
		return raw
	}
	const maxUint32 = 1<<32 - 1
	start := slices.Concat([]byte("CDF\x01"), number(0))
	dimension := func(length uint32) []byte { return slices.Concat(number(1), []byte("d\x00\x00\x00"), number(length)) }
	variable := func(rank ...uint32) []byte {
		return slices.Concat(number(1), []byte("v\x00\x00\x00"), number(rank...), number(0, 0, uint32(classicInt), 4, 0))
	}
	none := number(0, 0)
	for _, test := range []struct {
		name string
		raw  []byte
		want error
		text string
	}{
		{"nothing", nil, ErrFormat, "empty"},
		{"only the magic number", []byte("CDF\x01"), ErrFormat, "offset 4"},
		{"version 3", slices.Concat([]byte("CDF\x03"), number(0), none, none, none), ErrFormat, "version 3"},
		{"empty", slices.Concat(start, none, none, none), nil, ""},
		{"records", slices.Concat([]byte("CDF\x01"), number(maxUint32-1), none, none, none), ErrFormat, "records"},
		{"many dimensions", slices.Concat(start, number(tagDimension, 1<<30), none, none, none), ErrFormat, "dimensions"},
		{"negative dimensions", slices.Concat(start, number(tagDimension, maxUint32), none, none), ErrFormat, "negative"},
		{"another tag", slices.Concat(start, number(tagVariable, 1), dimension(3), none, none), ErrFormat, "tag 11"},
		{"a long name", slices.Concat(start, number(tagDimension, 1, 1<<30), []byte("d\x00\x00\x00"), none, none), ErrFormat, "bytes"},
		{"a negative length", slices.Concat(start, number(tagDimension, 1), dimension(maxUint32), none, none), ErrFormat, "negative"},
		{"two record dimensions", slices.Concat(start, number(tagDimension, 2), dimension(0), dimension(0), none, none), ErrFormat, "two record"},
		{"the record dimension last", slices.Concat(start, number(tagDimension, 2), dimension(3), dimension(0), none, number(tagVariable, 1), variable(2, 0, 1)),
			ErrFormat, "record"},
		{"an unknown dimension", slices.Concat(start, number(tagDimension, 1), dimension(3), none, number(tagVariable, 1), variable(1, 7)), ErrFormat, "number 7"},
		{"too many dimensions of a variable", slices.Concat(start, number(tagDimension, 1), dimension(3), none, number(tagVariable, 1), variable(5000, 0)),
			ErrUnsupported, "5000"},
		{"a variable of 2^93 bytes", slices.Concat(start, number(tagDimension, 1), dimension(1<<31-1), none, number(tagVariable, 1), variable(3, 0, 0, 0)),
			ErrFormat, "2^61"},
		{"an attribute of type 7", slices.Concat(start, none, number(tagAttribute, 1, 1), []byte("a\x00\x00\x00"), number(7, 1, 0), none), ErrFormat, "type 7"},
		{"an attribute of many values", slices.Concat(start, none, number(tagAttribute, 1, 1), []byte("a\x00\x00\x00"), number(6, 1<<30, 0), none), ErrFormat, "values"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Open(bytes.NewReader(test.raw), int64(len(test.raw)), nil)
			if !errors.Is(err, test.want) || err != nil && !strings.Contains(err.Error(), test.text) {
				t.Errorf("error %v, want %v with %q", err, test.want, test.text)
			}
		})
	}
}

// TestLargeHeader reads a header that does not fit into the first read, and refuses one beyond the limit.
func TestLargeHeader(t *testing.T) {
	c := &classicWriter{version: 2, dimensions: []Dimension{{"n", 3}}, variables: []testVariable{{"v", []int{0}, nil, []int16{1, 2, 3}}}}
	c.attributes = []testAttribute{{"history", strings.Repeat("x", 300000)}, {"numbers", make([]float64, 70000)}, {"last", []int32{7}}}
	f := c.open(t)
	if got := f.Text("history"); len(got) != 300000 {
		t.Errorf("history has %d bytes", len(got))
	}
	if got := f.Numbers("numbers"); got != nil {
		t.Errorf("an attribute of %d numbers is read, at most %d are", len(got), maxNumbers)
	}
	if last, ok := f.Number("last"); !ok || last != 7 {
		t.Errorf("Number(last) = %g, %v", last, ok)
	}
	values, err := read(f.Variables()[0], Window{Start: []int64{0}, Shape: []int64{3}})
	if err != nil || !slices.Equal(values[0], []float64{1, 2, 3}) {
		t.Errorf("values %v, %v", values, err)
	}
	c.attributes[0].value = strings.Repeat("x", maxHeader)
	raw := c.bytes()
	if _, err := Open(bytes.NewReader(raw), int64(len(raw)), nil); !errors.Is(err, ErrUnsupported) {
		t.Errorf("a header of %d bytes: %v, want ErrUnsupported", len(raw), err)
	}
}

func TestOtherFormats(t *testing.T) {
	for magic, text := range map[string]string{"GRIB0000": "GRIB", "II*\x000000": "TIFF", "\x0e\x03\x13\x010000": "HDF4", "\x1f\x8b000000": "gzip",
		"<html>..": "HTML", "nothing known at all": "", "C": "", "\x89HDF\r\n\x1a\n": ""} {
		_, err := Open(strings.NewReader(magic), int64(len(magic)), nil)
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: error %v, want ErrFormat with %q", magic, err, text)
		}
	}
	failure := errors.New("network")
	if _, err := Open(failingReader{failure}, 1000, nil); !errors.Is(err, failure) {
		t.Errorf("error %v, want that of the reader", err)
	}
}

// A failingReader returns its error.
type failingReader struct{ err error }

func (r failingReader) ReadAt([]byte, int64) (int, error) { return 0, r.err }

func TestAttributes(t *testing.T) {
	v := variable(t, []int16{1}, testAttribute{"text", "a\x00"}, testAttribute{"latin1", "5 \xb5g"}, testAttribute{"number", " 2.5 "},
		testAttribute{"list", []float64{1, 0.25}}, testAttribute{"empty", ""})
	for name, want := range map[string]string{"text": "a", "latin1": "5 µg", "list": "1 0.25", "empty": "", "none": ""} {
		if got := v.Text(name); got != want {
			t.Errorf("Text(%s) = %q, want %q", name, got, want)
		}
	}
	if number, ok := v.Number("number"); !ok || number != 2.5 {
		t.Errorf("Number(number) = %g, %v", number, ok)
	}
	for _, name := range []string{"text", "empty", "none"} {
		if number, ok := v.Number(name); ok {
			t.Errorf("Number(%s) = %g", name, number)
		}
	}
	if names := v.AttributeNames(); len(names) != 5 || names[0] != "text" {
		t.Errorf("AttributeNames() = %v", names)
	}
}

// TestGroups looks up variables of groups.
func TestGroups(t *testing.T) {
	f := open(t, "testdata/seed_groups.nc")
	v, ok := f.Variable("/geo/deeper/innermost")
	if !ok || v.Name() != "geo/deeper/innermost" {
		t.Fatal("no variable geo/deeper/innermost")
	}
	if want := []Dimension{{"time", 3}, {"geo/lat", 4}}; !slices.Equal(v.Dimensions(), want) {
		t.Errorf("dimensions %v, want %v", v.Dimensions(), want)
	}
	for name, want := range map[string]string{"inner": "geo/inner", "outer": "outer", "/lat": "lat", "innermost": "geo/deeper/innermost"} {
		if found, ok := v.lookup(name); !ok || found.Name() != want {
			t.Errorf("lookup(%s) = %v, want %s", name, found, want)
		}
	}
	if _, err := v.Times(context.Background()); err != nil {
		t.Error(err)
	}
}
