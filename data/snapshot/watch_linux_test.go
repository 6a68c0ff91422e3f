package snapshot_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/tiles/background"
)

// A prioritySource notes the priority of the threads that read it.
type prioritySource struct {
	scripted
	mu         sync.Mutex // guards what follows
	priorities []int
}

func (s *prioritySource) Scan(ctx context.Context, lake func(data.Lake) error, observation func(data.Observation) error) (data.Revision, error) {
	priority, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return data.Revision{}, err
	}
	s.mu.Lock()
	s.priorities = append(s.priorities, priority)
	s.mu.Unlock()
	return s.scripted.Scan(ctx, lake, observation)
}

// The first load is urgent. Later ones compete with requests.
func TestWatcherLoadsAtLowPriority(t *testing.T) {
	src := &prioritySource{}
	ctx, cancel := context.WithCancel(t.Context())
	published := 0
	wake := make(chan struct{}, 1)
	opts := &snapshot.Options{Background: background.Here}
	(&snapshot.Watcher{Source: src, Options: opts, Wake: wake, Publish: func(*snapshot.Snapshot) {
		if published++; published == 3 {
			cancel()
			return
		}
		src.revision.Number++
		wake <- struct{}{}
	}, Failed: func(err error) { t.Error(err) }}).Run(ctx)
	// The system call returns 20 minus the niceness, which is 19 at most, also of these tests.
	const lowest = 1
	if p := src.priorities; len(p) != 3 || max(p[1], p[2]) >= max(p[0], lowest+1) {
		t.Errorf("priorities of three loads: %v, want the later ones lower", slices.Clone(p))
	}
}
