//go:build long

package satellite

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"limnomap/data"
)

// benchLakes returns 1,892 lakes in Germany with 207,000 vertices.
func benchLakes(b *testing.B) []Lake {
	random := rand.New(rand.NewPCG(1892, 1))
	var lakes []Lake
	for i := range 1892 {
		lakes = append(lakes, irregularLake(b, random, fmt.Sprint("lake", i), 6.2+8*random.Float64(), 47.7+7*random.Float64(), 0.003+0.018*random.Float64(), 97, 12))
	}
	return lakes
}

// BenchmarkExtract extracts 1,892 lakes from a GeoTIFF of Germany at 300 m, and from a file of the global grid of LWQ (52 GB a variable when
// unpacked) whose chunks have different shapes. rasterio/op is the time of the usual loop with rasterio over the same lakes, divided by ours.
func BenchmarkExtract(b *testing.B) {
	needPython(b, "netCDF4", "numpy", "rasterio", "shapely")
	folder := b.TempDir()
	lakes := benchLakes(b)
	outlines := filepath.Join(folder, "outlines.json")
	writeOutlines(b, outlines, lakes)
	script := func(b *testing.B, args ...string) string {
		out, err := exec.CommandContext(b.Context(), python, append([]string{"testdata/bench_rasters.py"}, args...)...).CombinedOutput()
		if err != nil {
			b.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	for _, layout := range []string{"tiff", "512x512", "default", "1440x2880", "1x161280"} {
		b.Run(layout, func(b *testing.B) {
			name, variable := filepath.Join(folder, layout+".nc"), "chla_mean"
			if layout == "tiff" {
				name, variable = filepath.Join(folder, layout+".tif"), ""
			}
			if _, err := os.Stat(name); err != nil {
				script(b, "make", name, layout)
			}
			f, err := os.Open(name)
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			info, err := f.Stat()
			if err != nil {
				b.Fatal(err)
			}
			opts := &Options{Date: data.Known(data.Date(20000)), Inside: Centre, Shore: FixedShore(0)}
			b.ReportAllocs()
			b.ResetTimer()
			ours := time.Now()
			var read int64
			for range b.N {
				summary, err := Extract(b.Context(), File{Name: name, ReaderAt: f, Size: info.Size()}, lakes, opts, func(*Row) error { return nil })
				if err != nil {
					b.Fatal(err)
				}
				if summary.Lakes < 1500 {
					b.Fatalf("%d lakes have a value", summary.Lakes)
				}
				read = summary.Bytes
			}
			perRun := time.Since(ours).Seconds() / float64(b.N)
			b.StopTimer()
			var seconds float64
			var done int
			if _, err := fmt.Sscan(script(b, "time", name, variable, outlines), &seconds, &done); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(seconds/perRun, "rasterio/op")
			b.ReportMetric(float64(read)/1e6, "MB-read/op")
		})
	}
}

// BenchmarkPixels extracts the same lakes with their pixels and without. kB/date is what a database stores of one date, besides the masks. The values of
// neighbouring pixels are independent, so that they compress worse than those of a satellite.
func BenchmarkPixels(b *testing.B) {
	needPython(b, "netCDF4", "numpy", "rasterio", "shapely")
	lakes := benchLakes(b)
	for _, layout := range []string{"tiff", "512x512"} {
		name := filepath.Join(b.TempDir(), layout+".nc")
		if layout == "tiff" {
			name = filepath.Join(b.TempDir(), layout+".tif")
		}
		if out, err := exec.CommandContext(b.Context(), python, "testdata/bench_rasters.py", "make", name, layout).CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		f, err := os.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			b.Fatal(err)
		}
		for _, without := range []bool{true, false} {
			b.Run(fmt.Sprintf("%s/without=%t", layout, without), func(b *testing.B) {
				b.ReportAllocs()
				var codes, masks, inside int
				for b.Loop() {
					codes, masks, inside = 0, 0, 0
					if _, err := Extract(b.Context(), File{Name: name, ReaderAt: f, Size: info.Size()}, lakes, &Options{Date: data.Known(data.Date(20000)), WithoutPixels: without},
						func(r *Row) error {
							if r.Pixels != nil {
								codes, masks = codes+len(r.Pixels.Codes), masks+len(r.Pixels.Mask)
							}
							inside += r.Inside
							return nil
						}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(codes)/1000, "kB/date")
				b.ReportMetric(float64(masks)/1000, "mask-kB")
				b.ReportMetric(float64(inside), "pixels")
			})
		}
	}
}
