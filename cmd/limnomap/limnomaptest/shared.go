package limnomaptest

import (
	"errors"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// shared holds the servers that the tests of a package share, by their flags.
var shared struct {
	sync.Mutex
	byArgs map[string]*sharedServer // guarded by the mutex
}

type sharedServer struct {
	start  sync.Once
	server *Server // nil if the start failed
}

// Shared is Start for tests that do not change what the server serves: all tests of a package with the same args get the same
// server, which runs until Main stops it.
func Shared(t testing.TB, args ...string) *Server {
	t.Helper()
	key := strings.Join(args, "\x00")
	shared.Lock()
	if shared.byArgs == nil {
		shared.byArgs = make(map[string]*sharedServer)
	}
	entry := shared.byArgs[key]
	if entry == nil {
		entry = new(sharedServer)
		shared.byArgs[key] = entry
	}
	shared.Unlock()
	entry.start.Do(func() {
		s := Launch(packageTB{t}, args...)
		s.AwaitReady(t)
		entry.server = s
	})
	if entry.server == nil {
		t.Fatalf("another test could not start limnomap serve %s", strings.Join(args, " "))
	}
	return entry.server
}

// stopShared stops the shared servers. Each must exit with code 0.
func stopShared() error {
	shared.Lock()
	defer shared.Unlock()
	var errs []error
	for _, entry := range shared.byArgs {
		if entry.server == nil {
			continue
		}
		_ = entry.server.Process.Signal(syscall.SIGTERM) // fails if the process has ended
		errs = append(errs, entry.server.awaitExit())
	}
	return errors.Join(errs...)
}

// A packageTB is the test that starts a shared server, which must outlive it.
type packageTB struct{ testing.TB }

// TempDir returns a folder that Main removes.
func (t packageTB) TempDir() string {
	t.Helper()
	dir, err := os.MkdirTemp(Folder(t.TB), "")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Cleanup does nothing: Main stops the server.
func (packageTB) Cleanup(func()) {}
