//go:build linux

package attacktest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"limnomap/data/testsize"
)

// A bomb is a file that costs much more than it has bytes.
type bomb struct {
	name, kind, file string
	text             func(n int) []byte // of about n bytes
	pack             bool
}

var bombs = []bomb{
	{"members of a feature", "lakes", "members.geojson", func(n int) []byte {
		var b bytes.Buffer
		b.WriteString(`{"type":"FeatureCollection","features":[{"type":"Feature"`)
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, `,"m%d":0`, i)
		}
		b.WriteString(`,"geometry":{"type":"Point","coordinates":[10,50]},"properties":{"id":"a","name":"a"}}]}`)
		return b.Bytes()
	}, false},
	{"properties", "lakes", "properties.geojson", func(n int) []byte {
		var b bytes.Buffer
		b.WriteString(`{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[10,50]},"properties":{"id":"a","name":"a"`)
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, `,"p%d":0`, i)
		}
		b.WriteString(`}}]}`)
		return b.Bytes()
	}, false},
	{"properties, compressed", "lakes", "properties.geojson.gz", func(n int) []byte {
		var b bytes.Buffer
		b.WriteString(`{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[10,50]},"properties":{"id":"a","name":"a"`)
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, `,"%d":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]`, i)
		}
		b.WriteString(`}}]}`)
		return b.Bytes()
	}, true},
	{"a list as property", "lakes", "list.geojson", func(n int) []byte {
		return []byte(`{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[10,50]},"properties":{"id":"a","name":"a","x":[` +
			strings.Repeat("0,", n/2) + `0]}}]}`)
	}, false},
	{"depth", "lakes", "depth.geojson", func(n int) []byte {
		return []byte(`{"type":"FeatureCollection","features":[{"type":"Feature","properties":` + strings.Repeat(`{"a":`, n/5))
	}, false},
	{"rings", "lakes", "rings.geojson", func(n int) []byte {
		var b bytes.Buffer
		b.WriteString(`{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"id":"a","name":"a"},"geometry":{"type":"Polygon","coordinates":[[[9,49],[11,49],[11,51],[9,51],[9,49]]`)
		b.WriteString(strings.Repeat(`,[[10,50],[10.001,50],[10.001,50.001],[10,50]]`, n/46))
		b.WriteString(`]}}]}`)
		return b.Bytes()
	}, false},
	{"zeros, compressed", "lakes", "zeros.csv.gz", func(n int) []byte { return append([]byte("id,name,lat,lon\n"), make([]byte, 10*n)...) }, true},
	{"endless line", "observations", "line.csv", func(n int) []byte { return []byte("lake_id,date,chl,data_type\n" + strings.Repeat("a", n)) }, false},
	{"a million columns", "observations", "columns.csv", func(n int) []byte { return []byte("lake_id,date,chl,data_type" + strings.Repeat(",c", n/2) + "\n") }, false},
	{"statements", "advisories", "statements.csv", func(n int) []byte {
		var b bytes.Buffer
		b.WriteString("id,lake_id,kind,cause,issuer,issued,valid_from,valid_until\n")
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "s%d,LAKE,closure,other,Bomb,2025-08-01,2025-08-01,\n", i)
		}
		b.WriteString("wrong\n") // so that no size is accepted
		return b.Bytes()
	}, false},
	{"depth of statements", "advisories", "depth.json", func(n int) []byte { return []byte(`{"advisories":` + strings.Repeat("[", n)) }, false},
	{"a text of a statement, compressed", "advisories", "text.json.gz", func(n int) []byte {
		return []byte(`{"advisories":[{"id":"a","lake_id":"LAKE","kind":"closure","text":{"en":"` + strings.Repeat("a", 10*n) + `"}}]}`)
	}, true},
	{"repeated rows", "observations", "repeats.csv.gz", func(n int) []byte {
		return []byte("lake_id,date,chl,data_type\n" + strings.Repeat("LAKE,2025-08-25,1,satellite\nLAKE,2025-08-25,2,satellite\n", n/20))
	}, true},
}

