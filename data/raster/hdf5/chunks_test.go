//go:build long

package hdf5

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"limnomap/data/testsize"
)

// A chunkManifest is what h5py says about the files of testdata/make_chunks.py.
type chunkManifest struct {
	H5py, HDF5 string
	Files      []struct {
		Name     string
		Datasets []struct {
			Path         string
			Shape, Chunk []int64
		}
	}
	Refused []string
}

// runH5py runs a script of testdata that writes files into a new directory.
func runH5py(t testing.TB, script string) (dir string) {
	t.Helper()
	const python = "/usr/bin/python3" // that of Debian, which has python3-h5py
	if err := exec.Command(python, "-c", "import h5py, numpy").Run(); err != nil {
		testsize.LeaveOut(t, "python3-h5py and python3-numpy are not installed")
	}
	dir = t.TempDir()
	if out, err := exec.CommandContext(t.Context(), python, filepath.Join("testdata", script), dir).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return dir
}

// TestChunks compares the values of all layouts, indexes of chunks, filters and types with those that h5py reads.
func TestChunks(t *testing.T) {
	dir := runH5py(t, "make_chunks.py")
	raw, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	must(t, err)
	var manifest chunkManifest
	must(t, json.Unmarshal(raw, &manifest))
	t.Logf("h5py %s, HDF5 %s", manifest.H5py, manifest.HDF5)
	equal, total := 0, 0
	for _, file := range manifest.Files {
		raw, err := os.ReadFile(filepath.Join(dir, file.Name+".h5"))
		must(t, err)
		values, err := os.ReadFile(filepath.Join(dir, file.Name+".f64"))
		must(t, err)
		f := openBytes(t, raw)
		rng := rand.New(rand.NewPCG(13, 14))
		for _, info := range file.Datasets {
			total++
			n := int64(1)
			for _, s := range info.Shape {
				n *= s
			}
			want := make([]float64, n)
			for i := range want {
				want[i] = math.Float64frombits(binary.LittleEndian.Uint64(values[8*i:]))
			}
			values = values[8*n:]
			d, err := f.Root().Dataset(info.Path)
			if err != nil {
				t.Errorf("%s: %s: %v", file.Name, info.Path, err)
				continue
			}
			failed := t.Failed()
			whole := Window{Start: make([]int64, len(info.Shape)), Shape: info.Shape}
			checkGather(t, d, want, append(randomWindows(rng, info.Shape, 3), whole))
			if t.Failed() && !failed {
				t.Errorf("the first dataset that differs: %s of %s", info.Path, file.Name)
			}
			if !t.Failed() {
				equal++
			}
		}
	}
	t.Logf("%d datasets, %d equal", total, equal)

	raw, err = os.ReadFile(filepath.Join(dir, "refused.h5"))
	must(t, err)
	f := openBytes(t, raw)
	for _, name := range manifest.Refused {
		d, err := f.Root().Dataset(name)
		if err == nil {
			err = d.Err()
		}
		if !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: error %v, want ErrUnsupported", name, err)
		}
		t.Logf("refused: %v", err)
	}
}
