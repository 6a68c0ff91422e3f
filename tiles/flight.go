package tiles

import (
	"context"
	"fmt"
	"sync"
	"time"
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

	callers   int  // who wait; guarded by flights.mu
	committed bool // the flight ends with a tile, even without callers; guarded by flights.mu
}

// flights has one flight per key.
type flights struct {
	timeout time.Duration
	errLate error
	running sync.WaitGroup // one for each flight's goroutine

	mu     sync.Mutex // guards what follows
	byKey  map[Sum]*flight
	closed bool
}

func newFlights(timeout time.Duration) *flights {
	return &flights{
		timeout: timeout,
		errLate: fmt.Errorf("not drawn within %v: %w", timeout, ErrBusy),
		byKey:   make(map[Sum]*flight),
	}
}

// do returns the tile of that key and where it came from: from the flight for it that is under way, or from a new one, which
// calls search on a goroutine of its own. It returns early when ctx ends; the flight continues for its other callers.
func (fs *flights) do(ctx context.Context, key Sum, search func(*flight) (Tile, string, error)) (Tile, string, error) {
	f, shared, err := fs.join(ctx, key, search)
	if err != nil {
		return Tile{}, "", err
	}
	select {
	case <-f.done:
	case <-ctx.Done():
		fs.leave(key, f)
		return Tile{}, "", ctx.Err()
	case <-f.ctx.Done():
		select {
		case <-f.done: // its context ends with the flight, too
		default:
			// Drawing cannot be interrupted: it continues, and the cache will have the tile for those who ask again.
			return Tile{}, "", fs.errLate
		}
	}
	if shared {
		return f.tile, tierShared, f.err
	}
	return f.tile, f.tier, f.err
}

// join returns the flight of that key with one more caller, and whether another caller began it.
func (fs *flights) join(ctx context.Context, key Sum, search func(*flight) (Tile, string, error)) (f *flight, shared bool, err error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f, ok := fs.byKey[key]; ok {
		f.callers++
		return f, true, nil
	}
	if fs.closed {
		return nil, false, fmt.Errorf("the tile service is closed: %w", ErrBusy)
	}
	f = &flight{done: make(chan struct{}), callers: 1}
	f.ctx, f.cancel = context.WithTimeoutCause(context.WithoutCancel(ctx), fs.timeout, fs.errLate)
	fs.byKey[key] = f
	// Ends when the tile is found, drawn, refused, too late, or no longer wanted.
	fs.running.Go(func() {
		defer f.cancel()
		f.tile, f.tier, f.err = search(f)
		fs.mu.Lock()
		fs.forget(key, f)
		fs.mu.Unlock()
		close(f.done)
	})
	return f, false, nil
}

// leave removes a caller from f, and ends f if it was the last one and drawing has not begun.
func (fs *flights) leave(key Sum, f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.callers--
	if f.callers == 0 && !f.committed {
		f.cancel()
		fs.forget(key, f)
	}
}

// commit makes f end with a tile, even if all callers leave. It returns an error if f has ended already.
func (fs *flights) commit(f *flight) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.committed = true
	return context.Cause(f.ctx)
}

// forget makes the next caller begin a new flight. fs.mu must be held.
func (fs *flights) forget(key Sum, f *flight) {
	if fs.byKey[key] == f {
		delete(fs.byKey, key)
	}
}

// close refuses new flights and waits for those under way.
func (fs *flights) close() {
	fs.mu.Lock()
	fs.closed = true
	fs.mu.Unlock()
	fs.running.Wait()
}
