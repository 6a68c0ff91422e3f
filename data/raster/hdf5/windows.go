package hdf5

import "fmt"

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
