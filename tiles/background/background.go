// Package background runs functions on operating system threads of low priority.
//
// It exists for the cached tiles of a server whose every processor draws. Without it, the operating system lets a cached
// tile wait until the time slice of a drawing thread ends, some milliseconds. Measured with two processors and 500 clients
// that asked for tiles to be drawn (make bench-http, case crowd): the p99 of a cached tile was 162 to 228 times its idle
// value when all processors drew, 4 to 21 times with one processor kept free (package admission does that), and 0.5 to 4 times
// with both. The price is about half of the drawn tiles per second, in such a crowd only.
package background

import (
	"runtime"
	"sync"
)

// Threads are threads of low priority. They are started at the first use. Threads are safe for concurrent use.
type Threads struct {
	count  int
	start  sync.Once
	work   chan func()
	closed chan struct{}
}

// New returns that many threads.
func New(count int) *Threads {
	return &Threads{count: count, work: make(chan func()), closed: make(chan struct{})}
}

// Do runs f on one of the threads, and returns when f has. After Close it runs f itself.
func (t *Threads) Do(f func()) {
	t.start.Do(func() {
		for range t.count {
			go t.run() // until Close
		}
	})
	done := make(chan struct{})
	select {
	case t.work <- func() { defer close(done); f() }:
		<-done
	case <-t.closed:
		f()
	}
}

func (t *Threads) run() {
	Here()
	for {
		select {
		case f := <-t.work:
			f()
		case <-t.closed:
			return
		}
	}
}

// Here gives the calling goroutine a thread of its own of low priority, for as long as it lives. The thread is never unlocked
// and ends with the goroutine, since an unprivileged process cannot raise its priority again.
func Here() {
	runtime.LockOSThread()
	lowerPriority()
}

// Close ends the threads after their present work. It must be called once only.
func (t *Threads) Close() { close(t.closed) }
