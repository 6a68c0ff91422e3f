//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

func TestSIGTERMFinishesRequestsInFlight(t *testing.T) {
	p := startReady(t, "--drain", "1s")

	// A CPU profile is a request that takes as long as it is told: it is in flight when the signal comes.
	const seconds = "3"
	type result struct {
		n   int64
		err error
	}
	profile := make(chan result, 1)
	go func() { // ends with the answer
		resp, err := http.Get(p.admin + "/debug/pprof/profile?seconds=" + seconds)
		if err != nil {
			profile <- result{err: err}
			return
		}
		defer resp.Body.Close()
		n, err := io.Copy(io.Discard, resp.Body)
		profile <- result{n, err}
	}()
	limnomaptest.Within(t, 10*time.Second, "the profile runs", func() bool {
		_, goroutines := limnomaptest.Get(t, p.admin+"/debug/pprof/goroutine?debug=1")
		return bytes.Contains(goroutines, []byte("net/http/pprof.Profile"))
	})
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	limnomaptest.Within(t, 5*time.Second, "/readyz says 503", func() bool { return statusOf(p.base+"/readyz") == http.StatusServiceUnavailable })
	if got := statusOf(p.base + "/api/v1/bathing-lakes/status"); got != http.StatusOK {
		t.Errorf("while draining, status answers %d, want 200", got)
	}
	if r := <-profile; r.err != nil || r.n == 0 {
		t.Errorf("the request in flight got %d bytes, %v", r.n, r.err)
	}
	if err := p.Wait(); err != nil {
		t.Errorf("exit: %v, want 0", err)
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	p := startReady(t, "--drain", "10m")
	exited := make(chan error, 1)
	go func() { exited <- p.Wait() }() // ends with the process, which the test's end kills
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		// After the process has ended there is nobody to signal.
		_ = p.Process.Signal(syscall.SIGTERM)
		select {
		case err := <-exited:
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("exit: %v, want 1", err)
			}
			return
		case <-time.After(signalEcho):
		}
	}
	t.Error("a second signal did not end the server")
}
