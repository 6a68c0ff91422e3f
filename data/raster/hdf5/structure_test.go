package hdf5

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A fileWriter writes files of version 2 with the objects that a test needs.
type fileWriter struct{ raw []byte }

// newFileWriter leaves room for the superblock.
func newFileWriter() *fileWriter { return &fileWriter{make([]byte, 48)} }

// next is the address of what is added next.
func (w *fileWriter) next() uint64 { return uint64(len(w.raw)) }

func (w *fileWriter) add(b []byte) uint64 {
	at := w.next()
	w.raw = append(w.raw, b...)
	return at
}

// messages encodes messages of an object header.
func messages(list ...message) (b []byte) {
	for _, m := range list {
		b = append(b, m.kind)
		b = binary.LittleEndian.AppendUint16(b, uint16(len(m.body)))
		b = append(append(b, m.flags), m.body...)
	}
	return b
}

// checked appends the checksum.
func checked(b []byte) []byte { return binary.LittleEndian.AppendUint32(b, lookup3(b)) }

// header adds an object header.
func (w *fileWriter) header(list ...message) uint64 {
	body := messages(list...)
	b := binary.LittleEndian.AppendUint32([]byte("OHDR\x02\x02"), uint32(len(body)))
	return w.add(checked(append(b, body...)))
}

// open writes the superblock and opens the file.
func (w *fileWriter) open(root uint64) (*File, error) {
	b := append([]byte(signature), 2, 8, 8, 0)
	for _, address := range []uint64{0, undefined, w.next(), root} {
		b = binary.LittleEndian.AppendUint64(b, address)
	}
	copy(w.raw, checked(b))
	return Open(bytes.NewReader(w.raw), int64(len(w.raw)), nil)
}

// group is a message that makes a group of an object.
func group() message {
	return message{kind: linkInfoMessage, body: slices.Concat([]byte{0, 0}, bytes.Repeat([]byte{0xff}, 16))}
}

// hardLink is a link to an object.
func linkTo(name string, address uint64) message {
	return message{kind: linkMessage, body: binary.LittleEndian.AppendUint64(append([]byte{1, 0, byte(len(name))}, name...), address)}
}

// attributeOf encodes an attribute.
func attributeOf(name string, typ, space, data []byte) message {
	b := []byte{3, 0}
	for _, part := range []int{len(name) + 1, len(typ), len(space)} {
		b = binary.LittleEndian.AppendUint16(b, uint16(part))
	}
	return message{kind: attributeMessage, body: slices.Concat(b, []byte{0}, []byte(name), []byte{0}, typ, space, data)}
}

// spaceOf encodes a shape.
func spaceOf(shape ...uint64) []byte {
	b := []byte{2, byte(len(shape)), 0, 1}
	for _, n := range shape {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

// typeOf encodes a type.
func typeOf(class Class, bits, size uint32, properties ...byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(class)|1<<4|bits<<8)
	return append(binary.LittleEndian.AppendUint32(b, size), properties...)
}

var (
	int32Type = typeOf(Integer, signedBit, 4, 0, 0, 32, 0)
	vlenText  = typeOf(VariableLength, 1, 16, typeOf(String, 0, 1)...)
)

// reference encodes a reference to values of variable length.
func reference(length uint32, address uint64, index uint32) []byte {
	b := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32(nil, length), address)
	return binary.LittleEndian.AppendUint32(b, index)
}

// collection encodes a global heap with one object.
func collection(data []byte) []byte {
	b := binary.LittleEndian.AppendUint64([]byte("GCOL\x01\x00\x00\x00"), uint64(32+len(data)))
	b = append(b, 1, 0, 1, 0, 0, 0, 0, 0)
	return append(binary.LittleEndian.AppendUint64(b, uint64(len(data))), data...)
}

