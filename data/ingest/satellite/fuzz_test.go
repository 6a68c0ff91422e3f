package satellite

import (
	"math"
	"testing"

	"limnomap/data/ingest/satellite/satellitetest"
)

// Damaged files with expressions, flags, times and headers give values that can be stored, or an error.
func FuzzExtract(f *testing.F) {
	n := lwqFile(satellitetest.Variable{Name: "chla_mean", Text: map[string]string{"units": "lg(re mg m-3)", "valid_pixel_expression": "!quality_flags.cloud && x_mask"}, Fill: fill, Floats: constant(1)},
		satellitetest.Variable{Name: "quality_flags", Text: map[string]string{"flag_meanings": "cloud snow_ice"}, Numbers: map[string][]int32{"flag_masks": {1, math.MinInt32}},
			Ints: halves[int32](0, math.MinInt32)},
		satellitetest.Variable{Name: "x_mask", Text: map[string]string{"expression": "chla_mean > 0"}, Scalar: true},
		floats("floating_cyanobacteria", "1", func(i int) float32 { return float32(i%3) / 2 }), floats("turbidity_mean", "NTU", func(i int) float32 { return float32(i) }),
		floats("lake_surface_water_temperature", "K", func(i int) float32 { return 290 }), floats("lswt_quality_level", "1", func(i int) float32 { return float32(i % 6) }))
	n.Variables[0].Text["cell_methods"] = "area: mean time: lat: maximum (interval: 1 day)"
	n.Times, n.Bounds = []float64{20332}, []float64{20332, 20342}
	f.Add("c_gls_LWQ300_202509010000_GLOBE_OLCI_V2.1.1.nc", n.Encode())
	t := chlRaster(20, 20, func(x, y int) float64 { return float64(x - 5) })
	t.Items = map[string]string{"time_coverage_start": "2025-07-01", "time_coverage_end": "2025-07-07"}
	t.SNAP = "<Dimap_Document><Image_Interpretation><Spectral_Band_Info><BAND_INDEX>0</BAND_INDEX><VALID_MASK_TERM>b1 &gt; 0</VALID_MASK_TERM></Spectral_Band_Info></Image_Interpretation></Dimap_Document>"
	f.Add("chl_20250701_20250707.tif", t.Encode())
	i := indexRaster(func(i int) byte { return byte(i) })
	i.Items = map[string]string{"slope": "0.012", "intercept": "-4.2", "OBPG_version": "6.0"}
	f.Add("S3A_OLCI_EFRNT.20160424.L3m.7D.CYAN.CI_cyano.CYAN_CONUS.300m.tif", i.Encode())
	lakes := append(wholeRaster(f), blockLake(f, "b", 0, 0, 10, 10), Lake{ID: "point", Point: [2]float64{10.01, 49.99}})
	f.Fuzz(func(t *testing.T, name string, file []byte) {
		_, err := Extract(t.Context(), fileOf(name, file), lakes, &Options{Shore: FixedShore(0), Workers: 1}, func(r *Row) error {
			o := r.Observation()
			if err := o.Check(); err != nil {
				t.Errorf("the row is %+v: %v", *r, err)
			}
			if r.HasValue && (!o.Chlorophyll.Valid() || !(r.Value >= 0) || math.Signbit(r.Value)) {
				t.Errorf("the row is %+v", *r)
			}
			return nil
		})
		if err != nil && len(err.Error()) > 4000 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	})
}
