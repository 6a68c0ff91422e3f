package refresh

import (
	"io"
	"sync"
	"sync/atomic"
)

// A countingReaderAt counts the bytes that are read, and keeps the first error of the file itself. It is safe for concurrent use.
type countingReaderAt struct {
	io.ReaderAt
	size   int64
	bytes  atomic.Int64
	mu     sync.Mutex
	failed error // guarded by mu
}

func (r *countingReaderAt) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

func (r *countingReaderAt) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(p, off)
	r.bytes.Add(int64(n))
	if err != nil && err != io.EOF && 0 <= off && off < r.size {
		r.mu.Lock()
		if r.failed == nil {
			r.failed = err
		}
		r.mu.Unlock()
	}
	return n, err
}
