package tiles

import (
	"context"
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// A caller that left must not keep its place in a full queue until its goroutine runs again: a map that is moved leaves 20
// tiles and requests 20 others at once.
func TestFullQueueDropsWaitersThatLeft(t *testing.T) {
	q := newRenderQueue(1, 1, prometheus.NewGauge(prometheus.GaugeOpts{}))
	if _, err := q.acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	leaving, leave := context.WithCancel(t.Context())
	if _, _, err := q.enqueue(leaving); err != nil {
		t.Fatal(err)
	}
	if _, _, err := q.enqueue(t.Context()); !errors.Is(err, ErrBusy) {
		t.Fatalf("a full queue gives %v, want ErrBusy", err)
	}
	leave()
	turn, _, err := q.enqueue(t.Context())
	if err != nil {
		t.Fatalf("a queue whose only waiter has left gives %v, want a place", err)
	}
	q.release()
	if len(turn) != 1 {
		t.Error("the waiter got no turn after the release")
	}
}
