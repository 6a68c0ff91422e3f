package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"limnomap/data"
)

const (
	defaultInterval = time.Second
	// The waits after failures double from minBackoff to maxBackoff: short enough for the restart of a database, and rare
	// enough not to burden a broken one.
	minBackoff = time.Second
	maxBackoff = 30 * time.Second
	// revisionTimeout bounds Source.Revision, so that a dead connection is reported.
	revisionTimeout = 10 * time.Second
	// maxReported is how many different reasons of one series of failures are reported. The first is often that a connection
	// ended, and the second why there is no other.
	maxReported = 3
)

// A Watcher keeps a snapshot of a Source up to date.
type Watcher struct {
	Source   Source
	Options  *Options
	Interval time.Duration // how often Source.Revision is asked; zero means one second
	// Wake, if not nil, makes the Watcher ask at once. One value may mean several changes.
	Wake <-chan struct{}
	// Publish receives each new snapshot, including the first one. When a failure has ended and the data have not changed,
	// it receives the present snapshot again, so that the caller knows that the failure has ended.
	Publish func(*Snapshot)
	// Confirmed, if not nil, is called after each confirmation that the published snapshot holds everything that the
	// Source has, with the time when the question or the load began.
	Confirmed func(time.Time)
	// Failed, if not nil, is called for each later load that failed, and for each new reason of a series of failures of Source.Revision
	// or of the first load.
	// The last good snapshot stays, and the Watcher tries again with backoff.
	Failed func(error)
	// Outcome, if not nil, is called after each answer of Source.Revision. It returns the state of the refreshes from the
	// data's own source. Refreshed is called whenever that state has changed.
	Outcome   func(context.Context) (data.Refresh, error)
	Refreshed func(data.Refresh)

	current *Snapshot // the last one that was published; only the goroutine of Run uses it
}

// Run loads and publishes the first snapshot and every later one, until ctx ends. All callbacks are called from the caller's goroutine,
// one at a time. The only goroutine that it starts ends with a load, for which Run waits.
func (w *Watcher) Run(ctx context.Context) {
	var (
		reported []string      // why Source.Revision or the first load has failed since it last succeeded
		outcome  data.Refresh  // the last state passed to Refreshed
		backoff  time.Duration // the wait after the last failure; 0 if there was none since the last success
	)
	for {
		began := time.Now()
		snapshot, err := w.next(ctx, &reported)
		if err != nil && w.current != nil && ctx.Err() == nil {
			// The day and the active official statements change with time, also while the source does not answer.
			w.publishOther(w.moved(w.current))
		}
		wait := w.interval()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			backoff = min(max(minBackoff, 2*backoff), maxBackoff)
			wait = max(wait, backoff)
		case snapshot != w.current || backoff > 0:
			if w.current == nil { // otherwise the first snapshot would be shown as never refreshed
				outcome = w.refreshed(ctx, outcome)
			}
			w.current, backoff = snapshot, 0
			w.Publish(snapshot)
		}
		if err == nil && w.Confirmed != nil {
			w.Confirmed(began)
		}
		if err == nil {
			outcome = w.refreshed(ctx, outcome)
		}
		if w.current != nil && !w.current.ChangesAt().IsZero() {
			wait = min(wait, max(w.current.ChangesAt().Sub(w.present().Now), 0))
		}
		if !sleep(ctx, wait, w.Wake) {
			return
		}
	}
}

// publishOther publishes a snapshot unless it is the current one.
func (w *Watcher) publishOther(s *Snapshot) {
	if s != w.current {
		w.current = s
		w.Publish(s)
	}
}

// next returns a snapshot of the Source's present revision, which is the current one if nothing has changed. It reports its
// errors to Failed, except when Source.Revision or the first load fails again in a row for a reason that is in reported, where it keeps the
// first maxReported of a series.
func (w *Watcher) next(ctx context.Context, reported *[]string) (*Snapshot, error) {
	if current := w.current; current != nil {
		revision, err := w.revision(ctx)
		if err != nil {
			w.failOnce(ctx, err, reported)
			return nil, err
		}
		*reported = nil
		if revision.Equal(current.Revision) {
			return w.moved(current), nil
		}
		if revision.OnlyStatementsSince(current.Revision) {
			if snapshot, err := w.statements(ctx, current); err != nil || snapshot.Revision.Number == snapshot.StatementsOf {
				return snapshot, err
			}
		}
		if revision.Forecasts = current.Revision.Forecasts; revision.Equal(current.Revision) {
			return w.forecasts(ctx, current)
		}
	}
	first := w.current == nil
	snapshot, err := w.load(ctx)
	switch {
	case err != nil && first:
		w.failOnce(ctx, err, reported)
	case err != nil:
		w.fail(ctx, err)
	}
	return snapshot, err
}

// forecasts returns current with other forecasts, which takes seconds where a load takes minutes.
func (w *Watcher) forecasts(ctx context.Context, current *Snapshot) (*Snapshot, error) {
	snapshot, err := current.withForecasts(ctx, w.Source)
	if err != nil {
		w.fail(ctx, err)
		return nil, err
	}
	return w.moved(snapshot), nil
}

