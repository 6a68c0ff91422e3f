//go:build long

package faulttest

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

// clockVariable names the file with the seconds by which the clock of a process is wrong.
const clockVariable = "LIMNOMAP_TEST_CLOCK"

// clockSource names an environment variable with the folder of another version of limnomap, whose clock is to be wrong.
const clockSource = "LIMNOMAP_TEST_CLOCK_SOURCE"

// The edit of time.Now: it shows what a clock that was set shows, and the monotonic clock goes on. The scheduler calls it too, where no system
// call is possible: so the file is mapped into memory.
var clockEdits = []struct{ before, after string }{
	{"\t_ \"unsafe\" // for go:linkname\n", "\t\"sync/atomic\"\n\t\"syscall\"\n\t\"unsafe\"\n"},
	{"func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n", "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n\tsec += atomic.LoadInt64(clockShift)\n"},
}

const shiftedClock = `
var clockShift = func() *int64 {
	path, ok := syscall.Getenv("` + clockVariable + `")
	if !ok {
		return new(int64)
	}
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		panic(err)
	}
	b, err := syscall.Mmap(fd, 0, 8, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	return (*int64)(unsafe.Pointer(&b[0]))
}()
`

// shiftedBinary builds a limnomap whose clock a file sets. All of it and of Go's library is compiled for it, which takes minutes.
var shiftedBinary = func() func(testing.TB) string {
	var once sync.Once
	var path string
	return func(t testing.TB) string {
		t.Helper()
		once.Do(func() { path = buildShifted(t) })
		if path == "" {
			t.Fatal("the limnomap with another clock could not be built")
		}
		return path
	}
}()

func buildShifted(t testing.TB) string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	must(t, err)
	original := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	source, err := os.ReadFile(original)
	must(t, err)
	text := string(source)
	for _, edit := range clockEdits {
		if strings.Count(text, edit.before) != 1 {
			t.Fatalf("%s has %q %d times, want once: change the edit for this version of Go", original, edit.before, strings.Count(text, edit.before))
		}
		text = strings.Replace(text, edit.before, edit.after, 1)
	}
	dir, err := os.MkdirTemp(limnomaptest.Folder(t), "clock")
	must(t, err)
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {original: limnomaptest.WriteFile(t, dir, "time.go", text+shiftedClock)}})
	must(t, err)
	path := filepath.Join(dir, "limnomap")
	build := exec.Command("go", "build", "-trimpath", "-overlay", limnomaptest.WriteFile(t, dir, "overlay.json", string(overlay)), "-o", path, "limnomap/cmd/limnomap")
	build.Env, build.Dir = append(os.Environ(), "CGO_ENABLED=0"), os.Getenv(clockSource)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// A wrongClock is the clock of the processes of a test, which can be set.
type wrongClock struct{ file string }

// newWrongClock returns a clock, and a function that makes commands with it.
func newWrongClock(t testing.TB) (clock *wrongClock, command func(args ...string) *exec.Cmd) {
	t.Helper()
	clock, path := &wrongClock{filepath.Join(t.TempDir(), "ahead")}, shiftedBinary(t)
	clock.set(t, 0)
	return clock, func(args ...string) *exec.Cmd {
		cmd := exec.Command(path, args...)
		cmd.Env = append(limnomaptest.Environ(), clockVariable+"="+clock.file)
		return cmd
	}
}

// set sets how far the clock is ahead.
func (w *wrongClock) set(t testing.TB, ahead time.Duration) {
	t.Helper()
	file, err := os.OpenFile(w.file, os.O_RDWR|os.O_CREATE, 0o644) // the same file: processes have mapped it
	must(t, err)
	_, err = file.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(ahead/time.Second)), 0)
	must(t, errors.Join(err, file.Close()))
}

const year = 365 * 24 * time.Hour

// clockFaults are wrong clocks. With SQLite the commands have the clock of the server. With PostgreSQL they have the right one, as
// the database and a second server have.
func clockFaults() (faults []closureFault) {
	for _, by := range []struct {
		name  string
		ahead time.Duration
	}{{"3 s", 3 * time.Second}, {"1 h", time.Hour}, {"1 year", year}, {"3 years", 3 * year}} {
		for _, direction := range []struct {
			name string
			sign time.Duration
		}{{"ahead", 1}, {"behind", -1}} {
			for _, atStart := range []bool{false, true} {
				for _, postgres := range []bool{false, true} {
					name := fmt.Sprintf("clock %s %s, while running", by.name, direction.name)
					if atStart {
						name = fmt.Sprintf("clock %s %s, at start", by.name, direction.name)
					}
					if postgres {
						name += ", PostgreSQL"
					}
					faults = append(faults, closureFault{name, func(c *closureTest) { c.wrongClock(direction.sign*by.ahead, atStart, postgres) }})
				}
			}
		}
	}
	return faults
}

// wrongClock imports a closure while the clock is wrong, one after it is set right, and one after the next start.
func (c *closureTest) wrongClock(ahead time.Duration, atStart, postgres bool) {
	clock, command := newWrongClock(c)
	if postgres {
		c.useDatabase(startPostgres(c).url)
		c.serve = command
		c.start()
		c.launchAt(limnomaptest.FreeAddress(c), c.command)
	} else {
		c.command, c.serve = command, command
		c.start()
	}
	if atStart {
		c.server.Stop(c)
		clock.set(c, ahead)
		c.launch()
	} else {
		clock.set(c, ahead)
		time.Sleep(3 * time.Second) // as long as the clock was wrong that silenced the log
	}
	c.close()
	clock.set(c, 0)
	c.close()
	c.server.Stop(c)
	c.launch()
	c.close()
}
