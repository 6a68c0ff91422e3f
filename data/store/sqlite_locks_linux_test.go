package store

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// lockedEnv names the index of a log for the process that asks in TestLocksStay whether it is locked.
const lockedEnv = "LIMNOMAP_TEST_LOCKED_INDEX"

// A store's locks stay while it is used, and while another one of the same database is opened and closed in the same process. Without them another
// process would empty the index of the log under the readers.
func TestLocksStay(t *testing.T) {
	if path := os.Getenv(lockedEnv); path != "" {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		// The byte that each user of the index locks (https://sqlite.org/walformat.html, section 2.2.2, and os_unix.c: UNIX_SHM_DMS).
		lock := syscall.Flock_t{Type: syscall.F_WRLCK, Start: 128, Len: 1}
		if err := syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, &lock); err != nil {
			t.Fatal(err)
		}
		fmt.Println("locked:", lock.Type != syscall.F_UNLCK)
		return
	}
	path := filepath.Join(t.TempDir(), "lakes.db")
	s := openFile(t, path, true)
	putMoment(t, s, time.Unix(1, 0))
	locked := func(when string) {
		t.Helper()
		child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		child.Env = append(os.Environ(), lockedEnv+"="+path+"-shm")
		if out, err := child.CombinedOutput(); err != nil || !strings.Contains(string(out), "locked: true") {
			t.Errorf("%s: %v\n%s", when, err, out)
		}
	}
	locked("opened")
	for range 3 {
		revisionOf(t, s)
	}
	locked("used")
	other := openFile(t, path, false)
	revisionOf(t, other)
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	locked("another store closed")
	revisionOf(t, s)
	locked("used again")
}
