package netcdf

import (
	"cmp"
	"container/heap"
	"context"
	"slices"
)

// Bounds of reading a classic file. Values that lie close together are read at once: over HTTP a request costs as much time as some
// hundred KiB.
const (
	maxValues = 1 << 16 // of a part
	maxGap    = 32 << 10
	maxRead   = 1 << 20
	maxParts  = 4096 // of one read
)

// gather reads parts of all windows in the order of the file. A part is a box whose values are contiguous in the file; a heap has the
// next part of each window that has begun.
func (v *classicVariable) gather(ctx context.Context, windows []Window, each func(i int, part Window, values []float64) error) error {
	g := &classicGather{v: v, each: each, part: Window{Start: make([]int64, len(v.shape)), Shape: make([]int64, len(v.shape))}}
	waiting, err := g.order(windows)
	if err != nil {
		return err
	}
	var active cursorHeap
	for len(waiting) > 0 || len(active) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		for len(waiting) > 0 && (len(active) == 0 || v.offset(windows[waiting[0]].Start) <= active[0].offset) {
			i := waiting[0]
			waiting = waiting[1:]
			heap.Push(&active, v.cursor(int(i), windows[i]))
		}
		next := active[0]
		if err := g.add(next); err != nil {
			return err
		}
		if next.advance() {
			heap.Fix(&active, 0)
		} else {
			heap.Pop(&active)
		}
	}
	return g.flush()
}

// offset returns where a value is in the file.
func (v *classicVariable) offset(index []int64) int64 {
	at, size := v.begin, int64(v.typ.size())
	for k := len(index) - 1; k >= 0; k-- {
		if v.record && k == 0 {
			return at + index[0]*v.file.recordSize
		}
		at += index[k] * size
		size *= v.shape[k]
	}
	return at
}

// A cursor goes through a window part by part. A part has all values of the dimensions after step, up to so many of dimension step,
// and one of those before.
type cursor struct {
	window int
	of     Window
	v      *classicVariable
	offset int64   // of the next part
	index  []int64 // of its first value
	step   int
	upTo   int64 // length of parts along dimension step
}

func (v *classicVariable) cursor(i int, w Window) *cursor {
	c := &cursor{window: i, of: w, v: v, index: slices.Clone(w.Start), upTo: 1}
	inner := int64(1)
	for c.step = len(v.shape) - 1; c.step >= 0; c.step-- {
		if v.record && c.step == 0 {
			c.upTo = 1
			break
		}
		c.upTo = max(1, maxValues/inner)
		if c.step == 0 || w.Shape[c.step] < v.shape[c.step] || w.Shape[c.step] > c.upTo {
			break
		}
		inner *= w.Shape[c.step]
	}
	c.offset = v.offset(c.index)
	return c
}

// length returns the length of the next part along dimension step.
func (c *cursor) length() int64 {
	if c.step < 0 {
		return 1
	}
	return min(c.upTo, c.of.Start[c.step]+c.of.Shape[c.step]-c.index[c.step])
}

// advance goes to the next part, and reports whether there is one.
func (c *cursor) advance() bool {
	by := c.length()
	for k := c.step; k >= 0; k-- {
		c.index[k] += by
		if c.index[k] < c.of.Start[k]+c.of.Shape[k] {
			c.offset = c.v.offset(c.index)
			return true
		}
		c.index[k], by = c.of.Start[k], 1
	}
	return false
}

// A cursorHeap has the cursor with the smallest offset first.
type cursorHeap []*cursor

func (h cursorHeap) Len() int           { return len(h) }
func (h cursorHeap) Less(i, j int) bool { return h[i].offset < h[j].offset }
func (h cursorHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *cursorHeap) Push(x any)        { *h = append(*h, x.(*cursor)) }
func (h *cursorHeap) Pop() any {
	last := len(*h) - 1
	c := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return c
}

// A classicGather is one call of gather: it collects parts that are read at once.
type classicGather struct {
	v    *classicVariable
	each func(i int, part Window, values []float64) error

	start, end int64
	pending    []classicPart
	index      []int64 // of the first values of pending parts

	raw    []byte
	values []float64
	part   Window
}

// A classicPart is a part of a window that was not read yet.
type classicPart struct {
	window int
	of     Window
	offset int64
	step   int
	length int64
	count  int64 // of values
}

// order returns the windows that are not empty in the order of the file, after checking that the file has their values.
func (g *classicGather) order(windows []Window) ([]int32, error) {
	waiting := make([]int32, 0, len(windows))
	last := make([]int64, len(g.v.shape))
	for i, w := range windows {
		if slices.Contains(w.Shape, 0) {
			continue
		}
		for k := range last {
			last[k] = w.Start[k] + w.Shape[k] - 1
		}
		if end := g.v.offset(last) + int64(g.v.typ.size()); end > g.v.file.size {
			return nil, damaged("the values of window %d end at offset %d, the file at %d", i, end, g.v.file.size)
		}
		waiting = append(waiting, int32(i))
	}
	slices.SortFunc(waiting, func(a, b int32) int { return cmp.Compare(g.v.offset(windows[a].Start), g.v.offset(windows[b].Start)) })
	return waiting, nil
}

// add reads the pending parts if the next part of c is too far from them, then collects it.
func (g *classicGather) add(c *cursor) error {
	p := classicPart{window: c.window, of: c.of, offset: c.offset, step: c.step, length: c.length(), count: 1}
	if c.step >= 0 {
		p.count = p.length
		for _, n := range c.of.Shape[c.step+1:] {
			p.count *= n
		}
	}
	end := p.offset + p.count*int64(g.v.typ.size())
	if len(g.pending) > 0 && (p.offset > g.end+maxGap || end-g.start > maxRead || len(g.pending) == maxParts) {
		if err := g.flush(); err != nil {
			return err
		}
	}
	if len(g.pending) == 0 {
		g.start, g.end = p.offset, end
	}
	g.end = max(g.end, end)
	g.pending = append(g.pending, p)
	g.index = append(g.index, c.index...)
	return nil
}

// flush reads the pending parts and passes them on.
func (g *classicGather) flush() error {
	if len(g.pending) == 0 {
		return nil
	}
	g.raw = slices.Grow(g.raw[:0], int(g.end-g.start))[:g.end-g.start]
	if err := readFull(g.v.file.r, g.raw, g.start); err != nil {
		return err
	}
	rank := len(g.v.shape)
	for i, p := range g.pending {
		g.values = slices.Grow(g.values[:0], int(p.count))[:p.count]
		g.v.typ.floats(g.values, g.raw[p.offset-g.start:])
		copy(g.part.Start, g.index[i*rank:])
		for k := range rank {
			switch {
			case k < p.step:
				g.part.Shape[k] = 1
			case k == p.step:
				g.part.Shape[k] = p.length
			default:
				g.part.Shape[k] = p.of.Shape[k]
			}
		}
		if err := g.each(p.window, g.part, g.values); err != nil {
			return err
		}
	}
	g.pending, g.index = g.pending[:0], g.index[:0]
	return nil
}
