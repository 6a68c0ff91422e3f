package hdf5

// A span is a range of elements of a chunk.
type span struct{ start, end int64 }

// A byteOrder says where the bytes of a chunk's elements lie in its decoded data: the shuffle filter puts the first bytes of all
// elements first, then their second bytes, and so on.
type byteOrder struct {
	size     int // of an element
	shuffled bool
	stride   int64 // bytes of a plane of shuffled data
}

// planes returns how many passes through the elements the data have.
func (o *byteOrder) planes() int {
	if o.shuffled {
		return o.size
	}
	return 1
}

// locate returns the range of a plane's bytes that belong to a span.
func (o *byteOrder) locate(plane int, s span) (start, end int64) {
	if o.shuffled {
		base := int64(plane) * o.stride
		return base + s.start, base + s.end
	}
	return s.start * int64(o.size), s.end * int64(o.size)
}
