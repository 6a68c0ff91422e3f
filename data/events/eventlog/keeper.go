package eventlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"limnomap/data"
	"limnomap/data/snapshot"
)

// A Log stores the events, and what was published last. The store of a database is one, and a [Memory].
type Log interface {
	NextMoment(ctx context.Context, fn func(last data.Moment, tx data.MomentTx) (data.Moment, error)) error
	LastMoment(ctx context.Context, fn func(last data.Moment, block func(index int) ([]byte, error)) error) error
	MomentNumber(ctx context.Context, snapshot string) (int64, error)
	Events(ctx context.Context, q data.EventQuery) ([]data.Event, error)
	EventState(ctx context.Context) (data.EventState, error)
	DropEvents(ctx context.Context, before time.Time, most int) (dropped int64, err error)
}

// Options configure a Keeper. All fields but Wrote are required.
type Options struct {
	Log Log
	// Of servers with different Settings, the one that was started last writes.
	Settings Settings
	Keep     time.Duration // how long events are kept
	Present  func() data.Present
	// Believed returns the time by which events are old enough to be dropped; the zero time: none is.
	Believed func(context.Context) (time.Time, error)
	Logger   *slog.Logger
	Wrote    func(kinds map[data.EventKind]int, took time.Duration) // is called after each moment that this Keeper stored
	Failed   func(error)                                            // is called for each failure
}

// A Keeper writes the log of events while a server runs, and knows its state.
type Keeper struct {
	Options
	wake chan struct{} // has a value if offered is new

	mu      sync.Mutex
	offered *snapshot.Snapshot
	state   data.EventState
	news    chan struct{} // is closed when state changes

	changes atomic.Pointer[changes] // nil before the first moment

	// Only Run uses these.
	compared  *snapshot.Snapshot // the last one that was compared
	began     bool               // whether one was compared, so that servers with other settings were not started later
	overtaken bool               // whether a server with other settings writes the log
	damaged   bool               // whether the stored blocks cannot be read
	dropped   time.Time          // when old events were dropped last
	failures  failures
}

// failures are those of Run since it last succeeded.
type failures struct {
	since, logged time.Time // when the first happened, and when one was logged, or was not because others tell of it
	count         int
	told          bool // whether one was logged
}

// changes are the moments in which the records of the lakes of a snapshot changed last.
type changes struct {
	lakes  []data.Lake
	moment data.Moment
	last   []int32 // aligned with lakes
}

// NewKeeper returns a Keeper that does nothing before Run.
func NewKeeper(o Options) *Keeper {
	return &Keeper{Options: o, wake: make(chan struct{}, 1), news: make(chan struct{})}
}

const (
	pollEvery    = time.Second
	pollTimeout  = 10 * time.Second
	dropEvery    = time.Hour
	dropAtOnce   = 10_000
	maxBackoff   = time.Minute
	logEvery     = 10 * time.Minute // a failure that goes on
	neverChanged = 0
)

