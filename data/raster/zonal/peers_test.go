//go:build long

package zonal

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"slices"
	"testing"

	"limnomap/data/testsize"
)

// A peerAnswer is the pixels that other libraries take, as runs of y, x0, x1. Full is nil if they find the polygon invalid.
type peerAnswer struct{ Centre, Full [][3]int }

func askPeers(t *testing.T, lakes []testLake) []peerAnswer {
	t.Helper()
	const python = "/usr/bin/python3" // that of Debian, which has the modules
	if err := exec.Command(python, "-c", "import rasterio.features, shapely.geometry").Run(); err != nil {
		testsize.LeaveOut(t, "python3-rasterio and python3-shapely are not installed")
	}
	in, err := json.Marshal(lakes)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, "testdata/masks.py")
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("masks.py: %v\n%s", err, stderr.Bytes())
	}
	var reply struct {
		Versions string
		Answers  []peerAnswer
	}
	if err := json.Unmarshal(out, &reply); err != nil {
		t.Fatal(err)
	}
	t.Log(reply.Versions)
	return reply.Answers
}

// TestPeers compares masks with those of rasterio and Shapely.
func TestPeers(t *testing.T) {
	for _, test := range []struct {
		name  string
		lakes []testLake
	}{
		{"lakes", testLakes(t)},
		{"points on halves and quarters", halfLakes()},
	} {
		t.Run(test.name, func(t *testing.T) {
			points, pixels, full, compared := 0, 0, 0, 0
			for i, answer := range askPeers(t, test.lakes) {
				for _, ring := range test.lakes[i].Rings {
					points += len(ring)
				}
				for _, rule := range []struct {
					name string
					rule Rule
					want [][3]int
				}{{"Centre", Centre, answer.Centre}, {"Full", Full, answer.Full}} {
					if rule.want == nil {
						continue // the polygon is invalid for Shapely
					}
					m, err := NewMask([]Polygon{test.lakes[i].Rings}, rule.rule)
					if err != nil {
						t.Fatal(err)
					}
					if got := runsOf(m); !slices.Equal(got, rule.want) {
						t.Errorf("lake %d, %s, rings %v:\n%v, want\n%v", i, rule.name, test.lakes[i].Rings, got, rule.want)
					}
					if rule.rule == Centre {
						pixels += m.Count()
					} else {
						full += m.Count()
						compared++
					}
				}
			}
			t.Logf("equal: %d polygons, %d points, %d pixels by centre; %d polygons, %d pixels wholly inside", len(test.lakes), points, pixels, compared, full)
		})
	}
}
