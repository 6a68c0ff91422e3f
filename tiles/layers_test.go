package tiles

import (
	"context"
	"errors"
	"runtime"
	runtimemetrics "runtime/metrics"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/render"
	"limnomap/render/vector"
)

// A testLayer is a layer of a view, made with another one or without.
type testLayer struct {
	with *testLayer
	_    int // so that each has an address of its own
}

func buildTestLayer(_ *snapshot.View, like *testLayer) (*testLayer, error) {
	return &testLayer{with: like}, nil
}

// newTestLayers returns layers of at most 100 lakes.
func newTestLayers(build func(*snapshot.View, *testLayer) (*testLayer, error)) *layers[snapshot.View, testLayer] {
	return newLayers(build, shownByView, 100, newMetrics(nil).layerBuilds)
}

func mustLayer(tb testing.TB, ls *layers[snapshot.View, testLayer], v *snapshot.View) *testLayer {
	tb.Helper()
	l, err := ls.get(context.Background(), v)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

func TestLayerIsBuiltOnceForAllCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		builds := 0
		ls := newTestLayers(func(v *snapshot.View, like *testLayer) (*testLayer, error) {
			builds++
			<-gate
			return buildTestLayer(v, like)
		})
		v := new(snapshot.View)
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
			t.Errorf("the caller that left gets %v, want context.Canceled", err)
		}
		close(gate)
		for range 99 {
			if err := <-answers; err != nil {
				t.Error(err)
			}
		}
		if _, err := ls.get(impatient, v); err != nil || builds != 1 {
			t.Errorf("a layer that is held: error %v after %d builds, want none after 1", err, builds)
		}
	})
}

// TestLayerOfTheNewestWeekIsKept has more weeks asked for than layers are held, between two requests for the current map.
func TestLayerOfTheNewestWeekIsKept(t *testing.T) {
	lakes := make([]data.Lake, 40) // more than two layers are above the bound
	ls := newTestLayers(buildTestLayer)
	current := &snapshot.View{Week: 1000, Lakes: lakes}
	first := mustLayer(t, ls, current)
	var weeks []*snapshot.View
	for w := range data.Week(3 * maxLayers) {
		weeks = append(weeks, &snapshot.View{Week: w, Lakes: lakes})
		mustLayer(t, ls, weeks[w])
	}
	if got := mustLayer(t, ls, current); got != first {
		t.Error("the layer of the current map was dropped for those of other weeks")
	}
	if n := len(ls.held); n > 3 {
		t.Errorf("%d layers of %d lakes are held, want those of two weeks and of the current map", n, len(lakes))
	}
	runtime.KeepAlive(weeks)
}

// TestLayerOfTheSameWeekIsPreferred builds the layer of a week again, for other official statements, after those of other weeks.
func TestLayerOfTheSameWeekIsPreferred(t *testing.T) {
	lakes := make([]data.Lake, 1)
	ls := newTestLayers(buildTestLayer)
	views := []*snapshot.View{{Week: 1, Lakes: lakes}, {Week: 2, Lakes: lakes}, {Week: 3, Lakes: lakes}}
	var built []*testLayer
	for _, v := range views {
		built = append(built, mustLayer(t, ls, v))
	}
	if got := mustLayer(t, ls, &snapshot.View{Week: 2, Lakes: lakes}); got.with != built[1] {
		t.Error("the layer is not made with the one of its own week")
	}
	if got := mustLayer(t, ls, &snapshot.View{Week: 9, Lakes: lakes}); got.with == nil {
		t.Error("the layer of a new week is made without another one")
	}
	if got := mustLayer(t, ls, &snapshot.View{Week: 2, Lakes: make([]data.Lake, 1)}); got.with != nil {
		t.Error("the layer of other lakes is made with one of the same week")
	}
	runtime.KeepAlive(views)
}

func TestLayersAreBounded(t *testing.T) {
	tests := []struct {
		name  string
		lakes int
		held  int
	}{
		{"small ones by number", 1, maxLayers},
		{"large ones by lakes", 25, 4},
		{"the two newest stay at any size", 200, 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ls := newTestLayers(buildTestLayer)
			lakes := make([]data.Lake, test.lakes)
			var views []*snapshot.View
			for range 2 * maxLayers {
				views = append(views, &snapshot.View{Lakes: lakes})
				mustLayer(t, ls, views[len(views)-1])
			}
			if got := len(ls.held); got != test.held {
				t.Errorf("%d layers are held, want %d", got, test.held)
			}
			runtime.KeepAlive(views)
		})
	}
}

// What is made ahead takes the memory of no other layer.
func TestLayersThatAreAfforded(t *testing.T) {
	ls := newTestLayers(buildTestLayer)
	lakes := make([]data.Lake, 40)
	views := make([]*snapshot.View, 4)
	for i := range views {
		views[i] = &snapshot.View{Week: data.Week(i), Lakes: lakes}
	}
	for i, v := range views[:2] {
		if !ls.affords(v) {
			t.Errorf("layer %d is not afforded", i)
		}
		mustLayer(t, ls, v)
	}
	if ls.affords(views[2]) || !ls.affords(views[0]) {
		t.Errorf("a third layer of 40 lakes of 100 is afforded: %t, one that is held: %t", ls.affords(views[2]), ls.affords(views[0]))
	}
	ls.light = func(v *snapshot.View) bool { return v == views[3] }
	if !ls.affords(views[3]) {
		t.Error("a light layer is not afforded")
	}
	runtime.KeepAlive(views)
}

