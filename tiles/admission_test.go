package tiles

import (
	"context"
	"errors"
	"net/netip"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"limnomap/data/snapshot"
	"limnomap/render"
	"limnomap/tiles/admission"
)

// A walker is a renderer whose Fingerprint waits at a gate for each tile that it does not remember.
type walker struct {
	fakeRenderer
	gate      chan struct{}
	now, most atomic.Int32 // walks at once
	walks     atomic.Int32 // in all
}

func newWalker() *walker {
	w := &walker{gate: make(chan struct{})}
	w.walk = func(render.Spec) {
		w.most.Store(max(w.most.Load(), w.now.Add(1)))
		<-w.gate
		time.Sleep(time.Millisecond) // turns are shared by the time that they take
		w.now.Add(-1)
		w.walks.Add(1)
	}
	return w
}

type clientKey struct{}

// as returns the context of a client.
func as(t *testing.T, name byte) context.Context {
	return context.WithValue(t.Context(), clientKey{}, name)
}

func clientOfContext(ctx context.Context) admission.Client {
	name, _ := ctx.Value(clientKey{}).(byte)
	return admission.ClientOf(netip.AddrFrom4([4]byte{192, 0, 2, name}))
}

// A crowd of tiles whose fingerprints are not known walks over the lakes behind the same bound as renders: a few at once, a
// few waiting, the others refused at once. Tiles in memory do not wait for any of them.
func TestFingerprintsWaitForTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const renders, queue, crowd = 2, 5, 50
		r := newWalker()
		s := newTestService(t, r, &Options{Renders: renders, Queue: queue})
		v := new(snapshot.View)
		hit := ask(t.Context(), s, v, 0)
		r.gate <- struct{}{}
		mustDo(t, <-hit)
		answers := make(chan error, crowd)
		for x := range uint32(crowd) {
			go func() { answers <- <-ask(t.Context(), s, v, 1+x) }()
		}
		synctest.Wait()
		mustDo(t, <-ask(t.Context(), s, v, 0)) // while all turns are taken
		for range crowd - renders - queue {
			if err := <-answers; !errors.Is(err, ErrBusy) {
				t.Fatalf("one more than may wait gets %v, want ErrBusy", err)
			}
		}
		if got := testutil.ToFloat64(s.metrics.renderQueue); got != queue {
			t.Errorf("%v are counted as waiting, want %d", got, queue)
		}
		close(r.gate)
		for range renders + queue {
			if err := <-answers; err != nil {
				t.Error(err)
			}
		}
		if got := r.most.Load(); got > renders {
			t.Errorf("%d fingerprints are taken at once, want %d at most", got, renders)
		}
		if walks, drawn := r.walks.Load(), r.total(); walks != 1+renders+queue || drawn != int(walks) {
			t.Errorf("%d walks and %d renders, want %d of each", walks, drawn, 1+renders+queue)
		}
	})
}

// All who want one tile share one walk, and if the tile turns out to be in memory, no one waits for a second turn.
func TestFingerprintIsTakenOnceForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newWalker()
		s := newTestService(t, r, &Options{Renders: 1})
		before, after := new(snapshot.View), &snapshot.View{Week: 1} // the same lakes in reach
		first := ask(t.Context(), s, before, 1)
		r.gate <- struct{}{}
		mustDo(t, <-first)
		var answers []<-chan error
		for range 100 {
			answers = append(answers, ask(t.Context(), s, after, 1))
		}
		synctest.Wait()                                          // the first of them has the turn
		answers = append(answers, ask(t.Context(), s, after, 2)) // takes the next turn
		synctest.Wait()
		r.gate <- struct{}{}
		for _, answer := range answers[:100] {
			mustDo(t, <-answer)
		}
		if walks, drawn := r.walks.Load(), r.total(); walks != 2 || drawn != 1 {
			t.Errorf("%d walks and %d renders, want 2 and 1", walks, drawn)
		}
		r.gate <- struct{}{}
		mustDo(t, <-answers[100])
	})
}

// Two views that show the same are two walks, but one picture.
func TestTileOfTwoViewsIsDrawnOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &fakeRenderer{gate: make(chan struct{})}
		s := newTestService(t, r, &Options{Renders: 2})
		first, second := ask(t.Context(), s, new(snapshot.View), 1), ask(t.Context(), s, &snapshot.View{Week: 1}, 1)
		synctest.Wait()
		third := ask(t.Context(), s, new(snapshot.View), 2) // the second needs no turn while the first is drawn
		synctest.Wait()
		if got := testutil.ToFloat64(s.metrics.rendersInFlight); got != 2 {
			t.Errorf("%v tiles are drawn, want the shared one and the next", got)
		}
		close(r.gate)
		for _, answer := range []<-chan error{first, second, third} {
			mustDo(t, <-answer)
		}
		if got := r.total(); got != 2 {
			t.Errorf("%d renders, want 2", got)
		}
	})
}

// A client with five hundred tiles to draw delays another client's by one or two of them. That is so as well if the other
// one wants the last of the five hundred.
func TestOneClientDoesNotDelayAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newWalker()
		s := newTestService(t, r, &Options{Renders: 1, Client: clientOfContext})
		v := new(snapshot.View)
		const crowd = 500
		answers := make(chan error, crowd)
		for x := range uint32(crowd) {
			go func() { answers <- <-ask(as(t, 1), s, v, x) }()
			synctest.Wait()
		}
		own, shared := ask(as(t, 2), s, v, crowd), ask(as(t, 3), s, v, crowd-1)
		synctest.Wait()
		for range 3 {
			r.gate <- struct{}{}
			time.Sleep(2 * time.Millisecond)
			synctest.Wait()
		}
		for name, answer := range map[string]<-chan error{"own": own, "shared": shared} {
			select {
			case err := <-answer:
				mustDo(t, err)
			default:
				t.Errorf("after three tiles, the %s one of another client is not among them", name)
			}
		}
		close(r.gate)
		for range crowd {
			mustDo(t, <-answers)
		}
	})
}

// Building a layer is a turn, too: a long one does not run beside as many renders as are allowed.
func TestLayersWaitForTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &fakeRenderer{gate: make(chan struct{})}
		s := newTestService(t, r, &Options{Renders: 1})
		drawing := ask(t.Context(), s, new(snapshot.View), 1)
		synctest.Wait()
		waiting := ask(t.Context(), s, &snapshot.View{Week: 1}, 2)
		synctest.Wait()
		r.mu.Lock()
		if r.layers != 1 {
			t.Errorf("%d layers are built, want 1: the second waits for the render", r.layers)
		}
		r.mu.Unlock()
		close(r.gate)
		mustDo(t, <-drawing, <-waiting)
	})
}
