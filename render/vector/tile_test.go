package vector

import (
	"bytes"
	"encoding/hex"
	"math"
	"slices"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
	"pgregory.net/rapid"

	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/render"
)

func TestProperties(t *testing.T) {
	v := viewOf([]testLake{
		{lon: 10, lat: 50, chl: 12.34},
		{lon: 10.1, lat: 50, chl: 0},
		{lon: 10.2, lat: 50, chl: -1, risk: data.RiskHigh},
		{lon: 10.3, lat: 50, chl: -1},
	})
	v.States[1].Level, v.States[1].Risk = 3, data.RiskHigh // reported scum
	v.States[1].MeasuredBy = data.InSitu
	withAdvisories(v, map[int]data.AdvisoryKind{1: data.Warning, 3: data.Closure})
	features := tileOf(t, v, maptile.New(0, 0, 0))
	for id, want := range map[string]map[string]any{
		"lake_0000000": {"chl": 12.34, "who_level": uint64(1), "risk": "medium", "trophic": "mesotrophic", "measured_at": "2026-05-28T20:26:40Z",
			"measured_by": "satellite", "stale": false, "advisory": ""},
		"lake_0000001": {"chl": 0.0, "who_level": uint64(3), "risk": "high", "trophic": "mesotrophic", "measured_at": "2026-05-28T20:26:41Z",
			"measured_by": "in_situ", "stale": false, "advisory": "warning"},
		"lake_0000002": {"color": "#9aa0a6", "risk": "high", "trophic": "unknown", "measured_at": "2026-05-28T20:26:42Z",
			"measured_by": "satellite", "stale": true, "advisory": ""},
		"lake_0000003": {"color": "#9aa0a6", "trophic": "unknown", "stale": false, "advisory": "closure"},
	} {
		got := features[id].Properties
		for name, value := range want {
			if got[name] != value {
				t.Errorf("%s of %s = %v, want %v", name, id, got[name], value)
			}
		}
		// And id, name, the colour, and of a value where its cell density is from.
		if n := len(want) + 4 - map[bool]int{true: 1}[want["color"] != nil] - map[bool]int{true: 1}[want["chl"] == nil]; len(got) != n {
			t.Errorf("%s has the properties %v, want %d: unknown ones are absent", id, got, n)
		}
	}
	for i := range 2 {
		if c := features[string(v.Lakes[i].ID)].Properties["color"]; c == "#9aa0a6" {
			t.Errorf("color of a lake with a value = %v, the grey of no data", c)
		}
	}
}

// Each lake is in the tile that contains its point, and otherwise only in tiles whose buffer contains it, always at the
// same position in the world.
func TestEveryLakeIsInItsTiles(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lakes := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) testLake {
			return testLake{
				lon: rapid.OneOf(rapid.Float64Range(-180, 180), rapid.SampledFrom([]float64{-180, 180, 0, 90, 179.9999999, 11.25})).Draw(rt, "lon"),
				lat: rapid.OneOf(rapid.Float64Range(-85.05, 85.05), rapid.SampledFrom([]float64{0, 66.51326044311186, -85.05, 85.0511})).Draw(rt, "lat"),
			}
		}), 1, 40).Draw(rt, "lakes")
		z := maptile.Zoom(rapid.IntRange(0, render.MaxZoom).Draw(rt, "zoom"))
		v := viewOf(lakes)
		l := layerOf(v)
		for i, lake := range v.Lakes {
			code, ok := render.Project(lake.Point)
			if !ok {
				rt.Fatalf("no world coordinates for %v", lake.Point)
			}
			wx, wy := render.World(code)
			own := maptile.New(uint32(uint64(wx)>>(32-z)), uint32(uint64(wy)>>(32-z)), z)
			// Orb agrees, except at edges, where rounding decides.
			if at := maptile.At(lake.Point, z); at != own && !nearEdge(lake.Point, z) {
				rt.Fatalf("%v is in tile %v, and by orb in %v", lake.Point, own, at)
			}
			checkTiles(rt, l, int32(i), own, wx, wy)
		}
	})
}

// nearEdge reports whether p is so close to the edge of a tile that rounding decides.
func nearEdge(p orb.Point, z maptile.Zoom) bool {
	f := maptile.Fraction(p, z)
	for _, c := range f {
		if d := math.Abs(c - math.Round(c)); d < 1e-6*math.Exp2(float64(z)-10) || d < 1e-9 {
			return true
		}
	}
	return false
}

// checkTiles checks the nine tiles around a lake.
func checkTiles(rt *rapid.T, l *Layer, lake int32, own maptile.Tile, wx, wy uint32) {
	side := int64(1) << own.Z
	seen := make(map[maptile.Tile]bool)
	for dy := int64(-1); dy <= 1; dy++ {
		for dx := int64(-1); dx <= 1; dx++ {
			tile := maptile.New(uint32((int64(own.X)+dx+side)%side), uint32(int64(own.Y)+dy), own.Z)
			if y := int64(own.Y) + dy; y < 0 || y >= side || seen[tile] {
				continue
			}
			seen[tile] = true
			// Position in units of this zoom from the corner of the tile: of the copy nearest to its centre.
			shift, world := 20-own.Z, side*Extent
			x := (int64(wx>>shift)-int64(tile.X)*Extent-Extent/2+world*3/2)%world - world/2 + Extent/2
			y := int64(wy>>shift) - int64(tile.Y)*Extent
			if own.Z == 0 {
				x = int64(wx >> shift)
			}
			inside := x >= -Buffer && x < Extent+Buffer && y >= -Buffer && y < Extent+Buffer
			at := slices.IndexFunc(l.find(tile), func(h hit) bool { return h.lake == lake })
			if (at >= 0) != inside {
				rt.Fatalf("lake at %d, %d of tile %v is there: %t, want %t", x, y, tile, at >= 0, inside)
			}
			if tile == own && !inside {
				rt.Fatalf("the lake is not in its own tile %v", own)
			}
			if h := l.find(tile); inside && (int64(h[at].x) != x || int64(h[at].y) != y) {
				rt.Fatalf("lake of tile %v is at %d, %d, want %d, %d", tile, h[at].x, h[at].y, x, y)
			}
		}
	}
}