// Offer makes Run compare a published snapshot.
func (k *Keeper) Offer(snap *snapshot.Snapshot) {
	k.mu.Lock()
	k.offered = snap
	k.mu.Unlock()
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// State returns the bounds of the log, and a channel that is closed when they are others.
func (k *Keeper) State() (data.EventState, <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.state, k.news
}

// StoredState returns the bounds that are in the database: State, or what another process has added since.
func (k *Keeper) StoredState(ctx context.Context) (data.EventState, error) {
	return k.Log.EventState(ctx)
}

// Snapshot returns the snapshot that was offered last, nil if there is none.
func (k *Keeper) Snapshot() *snapshot.Snapshot {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.offered
}

// Events returns events of the log.
func (k *Keeper) Events(ctx context.Context, q data.EventQuery) ([]data.Event, error) {
	return k.Log.Events(ctx, q)
}

// Run compares each snapshot that is offered with the last moment, until ctx ends. It also follows what other processes write.
func (k *Keeper) Run(ctx context.Context) {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	var backoff time.Duration
	var failedAt time.Time
	for ctx.Err() == nil {
		if backoff == 0 || time.Since(failedAt) >= backoff {
			err := k.step(ctx)
			failedAt = time.Now()
			switch {
			case err == nil || errors.Is(err, data.ErrMomentBusy):
				backoff = 0 // the next try is at the next tick
				k.succeeded(err)
			case ctx.Err() == nil:
				backoff = min(max(pollEvery, 2*backoff), maxBackoff)
				k.failed(err)
			}
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		case <-k.wake:
			backoff = 0 // the database has just sent a snapshot
		}
	}
}

// failed tells of a failure. The first is logged, unless it is [data.ErrAway], and then one every logEvery; none before the first snapshot, since
// who loads it tells of the same database.
func (k *Keeper) failed(err error) {
	k.Failed(err)
	if k.Snapshot() == nil {
		return
	}
	f, now := &k.failures, time.Now()
	if f.count++; f.count == 1 {
		f.since, f.logged = now, now
		if f.told = !errors.Is(err, data.ErrAway); f.told {
			k.Logger.Error("log of events failed", "error", err)
		}
	} else if now.Sub(f.logged) >= logEvery {
		f.logged, f.told = now, true
		k.Logger.Error("log of events still fails", "error", err, "failures", f.count, "failed_since", f.since)
	}
}

// succeeded tells that failures have ended.
func (k *Keeper) succeeded(err error) {
	if f := k.failures; f.count > 0 && err == nil {
		if f.told {
			k.Logger.Info("log of events works again", "failures", f.count, "failed_since", f.since)
		}
		k.failures = failures{}
	}
}

// step compares the offered snapshot if that was not done, reads the state, and drops old events if it is time.
func (k *Keeper) step(ctx context.Context) error {
	k.mu.Lock()
	snap := k.offered
	k.mu.Unlock()
	var failed error
	if snap != nil && snap != k.compared {
		if failed = k.Compare(ctx, snap); failed == nil {
			k.compared = snap
		}
	}
	// Also if nothing can be written, as in a standby: what others have written can be read.
	if err := cmp.Or(failed, k.refresh(ctx, snap)); err != nil {
		return err
	}
	if snap == nil || !k.dropped.IsZero() && time.Since(k.dropped) < dropEvery {
		return nil
	}
	return k.drop(ctx)
}

// Compare stores the moment of a snapshot. Run does it for those that are offered; before, a caller may do it for an earlier one.
func (k *Keeper) Compare(ctx context.Context, snap *snapshot.Snapshot) error {
	start := time.Now()
	tx := countingTx{kinds: make(map[data.EventKind]int)}
	var result Result
	overtaken := false
	err := k.Log.NextMoment(ctx, func(last data.Moment, to data.MomentTx) (data.Moment, error) {
		if overtaken = k.began && last.Number > 0 && last.Settings != k.Settings.String(); overtaken {
			return last, nil
		}
		if k.damaged { // nothing can be compared with it
			last.Blocks, last.Settings, last.Measured = 0, "", 0
		}
		tx.MomentTx = to
		var err error
		result, err = Next(last, &tx, snap, k.Settings, k.Present())
		return result.Moment, err
	})
	if errors.Is(err, ErrDamaged) && !k.damaged {
		k.Logger.Error("the stored state of the log of events cannot be read: events go on without those of this snapshot", "error", err)
		k.damaged = true
		return k.Compare(ctx, snap)
	}
	if err != nil {
		return err
	}
	k.began, k.damaged = true, false
	if overtaken != k.overtaken {
		k.overtaken = overtaken
		if overtaken {
			k.Logger.Warn("a server with other settings for the classification or for blooms writes the log of events; this one does not")
		}
	}
	if result.New {
		k.Logger.Info("log of events written", "events", tx.count, "newest", result.Moment.LastSeq, "first", result.First, "duration_ms", time.Since(start).Milliseconds())
		k.Wrote(tx.kinds, time.Since(start))
	}
	return nil
}

// A countingTx counts events.
type countingTx struct {
	data.MomentTx
	kinds map[data.EventKind]int
	count int
}

func (t *countingTx) PutEvent(e *data.Event) error {
	t.kinds[e.Kind]++
	t.count++
	return t.MomentTx.PutEvent(e)
}

// refresh reads the state of the log, and if there is another moment or another list of lakes, the changes.
func (k *Keeper) refresh(ctx context.Context, snap *snapshot.Snapshot) error {
	polling, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	state, err := k.Log.EventState(polling)
	if err != nil {
		return err
	}
	if c := k.changes.Load(); snap != nil && state.Moment > 0 && (c == nil || c.moment.Number != state.Moment || !sameLakes(c.lakes, snap.Lakes)) {
		c, err := k.readChanges(ctx, snap.Lakes)
		if err != nil {
			return err
		}
		k.changes.Store(c)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if state != k.state {
		k.state = state
		close(k.news)
		k.news = make(chan struct{})
	}
	return nil
}

// sameLakes reports whether a and b are one slice.
func sameLakes(a, b []data.Lake) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// readChanges reads when the records of lakes changed.
func (k *Keeper) readChanges(ctx context.Context, lakes []data.Lake) (*changes, error) {
	c := &changes{lakes: lakes, last: make([]int32, len(lakes))}
	err := k.Log.LastMoment(ctx, func(last data.Moment, block func(int) ([]byte, error)) error {
		c.moment = last
		i := 0
		return Lakes(last, block, func(l *LakeEntry) error {
			for i < len(lakes) && lakes[i].ID < l.ID {
				i++
			}
			if i < len(lakes) && lakes[i].ID == l.ID {
				c.last[i] = int32(l.Changed)
			}
			return nil
		})
	})
	if errors.Is(err, ErrDamaged) { // the next snapshot replaces it; until then each lake may have changed
		clear(c.last)
		err = nil
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// drop removes the events that are too old, unless the clock is in doubt.
func (k *Keeper) drop(ctx context.Context) error {
	began := time.Now()
	believed, err := k.Believed(ctx)
	if err != nil || believed.IsZero() {
		return err
	}
	for n := int64(dropAtOnce); n >= dropAtOnce; {
		if n, err = k.Log.DropEvents(ctx, believed.Add(-k.Keep), dropAtOnce); err != nil {
			return err
		}
	}
	k.dropped = began
	return nil
}

// Changes returns a function that reports whether the record of Lakes[i] may be another one in snap, which is published, than in a snapshot
// with the version since. The error is [data.ErrNoMoment] if that is not known, and [data.ErrUncompared] if it is not known yet.
func (k *Keeper) Changes(ctx context.Context, snap *snapshot.Snapshot, since string) (changed func(i int) bool, err error) {
	if since == snap.Version {
		return func(int) bool { return false }, nil
	}
	base, err := k.Log.MomentNumber(ctx, since)
	if err != nil {
		return nil, err
	}
	c := k.changes.Load()
	if c == nil || !sameLakes(c.lakes, snap.Lakes) {
		return nil, data.ErrUncompared
	}
	if c.moment.Snapshot != snap.Version || c.moment.Number < base { // that the log knows the version is not enough: one that was published before may come back
		return nil, data.ErrUncompared
	}
	if base < c.moment.ChangesSince {
		return nil, fmt.Errorf("lakes are gone since then: %w", data.ErrNoMoment)
	}
	return func(i int) bool { return c.last[i] == neverChanged || int64(c.last[i]) > base }, nil
}
