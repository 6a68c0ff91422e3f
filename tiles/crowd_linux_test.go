package tiles

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"golang.org/x/sys/unix"

	"limnomap/data/snapshot"
	"limnomap/render"
)

// TestCrowdIsDrawnAtLowPriority has four tiles wait for one that is drawn: when the last gets its turn, the queue is not
// crowded any more.
func TestCrowdIsDrawnAtLowPriority(t *testing.T) {
	const nicer = 10 // as in package background
	niceness := func() int {
		priority, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
		if err != nil {
			t.Error(err)
		}
		return 20 - priority
	}
	usual := niceness()
	if usual+nicer > 19 {
		t.Skipf("the tests run at niceness %d already", usual)
	}
	synctest.Test(t, func(t *testing.T) {
		var seen []int // one tile is drawn at a time
		r := &fakeRenderer{gate: make(chan struct{}), png: func(render.Spec) ([]byte, error) {
			seen = append(seen, niceness()-usual)
			return []byte("a tile"), nil
		}}
		s := newTestService(t, r, &Options{Renders: 1})
		v := new(snapshot.View)
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
		want := []int{0, nicer, nicer, nicer, 0}
		if !slices.Equal(seen, want) {
			t.Errorf("tiles are drawn with %d added to the niceness, want %d", seen, want)
		}
	})
}
