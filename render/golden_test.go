package render

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
)

var update = flag.Bool("update", false, "rewrite the golden tiles in testdata")

func TestGoldenTiles(t *testing.T) {
	lakes := country()
	mixed, shores := layerOf(lakes...), layerOfShores(t, lakeland()...)
	signTile := maptile.At([2]float64{13.4, 52.46}, 6)
	signed := markedLayer(signTable(signTile))
	row, _ := signTable(signTile)
	row = row[:8]
	old := withAges(row, []int{20, 20, 20, 20, 20, 20, 20, 20})
	signedShores := signShores(t)
	chances, chanceShores := chanceLayer(lakes...), chanceLayerOfShores(t, lakeland()...)
	tests := []struct {
		name  string
		layer *Layer
		spec  Spec
	}{
		{"heat_country_z5", mixed, Spec{maptile.At([2]float64{11, 51}, 5), 1, Heat, colormap.Default, 0}},
		{"heat_crowd_z6", mixed, Spec{maptile.At([2]float64{11, 51}, 6), 1, Heat, colormap.Default, 0}},
		{"heat_crowd_z6@2x", mixed, Spec{maptile.At([2]float64{11, 51}, 6), 2, Heat, "viridis", 0}},
		{"heat_lake_z12", mixed, Spec{maptile.At([2]float64{lakes[20].lon, lakes[20].lat}, 12), 1, Heat, colormap.Default, 0}},
		{"heat_antimeridian_z9", mixed, Spec{maptile.At([2]float64{-179.99, 10}, 9), 1, Heat, colormap.Default, 0}},
		{"dots_z7", mixed, Spec{maptile.At([2]float64{lakes[10].lon, lakes[10].lat}, 7), 1, Dots, colormap.Default, 0}},
		{"lakes_z7", mixed, Spec{maptile.At([2]float64{lakes[10].lon, lakes[10].lat}, 7), 1, Lakes, colormap.Default, 0}},
		{"lakes_z12", shores, Spec{maptile.At([2]float64{13.4, 52.46}, 12), 1, Lakes, colormap.Default, 0}},
		{"lakes_z12@2x", shores, Spec{maptile.At([2]float64{13.4, 52.46}, 12), 2, Lakes, "viridis", 0}},
		{"lakes_antimeridian_z10", shores, Spec{maptile.At([2]float64{-179.99, 10.1}, 10), 1, Lakes, colormap.Default, 0}},
		{"dots_signs_z6", signed, Spec{signTile, 1, Dots, colormap.Default, 0}},
		{"dots_signs_z6@2x", signed, Spec{signTile, 2, Dots, colormap.Default, 0}},
		{"lakes_signs_z6", signed, Spec{signTile, 1, Lakes, colormap.Default, 0}},
		{"lakes_signs_z6@2x", signed, Spec{signTile, 2, Lakes, "viridis", 0}},
		{"lakes_signs_z12", signedShores, Spec{maptile.At([2]float64{13.4, 52.46}, 12), 1, Lakes, colormap.Default, 0}},
		{"lakes_signs_z12@2x", signedShores, Spec{maptile.At([2]float64{13.4, 52.46}, 12), 2, Lakes, colormap.Default, 0}},
		{"dots_old_z6", old, Spec{signTile, 1, Dots, colormap.Default, 0}},
		{"lakes_old_z6@2x", old, Spec{signTile, 2, Lakes, "viridis", 0}},
		{"forecast_country_z5", chances, forecastSpec(maptile.At([2]float64{11, 51}, 5), 1, Heat)},
		{"forecast_z7@2x", chances, forecastSpec(maptile.At([2]float64{11, 51}, 7), 2, Heat)},
		{"forecast_z9", chanceShores, forecastSpec(maptile.At([2]float64{13.4, 52.46}, 9), 1, Heat)},
		{"forecast_z10", chances, forecastSpec(maptile.At([2]float64{lakes[20].lon, lakes[20].lat}, 10), 1, Heat)},
		{"forecast_z12", chanceShores, forecastSpec(maptile.At([2]float64{13.4, 52.46}, 12), 1, Heat)},
		{"forecast_lakes_z7", chances, forecastSpec(maptile.At([2]float64{lakes[10].lon, lakes[10].lat}, 7), 1, Lakes)},
		{"forecast_lakes_z12@2x", chanceShores, forecastSpec(maptile.At([2]float64{13.4, 52.46}, 12), 2, Lakes)},
		{"blank", mixed, Spec{maptile.At([2]float64{-30, 40}, 6), 1, Heat, colormap.Default, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := mustRender(t, tt.layer, tt.spec)
			file := filepath.Join("testdata", tt.name+".png")
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := differs(got, want); err != nil {
				saved := filepath.Join(t.ArtifactDir(), tt.name+".png")
				if err := os.WriteFile(saved, got, 0o644); err != nil {
					t.Error(err)
				}
				t.Errorf("%s: %v; the tile is in %s", file, err, saved)
			}
		})
	}
}

// differs reports where two PNG files differ by more than the last bit of a table can change: ±2 of 255 per channel.
func differs(a, b []byte) error {
	x, err := png.Decode(bytes.NewReader(a))
	if err != nil {
		return err
	}
	y, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		return err
	}
	if x.Bounds() != y.Bounds() {
		return fmt.Errorf("bounds %v, want %v", x.Bounds(), y.Bounds())
	}
	for row := range x.Bounds().Dy() {
		for column := range x.Bounds().Dx() {
			got, want := nrgbaAt(x, column, row), nrgbaAt(y, column, row)
			for i := range got {
				if d := int(got[i]) - int(want[i]); d < -2 || d > 2 {
					return fmt.Errorf("pixel %d,%d is %v, want %v", column, row, got, want)
				}
			}
		}
	}
	return nil
}

func nrgbaAt(m image.Image, x, y int) [4]uint8 {
	c := color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA)
	return [4]uint8{c.R, c.G, c.B, c.A}
}
