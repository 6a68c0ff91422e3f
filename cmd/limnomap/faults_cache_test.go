//go:build unix

package main

import "testing"

// A ground is what several tests share, since to start a server costs more than to ask it for tiles.
type ground struct {
	db    string
	paths []string // of tiles that are more than the smallest memory cache holds
	want  truth
}

// few returns tiles that are fewer than may wait to be written.
func (g *ground) few() []string { return g.paths[:50] }

// TestFaultCache does to the disk cache of a running server what befalls disks and processes. Each answer is right all
// the while.
func TestFaultCache(t *testing.T) {
	g := &ground{db: faultDB(t), paths: heatTiles(250, "", "@2x")}
	g.want = newTruth(t, g.db, g.paths)
	for _, fault := range append([]cacheFault{
		{"KillDuringWrites", g.killDuringWrites},
		{"TwoServersShareAFolder", g.twoServersShareAFolder},
		{"FolderRemoved", g.folderRemoved},
		{"EntriesDatedElsewhere", g.entriesDatedElsewhere},
	}, g.diskFaults()...) {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			fault.test(t)
		})
	}
}

type cacheFault struct {
	name string
	test func(*testing.T)
}
