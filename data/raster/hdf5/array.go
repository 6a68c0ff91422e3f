package hdf5

import "io"

// NewArray returns a dataset of numbers that are in a file of another format, of the given size: they lie one after another from an offset
// on, in row-major order. If record is not 0, the first dimension is one of records, each of which begins so many bytes after the one before.
func NewArray(r io.ReaderAt, size int64, t Type, shape []int64, offset, record int64) *Dataset {
	file := &File{src: &source{r: r, size: size}, workers: 1}
	d := &Dataset{object: &object{file: file, path: "array"}, shape: shape, maxShape: shape, typ: t}
	d.storage = storage{class: contiguousLayout, address: uint64(offset)}
	if record > 0 {
		d.storage = storage{class: chunkedLayout, index: implicit, indexAddress: uint64(offset), record: uint64(record), chunk: []uint64{1}}
		for _, n := range shape[1:] {
			d.storage.chunk = append(d.storage.chunk, uint64(n))
		}
	}
	return d
}

// Unwritten returns a dataset of the type of d and of another shape, of which nothing was written: all values are the fill value of d.
func (d *Dataset) Unwritten(shape []int64) *Dataset {
	return &Dataset{object: d.object, shape: shape, maxShape: shape, typ: d.typ, fill: d.fill, storage: storage{class: contiguousLayout, address: undefined}}
}
