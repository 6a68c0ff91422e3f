package api

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"limnomap/api/lakepage"
	"limnomap/data"
	"limnomap/data/accuracy"
	"limnomap/data/snapshot"
	"limnomap/tiles/admission"
)

// A ledger is what is known of how often the map was right, as of a snapshot.
type ledger struct {
	*accuracy.Ledger
	revision int64
	forecast int64 // the number of the revision of forecasts
	asOf     data.Date
	made     time.Time // when the data of the snapshot were changed
	begun    time.Time
}

// compareEvery is how often the map is compared again at most if only statements, forecasts or the day are others: that goes through all lakes with either.
const compareEvery = time.Hour

// ledgers makes the ledger, one at a time, and keeps the newest.
type ledgers struct {
	newest atomic.Pointer[ledger] // nil before the first
	making chan struct{}          // has room for one
	turns  *admission.Turns       // in which requests make the first one: not those of weeks, which would wait for it
}

func newLedgers() ledgers {
	return ledgers{making: make(chan struct{}, 1), turns: admission.NewTurns(admission.TurnsOptions{Count: 1, Waiting: waitingComparisons})}
}

// waitingComparisons bounds the requests that wait for the first ledger.
const waitingComparisons = 64

// UpdateAccuracy compares the map with samples and official statements again if they may have changed. It should be called after each Publish, and may take
// minutes: it runs on a thread of low priority, and meanwhile requests have the results before.
func (s *Server) UpdateAccuracy(ctx context.Context) error {
	p, err := s.common.published()
	if err != nil {
		return nil // there is nothing to compare yet
	}
	if newest := s.common.ledgers.newest.Load(); newest != nil && newest.revision >= p.snap.Revision.Number && s.common.opts.Now().Sub(newest.begun) < compareEvery {
		return nil
	}
	return inBackground(func() error {
		_, err := s.common.updateLedger(ctx, p.snap)
		return err
	})
}

// updateLedger returns the ledger of a snapshot, which it makes if there is none yet.
func (s *common) updateLedger(ctx context.Context, snap *snapshot.Snapshot) (*ledger, error) {
	select {
	case s.ledgers.making <- struct{}{}:
		defer func() { <-s.ledgers.making }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	newest := s.ledgers.newest.Load()
	number := max(snap.Revision.Number, snap.StatementsOf)
	if newest != nil && newest.revision == number && newest.forecast == snap.Revision.Forecasts && newest.asOf == snap.Current.AsOf {
		return newest, nil
	}
	begun := s.opts.Now()
	var before *accuracy.Ledger
	if newest != nil {
		before = newest.Ledger
	}
	l, err := CompareMap(ctx, before, snap, s.opts.Comparisons, s.opts.Historian, s.opts.Issues, s.opts.MatchDays)
	if err != nil {
		return nil, fmt.Errorf("compare the map with samples: %w", err)
	}
	made := &ledger{l, number, snap.Revision.Forecasts, snap.Current.AsOf, generatedAt(snap), begun}
	s.ledgers.newest.Store(made)
	return made, nil
}

// ledgerOf returns the newest ledger. The first is made by the first request, unless the server has made it before.
func (h *common) ledgerOf(r *http.Request, p *published) (l *ledger, err error) {
	if l = h.ledgers.newest.Load(); l != nil {
		return l, nil
	}
	err = askInTurn(r, h.ledgers.turns, weekTurnWait, errStore, func(ctx context.Context) error {
		l, err = h.updateLedger(ctx, p.snap)
		return err
	})
	return l, err
}

// compared returns what the page of a lake says: with the bias of the product that has most match-ups of those with one.
func (l *ledger) compared(id data.LakeID) (c lakepage.Compared) {
	matches, groups := l.Lake(id)
	first := accuracy.FirstOf(matches)
	c.Samples = first.Matches
	c.Same, c.Lower, c.Higher = first.Agreement()
	most := 0
	for i := range groups {
		if g := &groups[i]; g.Biased && g.Matches > most {
			most, c.Factor = g.Matches, g.Factor()
		}
	}
	return c
}
