package main

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"limnomap/cmd/limnomap/limnomaptest"
)

// setOpenFiles sets how many files a running process may have open.
func setOpenFiles(t testing.TB, p *process, n uint64) {
	t.Helper()
	mustDo(t, unix.Prlimit(p.Process.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: n, Max: n}, nil))
}

// TestFaultNoFileDescriptors leaves the server no file to open, with connections that wait to be accepted.
func TestFaultNoFileDescriptors(t *testing.T) {
	t.Parallel()
	db := newUniformDB(t, uniformLakes, 5)
	p := startReady(t, "--db", db.path, "--api-rate", "0", "--cache-dir", t.TempDir())
	wantHistory(t, p, 5)
	const spare = 20
	setOpenFiles(t, p, uint64(p.metric(t, "process_open_fds"))+spare)
	c := newCrowd(t, p, 100, 0)
	c.send(t, "GET /api/v1/tiles/6/33/21.png?v=x HTTP/1.1\r\nHost: lakes\r\n\r\n")
	limnomaptest.Within(t, time.Minute, "the log says that connections cannot be accepted", func() bool {
		return strings.Contains(events(p), "connections cannot be accepted")
	})
	if n := strings.Count(events(p), "connections cannot be accepted"); n > 2 { // one listener each, within a minute
		t.Errorf("the log says so %d times", n)
	}
	c.leave()
	limnomaptest.Within(t, time.Minute, "the server answers again", func() bool { return statusOf(p.base+"/readyz") == 200 })
	mustExec(t, "import", "observations", writeValues(t, t.TempDir(), uniformLakes, 50), "--db", db.path)
	awaitShown(t, p, reloadTime, 50)
	wantHistory(t, p, 50)
	c.wantForgotten(t)
}
