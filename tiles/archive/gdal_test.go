package archive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/data/testsize"
	"limnomap/tiles/hilbert"
)

// quarters returns a tile of four colours: red is its column, green its row, blue its zoom, and opacity the number of the
// quarter, from the north-west in reading order.
func quarters(t testing.TB, tile maptile.Tile) string {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, 256, 256))
	for y := range 256 {
		for x := range 256 {
			img.SetNRGBA(x, y, quarterColor(tile, y/128*2+x/128))
		}
	}
	var b bytes.Buffer
	must(t, png.Encode(&b, img))
	return b.String()
}

func quarterColor(t maptile.Tile, quarter int) color.NRGBA {
	return color.NRGBA{uint8(t.X), uint8(t.Y), uint8(t.Z), uint8(100 + 50*quarter)}
}

// germany returns the tiles of zooms 0 to 7 that a map of bound has, except every fifth.
func germany(t testing.TB, bound orb.Bound) (pairs []pair, absent []maptile.Tile) {
	t.Helper()
	ids := map[uint64]string{}
	for z := maptile.Zoom(0); z <= 7; z++ {
		first, last := maptile.At(bound.LeftTop(), z), maptile.At(bound.RightBottom(), z)
		for x := first.X; x <= last.X; x++ {
			for y := first.Y; y <= last.Y; y++ {
				tile := maptile.New(x, y, z)
				if (x+y)%5 == 0 {
					absent = append(absent, tile)
				} else {
					ids[hilbert.ID(tile)] = quarters(t, tile)
				}
			}
		}
	}
	pairs, _ = sorted(ids)
	return pairs, absent
}

func gdal(t *testing.T, tool, input string, args ...string) []byte {
	t.Helper()
	if _, err := exec.LookPath(tool); err != nil {
		testsize.LeaveOut(t, "no "+tool+" is installed (make setup)")
	}
	return output(t, input, append([]string{tool}, args...)...)
}

func TestGDALReadsBoundAndZooms(t *testing.T) {
	meta := testMetadata()
	meta.MaxZoom = 7
	pairs, _ := germany(t, meta.Bound)
	for _, test := range []struct {
		name  string
		pairs []pair
	}{{"tiles", pairs}, {"none", nil}} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lakes.mbtiles")
			write(t, path, meta, test.pairs)
			var info struct {
				Driver   string `json:"driverShortName"`
				Metadata map[string]map[string]string
				Extent   struct{ Coordinates [][]orb.Point } `json:"wgs84Extent"`
				Bands    []struct {
					Color     string `json:"colorInterpretation"`
					Overviews []any
				}
			}
			must(t, json.Unmarshal(gdal(t, "gdalinfo", "", "-json", path), &info))
			if info.Driver != "MBTiles" {
				t.Errorf("opened as %q, want MBTiles", info.Driver)
			}
			for name, want := range map[string]string{
				"ZOOM_LEVEL": "7", "minzoom": "0", "maxzoom": "7", "bounds": "5.5,47.25,15.125,55.0625", "center": "10.5,51.125,6", "name": "Lakes",
			} {
				if got := info.Metadata[""][name]; got != want {
					t.Errorf("%s = %q, want %q", name, got, want)
				}
			}
			if len(info.Extent.Coordinates) != 1 {
				t.Fatalf("extent = %v, want one ring", info.Extent)
			}
			got := orb.Ring(info.Extent.Coordinates[0]).Bound()
			pixel := 360.0 / 256 / (1 << 7) // GDAL's extent consists of whole pixels
			for i, pair := range [][2]float64{{got.Min[0], 5.5}, {got.Min[1], 47.25}, {got.Max[0], 15.125}, {got.Max[1], 55.0625}} {
				if math.Abs(pair[0]-pair[1]) > pixel {
					t.Errorf("side %d of the extent = %v, want %v", i, pair[0], pair[1])
				}
			}
			if len(info.Bands) != 4 || info.Bands[3].Color != "Alpha" {
				t.Errorf("bands = %v, want red, green, blue and alpha", info.Bands)
			}
		})
	}
}

// TestGDALReadsPixels checks that GDAL finds the pixel of the right tile at each point, and a transparent one where no tile is.
func TestGDALReadsPixels(t *testing.T) {
	meta := testMetadata()
	meta.MaxZoom = 7
	pairs, absent := germany(t, meta.Bound)
	path := filepath.Join(t.TempDir(), "lakes.mbtiles")
	write(t, path, meta, pairs)
	for z := maptile.Zoom(3); z <= meta.MaxZoom; z++ { // at smaller zooms no centre of a quarter is within the bound
		t.Run(fmt.Sprintf("z%d", z), func(t *testing.T) {
			var points strings.Builder
			var want []string
			add := func(tile maptile.Tile, colorOf func(quarter int) color.NRGBA) {
				if tile.Z != z {
					return
				}
				for i, quarter := range tile.Children() {
					reading := [4]int{0, 1, 3, 2}[i] // they come clockwise
					if at := quarter.Center(); meta.Bound.Contains(at) {
						fmt.Fprintln(&points, at.Lon(), at.Lat())
						c := colorOf(reading)
						want = append(want, fmt.Sprint(c.R), fmt.Sprint(c.G), fmt.Sprint(c.B), fmt.Sprint(c.A))
					}
				}
			}
			for _, p := range pairs {
				add(p.tile, func(quarter int) color.NRGBA { return quarterColor(p.tile, quarter) })
			}
			for _, tile := range absent {
				add(tile, func(int) color.NRGBA { return color.NRGBA{} })
			}
			if len(want) == 0 {
				t.Fatal("no centre of a quarter is within the bound")
			}
			out := gdal(t, "gdallocationinfo", points.String(), "-valonly", "-wgs84", "-oo", "ZOOM_LEVEL="+strconv.Itoa(int(z)), path)
			if got := strings.Fields(string(out)); !slices.Equal(got, want) {
				t.Errorf("red, green, blue and alpha at\n%s= %v, want %v", &points, got, want)
			}
		})
	}
}
