package limnomaptest

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// startTime is how long a server may take until it listens, and again until it is ready. Only a server that hangs takes
// longer, however busy the machine is.
const startTime = 5 * time.Minute

// A Server is limnomap serve as a process.
type Server struct {
	*exec.Cmd
	Base  string // address, without a slash at the end but with the base path
	Admin string // address of the admin listener; empty without one
	Log   *Log

	ended chan struct{} // closed when the process has ended with exit
	exit  error
}

// A Log collects what a server has written to stderr. It is safe for concurrent use.
type Log struct {
	mu  sync.Mutex
	buf bytes.Buffer // guarded by mu
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

var (
	openAddress  = regexp.MustCompile(`"?open"?[=:]"?(http[^\s"]+)/`)
	adminAddress = regexp.MustCompile(`"?url"?[=:]"?(http[^\s"]+)/metrics`)
)

// Start starts limnomap serve on free ports with its own cache folder, and returns when the server is ready. The last of
// two equal flags wins, so args override the flags set here; --admin-listen= means no admin listener. When the test ends
// the server is stopped, and must exit with code 0.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	s := Launch(t, args...)
	s.AwaitReady(t)
	return s
}

// Launch is Start for a server that need not become ready: it returns when the addresses are known.
func Launch(t testing.TB, args ...string) *Server {
	t.Helper()
	return LaunchWithEnv(t, nil, args...)
}

// LaunchWithEnv is Launch with additional environment variables, each as NAME=VALUE.
func LaunchWithEnv(t testing.TB, env []string, args ...string) *Server {
	t.Helper()
	return LaunchBy(t, func(args ...string) *exec.Cmd {
		cmd := Command(t, args...)
		cmd.Env = append(cmd.Env, env...)
		return cmd
	}, args...)
}

// LaunchBy is Launch for a server whose command is made by a function, such as one of another binary.
func LaunchBy(t testing.TB, command func(args ...string) *exec.Cmd, args ...string) *Server {
	t.Helper()
	s := run(t, command, args...)
	admin := !slices.Contains(args, "--admin-listen=")
	Within(t, startTime, "serve logs its address", func() bool {
		select {
		case <-s.ended:
			t.Fatalf("limnomap serve: %v\n%s", s.exit, s.Log)
		default:
		}
		text := s.Log.String()
		if m := openAddress.FindStringSubmatch(text); m != nil {
			s.Base = m[1]
		}
		if m := adminAddress.FindStringSubmatch(text); m != nil && admin {
			s.Admin = m[1]
		}
		return s.Base != "" && (s.Admin != "" || !admin)
	})
	return s
}

// LaunchAt is Launch for a server whose log may lack the addresses. It returns at once.
func LaunchAt(t testing.TB, address, admin string, args ...string) *Server {
	t.Helper()
	s := run(t, func(args ...string) *exec.Cmd { return Command(t, args...) }, append([]string{"--listen", address, "--admin-listen", admin}, args...)...)
	s.Base, s.Admin = "http://"+address, "http://"+admin
	return s
}

// run starts the process.
func run(t testing.TB, command func(args ...string) *exec.Cmd, args ...string) *Server {
	t.Helper()
	all := append([]string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--drain", "0s", "--basemap-url", "none",
		"--cache-dir", t.TempDir(), "--cache-min-free", "0"}, args...)
	s := &Server{Cmd: command(all...), Log: new(Log), ended: make(chan struct{})}
	s.Stderr = s.Log
	if err := s.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { // ends with the process
		s.exit = s.Wait()
		close(s.ended)
	}()
	t.Cleanup(func() { s.Stop(t) })
	return s
}

// AwaitReady waits until /readyz answers 200.
func (s *Server) AwaitReady(t testing.TB) {
	t.Helper()
	Within(t, startTime, "/readyz says 200", func() bool { return s.StatusOf("/readyz") == http.StatusOK })
}

// HostPort returns the address that the server listens on, as HOST:PORT.
func (s *Server) HostPort() string {
	_, rest, _ := strings.Cut(s.Base, "://")
	address, _, _ := strings.Cut(rest, "/")
	return address
}

// StatusOf returns the status of the answer to a GET of path, or 0 if there is no answer.
func (s *Server) StatusOf(path string) int {
	resp, err := s.Client().Get(s.Base + path)
	if err != nil {
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}

// Client returns a client that accepts any certificate, and opens a new connection for each request.
func (s *Server) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
}

// Metric returns the value of a metric. The name includes the labels, as /metrics writes them.
func (s *Server) Metric(t testing.TB, name string) float64 {
	t.Helper()
	return s.Sum(t, name)
}

// Sum returns the sum of metrics at one time.
func (s *Server) Sum(t testing.TB, names ...string) (sum float64) {
	t.Helper()
	_, text := Get(t, s.Admin+"/metrics")
	for _, name := range names {
		_, after, found := strings.Cut("\n"+string(text), "\n"+name+" ")
		value, _, _ := strings.Cut(after, "\n")
		f, err := strconv.ParseFloat(value, 64)
		if !found || err != nil {
			t.Fatalf("there is no metric %s, or it is no number: %q, %v", name, value, err)
		}
		sum += f
	}
	return sum
}

// Stop ends the server with SIGTERM, as an operator does, and fails the test unless it exits with code 0. It does
// nothing if the server has already ended.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	select {
	case <-s.ended:
		return
	default:
	}
	_ = s.Process.Signal(syscall.SIGTERM) // fails if the process ends at this moment
	s.AwaitExit(t)
}

// AwaitExit waits for the process to end, and fails the test unless it exits with code 0.
func (s *Server) AwaitExit(t testing.TB) {
	t.Helper()
	if err := s.awaitExit(); err != nil {
		t.Error(err)
	}
}

func (s *Server) awaitExit() error {
	select {
	case <-s.ended:
		if s.exit != nil {
			return fmt.Errorf("limnomap serve after SIGTERM: %w\n%s", s.exit, s.Log)
		}
		return nil
	case <-time.After(startTime):
		s.Kill()
		return fmt.Errorf("limnomap serve did not end after SIGTERM\n%s", s.Log)
	}
}

// Exited returns a channel that is closed when the process has ended. ExitError is valid from then on.
func (s *Server) Exited() <-chan struct{} { return s.ended }

// ExitError returns how the process ended; nil means with code 0. Call it only after [Server.Exited].
func (s *Server) ExitError() error { return s.exit }

// Kill ends the server at once, as the kernel's out-of-memory killer does, and waits for its end.
func (s *Server) Kill() {
	_ = s.Process.Kill() // fails if the process has already ended
	<-s.ended
}
