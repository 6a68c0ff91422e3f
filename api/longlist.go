package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// maxLongLists is how many long answers are made and sent at once. Compressed, each of 1.4 million lakes takes 40 MB
	// until its client has read it.
	maxLongLists = 4
	// longPatience is how long a request waits for its turn: long enough for a few to be made, and for its own to be sent
	// before the server gives up on its client, after a minute.
	longPatience = 20 * time.Second
)

// errLongLists is returned when too many long answers are being made.
var errLongLists = errors.New("too many long lists of lakes are being made")

// longLists let few long answers be made at a time, so that asking for many of them costs the memory of few, and leaves
// processors for everybody else.
type longLists struct {
	turns    *semaphore.Weighted
	patience time.Duration
}

func newLongLists() longLists {
	return longLists{turns: semaphore.NewWeighted(maxLongLists), patience: longPatience}
}

// enter waits for a turn, which leave ends.
func (l *longLists) enter(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, l.patience)
	defer cancel()
	err := l.turns.Acquire(waiting, 1)
	if err != nil && ctx.Err() == nil {
		return errLongLists
	}
	return err
}

func (l *longLists) leave() { l.turns.Release(1) }

// respondLong answers with the list of a selection that is too long to be held.
func (s *Server) respondLong(w http.ResponseWriter, r *http.Request, k kind, l list, sel selection) error {
	if err := s.longLists.enter(r.Context()); err != nil {
		return err
	}
	defer s.longLists.leave()
	t, err := newText(l, sel.lakes, sel.n, io.Discard)
	if err != nil {
		return err
	}
	return s.respondCoded(w, r, k, t.hash, &variant{text: t})
}
