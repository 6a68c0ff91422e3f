package data_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"limnomap/data"
)

func TestABoxAndItsComplementShareOnlyTheirEdges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		longitude := rapid.Float64Range(-180, 180)
		a, b, lon := longitude.Draw(t, "a"), longitude.Draw(t, "b"), longitude.Draw(t, "lon")
		if a == b {
			return // both bounds are equal
		}
		inner, outer := data.Box{South: -90, West: a, North: 90, East: b}, data.Box{South: -90, West: b, North: 90, East: a}
		onEdge := lon == a || lon == b
		if in, out := inner.Contains(lon, 0), outer.Contains(lon, 0); onEdge && !(in && out) || !onEdge && in == out {
			t.Fatalf("longitude %v is in %+v: %v, in %+v: %v", lon, inner, in, outer, out)
		}
	})
}

func FuzzParseBox(f *testing.F) {
	for _, s := range []string{"1,2,3,4", "179,-90,-179,90", "1,5,3,4", "", "1,2,3", "NaN,1,2,3", "0x1,2,3,4", "1e2,2,3,4", "-0,0,1e-7,90"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b, err := data.ParseBox(s)
		if err != nil {
			return
		}
		again, err := data.ParseBox(b.String())
		if err != nil || again != b || strings.Count(b.String(), ",") != 3 {
			t.Errorf("%q is %+v, which is written as %s and read as %+v, %v", s, b, b, again, err)
		}
	})
}