// TestAttributeErrors reads attributes that are damaged, odd or large, between two that are not.
func TestAttributeErrors(t *testing.T) {
	deep := typeOf(String, 0, 1)
	for range maxTypeDepth {
		deep = typeOf(VariableLength, 0, 16, deep...)
	}
	w := newFileWriter()
	heap := w.add(collection(bytes.Repeat([]byte("x"), 60000)))
	long := bytes.Repeat(reference(60000, heap, 1), 3000)
	lists := bytes.Repeat(reference(15000, heap, 1), 3000)
	array := typeOf(Array, 0, 8, slices.Concat([]byte{1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0}, int32Type)...)
	float128 := typeOf(Float, 0x3f20, 16, make([]byte, 12)...)
	listOfInts, uint64Type := typeOf(VariableLength, 0, 16, int32Type...), typeOf(Integer, 0, 8, 0, 0, 64, 0)
	largest := bytes.Repeat([]byte{0xff}, 8)
	for _, test := range []struct {
		name string
		attr message
		want error
		text string
	}{
		{"too short", attributeOf("x", int32Type, spaceOf(4), make([]byte, 12)), ErrFormat, "4 elements of 4 bytes in 12"},
		{"many elements", attributeOf("x", int32Type, spaceOf(1<<21), make([]byte, 12)), ErrUnsupported, "2097152 elements"},
		{"more elements than a number", attributeOf("x", int32Type, spaceOf(1<<40, 1<<40), nil), ErrFormat, "more elements"},
		{"33 dimensions", attributeOf("x", int32Type, spaceOf(slices.Repeat([]uint64{1}, 33)...), make([]byte, 4)), ErrFormat, "33 dimensions"},
		{"type of size 0", attributeOf("x", typeOf(String, 0, 0), spaceOf(), nil), ErrFormat, "0 bytes"},
		{"unknown class", attributeOf("x", typeOf(12, 0, 4), spaceOf(), make([]byte, 4)), ErrUnsupported, "class 12"},
		{"deep type", attributeOf("x", deep, spaceOf(), make([]byte, 16)), ErrUnsupported, "nested"},
		{"array beyond its size", attributeOf("x", array, spaceOf(), make([]byte, 8)), ErrFormat, "array of 8 bytes"},
		{"24-bit numbers", attributeOf("x", typeOf(Integer, 0, 3, 0, 0, 24, 0), spaceOf(), make([]byte, 3)), ErrUnsupported, "3 bytes"},
		{"numbers of 128 bits", attributeOf("x", float128, spaceOf(), make([]byte, 16)), ErrUnsupported, "16 bytes"},
		{"text bomb", attributeOf("x", vlenText, spaceOf(3000), long), ErrUnsupported, "more than 4194304 bytes"},
		{"list bomb", attributeOf("x", listOfInts, spaceOf(3000), lists), ErrUnsupported, "more than 1048576 elements"},
		{"text beyond its heap", attributeOf("x", vlenText, spaceOf(), reference(60001, heap, 1)), ErrFormat, "60000 bytes, want 60001"},
		{"no such object", attributeOf("x", vlenText, spaceOf(), reference(1, heap, 2)), ErrFormat, "object 2"},
		{"no heap", attributeOf("x", vlenText, spaceOf(), reference(1, 3, 1)), ErrFormat, "GCOL"},
		{"heap beyond the file", attributeOf("x", vlenText, spaceOf(), reference(1, 1<<50, 1)), ErrFormat, "address 1125899906842624"},
		{"undefined heap", attributeOf("x", vlenText, spaceOf(), reference(1, undefined, 1)), ErrFormat, "undefined"},
		{"shared type at a wrong address", func() message {
			m := attributeOf("x", []byte{3, 2, 1, 2, 3, 4, 5, 6, 0, 0}, spaceOf(), make([]byte, 4))
			m.body[1] = 1
			return m
		}(), ErrFormat, "address"},
		{"unsigned number beyond int64", attributeOf("x", uint64Type, spaceOf(), largest), ErrUnsupported, "18446744073709551615"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := &fileWriter{bytes.Clone(w.raw)}
			number := attributeOf("first", int32Type, spaceOf(), []byte{0xfe, 0xff, 0xff, 0xff})
			text := attributeOf("last", vlenText, spaceOf(), reference(5, heap, 1))
			f, err := w.open(w.header(group(), number, test.attr, text))
			must(t, err)
			a, err := f.Root().Attribute("x")
			if err == nil {
				var kinds []error
				_, err = a.Floats()
				kinds = append(kinds, err)
				_, err = a.Strings()
				kinds = append(kinds, err)
				_, err = a.Ints()
				kinds = append(kinds, err)
				i := slices.IndexFunc(kinds, func(err error) bool { return errors.Is(err, test.want) && strings.Contains(err.Error(), test.text) })
				err = kinds[max(i, 0)]
			}
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("error %v, want %v with %q", err, test.want, test.text)
			}
			if names, err := f.Root().AttributeNames(); err != nil || !slices.Equal(names, []string{"first", "x", "last"}) {
				t.Errorf("names %q, %v", names, err)
			}
			first, err := f.Root().Attribute("first")
			must(t, err)
			if got, err := first.Ints(); err != nil || !slices.Equal(got, []int64{-2}) {
				t.Errorf("first attribute = %v, %v, want -2", got, err)
			}
			last, err := f.Root().Attribute("last")
			must(t, err)
			if got, err := last.Strings(); err != nil || !slices.Equal(got, []string{"xxxxx"}) {
				t.Errorf("last attribute = %v, %v, want xxxxx", got, err)
			}
		})
	}
}

