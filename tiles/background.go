package tiles

import (
	"runtime"
	"sync"
)

// A background runs functions on threads of low priority. Beside it, whatever else wants a processor gets one at once:
// in a crowd, the processors are the operating system's to share out, and it would let a hit wait for the end of a
// drawing thread's slice, some milliseconds.
type background struct {
	threads int
	start   sync.Once
	work    chan func()
}

func newBackground(threads int) *background {
	return &background{threads: threads, work: make(chan func())}
}

// do runs f and returns when it has. The threads are started when first they are needed.
func (b *background) do(f func()) {
	b.start.Do(func() {
		for range b.threads {
			go b.run() // until close
		}
	})
	done := make(chan struct{})
	b.work <- func() {
		defer close(done)
		f()
	}
	<-done
}

func (b *background) run() {
	// Never unlocked: the thread ends with the goroutine, since an unprivileged one cannot get its priority back.
	runtime.LockOSThread()
	lowerPriority()
	for f := range b.work {
		f()
	}
}

// close ends the threads. It must not be called before every do has returned.
func (b *background) close() { close(b.work) }
