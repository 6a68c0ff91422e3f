//go:build unix

package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"limnomap/api/quota/redistest"
	"limnomap/cmd/limnomap/limnomaptest"
)

// A topology is what deploy/compose.replicated.yaml starts, of real programs on the loopback: two servers on one PostgreSQL, with
// limits shared through one Redis, behind one nginx.
type topology struct {
	postgres *postgres
	redis    *redistest.Server
	servers  [2]*replica
	front    string // nginx' address, without a slash at the end
}

func startTopology(t testing.TB, flags ...string) *topology {
	t.Helper()
	nginx := findNginx(t)
	top := &topology{postgres: startPostgres(t), redis: redistest.Start(t)}
	var upstreams []string
	for i := range top.servers {
		top.servers[i] = newReplica(t, append([]string{"--db", top.postgres.url, "--redis", "redis://" + top.redis.Addr}, flags...)...)
		upstreams = append(upstreams, top.servers[i].address)
	}
	top.front = startNginx(t, nginx, upstreams)
	return top
}

// A replica is a server that is started again at the same address.
type replica struct {
	*process
	address string // HOST:PORT
	args    []string
}

// newReplica returns a server that does not run yet. It trusts a proxy at 127.0.0.1 alone, and so takes other addresses
// of the loopback for those of clients.
func newReplica(t testing.TB, flags ...string) *replica {
	r := &replica{address: freeAddress(t)}
	r.args = append([]string{"--listen", r.address, "--trusted-proxies", "127.0.0.1/32"}, flags...)
	return r
}

// start starts it, or starts it anew.
func (r *replica) start(t testing.TB) {
	t.Helper()
	r.process = startProcess(t, r.args...)
}

// freeAddress returns an address of this machine that nobody listens on.
func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	mustDo(t, err)
	defer l.Close()
	return l.Addr().String()
}

// commonDir returns a folder that other users reach, since PostgreSQL and nginx do not run as root.
func commonDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "limnomap-topology-")
	mustDo(t, err)
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	mustDo(t, os.Chmod(dir, 0o755))
	return dir
}

// findNginx returns the program. Without one the test is skipped, unless this is CI, where nothing may be.
func findNginx(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"nginx", "/usr/sbin/nginx"} { // where Debian has it, and not all users look
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatal("there is no nginx, and nothing may be left out in CI")
	}
	t.Skip("LEFT OUT: there is no nginx to put before two servers")
	return ""
}

// startNginx starts nginx with the configuration of deploy, in which nothing but addresses and folders are others, and
// returns where it answers.
func startNginx(t testing.TB, nginx string, upstreams []string) string {
	t.Helper()
	dir, address := commonDir(t), freeAddress(t)
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", "nginx.conf"))
	mustDo(t, err)
	conf := string(text)
	replace := func(old, new string) {
		if !strings.Contains(conf, old) {
			t.Fatalf("deploy/nginx.conf does not have %q", old)
		}
		conf = strings.ReplaceAll(conf, old, new)
	}
	for i, m := range regexp.MustCompile(`(?m)^\s+server (\S+:\d+)[ ;]`).FindAllStringSubmatch(conf, -1) {
		replace(m[1], upstreams[i])
	}
	replace("listen 80;", "listen "+address+";")
	replace("/tmp/", dir+"/")
	replace("/dev/stderr", dir+"/error.log")
	path := limnomaptest.WriteFile(t, dir, "nginx.conf", conf)
	if out, err := exec.Command(nginx, "-t", "-p", dir, "-c", path).CombinedOutput(); err != nil || strings.Contains(string(out), "[warn]") {
		t.Fatalf("nginx -t: %v\n%s", err, out)
	}
	cmd := exec.Command(nginx, "-p", dir, "-c", path, "-g", "daemon off;")
	mustDo(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt) // the master ends its workers
		_ = cmd.Wait()
		if log, _ := os.ReadFile(filepath.Join(dir, "error.log")); t.Failed() {
			t.Logf("nginx says:\n%s", tail(string(log), 40))
		}
	})
	limnomaptest.Within(t, 20*time.Second, "nginx listens", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return "http://" + address
}

// tail returns the last n lines of a text.
func tail(text string, n int) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(len(lines)-n, 0):], "\n")
}

// A postgres is a PostgreSQL of a test's own, which it may kill.
type postgres struct{ dir, url string }

// startPostgres starts one that the test's end removes. Without one installed the test is skipped, unless
// this is CI, where nothing may be.
func startPostgres(t testing.TB) *postgres {
	t.Helper()
	if os.Getenv("CI") == "" {
		if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); len(found) == 0 {
			t.Skip("LEFT OUT: there is no PostgreSQL for two servers")
		}
	}
	p := &postgres{dir: filepath.Join(commonDir(t), "postgres")}
	t.Cleanup(func() { p.do(t, "remove") })
	p.start(t)
	return p
}

// start starts it, or starts it anew with the same data and port.
func (p *postgres) start(t testing.TB) {
	t.Helper()
	p.url = strings.TrimSpace(p.do(t, "start"))
}

// kill ends it as a power cut would.
func (p *postgres) kill(t testing.TB) {
	t.Helper()
	p.do(t, "stop", "immediate")
}

func (p *postgres) do(t testing.TB, command string, more ...string) string {
	t.Helper()
	script, err := filepath.Abs(filepath.Join("..", "..", ".ci", "postgres"))
	mustDo(t, err)
	// To a file, since the server inherits it and a pipe would not end.
	out, err := os.CreateTemp(t.TempDir(), "postgres")
	mustDo(t, err)
	defer out.Close()
	cmd := exec.Command(script, append([]string{command, p.dir}, more...)...)
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	text, err := os.ReadFile(out.Name())
	mustDo(t, err)
	return string(text)
}
