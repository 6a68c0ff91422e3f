//go:build long

package satellite

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"limnomap/data"
	"limnomap/data/pixels"
)

// A gdalCase is a file with what it is, as the script says.
type gdalCase struct {
	Name, File  string
	Date        string
	PeriodStart string `json:"period_start"`
	Composite   string
	Options     struct {
		Scale float64
		Date  string
	}
	Points []orb.Point
	Radius float64
}

// gdalRow is the row of a lake by GDAL and NumPy. The maps are by statistic.
type gdalRow struct {
	NInside                 int `json:"n_inside"`
	NValid                  int `json:"n_valid"`
	Chl, Cells, Uncertainty map[string]string
	Biased                  map[string]bool
	OutOfRange              map[string]bool `json:"out_of_range"`
	P10, P90, Gap           string
	Flags                   []string
	Quality, Version        string
	ScumPercent             string `json:"scum_percent"`
	Turbidity, Secchi       string
	Temperature             string
}

// fields returns what a table has of the row, and whether the lake has a gap.
func (w *gdalRow) fields(c *gdalCase, statistic string) map[string]string {
	flags := slices.Clone(w.Flags)
	if w.OutOfRange[statistic] {
		flags = append(flags, data.OutOfRange.String())
	}
	if w.Biased[statistic] {
		flags = append(flags, data.Biased.String())
	}
	slices.Sort(flags)
	return map[string]string{"date": c.Date, "period_start": c.PeriodStart, "composite": c.Composite, "n_inside": strconv.Itoa(w.NInside), "n_valid": strconv.Itoa(w.NValid),
		"chl": w.Chl[statistic], "p10": w.P10, "p90": w.P90, "uncertainty": w.Uncertainty[statistic], cellColumn: w.Cells[statistic],
		scumColumn: w.ScumPercent, "turbidity_ntu": w.Turbidity, "secchi_m": w.Secchi, "water_temperature_c": w.Temperature,
		"version": w.Version, "quality": w.Quality, "flags": fmt.Sprint(flags), "gap": w.Gap}
}

// fieldsOf returns the same of a row of ours.
func fieldsOf(r *Row) map[string]string {
	flags := r.Flags.Names()
	slices.Sort(flags)
	f := map[string]string{"date": r.Date.String(), "period_start": "", "composite": r.Composite.String(), "n_inside": strconv.Itoa(r.Inside), "n_valid": strconv.Itoa(r.Valid),
		"chl": "", "p10": "", "p90": "", "uncertainty": "", "version": r.Version, "quality": r.Quality.String(), "flags": fmt.Sprint(flags), "gap": ""}
	if r.PeriodStart.Known {
		f["period_start"] = r.PeriodStart.Value.String()
	}
	for _, column := range []string{cellColumn, scumColumn, "turbidity_ntu", "secchi_m", "water_temperature_c"} {
		f[column] = r.field(column)
	}
	if !r.HasValue {
		f["gap"] = r.Reason.String()
		return f
	}
	f["chl"], f["p10"], f["p90"] = number(r.Value), number(r.P10), number(r.P90)
	if r.Limit > 0 {
		f["chl"] = "<" + number(r.Limit)
	}
	if r.Uncertainty >= 0 {
		f["uncertainty"] = number(r.Uncertainty)
	}
	return f
}

