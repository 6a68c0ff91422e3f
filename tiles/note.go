package tiles

import "sync/atomic"

// A Note is room beside a tile in memory for what whoever serves it has made of it, so that it need be made once and not
// at each request. What that is, this package does not know. It is safe for concurrent use.
type Note struct{ value atomic.Value }

// Read returns what was written last, nil if nothing was.
func (n *Note) Read() any { return n.value.Load() }

// Write keeps v, which must be of the same type each time, and some hundred bytes at most: the budget of the memory
// counts every note as that much.
func (n *Note) Write(v any) { n.value.Store(v) }
