// Package background runs functions on operating system threads of low priority.
//
// It exists for the cached tiles of a server whose every processor draws. Without it, the operating system lets a cached
// tile wait until the time slice of a drawing thread ends, some milliseconds. Measured with two processors and 500 clients
// that asked for tiles to be drawn (make bench-http, case crowd): the p99 of a cached tile was 162 to 228 times its idle
// value when all processors drew, 4 to 21 times with one processor kept free (package tiles does that), and 0.5 to 4 times
// with both. The price is about half of the drawn tiles per second, in such a crowd only.
package background

import (
	"runtime"
	"sync"
)

// Threads are threads of low priority. They are started at the first use. Threads are safe for concurrent use.
type Threads struct {
	count int
	start sync.Once
	work  chan func()
}

// New returns that many threads.
func New(count int) *Threads {
	return &Threads{count: count, work: make(chan func())}
}

// Do runs f on one of the threads, and returns when f has.
func (t *Threads) Do(f func()) {
	t.start.Do(func() {
		for range t.count {
			go t.run() // until Close
		}
	})
	done := make(chan struct{})
	t.work <- func() {
		defer close(done)
		f()
	}
	<-done
}

func (t *Threads) run() {
	// Never unlocked: the thread ends with the goroutine, since an unprivileged process cannot raise the priority again.
	runtime.LockOSThread()
	lowerPriority()
	for f := range t.work {
		f()
	}
}

// Close ends the threads. It must not be called before every Do has returned.
func (t *Threads) Close() { close(t.work) }
