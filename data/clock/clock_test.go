package clock

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"limnomap/data"
)

const year = 365 * 24 * time.Hour

// A machine has a clock that can be set, and a database that may have another one.
type machine struct {
	start  time.Time
	ahead  time.Duration // of its clock
	passed time.Duration
	times  Times
	failed error
	shared time.Duration // how far the database's clock is ahead; only if it has one
	own    bool          // whether the database has a clock
	moved  int           // how often the database moved the believed time, by a day at a time
}

func (m *machine) believe(_ context.Context, now time.Time) (time.Time, error) {
	if m.failed != nil {
		return time.Time{}, m.failed
	}
	m.moved++
	if next := m.times.Believed.Add(24 * time.Hour); next.Before(now) {
		now = next
	}
	m.times.Believed = now
	return now, nil
}

func (m *machine) now() time.Time { return m.start.Add(m.passed) }

func (m *machine) clock(t *testing.T) *Clock {
	t.Helper()
	return newClock(func(context.Context) (Times, error) {
		times := m.times
		if m.own {
			times.Database = m.now().Add(m.shared)
		}
		return times, m.failed
	}, m.believe, slog.New(slog.DiscardHandler), func() time.Time { return m.now().Add(m.ahead) }, func() time.Duration { return m.passed })
}

// check checks the present time against the right one.
func (m *machine) check(t *testing.T, c *Clock, now, also time.Duration, doubtful bool) {
	t.Helper()
	p := c.Present()
	want := data.At(m.now().Add(now))
	if doubtful {
		want.Also = m.now().Add(also)
	}
	if p != want {
		t.Errorf("%s after the start it is %s and %s, want %s and %s", m.passed, p.Now, p.Also, want.Now, want.Also)
	}
}

var start = time.Date(2026, 7, 5, 12, 0, 0, 0, time.UTC)

func TestClockIsSetWhileServerRuns(t *testing.T) {
	for _, jump := range []time.Duration{time.Hour, -time.Hour, year, -year, 6 * time.Second} {
		t.Run(jump.String(), func(t *testing.T) {
			m := &machine{start: start}
			c := m.clock(t)
			c.Ask(t.Context())
			m.passed = time.Minute
			m.check(t, c, 0, 0, false)
			m.ahead = jump
			m.check(t, c, 0, jump, true)
			if c.Doubt() == "" || c.Ahead() != jump {
				t.Errorf("doubt %q, ahead by %s", c.Doubt(), c.Ahead())
			}
			m.passed += patience - time.Second
			m.check(t, c, 0, jump, true)
			m.ahead = 0 // it is right again
			m.check(t, c, 0, 0, false)
			if c.Doubt() != "" {
				t.Errorf("doubt %q of a right clock", c.Doubt())
			}
			m.ahead = jump
			m.check(t, c, 0, jump, true)
			m.passed += patience
			m.check(t, c, jump, 0, false) // believed in the end
			m.ahead = 0
			m.check(t, c, jump, 0, true)
		})
	}
}

func TestSmallStepsAreBelieved(t *testing.T) {
	m := &machine{start: start}
	c := m.clock(t)
	for range 10 {
		m.ahead += 3 * time.Second
		m.check(t, c, m.ahead, 0, false)
	}
	m.ahead -= 3 * time.Second
	m.check(t, c, m.ahead, 0, false)
}

func TestDatabaseClockCounts(t *testing.T) {
	m := &machine{start: start, own: true, ahead: -year}
	c := m.clock(t)
	c.Ask(t.Context())
	m.check(t, c, 0, 0, false)
	if c.Doubt() == "" || c.Ahead() != -year {
		t.Errorf("doubt %q, ahead by %s: the machine is a year behind", c.Doubt(), c.Ahead())
	}
	m.ahead = year // of no interest
	m.passed = time.Minute
	m.check(t, c, 0, 0, false)
	m.shared = time.Hour
	m.check(t, c, 0, 0, false) // it was not asked
	c.Ask(t.Context())
	m.check(t, c, 0, time.Hour, true)
	m.failed = errors.New("away")
	c.Ask(t.Context())
	m.check(t, c, 0, time.Hour, true)
	m.failed, m.shared = nil, 0
	c.Ask(t.Context())
	m.check(t, c, 0, 0, false)
}

