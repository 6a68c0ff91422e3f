package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"limnomap/data"
	"limnomap/data/snapshot"
)

// A stating is a source whose statements may fail, or change together with a value while they are read.
type stating struct {
	scripted
	err   error
	value bool
}

func (s *stating) Advisories(ctx context.Context) ([]data.Advisory, data.Revision, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, data.Revision{}, s.err
	}
	if s.value {
		s.revision.Number, s.value = s.revision.Number+1, false
	}
	return s.memory.Advisories(ctx)
}

func (s *stating) Forecasts(context.Context, data.Optional[data.Date], func(data.LakeForecast) error) (data.ForecastIssue, data.Revision, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return data.ForecastIssue{}, s.revision, data.ErrNoForecast
}

// A Watcher shows other statements without a load, and not in the background, which waits on a busy machine. Whatever else has changed is loaded.
func TestWatcherOfStatements(t *testing.T) {
	state := func(statements ...data.Advisory) func(*scripted) {
		return func(s *scripted) {
			s.advisories = statements
			s.revision.Number++
			s.revision.Statements++
		}
	}
	bad := closure()
	bad.Issuer = ""
	src := new(stating)
	src.memory = memory{lakes: lakes("a", "b"), observations: []data.Observation{row(0, data.Satellite, 5)}}
	src.script = []step{
		{2, state(closure())},
		{4, func(s *scripted) { s.revision.Number++ }},
		{6, func(s *scripted) { state(closure())(s); s.revision.Forecasts = 3 }},
		{8, func(s *scripted) { state(closure())(s); src.value = true }},
		{10, func(s *scripted) { state()(s); src.err = errors.New("no statements") }},
		{11, func(*scripted) { src.err = nil }},
		{14, state(bad)},
		{15, state()},
	}
	var published, failed []string
	synctest.Test(t, func(t *testing.T) {
		src.start = time.Now()
		background := 0
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second+500*time.Millisecond)
		defer cancel()
		var before *snapshot.Snapshot
		watcher := snapshot.Watcher{Source: src, Options: &snapshot.Options{AsOf: snapshot.Newest, Background: func() { background++ },
			Present: data.ByClock(func() time.Time { return closure().ValidFrom })},
			Publish: func(s *snapshot.Snapshot) {
				shared := before != nil && &s.Current.States[0] == &before.Current.States[0]
				before = s
				published = append(published, fmt.Sprintf("%v: %d.%d closed %v, states shared %v, %d loads, %d in the background", time.Since(src.start),
					s.Revision.Number, s.Revision.Forecasts, s.Current.Advisories.Kind(0) == data.Closure, shared, src.scanned, background))
			},
			Failed: func(err error) { failed = append(failed, err.Error()) }}
		watcher.Run(ctx)
	})
	expect(t, "published", published,
		"0s: 0.0 closed false, states shared false, 1 loads, 0 in the background",
		"3s: 1.0 closed true, states shared true, 1 loads, 0 in the background",
		"5s: 2.0 closed true, states shared false, 2 loads, 1 in the background",
		"7s: 3.0 closed true, states shared true, 2 loads, 1 in the background", // the forecasts follow
		"8s: 3.3 closed true, states shared true, 2 loads, 1 in the background",
		"9s: 5.3 closed true, states shared false, 3 loads, 2 in the background",
		"12s: 6.3 closed false, states shared true, 3 loads, 2 in the background",
		"16s: 8.3 closed false, states shared true, 3 loads, 2 in the background")
	expect(t, "failed", failed, "snapshot: no statements", `snapshot: official statement "by-2026-17": issuer is empty: want 1 to 200 characters`)
}

// A Watcher shows other statements at once also while it loads what else has changed, or fails to. What was shown stays.
func TestWatcherOfStatementsDuringLoads(t *testing.T) {
	lifted := closure()
	lifted.Kind = data.Warning
	import2 := func(statement data.Advisory) func(*scripted) {
		return func(s *scripted) {
			s.advisories = []data.Advisory{statement}
			s.revision.Number++
			s.revision.OthersAt = s.revision.OthersAt.Add(time.Hour)
		}
	}
	src := new(stating)
	src.memory = memory{lakes: lakes("a", "b"), observations: []data.Observation{row(0, data.Satellite, 5)}}
	src.script = []step{
		{2, func(s *scripted) { import2(closure())(s); s.scanTime = time.Minute }},
		{10, func(s *scripted) {
			s.advisories = []data.Advisory{lifted}
			s.revision.Number++
			s.revision.Statements++
			src.err = errors.New("the database is busy")
		}},
		{13, func(*scripted) { src.err = nil }},
		{20, func(s *scripted) { s.revision.Number++; s.revision.OthersAt = s.revision.OthersAt.Add(time.Hour) }},
		{70, func(s *scripted) { s.scanTime, s.scanErr = 0, errors.New("a bad value") }},
		{130, import2(closure())},
		{150, func(s *scripted) { s.scanErr = nil }},
	}
	var published, failed []string
	synctest.Test(t, func(t *testing.T) {
		src.start = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Second)
		defer cancel()
		watcher := snapshot.Watcher{Source: src, Options: &snapshot.Options{AsOf: snapshot.Newest,
			Present: data.ByClock(func() time.Time { return closure().ValidFrom })},
			Publish: func(s *snapshot.Snapshot) {
				published = append(published, fmt.Sprintf("%v: %d, statements of %d: %v", time.Since(src.start), s.Revision.Number, s.StatementsOf,
					s.Current.Advisories.Kind(0)))
			},
			Failed: func(err error) { failed = append(failed, fmt.Sprintf("%v: %v", time.Since(src.start), err)) }}
		watcher.Run(ctx)
	})
	expect(t, "published", published, "0s: 0, statements of 0: ", "3s: 0, statements of 1: closure", "14s: 0, statements of 2: warning",
		"1m3s: 1, statements of 3: warning", "2m4s: 3, statements of 3: warning", "2m11s: 3, statements of 4: closure", "2m42s: 4, statements of 4: closure")
	bad := ": snapshot: a bad value"
	expect(t, "failed", failed, "2m11s"+bad, "2m12s"+bad, "2m14s"+bad, "2m18s"+bad, "2m26s"+bad)
}