// TestHeaderErrors opens files whose root header is damaged.
func TestHeaderErrors(t *testing.T) {
	continuation := func(address, length uint64) message {
		return message{kind: continuationMessage, body: binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, address), length)}
	}
	for _, test := range []struct {
		name string
		root func(w *fileWriter) uint64
		want error
		text string
	}{
		{"continuation of itself", func(w *fileWriter) uint64 {
			const length = 4 + 4 + 16 + 4
			block := w.add(checked(append([]byte("OCHK"), messages(continuation(w.next(), length))...)))
			return w.header(group(), continuation(block, length))
		}, ErrFormat, "for all blocks"},
		{"continuation beyond the file", func(w *fileWriter) uint64 { return w.header(group(), continuation(1<<40, 100)) }, ErrFormat, "address"},
		{"large continuation", func(w *fileWriter) uint64 { return w.header(group(), continuation(48, 1<<40)) }, ErrFormat, "for all blocks"},
		{"message beyond the block", func(w *fileWriter) uint64 {
			body := messages(group())
			body[1]++
			return w.add(checked(append([]byte("OHDR\x02\x00\x16"), body...)))
		}, ErrFormat, "ends"},
		{"wrong checksum", func(w *fileWriter) uint64 {
			at := w.header(group())
			w.raw[len(w.raw)-1]++
			return at
		}, ErrFormat, "checksum"},
		{"a message that must be known", func(w *fileWriter) uint64 {
			return w.header(group(), message{kind: 77, flags: mustKnowFlag})
		}, ErrUnsupported, "type 77"},
		{"version 3", func(w *fileWriter) uint64 { return w.add([]byte("OHDR\x03\x00\x00\x00\x00\x00\x00")) }, ErrUnsupported, "version 3"},
		{"no header", func(w *fileWriter) uint64 { return w.add(make([]byte, 100)) }, ErrFormat, "no object header"},
		{"a root dataset", func(w *fileWriter) uint64 {
			return w.header(message{kind: dataspaceMessage, body: spaceOf()})
		}, ErrFormat, "a dataset"},
		{"undefined", func(w *fileWriter) uint64 { return undefined }, ErrFormat, "undefined"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newFileWriter()
			_, err := w.open(test.root(w))
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("error %v, want %v with %q", err, test.want, test.text)
			}
		})
	}
}

