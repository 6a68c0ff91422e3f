//go:build long

package netcdf

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"limnomap/data/testsize"
)

// A pythonFile is what netCDF4 says about a file of testdata/make_nc.py.
type pythonFile struct {
	Name       string
	Attributes map[string]pythonAttribute
	Variables  []pythonVariable
	Transform  []float64 // of variable chl, by GDAL with the first row in the north; or none
}

type pythonAttribute struct {
	Text    string
	Numbers []string // JSON has no NaN
}

type pythonVariable struct {
	Name, Type    string
	Dimensions    []Dimension
	Attributes    map[string]pythonAttribute
	Offset, Count int
	Microseconds  *int64
	Calendar      string
}

const python = "/usr/bin/python3" // that of Debian, which has the modules

// needPython skips a test without netCDF4.
func needPython(t *testing.T) {
	t.Helper()
	if err := exec.Command(python, "-c", "import netCDF4, h5py, cftime, numpy; from osgeo import gdal").Run(); err != nil {
		testsize.LeaveOut(t, "python3-netcdf4, python3-h5py and python3-gdal are not installed")
	}
}

// pythonMatrix lets netCDF4 write the files of testdata/make_nc.py into a new directory.
func pythonMatrix(t *testing.T) (dir string, files []pythonFile) {
	t.Helper()
	needPython(t)
	dir = t.TempDir()
	if out, err := exec.CommandContext(t.Context(), python, "testdata/make_nc.py", "matrix", dir).CombinedOutput(); err != nil {
		t.Fatalf("make_nc.py: %v\n%s", err, out)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		NetCDF string
		Files  []pythonFile
	}
	if err := json.Unmarshal(raw, &manifest); err != nil {
		t.Fatal(err)
	}
	t.Logf("NetCDF library %s", manifest.NetCDF)
	return dir, manifest.Files
}

// TestPython compares structure, attributes, raw values and decoded ones with those that netCDF4 reads.
func TestPython(t *testing.T) {
	dir, files := pythonMatrix(t)
	read, refused := 0, map[string]int{}
	for _, file := range files {
		f := open(t, filepath.Join(dir, file.Name+".nc"))
		compareGrid(t, f, &file)
		compareAttributes(t, file.Name, f.attributeSet, file.Attributes)
		var names, want []string
		for _, v := range f.Variables() {
			names = append(names, v.Name())
		}
		for _, v := range file.Variables {
			want = append(want, v.Name)
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s has variables %v, want %v", file.Name, names, want)
			continue
		}
		values, err := os.ReadFile(filepath.Join(dir, file.Name+".f64"))
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range f.Variables() {
			w := file.Variables[i]
			compareStructure(t, file.Name, v, &w)
			if w.Type == "" {
				if err := v.Err(); !errors.Is(err, ErrUnsupported) {
					t.Errorf("%s, %s: error %v, want ErrUnsupported", file.Name, w.Name, err)
				}
				_, reason, _ := strings.Cut(v.Err().Error(), ": ")
				refused[reason]++
				continue
			}
			compareValues(t, file.Name, v, floats(values[w.Offset:][:8*w.Count]), floats(values[w.Offset+8*w.Count:][:8*w.Count]))
			read++
		}
	}
	t.Logf("%d files, %d variables read", len(files), read)
	for _, reason := range slices.Sorted(maps.Keys(refused)) {
		t.Logf("%d variables refused: %s", refused[reason], reason)
	}
}

func compareGrid(t *testing.T, f *File, want *pythonFile) {
	t.Helper()
	if want.Transform == nil {
		return
	}
	v, _ := f.Variable("chl")
	g, err := v.Grid(context.Background())
	if err != nil {
		t.Errorf("%s: %v", want.Name, err)
		return
	}
	got := g.Transform
	if got[5] > 0 {
		got[3], got[5] = got[3]+float64(g.Height)*got[5], -got[5]
	}
	unit := 1.0
	if strings.HasPrefix(want.Name, "grid_utm") {
		unit = 1000 // GDAL does not convert kilometres
	}
	for i, number := range want.Transform {
		if !near(got[i], number*unit, 1e-12*math.Max(1, math.Abs(got[i]))) {
			t.Errorf("%s: transform %v, want that of GDAL %v", want.Name, got, want.Transform)
			break
		}
	}
}

