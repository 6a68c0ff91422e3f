//go:build long

package faulttest

import (
	"net/http"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"limnomap/cmd/limnomap/limnomaptest"
)

// TestNoMoreOpenFiles runs the server out of file descriptors while connections wait to be accepted.
func TestNoMoreOpenFiles(t *testing.T) {
	t.Parallel()
	db := newUniformDB(t, uniformLakes, 5)
	s := start(t, "--db", db.path, "--api-rate", "0", "--cache-dir", t.TempDir())
	wantHistory(t, s, 5)
	const spare = 20
	limit := uint64(s.Metric(t, "process_open_fds")) + spare
	must(t, unix.Prlimit(s.Process.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: limit, Max: limit}, nil))
	c := connectClients(t, s, 100, "GET /api/v1/tiles/6/33/21.png?v=x HTTP/1.1\r\nHost: lakes\r\n\r\n")
	const hint = "LimitNOFILE" // in the warning about connections that cannot be accepted
	limnomaptest.Within(t, patience, "the log says that connections cannot be accepted", func() bool {
		return strings.Contains(eventLog(s), hint)
	})
	if n := strings.Count(eventLog(s), hint); n > 2 { // once a minute for each listener
		t.Errorf("the log has this message %d times", n)
	}
	c.close()
	limnomaptest.Within(t, patience, "the server answers again", func() bool { return s.StatusOf("/readyz") == http.StatusOK })
	importValue(t, db.path, 50)
	awaitValue(t, s, 50)
	wantHistory(t, s, 50)
	c.wantNothingLeft(t)
}
