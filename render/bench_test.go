package render

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/render/palettepng"
)

// bathingSites returns the first n bathing lakes of Germany, with made-up values: log-normal around 5 µg/l, as lakes'
// values are, from a fixed seed.
func bathingSites(tb testing.TB, n int) []testLake {
	tb.Helper()
	return sites(tb, "german", n)
}

// sites returns the first n bathing lakes of a list of real ones.
func sites(tb testing.TB, list string, n int) []testLake {
	tb.Helper()
	f, err := os.Open("../../shared/data/" + list + "_bathing_sites.csv")
	if err != nil {
		tb.Skipf("SKIPPED: no real lakes to draw: %v", err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		tb.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	// In random order, so that the first few are spread over the country.
	rng.Shuffle(len(rows)-1, func(i, j int) { rows[i+1], rows[j+1] = rows[j+1], rows[i+1] })
	var lakes []testLake
	for _, row := range rows[1:] {
		lat, errLat := strconv.ParseFloat(row[2], 64)
		lon, errLon := strconv.ParseFloat(row[3], 64)
		if errLat != nil || errLon != nil || len(lakes) == n {
			continue
		}
		chl := min(math.Exp(math.Log(5)+rng.NormFloat64()), 1500)
		lakes = append(lakes, testLake{lon: lon, lat: lat, chl: math.Round(100*chl) / 100})
	}
	return lakes
}

// tilesOver returns at most 300 tiles of zoom z that contain lakes.
func tilesOver(lakes []testLake, z maptile.Zoom) []maptile.Tile {
	seen := map[maptile.Tile]bool{}
	var tiles []maptile.Tile
	for _, l := range lakes {
		t := maptile.At([2]float64{l.lon, l.lat}, z)
		if !seen[t] && len(tiles) < 300 {
			seen[t] = true
			tiles = append(tiles, t)
		}
	}
	return tiles
}

// BenchmarkRender draws whole tiles, from the search to the file.
func BenchmarkRender(b *testing.B) {
	lakes := bathingSites(b, 1892)
	l := layerOf(lakes...)
	for _, style := range []StyleID{Heat, Dots, Lakes} {
		for z := maptile.Zoom(5); z <= 12; z++ {
			b.Run(fmt.Sprintf("%s/z%d", style, z), func(b *testing.B) {
				tiles := tilesOver(lakes, z)
				b.ReportAllocs()
				b.SetBytes(TileSize * TileSize)
				n, total := 0, 0
				for b.Loop() {
					s := Spec{Tile: tiles[n%len(tiles)], Scale: 1, Style: style, Colormap: colormap.Default}
					total += len(mustRender(b, l, s))
					n++
				}
				b.ReportMetric(float64(total)/float64(n), "file-B/op")
			})
		}
	}
}

// stageLakes are the numbers of lakes in reach for which tiles and their stages are measured.
var stageLakes = []int{1, 20, 200, 1892}

// crowdedTile is the tile of crowded.
var crowdedTile = maptile.Tile{X: 34, Y: 21, Z: 6}

// crowded returns n lakes spread over crowdedTile.
func crowded(b *testing.B, n int) (*Layer, window) {
	bound := crowdedTile.Bound()
	lakes := bathingSites(b, n)
	for i := range lakes {
		// Germany is 9 by 8 degrees; the tile is smaller.
		lakes[i].lon = bound.Min.Lon() + (lakes[i].lon-5.8)/9.4*(bound.Max.Lon()-bound.Min.Lon())
		lakes[i].lat = bound.Min.Lat() + (lakes[i].lat-47.2)/7.9*(bound.Max.Lat()-bound.Min.Lat())
	}
	return layerOf(lakes...), windowOf(crowdedTile, 1)
}

func BenchmarkEncode(b *testing.B) {
	for _, n := range stageLakes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			l, w := crowded(b, n)
			pixels := paint(l, w, Heat)
			e, p := palettepng.NewEncoder(), renderer().colors[colormap.Default].palettes[Heat]
			size := 0
			b.ReportAllocs()
			for b.Loop() {
				size = len(e.Encode(pixels, w.width, p, palettepng.Sub))
			}
			b.ReportMetric(float64(size), "file-B/op")
		})
	}
}

func BenchmarkFingerprint(b *testing.B) {
	for _, n := range stageLakes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			l, w := crowded(b, n)
			s := sceneOf(l, w, renderer().styles[Heat])
			var hashed []byte
			b.ReportAllocs()
			for b.Loop() {
				hashed = s.appendTo(hashed[:0])
				FingerprintOf(hashed)
			}
		})
	}
}
