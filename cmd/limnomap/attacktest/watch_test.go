//go:build linux

package attacktest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

// watchVariable tells the binary of these tests to watch whether closures are told: a process of its own, as the probe.
const watchVariable = "ATTACKTEST_WATCH"

// A watchTask tells the watch what to do: the first line that it reads. It answers with the flags and variables of the attacked server and of the control.
type watchTask struct {
	Program, Dir, DB string
	Every            time.Duration // between changes
}

// watchFlags are what a server needs so that the watch can follow it.
type watchFlags struct{ Args, Env []string }

// The further lines that the watch reads: "follow" and the addresses of both servers; "begin" to make changes until "end", which it answers with all of them; between these
// "await", which it answers when a further change has been told.
const askFollow, askBegin, askAwait, askEnd = "follow", "begin", "await", "end"

// runWatch is the watch.
func runWatch(in io.Reader, out io.Writer) (exitCode int) {
	lines := bufio.NewScanner(in)
	answer := func(v any) error { return json.NewEncoder(out).Encode(v) }
	var task watchTask
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &task) != nil {
		fmt.Fprintln(os.Stderr, "watch: no task")
		return 1
	}
	c := &changing{every: task.Every, ended: make(chan struct{})}
	dir := filepath.Join(task.Dir, "control")
	err := os.Mkdir(dir, 0o700)
	if err == nil {
		c.watch, err = newWatch(task.Program, task.Dir, task.DB)
	}
	if err == nil {
		defer c.watch.Close()
		c.control.watch, err = newWatch(task.Program, dir, filepath.Join(dir, "lakes.db"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "watch:", err)
		return 1
	}
	defer c.control.Close()
	if err := answer([2]watchFlags{c.watch.flags(), c.control.flags()}); err != nil {
		return 1
	}
	defer c.end()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for lines.Scan() {
		var what, base, control string
		_, _ = fmt.Sscan(lines.Text(), &what, &base, &control) // the others have no addresses
		switch what {
		case askFollow:
			ctx, cancel := context.WithTimeout(ctx, patience)
			if err = c.watch.follow(ctx, base); err == nil {
				err = c.control.follow(ctx, control)
			}
			cancel()
			text := ""
			if err != nil {
				text = err.Error()
			}
			err = answer(text)
		case askBegin:
			c.begin(ctx)
		case askAwait:
			c.await()
			err = answer("")
		case askEnd:
			err = answer(c.end())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "watch:", err)
			return 1
		}
	}
	return 0
}

// A changing makes changes, one at least, from begin to end.
type changing struct {
	watch   *watch
	control control
	every   time.Duration
	running sync.WaitGroup
	ended   chan struct{} // closed by end

	mu    sync.Mutex
	begun int           // guarded by mu: changes
	news  chan struct{} // guarded by mu: closed when told changes
	told  []telling     // guarded by mu
}

func (c *changing) begin(ctx context.Context) {
	c.ended, c.news, c.begun, c.told = make(chan struct{}), make(chan struct{}), 0, nil
	c.running.Go(func() { c.run(ctx) }) // ends with end, when the last change is told, or with ctx
}

func (c *changing) run(ctx context.Context) {
	for {
		began := time.Now()
		c.mu.Lock()
		c.begun++
		c.mu.Unlock()
		one := c.control.beside(ctx, c.watch)
		c.mu.Lock()
		c.told = append(c.told, one)
		close(c.news)
		c.news = make(chan struct{})
		c.mu.Unlock()
		select {
		case <-c.ended:
			return
		case <-time.After(c.every - time.Since(began)):
		}
	}
}

// await waits until a change has been told that has not begun yet.
func (c *changing) await() {
	c.mu.Lock()
	wanted := c.begun + 1
	for len(c.told) < wanted {
		news := c.news
		c.mu.Unlock()
		<-news
		c.mu.Lock()
	}
	c.mu.Unlock()
}

// end waits until the last change is told, and returns all of them.
func (c *changing) end() []telling {
	select {
	case <-c.ended:
	default:
		close(c.ended)
	}
	c.running.Wait()
	return c.told
}

// A watchProcess is the watch as this process sees it.
type watchProcess struct {
	watchFlags
	control *limnomaptest.Server
	stdin   io.Writer
	stdout  *json.Decoder
	all     []telling

	talking sync.Mutex // held from a line to its answer
	mu      sync.Mutex
	next    *sync.Once // guarded by mu: the next await, which all share who come before it begins
}

// startWatch starts the watch of a database, whose server has not been started yet.
func startWatch(t *testing.T, db string) *watchProcess {
	t.Helper()
	task, err := json.Marshal(watchTask{Program: limnomaptest.Binary(t), Dir: t.TempDir(), DB: db, Every: size(5*time.Second, 2*time.Second)})
	must(t, err)
	in, out := startSelf(t, watchVariable)
	w := &watchProcess{stdin: in, stdout: json.NewDecoder(out)}
	_, err = fmt.Fprintf(in, "%s\n", task)
	must(t, err)
	var flags [2]watchFlags
	must(t, w.stdout.Decode(&flags))
	w.watchFlags = flags[0]
	w.control = limnomaptest.LaunchWithEnv(t, flags[1].Env, flags[1].Args...)
	w.control.AwaitReady(t)
	return w
}

// follow has the watch go on with a server.
func (w *watchProcess) follow(t *testing.T, base string) {
	t.Helper()
	_, err := fmt.Fprintln(w.stdin, askFollow, base, w.control.Base)
	must(t, err)
	var failure string
	must(t, w.stdout.Decode(&failure))
	if failure != "" {
		t.Fatalf("the watch: %s", failure)
	}
}

// begin has the watch make changes until end.
func (w *watchProcess) begin(t testing.TB) {
	t.Helper()
	_, err := fmt.Fprintln(w.stdin, askBegin)
	must(t, err)
}

// await returns when a change has been told that was made after the call.
func (w *watchProcess) await() (err error) {
	w.mu.Lock()
	if w.next == nil {
		w.next = new(sync.Once)
	}
	next := w.next
	w.mu.Unlock()
	next.Do(func() { // the others wait for the first one
		w.talking.Lock()
		defer w.talking.Unlock()
		w.mu.Lock()
		w.next = nil
		w.mu.Unlock()
		if _, err = fmt.Fprintln(w.stdin, askAwait); err == nil {
			var none string
			err = w.stdout.Decode(&none)
		}
	})
	return err
}

// end waits until all changes are told, which fails the test if one is not, and returns a summary.
func (w *watchProcess) end(t testing.TB) string {
	t.Helper()
	_, err := fmt.Fprintln(w.stdin, askEnd)
	must(t, err)
	var told []telling // the attacks have ended, and so have their awaits
	must(t, w.stdout.Decode(&told))
	for _, fault := range faultsOf(told) {
		t.Error(fault)
	}
	w.all = append(w.all, told...)
	return timesOf(told)
}

// TestClosuresAreTold has no attack: each way tells that a closure is issued, changed and withdrawn.
func TestClosuresAreTold(t *testing.T) {
	s := newTarget(t, 50)
	for range size(30, 3) {
		s.closures.begin(t)
		s.closures.end(t)
	}
	text := "\nno attack: " + timesOf(s.closures.all) + "\n"
	t.Log(text)
	results.addText(text)
	stopCleanly(t, s)
}
