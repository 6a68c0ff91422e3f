//go:build unix

package faulttest

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// TestBackupOfARunningServer copies the database while a server reads it. The copy has the data of that time, and accepts
// keys and imports. When it is moved over the database, the server shows its data.
func TestBackupOfARunningServer(t *testing.T) {
	t.Parallel()
	db := newUniformDB(t, uniformLakes, 5)
	s := start(t, "--db", db.path, "--api-rate", "0")
	client := newClient(t)
	before, err := get(client, s.Base+statusPath)
	if err != nil || before.status != http.StatusOK {
		t.Fatalf("status: %v, %v", before, err)
	}
	dir := t.TempDir()
	copied := filepath.Join(dir, "copy.db")
	out := limnomaptest.Run(t, "backup", copied, "--db", db.path)
	if !strings.HasPrefix(out, copied+": revision 2 of 20") {
		t.Errorf("backup prints %q", out)
	}
	importValue(t, db.path, 50)
	awaitValue(t, s, 50)

	second := start(t, "--db", copied, "--api-rate", "0")
	if after, err := get(client, second.Base+statusPath); err != nil || after != before {
		t.Errorf("the copy is served as %v, %v, want the earlier answer: %v", after, err, before)
	}
	wantMonitor(t, second, db.key, http.StatusOK)
	second.Stop(t)
	must(t, os.Rename(copied, db.path))
	awaitValue(t, s, 5)
	stopCleanly(t, s)
}