// statements returns current with the newest official statements. It takes milliseconds, and is not made in the background: a closure must be known
// soon, also on a busy machine.
func (w *Watcher) statements(ctx context.Context, current *Snapshot) (*Snapshot, error) {
	snapshot, err := current.withStatements(ctx, w.Source, w.Options)
	if err != nil {
		w.fail(ctx, err)
		return nil, err
	}
	return w.moved(snapshot), nil
}

// load loads a snapshot: the first as fast as possible, and later ones in the background, since requests for the current one are
// answered meanwhile. A load may take minutes. Until it ends, load publishes the current one with other official statements: first those that have come
// with what is loaded, then those of later imports, and those that become active. It also publishes it when the day changes.
func (w *Watcher) load(ctx context.Context) (snapshot *Snapshot, err error) {
	done, before := make(chan struct{}), w.current
	go func() { // ends with the load
		defer close(done)
		if before != nil {
			w.background()
		}
		snapshot, err = loadAfter(ctx, before, w.Source, w.Options)
	}()
	if before == nil {
		<-done
		return snapshot, err
	}
	seen := before.StatementsOf
	if ahead, err := w.ahead(ctx, before); err == nil {
		w.publishOther(ahead)
		seen = ahead.StatementsOf
	}
	for {
		wait := w.interval()
		if at := w.current.ChangesAt(); !at.IsZero() {
			wait = min(wait, max(at.Sub(w.present().Now), 0))
		}
		select {
		case <-done:
			if err == nil && snapshot.StatementsOf < w.current.StatementsOf {
				return w.ahead(ctx, snapshot)
			}
			return snapshot, err
		case <-time.After(wait):
			w.publishOther(w.moved(w.current))
		case <-w.Wake:
		}
		if revision, err := w.revision(ctx); err == nil && revision.Number > seen {
			if ahead, err := w.ahead(ctx, w.current); err == nil { // otherwise it is tried again
				w.publishOther(ahead)
				seen = revision.Number
			}
		}
	}
}

// ahead returns s with the newest official statements, or s itself if they are the same.
func (w *Watcher) ahead(ctx context.Context, s *Snapshot) (*Snapshot, error) {
	with, err := s.withStatements(ctx, w.Source, w.Options)
	if err != nil || with.loadedVersion == s.loadedVersion {
		return s, err
	}
	return w.moved(with), nil
}

// moved returns a published snapshot as of now. It is made in the background, as those that are loaded.
func (w *Watcher) moved(current *Snapshot) *Snapshot {
	if current.isOf(w.present()) {
		return current
	}
	moved := make(chan *Snapshot)
	go func() { // ends with the snapshot, which is waited for
		w.background()
		moved <- current.At(w.present())
	}()
	return <-moved
}

// present returns the time of Options.
func (w *Watcher) present() data.Present {
	if w.Options != nil && w.Options.Present != nil {
		return w.Options.Present()
	}
	return data.At(time.Now())
}

func (w *Watcher) interval() time.Duration {
	if w.Interval <= 0 {
		return defaultInterval
	}
	return w.Interval
}

func (w *Watcher) background() {
	if w.Options != nil && w.Options.Background != nil {
		w.Options.Background()
	}
}

// refreshed calls Refreshed if the state of refreshes is no longer last, and returns the present state. It ignores an
// error of the database: the next call of Source.Revision reports it.
func (w *Watcher) refreshed(ctx context.Context, last data.Refresh) data.Refresh {
	if w.Outcome == nil {
		return last
	}
	ctx, cancel := context.WithTimeout(ctx, revisionTimeout)
	defer cancel()
	now, err := w.Outcome(ctx)
	if err != nil || now == last {
		return last
	}
	w.Refreshed(now)
	return now
}

func (w *Watcher) revision(ctx context.Context) (data.Revision, error) {
	ctx, cancel := context.WithTimeout(ctx, revisionTimeout)
	defer cancel()
	r, err := w.Source.Revision(ctx)
	if err != nil {
		return data.Revision{}, fmt.Errorf("revision: %w", err)
	}
	return r, nil
}

// fail calls Failed, unless the Watcher is being stopped.
func (w *Watcher) fail(ctx context.Context, err error) {
	if w.Failed != nil && ctx.Err() == nil {
		w.Failed(err)
	}
}

// failOnce calls Failed if there are fewer than maxReported reasons in reported, and err is another one. That nothing answers, on a connection or
// to a new one, is one reason.
func (w *Watcher) failOnce(ctx context.Context, err error, reported *[]string) {
	reason := err.Error()
	if errors.Is(err, data.ErrAway) && errors.Is(err, context.DeadlineExceeded) {
		reason = data.ErrAway.Error()
	}
	if len(*reported) < maxReported && !slices.Contains(*reported, reason) {
		w.fail(ctx, err)
		*reported = append(*reported, reason)
	}
}

// sleep waits for d or until it is woken, and reports false if ctx ended first.
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
