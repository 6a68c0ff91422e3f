package tiles

import (
	"container/list"
	"context"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// A renderQueue bounds how many tiles are drawn at once, and how many wait for that. Turns are given in order of arrival.
type renderQueue struct {
	renders int              // turns at once
	limit   int              // tiles that may wait
	length  prometheus.Gauge // tiles that wait

	mu      sync.Mutex // guards what follows
	waiting list.List  // of a waiter for each that waits
	drawing int        // turns that were given and not released
}

func newRenderQueue(renders, limit int, length prometheus.Gauge) *renderQueue {
	return &renderQueue{renders: renders, limit: limit, length: length}
}

// A waiter waits for a turn until its ctx ends.
type waiter struct {
	ctx  context.Context
	turn chan bool // receives whether the queue was crowded when the turn came
}

// acquire waits for a turn, which release ends. It reports whether the queue was crowded when the turn came. The error is
// ErrBusy if too many wait already, or the cause of ctx's end.
func (q *renderQueue) acquire(ctx context.Context) (crowded bool, err error) {
	turn, element, err := q.enqueue(ctx)
	if err != nil {
		return false, err
	}
	select {
	case crowded := <-turn:
		return crowded, nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case <-turn: // it came at the same time
		q.drawing--
	default:
		q.waiting.Remove(element)
	}
	q.admit()
	return false, context.Cause(ctx)
}

// enqueue returns the channel on which a turn comes: at once if the queue is short enough.
func (q *renderQueue) enqueue(ctx context.Context) (turn chan bool, element *list.Element, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	turn = make(chan bool, 1)
	if q.waiting.Len() >= q.limit {
		q.removeEnded()
	}
	element = q.waiting.PushBack(waiter{ctx, turn})
	q.admit()
	if len(turn) == 0 && q.waiting.Len() > q.limit {
		q.waiting.Remove(element)
		q.admit()
		return nil, nil, ErrBusy
	}
	return turn, element, nil
}

// removeEnded removes the waiters whose ctx has ended: their goroutines may not have run since. q.mu must be held.
func (q *renderQueue) removeEnded() {
	for e := q.waiting.Front(); e != nil; {
		next := e.Next()
		if e.Value.(waiter).ctx.Err() != nil {
			q.waiting.Remove(e)
		}
		e = next
	}
}

// release ends a turn.
func (q *renderQueue) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drawing--
	q.admit()
}

// admit gives as many turns as are free. q.mu must be held.
func (q *renderQueue) admit() {
	for q.waiting.Len() > 0 && q.drawing < q.turns() {
		crowded := q.crowded()
		q.waiting.Remove(q.waiting.Front()).(waiter).turn <- crowded
		q.drawing++
	}
	q.length.Set(float64(q.waiting.Len()))
}

// crowded reports whether more wait than may draw. q.mu must be held.
func (q *renderQueue) crowded() bool { return q.waiting.Len() > q.renders }

// turns returns how many may draw at once. In a crowded queue, one processor is kept for cached tiles: Go's scheduler looks
// at the network when a processor has nothing to run, and otherwise only every 10 ms (sysmon in runtime/proc.go). If every
// processor draws and a next tile is always there, a hit waits that long. A short queue leaves enough pauses, and all
// processors draw. q.mu must be held.
func (q *renderQueue) turns() int {
	if q.crowded() {
		return max(1, q.renders-1)
	}
	return q.renders
}
