package deploy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
)

// A server in a cgroup with a limit of 512 MiB keeps a tenth of it free. So does every other command, which mentions it only in
// its debug log.
func TestMemoryLimitOfCgroup(t *testing.T) {
	t.Parallel()
	const allowed, limit = 512 << 20, 483183822
	folder, file := makeCgroup(t)
	if folder == "" {
		testsize.LeaveOut(t, "no cgroup can be made here")
	}
	must(t, os.WriteFile(filepath.Join(folder, file), fmt.Append(nil, allowed), 0o644))
	db := filepath.Join(t.TempDir(), "lakes.db")
	command := func(log *limnomaptest.Log, args ...string) *exec.Cmd {
		cmd := exec.Command("sh", append([]string{"-c", `echo $$ > "$0/cgroup.procs" && exec "$@"`, folder, limnomaptest.Binary(t)}, args...)...)
		cmd.Env, cmd.Stderr = limnomaptest.Environ(), log
		return cmd
	}
	for _, short := range [][]string{
		{"import", "lakes", "--db", db, limnomaptest.WriteFile(t, t.TempDir(), "lakes.csv", "id,name,lat,lon\nDE_BY_1,Ammersee,48,11\n")},
		{"keys", "list", "--db", db},
		{"export", "lakes", filepath.Join(t.TempDir(), "lakes.csv"), "--db", db, "--force"},
		{"version"},
	} {
		for _, level := range []string{"info", "debug"} {
			log := new(limnomaptest.Log)
			err := command(log, append(short, "--log-level", level)...).Run()
			want := fmt.Sprintf("limit_bytes=%d", limit)
			if err != nil || strings.Contains(log.String(), want) != (level == "debug") {
				t.Errorf("%v, log level %s: %v, and the log mentions %s: %v\n%s", short, level, err, want, strings.Contains(log.String(), want), log)
			}
		}
	}

	log := new(limnomaptest.Log)
	serve := command(log, "serve", "--listen", "127.0.0.1:0", "--drain", "0s", "--cache-dir", t.TempDir(), "--cache-min-free", "0")
	must(t, serve.Start())
	t.Cleanup(func() { // before the cgroup is removed
		_ = serve.Process.Signal(syscall.SIGTERM)
		if err := serve.Wait(); err != nil {
			t.Errorf("%v\n%s", err, log)
		}
	})
	var base string
	limnomaptest.Within(t, patience, "the server tells its address", func() bool {
		_, rest, ok := strings.Cut(log.String(), "open=")
		base, _, _ = strings.Cut(rest, "/\n")
		return ok && strings.HasSuffix(rest, "\n")
	})
	if want := fmt.Sprintf("limit_bytes=%d", limit); !strings.Contains(log.String(), want) {
		t.Errorf("the log does not say %s:\n%s", want, log)
	}
	_, metrics := limnomaptest.Get(t, base+"/metrics")
	if want := fmt.Sprintf("go_gc_gomemlimit_bytes %g\n", float64(limit)); !strings.Contains(string(metrics), want) {
		t.Errorf("the metrics lack %q", want)
	}
}

// makeCgroup creates a cgroup with a memory limit, inside that of this process, and returns its folder and the name of the
// limit file, or nothing if that is not possible.
func makeCgroup(t *testing.T) (folder, file string) {
	t.Helper()
	for _, version := range []struct{ parent, file string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
		{"/sys/fs/cgroup", "memory.max"},
	} {
		folder, err := os.MkdirTemp(version.parent, "limnomap-test-")
		if err != nil {
			continue
		}
		t.Cleanup(func() { os.Remove(folder) }) // a cgroup with processes stays
		if _, err := os.Stat(filepath.Join(folder, version.file)); err == nil {
			return folder, version.file
		}
	}
	return "", ""
}
