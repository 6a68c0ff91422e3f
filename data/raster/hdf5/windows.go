package hdf5

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
)

// A WindowError says that a window of Gather is not within the dataset.
type WindowError struct {
	Index  int // of the window
	Window Window
	Shape  []int64 // of the dataset
}

func (e *WindowError) Error() string {
	return fmt.Sprintf("window %d, from %v with the shape %v, is not within the dataset, %v", e.Index, e.Window.Start, e.Window.Shape, e.Shape)
}

// checkWindows refuses windows beyond a dataset.
func checkWindows(windows []Window, shape []int64) error {
	for i, w := range windows {
		ok := len(w.Start) == len(shape) && len(w.Shape) == len(shape)
		for k := 0; ok && k < len(shape); k++ {
			ok = w.Start[k] >= 0 && w.Shape[k] >= 0 && w.Start[k] <= shape[k] && w.Shape[k] <= shape[k]-w.Start[k]
		}
		if !ok {
			return &WindowError{Index: i, Window: w, Shape: shape}
		}
	}
	return nil
}

// empty reports whether a window has no values.
func (w *Window) empty() bool { return slices.Contains(w.Shape, 0) }

// A chunkJob is one chunk with the windows that touch it.
type chunkJob struct {
	at      []uint64 // coordinates in the grid of chunks
	windows []int
	ref     chunkRef
}

// chunkJobs yields each chunk that a window touches, once, in row-major order of the grid of chunks. It keeps only the windows of the
// current rows, so that a large window of small chunks takes no memory.
func chunkJobs(windows []Window, chunk []int64) iter.Seq[chunkJob] {
	var all []int
	for i := range windows {
		if !windows[i].empty() {
			all = append(all, i)
		}
	}
	return func(yield func(chunkJob) bool) {
		if len(all) > 0 {
			walk := &gridWalk{windows: windows, chunk: chunk, at: make([]uint64, len(chunk)), yield: yield}
			walk.dimension(0, all)
		}
	}
}

// A gridWalk is one walk over a grid of chunks.
type gridWalk struct {
	windows []Window
	chunk   []int64
	at      []uint64
	yield   func(chunkJob) bool
}

// dimension walks along dimension k with the windows that touch the coordinates of the dimensions before. It reports whether the
// walk goes on.
func (g *gridWalk) dimension(k int, windows []int) bool {
	if k == len(g.chunk) {
		return g.yield(chunkJob{at: slices.Clone(g.at), windows: slices.Clone(windows)})
	}
	size := g.chunk[k]
	sorted := slices.Clone(windows)
	slices.SortStableFunc(sorted, func(a, b int) int { return cmp.Compare(g.windows[a].Start[k], g.windows[b].Start[k]) })
	var touching []int
	var c int64
	for len(sorted) > 0 || len(touching) > 0 {
		if len(touching) == 0 {
			c = g.windows[sorted[0]].Start[k] / size
		}
		for len(sorted) > 0 && g.windows[sorted[0]].Start[k]/size <= c {
			touching = append(touching, sorted[0])
			sorted = sorted[1:]
		}
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
