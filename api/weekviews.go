package api

import (
	"net/http"
	"sync"
	"time"

	"limnomap/api/answer"
	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/tiles/admission"
)

// weekTurnWait is how long a request waits for its turn to build the map of a week, or to read it.
const weekTurnWait = 20 * time.Second

// weekViews gives requests the maps of weeks. Maps not in memory are made in turns, which the clients share fairly:
// so many requests for many weeks need the memory of a few, and one client's weeks do not delay another's. The maps that
// requests use count as memory of answers, since the snapshot may have dropped them.
type weekViews struct {
	turns  *admission.Turns // to build maps, with everything else that needs a processor
	reads  *admission.Turns // to read maps from the source, one block of weeks at a time
	memory *admission.Budget

	mu    sync.Mutex // guards inUse
	inUse map[*snapshot.View]*viewUse
}

// A viewUse is a map that requests use. Its memory counts once.
type viewUse struct {
	hold     *admission.Hold
	bytes    int64
	requests int
}

func newWeekViews(turns, reads *admission.Turns, memory *admission.Budget) *weekViews {
	return &weekViews{
		turns:  turns,
		reads:  reads,
		memory: memory,
		inUse:  make(map[*snapshot.View]*viewUse),
	}
}

// get returns the map of a week, and a function that releases it after use. It must not be called in a
// turn.
func (wv *weekViews) get(r *http.Request, snap *snapshot.Snapshot, week data.Week) (v *snapshot.View, release func(), err error) {
	client := answer.ClientOf(r)
	if v = snap.Held(week); v != nil {
		release, err = wv.use(client, v, snap)
		return v, release, err
	}
	turns := wv.turns
	if snap.Reads(week) {
		turns = wv.reads
	}
	ctx, cancel := answer.Waiting(r, weekTurnWait)
	defer cancel()
	err = turns.Do(ctx, client, func() (err error) {
		// A request that has gone, or was answered with 503, may have left a read behind.
		if err := snap.AwaitSource(ctx, week); err != nil {
			return err
		}
		// Before it is made: this is what bounds the memory.
		hold, err := wv.memory.Hold(client, snap.ViewBytes())
		if err != nil {
			return err
		}
		defer func() {
			if release == nil { // after an error, or a panic
				hold.Release()
			}
		}()
		if v, err = snap.View(r.Context(), week); err != nil {
			return err
		}
		release = wv.share(v, hold, snap)
		return nil
	})
	return v, release, err
}

// use returns what releases v, which is in memory.
func (wv *weekViews) use(client admission.Client, v *snapshot.View, snap *snapshot.Snapshot) (release func(), err error) {
	if v == snap.Current {
		return func() {}, nil
	}
	wv.mu.Lock()
	u := wv.inUse[v]
	if u != nil {
		u.requests++
	}
	wv.mu.Unlock()
	if u != nil {
		return wv.releaseOnce(v), nil
	}
	hold, err := wv.memory.Hold(client, snap.ViewBytes())
	if err != nil {
		return nil, err
	}
	return wv.share(v, hold, snap), nil
}

// share has v use hold, unless another request's hold counts it already.
func (wv *weekViews) share(v *snapshot.View, hold *admission.Hold, snap *snapshot.Snapshot) (release func()) {
	wv.mu.Lock()
	defer wv.mu.Unlock()
	if u := wv.inUse[v]; u != nil {
		u.requests++
		hold.Release()
	} else {
		wv.inUse[v] = &viewUse{hold: hold, bytes: snap.ViewBytes(), requests: 1}
	}
	return wv.releaseOnce(v)
}

// releaseOnce returns a function whose first call says that one request fewer uses v.
func (wv *weekViews) releaseOnce(v *snapshot.View) func() {
	return sync.OnceFunc(func() {
		wv.mu.Lock()
		defer wv.mu.Unlock()
		u := wv.inUse[v]
		if u.requests--; u.requests == 0 {
			u.hold.Release()
			delete(wv.inUse, v)
		}
	})
}

// during calls f with the map of a week, in a turn. The map is not used longer than that, so only those of the requests that
// have a turn take memory.
func (wv *weekViews) during(r *http.Request, snap *snapshot.Snapshot, week data.Week, f func(*snapshot.View) error) error {
	client := answer.ClientOf(r)
	ctx, cancel := answer.Waiting(r, weekTurnWait)
	defer cancel()
	mustRead := false
	err := wv.turns.Do(ctx, client, func() (err error) {
		v := snap.Held(week)
		if mustRead = v == nil && snap.Reads(week); mustRead {
			return nil
		}
		if v == nil {
			if v, err = snap.View(r.Context(), week); err != nil {
				return err
			}
		}
		return f(v)
	})
	if err != nil || !mustRead {
		return err
	}
	// One old week after the other is read and used. A turn to read is not held while waiting for another turn: f takes one
	// processor more at most.
	return wv.reads.Do(ctx, client, func() error {
		if err := snap.AwaitSource(ctx, week); err != nil {
			return err
		}
		v, err := snap.View(r.Context(), week)
		if err != nil {
			return err
		}
		return f(v)
	})
}

// bytes returns the memory of the maps that requests use.
func (wv *weekViews) bytes() (n int64) {
	wv.mu.Lock()
	defer wv.mu.Unlock()
	for _, u := range wv.inUse {
		n += u.bytes
	}
	return n
}
