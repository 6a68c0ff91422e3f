package vector

import (
	"fmt"
	"testing"

	"github.com/paulmach/orb/maptile"

	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/render/hashtest"
)

// TestBytesOfThisVersion compares tiles with the hashes that are filed under Version, byte by byte: cached tiles and
// ETags depend on it. A library that gives other bytes needs another Version, too.
func TestBytesOfThisVersion(t *testing.T) {
	sparse := grid(300, 5, 45, 10)
	for i := range sparse {
		if i%7 == 0 {
			sparse[i].chl, sparse[i].risk = -1, data.Risk(i%4)
		}
	}
	sparse = append(sparse, testLake{lon: 180, lat: 10, chl: 0}, testLake{lon: -179.99, lat: 10, chl: 1500})
	var files []hashtest.File
	for _, set := range []struct {
		name  string
		view  *snapshot.View
		tiles []maptile.Tile
	}{
		{"sparse", viewOf(sparse), []maptile.Tile{
			maptile.New(0, 0, 0), maptile.New(1, 0, 1), maptile.New(8, 5, 4), maptile.New(33, 21, 6), maptile.New(34, 21, 6),
			maptile.New(0, 120, 8), maptile.New(255, 120, 8), maptile.At([2]float64{7, 50}, 12), maptile.New(3, 0, 2),
		}},
		{"crowd", crowd(), []maptile.Tile{maptile.New(0, 0, 0), maptile.New(3, 3, 3), maptile.New(15, 15, 5), maptile.New(0, 14, 5)}},
	} {
		l := layerOf(set.view)
		for _, tile := range set.tiles {
			b, err := encoder().Encode(l, set.view, tile)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, hashtest.File{Name: fmt.Sprintf("%s/%d/%d/%d", set.name, tile.Z, tile.X, tile.Y), Bytes: b})
		}
	}
	files = append(files, hashtest.File{Name: "empty", Bytes: must(encoder().Empty())})
	hashtest.Check(t, Version, files, *update)
}
