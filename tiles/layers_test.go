package tiles

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"limnomap/data"
	"limnomap/render"
)

func TestLayerIsBuiltOnceForAllWhoAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		builds := 0
		ls := newLayers(func(*data.View) (*render.Layer, error) {
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
			ls := newLayers(func(*data.View) (*render.Layer, error) { return new(render.Layer), nil }, newMetrics(nil))
			lakes := make([]data.Lake, test.lakes) // never touched, hence never in memory
			for range 2 * maxLayers {
				if _, err := ls.get(context.Background(), &data.View{Lakes: lakes}); err != nil {
					t.Fatal(err)
				}
			}
			if got := ls.lru.Len(); got != test.held || ls.lakes != test.held*test.lakes {
				t.Errorf("%d layers of %d lakes are held, want %d of %d", got, ls.lakes, test.held, test.held*test.lakes)
			}
		})
	}
}

func TestLayerThatFailedIsBuiltAgain(t *testing.T) {
	fail := true
	ls := newLayers(func(*data.View) (*render.Layer, error) {
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
	if _, err := ls.get(context.Background(), v); err != nil || ls.lru.Len() != 1 {
		t.Errorf("asked again: error %v with %d layers held, want none with 1", err, ls.lru.Len())
	}
}
