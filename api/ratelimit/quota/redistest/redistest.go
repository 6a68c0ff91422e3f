// Package redistest starts real Redis servers for tests.
package redistest

import (
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"limnomap/data/testsize"
)

// A Server is a redis-server with its own port and folder.
type Server struct {
	Addr string // HOST:PORT on this machine, the same after each Start
	args []string
	cmd  *exec.Cmd
}

// Start starts a server that is killed when the test ends. More arguments are options of redis-server. If redis-server is not
// installed the test is skipped; in CI it fails.
func Start(t testing.TB, options ...string) *Server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		testsize.LeaveOut(t, "redis-server is not installed (make setup)")
	}
	s := &Server{Addr: FreeAddr(t)}
	_, port, err := net.SplitHostPort(s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	s.args = append([]string{"--bind", "127.0.0.1", "--port", port, "--dir", t.TempDir(), "--save", "", "--appendonly", "no"}, options...)
	s.Start(t)
	t.Cleanup(s.stop)
	return s
}

// Start starts the server again at the same address, and returns when it answers.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	s.cmd = exec.Command("redis-server", s.args...)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if s.answers() {
			return
		}
	}
	t.Fatalf("redis-server %v does not answer", s.args)
}

// answers reports whether the server answers a PING, if only with an error.
func (s *Server) answers() bool {
	conn, err := net.DialTimeout("tcp", s.Addr, time.Second)
	if err != nil {
		return false
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return false
	}
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return false
	}
	answer := make([]byte, 1)
	_, err = conn.Read(answer)
	return err == nil && (answer[0] == '+' || answer[0] == '-')
}

// Process returns the process of the server.
func (s *Server) Process() *os.Process { return s.cmd.Process }

// Kill ends the server as a crash would.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.cmd.Wait() // reports that it was killed
}

func (s *Server) stop() {
	_ = s.cmd.Process.Kill() // it may be dead
	_ = s.cmd.Wait()
}

// Cli runs redis-cli and returns its output.
func (s *Server) Cli(t testing.TB, args ...string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("redis-cli", append([]string{"-h", "127.0.0.1", "-p", port}, args...)...).Output()
	if err != nil {
		t.Fatalf("redis-cli %v: %v", args, err)
	}
	return string(out)
}

// FreeAddr returns a free address of this machine.
func FreeAddr(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
