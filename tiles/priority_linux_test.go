package tiles

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"golang.org/x/sys/unix"

	"limnomap/data"
	"limnomap/render"
)

// TestCrowdIsDrawnPolitely has four tiles wait behind one: the last of them is no crowd any more.
func TestCrowdIsDrawnPolitely(t *testing.T) {
	niceness := func() int {
		priority, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
		if err != nil {
			t.Error(err)
		}
		return 20 - priority
	}
	usual := niceness()
	if usual+politeness > 19 {
		t.Skipf("the tests run at niceness %d already", usual)
	}
	synctest.Test(t, func(t *testing.T) {
		var seen []int // one draws at a time
		r := &fakeRenderer{gate: make(chan struct{}), png: func(render.Spec) []byte {
			seen = append(seen, niceness()-usual)
			return []byte("a tile")
		}}
		s := newTestService(t, r, &Options{Renders: 1})
		v := new(data.View)
		var answers []<-chan error
		for x := range uint32(5) {
			answers = append(answers, ask(context.Background(), s, v, x))
			synctest.Wait()
		}
		close(r.gate)
		for _, answer := range answers {
			if err := <-answer; err != nil {
				t.Error(err)
			}
		}
		want := []int{0, politeness, politeness, politeness, 0}
		if !slices.Equal(seen, want) {
			t.Errorf("tiles are drawn at %d above the usual niceness, want %d", seen, want)
		}
	})
}
