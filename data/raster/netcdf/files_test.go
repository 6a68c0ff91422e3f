//go:build long

package netcdf

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"
)

var (
	filePattern     = flag.String("files", "", "files that TestFiles compares with netCDF4, such as 'products/*.nc'")
	variablePattern = flag.String("variables", ".", "regular expression of the names of variables whose values TestFiles compares")
)

// TestFiles compares any files with what netCDF4 reads: their structure, their attributes and random windows.
func TestFiles(t *testing.T) {
	if *filePattern == "" {
		t.Skip("no -files are given")
	}
	needPython(t)
	paths, err := filepath.Glob(*filePattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files %s: %v", *filePattern, err)
	}
	names := regexp.MustCompile(*variablePattern)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) { compareFile(t, path, names) })
	}
}

func compareFile(t *testing.T, path string, names *regexp.Regexp) {
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	r := &countingReader{ReaderAt: file}
	begin := time.Now()
	f, err := Open(r, info.Size(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("opened in %v with %d bytes of %d in %d calls", time.Since(begin).Round(time.Microsecond), r.bytes, info.Size(), r.calls)

	out, err := exec.CommandContext(t.Context(), python, "testdata/make_nc.py", "read", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	var want pythonFile
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	compareAttributes(t, path, f.attributeSet, want.Attributes)
	if len(f.Variables()) != len(want.Variables) {
		t.Fatalf("%d variables, want %d", len(f.Variables()), len(want.Variables))
	}
	var lines []byte
	var windows [][]Window
	var variables []*Variable
	for i, v := range f.Variables() {
		if v.Name() != want.Variables[i].Name {
			t.Fatalf("variable %d is %s, want %s", i, v.Name(), want.Variables[i].Name)
		}
		compareStructure(t, path, v, &want.Variables[i])
		if v.Err() != nil || !names.MatchString(v.Name()) {
			continue
		}
		boxes := someWindows(t, v)
		var list [][2][]int64
		for _, w := range boxes {
			list = append(list, [2][]int64{w.Start, w.Shape})
		}
		line, err := json.Marshal([]any{v.Name(), list})
		if err != nil {
			t.Fatal(err)
		}
		lines = append(append(lines, line...), '\n')
		variables, windows = append(variables, v), append(windows, boxes)
	}
	cmd := exec.CommandContext(t.Context(), python, "testdata/make_nc.py", "windows", path)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(lines), os.Stderr
	begin = time.Now()
	out, err = cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	theirs := time.Since(begin)
	values := floats(out)
	*r = countingReader{ReaderAt: file}
	begin = time.Now()
	count := 0
	for i, v := range variables {
		got, err := read(v, windows[i]...)
		if err != nil {
			t.Fatal(err)
		}
		for k, list := range got {
			if !slices.EqualFunc(list, values[:len(list)], same) {
				t.Errorf("%s: window %v differs", v.Name(), windows[i][k])
			}
			values = values[len(list):]
			count += len(list)
		}
	}
	t.Logf("%d values of %d variables compared, read in %v with %d bytes in %d calls (netCDF4 with its start: %v)", count, len(variables),
		time.Since(begin).Round(time.Millisecond), r.bytes, r.calls, theirs.Round(time.Millisecond))
}

// someWindows returns the corners of a variable and random windows, half of them in Germany if it has a grid of longitude and latitude.
func someWindows(t *testing.T, v *Variable) []Window {
	t.Helper()
	g, err := v.Grid(context.Background())
	switch {
	case err == nil:
		t.Logf("%s: %s, %+v", v.Name(), v.Type(), *g)
	case len(v.Dimensions()) > 1:
		t.Log(err)
	}
	if g == nil {
		g = &Grid{}
	}
	rng := rand.New(rand.NewPCG(19, 0))
	var windows []Window
	for i := range 42 {
		w := Window{Start: []int64{}, Shape: []int64{}} // not null in JSON
		for k, d := range v.Dimensions() {
			length := min(d.Len, 30)
			start := int64(0)
			switch {
			case i == 0:
			case i == 1:
				start = d.Len - length
			case g.Geographic && i%2 == 0 && k == g.X:
				start = int64((5.5 + rng.Float64()*9 - g.Transform[0]) / g.Transform[1])
			case g.Geographic && i%2 == 0 && k == g.Y:
				start = int64((47 + rng.Float64()*8 - g.Transform[3]) / g.Transform[5])
			case d.Len > length:
				start = rng.Int64N(d.Len - length)
			}
			start = max(0, min(start, d.Len-length))
			w.Start, w.Shape = append(w.Start, start), append(w.Shape, length)
		}
		windows = append(windows, w)
	}
	return windows
}