func TestLakesBeyondTheMapAreLeftOut(t *testing.T) {
	v := viewOf([]testLake{{lon: 10, lat: 85.06}, {lon: 10, lat: 90}, {lon: 10, lat: -90}, {lon: 0, lat: 0}})
	if got := tileOf(t, v, maptile.New(0, 0, 0)); len(got) != 1 || got["lake_0000003"].Properties == nil {
		t.Errorf("the tile has %v, want the one lake of the map", got)
	}
}

func TestSameLakesSameBytesConcurrently(t *testing.T) {
	v := viewOf(grid(500, 5, 45, 10))
	tile := maptile.New(33, 21, 6)
	first, err := encoder().Encode(layerOf(v), v, tile)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		again := viewOf(grid(500, 5, 45, 10))
		b, err := New(encoder().scale.Limits()).Encode(layerOf(again), again, tile)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b, first) {
			t.Fatal("the same lakes give different bytes")
		}
	}
	// RFC 1952: the magic, deflate, no flags, no time.
	if got := hex.EncodeToString(first[:8]); got != "1f8b080000000000" {
		t.Errorf("the tile begins with %s, want gzip without a time", got)
	}
}

func TestFingerprint(t *testing.T) {
	base := func() *snapshot.View { return viewOf(grid(50, 5, 45, 10)) }
	tile := maptile.New(0, 0, 0)
	v := base()
	first, ok := layerOf(v).Fingerprint(v, tile)
	if !ok {
		t.Fatal("the tile of the world shows nothing")
	}
	l := layerOf(v)
	for range 2 { // the second time from memory
		if again, _ := l.Fingerprint(v, tile); again != first {
			t.Error("the same lakes have another fingerprint")
		}
	}
	for name, change := range map[string]func(*data.Lake, *snapshot.State){
		"id":          func(l *data.Lake, _ *snapshot.State) { l.ID += "x" },
		"name":        func(l *data.Lake, _ *snapshot.State) { l.Name += "x" },
		"place":       func(l *data.Lake, _ *snapshot.State) { l.Point[0]++ },
		"chl":         func(_ *data.Lake, s *snapshot.State) { s.Chlorophyll++ },
		"no chl":      func(_ *data.Lake, s *snapshot.State) { s.Chlorophyll = data.NoChlorophyll },
		"level":       func(_ *data.Lake, s *snapshot.State) { s.Level = 3 },
		"risk":        func(_ *data.Lake, s *snapshot.State) { s.Risk = data.RiskUnknown },
		"trophic":     func(_ *data.Lake, s *snapshot.State) { s.Trophic = data.Hypertrophic },
		"measured at": func(_ *data.Lake, s *snapshot.State) { s.TakenOffset++ },
		"measured by": func(_ *data.Lake, s *snapshot.State) { s.MeasuredBy = data.InSitu },
		"date":        func(_ *data.Lake, s *snapshot.State) { s.Date++ },
	} {
		v := base()
		change(&v.Lakes[7], &v.States[7])
		if fp, _ := layerOf(v).Fingerprint(v, tile); fp == first {
			t.Errorf("another %s has the same fingerprint", name)
		}
	}
	fingerprints := map[render.Fingerprint]data.AdvisoryKind{first: data.NoAdvisory}
	for kind := data.Season; kind <= data.Closure; kind++ {
		v := withAdvisories(base(), map[int]data.AdvisoryKind{7: kind})
		fp, _ := layerOf(v).Fingerprint(v, tile)
		if other, ok := fingerprints[fp]; ok {
			t.Errorf("a %s has the same fingerprint as %q", kind, other)
		}
		fingerprints[fp] = kind
	}
	if _, ok := l.Fingerprint(v, maptile.New(0, 3, 2)); ok {
		t.Error("a tile far from all lakes shows some")
	}
}

func TestEmptyTileHasItsLayer(t *testing.T) {
	tile, err := encoder().Empty()
	if err != nil {
		t.Fatal(err)
	}
	if plain, _ := Unzip(tile); len(plain) == 0 || len(decoded(t, tile)) != 0 {
		t.Errorf("the empty tile is %x, want a layer without lakes", plain)
	}
}

func TestUnzipErrors(t *testing.T) {
	for name, b := range map[string][]byte{"nothing": nil, "text": []byte("tile"), "torn": must(encoder().Empty())[:12]} {
		if _, err := Unzip(b); err == nil {
			t.Errorf("Unzip of %s gave no error", name)
		}
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}
