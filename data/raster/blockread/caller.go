package blockread

import (
	"context"
	"sync"
)

// A Caller calls a function that decoders share, one call at a time. Its zero value is ready for use.
type Caller struct{ mu sync.Mutex }

// Call calls f, unless ctx has ended. It marks an error of f, so that [Read] returns it as it is.
func (c *Caller) Call(ctx context.Context, f func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := f(); err != nil {
		return &callError{err}
	}
	return nil
}

// A callError is an error of the function of a Caller.
type callError struct{ err error }

func (e *callError) Error() string { return e.err.Error() }
