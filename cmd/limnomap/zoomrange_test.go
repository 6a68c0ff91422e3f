package main

import (
	"strings"
	"testing"

	"github.com/paulmach/orb/maptile"
)

func TestZoomRange(t *testing.T) {
	tests := []struct {
		in   string
		want zoomRange
		ok   bool
	}{
		{"7", zoomRange{7, 7}, true}, {"0-9", zoomRange{0, 9}, true}, {"0", zoomRange{0, 0}, true}, {"20-20", zoomRange{20, 20}, true},
		{"", zoomRange{}, false}, {"-", zoomRange{}, false}, {"-9", zoomRange{}, false}, {"9-", zoomRange{}, false}, {"9-0", zoomRange{}, false},
		{"0-21", zoomRange{}, false}, {"0-300", zoomRange{}, false}, {"0-9-10", zoomRange{}, false}, {"all", zoomRange{}, false},
		{"0 - 9", zoomRange{}, false}, {"+1", zoomRange{}, false}, {"0..9", zoomRange{}, false},
	}
	for _, test := range tests {
		var got zoomRange
		err := got.UnmarshalText([]byte(test.in))
		if (err == nil) != test.ok || got != test.want {
			t.Errorf("zooms %q = %v, %v; want %v, ok %v", test.in, got, err, test.want, test.ok)
		}
		if err != nil && !(strings.Contains(err.Error(), test.in) && strings.Contains(err.Error(), "0 to 20")) {
			t.Errorf("zooms %q: error %q, want one that names them and what is allowed", test.in, err)
		}
	}
	for z, want := range map[maptile.Zoom]bool{2: false, 3: true, 4: true, 5: true, 6: false} {
		if got := (zoomRange{3, 5}).contains(z); got != want {
			t.Errorf("3-5 contains %d: %v, want %v", z, got, want)
		}
	}
}