func TestAllCallersGetTheErrorOfOneBuild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		builds := 0
		ls := newTestLayers(func(*snapshot.View, *testLayer) (*testLayer, error) {
			builds++
			<-gate
			return nil, errFake
		})
		v := new(snapshot.View)
		answers := make(chan error, 100)
		for range 100 {
			go func() { _, err := ls.get(context.Background(), v); answers <- err }()
		}
		synctest.Wait()
		close(gate)
		for range 100 {
			if err := <-answers; !errors.Is(err, errFake) {
				t.Errorf("error %v, want that of the build", err)
			}
		}
		if builds != 1 {
			t.Errorf("%d builds, want 1", builds)
		}
		if _, err := ls.get(context.Background(), v); !errors.Is(err, errFake) || builds != 2 {
			t.Errorf("a later call: error %v after %d builds, want that of a second build", err, builds)
		}
	})
}

func TestLeastRecentlyUsedLayerIsDropped(t *testing.T) {
	builds := make(map[*snapshot.View]int)
	ls := newTestLayers(func(v *snapshot.View, like *testLayer) (*testLayer, error) {
		builds[v]++
		return buildTestLayer(v, like)
	})
	var views []*snapshot.View
	for range maxLayers + 1 {
		views = append(views, new(snapshot.View))
	}
	for _, v := range views[:maxLayers] {
		mustLayer(t, ls, v)
	}
	mustLayer(t, ls, views[0])
	mustLayer(t, ls, views[maxLayers])
	mustLayer(t, ls, views[0])
	mustLayer(t, ls, views[1])
	if builds[views[0]] != 1 || builds[views[1]] != 2 {
		t.Errorf("the layer that was used last is built %d times and the one that was used first %d times, want 1 and 2",
			builds[views[0]], builds[views[1]])
	}
}

func TestLayersOfTheSameLakesShare(t *testing.T) {
	ls := newTestLayers(buildTestLayer)
	lakes := make([]data.Lake, 3)
	first, next, fewer, other, none := &snapshot.View{Lakes: lakes}, &snapshot.View{Lakes: lakes}, &snapshot.View{Lakes: lakes[:2]}, &snapshot.View{Lakes: make([]data.Lake, 3)}, new(snapshot.View)
	layer := mustLayer(t, ls, first)
	if got := mustLayer(t, ls, next); got.with != layer {
		t.Error("a view of the same lakes: the layer is not made with the first one")
	}
	for _, v := range []*snapshot.View{fewer, other, none, new(snapshot.View)} {
		if got := mustLayer(t, ls, v); got.with != nil {
			t.Errorf("a view of %d other lakes: the layer is made with another one", len(v.Lakes))
		}
	}
}

// TestLayersGoWithTheirViews has the garbage collector free a view. The layers are real ones: a layer that referred to its
// view would keep both forever.
func TestLayersGoWithTheirViews(t *testing.T) {
	r := realRenderer()
	t.Run("pictures", func(t *testing.T) {
		checkLayersGo(t, (*snapshot.View).Values, shownByValues, func(v *snapshot.Values, _ *render.Layer) (*render.Layer, error) {
			return r.Layer(v), nil
		})
	})
	t.Run("vector tiles", func(t *testing.T) {
		whole := func(v *snapshot.View) *snapshot.View { return v }
		checkLayersGo(t, whole, shownByView, func(v *snapshot.View, _ *vector.Layer) (*vector.Layer, error) {
			return vector.NewLayer(vector.NewIndex(v.Lakes), v), nil
		})
	})
}

// A view that is used for long, while its layer is built again and again, must not collect a cleanup for each layer.
func TestDroppedLayersLeaveNoCleanup(t *testing.T) {
	queued := func() uint64 {
		sample := []runtimemetrics.Sample{{Name: "/gc/cleanups/queued:cleanups"}}
		runtimemetrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	const rounds = 100
	ls := newTestLayers(buildTestLayer)
	views := make([]*snapshot.View, maxLayers+1) // one more than are held: each round builds all of them
	for i := range views {
		views[i] = &snapshot.View{Lakes: make([]data.Lake, 1)}
	}
	for range rounds {
		for _, v := range views {
			mustLayer(t, ls, v)
		}
	}
	before := queued()
	runtime.KeepAlive(views)
	views = nil
	for range 10 {
		runtime.GC()
	}
	if n := queued() - before; n > rounds*maxLayers/10 {
		t.Errorf("%d cleanups ran for %d views, want about one for each layer that is held", n, maxLayers+1)
	}
}

// checkLayersGo checks layers of what shown returns of a view.
func checkLayersGo[V, L any](t *testing.T, shown func(*snapshot.View) *V, shows func(*V) (data.Week, []data.Lake), build func(*V, *L) (*L, error)) {
	ls := newLayers(build, shows, maxLayerLakes, prometheus.NewCounter(prometheus.CounterOpts{}))
	lakes, states := make([]data.Lake, 3), make([]snapshot.State, 3)
	current := &snapshot.View{Lakes: lakes, States: states}
	for _, v := range []*snapshot.View{{Lakes: lakes, States: states}, current} {
		_, err := ls.get(context.Background(), shown(v))
		mustDo(t, err)
	}
	held := func() int {
		ls.mu.Lock()
		defer ls.mu.Unlock()
		return len(ls.held)
	}
	for range 5000 { // the cleanup runs some time after the collection
		runtime.GC()
		if held() < 2 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if l, _ := ls.find(shown(current)); l == nil || held() != 1 {
		t.Errorf("%d layers are held, want only that of the current view", held())
	}
}