// importTime is how long an import of a bomb may take. Only one that hangs takes longer.
const importTime = 10 * time.Minute

// importBombs imports files into the database of the server. None may use much memory, or be accepted in part.
func importBombs(a *assault) {
	dir, err := os.MkdirTemp("", "bombs-")
	if err != nil {
		a.fail("%v", err)
		return
	}
	defer os.RemoveAll(dir)
	for i, b := range bombs {
		if !testsize.Long && i%3 != 0 {
			continue
		}
		text := bytes.ReplaceAll(b.text(size(30<<20, 1<<18)), []byte("LAKE"), []byte(a.lakes[1]))
		if b.pack {
			var packed bytes.Buffer
			w := gzip.NewWriter(&packed)
			_, _ = w.Write(text) // a buffer accepts all
			_ = w.Close()
			text = packed.Bytes()
		}
		file := filepath.Join(dir, b.file)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			a.fail("%v", err)
			return
		}
		outcome, memory, took := a.importFile("import", b.kind, file)
		a.note("%s (%d kB): %s, %.0f MB, %.1f s", b.name, len(text)/1000, outcome, memory/1e6, took.Seconds())
		if memory > mayPeak {
			a.fail("the import of %s used %.0f MB", b.name, memory/1e6)
		}
		if outcome == "too long" {
			a.fail("the import of %s took more than %v", b.name, importTime)
		}
	}
}

// importFile runs a command that imports a file under the memory limit, and returns how it ended, its peak of memory and its time.
func (a *assault) importFile(args ...string) (outcome string, memory float64, took time.Duration) {
	cmd := a.command(append(args, "--db", a.db)...)
	cmd.Env = append(cmd.Env, "GOMEMLIMIT="+memoryLimit)
	started := time.Now()
	if err := cmd.Start(); err != nil {
		return err.Error(), 0, 0
	}
	timer := time.AfterFunc(importTime, func() { _ = cmd.Process.Kill() })
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // ends with the process
	var err error
	// Not Rusage.Maxrss, which counts the memory of this process until the other program is loaded.
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for running := true; running; {
		select {
		case err = <-ended:
			running = false
		case <-ticker.C:
			if most, err := statusOfProcess(cmd.Process.Pid, "VmHWM"); err == nil {
				memory = max(memory, most)
			}
		}
	}
	took = time.Since(started)
	outcome = "imported"
	if !timer.Stop() {
		outcome = "too long"
	} else if err != nil {
		outcome = "rejected"
	}
	return outcome, memory, took
}

// command returns a limnomap command that has not been started.
func (a *assault) command(args ...string) *exec.Cmd {
	cmd := exec.Command(a.Path, args...)
	cmd.Env = a.Env
	return cmd
}

// killedImports kills imports of new values before they have read all of their input. The server must not show any of it,
// which the probe checks.
func killedImports(a *assault) {
	for i := range size(10, 1) {
		input, feed, err := os.Pipe()
		if err != nil {
			a.fail("%v", err)
			return
		}
		cmd := a.command("import", "observations", "/dev/stdin", "--db", a.db, "--force")
		cmd.Stdin = input
		err = cmd.Start()
		input.Close()
		if err != nil {
			a.fail("%v", err)
			return
		}
		written := make(chan int)
		go func() { // ends when the import is dead and the pipe is broken
			defer feed.Close()
			_, err := feed.WriteString("lake_id,date,chl,data_type\n")
			n := 0
			for day := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC); err == nil && day.Year() < 2050; day = day.AddDate(0, 0, 1) {
				for _, lake := range a.lakes[:min(len(a.lakes), 1000)] {
					if _, err = fmt.Fprintf(feed, "%s,%s,99,satellite\n", lake, day.Format(time.DateOnly)); err != nil {
						break
					}
					n++
				}
			}
			written <- n
		}()
		time.Sleep(size(time.Second, 300*time.Millisecond) + time.Duration(i)*50*time.Millisecond)
		_ = cmd.Process.Kill() // kill -9
		if cmd.Wait() == nil {
			a.fail("an import that was killed has succeeded")
		}
		a.note("killed after %d rows", <-written)
	}
}
