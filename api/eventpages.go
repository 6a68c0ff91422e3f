package api

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"limnomap/data"
	"limnomap/data/snapshot"
)

// maxEventPages is how many pages of the log are kept, each of at most eventPage events of some 300 bytes. Nearly all readers ask for the
// newest ones.
const maxEventPages = 16

// eventPages read the log page by page. A page that many clients ask for at the same time, as they do after each import, is read once.
type eventPages struct {
	*common
	pages  *lru.Cache[data.EventQuery, []data.Event] // never changes: each query has an end, up to which the log is only added to
	flight singleflight.Group
	newest atomic.Int64 // the number of the newest event at the last request
}

// read returns the events of a query, which must have an end. They must not be changed.
func (p *eventPages) read(r *http.Request, q data.EventQuery) ([]data.Event, error) {
	if page, ok := p.pages.Get(q); ok {
		return page, nil
	}
	page, err, _ := p.flight.Do(fmt.Sprint(q), func() (any, error) {
		var page []data.Event
		err := p.askStore(r.WithContext(context.WithoutCancel(r.Context())), errEventStore, func(ctx context.Context) (err error) {
			page, err = p.opts.Events.Events(ctx, q)
			return err
		})
		if err == nil && q.Lake == "" {
			p.pages.Add(q, page)
		}
		return page, err
	})
	if err != nil {
		return nil, err
	}
	return page.([]data.Event), nil
}

// noEvents is an EventLog without events.
type noEvents struct{}

func (noEvents) State() (data.EventState, <-chan struct{}) {
	return data.EventState{Oldest: 1}, nil
}

func (noEvents) StoredState(context.Context) (data.EventState, error) {
	return data.EventState{Oldest: 1}, nil
}

func (noEvents) Events(context.Context, data.EventQuery) ([]data.Event, error) { return nil, nil }

func (noEvents) Changes(_ context.Context, snap *snapshot.Snapshot, since string) (func(int) bool, error) {
	if since != snap.Version {
		return nil, data.ErrNoMoment
	}
	return func(int) bool { return false }, nil
}
