package tiles

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// A flight is one search for a tile, shared by all who ask for it meanwhile. golang.org/x/sync/singleflight shares
// as well, but cannot tell when the last caller has left, and then a queue full of tiles that nobody wants any more
// is drawn to the end while those who wait are turned away.
type flight struct {
	ctx    context.Context // ends at the timeout, or when nobody waits and drawing has not begun
	cancel context.CancelFunc
	done   chan struct{} // closed once tile and err are set
	tile   Tile
	err    error

	callers int  // who wait; guarded by flights.mu
	drawing bool // from here on it is finished, whoever leaves; guarded by flights.mu
}

// flights keeps one flight per key, and bounds how many draw and how many wait to.
type flights struct {
	queue   int
	timeout time.Duration
	slots   *semaphore.Weighted // one for each tile that may be drawn at once; serves in order of arrival
	metrics *metrics
	running sync.WaitGroup // one for each flight's goroutine

	mu      sync.Mutex // guards what follows
	byKey   map[Sum]*flight
	waiting int // flights that wait for a slot
	closed  bool
}

func newFlights(renders, queue int, timeout time.Duration, m *metrics) *flights {
	return &flights{
		queue:   queue,
		timeout: timeout,
		slots:   semaphore.NewWeighted(int64(renders)),
		metrics: m,
		byKey:   make(map[Sum]*flight),
	}
}

// A search is what a flight does: it looks where a tile may lie, and draws it if there is none.
type search struct {
	lookup func(context.Context) (Tile, bool)
	draw   func() (Tile, error)
}

// do returns the tile of that key by the flight under way or by a new one. It returns early when ctx ends, and the
// flight goes on for those who still wait.
func (fs *flights) do(ctx context.Context, key Sum, s search) (Tile, error) {
	f, err := fs.join(ctx, key, s)
	if err != nil {
		return Tile{}, err
	}
	select {
	case <-f.done:
		return f.tile, f.err
	case <-ctx.Done():
		fs.leave(key, f)
		return Tile{}, ctx.Err()
	case <-f.ctx.Done():
	}
	// The flight's context ends when the flight does, too. A render cannot be interrupted, so one that takes too long
	// goes on and will be found in the cache by those who ask again; nobody is kept waiting for it.
	select {
	case <-f.done:
		return f.tile, f.err
	default:
		return Tile{}, fs.lateError()
	}
}

func (fs *flights) lateError() error {
	return fmt.Errorf("not drawn within %v: %w", fs.timeout, ErrBusy)
}

// join returns the flight of that key, with one caller more.
func (fs *flights) join(ctx context.Context, key Sum, s search) (*flight, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f, ok := fs.byKey[key]; ok {
		f.callers++
		return f, nil
	}
	if fs.closed {
		return nil, fmt.Errorf("the tile service is closed: %w", ErrBusy)
	}
	f := &flight{done: make(chan struct{}), callers: 1}
	f.ctx, f.cancel = context.WithTimeout(context.WithoutCancel(ctx), fs.timeout)
	fs.byKey[key] = f
	// Ends when the tile is found, drawn, refused, too late, or wanted by nobody.
	fs.running.Go(func() { fs.run(key, f, s) })
	return f, nil
}

// leave takes a caller off f. A flight that nobody waits for is given up unless it is being drawn already.
func (fs *flights) leave(key Sum, f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.callers--
	if f.callers == 0 && !f.drawing {
		f.cancel()
		fs.forget(key, f)
	}
}

// forget makes the next caller begin a flight of its own. fs.mu must be held.
func (fs *flights) forget(key Sum, f *flight) {
	if fs.byKey[key] == f {
		delete(fs.byKey, key)
	}
}

func (fs *flights) run(key Sum, f *flight, s search) {
	defer f.cancel()
	f.tile, f.err = fs.fly(f, s)
	fs.mu.Lock()
	fs.forget(key, f)
	fs.mu.Unlock()
	close(f.done)
}

func (fs *flights) fly(f *flight, s search) (Tile, error) {
	if t, ok := s.lookup(f.ctx); ok {
		return t, nil
	}
	if err := fs.acquire(f); err != nil {
		return Tile{}, err
	}
	defer fs.slots.Release(1)
	return s.draw()
}

// acquire waits for a slot. ErrBusy if too many wait already, or when the timeout comes first.
func (fs *flights) acquire(f *flight) error {
	if !fs.slots.TryAcquire(1) {
		if err := fs.await(f); err != nil {
			return err
		}
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if err := f.ctx.Err(); err != nil {
		fs.slots.Release(1)
		return fs.reason(err)
	}
	f.drawing = true
	return nil
}

func (fs *flights) await(f *flight) error {
	fs.mu.Lock()
	full := fs.waiting >= fs.queue
	if !full {
		fs.waiting++
	}
	fs.mu.Unlock()
	if full {
		return ErrBusy
	}
	fs.metrics.renderQueue.Inc()
	err := fs.slots.Acquire(f.ctx, 1)
	fs.metrics.renderQueue.Dec()
	fs.mu.Lock()
	fs.waiting--
	fs.mu.Unlock()
	return fs.reason(err)
}

// reason turns the end of a flight's context into what its callers are told: the flight's timeout is not theirs.
func (fs *flights) reason(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fs.lateError()
	}
	return err
}

// close refuses new flights and waits for those under way.
func (fs *flights) close() {
	fs.mu.Lock()
	fs.closed = true
	fs.mu.Unlock()
	fs.running.Wait()
}
