package hdf5

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"
)

// attributesIn adds a block of a header with attributes, and returns the message that continues a header there.
func (w *fileWriter) attributesIn(n int) message {
	var list []message
	for i := range n {
		list = append(list, attributeOf(fmt.Sprintf("a%07d", i), typeOf(String, 0, 60), spaceOf(), bytes.Repeat([]byte("x"), 60)))
	}
	b := checked(append([]byte("OCHK"), messages(list...)...))
	at := binary.LittleEndian.AppendUint64(nil, w.add(b))
	return message{kind: continuationMessage, body: binary.LittleEndian.AppendUint64(at, uint64(len(b)))}
}

func datasetOf(more ...message) []message {
	layout := slices.Concat([]byte{3, 1}, bytes.Repeat([]byte{0xff}, 8), make([]byte, 8))
	return append([]message{{kind: dataspaceMessage, body: spaceOf(1)}, {kind: datatypeMessage, body: int32Type}, {kind: layoutMessage, body: layout}}, more...)
}

// An object with too many attributes is refused: a program that looks each of them up must end soon.
func TestManyAttributes(t *testing.T) {
	for _, n := range []int{maxAttributes, maxAttributes + 1} {
		w := newFileWriter()
		d := w.header(datasetOf(w.attributesIn(n))...)
		f, err := w.open(w.header(group(), linkTo("d", d)))
		must(t, err)
		o, err := f.Root().Dataset("d")
		must(t, err)
		names, err := o.AttributeNames()
		if n > maxAttributes {
			if !errors.Is(err, ErrUnsupported) {
				t.Errorf("%d attributes: %v, want %v", n, err, ErrUnsupported)
			}
			continue
		}
		if err != nil || len(names) != n {
			t.Fatalf("%d attributes: %d names, %v", n, len(names), err)
		}
		for _, name := range names {
			if a, err := o.Attribute(name); a == nil || err != nil || a.Name != name {
				t.Fatalf("attribute %s = %v, %v", name, a, err)
			}
		}
	}
}

// Objects that share a block of a header, or take turns, are read so often only as a file of that size is worth. Values are refused from then
// on, as their attributes are not known.
func TestWorkIsBounded(t *testing.T) {
	for name, shared := range map[string]bool{"shared": true, "in turns": false} {
		t.Run(name, func(t *testing.T) {
			w := newFileWriter()
			links := []message{group()}
			block := w.attributesIn(maxAttributes)
			for i := range 200 {
				if i == 1 && !shared { // a second large object
					block = w.attributesIn(maxAttributes)
				}
				links = append(links, linkTo(fmt.Sprint("d", i), w.header(datasetOf(block)...)))
			}
			root := w.header(links...)
			f, err := w.open(root)
			must(t, err)
			first, err := f.Root().Dataset("d0")
			must(t, err)
			for i := range 10_000 {
				n := i % 200
				if !shared {
					n = i % 2
				}
				var d *Dataset
				if d, err = f.Root().Dataset(fmt.Sprint("d", n)); err == nil {
					_, err = d.Attribute("a0000000")
				}
				if err != nil {
					break
				}
			}
			if !errors.Is(err, ErrUnsupported) {
				t.Errorf("10,000 objects with large headers: %v, want %v", err, ErrUnsupported)
			}
			if done, most := f.headers.work.done.Load(), f.headers.work.most+2*maxHeaderBytes; done > most {
				t.Errorf("%d bytes were decoded, want at most %d", done, most)
			}
			if err := first.Gather(t.Context(), []Window{{Start: []int64{0}, Shape: []int64{1}}}, func(int, Window, []float64) error { return nil }); !errors.Is(err, ErrUnsupported) {
				t.Errorf("values without attributes: %v, want %v", err, ErrUnsupported)
			}
		})
	}
}
