package blockread

import (
	"fmt"
	"runtime/debug"
)

// A panicError is a panic of a goroutine of Read, on its way to the goroutine of the caller, where it can be recovered.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("%v\n\n%s", e.value, e.stack) }

// guarded returns f with its panics as errors.
func guarded(f func() error) func() error {
	return func() (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = &panicError{v, debug.Stack()}
			}
		}()
		return f()
	}
}
