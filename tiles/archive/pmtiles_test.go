package archive

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/paulmach/orb/maptile"
	"pgregory.net/rapid"

	"limnomap/tiles/hilbert"
)

func writePMTiles(t testing.TB, meta Metadata, pairs []pair) *decoded {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lakes.pmtiles")
	write(t, path, meta, pairs)
	raw, err := os.ReadFile(path)
	must(t, err)
	return decode(t, raw)
}

// manyPairs returns n small tiles of one zoom, with gaps between some of them. The i-th has the content content(i).
func manyPairs(n int, z maptile.Zoom, content func(i int) string) []pair {
	pairs := make([]pair, n)
	id := hilbert.FirstID(z)
	for i := range pairs {
		pairs[i] = pair{hilbert.Tile(id), content(i)}
		id += 1 + uint64(i%7/6) // a gap after each seventh
	}
	return pairs
}

func distinct(i int) string { return fmt.Sprintf("tile %d", i) }

// TestPMTilesRoundTrip checks, for any tiles, that all are read back, that each content is stored once, and that the header has
// the right counts.
func TestPMTilesRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tiles := rapid.MapOfN(rapid.Uint64Range(0, hilbert.FirstID(13)-1), rapid.SampledFrom([]string{"a", "bb", "ccc", "dddd"}), 1, 300).Draw(rt, "tiles")
		if rapid.Bool().Draw(rt, "a run") {
			start := rapid.Uint64Range(0, 1000).Draw(rt, "start")
			for id := range rapid.Uint64Range(1, 200).Draw(rt, "length") {
				tiles[start+id] = "run"
			}
		}
		pairs, _ := sorted(tiles)
		contents := map[string]bool{}
		for _, content := range tiles {
			contents[content] = true
		}
		d := writePMTiles(t, testMetadata(), pairs)
		if !maps.Equal(d.tiles, tiles) {
			rt.Fatalf("read %v", d.tiles)
		}
		checkOrder(rt, d)
		var stored uint64
		for content := range contents {
			stored += uint64(len(content))
		}
		for name, want := range map[string]uint64{
			"addressed": uint64(len(tiles)), "contents": uint64(len(contents)), "dataLength": stored, "entries": uint64(len(d.order)),
			"clustered": 1, "internal": 2, "compression": 1, "type": 2, "minZoom": 0, "maxZoom": 12,
		} {
			if d.numbers[name] != want {
				rt.Errorf("%s = %d, want %d", name, d.numbers[name], want)
			}
		}
	})
}

// checkOrder checks what a clustered archive guarantees: contents are in the order of their first use. Neighbours with equal
// content must be one run.
func checkOrder(t interface{ Errorf(string, ...any) }, d *decoded) {
	var end uint64
	for i, e := range d.order {
		if e.offset > end {
			t.Errorf("entry %d is at %d, after the end of all previous ones, %d", i, e.offset, end)
		}
		end = max(end, e.offset+uint64(e.length))
		if i == 0 {
			continue
		}
		if last := d.order[i-1]; last.id+uint64(last.run) == e.id && last.offset == e.offset {
			t.Errorf("entries %d and %d should be one run of equal tiles", i-1, i)
		}
	}
}

func TestPMTilesLeaves(t *testing.T) {
	tests := []struct {
		name     string
		pairs    []pair
		entries  uint64
		leaves   bool
		contents uint64
	}{
		{"a few in the root", manyPairs(1000, 8, distinct), 1000, false, 1000},
		{"more than fit the root", manyPairs(100_000, 12, distinct), 100_000, true, 100_000},
		{"many in few runs", manyPairs(70_000, 12, func(int) string { return "same" }), 10_000, false, 1},
		{"two contents alternately", manyPairs(70_000, 12, func(i int) string { return distinct(i % 2) }), 70_000, true, 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := writePMTiles(t, testMetadata(), test.pairs)
			if (d.leaves > 0) != test.leaves {
				t.Errorf("%d leaf directories, want some: %v", d.leaves, test.leaves)
			}
			if d.numbers["entries"] != test.entries || d.numbers["contents"] != test.contents {
				t.Errorf("%d entries and %d contents, want %d and %d", d.numbers["entries"], d.numbers["contents"], test.entries, test.contents)
			}
			if len(d.tiles) != len(test.pairs) {
				t.Errorf("read %d tiles, want %d", len(d.tiles), len(test.pairs))
			}
			for _, p := range test.pairs {
				if got := d.tiles[hilbert.ID(p.tile)]; got != p.png {
					t.Fatalf("tile %v reads %q, want %q", p.tile, got, p.png)
				}
			}
			checkOrder(t, d)
		})
	}
}

// TestDirectoryGrowsItsLeaves has so many entries that the root exceeds the first 16 KiB with small leaves, and fits with
// larger ones.
func TestDirectoryGrowsItsLeaves(t *testing.T) {
	const small = 16
	var d directory
	random := uint64(1)
	var id, offset uint64
	for range 100_000 {
		random = random*6364136223846793005 + 1442695040888963407 // Knuth, MMIX: gzip cannot compress it
		id += 1 + random>>40
		length := uint32(random>>33)%5000 + 1
		d.add(id, offset, length)
		offset += uint64(length)
	}
	if root, _, err := d.encodeLeaves(small); err != nil || len(root) <= 16384-127 {
		t.Fatalf("with leaves of %d entries the root has %d bytes (%v): too few for this test", small, len(root), err)
	}
	root, leaves, err := d.encodeLeavesFrom(small)
	must(t, err)
	if len(root) > 16384-127 {
		t.Errorf("the root has %d bytes; header and root must fit 16,384", len(root))
	}
	pointers, err := decodeEntries(root)
	must(t, err)
	var back []entry
	for _, p := range pointers {
		leaf, err := decodeEntries(leaves[p.offset:][:p.length])
		must(t, err)
		back = append(back, leaf...)
	}
	if !slices.Equal(back, d.entries) {
		t.Errorf("read %d entries, which differ from the %d written", len(back), len(d.entries))
	}
}

func TestPMTilesMetadata(t *testing.T) {
	d := writePMTiles(t, testMetadata(), []pair{{maptile.New(0, 0, 0), "a"}})
	want := map[string]any{
		"name": "Lakes", "type": "overlay", "description": `Chlorophyll-a, in "µg/l"`, "version": "1.2.3",
		"attribution": `<a href="https://example.org/">Example</a>`, "notice": "simulated values", "date": "2026-06-01",
	}
	if !maps.Equal(d.metadata, want) {
		t.Errorf("metadata = %v, want %v", d.metadata, want)
	}
}

// TestPMTilesWithoutTilesHasABlankOne checks that there is no empty directory, which PMTiles does not allow (section 4.2).
func TestPMTilesWithoutTilesHasABlankOne(t *testing.T) {
	meta := testMetadata()
	meta.Bound.Max[0], meta.Center, meta.MinZoom = 180, [2]float64{180, 50}, 3
	d := writePMTiles(t, meta, nil)
	want, err := blank()
	must(t, err)
	if id := hilbert.ID(maptile.New(7, 2, 3)); len(d.tiles) != 1 || d.tiles[id] != string(want) {
		t.Errorf("tiles = %v, want one blank tile in the centre of the map", slices.Collect(maps.Keys(d.tiles)))
	}
}
