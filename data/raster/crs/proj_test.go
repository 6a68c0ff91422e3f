//go:build long

package crs

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"limnomap/data/testsize"
)

// runPROJ runs testdata/proj.py and returns what it prints.
func runPROJ(t *testing.T, in io.Reader, args ...string) []byte {
	t.Helper()
	const python = "/usr/bin/python3" // that of Debian, which has python3-gdal
	if err := exec.Command(python, "-c", "from osgeo import osr").Run(); err != nil {
		testsize.LeaveOut(t, "python3-gdal is not installed")
	}
	cmd := exec.CommandContext(t.Context(), python, append([]string{"testdata/proj.py"}, args...)...)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = in, &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("proj.py: %v\n%s", err, stderr.Bytes())
	}
	return out
}

// projectByPROJ projects points by testdata/proj.py. Each definition has points of its own.
func projectByPROJ(t *testing.T, definitions []string, points [][]point) [][]point {
	t.Helper()
	var in bytes.Buffer
	for i, definition := range definitions {
		in.WriteString(definition)
		sep := "\t"
		for _, p := range points[i] {
			fmt.Fprintf(&in, "%s%.17g %.17g", sep, p.x, p.y)
			sep = ","
		}
		in.WriteString("\n")
	}
	out := runPROJ(t, &in, "points")
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(definitions) {
		t.Fatalf("proj.py wrote %d lines, want %d", len(lines), len(definitions))
	}
	results := make([][]point, len(lines))
	for i, line := range lines {
		for field := range strings.SplitSeq(line, ",") {
			x, y, _ := strings.Cut(field, " ")
			var p point
			var err error
			if p.x, err = strconv.ParseFloat(x, 64); err == nil {
				p.y, err = strconv.ParseFloat(y, 64)
			}
			if err != nil {
				t.Fatal(err)
			}
			results[i] = append(results[i], p)
		}
		if len(results[i]) != len(points[i]) {
			t.Fatalf("proj.py projected %d points to %s, want %d", len(results[i]), definitions[i], len(points[i]))
		}
	}
	return results
}

// TestPROJ compares all systems that have an EPSG code with PROJ.
func TestPROJ(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var codes []int
	var definitions []string
	var points [][]point
	for code, area := range areas() {
		codes = append(codes, code)
		definitions = append(definitions, fmt.Sprintf("EPSG:%d", code))
		points = append(points, area.random(rng, 200))
	}
	want := projectByPROJ(t, definitions, points)
	if n := len(geographicSystems) + len(projected) + 60 + 60 + 11 + 23; len(codes) != n {
		t.Errorf("%d systems have an area, want %d", len(codes), n)
	}
	worst, n := 0., 0
	for i, code := range codes {
		s, err := FromEPSG(code)
		if err != nil {
			t.Fatal(err)
		}
		for j, p := range points[i] {
			x, y, ok := s.Project(p.x, p.y)
			d := math.Hypot(x-want[i][j].x, y-want[i][j].y)
			if !ok || !(d <= 1e-4) {
				t.Fatalf("%s: %v is %.5f, %.5f, want %.5f", s.Name(), p, x, y, want[i][j])
			}
			worst = max(worst, d)
			n++
		}
	}
	t.Logf("%d points of %d systems: within %.2g mm", n, len(codes), worst*1e3)
}
