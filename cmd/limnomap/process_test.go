//go:build unix

package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

// inFull reports whether the tests of faults run at their full length, as make test-faults has them. Every test run
// has them shorter.
func inFull() bool { return os.Getenv("LIMNOMAP_FAULTS") == "full" }

// A process is limnomap serve as a process of its own: what signals, limits and kill -9 act on.
type process struct {
	*exec.Cmd
	base, admin string // addresses, without a slash at the end
	log         *limnomaptest.Log
}

var adminAddress = regexp.MustCompile(`url=(\S+)/metrics`)

// startProcess starts limnomap serve with an admin listener, and returns once both addresses are known. Without
// --cache-dir among args there is no disk cache. The test's end kills it.
func startProcess(t testing.TB, args ...string) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	all := append([]string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"}, args...)
	if !strings.Contains(strings.Join(args, " "), "--cache-dir") {
		all = append(all, "--cache-disk", "0")
	}
	p := &process{Cmd: exec.Command(exe, all...), log: new(limnomaptest.Log)}
	// A test's disk may be small or full: no floor of free space comes before what the test does to it.
	p.Env = append(os.Environ(), "LIMNOMAP_TEST_AS_MAIN=1", "LIMNOMAP_CACHE_MIN_FREE=0")
	stderr, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Process.Kill() })
	lines := bufio.NewScanner(io.TeeReader(stderr, p.log))
	for (p.base == "" || p.admin == "") && lines.Scan() {
		if m := openAddress.FindStringSubmatch(lines.Text()); m != nil {
			p.base = m[1]
		}
		if m := adminAddress.FindStringSubmatch(lines.Text()); m != nil {
			p.admin = m[1]
		}
	}
	if p.base == "" || p.admin == "" {
		t.Fatalf("no address in the log: %v\n%s", lines.Err(), p.log)
	}
	go io.Copy(p.log, stderr) // ends with the process
	return p
}

// startReady is startProcess of a server that has its first snapshot.
func startReady(t testing.TB, args ...string) *process {
	t.Helper()
	p := startProcess(t, args...)
	limnomaptest.Within(t, 20*time.Second, "ready", func() bool { return statusOf(p.base+"/readyz") == http.StatusOK })
	return p
}

// kill ends the process as a crash or the kernel's out-of-memory killer would, in the midst of whatever it does.
func (p *process) kill(t testing.TB) {
	t.Helper()
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait() // says only that it was killed
}

// stop ends the process as an operator would, and fails unless it exits with 0.
func (p *process) stop(t testing.TB) {
	t.Helper()
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		t.Errorf("exit after SIGTERM: %v, want 0\n%s", err, p.log)
	}
}

// metric returns the value of a metric by its name with its labels, as /metrics writes it.
func (p *process) metric(t testing.TB, name string) float64 {
	t.Helper()
	_, text := limnomaptest.Get(t, p.admin+"/metrics")
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			f, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				t.Fatalf("metric %s: %v", name, err)
			}
			return f
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}

func statusOf(url string) int {
	resp, err := http.Get(url)
	if err != nil {
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}
