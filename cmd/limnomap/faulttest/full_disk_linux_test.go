package faulttest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// A server starts on a database on a full disk, where SQLite can make no file, and says so once. When there is room again, it shows the next import.
func TestServeOnAFullDisk(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	mountSmallDisk(t, disk, "96m") // an import leaves 64 MiB free
	db := newUniformDB(t, uniformLakes, 5)
	content, err := os.ReadFile(db.path)
	must(t, err)
	path := limnomaptest.WriteFile(t, disk, "lakes.db", string(content))
	fill(t, disk)
	s := start(t, "--db", path, "--api-rate", "0")
	wantValue(t, s, 5)
	wantHistory(t, s, 5)
	wantAnswers(t, s)
	output, err := runCommand(t, "keys", "create", "--name", "me", "--db", path)
	if err == nil || !strings.Contains(output, "the disk is full") {
		t.Errorf("a key on a full disk: %v, want an error that says so:\n%s", err, output)
	}
	limnomaptest.Within(t, patience, "some tries to write fail", func() bool { return s.Metric(t, "limnomap_event_log_failures_total") > 1 })
	if n, warned := strings.Count(s.Log.String(), "level=ERROR"), strings.Count(s.Log.String(), `reason="its disk is full"`); n != 1 || warned != 1 {
		t.Errorf("%d errors and %d warnings, want one of each:\n%s", n, warned, eventLog(s))
	}
	must(t, os.Remove(filepath.Join(disk, filler)))
	importValue(t, path, 50)
	awaitValue(t, s, 50)
	limnomaptest.Within(t, patience, "the log of events works again", func() bool { return strings.Contains(s.Log.String(), "log of events works again") })
	stopCleanly(t, s)
}
