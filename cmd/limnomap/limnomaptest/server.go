package limnomaptest

import (
	"bytes"
	"crypto/tls"
	"net/http"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A Server is limnomap serve as a process.
type Server struct {
	*exec.Cmd
	Base  string // address, without a slash at the end but with the base path
	Admin string // that of the admin listener; empty without one
	Log   *Log

	ended chan struct{} // closed when the process has ended with exit
	exit  error
}

// A Log is what a server has written to stderr so far. It is safe for concurrent use.
type Log struct {
	mu  sync.Mutex
	buf bytes.Buffer
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

// Start starts limnomap serve with free ports and a cache of its own, and returns when it is ready. Args come behind
// these flags, and so before them: --admin-listen= is no admin listener. The test's end stops it, and demands that it
// exits with 0.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	s := Launch(t, args...)
	Within(t, 30*time.Second, "/readyz says 200", func() bool {
		resp, err := s.Client().Get(s.Base + "/readyz")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	return s
}

// Launch is Start of a server that need not become ready. Its addresses are known.
func Launch(t testing.TB, args ...string) *Server {
	t.Helper()
	all := append([]string{"serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--drain", "0s", "--basemap-url", "none",
		"--cache-dir", t.TempDir(), "--cache-min-free", "0"}, args...)
	s := &Server{Cmd: exec.Command(Binary(t), all...), Log: new(Log), ended: make(chan struct{})}
	s.Env, s.Stderr = Environ(), s.Log
	if err := s.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { // ends with the process
		s.exit = s.Wait()
		close(s.ended)
	}()
	t.Cleanup(func() { s.Stop(t) })
	admin := true // false if the last word on it is none
	for _, arg := range all {
		admin = admin && arg != "--admin-listen="
	}
	Within(t, 30*time.Second, "serve logs its address", func() bool {
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

// Client returns a client that takes the certificate of a server under test, whoever signed it.
func (s *Server) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
}

// Stop ends the server as an operator would, by SIGTERM, and fails the test unless it exits with 0. One that was ended
// before, with Kill, is left alone.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	select {
	case <-s.ended:
		return
	default:
	}
	_ = s.Process.Signal(syscall.SIGTERM) // it may end just now
	select {
	case <-s.ended:
		if s.exit != nil {
			t.Errorf("limnomap serve after SIGTERM: %v\n%s", s.exit, s.Log)
		}
	case <-time.After(30 * time.Second):
		s.Kill()
		t.Errorf("limnomap serve does not end after SIGTERM\n%s", s.Log)
	}
}

// Kill ends the server as the kernel's out-of-memory killer would.
func (s *Server) Kill() {
	_ = s.Process.Kill() // it may have ended
	<-s.ended
}
