package tiles

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"limnomap/data"
)

// The tests below run in bubbles (testing/synctest): synctest.Wait returns once everything that can go on has gone
// on, and the clock moves only when nothing else can.

// ask asks for a tile in a goroutine of its own, and gives the error on the channel that it returns.
func ask(ctx context.Context, s *Service, v *data.View, x uint32) <-chan error {
	answer := make(chan error, 1)
	go func() {
		_, err := s.Tile(ctx, v, testRequest(x))
		answer <- err
	}()
	return answer
}

func TestWhoLeavesEarlyStopsNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &fakeRenderer{gate: make(chan struct{})}
		s := newTestService(t, r, &Options{Renders: 1})
		v := new(data.View)
		firstCtx, leave := context.WithCancel(context.Background())
		first := ask(firstCtx, s, v, 1)
		synctest.Wait() // the first caller's flight draws
		second := ask(context.Background(), s, v, 1)
		synctest.Wait()
		leave()
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Errorf("who left gets %v, want context.Canceled", err)
		}
		r.gate <- struct{}{}
		if err := <-second; err != nil || r.total() != 1 {
			t.Errorf("who stayed gets %v after %d renders, want the tile after 1", err, r.total())
		}
	})
}

func TestRenderUnderWayIsKeptThoughAllLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &fakeRenderer{gate: make(chan struct{})}
		s := newTestService(t, r, &Options{Renders: 1})
		v := new(data.View)
		ctx, leave := context.WithCancel(context.Background())
		answer := ask(ctx, s, v, 1)
		synctest.Wait()
		leave()
		<-answer
		next := ask(context.Background(), s, v, 1) // joins what nobody waited for
		synctest.Wait()
		r.gate <- struct{}{}
		if err := <-next; err != nil || r.total() != 1 {
			t.Errorf("who asks next gets %v after %d renders, want the tile after 1", err, r.total())
		}
	})
}

func TestQueuedTileThatNobodyWantsIsNotDrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &fakeRenderer{gate: make(chan struct{})}
		s := newTestService(t, r, &Options{Renders: 1, Queue: 1})
		v := new(data.View)
		drawing := ask(context.Background(), s, v, 1)
		synctest.Wait()
		ctx, leave := context.WithCancel(context.Background())
		queued, shared := ask(ctx, s, v, 2), ask(ctx, s, v, 2)
		synctest.Wait()
		leave()
		<-queued
		<-shared
		synctest.Wait()
		third := ask(context.Background(), s, v, 3) // its place in the queue is free again
		synctest.Wait()
		r.gate <- struct{}{}
		r.gate <- struct{}{}
		if err := errors.Join(<-drawing, <-third); err != nil {
			t.Error(err)
		}
		if r.total() != 2 {
			t.Errorf("%d renders, want 2: the first tile and the third", r.total())
		}
	})
}

func TestQueuedTileIsDrawnForWhoStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &fakeRenderer{gate: make(chan struct{})}
		s := newTestService(t, r, &Options{Renders: 1})
		v := new(data.View)
		drawing := ask(context.Background(), s, v, 1)
		synctest.Wait()
		ctx, leave := context.WithCancel(context.Background())
		leaver := ask(ctx, s, v, 2)
		synctest.Wait()
		stayer := ask(context.Background(), s, v, 2)
		synctest.Wait()
		leave()
		<-leaver
		close(r.gate)
		if err := errors.Join(<-drawing, <-stayer); err != nil {
			t.Error(err)
		}
	})
}

// TestFlightsDeadlineIsNotTheCallers looks at the flight itself, whose callers may hear of its timeout in two ways.
func TestFlightsDeadlineIsNotTheCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := newFlights(1, 1, time.Second, newMetrics(nil))
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := fs.acquire(&flight{ctx: ctx, turn: make(chan struct{})}); err != nil {
			t.Fatal(err)
		}
		if err := fs.acquire(&flight{ctx: ctx, turn: make(chan struct{})}); !errors.Is(err, ErrBusy) || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("acquire after the timeout: error %v, want ErrBusy alone", err)
		}
	})
}

func TestQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const renders, queue = 2, 3
		r := &fakeRenderer{gate: make(chan struct{})}
		s := newTestService(t, r, &Options{Renders: renders, Queue: queue})
		v := new(data.View)
		var answers []<-chan error
		for x := range uint32(renders + queue) {
			answers = append(answers, ask(context.Background(), s, v, x))
			synctest.Wait()
		}
		if r.total() != renders {
			t.Errorf("%d tiles are drawn at once, want %d", r.total(), renders)
		}
		start := time.Now()
		if _, err := s.Tile(context.Background(), v, testRequest(99)); !errors.Is(err, ErrBusy) || time.Since(start) != 0 {
			t.Errorf("one more than may wait: error %v after %v, want ErrBusy at once", err, time.Since(start))
		}
		if got := testutil.ToFloat64(s.metrics.shed); got != 1 {
			t.Errorf("%v refusals counted, want 1", got)
		}
		if got := testutil.ToFloat64(s.metrics.renderQueue); got != queue {
			t.Errorf("%v tiles counted as waiting, want %d", got, queue)
		}
		joined := ask(context.Background(), s, v, 0) // to share a flight takes no place
		synctest.Wait()
		close(r.gate)
		for _, answer := range append(answers, joined) {
			if err := <-answer; err != nil {
				t.Error(err)
			}
		}
		mustTile(t, s, v, testRequest(99))
	})
}

// TestCrowdLeavesOneProcessor has one fewer draw at once while many wait.
func TestCrowdLeavesOneProcessor(t *testing.T) {
	tests := []struct{ renders, waiting, want int }{
		{3, 3, 3},
		{3, 4, 2},
		{2, 3, 1},
		{1, 9, 1}, // nobody draws at all with none
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%d waiting for %d", test.waiting, test.renders), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &fakeRenderer{gate: make(chan struct{})}
				s := newTestService(t, r, &Options{Renders: test.renders})
				v := new(data.View)
				var answers []<-chan error
				for x := range uint32(test.renders + test.waiting) {
					answers = append(answers, ask(context.Background(), s, v, x))
					synctest.Wait()
				}
				r.gate <- struct{}{} // one is drawn, and the next may follow if test.waiting are no crowd
				synctest.Wait()
				if got := testutil.ToFloat64(s.metrics.rendersInFlight); got != float64(test.want) {
					t.Errorf("%v are drawn at once, want %d", got, test.want)
				}
				close(r.gate)
				for _, answer := range answers {
					if err := <-answer; err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
}

func TestTimeoutIsBusyAndTheRenderIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &fakeRenderer{gate: make(chan struct{})}
		s := newTestService(t, r, &Options{Renders: 1, RenderTimeout: time.Second})
		v := new(data.View)
		start := time.Now()
		drawing, queued := ask(context.Background(), s, v, 1), ask(context.Background(), s, v, 2)
		for _, answer := range []<-chan error{drawing, queued} {
			if err := <-answer; !errors.Is(err, ErrBusy) || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v, want ErrBusy, and not the caller's own deadline", err)
			}
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("the answers took %v, want 1s", took)
		}
		close(r.gate)
		synctest.Wait()
		mustTile(t, s, v, testRequest(1))
		mustTile(t, s, v, testRequest(2))
		if r.total() != 2 {
			t.Errorf("%d renders, want 2: what was drawn too late is kept, what was not begun is drawn now", r.total())
		}
	})
}

func TestCloseWaitsForRendersAndRefusesNewOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &fakeRenderer{gate: make(chan struct{})}
		s := newTestService(t, r, &Options{Renders: 1, Dir: t.TempDir(), Variant: "who2003"})
		v := new(data.View)
		answer := ask(context.Background(), s, v, 1)
		synctest.Wait()
		closed := make(chan error, 1)
		go func() { closed <- s.Close() }()
		synctest.Wait()
		if _, err := s.Tile(context.Background(), v, testRequest(2)); !errors.Is(err, ErrBusy) {
			t.Errorf("a new tile while closing: error %v, want ErrBusy", err)
		}
		select {
		case <-closed:
			t.Error("Close returned before the render ended")
		default:
		}
		r.gate <- struct{}{}
		if err := errors.Join(<-answer, <-closed, s.Close()); err != nil {
			t.Error(err)
		}
		mustTile(t, s, v, testRequest(1)) // from memory, which needs no closing
		if _, err := s.Tile(context.Background(), v, testRequest(2)); !errors.Is(err, ErrBusy) {
			t.Errorf("a new tile after Close: error %v, want ErrBusy", err)
		}
	})
}

func TestPutNeverWaitsForTheDisk(t *testing.T) {
	d := newTestDisk(t, t.TempDir(), 1<<20, newTestClock()) // without a writer: as slow as a disk can be
	for i := range maxWrites + 3 {
		d.disk.put(numberedKey(i), newTile([]byte("a tile")))
	}
	if got := testutil.ToFloat64(d.metrics.dropped); got != 3 {
		t.Errorf("%v dropped writes counted, want 3", got)
	}
}
