package data

import (
	"context"
	"fmt"
	"time"
)

const (
	defaultInterval = time.Second
	// The waits after a failure double from the first to the second of these: soon enough to bridge the restart of a
	// database, rare enough to leave a broken one alone.
	minBackoff = time.Second
	maxBackoff = 30 * time.Second
	// revisionTimeout ends a question that hangs, so that a dead connection is reported rather than waited on.
	revisionTimeout = 10 * time.Second
)

// A Watcher keeps a snapshot of a Source up to date.
type Watcher struct {
	Source   Source
	Options  *SnapshotOptions
	Interval time.Duration // how often Source.Revision is asked; zero means one second
	// Wake is received from whenever the Source may have changed, so that it is asked at once; a value may stand for
	// several changes. Nil leaves it to the Interval.
	Wake <-chan struct{}
	// Publish receives each new snapshot, the first one included. Once a failure is over and nothing has changed
	// meanwhile, it receives the present one again, so that whoever was told of the failure learns of its end.
	Publish func(*Snapshot)
	// Confirmed is told of each time at which the published snapshot was known to be all that the Source has: when the
	// question began that found it so, or its loading. Nil ignores it.
	Confirmed func(time.Time)
	// Failed is told of each load that failed, and once of each time during which Source.Revision fails. The last
	// good snapshot stays, and the Watcher tries again with backoff. Nil ignores failures.
	Failed func(error)
	// Outcome, if it is not nil, is asked after each answer of Source.Revision what became of the last refresh from the
	// data's own source, and Refreshed is told whenever that is something else than before.
	Outcome   func(context.Context) (Refresh, error)
	Refreshed func(Refresh)
}

// Run loads and publishes the first snapshot and every later one, until ctx ends. It starts no goroutine: Publish
// and its fellows are called from the caller's, one at a time.
func (w *Watcher) Run(ctx context.Context) {
	interval := w.Interval
	if interval <= 0 {
		interval = defaultInterval
	}
	var (
		current  *Snapshot
		answered = true        // whether the Source told its revision when it was last asked
		outcome  Refresh       // that was told last
		backoff  time.Duration // the wait after the last failure; 0 if there was none since the last success
	)
	for {
		began := time.Now()
		snapshot, err := w.next(ctx, current, &answered)
		wait := interval
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			backoff = min(max(minBackoff, 2*backoff), maxBackoff)
			wait = max(interval, backoff)
		case snapshot != current || backoff > 0:
			if current == nil { // or whoever is shown the first snapshot would be told that there was no refresh
				outcome = w.refreshed(ctx, outcome)
			}
			current, backoff = snapshot, 0
			w.Publish(current)
		}
		if err == nil && w.Confirmed != nil {
			w.Confirmed(began)
		}
		if err == nil {
			outcome = w.refreshed(ctx, outcome)
		}
		if !sleep(ctx, wait, w.Wake) {
			return
		}
	}
}

// next returns a snapshot of the Source's present revision, which is current if nothing has changed since. It has
// told Failed of what it returns as an error, unless that is one more question in a row without an answer.
func (w *Watcher) next(ctx context.Context, current *Snapshot, answered *bool) (*Snapshot, error) {
	if current != nil {
		revision, err := w.revision(ctx)
		if err != nil {
			if *answered {
				w.fail(ctx, err)
			}
			*answered = false
			return nil, err
		}
		*answered = true
		if revision.Equal(current.Revision) {
			return current, nil
		}
	}
	snapshot, err := Load(ctx, w.Source, w.Options)
	if err != nil {
		w.fail(ctx, err)
	}
	return snapshot, err
}

// refreshed tells of a refresh since the one that was told last, and returns it. An error leaves that one: it is the
// database's, of which the next question for its revision tells.
func (w *Watcher) refreshed(ctx context.Context, told Refresh) Refresh {
	if w.Outcome == nil {
		return told
	}
	ctx, cancel := context.WithTimeout(ctx, revisionTimeout)
	defer cancel()
	now, err := w.Outcome(ctx)
	if err != nil || now == told {
		return told
	}
	w.Refreshed(now)
	return now
}

func (w *Watcher) revision(ctx context.Context) (Revision, error) {
	ctx, cancel := context.WithTimeout(ctx, revisionTimeout)
	defer cancel()
	r, err := w.Source.Revision(ctx)
	if err != nil {
		return Revision{}, fmt.Errorf("revision: %w", err)
	}
	return r, nil
}

// fail tells Failed, unless the failure is only that the Watcher is being stopped.
func (w *Watcher) fail(ctx context.Context, err error) {
	if w.Failed != nil && ctx.Err() == nil {
		w.Failed(err)
	}
}

// sleep waits for d or to be woken, and reports false if ctx ended first.
func sleep(ctx context.Context, d time.Duration, wake <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	case <-wake:
		return true
	}
}
