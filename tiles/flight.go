package tiles

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"limnomap/render"
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

	place admission.Place // where it waits for its turn

	callers   int  // who wait; guarded by flights.mu
	committed bool // the flight ends with a tile, even without callers; guarded by flights.mu
}

// A wanted is a tile that callers ask for: its key may not be known yet.
type wanted struct {
	view any // a *snapshot.View or *snapshot.Values
	spec render.Spec
}

// flights has one flight for each tile that is wanted and not there.
type flights struct {
	timeout time.Duration
	errLate error
	running sync.WaitGroup // one for each flight

	mu     sync.Mutex // guards what follows
	byTile map[wanted]*flight
	closed bool
}

func newFlights(timeout time.Duration) *flights {
	return &flights{
		timeout: timeout,
		errLate: fmt.Errorf("not drawn within %v: %w", timeout, ErrBusy),
		byTile:  make(map[wanted]*flight),
	}
}

// errPanicked is what others get who wait for a tile whose search panics.
var errPanicked = errors.New("the search for the tile panicked")

// do returns that tile and where it came from: from the flight for it that is under way, or from a new one, which
// calls search. It calls joined with a flight that is under way, and returns early from that when ctx ends.
//
// The search of a new flight runs on the caller's goroutine: handed over to another one it takes a tenth longer, since that mostly runs on
// another processor, whose caches are cold. If the caller leaves, the flight continues for others who want the tile, or to
// its end once drawing has begun.
func (fs *flights) do(ctx context.Context, w wanted, joined func(*flight), search func(*flight) (Tile, string, error)) (Tile, string, error) {
	f, shared, err := fs.join(ctx, w)
	if err != nil {
		return Tile{}, "", err
	}
	if shared {
		joined(f)
		return fs.wait(ctx, w, f)
	}
	stays := context.AfterFunc(ctx, func() { fs.leave(w, f) })
	fs.run(w, f, search)
	if !stays() {
		return Tile{}, "", context.Cause(ctx)
	}
	return f.tile, f.tier, f.err
}

// join returns the flight for that tile with one more caller, and whether another caller began it. If not, this one must run it.
func (fs *flights) join(ctx context.Context, w wanted) (f *flight, shared bool, err error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f, ok := fs.byTile[w]; ok {
		f.callers++
		return f, true, nil
	}
	if fs.closed {
		return nil, false, fmt.Errorf("the tile service is closed: %w", ErrBusy)
	}
	f = &flight{done: make(chan struct{}), callers: 1, err: errPanicked}
	f.ctx, f.cancel = context.WithTimeoutCause(context.WithoutCancel(ctx), fs.timeout, fs.errLate)
	fs.byTile[w] = f
	fs.running.Add(1)
	return f, false, nil
}

// run calls search, and ends f with its results, also if search panics.
func (fs *flights) run(w wanted, f *flight, search func(*flight) (Tile, string, error)) {
	defer func() {
		fs.mu.Lock()
		fs.forget(w, f)
		fs.mu.Unlock()
		close(f.done)
		f.cancel()
		fs.running.Done()
	}()
	f.tile, f.tier, f.err = search(f)
}

// wait returns the tile of f, which another caller began, and where it came from, or ctx's error if that ends first.
func (fs *flights) wait(ctx context.Context, w wanted, f *flight) (Tile, string, error) {
	select {
	case <-f.done:
	case <-ctx.Done():
		fs.leave(w, f)
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
func (fs *flights) leave(w wanted, f *flight) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	f.callers--
	if f.callers == 0 && !f.committed {
		f.cancel()
		fs.forget(w, f)
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
func (fs *flights) forget(w wanted, f *flight) {
	if fs.byTile[w] == f {
		delete(fs.byTile, w)
	}
}

// close refuses new flights and waits for those under way.
func (fs *flights) close() {
	fs.mu.Lock()
	fs.closed = true
	fs.mu.Unlock()
	fs.running.Wait()
}