// TestOpenErrors opens what is no HDF5 file, and one that is incomplete.
func TestOpenErrors(t *testing.T) {
	raw, err := os.ReadFile("testdata/seed_latest.h5")
	must(t, err)
	shared, err := os.ReadFile("testdata/seed_shared.h5")
	must(t, err)
	for _, test := range []struct {
		name string
		raw  []byte
		want error
		text string
	}{
		{"empty", nil, ErrFormat, "0 bytes"},
		{"short", []byte("HDF"), ErrFormat, `"HDF"`},
		{"TIFF", bytes.Repeat([]byte("II*\x00"), 1000), ErrFormat, "without the signature"},
		{"only the signature", []byte(signature), ErrFormat, "ends"},
		{"incomplete", raw[:len(raw)-1], ErrFormat, "incomplete"},
		{"shared messages", shared, ErrUnsupported, "share messages in a heap"},
		{"version 4", append([]byte(signature), 4), ErrUnsupported, "version 4"},
		{"addresses of 5 bytes", append([]byte(signature), bytes.Repeat([]byte{2, 5}, 50)...), ErrUnsupported, "5"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Open(bytes.NewReader(test.raw), int64(len(test.raw)), nil)
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("error %v, want %v with %q", err, test.want, test.text)
			}
		})
	}
}

// TestGroupCycles reads groups of the old kind whose tree has a cycle, or a node with two parents.
func TestGroupCycles(t *testing.T) {
	raw, err := os.ReadFile("testdata/seed_earliest.h5")
	must(t, err)
	// The tree of the root group is the first one. Its first child follows the head of 24 bytes and a key of 8.
	tree := bytes.Index(raw, []byte("TREE"))
	child := tree + 24 + 8
	for _, test := range []struct {
		name   string
		damage func(raw []byte)
	}{
		{"a node of itself", func(raw []byte) { binary.LittleEndian.PutUint64(raw[child:], uint64(tree)); raw[tree+5] = 1 }},
		{"twice the same child", func(raw []byte) { copy(raw[child+16:], raw[child:child+8]); raw[tree+6] = 2 }},
		{"a tree of level 255", func(raw []byte) { raw[tree+5] = 255 }},
		{"a tree of chunks", func(raw []byte) { raw[tree+4] = 1 }},
		{"no node", func(raw []byte) { binary.LittleEndian.PutUint64(raw[child:], 0) }},
		{"many entries", func(raw []byte) { raw[tree+6], raw[tree+7] = 0xff, 0xff }},
	} {
		t.Run(test.name, func(t *testing.T) {
			raw := bytes.Clone(raw)
			test.damage(raw)
			if names, err := openBytes(t, raw).Root().Names(); !errors.Is(err, ErrFormat) {
				t.Errorf("names %q, %v, want %v", names, err, ErrFormat)
			}
		})
	}
}

// TestGroups that contain each other: paths lead through them as long as they are not too long.
func TestGroups(t *testing.T) {
	w := newFileWriter()
	root := w.next()
	w.header(group(), linkTo("self", root), linkTo("long", root))
	f, err := w.open(root)
	must(t, err)
	g, err := f.Root().Group("self/long/../x")
	if !errors.Is(err, ErrNotFound) {
		t.Errorf("a path with .. = %v, %v", g, err)
	}
	g, err = f.Root().Group("/self//long/./self/")
	if err != nil || g.Path() != "/self/long/self" || g.Address() != f.Root().Address() {
		t.Errorf("group %v, %v", g, err)
	}
	if _, err := f.Root().Group(strings.Repeat("self/", 1000)); !errors.Is(err, ErrUnsupported) {
		t.Errorf("error %v of a long path", err)
	}
}

