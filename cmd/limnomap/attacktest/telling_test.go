//go:build linux

package attacktest

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/paulmach/orb"

	"limnomap/cmd/limnomap/limnomaptest"
)

const (
	watchedLakes = 3
	// watchBox contains the watched lakes: an empty part of the Pacific, so that no other lake is in their tiles and stream.
	watchBox = "-130,-65,-110,-55"
)

// A watch issues, changes and withdraws closures of lakes of its own, and sees when each way tells of them.
type watch struct {
	*limnomaptest.Observer
	watchTask
	lakes   []string
	changes int  // that were made
	follows bool // a server
}

// A telling is one change of a closure, and how long it took until each way told of it.
type telling struct {
	Change string                   // such as "watch-7 withdrawn"
	Took   map[string]time.Duration // by way
	Untold map[string]string        // of the ways that have not told of it: what they answered last
}

// newWatch imports the watched lakes into a database, makes a webhook, and starts the observer. Close ends it.
func newWatch(task *watchTask) (*watch, error) {
	o, err := limnomaptest.NewObserver(task.Program, task.Dir)
	if err != nil {
		return nil, err
	}
	o.StreamQuery = "?bbox=" + watchBox
	w := &watch{Observer: o, watchTask: *task}
	ctx, table := context.Background(), "id,name,lat,lon\n"
	for i := range watchedLakes {
		of := closureOf(i, 0)
		w.lakes = append(w.lakes, of.Lake)
		table += fmt.Sprintf("%s,Watched Lake %d,%v,%v\n", of.Lake, i, of.At.Lat(), of.At.Lon())
	}
	if err = w.put(ctx, "lakes", table); err == nil {
		_, err = limnomaptest.RunProgram(ctx, w.Program, "hooks", "create", "--db", w.DB, "--hooks-allow-http", "--lakes", strings.Join(w.lakes, ","),
			"--url", w.HookURL())
	}
	if err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// closureOf returns a change of a closure of a watched lake: each has one after the other.
func closureOf(round, change int) limnomaptest.ClosureChange {
	lake := round % watchedLakes
	return limnomaptest.ClosureChange{ID: fmt.Sprint("watch-", round), Lake: fmt.Sprint("watched_", lake), At: orb.Point{-125 + 5*float64(lake), -60},
		Change: limnomaptest.ClosureChanges[change]}
}

// put imports a table.
func (w *watch) put(ctx context.Context, kind, table string) error {
	file := filepath.Join(w.Dir, kind+".csv")
	if err := os.WriteFile(file, []byte(table), 0o600); err != nil {
		return err
	}
	_, err := limnomaptest.RunProgram(ctx, w.Program, "import", kind, file, "--db", w.DB)
	return err
}

// follow goes on with the server at base. A browser subscribes with the first one.
func (w *watch) follow(ctx context.Context, base string) error {
	err := w.Follow(ctx, base)
	if err == nil && !w.follows {
		err = w.SubscribeBrowsers(ctx, 1, w.lakes)
		w.follows = err == nil
	}
	return err
}

// tell makes the next change, and waits until all ways tell of it or ctx ends. The time counts from the first attempt to import it.
func (w *watch) tell(ctx context.Context) telling {
	kinds := len(limnomaptest.ClosureChanges)
	c := closureOf(w.changes/kinds, w.changes%kinds)
	w.changes++
	// The times are so far away that a wrong clock does not begin or end a statement.
	from, until := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)
	if c.Change == limnomaptest.ClosureChanges[0] {
		until = time.Time{}
	}
	started := time.Now()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w.Expect(ctx, c)
	t := telling{Change: c.String(), Took: make(map[string]time.Duration)}
	err := limnomaptest.Retry(ctx, func(ctx context.Context) error {
		return w.put(ctx, "advisories", limnomaptest.ClosureHeader+c.Row(from, until))
	})
	if err != nil {
		t.Untold = map[string]string{"import": err.Error()}
		return t
	}
	at, untold := w.Await(ctx, c, c.Ways())
	for way := range at {
		t.Took[way] = at[way].Sub(started)
	}
	t.Untold = untold
	return t
}

// longestOf describes the longest time of each way.
func longestOf(all []telling) string {
	longest := make(map[string]time.Duration)
	for _, t := range all {
		for way, took := range t.Took {
			longest[way] = max(longest[way], took)
		}
	}
	var parts []string
	for _, way := range slices.Sorted(maps.Keys(longest)) {
		parts = append(parts, fmt.Sprintf("%s %.1f s", way, longest[way].Seconds()))
	}
	return fmt.Sprintf("%d changes told, the longest times: %s", len(all), strings.Join(parts, ", "))
}

// faultsOf describes what was not told.
func faultsOf(all []telling) (faults []string) {
	for _, t := range all {
		for _, way := range slices.Sorted(maps.Keys(t.Untold)) {
			faults = append(faults, fmt.Sprintf("%s: %s has not told it: %s", t.Change, way, t.Untold[way]))
		}
	}
	return faults
}
