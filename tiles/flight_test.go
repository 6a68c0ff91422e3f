package tiles

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"limnomap/data/snapshot"
)

// The tests below run in bubbles (testing/synctest): synctest.Wait returns when every goroutine waits for something, and time
// passes only then.

// ask asks for a tile on a goroutine of its own, and returns a channel for its error.
func ask(ctx context.Context, s *Service, v *snapshot.View, x uint32) <-chan error {
	answer := make(chan error, 1)
	go func() {
		_, err := s.Tile(ctx, v.Values(), testRequest(x))
		answer <- err
	}()
	return answer
}

func TestCallerThatLeavesStopsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &fakeRenderer{gate: make(chan struct{})}
		s := newTestService(t, r, &Options{Renders: 1})
		v := new(snapshot.View)
		firstCtx, leave := context.WithCancel(context.Background())
		first := ask(firstCtx, s, v, 1)
		synctest.Wait() // the first caller's flight draws
		second := ask(context.Background(), s, v, 1)
		synctest.Wait()
		leave()
		r.gate <- struct{}{}
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Errorf("the caller that left gets %v, want context.Canceled", err)
		}
		if err := <-second; err != nil || r.total() != 1 {
			t.Errorf("the other caller gets %v after %d renders, want the tile after 1", err, r.total())
		}
	})
}

// TestPanicEndsTheFlight has a search panic in its caller's goroutine, where a server recovers it: another caller gets an error, and the next one
// begins a new flight.
func TestPanicEndsTheFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs, gate, key := newFlights[Sum](time.Second), make(chan struct{}), numberedSum(1)
		ignore := func(*flight) {}
		go func() {
			defer func() { _ = recover() }()
			_, _, _ = fs.do(context.Background(), key, ignore, func(*flight) (Tile, string, error) { <-gate; panic("fake panic") })
		}()
		synctest.Wait()
		shared := make(chan error)
		go func() {
			_, _, err := fs.do(context.Background(), key, ignore, nil)
			shared <- err
		}()
		synctest.Wait()
		close(gate)
		if err := <-shared; !errors.Is(err, errPanicked) {
			t.Errorf("the caller that shares gets %v, want %v", err, errPanicked)
		}
		_, tier, err := fs.do(context.Background(), key, ignore, func(*flight) (Tile, string, error) { return Tile{}, tierRender, nil })
		if tier != tierRender || err != nil {
			t.Errorf("the next caller gets %q and %v, want a flight of its own", tier, err)
		}
		fs.close()
	})
}

func TestBegunRenderIsKeptWhenAllLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &fakeRenderer{gate: make(chan struct{})}
		s := newTestService(t, r, &Options{Renders: 1})
		v := new(snapshot.View)
		ctx, leave := context.WithCancel(context.Background())
		answer := ask(ctx, s, v, 1)
		synctest.Wait()
		leave()
		next := ask(context.Background(), s, v, 1) // joins the flight that had no caller
		synctest.Wait()
		r.gate <- struct{}{}
		if err := <-answer; !errors.Is(err, context.Canceled) {
			t.Errorf("the caller that left gets %v, want context.Canceled", err)
		}
		if err := <-next; err != nil || r.total() != 1 {
			t.Errorf("the next caller gets %v after %d renders, want the tile after 1", err, r.total())
		}
	})
}

func TestQueuedTileIsNotDrawnWhenAllLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &fakeRenderer{gate: make(chan struct{})}
		s := newTestService(t, r, &Options{Renders: 1, Queue: 1})
		v := new(snapshot.View)
		drawing := ask(context.Background(), s, v, 1)
		synctest.Wait()
		ctx, leave := context.WithCancel(context.Background())
		queued, shared := ask(ctx, s, v, 2), ask(ctx, s, v, 2)
		synctest.Wait()
		leave()
		<-queued
		<-shared
		synctest.Wait()
		third := ask(context.Background(), s, v, 3) // the queue has room again
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

func TestQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const renders, queue = 2, 3
		r := &fakeRenderer{gate: make(chan struct{})}
		s := newTestService(t, r, &Options{Renders: renders, Queue: queue})
		v := new(snapshot.View)
		var answers []<-chan error
		for x := range uint32(renders + queue) {
			answers = append(answers, ask(context.Background(), s, v, x))
			synctest.Wait()
		}
		if r.total() != renders {
			t.Errorf("%d tiles are drawn at once, want %d", r.total(), renders)
		}
		start := time.Now()
		if _, err := s.Tile(context.Background(), v.Values(), testRequest(99)); !errors.Is(err, ErrBusy) || time.Since(start) != 0 {
			t.Errorf("one more than the queue holds: error %v after %v, want ErrBusy at once", err, time.Since(start))
		}
		if got := testutil.ToFloat64(s.metrics.shed); got != 1 {
			t.Errorf("%v refusals counted, want 1", got)
		}
		if got := testutil.ToFloat64(s.metrics.renderQueue); got != queue {
			t.Errorf("%v tiles counted as waiting, want %d", got, queue)
		}
		joined := ask(context.Background(), s, v, 0) // sharing a flight needs no room in the queue
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

// TestCrowdLeavesOneProcessor checks that one tile fewer is drawn at once while many wait.
func TestCrowdLeavesOneProcessor(t *testing.T) {
	tests := []struct{ renders, waiting, want int }{
		{3, 3, 3},
		{3, 4, 2},
		{2, 3, 1},
		{1, 9, 1}, // with none, no tile would be drawn
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%d waiting for %d", test.waiting, test.renders), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &fakeRenderer{gate: make(chan struct{})}
				s := newTestService(t, r, &Options{Renders: test.renders})
				v := new(snapshot.View)
				var answers []<-chan error
				for x := range uint32(test.renders + test.waiting) {
					answers = append(answers, ask(context.Background(), s, v, x))
					synctest.Wait()
				}
				r.gate <- struct{}{} // one is drawn, and the next may follow if test.waiting is not too many
				synctest.Wait()
				if got := testutil.ToFloat64(s.metrics.rendersInFlight); got != float64(test.want) {
					t.Errorf("%v tiles are drawn at once, want %d", got, test.want)
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

// TestTimeoutIsBusy has one caller draw for too long, one share that, and one wait for its turn: the last two are answered at the timeout.
func TestTimeoutIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &fakeRenderer{gate: make(chan struct{})}
		s := newTestService(t, r, &Options{Renders: 1, RenderTimeout: time.Second})
		v := new(snapshot.View)
		start := time.Now()
		drawing := ask(context.Background(), s, v, 1)
		synctest.Wait()
		shared, queued := ask(context.Background(), s, v, 1), ask(context.Background(), s, v, 2)
		for _, answer := range []<-chan error{shared, queued} {
			if err := <-answer; !errors.Is(err, ErrBusy) || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v, want ErrBusy, and not a deadline of the caller", err)
			}
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("the answers took %v, want 1s", took)
		}
		close(r.gate)
		if err := <-drawing; err != nil {
			t.Errorf("the caller that draws gets %v", err)
		}
		mustTile(t, s, v, testRequest(1))
		mustTile(t, s, v, testRequest(2))
		if r.total() != 2 {
			t.Errorf("%d renders, want 2: the tile that was drawn too late is kept, and the other one is drawn now", r.total())
		}
	})
}

func TestCloseWaitsForRendersAndRefusesNewOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &fakeRenderer{gate: make(chan struct{})}
		s := newTestService(t, r, &Options{Renders: 1})
		v := new(snapshot.View)
		answer := ask(context.Background(), s, v, 1)
		synctest.Wait()
		closed := make(chan error, 1)
		go func() { closed <- s.Close() }()
		synctest.Wait()
		if _, err := s.Tile(context.Background(), v.Values(), testRequest(2)); !errors.Is(err, ErrBusy) {
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
		mustTile(t, s, v, testRequest(1)) // from memory, which still works
		if _, err := s.Tile(context.Background(), v.Values(), testRequest(2)); !errors.Is(err, ErrBusy) {
			t.Errorf("a new tile after Close: error %v, want ErrBusy", err)
		}
	})
}
