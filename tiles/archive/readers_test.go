package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paulmach/orb/maptile"

	"limnomap/data/testsize"
	"limnomap/tiles/hilbert"
)

// output runs a reader and returns its output.
func output(t *testing.T, input string, command ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Stdin = strings.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("%v: %v\n%s", command, err, &stderr)
	}
	return out
}

// An npmAnswer is the output of testdata/reader/read.mjs for an archive.
type npmAnswer struct {
	Header   map[string]any
	Metadata map[string]string
	Tiles    map[string]*string // SHA-256, nil for none
}

// readWithNPM reads tiles of an archive with the pmtiles package of npm.
func readWithNPM(t *testing.T, path string, tiles []maptile.Tile) npmAnswer {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		testsize.LeaveOut(t, "no node is installed")
	}
	if _, err := os.Stat("testdata/reader/node_modules/pmtiles"); err != nil {
		testsize.LeaveOut(t, "the npm package pmtiles is not installed (make setup)")
	}
	var input strings.Builder
	for _, tile := range tiles {
		fmt.Fprintln(&input, address(tile))
	}
	var answer npmAnswer
	must(t, json.Unmarshal(output(t, input.String(), "node", "testdata/reader/read.mjs", path), &answer))
	if len(answer.Tiles) != len(tiles) {
		t.Fatalf("the reader returned %d tiles, want %d", len(answer.Tiles), len(tiles))
	}
	return answer
}

func address(t maptile.Tile) string { return fmt.Sprintf("%d/%d/%d", t.Z, t.X, t.Y) }

func TestNPMReadsPMTiles(t *testing.T) {
	tests := []struct {
		name  string
		pairs []pair
	}{
		{"few", []pair{{maptile.New(0, 0, 0), "a"}, {maptile.New(1, 1, 1), "b"}, {maptile.New(1, 0, 1), "a"}, {maptile.New(4095, 4095, 12), "c"}}},
		{"runs over zooms", func() []pair {
			var pairs []pair
			for id := range hilbert.FirstID(6) {
				pairs = append(pairs, pair{hilbert.Tile(id), distinct(int(id / 900))})
			}
			return pairs
		}()},
		{"leaves", manyPairs(100_000, 12, distinct)},
		{"leaves, some equal", manyPairs(50_000, 12, func(i int) string { return distinct(i * i % 1009) })},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lakes.pmtiles")
			write(t, path, testMetadata(), test.pairs)
			want := map[maptile.Tile]string{}
			var asked []maptile.Tile
			for _, p := range test.pairs {
				want[p.tile] = p.png
				asked = append(asked, p.tile)
			}
			const gaps = 5000 // enough missing tiles to find a mistake
			for _, p := range test.pairs[:min(len(test.pairs), gaps)] {
				if next := maptile.New(p.tile.X^1, p.tile.Y, p.tile.Z); next.Valid() && want[next] == "" {
					asked = append(asked, next)
				}
			}
			answer := readWithNPM(t, path, asked)
			if answer.Header["numAddressedTiles"] != float64(len(want)) {
				t.Errorf("the reader counts %v tiles, want %d", answer.Header["numAddressedTiles"], len(want))
			}
			for _, tile := range asked {
				got := answer.Tiles[address(tile)]
				png, ok := want[tile]
				if sum := sha256.Sum256([]byte(png)); ok && (got == nil || *got != hex.EncodeToString(sum[:])) {
					t.Fatalf("tile %v reads %v", tile, got)
				}
				if !ok && got != nil {
					t.Fatalf("tile %v was read, and was not written", tile)
				}
			}
		})
	}
}

func TestNPMReadsHeaderAndMetadata(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lakes.pmtiles")
	write(t, path, testMetadata(), []pair{{maptile.New(0, 0, 0), "a"}})
	answer := readWithNPM(t, path, nil)
	for name, want := range map[string]any{
		"specVersion": 3.0, "clustered": true, "internalCompression": 2.0, "tileCompression": 1.0, "tileType": 2.0,
		"minZoom": 0.0, "maxZoom": 12.0, "minLon": 5.5, "minLat": 47.25, "maxLon": 15.125, "maxLat": 55.0625,
		"centerLon": 10.5, "centerLat": 51.125, "centerZoom": 6.0,
	} {
		if got := answer.Header[name]; got != want {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	want := map[string]string{
		"name": "Lakes", "type": "overlay", "description": `Chlorophyll-a, in "µg/l"`, "version": "1.2.3",
		"attribution": `<a href="https://example.org/">Example</a>`, "notice": "simulated values", "date": "2026-06-01",
	}
	if !maps.Equal(answer.Metadata, want) {
		t.Errorf("metadata = %v, want %v", answer.Metadata, want)
	}
}

func TestNPMReadsAnArchiveWithoutTiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lakes.pmtiles")
	write(t, path, testMetadata(), nil)
	png, err := blank()
	must(t, err)
	sum := sha256.Sum256(png)
	answer := readWithNPM(t, path, []maptile.Tile{maptile.New(0, 0, 0), maptile.New(0, 0, 1)})
	if got := answer.Tiles["0/0/0"]; got == nil || *got != hex.EncodeToString(sum[:]) || answer.Tiles["1/0/0"] != nil {
		t.Errorf("the reader found %v, want one blank tile", answer.Tiles)
	}
}