func TestStart(t *testing.T) {
	for _, tt := range []struct {
		name     string
		ahead    time.Duration
		times    Times
		doubtful bool
		also     time.Duration
	}{
		{"a new database", year, Times{}, false, 0},
		{"after a night", 0, Times{Imported: start.Add(-year), Believed: start.Add(-9 * time.Hour)}, false, 0},
		{"ahead", year, Times{Imported: start.Add(-time.Hour), Believed: start.Add(-time.Minute)}, true, -time.Minute},
		{"behind", -year, Times{Imported: start.Add(-time.Hour), Believed: start.Add(-time.Minute)}, true, -time.Hour},
		{"behind a clock that was believed wrongly", 0, Times{Imported: start.Add(-time.Hour), Believed: start.Add(year)}, false, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &machine{start: start, ahead: tt.ahead, times: tt.times}
			c := m.clock(t)
			c.Ask(t.Context())
			m.check(t, c, tt.ahead, tt.also, tt.doubtful)
			m.passed = patience - time.Second
			c.Ask(t.Context())
			m.check(t, c, tt.ahead, tt.also, tt.doubtful)
			if (c.Doubt() != "") != tt.doubtful {
				t.Errorf("doubt %q", c.Doubt())
			}
			m.passed = patience
			m.check(t, c, tt.ahead, 0, false)
		})
	}
}

// The real clocks agree, and Run says why the clock is in doubt once.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var messages bytes.Buffer
		asked := 0
		c := New(func(context.Context) (Times, error) {
			asked++
			return Times{Imported: time.Now().Add(year)}, nil
		}, nil, slog.New(slog.NewTextHandler(&messages, nil)))
		ctx, stop := context.WithTimeout(t.Context(), 2*patience)
		defer stop()
		c.Run(ctx)
		if p := c.Present(); p != data.At(time.Now().Round(0)) {
			t.Errorf("it is %s and %s", p.Now, p.Also)
		}
		if n := bytes.Count(messages.Bytes(), []byte("before the last import")); n != 1 || !bytes.Contains(messages.Bytes(), []byte("believed again")) || asked < int(2*patience/askEvery) {
			t.Errorf("asked %d times, %s", asked, &messages)
		}
	})
}

// What is deleted goes by a time that moves once an hour, however many ask, and not at all while the clock is in doubt.
func TestBelieved(t *testing.T) {
	m := &machine{start: start, times: Times{Imported: start.Add(-time.Hour), Believed: start.Add(-3 * 24 * time.Hour)}}
	c := m.clock(t)
	c.Ask(t.Context())
	want := func(want time.Time, moved int) {
		t.Helper()
		for range 3 {
			if got, err := c.Believed(t.Context()); err != nil || !got.Equal(want) {
				t.Errorf("Believed = %v, %v, want %v", got, err, want)
			}
		}
		if m.moved != moved {
			t.Errorf("it was moved %d times, want %d", m.moved, moved)
		}
	}
	want(start.Add(-2*24*time.Hour), 1)
	m.passed += believeEvery - time.Second
	want(start.Add(-2*24*time.Hour), 1)
	m.passed += time.Second
	want(start.Add(-24*time.Hour), 2)
	m.ahead = year
	want(time.Time{}, 2)
	m.ahead = 0
	want(start.Add(-24*time.Hour), 2)
	m.passed += 2 * believeEvery
	m.failed = errors.New("away")
	if _, err := c.Believed(t.Context()); !errors.Is(err, m.failed) {
		t.Errorf("Believed = %v, want %v", err, m.failed)
	}
	m.failed = nil
	want(start.Add(0), 3)
	m.passed += believeEvery
	want(start.Add(m.passed), 4)
	if got, err := newClock(nil, nil, slog.New(slog.DiscardHandler), m.now, func() time.Duration { return m.passed }).Believed(t.Context()); err != nil || !got.Equal(m.now()) {
		t.Errorf("without a database it is %v, %v", got, err)
	}
}