func compareAttributes(t *testing.T, name string, got attributeSet, want map[string]pythonAttribute) {
	t.Helper()
	names := slices.Sorted(slices.Values(got.AttributeNames()))
	if wantNames := slices.Sorted(maps.Keys(want)); !slices.Equal(names, wantNames) {
		t.Errorf("%s has attributes %v, want %v", name, names, wantNames)
	}
	for key, a := range want {
		if a.Numbers == nil {
			if text := got.Text(key); text != strings.TrimRight(a.Text, " \x00\r\n\t") {
				t.Errorf("%s: attribute %s is %q, want %q", name, key, text, a.Text)
			}
			continue
		}
		numbers := got.Numbers(key)
		if !slices.EqualFunc(numbers, a.Numbers, func(x float64, y string) bool {
			number, err := strconv.ParseFloat(y, 64)
			return err == nil && same(x, number)
		}) {
			t.Errorf("%s: attribute %s is %v, want %v", name, key, numbers, a.Numbers)
		}
	}
}

func compareStructure(t *testing.T, file string, v *Variable, want *pythonVariable) {
	t.Helper()
	name := file + ", " + want.Name
	compareAttributes(t, name, v.attributeSet, want.Attributes)
	if v.Type() != want.Type && want.Type != "" {
		t.Errorf("%s has type %s, want %s", name, v.Type(), want.Type)
	}
	if strings.HasPrefix(file, "plain_HDF5") {
		for k, d := range v.Dimensions() {
			if d.Len != want.Dimensions[k].Len || d.Name != "" {
				t.Errorf("%s has dimension %v, want %v without a name", name, d, want.Dimensions[k])
			}
		}
	} else if !slices.Equal(v.Dimensions(), want.Dimensions) {
		t.Errorf("%s has dimensions %v, want %v", name, v.Dimensions(), want.Dimensions)
	}
	switch times, err := v.times(context.Background(), v.Text("units"), v.Text("calendar")); {
	case want.Microseconds != nil:
		if err != nil || len(times) != 1 || times[0].UnixMicro() != *want.Microseconds {
			t.Errorf("%s, %s in calendar %q: times %v, %v, want %d", name, v.Text("units"), v.Text("calendar"), times, err, *want.Microseconds)
		}
	case want.Calendar != "" && (!errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), want.Calendar)):
		t.Errorf("%s in calendar %q: error %v, want ErrUnsupported with its name", name, want.Calendar, err)
	}
}

// compareValues compares raw values and, with NaN for those that are not valid, decoded ones.
func compareValues(t *testing.T, file string, v *Variable, wantRaw, wantDecoded []float64) {
	t.Helper()
	w, _ := whole(v)
	all, err := read(v, w)
	if err != nil {
		t.Errorf("%s: %v", file, err)
		return
	}
	d, err := v.Decoder()
	if err != nil {
		t.Errorf("%s: %v", file, err)
		return
	}
	tolerance := 0.0
	if scale, ok := v.find("scale_factor"); ok && float64(float32(scale.numbers[0])) == scale.numbers[0] {
		tolerance = 1e-6 // netCDF4 may compute with float32
	}
	wrong := 0
	for i, raw := range all[0] {
		value, state := d.Decode(raw)
		if state == OutOfRange && math.IsInf(raw, 0) {
			state = Valid // netCDF4 has infinite values
		}
		if state != Valid {
			value = math.NaN()
		}
		switch v.Type() {
		case "int64", "uint64": // integers near the default fill value are rounded to it
			if raw == defaultFills[v.Type()] {
				value = wantDecoded[i]
			}
		case "int8", "uint8": // netCDF4 takes the default fill value for missing, unlike the conventions
			if _, ok := v.find("_FillValue"); !ok && (raw == -127 || raw == 255) && math.IsNaN(wantDecoded[i]) {
				value = wantDecoded[i]
			}
		}
		equal := same(value, wantDecoded[i]) || math.Abs(value-wantDecoded[i]) <= tolerance*(1+math.Abs(value))
		if !same(raw, wantRaw[i]) || !equal {
			wrong++
			if wrong < 4 {
				t.Errorf("%s, %s: value %d is %g, decoded %g (%v), want %g and %g", file, v.Name(), i, raw, value, state, wantRaw[i], wantDecoded[i])
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%s, %s: %d of %d values are wrong", file, v.Name(), wrong, len(wantRaw))
	}
}
