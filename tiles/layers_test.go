package tiles

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"limnomap/colormap"
	"limnomap/data"
	"limnomap/render"
)

func TestLayerIsBuiltOnceForAllWhoAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		builds := 0
		ls := newLayers(func(*data.View, *render.Layer) (*render.Layer, error) {
			builds++
			<-gate
			return new(render.Layer), nil
		}, newMetrics(nil))
		v := new(data.View)
		impatient, leave := context.WithCancel(context.Background())
		answers := make(chan error, 100)
		go func() { _, err := ls.get(context.Background(), v); answers <- err }()
		synctest.Wait()
		go func() { _, err := ls.get(impatient, v); answers <- err }()
		for range 98 {
			go func() { _, err := ls.get(context.Background(), v); answers <- err }()
		}
		synctest.Wait()
		leave()
		if err := <-answers; !errors.Is(err, context.Canceled) {
			t.Errorf("who left gets %v, want context.Canceled", err)
		}
		close(gate)
		for range 99 {
			if err := <-answers; err != nil {
				t.Error(err)
			}
		}
		if _, err := ls.get(impatient, v); err != nil || builds != 1 {
			t.Errorf("a layer that is there: error %v after %d builds, want none after 1", err, builds)
		}
	})
}

func TestLayersFallOut(t *testing.T) {
	tests := []struct {
		name  string
		lakes int
		held  int
	}{
		{"small ones by number", 1, maxLayers},
		{"large ones by lakes", maxLayerLakes / 4, 4},
		{"the two newest stay at any size", 2 * maxLayerLakes, 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ls := newLayers(func(*data.View, *render.Layer) (*render.Layer, error) { return new(render.Layer), nil }, newMetrics(nil))
			lakes := make([]data.Lake, test.lakes) // never touched, hence never in memory
			var views []*data.View
			for range 2 * maxLayers {
				views = append(views, &data.View{Lakes: lakes})
				if _, err := ls.get(context.Background(), views[len(views)-1]); err != nil {
					t.Fatal(err)
				}
			}
			runtime.KeepAlive(views)
			if got := len(*ls.held.Load()); got != test.held || ls.lakes != test.held*test.lakes {
				t.Errorf("%d layers of %d lakes are held, want %d of %d", got, ls.lakes, test.held, test.held*test.lakes)
			}
		})
	}
}

func TestLayerThatFailedIsBuiltAgain(t *testing.T) {
	fail := true
	ls := newLayers(func(*data.View, *render.Layer) (*render.Layer, error) {
		if fail {
			return nil, errFake
		}
		return new(render.Layer), nil
	}, newMetrics(nil))
	v := new(data.View)
	if _, err := ls.get(context.Background(), v); !errors.Is(err, errFake) {
		t.Errorf("error %v, want that of the build", err)
	}
	fail = false
	if _, err := ls.get(context.Background(), v); err != nil || len(*ls.held.Load()) != 1 {
		t.Errorf("asked again: error %v with %d layers held, want none with 1", err, len(*ls.held.Load()))
	}
}

func TestLayersLeastUsedFallsOut(t *testing.T) {
	builds := make(map[*data.View]int)
	ls := newLayers(func(v *data.View, _ *render.Layer) (*render.Layer, error) { builds[v]++; return new(render.Layer), nil }, newMetrics(nil))
	var views []*data.View
	for range maxLayers + 1 {
		views = append(views, new(data.View))
	}
	ask := func(v *data.View) {
		if _, err := ls.get(context.Background(), v); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range views[:maxLayers] {
		ask(v)
	}
	ask(views[0])
	ask(views[maxLayers])
	ask(views[0])
	ask(views[1])
	if builds[views[0]] != 1 || builds[views[1]] != 2 {
		t.Errorf("the layer just used is built %d times and the one used before all others %d times, want 1 and 2",
			builds[views[0]], builds[views[1]])
	}
}

// TestLayerGoesWithItsView has the garbage collector find a view that nobody has any more, and one that the test has. The
// layers are real ones: one that held on to its view would keep both for ever.
func TestLayerGoesWithItsView(t *testing.T) {
	r := render.New(colormap.Limits{Level1: 10, Level2: 50})
	ls := newLayers(func(v *data.View, _ *render.Layer) (*render.Layer, error) { return r.Layer(v), nil }, newMetrics(nil))
	lakes, states := make([]data.Lake, 3), make([]data.State, 3)
	current := &data.View{Lakes: lakes, States: states}
	for _, v := range []*data.View{{Lakes: lakes, States: states}, current} {
		if _, err := ls.get(context.Background(), v); err != nil {
			t.Fatal(err)
		}
	}
	for range 1000 { // the cleanup runs some time after the collection
		runtime.GC()
		if len(*ls.held.Load()) < 2 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	held := *ls.held.Load()
	if len(held) != 1 || held[0].view.Value() != current || ls.lakes != len(lakes) {
		t.Errorf("%d layers of %d lakes are held, want the current view's alone", len(held), ls.lakes)
	}
}

// BenchmarkLayers has 64 goroutines ask for the oldest of a few layers.
func BenchmarkLayers(b *testing.B) {
	ls := newLayers(func(*data.View, *render.Layer) (*render.Layer, error) { return new(render.Layer), nil }, newMetrics(nil))
	var views [4]*data.View
	for i := range views {
		views[len(views)-1-i] = new(data.View)
		if _, err := ls.get(context.Background(), views[len(views)-1-i]); err != nil {
			b.Fatal(err)
		}
	}
	b.SetParallelism(64)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := ls.get(context.Background(), views[0]); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
