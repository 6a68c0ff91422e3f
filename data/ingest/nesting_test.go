package ingest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"limnomap/data/outline"
	"limnomap/data/store/storetest"
)

// wavy returns a ring of points around a centre, half degrees away from it, with bays of this depth.
func wavy(centre orb.Point, half, depth float64, points, waves int) orb.Ring {
	var r orb.Ring
	for i := range points {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(points))
		at := half * (1 - depth*math.Abs(math.Sin(float64(waves*i)*math.Pi/float64(points))))
		r = append(r, orb.Point{centre[0] + at*cos, centre[1] + at*sin})
	}
	return append(r, r[0])
}

// An outline with 50,000 rings, which older versions stored, is exported in steps that grow with its points and not with
// their square: separate rings, and islands in one lake.
func TestManyRingsAreExported(t *testing.T) {
	const n = 50_000
	triangle := func(i int) orb.Ring {
		x, y := 10+float64(i%250)*0.003, 50+float64(i/250)*0.003
		return orb.Ring{{x, y}, {x + 0.002, y}, {x + 0.001, y + 0.002}, {x, y}}
	}
	shore := wavy(orb.Point{10.4, 50.3}, 1, 0.001, 40_000, 5_000)
	for _, test := range []struct {
		name     string
		rings    []orb.Ring
		polygons int
	}{
		{"separate", nil, n},
		{"islands", []orb.Ring{shore}, 1},
	} {
		rings := test.rings
		for i := range n {
			rings = append(rings, triangle(i))
		}
		nest := newNesting(rings)
		outer := 0
		for i := range rings {
			if depth, _ := nest.around(i); depth%2 == 0 {
				outer++
			}
		}
		if outer != test.polygons {
			t.Errorf("%s: %d outer rings, want %d", test.name, outer, test.polygons)
		}
		if most := 1000 * n; nest.steps > most {
			t.Errorf("%s: %d steps for %d rings, want at most %d", test.name, nest.steps, n, most)
		}
	}
}

// A lake may have 2,000 rings; with more, the feature is rejected by the name of its lake.
func TestRingsAreBounded(t *testing.T) {
	for _, n := range []int{outline.MaxRings, outline.MaxRings + 1} {
		for _, kind := range []string{"Polygon", "MultiPolygon"} {
			var b strings.Builder
			for i := range n {
				x, y := 10+float64(i%50)*0.003, 50+float64(i/50)*0.003
				between := map[string]string{"Polygon": ",", "MultiPolygon": "],["}[kind]
				if i == 0 {
					between = ""
				}
				if kind == "Polygon" && i == 0 { // the shore around all islands
					b.WriteString("[[9.9,49.9],[10.3,49.9],[10.3,50.3],[9.9,50.3]]")
					continue
				}
				fmt.Fprintf(&b, "%s[[%.3f,%.3f],[%.3f,%.3f],[%.3f,%.3f]]", between, x, y, x+0.002, y, x, y+0.002)
			}
			text := "[" + b.String() + "]"
			if kind == "MultiPolygon" {
				text = "[" + text + "]"
			}
			s := storetest.New(t)
			r := mustImport(t, Lakes, s, nil, features(featureOf(`"id":"m","name":"M"`, `{"coordinates":`+text+`,"type":"`+kind+`"}`)))
			if r.Written != (n == outline.MaxRings) {
				t.Fatalf("%s of %d rings: %v", kind, n, r)
			}
			if r.Written {
				var out strings.Builder
				if _, err := ExportLakes(t.Context(), s, &out, FormatGeoJSON); err != nil {
					t.Fatal(err)
				}
				if again := mustImport(t, Lakes, s, nil, out.String()); again.Unchanged != 1 {
					t.Errorf("%s: the export of %d rings is not the same: %v", kind, n, again)
				}
				continue
			}
			if got := r.Bad[0].String(); !strings.HasPrefix(got, "a.csv, feature 1 (m): "+kind+": ") || !strings.Contains(got, "at most 2000 rings") {
				t.Errorf("%s of %d rings: %s", kind, n, got)
			}
		}
	}
}
