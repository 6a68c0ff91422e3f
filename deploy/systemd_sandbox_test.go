//go:build long

package deploy

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/paulmach/orb/maptile"
	"golang.org/x/sync/errgroup"

	"limnomap/cmd/limnomap/limnomaptest"
)

// TestUnitSandbox runs the server with the restrictions of the unit, and uses it as operators and visitors do. strace refuses
// the system calls that the filter of the unit would refuse.
func TestUnitSandbox(t *testing.T) {
	t.Parallel()
	limnomaptest.Need(t, "systemd-analyze", "strace")
	text, dir := readFile(t, unit), t.TempDir()
	manager := listenAsManager(t, dir)
	allowed := "!?" + strings.Join(allowedCalls(t, text), ",?")
	trace := filepath.Join(dir, "trace")
	// The trace also has the calls that other directives of the unit restrict.
	looked := []string{"mmap", "mprotect", "socket", "clone", "clone3", "execve", "setpriority"}
	args := []string{"-f", "-D", "-qq", "-e", "signal=none", "-o", trace, "-e", "trace=" + withLooked(allowed, looked), "-e", "inject=" + allowed + ":error=EPERM",
		limnomaptest.Binary(t), "serve", "--listen", "127.0.0.1:0", "--drain", "0s", "--tile-rate", "0", "--db", demoDatabase(t, dir), "--cache-dir", filepath.Join(dir, "cache")}
	log := new(limnomaptest.Log)
	cmd := exec.Command("strace", args...) // with -D strace runs as a grandchild, and this process is limnomap
	// With one processor two waiting requests are enough.
	cmd.Env = append(limnomaptest.Environ(), "NOTIFY_SOCKET="+manager.path, "WATCHDOG_USEC=200000", "GOMAXPROCS=1")
	cmd.Stderr = log
	must(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // ends with the process
	t.Cleanup(func() { _ = cmd.Process.Kill() })

	manager.want(t, log, "READY=1")
	var base string
	limnomaptest.Within(t, patience, "it logs its address", func() bool { // through a pipe
		if m := regexp.MustCompile(`open=(http\S+)/`).FindStringSubmatch(log.String()); m != nil {
			base = m[1]
		}
		return base != ""
	})
	limnomaptest.Within(t, patience, "/readyz says 200", func() bool {
		resp, _ := limnomaptest.Get(t, base+"/readyz")
		return resp.StatusCode == 200
	})
	for _, path := range []string{"/", "/table", "/metrics", "/api/v1/tiles/6/34/21.png", "/api/v1/tiles/6/34/21.mvt", "/api/v1/bathing-lakes/status", "/api/v1/bathing-lakes/history/" + demoLake} {
		if resp, body := limnomaptest.Get(t, base+path); resp.StatusCode != 200 {
			t.Errorf("GET %s: %s\n%s", path, resp.Status, body)
		}
	}
	round := 0
	limnomaptest.Within(t, 5*time.Minute, "tiles are drawn at low priority", func() bool {
		askCrowd(t, base, round)
		round++
		return strings.Contains(readFile(t, trace), "setpriority(")
	})
	manager.want(t, log, "WATCHDOG=1")
	must(t, cmd.Process.Signal(syscall.SIGHUP))
	if told := manager.want(t, log, "RELOADING=1"); len(told) != 2 || !regexp.MustCompile(`^MONOTONIC_USEC=\d+$`).MatchString(told[1]) {
		t.Errorf("with RELOADING=1 it sends %q, want the time in MONOTONIC_USEC", told)
	}
	manager.want(t, log, "READY=1")
	limnomaptest.Within(t, patience, "it logs that it has reloaded", func() bool {
		return strings.Contains(log.String(), "reloaded without a configuration file")
	})
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	manager.want(t, log, "STOPPING=1")
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("after SIGTERM: %v\n%s", err, log)
		}
	case <-time.After(patience):
		t.Fatalf("it does not end\n%s", log)
	}
	judgeTrace(t, text, readFile(t, trace))
}

// askCrowd requests many tiles at once, other ones in each round, all slow to draw. If more wait than are drawn at once, they
// are drawn at low priority.
func askCrowd(t testing.TB, base string, round int) {
	t.Helper()
	var group errgroup.Group
	const places = 5 // few, so that a busy machine draws all tiles before a request gives up
	for i := range places {
		tile := maptile.At(lakePlace((round+i*demoLakes/places)%demoLakes), maptile.Zoom(5+(round/10+i)%10))
		for _, colormap := range []string{"limno", "viridis", "cividis", "algae"} {
			group.Go(func() error {
				resp, err := http.Get(fmt.Sprintf("%s/api/v1/tiles/%d/%d/%d@2x.png?style=heat&colormap=%s", base, tile.Z, tile.X, tile.Y, colormap))
				if err != nil {
					return err
				}
				if resp.StatusCode != http.StatusOK {
					err = errors.New(resp.Status)
				}
				return errors.Join(err, resp.Body.Close())
			})
		}
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}

// judgeTrace compares the system calls of the server with the unit.
func judgeTrace(t *testing.T, text, trace string) {
	for _, seen := range []string{"AF_INET", "mmap(", "setpriority("} {
		if !strings.Contains(trace, seen) {
			t.Errorf("the trace has no %s: it does not show what the server does", seen)
		}
	}
	for _, m := range refused.FindAllStringSubmatch(trace, -1) {
		if m[1] == "fchown" && os.Geteuid() == 0 {
			continue // as root, SQLite sets the owner of its files; in the unit it does not run as root
		}
		t.Errorf("the unit refuses %s, which the server calls", m[1])
	}
	families := strings.Fields(setting(t, text, "RestrictAddressFamilies")[0])
	for _, m := range family.FindAllStringSubmatch(trace, -1) {
		if !slices.Contains(families, m[1]) {
			t.Errorf("the unit refuses sockets of %s", m[1])
		}
	}
	if setting(t, text, "MemoryDenyWriteExecute")[0] != "yes" || setting(t, text, "RestrictNamespaces")[0] != "yes" {
		t.Error("the unit allows writable executable memory or new namespaces")
	}
	if m := writeExec.FindString(trace); m != "" {
		t.Errorf("the unit refuses executable memory: %s", m)
	}
	if m := namespaces.FindString(trace); m != "" {
		t.Errorf("the unit refuses namespaces: %s", m)
	}
	if n := strings.Count(trace, "execve("); n != 1 {
		t.Errorf("%d programs are executed, want only limnomap", n)
	}
}

// A manager is the systemd side of the sd_notify socket.
type manager struct {
	path string
	conn *net.UnixConn
}

func listenAsManager(t testing.TB, dir string) *manager {
	t.Helper()
	m := &manager{path: filepath.Join(dir, "notify")}
	var err error
	if m.conn, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: m.path, Net: "unixgram"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.conn.Close() })
	return m
}

// want reads messages until one has the state, and returns the lines of that message.
func (m *manager) want(t testing.TB, log *limnomaptest.Log, state string) (told []string) {
	t.Helper()
	must(t, m.conn.SetReadDeadline(time.Now().Add(patience)))
	buf := make([]byte, 1024)
	for {
		n, err := m.conn.Read(buf)
		if err != nil {
			t.Fatalf("waiting for %s: %v\n%s", state, err, log)
		}
		told = strings.Split(strings.TrimSuffix(string(buf[:n]), "\n"), "\n")
		if slices.Contains(told, state) {
			return told
		}
	}
}