// writePixels writes the pixels that are stored of lakes, one a line.
func writePixels(t *testing.T, file string, rows map[data.LakeID]Row) {
	t.Helper()
	var b strings.Builder
	states := map[pixels.Code]string{pixels.NoData: "no_data", pixels.BelowLimit: "below_limit", pixels.Ice: "ice", pixels.OutOfRange: "out_of_range"}
	for id, r := range rows {
		if r.Pixels == nil {
			continue
		}
		m, err := r.Pixels.Unpack()
		if err != nil {
			t.Fatal(err)
		}
		to := m.Grid.Transform()
		m.Each(func(column, row int, code pixels.Code) {
			x, y := float64(column)+0.5, float64(row)+0.5
			chl, _ := code.Value()
			fmt.Fprintf(&b, "%s,%v,%v,%s,%v\n", id, to[0]+to[1]*x+to[2]*y, to[3]+to[4]*x+to[5]*y, cmp.Or(states[code], "value"), chl)
		})
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// What is stored of lakes is, to the digit, what GDAL and NumPy make of files of all kinds: chlorophyll with negative numbers, indexes, Copernicus LWQ and
// Lakes CCI with flags and other quantities, expressions, masks, logarithms, and dates. Each pixel that is stored has the value of the file within a step, or says why it has none.
func TestEqualsGDAL(t *testing.T) {
	seen := compareWithGDAL(t, 14, "make")
	for _, what := range []string{"ice", "scum_possible", "biased", "out_of_range", "few_pixels", "poor", "suspect", "cloud or no data", "too few pixels"} {
		if !seen[what] {
			t.Errorf("no lake has %s", what)
		}
	}
}

// The same of the files of the generators that are next to the repository.
func TestEqualsGDALOnSharedFiles(t *testing.T) {
	generators, err := filepath.Abs("../../../../shared/rasters")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(generators); err != nil {
		t.Skipf("NOT TESTED against shared files: %v", err)
	}
	compareWithGDAL(t, 22, "shared", generators)
}

// compareWithGDAL compares the files that a command of the script makes. It returns the flags, qualities and gaps that were seen.
func compareWithGDAL(t *testing.T, cases int, command string, args ...string) map[string]bool {
	needPython(t, "netCDF4", "numpy", "osgeo")
	const script = "gdal_values.py"
	folder := t.TempDir()
	runPython(t, script, append([]string{command, folder}, args...)...)
	var all []gdalCase
	readJSON(t, filepath.Join(folder, "cases.json"), &all)
	if len(all) != cases {
		t.Errorf("there are %d cases, want %d", len(all), cases)
	}
	lakes, seen := make(map[string][]Lake), make(map[string]bool)
	for _, c := range all {
		random := rand.New(rand.NewPCG(39, uint64(len(c.Name))))
		for i, p := range c.Points {
			lakes[c.Name] = append(lakes[c.Name], irregularLake(t, random, fmt.Sprint("lake", i), p[0], p[1], c.Radius*(0.1+random.Float64()), 40, 8))
		}
		writeOutlines(t, filepath.Join(folder, c.Name+".outlines.json"), lakes[c.Name])
	}
	runPython(t, script, "expect", folder)
	var expected map[string]struct {
		Counts struct {
			OutOfRange int64 `json:"out_of_range"`
			Floored    int64
		}
		Rows map[data.LakeID]*gdalRow
	}
	readJSON(t, filepath.Join(folder, "expected.json"), &expected)
	for _, c := range all {
		for _, statistic := range []Statistic{Median, Mean, P90} {
			t.Run(c.Name+"/"+statistic.String(), func(t *testing.T) {
				path := filepath.Join(folder, c.File)
				f, err := os.Open(path)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				info, err := f.Stat()
				if err != nil {
					t.Fatal(err)
				}
				opts := &Options{Inside: Centre, Shore: FixedShore(0), Statistic: statistic, Scale: c.Options.Scale}
				if c.Options.Date != "" {
					date, err := data.ParseDate(c.Options.Date)
					if err != nil {
						t.Fatal(err)
					}
					opts.Date = data.Known(date)
				}
				rows, summary := extractAll(t, File{Name: path, ReaderAt: f, Size: info.Size(), Beside: BesideLocal(path, os.Open)}, lakes[c.Name], opts)
				if statistic == Median {
					writePixels(t, filepath.Join(folder, c.Name+".pixels.csv"), rows)
				}
				want := expected[c.Name]
				if summary.OutOfRange != want.Counts.OutOfRange || summary.Floored != want.Counts.Floored {
					t.Errorf("%d pixels are out of range and %d are floored, want %+v", summary.OutOfRange, summary.Floored, want.Counts)
				}
				values := 0
				for _, l := range lakes[c.Name] {
					w, r := want.Rows[l.ID], rows[l.ID]
					_, has := rows[l.ID]
					if has != (w != nil) {
						t.Errorf("%s has a row %v: %+v, want %+v", l.ID, has, r, w)
					}
					if !has || w == nil {
						continue
					}
					if r.HasValue {
						values++
					}
					seen[w.Gap], seen[w.Quality] = true, true
					for _, flag := range r.Flags.Names() {
						seen[flag] = true
					}
					got, want := fieldsOf(&r), w.fields(&c, statistic.String())
					if statistic == Mean { // the fourth decimal depends on the order of a sum, and is not stored
						asStored(t, got)
						asStored(t, want)
					}
					if !maps.Equal(got, want) {
						t.Errorf("%s is %v, want %v", l.ID, got, want)
					}
				}
				if values < 15 {
					t.Errorf("%d lakes have a value, want more", values)
				}
			})
		}
	}
	runPython(t, script, "pixels", folder)
	return seen
}

// asStored rounds the numbers that are made of a mean to hundredths.
func asStored(t *testing.T, fields map[string]string) {
	for _, column := range []string{"chl", "uncertainty"} {
		if text := fields[column]; text != "" && text[0] != '<' {
			f, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			fields[column] = hundredths(f).String()
		}
	}
}

func readJSON(t *testing.T, file string, to any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err = cmp.Or(err, json.Unmarshal(b, to)); err != nil {
		t.Fatal(err)
	}
}
