package tiles

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"limnomap/tiles/admission"
)

// A flight is one search for a tile, shared by all who ask for that tile meanwhile. golang.org/x/sync/singleflight shares
// work too, but does not know when the last caller has left: a queue full of tiles that no one wants any more would be drawn
// to its end, while new callers are refused.
type flight struct {
	ctx    context.Context // ends at the timeout, or when all callers have left before drawing began
	cancel context.CancelFunc
	done   chan struct{} // closed once the next three are set
	tile   Tile
	tier   string // where the tile came from
	err    error

	// Where it waits for its turn, and before that for one to find out what it reads.
	place, reading admission.Place

	callers   int  // who wait; guarded by flights.mu
	committed bool // the flight ends with a tile, even without callers; guarded by flights.mu
}

// flights has one flight per key.
type flights[K comparable] struct {
	timeout time.Duration
	errLate error
	running sync.WaitGroup // one for each flight

	mu     sync.Mutex // guards what follows
	byKey  map[K]*flight
	closed bool
}

func newFlights[K comparable](timeout time.Duration) *flights[K] {
	return &flights[K]{
		timeout: timeout,
		errLate: fmt.Errorf("not drawn within %v: %w", timeout, ErrBusy),
		byKey:   make(map[K]*flight),
	}
}

// do returns the tile of that key and where it came from: from the flight for it that is under way, or from a new one, which
// calls search. It calls joined with a flight that is under way, and returns early from that when ctx ends.
//
// The search of a new flight runs on the caller's goroutine: handed over to another one it takes a tenth longer, since that mostly runs on
// another processor, whose caches are cold. If the caller leaves, the flight continues for others who want the tile, or to
// its end once drawing has begun.
func (fs *flights[K]) do(ctx context.Context, key K, joined func(*flight), search func(*flight) (Tile, string, error)) (Tile, string, error) {
	f, shared, err := fs.join(ctx, key)
	if err != nil {
		return Tile{}, "", err
	}
	if shared {
		joined(f)
		return fs.wait(ctx, key, f)
	}
	defer fs.running.Done()
	stays := context.AfterFunc(ctx, func() { fs.leave(key, f) })
	fs.run(key, f, search)
	if !stays() {
		return Tile{}, "", context.Cause(ctx)
	}
	return f.tile, f.tier, f.err
}

// join returns the flight of that key with one more caller, and whether another caller began it. If not, this one must run it,
// and then call fs.running.Done.
func (fs *flights[K]) join(ctx context.Context, key K) (f *flight, shared bool, err error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f, ok := fs.byKey[key]; ok {
		f.callers++
		return f, true, nil
	}
	if fs.closed {
		return nil, false, errClosed
	}
	f = &flight{done: make(chan struct{}), callers: 1}
	f.ctx, f.cancel = context.WithTimeoutCause(context.WithoutCancel(ctx), fs.timeout, fs.errLate)
	fs.byKey[key] = f
	fs.running.Add(1)
	return f, false, nil
}

var errClosed = fmt.Errorf("the tile service is closed: %w", ErrBusy)

// enter begins work that has no flight and ends with fs.running.Done.
func (fs *flights[K]) enter() error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.closed {
		return errClosed
	}
	fs.running.Add(1)
	return nil
}

// errPanicked is what others get who wait for a tile whose search panics.
var errPanicked = errors.New("the search for the tile panicked")

// run calls search, and ends f with its results, also if search panics.
func (fs *flights[K]) run(key K, f *flight, search func(*flight) (Tile, string, error)) {
	f.err = errPanicked
	defer func() {
		fs.mu.Lock()
		fs.forget(key, f)
		fs.mu.Unlock()
		close(f.done)
		f.cancel()
	}()
	f.tile, f.tier, f.err = search(f)
}

// wait returns the tile of f, which another caller began, and where it came from, or ctx's error if that ends first.
func (fs *flights[K]) wait(ctx context.Context, key K, f *flight) (Tile, string, error) {
	select {
	case <-f.done:
	case <-ctx.Done():
		fs.leave(key, f)
		return Tile{}, "", context.Cause(ctx)
	case <-f.ctx.Done():
		select {
		case <-f.done: // its context ends with the flight, too
		default:
			// Drawing cannot be interrupted: it continues, and the cache will have the tile for those who ask again.
			return Tile{}, "", fs.errLate
		}
	}
	if f.err != nil {
		return f.tile, f.tier, f.err
	}
	return f.tile, tierShared, nil
}

// leave removes a caller from f, and ends f if it was the last one and drawing has not begun.
func (fs *flights[K]) leave(key K, f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.callers--
	if f.callers == 0 && !f.committed {
		f.cancel()
		fs.forget(key, f)
	}
}

// commit makes f end with a tile, even if all callers leave. It returns an error if f has ended already.
func (fs *flights[K]) commit(f *flight) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.committed = true
	return context.Cause(f.ctx)
}

// forget makes the next caller begin a new flight. fs.mu must be held.
func (fs *flights[K]) forget(key K, f *flight) {
	if fs.byKey[key] == f {
		delete(fs.byKey, key)
	}
}

// refuse refuses new flights.
func (fs *flights[K]) refuse() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.closed = true
}

// close refuses new flights and waits for those under way.
func (fs *flights[K]) close() {
	fs.refuse()
	fs.running.Wait()
}
