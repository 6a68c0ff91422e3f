//go:build unix

package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/testsize"
)

// The script of an operator's year runs to its end with the binary: install, import, undo, deletion, upgrade and back, full disk, restore.
func TestOperatorsYear(t *testing.T) {
	t.Parallel()
	limnomaptest.Need(t, "bash", "curl", "diff", "realpath", "sha256sum", "mountpoint")
	var older []string
	for version, schema := range olderSchemas {
		older = append(older, fmt.Sprintf("%d=%s", version, oldDatabase(t, schema)))
	}
	slices.Sort(older)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	mustDo(t, err)
	_, port, _ := net.SplitHostPort(free.Addr().String())
	mustDo(t, free.Close())
	cmd := exec.CommandContext(t.Context(), "bash", "../../docs/operators-year.sh")
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "LIMNOMAP_") })
	cmd.Env = append(cmd.Env, "LIMNOMAP="+limnomaptest.Binary(t), "OLDER="+strings.Join(older, " "), "PORT="+port)
	story, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v:\n%s", err, story)
	}
	t.Logf("%s", story)
	for _, step := range []string{"January", "March", "May", "schema 4 is", "schema 12 is", "August", "October", "December"} {
		if !strings.Contains(string(story), step) {
			t.Errorf("the story has no %q:\n%s", step, story)
		}
	}
	if !strings.Contains(string(story), "nothing has to be restarted") {
		testsize.LeaveOut(t, "filling up a disk needs the rights of root, and Linux")
	}
}