// TestLayouts decodes versions 1 and 2 of the message, which the HDF5 library does not write any more.
func TestLayouts(t *testing.T) {
	s := &source{offsetSize: 8, lengthSize: 8}
	head := func(version, rank, class byte) []byte { return []byte{version, rank, class, 0, 0, 0, 0, 0} }
	numbers := func(list ...uint32) (b []byte) {
		for _, n := range list {
			b = binary.LittleEndian.AppendUint32(b, n)
		}
		return b
	}
	address := binary.LittleEndian.AppendUint64(nil, 4096)
	for _, test := range []struct {
		name string
		body []byte
		want storage
	}{
		{"contiguous", slices.Concat(head(1, 2, 1), address, numbers(3, 4)), storage{class: contiguousLayout, address: 4096}},
		{"chunked", slices.Concat(head(2, 3, 2), address, numbers(5, 6, 4)),
			storage{class: chunkedLayout, indexAddress: 4096, chunk: []uint64{5, 6}, elementSize: 4}},
		{"compact", slices.Concat(head(2, 1, 0), numbers(2, 8), make([]byte, 8)), storage{address: 16, size: 8}},
	} {
		got, err := s.layout(test.body)
		if err != nil || got.class != test.want.class || got.address != test.want.address || got.size != test.want.size ||
			got.indexAddress != test.want.indexAddress || !slices.Equal(got.chunk, test.want.chunk) || got.elementSize != test.want.elementSize {
			t.Errorf("%s: %+v, %v, want %+v", test.name, got, err, test.want)
		}
		for n := range len(test.body) {
			if _, err := s.layout(test.body[:n]); err == nil && test.name != "contiguous" {
				t.Errorf("%s: no error for %d of %d bytes", test.name, n, len(test.body))
			}
		}
	}
}

// TestConcurrent reads objects and values on several goroutines, which share a file.
func TestConcurrent(t *testing.T) {
	raw, err := os.ReadFile("testdata/seed_latest.h5")
	must(t, err)
	f := openBytes(t, raw)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			d, err := f.Root().Dataset("group/chunks")
			if err != nil {
				t.Error(err)
				return
			}
			a, err := d.Attribute("a7")
			if a == nil || err != nil {
				t.Errorf("attribute = %v, %v", a, err)
				return
			}
			if got, err := a.Floats(); err != nil || !slices.Equal(got, []float64{7}) {
				t.Errorf("attribute = %v, %v", got, err)
			}
			want := []float64{1, 2, 11, 12}
			got, err := gatherAll(d, []Window{{Start: []int64{0, 1}, Shape: []int64{2, 2}}})
			if err != nil || !slices.Equal(got[0], want) {
				t.Errorf("values = %v, %v", got, err)
			}
		})
	}
	wait.Wait()
}

// failingReader fails beyond a number of bytes.
type failingReader struct {
	raw   []byte
	limit int
}

var errReader = errors.New("connection reset")

func (r *failingReader) ReadAt(p []byte, at int64) (int, error) {
	if r.limit -= len(p); r.limit < 0 {
		return 0, errReader
	}
	return bytes.NewReader(r.raw).ReadAt(p, at)
}

// TestReaderErrors passes errors of the reader on, and reads the same objects again when it works again.
func TestReaderErrors(t *testing.T) {
	for _, s := range sampleFiles(t) {
		r := &failingReader{s.raw, math.MaxInt}
		f, err := Open(r, int64(len(s.raw)), nil)
		if errors.Is(err, ErrUnsupported) {
			continue
		}
		must(t, err)
		calls := map[string]func() error{
			"names":      func() error { _, err := f.Root().Names(); return err },
			"attributes": func() error { _, err := f.Root().AttributeNames(); return err },
		}
		for name, call := range calls {
			r.limit = math.MaxInt
			want := call()
			w := f.headers.work
			f.headers, f.links, f.attributes = memo[header]{work: w}, memo[*linkSet]{work: w}, memo[objectAttributes]{work: w}
			r.limit = 0
			if err := call(); !errors.Is(err, errReader) {
				t.Errorf("%s: %s: error %v, want that of the reader", s.name, name, err)
			}
			r.limit = math.MaxInt
			if got := call(); (got == nil) != (want == nil) {
				t.Errorf("%s: %s: error %v when the reader works again, want %v", s.name, name, got, want)
			}
		}
	}
}
