//go:build long

package render

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/data/pixels"
	"limnomap/data/testsize"
)

// TestPixelsEqualGDAL compares tiles with what GDAL's nearest warp, without an approximation, makes of the GeoTIFF of the same pixels. Where they differ, the
// square of a neighbour begins within a hundredth of a pixel.
func TestPixelsEqualGDAL(t *testing.T) {
	if _, err := exec.LookPath("gdalwarp"); err != nil {
		testsize.LeaveOut(t, "gdalwarp is not installed")
	}
	dir := t.TempDir()
	colors := newMap(t, colormap.Default, who2003())
	for _, test := range []struct {
		at   orb.Point
		epsg int
		cell float64
	}{{orb.Point{11, 48}, 4326, 1. / 360}, {orb.Point{11, 48}, 32632, 300}, {orb.Point{12, 62}, 32632, 60}, {orb.Point{-120, 38}, 4326, 1. / 112}} {
		rnd := rand.New(rand.NewPCG(7, 8))
		l := squareLake(t, test.at, gridOf(t, test.epsg, test.cell), true, func(orb.Point) pixels.Code { return pixels.CodeOf(0.5 * math.Exp(6*rnd.Float64())) })
		file, err := l.pixels[0].pixels.GeoTIFF("")
		if err != nil {
			t.Fatal(err)
		}
		source := filepath.Join(dir, fmt.Sprintf("%d-%g.tif", test.epsg, test.at[0]))
		if err := os.WriteFile(source, file, 0o644); err != nil {
			t.Fatal(err)
		}
		for z := maptile.Zoom(pixelZoom); z <= 14; z++ {
			for scale := 1; scale <= 2; scale++ {
				tile := maptile.At(orb.Point{test.at[0] - 0.003, test.at[1] + 0.002}, z)
				side := TileSize * scale
				const half = 20037508.342789244 // metres, of the square of Web Mercator
				width := 2 * half / float64(int64(1)<<z)
				west, north := float64(tile.X)*width-half, half-float64(tile.Y)*width
				warped := filepath.Join(dir, "warped.bin")
				number := func(f float64) string { return fmt.Sprintf("%.9f", f) }
				out, err := exec.CommandContext(t.Context(), "gdalwarp", "-q", "-overwrite", "-t_srs", "EPSG:3857", "-te", number(west), number(north-width), number(west+width), number(north),
					"-ts", fmt.Sprint(side), fmt.Sprint(side), "-r", "near", "-et", "0", "-dstnodata", "-1", "-of", "ENVI", source, warped).CombinedOutput()
				if err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				raw, err := os.ReadFile(warped)
				if err != nil || len(raw) != 4*side*side {
					t.Fatalf("%d bytes, %v", len(raw), err)
				}
				want := func(x, y int) (chl float64, ok bool) {
					chl = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*(y*side+x):])))
					return math.Round(chl*100) / 100, chl > 0
				}
				picture, err := png.Decode(bytes.NewReader(mustRender(t, l, Spec{tile, scale, Pixels, colormap.Default, 0})))
				if err != nil {
					t.Fatal(err)
				}
				compared, others := 0, 0
				for y := range side {
					for x := range side {
						chl, ok := want(x, y)
						if !ok {
							continue
						}
						compared++
						shown := color.NRGBAModel.Convert(picture.At(x, y)).(color.NRGBA)
						if shown == colors.Color(chl) {
							continue
						}
						others++
						const near = 0.01
						world := float64(int64(side) << z)
						if !slices.ContainsFunc([][2]float64{{near, 0}, {-near, 0}, {0, near}, {0, -near}}, func(d [2]float64) bool {
							_, _, c, ok := l.pixels[0].pixels.At(orb.Point{(float64(int(tile.X)*side+x)+0.5+d[0])/world*360 - 180, latitude((float64(int(tile.Y)*side+y) + 0.5 + d[1]) / world)})
							chl, valid := c.Value()
							return ok && valid && shown == colors.Color(math.Round(chl*100)/100)
						}) {
							t.Fatalf("%v EPSG:%d zoom %d scale %d: pixel %d, %d is %v, GDAL has %g µg/l there", test.at, test.epsg, z, scale, x, y, shown, chl)
						}
					}
				}
				t.Logf("%v EPSG:%d zoom %d scale %d: %d pixels, %d of them are those beside", test.at, test.epsg, z, scale, compared, others)
				if compared < 100 || others*100 > compared {
					t.Errorf("%v EPSG:%d zoom %d scale %d: of %d pixels %d are those beside", test.at, test.epsg, z, scale, compared, others)
				}
			}
		}
	}
}
