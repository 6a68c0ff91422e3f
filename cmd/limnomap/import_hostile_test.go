package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"limnomap/cmd/limnomap/limnomaptest"
)

// repeatedRows is a table of observations with 4 million equal rows, compressed to some hundred kilobytes.
func repeatedRows(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	rows := strings.Repeat("a,2024-01-01,1,satellite\n", 10_000)
	io.WriteString(w, "lake_id,date,chl,data_type\n")
	for range 400 {
		io.WriteString(w, rows)
	}
	mustDo(t, w.Close())
	name := filepath.Join(t.TempDir(), "repeated.csv.gz")
	mustDo(t, os.WriteFile(name, b.Bytes(), 0o600))
	return name
}

// While a file of repeated rows is imported, other writers get their turn: the import ends with an error that names the line
// and the key, and writes nothing.
func testHostileImport(t *testing.T, db string) {
	t.Helper()
	mustRun(t, "import", "lakes", limnomaptest.WriteFile(t, t.TempDir(), "lakes.csv", "id,name,lat,lon\na,A,50,10\n"), "--db", db)
	rows := repeatedRows(t)
	ended := make(chan error, 1)
	go func() { // ends with the import, which the loop waits for
		_, _, err := runCommand(t, "import", "observations", rows, "--db", db)
		ended <- err
	}()
	for n := 0; ; n++ {
		mustRun(t, "keys", "create", "--name", fmt.Sprintf("key%d", n), "--db", db)
		select {
		case err := <-ended:
			if err == nil || !strings.Contains(err.Error(), "repeated.csv.gz: line 10004: this lake, date 2024-01-01, data_type satellite of lake \"a\" is repeated more than 10001 times") {
				t.Errorf("the import ended with %v, want the line, the key and the bound", err)
			}
			if out := mustRun(t, "export", "observations", "-", "--db", db); strings.Count(out, "\n") != 1 {
				t.Errorf("the database has %q, want no observation", out)
			}
			return
		default:
		}
	}
}

func TestHostileImport(t *testing.T) { testHostileImport(t, filepath.Join(t.TempDir(), "lakes.db")) }

func TestHostileImportIntoPostgres(t *testing.T) { testHostileImport(t, newPostgres(t)) }
