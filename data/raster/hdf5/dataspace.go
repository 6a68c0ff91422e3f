package hdf5

import "math"

// A dataspace is the shape of a dataset or an attribute.
type dataspace struct {
	shape, maxShape []int64
	elements        int64
}

// dataspace decodes a dataspace message. One without elements (H5S_NULL) has the shape 0.
func (s *source) dataspace(body []byte) (d dataspace, err error) {
	const (
		hasMaximum = 1
		null       = 2
	)
	c := s.decode(body, "dataspace")
	version, rank, flags := c.uint8(), int(c.uint8()), c.uint8()
	kind := uint8(0)
	switch {
	case c.err != nil:
	case version == 1:
		c.skip(5)
	case version == 2:
		kind = c.uint8()
	default:
		return d, unsupported("dataspace of version %d, want 1 or 2", version)
	}
	if c.err == nil && rank > maxRank {
		c.fail("%d dimensions, want at most %d", rank, maxRank)
	}
	if c.err != nil {
		return d, c.err
	}
	if kind == null {
		return dataspace{shape: []int64{0}, maxShape: []int64{0}}, nil
	}
	d.shape, d.maxShape, d.elements = make([]int64, rank), make([]int64, rank), 1
	for i := range d.shape {
		n := c.length()
		if n > math.MaxInt64 || n > 0 && d.elements > math.MaxInt64/int64(n) {
			c.fail("dimension %d of %d elements: more elements than 2^63", i, n)
		}
		if c.err != nil {
			return d, c.err
		}
		d.shape[i], d.maxShape[i] = int64(n), int64(n)
		d.elements *= int64(n)
	}
	for i := range d.maxShape {
		if flags&hasMaximum == 0 {
			break
		}
		switch n := c.length(); {
		case c.err != nil:
			return d, c.err
		case n == math.MaxUint64>>(64-8*s.lengthSize):
			d.maxShape[i] = -1
		case n > math.MaxInt64 || int64(n) < d.shape[i]:
			return d, damaged("dimension %d of %d elements, more than its maximum of %d", i, d.shape[i], n)
		default:
			d.maxShape[i] = int64(n)
		}
	}
	return d, nil
}
