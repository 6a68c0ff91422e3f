package blockread

import (
	"cmp"
	"iter"
	"slices"
)

// A Window is a box of elements: its first element and its shape, one number for each dimension.
type Window struct{ Start, Shape []int64 }

// Empty reports whether a window has no values.
func (w *Window) Empty() bool { return slices.Contains(w.Shape, 0) }

// Touched walks over a grid of boxes of a shape, in row-major order, and yields each that a window touches, once: its coordinates in the
// grid, and the windows, by their start along the last dimension. Both are valid until yield returns. It keeps only the windows of the
// current rows, so that a large window of small boxes takes no memory.
func Touched(windows []Window, shape []int64) iter.Seq2[[]uint64, []int] {
	var all []int
	for i := range windows {
		if !windows[i].Empty() {
			all = append(all, i)
		}
	}
	return func(yield func([]uint64, []int) bool) {
		if len(all) > 0 {
			walk := &gridWalk{windows: windows, shape: shape, at: make([]uint64, len(shape)), lists: make([][2][]int, len(shape)), yield: yield}
			walk.dimension(0, all)
		}
	}
}

// A gridWalk is one walk over a grid of boxes.
type gridWalk struct {
	windows []Window
	shape   []int64
	at      []uint64
	lists   [][2][]int // memory for each dimension
	yield   func([]uint64, []int) bool
}

// dimension walks along dimension k with the windows that touch the coordinates of the dimensions before. It reports whether the
// walk goes on.
func (g *gridWalk) dimension(k int, windows []int) bool {
	if k == len(g.shape) {
		return g.yield(g.at, windows)
	}
	size := g.shape[k]
	sorted, touching := append(g.lists[k][0][:0], windows...), g.lists[k][1][:0]
	g.lists[k][0] = sorted
	slices.SortStableFunc(sorted, func(a, b int) int { return cmp.Compare(g.windows[a].Start[k], g.windows[b].Start[k]) })
	var c int64
	for len(sorted) > 0 || len(touching) > 0 {
		if len(touching) == 0 {
			c = g.windows[sorted[0]].Start[k] / size
		}
		for len(sorted) > 0 && g.windows[sorted[0]].Start[k]/size <= c {
			touching = append(touching, sorted[0])
			sorted = sorted[1:]
		}
		g.lists[k][1] = touching
		g.at[k] = uint64(c)
		if !g.dimension(k+1, touching) {
			return false
		}
		c++
		touching = slices.DeleteFunc(touching, func(i int) bool {
			w := &g.windows[i]
			return (w.Start[k]+w.Shape[k]-1)/size < c
		})
	}
	return true
}
