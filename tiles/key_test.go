package tiles

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/paulmach/orb/maptile"
	"pgregory.net/rapid"

	"limnomap/colormap"
	"limnomap/render"
)

func TestKeySumDependsOnEveryField(t *testing.T) {
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

func TestSumOfEarlierReleases(t *testing.T) {
	k := Key{Renderer: "1", Variant: "who2003", Style: "heat", Colormap: "limno", Tile: maptile.New(3, 5, 7), Scale: 1}
	const want = "0b80bb4f0af45429fe7b320f62e2bdffec3b52f07f1b268432fe8e8d3ad02462"
	if got := fmt.Sprintf("%x", k.Sum()); got != want {
		t.Errorf("Sum() = %s, want %s: every folder of cached tiles would be useless after an upgrade", got, want)
	}
}

func drawName(t *rapid.T, label string) string {
	return rapid.StringMatching(`[!-~]{1,64}`).Draw(t, label)
}

func TestParseKeyReadsEncodedKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zoom := rapid.Uint32Range(0, render.MaxZoom).Draw(t, "zoom")
		column := rapid.Uint32Range(0, 1<<zoom-1)
		want := Key{
			Renderer: drawName(t, "renderer"),
			Variant:  drawName(t, "variant"),
			Style:    StyleID(drawName(t, "style")),
			Colormap: colormap.ID(drawName(t, "colormap")),
			Tile:     maptile.New(column.Draw(t, "x"), column.Draw(t, "y"), maptile.Zoom(zoom)),
			Scale:    rapid.IntRange(1, maxScale).Draw(t, "scale"),
		}
		copy(want.Fingerprint[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "fingerprint"))
		b := want.Encode()
		if got, err := ParseKey(b); err != nil || got != want || len(b) > maxKey {
			t.Fatalf("ParseKey of %d bytes = %+v, %v, want %+v", len(b), got, err, want)
		}
		if got, err := ParseKey(b[:rapid.IntRange(0, len(b)-1).Draw(t, "cut")]); err == nil {
			t.Fatalf("ParseKey of a part of it = %+v, want an error", got)
		}
	})
}

func TestParseKeyRefuses(t *testing.T) {
	whole := numberedKey(1)
	tests := []struct {
		name   string
		change func(*Key)
	}{
		{"no renderer", func(k *Key) { k.Renderer = "" }},
		{"a name too long", func(k *Key) { k.Variant = strings.Repeat("a", maxName+1) }},
		{"a name with an escape sequence", func(k *Key) { k.Style = "\x1b[2J" }},
		{"a name of two words", func(k *Key) { k.Colormap = "two words" }},
		{"a zoom too large", func(k *Key) { k.Tile.Z = render.MaxZoom + 1 }},
		{"x beyond", func(k *Key) { k.Tile = maptile.New(4, 0, 2) }},
		{"y beyond", func(k *Key) { k.Tile = maptile.New(0, 4, 2) }},
		{"scale 0", func(k *Key) { k.Scale = 0 }},
		{"scale 3", func(k *Key) { k.Scale = 3 }},
	}
	for _, test := range tests {
		k := whole
		test.change(&k)
		if got, err := ParseKey(k.Encode()); err != errNoKey {
			t.Errorf("ParseKey of a key with %s = %+v, %v, want errNoKey", test.name, got, err)
		}
	}
	if got, err := ParseKey(append(whole.Encode(), 0)); err != errNoKey {
		t.Errorf("ParseKey of a key with a byte appended = %+v, %v, want errNoKey", got, err)
	}
}

func FuzzParseKey(f *testing.F) {
	f.Add(numberedKey(1).Encode())
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, b []byte) {
		if k, err := ParseKey(b); err == nil && !bytes.Equal(k.Encode(), b) {
			t.Errorf("ParseKey accepts %q, which is not how %+v is encoded", b, k)
		}
	})
}
