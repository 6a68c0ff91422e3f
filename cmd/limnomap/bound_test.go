package main

import (
	"strings"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
	"pgregory.net/rapid"
)

func TestBound(t *testing.T) {
	tests := []struct {
		in   string
		want bound
		bad  string // in the error; "" for no error
	}{
		{"5.8,47.2,15.1,55.1", bound{5.8, 47.2, 15.1, 55.1}, ""},
		{"-180, -90, 180, 90", bound{-180, -90, 180, 90}, ""},
		{"170,-50,-170,-30", bound{170, -50, -170, -30}, ""}, // across the antimeridian
		{"10,50,10,50", bound{10, 50, 10, 50}, ""},
		{"", bound{}, "has 1 numbers"},
		{"5.8,47.2,15.1", bound{}, "has 3 numbers"},
		{"5.8,47.2,15.1,55.1,0", bound{}, "has 5 numbers"},
		{"5.8,55.1,15.1,47.2", bound{}, "south, 55.1, is greater than north, 47.2"},
		{"47.2,5.8,55.1,95", bound{}, `"95" is not a number from -90 to 90`},
		{"5.8,47.2,181,55.1", bound{}, `"181" is not a number from -180 to 180`},
		{"NaN,47.2,15.1,55.1", bound{}, `"NaN"`},
		{"5.8,47.2,Inf,55.1", bound{}, `"Inf"`},
		{"5.8;47.2,15.1,55.1,9", bound{}, `"5.8;47.2"`},
	}
	for _, test := range tests {
		var got bound
		err := got.UnmarshalText([]byte(test.in))
		if got != test.want || (err == nil) != (test.bad == "") || err != nil && !strings.Contains(err.Error(), test.bad) {
			t.Errorf("bound %q = %v, %v; want %v and an error that contains %q", test.in, got, err, test.want, test.bad)
		}
		if err != nil && !strings.Contains(err.Error(), "west,south,east,north") {
			t.Errorf("bound %q: error %q does not say what is wanted", test.in, err)
		}
	}
}

func TestBoundOverlaps(t *testing.T) {
	tests := []struct {
		name string
		b    bound
		tile maptile.Tile
		want bool
	}{
		{"the world", bound{10, 50, 11, 51}, maptile.New(0, 0, 0), true},
		{"another half", bound{10, 50, 11, 51}, maptile.New(0, 0, 1), false},
		{"south of it", bound{10, 50, 11, 51}, maptile.New(1, 1, 1), false},
		{"across the antimeridian, its west", bound{170, -50, -170, -30}, maptile.New(63, 38, 6), true},
		{"across the antimeridian, its east", bound{170, -50, -170, -30}, maptile.New(0, 38, 6), true},
		{"across the antimeridian, the far side", bound{170, -50, -170, -30}, maptile.New(32, 38, 6), false},
		{"no wider than the antimeridian", bound{180, -50, -180, -30}, maptile.New(0, 38, 6), true},
		{"beyond every tile", bound{0, 86, 10, 90}, maptile.New(1, 0, 1), false},
	}
	for _, test := range tests {
		if got := test.b.overlaps(test.tile); got != test.want {
			t.Errorf("%s: %v overlaps %v: %v, want %v", test.name, test.b, test.tile, got, test.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		lon, lat := rapid.Float64Range(-179.9, 179.9), rapid.Float64Range(-84, 84)
		b := bound{West: lon.Draw(t, "west"), South: lat.Draw(t, "south"), East: lon.Draw(t, "east")}
		b.North = rapid.Float64Range(b.South, 85).Draw(t, "north")
		zoom := maptile.Zoom(rapid.IntRange(0, 20).Draw(t, "zoom"))
		for _, corner := range []orb.Point{{b.West, b.South}, {b.West, b.North}, {b.East, b.South}, {b.East, b.North}} {
			if tile := maptile.At(corner, zoom); !b.overlaps(tile) {
				t.Fatalf("%v does not overlap %v, which shows its corner %v", b, tile, corner)
			}
		}
	})
}
