package api

// maxChunk is the size of all chunks but the first: what is left unused of the last one is at most that.
const maxChunk = 1 << 20

// Chunks are what was written to them. A bytes.Buffer would copy everything each time it grows, and hold up to twice as
// much for that.
type chunks struct {
	full [][]byte
	last []byte
	size int
}

// newChunks returns chunks for about size bytes.
func newChunks(size int) *chunks {
	return &chunks{last: make([]byte, 0, min(size, maxChunk))}
}

func (c *chunks) Write(b []byte) (int, error) {
	written := len(b)
	c.size += written
	for len(b) > 0 {
		if len(c.last) == cap(c.last) {
			c.full = append(c.full, c.last)
			c.last = make([]byte, 0, maxChunk)
		}
		n := min(len(b), cap(c.last)-len(c.last))
		c.last = append(c.last, b[:n]...)
		b = b[n:]
	}
	return written, nil
}

// join returns all that was written, in a slice without room behind it, and forgets it.
func (c *chunks) join() []byte {
	joined := make([]byte, 0, c.size)
	for i, chunk := range c.full {
		joined = append(joined, chunk...)
		c.full[i] = nil // its room may serve the next body
	}
	joined = append(joined, c.last...)
	*c = chunks{}
	return joined
}
