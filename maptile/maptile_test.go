package maptile

import (
	"math"
	"testing"

	"github.com/paulmach/orb"
	"pgregory.net/rapid"
)

// drawTile returns a valid tile.
func drawTile(t *rapid.T) Tile {
	z := Zoom(rapid.IntRange(0, 22).Draw(t, "zoom"))
	last := uint32(1)<<z - 1
	return New(rapid.Uint32Range(0, last).Draw(t, "x"), rapid.Uint32Range(0, last).Draw(t, "y"), z)
}

func TestAt(t *testing.T) {
	tests := []struct {
		name  string
		point orb.Point
		zoom  Zoom
		want  Tile
	}{
		{"Berlin", orb.Point{13.4, 52.5}, 8, Tile{137, 83, 8}},
		{"origin", orb.Point{0, 0}, 1, Tile{1, 1, 1}},
		{"north pole", orb.Point{0, 90}, 3, Tile{4, 0, 3}},
		{"south pole", orb.Point{0, -90}, 3, Tile{4, 7, 3}},
		{"longitude 180", orb.Point{180, 0}, 3, Tile{8, 4, 3}},
		{"longitude -180", orb.Point{-180, 0}, 3, Tile{0, 4, 3}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := At(tt.point, tt.zoom); got != tt.want {
				t.Errorf("At(%v, %d) = %v, want %v", tt.point, tt.zoom, got, tt.want)
			}
		})
	}
}

func TestBoundOfTheWorld(t *testing.T) {
	b := Tile{}.Bound()
	if b.Left() != -180 || b.Right() != 180 || math.Abs(b.Top()-85.0511287798066) > 1e-9 || math.Abs(b.Bottom()+85.0511287798066) > 1e-9 {
		t.Errorf("bound of the world = %v", b)
	}
}

func TestCenterRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tile := drawTile(t)
		if math.Abs(tile.Center().Lat()) > maxLatitude {
			t.Skip("At moves points beyond 85.0511° to the edge")
		}
		if got := At(tile.Center(), tile.Z); got != tile || !tile.Valid() {
			t.Fatalf("At(center of %v) = %v", tile, got)
		}
	})
}

func TestChildren(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tile := drawTile(t)
		for _, child := range tile.Children() {
			if child.Parent() != tile || !tile.Contains(child) || child.Contains(tile) || !child.Valid() {
				t.Fatalf("%v is not a child of %v", child, tile)
			}
			if !tile.Bound().Contains(child.Center()) {
				t.Fatalf("%v does not contain the centre of its child %v", tile, child)
			}
		}
	})
	if p := (Tile{}).Parent(); p != (Tile{}) {
		t.Errorf("parent of the world = %v", p)
	}
}

func TestValid(t *testing.T) {
	for tile, want := range map[Tile]bool{{0, 0, 0}: true, {1, 0, 0}: false, {0, 1, 0}: false, {7, 7, 3}: true, {8, 7, 3}: false} {
		if got := tile.Valid(); got != want {
			t.Errorf("%v is valid: %v, want %v", tile, got, want)
		}
	}
}
