package tiles

import (
	"testing"

	"github.com/paulmach/orb/maptile"
	"pgregory.net/rapid"
)

func TestKeySumTellsEveryFieldApart(t *testing.T) {
	base := Key{Renderer: "1", Variant: "who2003", Style: "heat", Colormap: "limno", Tile: maptile.New(3, 5, 7), Scale: 1}
	tests := []struct {
		name   string
		change func(*Key)
	}{
		{"nothing", func(*Key) {}},
		{"renderer", func(k *Key) { k.Renderer = "2" }},
		{"variant", func(k *Key) { k.Variant = "uba2015" }},
		{"style", func(k *Key) { k.Style = "dots" }},
		{"colour map", func(k *Key) { k.Colormap = "viridis" }},
		{"x", func(k *Key) { k.Tile.X++ }},
		{"y", func(k *Key) { k.Tile.Y++ }},
		{"x and y swapped", func(k *Key) { k.Tile.X, k.Tile.Y = k.Tile.Y, k.Tile.X }},
		{"zoom", func(k *Key) { k.Tile.Z++ }},
		{"scale", func(k *Key) { k.Scale = 2 }},
		{"fingerprint", func(k *Key) { k.Fingerprint[15] ^= 1 }},
		{"letters moved to the next field", func(k *Key) { k.Style, k.Colormap = "heatl", "imno" }},
	}
	seen := make(map[Sum]string)
	for _, test := range tests {
		k := base
		test.change(&k)
		if other, ok := seen[k.Sum()]; ok {
			t.Errorf("Sum with %s changed = Sum with %s changed", test.name, other)
		}
		seen[k.Sum()] = test.name
	}
}

func TestSumIsThatOfEarlierReleases(t *testing.T) {
	k := Key{Renderer: "1", Variant: "who2003", Style: "heat", Colormap: "limno", Tile: maptile.New(3, 5, 7), Scale: 1}
	const want = "0b80bb4f0af45429fe7b320f62e2bdffec3b52f07f1b268432fe8e8d3ad02462"
	if got := k.Sum().String(); got != want {
		t.Errorf("Sum() = %s, want %s: every folder of cached tiles would be useless after an upgrade", got, want)
	}
}

func TestParseSumReadsWhatStringWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Sum
		copy(s[:], rapid.SliceOfN(rapid.Byte(), len(s), len(s)).Draw(t, "sum"))
		if got, ok := parseSum(s.String()); !ok || got != s {
			t.Fatalf("parseSum(%s) = %v, %v", s, got, ok)
		}
	})
	for _, name := range []string{"", "README", Sum{}.String()[1:], Sum{}.String() + "00", "AA" + Sum{}.String()[2:], "zz" + Sum{}.String()[2:]} {
		if _, ok := parseSum(name); ok {
			t.Errorf("parseSum(%q) is ok, want not: no file of that name is ours", name)
		}
	}
}
