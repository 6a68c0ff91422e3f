package tiles

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
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
	turn   chan struct{} // closed when the flight may draw

	// The rest is guarded by flights.mu.

	callers int           // who wait
	place   *list.Element // in flights.waiting; nil before and after
	drawing bool          // from here on it is finished, whoever leaves
	crowded bool          // when its turn came, more waited than may
}

// flights keeps one flight per key, and bounds how many draw and how many wait to.
type flights struct {
	renders int
	queue   int
	timeout time.Duration
	metrics *metrics
	behind  *background    // draws in a crowd
	running sync.WaitGroup // one for each flight's goroutine

	mu      sync.Mutex // guards what follows
	byKey   map[Sum]*flight
	waiting list.List // of the *flight that wait for their turn, in order of arrival
	drawing int       // flights whose turn it is
	closed  bool
}

func newFlights(renders, queue int, timeout time.Duration, m *metrics) *flights {
	return &flights{
		renders: renders,
		queue:   queue,
		timeout: timeout,
		metrics: m,
		behind:  newBackground(max(1, renders-1)),
		byKey:   make(map[Sum]*flight),
	}
}

// A search is what a flight does: it looks where a tile may lie, and if there is none, draws and keeps it.
type search struct {
	wait   func() (end func(error)) // is told when the waiting for a turn begins, and ends; nil if nobody is
	lookup func(context.Context) (Tile, bool)
	draw   func() (png []byte, err error)
	keep   func(png []byte) Tile
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
	f := &flight{done: make(chan struct{}), turn: make(chan struct{}), callers: 1}
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
		fs.withdraw(f)
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
	waited := func(error) {}
	if s.wait != nil {
		waited = s.wait()
	}
	err := fs.acquire(f)
	waited(err)
	if err != nil {
		return Tile{}, err
	}
	png, err := fs.draw(f, s)
	if err != nil {
		return Tile{}, err
	}
	return s.keep(png), nil
}

// draw draws in f's turn, and ends it. In a crowd it draws behind; what it keeps locks for is done in front, so that
// nobody waits for one who has no processor.
func (fs *flights) draw(f *flight, s search) (png []byte, err error) {
	defer fs.release()
	if f.crowded {
		fs.behind.do(func() { png, err = s.draw() })
		return png, err
	}
	return s.draw()
}

// acquire waits for f's turn to draw. ErrBusy if too many wait already, or when the timeout comes first.
func (fs *flights) acquire(f *flight) error {
	if err := fs.enqueue(f); err != nil {
		return err
	}
	select {
	case <-f.turn:
		return nil
	case <-f.ctx.Done():
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f.drawing { // its turn came just as its time ran out: what is drawn is kept for those who ask again
		return nil
	}
	fs.withdraw(f)
	return fs.reason(f.ctx.Err())
}

// enqueue puts f at the end of those who wait, of whom it may be the only one, and then it is its turn at once.
func (fs *flights) enqueue(f *flight) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if err := f.ctx.Err(); err != nil {
		return fs.reason(err)
	}
	f.place = fs.waiting.PushBack(f)
	fs.admit()
	if f.place != nil && fs.waiting.Len() > fs.queue {
		fs.withdraw(f)
		return ErrBusy
	}
	return nil
}

// withdraw takes f off the queue if it is there. fs.mu must be held.
func (fs *flights) withdraw(f *flight) {
	if f.place != nil {
		fs.waiting.Remove(f.place)
		f.place = nil
		fs.admit()
	}
}

// release ends a turn.
func (fs *flights) release() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.drawing--
	fs.admit()
}

// admit gives turns to those who wait, as many as may have one. fs.mu must be held.
func (fs *flights) admit() {
	for fs.waiting.Len() > 0 && fs.drawing < fs.turns() {
		crowded := fs.crowded()
		f := fs.waiting.Remove(fs.waiting.Front()).(*flight)
		f.place, f.drawing, f.crowded = nil, true, crowded
		fs.drawing++
		close(f.turn)
	}
	fs.metrics.renderQueue.Set(float64(fs.waiting.Len()))
}

// crowded reports whether more wait than may draw. fs.mu must be held.
func (fs *flights) crowded() bool { return fs.waiting.Len() > fs.renders }

// turns returns how many may draw at once. In a crowd, one processor is kept for those whose tile is in the cache: Go's
// scheduler looks at the network when a processor has nothing to run, and else only every 10 ms (sysmon in
// runtime/proc.go). With every processor drawing and the next tile always there, a hit waits for that; where the queue
// is short there are such moments enough, and all processors draw. fs.mu must be held.
func (fs *flights) turns() int {
	if fs.crowded() {
		return max(1, fs.renders-1)
	}
	return fs.renders
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
	fs.behind.close()
}
