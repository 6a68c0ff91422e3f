//go:build unix

package faulttest

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"limnomap/api/ratelimit/quota/redistest"
	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
)

// A deployment is what deploy/compose.replicated.yaml starts, with real programs on the loopback interface: two servers
// with one PostgreSQL, one Redis for the shared limits, and one nginx.
type deployment struct {
	postgres *postgres
	redis    *redistest.Server
	servers  [2]*replica
	front    string // address of nginx, without a slash at the end
}

func startDeployment(t testing.TB, flags ...string) *deployment {
	t.Helper()
	nginx := findNginx(t)
	d := &deployment{postgres: startPostgres(t), redis: redistest.Start(t)}
	var upstreams []string
	for i := range d.servers {
		d.servers[i] = newReplica(t, append([]string{"--db", d.postgres.url, "--redis", "redis://" + d.redis.Addr}, flags...)...)
		upstreams = append(upstreams, d.servers[i].address)
	}
	d.front = startNginx(t, nginx, upstreams)
	return d
}

// A replica is a server that can be restarted at the same address.
type replica struct {
	*limnomaptest.Server
	address string // HOST:PORT
	args    []string
}

// newReplica returns a server that is not running yet. It trusts only the proxy at 127.0.0.1, so other loopback addresses
// are client addresses.
func newReplica(t testing.TB, flags ...string) *replica {
	r := &replica{address: limnomaptest.FreeAddress(t)}
	r.args = append([]string{"--listen", r.address, "--trusted-proxies", "127.0.0.1/32"}, flags...)
	return r
}

// start starts or restarts the server.
func (r *replica) start(t testing.TB) {
	t.Helper()
	r.Server = launch(t, r.args...)
}

// sharedFolder returns a folder that other users can read, since PostgreSQL and nginx do not run as root.
func sharedFolder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "limnomap-faulttest-")
	must(t, err)
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	must(t, os.Chmod(dir, 0o755))
	return dir
}

// findNginx returns the path of nginx. Without nginx the test is left out.
func findNginx(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"nginx", "/usr/sbin/nginx"} { // Debian's folder is not in the PATH of all users
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	testsize.LeaveOut(t, "nginx is not installed (make setup)")
	return ""
}

// startNginx starts nginx with the configuration in deploy, in which only addresses and folders are replaced, and returns
// its address.
func startNginx(t testing.TB, nginx string, upstreams []string) string {
	t.Helper()
	dir, address := sharedFolder(t), limnomaptest.FreeAddress(t)
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "deploy", "nginx.conf"))
	must(t, err)
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
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt) // the master process ends its workers
		_ = cmd.Wait()
		if log, _ := os.ReadFile(filepath.Join(dir, "error.log")); t.Failed() {
			t.Logf("the log of nginx:\n%s", lastLines(string(log), 40))
		}
	})
	limnomaptest.Within(t, patience, "nginx listens", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return "http://" + address
}

// lastLines returns the last n lines of a text.
func lastLines(text string, n int) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(len(lines)-n, 0):], "\n")
}

// A postgres is a PostgreSQL that belongs to one test, which may kill it.
type postgres struct{ dir, url string }

// startPostgres starts a PostgreSQL that is removed when the test ends. If it is not installed, the test is left out.
func startPostgres(t testing.TB) *postgres {
	t.Helper()
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); len(found) == 0 {
		limnomaptest.Need(t, "initdb")
	}
	p := &postgres{dir: filepath.Join(sharedFolder(t), "postgres")}
	t.Cleanup(func() { p.do(t, "remove") })
	p.start(t)
	return p
}

// start starts or restarts it, with the same data and port.
func (p *postgres) start(t testing.TB) {
	t.Helper()
	p.url = strings.TrimSpace(p.do(t, "start"))
}

// kill ends it as a power cut does.
func (p *postgres) kill(t testing.TB) {
	t.Helper()
	p.do(t, "stop", "immediate")
}

// do runs .ci/postgres.
func (p *postgres) do(t testing.TB, command string, more ...string) string {
	t.Helper()
	script, err := filepath.Abs(filepath.Join("..", "..", "..", ".ci", "postgres"))
	must(t, err)
	// The output goes to a file: the server inherits it, so a pipe would stay open.
	out, err := os.CreateTemp(t.TempDir(), "postgres")
	must(t, err)
	defer out.Close()
	cmd := exec.Command(script, append([]string{command, p.dir}, more...)...)
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	text, err := os.ReadFile(out.Name())
	must(t, err)
	return string(text)
}
