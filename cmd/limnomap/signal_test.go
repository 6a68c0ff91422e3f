//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"syscall"
	"testing"
	"time"
)

// startProcess starts limnomap serve as a process of its own, with an admin listener, and returns both addresses.
func startProcess(t *testing.T, args ...string) (cmd *exec.Cmd, base, admin string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(exe, append([]string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--cache-disk", "0"}, args...)...)
	cmd.Env = append(os.Environ(), "LIMNOMAP_TEST_AS_MAIN=1")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	adminAddress := regexp.MustCompile(`url=(\S+)/metrics`)
	lines := bufio.NewScanner(stderr)
	for (base == "" || admin == "") && lines.Scan() {
		if m := openAddress.FindStringSubmatch(lines.Text()); m != nil {
			base = m[1]
		}
		if m := adminAddress.FindStringSubmatch(lines.Text()); m != nil {
			admin = m[1]
		}
	}
	if base == "" || admin == "" {
		t.Fatalf("no address in the log: %v", lines.Err())
	}
	go io.Copy(io.Discard, stderr) // ends with the process
	return cmd, base, admin
}

func statusOf(url string) int {
	resp, err := http.Get(url)
	if err != nil {
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}

func TestSIGTERMFinishesRequestsInFlight(t *testing.T) {
	cmd, base, admin := startProcess(t, "--drain", "1s")
	within(t, 20*time.Second, "ready", func() bool { return statusOf(base+"/readyz") == http.StatusOK })

	// A CPU profile is a request that takes as long as it is told: it is in flight when the signal comes.
	const seconds = "3"
	type result struct {
		n   int64
		err error
	}
	profile := make(chan result, 1)
	go func() { // ends with the answer
		resp, err := http.Get(admin + "/debug/pprof/profile?seconds=" + seconds)
		if err != nil {
			profile <- result{err: err}
			return
		}
		defer resp.Body.Close()
		n, err := io.Copy(io.Discard, resp.Body)
		profile <- result{n, err}
	}()
	within(t, 10*time.Second, "the profile runs", func() bool {
		_, goroutines := get(t, admin+"/debug/pprof/goroutine?debug=1")
		return bytes.Contains(goroutines, []byte("net/http/pprof.Profile"))
	})
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	within(t, 5*time.Second, "/readyz says 503", func() bool { return statusOf(base+"/readyz") == http.StatusServiceUnavailable })
	if got := statusOf(base + "/api/v1/bathing-lakes/status"); got != http.StatusOK {
		t.Errorf("while draining, status answers %d, want 200", got)
	}
	if r := <-profile; r.err != nil || r.n == 0 {
		t.Errorf("the request in flight got %d bytes, %v", r.n, r.err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("exit: %v, want 0", err)
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	cmd, base, _ := startProcess(t, "--drain", "10m")
	within(t, 20*time.Second, "ready", func() bool { return statusOf(base+"/readyz") == http.StatusOK })
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }() // ends with the process, which the test's end kills
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		// After the process has ended there is nobody to signal.
		_ = cmd.Process.Signal(syscall.SIGTERM)
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
