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
	program, dir, db string
	lakes            []string
	changes          int  // that were made
	follows          bool // a server
}

// A telling is one change of a closure, and how long it took until each way told of it.
type telling struct {
	Change string                   // such as "watch-7 withdrawn"
	Took   map[string]time.Duration // by way
	Beside map[string]int           // by way: how many changes the control told meanwhile
	Untold map[string]string        // of the ways that have not told of it: what they answered last

	began time.Time
}

// newWatch imports the watched lakes into a database, makes a webhook, and starts the observer. Close ends it.
func newWatch(program, dir, db string) (*watch, error) {
	o, err := limnomaptest.NewObserver(program, dir)
	if err != nil {
		return nil, err
	}
	o.StreamQuery = "?bbox=" + watchBox
	w := &watch{Observer: o, program: program, dir: dir, db: db}
	ctx, table := context.Background(), "id,name,lat,lon\n"
	for i := range watchedLakes {
		of := closureOf(i, 0)
		w.lakes = append(w.lakes, of.Lake)
		table += fmt.Sprintf("%s,Watched Lake %d,%v,%v\n", of.Lake, i, of.At.Lat(), of.At.Lon())
	}
	if err = w.put(ctx, "lakes", table); err == nil {
		_, err = limnomaptest.RunProgram(ctx, w.program, "hooks", "create", "--db", w.db, "--hooks-allow-http", "--hooks-allow", "127.0.0.0/8", "--lakes", strings.Join(w.lakes, ","),
			"--url", w.HookURL())
	}
	if err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// flags returns what the server of the watch needs.
func (w *watch) flags() watchFlags { return watchFlags{append(w.Args(), "--db", w.db), w.Env()} }

// closureOf returns a change of a closure of a watched lake: each has one after the other.
func closureOf(round, change int) limnomaptest.ClosureChange {
	lake := round % watchedLakes
	return limnomaptest.ClosureChange{ID: fmt.Sprint("watch-", round), Lake: fmt.Sprint("watched_", lake), At: orb.Point{-125 + 5*float64(lake), -60},
		Change: limnomaptest.ClosureChanges[change]}
}

// put imports a table.
func (w *watch) put(ctx context.Context, kind, table string) error {
	file := filepath.Join(w.dir, kind+".csv")
	if err := os.WriteFile(file, []byte(table), 0o600); err != nil {
		return err
	}
	_, err := limnomaptest.RunProgram(ctx, w.program, "import", kind, file, "--db", w.db)
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
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t := telling{Change: c.String(), Took: make(map[string]time.Duration), Beside: make(map[string]int), began: time.Now()}
	w.Expect(ctx, c)
	err := limnomaptest.Retry(ctx, func(ctx context.Context) error {
		return w.put(ctx, "advisories", limnomaptest.ClosureHeader+c.Row(from, until))
	})
	if err != nil {
		t.Untold = map[string]string{"import": err.Error()}
		return t
	}
	at, untold := w.Await(ctx, c, c.Ways())
	for way := range at {
		t.Took[way] = at[way].Sub(t.began)
	}
	t.Untold = untold
	return t
}

// minute is how many changes the control may tell, one after the other, until each way of an attacked server has told one. Each takes a second or
// longer, so these are a minute, and more on a machine that is busy. After hang of them the watch gives up.
const minute, hang = 60, 600

// mayHang is how long the control may take to tell a change. Only one that hangs takes longer.
const mayHang = 10 * time.Minute

// A control is the watch of a server that is not attacked, on the same machine. Its changes are the clock by which an attacked server is measured:
// what slows the machine slows both.
type control struct{ *watch }

// beside has the attacked server tell its next change, and meanwhile the control tell one after the other.
func (c *control) beside(ctx context.Context, attacked *watch) (one telling) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	told := make(chan struct{})
	go func() { // ends with ctx
		one = attacked.tell(ctx)
		close(told)
	}()
	var ends []time.Time // of the changes of the control
	for waiting := true; waiting; {
		second := time.After(time.Second)
		ownCtx, cancelOwn := context.WithTimeout(ctx, mayHang)
		own := c.tell(ownCtx)
		cancelOwn()
		if len(own.Untold) > 0 {
			cancel()
			<-told
			one.Untold = map[string]string{"the control": fmt.Sprint(own.Untold)}
			return one
		}
		select {
		case <-told:
			waiting = false
		case <-second:
			if ends = append(ends, time.Now()); len(ends) == hang {
				cancel()
				<-told
				waiting = false
			}
		}
	}
	for way, took := range one.Took {
		one.Beside[way], _ = slices.BinarySearchFunc(ends, one.began.Add(took), time.Time.Compare)
	}
	return one
}

// timesOf describes the times of each way.
func timesOf(all []telling) string {
	times, most := make(map[string][]time.Duration), 0
	for _, t := range all {
		for way, took := range t.Took {
			times[way], most = append(times[way], took), max(most, t.Beside[way])
		}
	}
	var parts []string
	for _, way := range slices.Sorted(maps.Keys(times)) {
		slices.Sort(times[way])
		parts = append(parts, fmt.Sprintf("%s %.1f, %.1f, %.1f", way, quantile(times[way], 50).Seconds(), quantile(times[way], 99).Seconds(), quantile(times[way], 100).Seconds()))
	}
	return fmt.Sprintf("%d changes told, the seconds at p50, p99 and most: %s; meanwhile the control told %d at most", len(all), strings.Join(parts, "; "), most)
}

// faultsOf describes what was not told, or late.
func faultsOf(all []telling) (faults []string) {
	for _, t := range all {
		for _, way := range slices.Sorted(maps.Keys(t.Untold)) {
			faults = append(faults, fmt.Sprintf("%s: %s has not told it: %s", t.Change, way, t.Untold[way]))
		}
		for _, way := range slices.Sorted(maps.Keys(t.Beside)) {
			if n := t.Beside[way]; n >= minute {
				faults = append(faults, fmt.Sprintf("%s: %s told it after %.0f s, when a server without attacks had told %d changes one after the other", t.Change, way, t.Took[way].Seconds(), n))
			}
		}
	}
	return faults
}
