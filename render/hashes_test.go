package render

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/paulmach/orb/maptile"

	"limnomap/colormap"
	"limnomap/render/hashtest"
)

// TestBytesOfThisVersion compares tiles with the hashes that are filed under Version, byte by byte: cached tiles and
// ETags depend on it. It draws all styles, colour maps and scales, of few lakes, of so many that they are binned and
// thinned, of lakes with outlines, of a layer made for another week, of lakes with signs, of
// old values, and of forecasts.
func TestBytesOfThisVersion(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("SKIPPED: the hashes are those of amd64: the last bit of package math may differ elsewhere")
	}
	crowd, shores := manyLakes(0), lakeland()
	few := country()
	week := viewOf(few)
	var files []hashtest.File
	for _, set := range []struct {
		name  string
		layer *Layer
		tiles []maptile.Tile
	}{
		{"few", layerOf(few...), append(tilesAt(11, 51, 0, 3, 5, 6, 7, 9), append(
			tilesAt(few[20].lon, few[20].lat, 10, 12), tilesAt(-179.99, 10, 4, 9)...)...)},
		{"crowd", manyLakesLayers()[0], append(tilesAt(0.7, 0.5, 0, 1, 2, 3, 4, 5, 6), tilesAt(crowd[7].lon, crowd[7].lat, 8)...)},
		{"shores", layerOfShores(t, shores...), append(tilesAt(13.4, 52.46, 6, 8, 9, 10, 12, 13), append(
			tilesAt(9.4, 47.6, 9, 11), tilesAt(-179.99, 10.1, 10)...)...)},
		{"week", renderer().LayerOn(layerOf(few...), otherWeek(week, 1, 30).Values()), tilesAt(11, 51, 3, 6, 8)},
		{"signs", signShores(t), tilesAt(13.4, 52.46, 0, 6, 12)},
		{"old", oldCountry(), tilesAt(11, 51, 3, 6, 8, 10)},
	} {
		for _, tile := range set.tiles {
			for _, style := range Styles() {
				for _, id := range colormap.IDs() {
					for scale := 1; scale <= 2; scale++ {
						name := fmt.Sprintf("%s/%s/%s/%d/%d/%d@%dx", set.name, style.ID, id, tile.Z, tile.X, tile.Y, scale)
						files = append(files, hashtest.File{Name: name, Bytes: mustRender(t, set.layer, Spec{tile, scale, style.ID, id, 0})})
					}
				}
			}
		}
	}
	for _, set := range []struct {
		name  string
		layer *Layer
		tiles []maptile.Tile
	}{
		{"few", chanceLayer(few...), append(tilesAt(11, 51, 0, 5, 7, 9), tilesAt(few[20].lon, few[20].lat, 10, 12)...)},
		{"crowd", chanceLayer(crowd...), append(tilesAt(0.7, 0.5, 0, 3, 6), tilesAt(crowd[7].lon, crowd[7].lat, 8)...)},
		{"shores", chanceLayerOfShores(t, shores...), tilesAt(13.4, 52.46, 6, 9, 10, 12)},
	} {
		for _, tile := range set.tiles {
			for _, style := range ForecastStyles() {
				for scale := 1; scale <= 2; scale++ {
					name := fmt.Sprintf("forecast/%s/%s/%d/%d/%d@%dx", set.name, style.ID, tile.Z, tile.X, tile.Y, scale)
					files = append(files, hashtest.File{Name: name, Bytes: mustRender(t, set.layer, forecastSpec(tile, scale, style.ID))})
				}
			}
		}
	}
	for scale := 1; scale <= 2; scale++ {
		files = append(files, hashtest.File{Name: fmt.Sprintf("blank@%dx", scale), Bytes: Blank(scale)})
	}
	hashtest.Check(t, "v"+Version, files, *update)
}

// tilesAt returns the tiles of some zooms that hold a point.
func tilesAt(lon, lat float64, zooms ...maptile.Zoom) (tiles []maptile.Tile) {
	for _, z := range zooms {
		tiles = append(tiles, maptile.At([2]float64{lon, lat}, z))
	}
	return tiles
}
