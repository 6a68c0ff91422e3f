// Package clock keeps a server from believing a wrong clock.
//
// A server measures the time that passes by a clock that nobody can set, the monotonic one, and asks a reference what time it is: the clock of its
// database if that has one (PostgreSQL), so that all servers of a database agree, and otherwise that of the machine. Where the two contradict each
// other, the clock is in doubt: the server goes on with the time that passed, and says so. The doubt ends when they agree again, and after an hour,
// when the reference is believed.
package clock

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"limnomap/data"
)

const (
	// Tolerance is how far the reference may be from the time that passed: more than daemons of NTP correct a running clock by in steps, and than a
	// question to a database takes.
	Tolerance = 5 * time.Second
	// patience is how long a doubt lasts at most. A machine that slept is as one whose clock was set.
	patience = time.Hour
	// away is how long no server may have run on a database before the clock is in doubt at a start: longer than a weekend.
	away = 4 * 24 * time.Hour

	// believeEvery is how often the time by which something is deleted moves.
	believeEvery = time.Hour

	askEvery   = 10 * time.Second
	askTimeout = 5 * time.Second
)

// Times are those that a database knows.
type Times struct {
	Database time.Time // by its own clock; zero if it has none
	Imported time.Time // when data were imported last, by the clock of that process; zero for never
	Believed time.Time // up to when servers have believed their clocks, for what they delete; zero for never
}

// A Clock is the time by which a server shows, tells and deletes.
type Clock struct {
	ask     func(context.Context) (Times, error)
	believe func(context.Context, time.Time) (time.Time, error)
	log     *slog.Logger
	machine func() time.Time     // its clock, which can be set
	passed  func() time.Duration // since some moment, by a clock that nobody can set

	mu      sync.Mutex
	asked   bool      // whether the database has answered
	zero    time.Time // what the database's clock showed when passed was 0; zero if it has none
	trusted reading
	doubt   *doubt // nil without one

	believing sync.Mutex
	believed  reading // the zero value before the first one
}

// A reading is a time that was shown when passed was that long.
type reading struct {
	time   time.Time
	passed time.Duration
}

// at returns what a clock that goes on from the reading shows.
func (r reading) at(passed time.Duration) time.Time { return r.time.Add(passed - r.passed) }

// A doubt has the other time that may be the present one.
type doubt struct {
	why   string
	other reading // at a start; the zero value: the reference is the other time
	since time.Duration
}

// New returns a Clock of a database, of which ask returns what it knows, and believe moves the time up to which its servers believe their clocks towards
// another one, and returns it. Without a database, both are nil.
func New(ask func(context.Context) (Times, error), believe func(context.Context, time.Time) (time.Time, error), log *slog.Logger) *Clock {
	start := time.Now()
	return newClock(ask, believe, log, func() time.Time { return time.Now().Round(0) }, func() time.Duration { return time.Since(start) })
}

func newClock(ask func(context.Context) (Times, error), believe func(context.Context, time.Time) (time.Time, error), log *slog.Logger, machine func() time.Time, passed func() time.Duration) *Clock {
	return &Clock{ask: ask, believe: believe, log: log, machine: machine, passed: passed, trusted: reading{machine(), passed()}}
}

// Run asks the database now and then until ctx ends, and logs doubts.
func (c *Clock) Run(ctx context.Context) {
	ticker := time.NewTicker(askEvery)
	defer ticker.Stop()
	logged := ""
	for {
		c.Ask(ctx)
		if why := c.Doubt(); why != logged {
			if logged = why; why == "" {
				c.log.Info("the clock is believed again")
			} else {
				c.log.Error("the clock is in doubt: nothing is deleted, and statements are shown that are valid by either time", "why", why)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// Ask asks the database what time it is. Without an answer the last one counts. Run calls it; before, a caller may do it, so that the first snapshot
// is of the right time.
func (c *Clock) Ask(ctx context.Context) {
	if c.ask == nil {
		return
	}
	asking, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	t, err := c.ask(asking)
	if err != nil {
		return // whoever reads the data reports it
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	passed := c.passed()
	if c.zero = (time.Time{}); !t.Database.IsZero() {
		c.zero = t.Database.Add(-passed)
	}
	if c.asked {
		return
	}
	c.asked = true
	now := c.reference(passed)
	c.trusted = reading{now, passed}
	switch {
	case now.Before(t.Imported.Add(-Tolerance)):
		c.doubt = &doubt{"at the start it was before the last import of data", reading{t.Imported, passed}, passed}
	case !t.Believed.IsZero() && now.After(t.Believed.Add(away)):
		c.doubt = &doubt{"at the start it was more than four days after what a server did last", reading{later(t.Believed, t.Imported), passed}, passed}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (c *Clock) reference(passed time.Duration) time.Time {
	if c.zero.IsZero() {
		return c.machine()
	}
	return c.zero.Add(passed)
}

// Present returns the present time. It never goes back by more than the [Tolerance], unless a doubt has ended.
func (c *Clock) Present() data.Present {
	c.mu.Lock()
	defer c.mu.Unlock()
	passed := c.passed()
	reference, expected := c.reference(passed), c.trusted.at(passed)
	if c.doubt != nil && passed-c.doubt.since >= patience {
		c.doubt, expected = nil, reference
	}
	atStart := c.doubt != nil && c.doubt.other != reading{}
	switch agree := reference.Sub(expected).Abs() <= Tolerance; {
	case agree && atStart:
		c.trusted = reading{reference, passed}
		return data.Present{Now: reference, Also: c.doubt.other.at(passed)}
	case agree:
		c.trusted, c.doubt = reading{reference, passed}, nil
		return data.At(reference)
	case c.doubt == nil:
		c.doubt = &doubt{"it was set while the server ran, or the machine slept", reading{}, passed}
	}
	return data.Present{Now: expected, Also: reference}
}

// Now returns the present time, the first one in doubt.
func (c *Clock) Now() time.Time { return c.Present().Now }

// Believed returns the time by which something is old enough to be deleted; the zero time while the clock is in doubt: nothing is. Whoever asks, it moves once
// an hour, by as much as the database lets it.
func (c *Clock) Believed(ctx context.Context) (time.Time, error) {
	p := c.Present()
	if p.Doubtful() {
		return time.Time{}, nil
	}
	if c.believe == nil {
		return p.Now, nil
	}
	c.believing.Lock()
	defer c.believing.Unlock()
	passed := c.passed()
	if c.believed == (reading{}) || passed-c.believed.passed >= believeEvery {
		believed, err := c.believe(ctx, p.Now)
		if err != nil {
			return time.Time{}, err
		}
		c.believed = reading{believed, passed}
	}
	if p.Now.Before(c.believed.time) {
		return p.Now, nil
	}
	return c.believed.time, nil
}

// Doubt says why the clock is in doubt, or that the machine's clock is not that of the database; empty if all is well.
func (c *Clock) Doubt() string {
	p := c.Present()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.doubt != nil:
		return c.doubt.why
	case c.machine().Sub(p.Now).Abs() > Tolerance:
		return "the clock of this machine is not that of the database, which counts"
	}
	return ""
}

// Ahead returns how far the machine's clock is ahead of the present time; it is negative if it is behind.
func (c *Clock) Ahead() time.Duration { return c.machine().Sub(c.Now()) }
