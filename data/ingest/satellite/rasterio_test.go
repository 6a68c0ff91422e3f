//go:build long

package satellite

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"limnomap/data"
	"limnomap/data/pixels"
	"limnomap/data/testsize"
)

const python = "/usr/bin/python3" // that of Debian, which has python3-rasterio and others

// needPython skips a test where the modules are not installed. In CI that is an error.
func needPython(t testing.TB, modules ...string) {
	t.Helper()
	if err := exec.Command(python, "-c", "import "+strings.Join(modules, ", ")).Run(); err != nil {
		testsize.LeaveOut(t, "not all of these modules of Python are installed: "+strings.Join(modules, ", "))
	}
}

// runPython runs a script of a test.
func runPython(t *testing.T, script string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), python, append([]string{filepath.Join("testdata", script)}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

// writeOutlines writes the outlines in the form in which Extract uses them.
func writeOutlines(t testing.TB, file string, lakes []Lake) {
	t.Helper()
	all := make(map[data.LakeID][][]orb.Point)
	var buffer []orb.Point
	for _, l := range lakes {
		for ring := range l.Outline.Rings(finest, &buffer) {
			all[l.ID] = append(all[l.ID], append([]orb.Point(nil), ring...))
		}
	}
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// The pixels of lakes are those of rasterio by the centre rule, and those that shapely says are wholly inside; and their statistics those of numpy,
// in geographic and projected coordinates.
func TestEqualsRasterio(t *testing.T) {
	needPython(t, "numpy", "rasterio", "shapely")
	const script = "rasterio_values.py"
	folder := t.TempDir()
	random := rand.New(rand.NewPCG(19, 1))
	var lakes []Lake
	for i := range 30 {
		lakes = append(lakes, irregularLake(t, random, fmt.Sprint("lake", i), 9+0.6*random.Float64(), 50.1+0.4*random.Float64(), 0.004+0.05*random.Float64(), 60, 12))
	}
	runPython(t, script, "make", folder)
	writeOutlines(t, filepath.Join(folder, "outlines.json"), lakes)
	runPython(t, script, "expect", folder)

	type values struct {
		Inside, Valid          int
		Median, Mean, P10, P90 float64
	}
	var expected map[string]map[string]map[data.LakeID]values
	readJSON(t, filepath.Join(folder, "expected.json"), &expected)
	compared := 0
	for epsg, byInside := range expected {
		b, err := os.ReadFile(filepath.Join(folder, epsg+".tif"))
		if err != nil {
			t.Fatal(err)
		}
		for inside, want := range byInside {
			for _, statistic := range []Statistic{Median, Mean} {
				opts := &Options{Date: data.Known(data.Date(20000)), Shore: FixedShore(0), Statistic: statistic, MinPixels: 1, MinShare: data.Known(0.0)}
				if err := opts.Inside.UnmarshalText([]byte(inside)); err != nil {
					t.Fatal(err)
				}
				rows, _ := extractAll(t, fileOf(epsg+".tif", b), lakes, opts)
				for id, w := range want {
					r := rows[id]
					value := w.Median
					if statistic == Mean {
						value = w.Mean
					}
					if w.Inside == 0 {
						if _, ok := rows[id]; ok {
							t.Errorf("%s %s %s has a row, want none without a pixel", epsg, inside, id)
						}
						continue
					}
					compared++
					if r.Inside != w.Inside || r.Valid != w.Valid || !near(r.Value, value) || !near(r.P10, w.P10) || !near(r.P90, w.P90) {
						t.Errorf("%s %s %s: %+v, want %+v", epsg, inside, id, r, w)
					}
				}
			}
		}
	}
	if compared < 350 {
		t.Errorf("%d values were compared, want more", compared)
	}
}

// The pixels that are kept of a lake, written as a GeoTIFF and read by rasterio, are those of the file within a step. Their shares are those that numpy counts.
func TestPixelsEqualRasterio(t *testing.T) {
	needPython(t, "numpy", "rasterio", "shapely")
	const script = "rasterio_values.py"
	folder := t.TempDir()
	random := rand.New(rand.NewPCG(19, 2))
	var lakes []Lake
	for i := range 30 {
		lakes = append(lakes, irregularLake(t, random, fmt.Sprint("lake", i), 9+0.6*random.Float64(), 50.1+0.4*random.Float64(), 0.004+0.05*random.Float64(), 60, 12))
	}
	runPython(t, script, "make", folder)
	valid, compared := 0, 0
	var shares strings.Builder
	for _, epsg := range []string{"4326", "32632", "3035", "3857"} {
		b, err := os.ReadFile(filepath.Join(folder, epsg+".tif"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(folder, epsg), 0o755); err != nil {
			t.Fatal(err)
		}
		opts := &Options{Date: data.Known(data.Date(20000)), Shore: FixedShore(0)}
		if _, err := Extract(t.Context(), fileOf(epsg+".tif", b), lakes, opts, func(r *Row) error {
			if r.Pixels == nil {
				return nil
			}
			m, err := r.Pixels.Unpack()
			if err != nil {
				return err
			}
			file, err := m.GeoTIFF("chlorophyll-a")
			if err != nil {
				return err
			}
			valid += r.Valid
			spread, err := pixels.SpreadOf(r.Pixels.Codes)
			if err != nil {
				return err
			}
			for _, p := range data.Profiles() {
				if s, ok := data.PixelSharesOf(spread, &p); ok {
					compared++
					fmt.Fprintf(&shares, "%s/%s,%v,%v,%t,%d,%v,%v,%v,%v,%v\n", epsg, r.Lake, p.Limits[0].Float(), p.Limits[1].Float(), p.Above, s.Valid,
						s.Risks[data.RiskLow].Float(), s.Risks[data.RiskMedium].Float(), s.Risks[data.RiskHigh].Float(), s.P10.Float(), s.P90.Float())
				}
			}
			return os.WriteFile(filepath.Join(folder, epsg, string(r.Lake)+".tif"), file, 0o644)
		}); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.CommandContext(t.Context(), python, filepath.Join("testdata", script), "pixels", folder).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != fmt.Sprint(valid) || valid < 5000 {
		t.Errorf("rasterio compared %s of %d pixels, %v", out, valid, err)
	}
	if err := os.WriteFile(filepath.Join(folder, "shares.csv"), []byte(shares.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err = exec.CommandContext(t.Context(), python, filepath.Join("testdata", script), "shares", folder).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != fmt.Sprint(compared) || compared < 200 {
		t.Errorf("numpy compared %s of %d shares, %v", out, compared, err)
	}
}

// near reports whether two results of the same numbers are equal but for rounding.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) }
