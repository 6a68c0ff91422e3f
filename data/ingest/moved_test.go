package ingest

import (
	"slices"
	"strings"
	"testing"

	"limnomap/data/store/storetest"
)

// A file without outlines keeps the stored ones, and so must not move a lake out of its outline: it would be drawn at one
// place and found at another.
func TestLakesStayInTheirOutline(t *testing.T) {
	const refused = " are more than 0.1 degrees outside this lake's outline in the database: want a point inside it, " +
		`or import the outline too, as a polygon in GeoJSON, or delete it with "geometry": null`
	base := `"id":"x","name":"X"`
	for _, test := range []struct {
		name, text string
		want       string // the bad row; empty if the lake may be moved
	}{
		{"table, swapped", "id,name,lat,lon\nx,X,12.7,53.42\n", "a.csv, line 2 (x): lat 12.7, lon 53.42" + refused},
		{"table, to the beach", "id,name,lat,lon\nx,X,53.5,12.75\n", ""},
		{"point, swapped", features(featureOf(base, `{"type":"Point","coordinates":[53.42,12.7]}`)), "a.csv, feature 1 (x): lat 12.7, lon 53.42" + refused},
		{"place, no geometry", features(`{"type":"Feature","properties":{` + base + `,"lat":53.42,"lon":13}}`), "a.csv, feature 1 (x): lat 53.42, lon 13" + refused},
		{"another outline", features(featureOf(base, strings.ReplaceAll(box, "12.", "13."))), ""},
		{"outline taken away", features(featureOf(base+`,"lat":12.7,"lon":53.42`, "null")), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := storetest.New(t)
			mustImport(t, Lakes, s, nil, features(featureOf(base, box)))
			before, _ := stored(t, s)
			r := mustImport(t, Lakes, s, nil, test.text)
			if test.want == "" {
				if r.Changed != 1 {
					t.Errorf("report: %v\nwant the lake changed", r)
				}
				return
			}
			if r.Written || len(r.Bad) != 1 || r.Bad[0].String() != test.want {
				t.Errorf("report: %v\nwant nothing written, and %s", r, test.want)
			}
			if r := mustImport(t, Lakes, s, &Options{SkipBad: true}, test.text, "id,name,lat,lon\ny,Y,1,2\n"); r.Added != 1 || r.Rejected != 1 {
				t.Errorf("skipping bad ones: %v", r)
			}
			if after, _ := stored(t, s); !slices.Equal(after[:1], before) {
				t.Errorf("stored %+v\nwant %+v", after[0], before[0])
			}
		})
	}
}
