package store

import (
	"fmt"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/pixels"
)

// Of observations with one key, the pixels are those of the one that is stored, whether they come in one batch or in several.
func testPixelsOfRepeated(t *testing.T, open opener) {
	row := func(version string, chl data.Chlorophyll, q data.Quality, codes string) data.Observation {
		o := fromPixels(version, chl, q)
		o.LakeID, o.Date, o.Source = "a", 20000, "LWQ"
		if codes != "" {
			o.Pixels = &pixels.Packed{Grid: "9 9 6 0.5 0 47 0 -0.5 EPSG:4326", Mask: []byte("mask"), Codes: []byte(codes)}
		}
		return o
	}
	for _, test := range []struct {
		name string
		rows []data.Observation
		want string
	}{
		{"the same twice", []data.Observation{row("", 500, data.Good, "1"), row("", 500, data.Good, "1")}, "1"},
		{"then a worse one", []data.Observation{row("", 500, data.Good, "1"), row("", 900, data.Suspect, "2")}, "1"},
		{"then a better one", []data.Observation{row("", 500, data.Suspect, "1"), row("", 900, data.Good, "2")}, "2"},
		{"then a better one without pixels", []data.Observation{row("", 500, data.Suspect, "1"), row("", 900, data.Good, "")}, ""},
		{"then an older version", []data.Observation{row("2.0", 500, data.Good, "1"), row("1.0", 900, data.Good, "2")}, "1"},
		{"ever newer versions", []data.Observation{row("1.0", 500, data.Good, "1"), row("2.0", 900, data.Good, "2"), row("3.0", 100, data.Good, "3")}, "3"},
		{"newer, then older ones", []data.Observation{row("2.0", 500, data.Good, "1"), row("3.0", 900, data.Good, "2"), row("1.0", 100, data.Good, "3")}, "2"},
		{"without pixels, then a newer one with them", []data.Observation{row("1.0", 500, data.Good, ""), row("2.0", 900, data.Good, "2")}, "2"},
	} {
		for _, batch := range []int{1, len(test.rows)} {
			t.Run(fmt.Sprintf("%s, %d in a batch", test.name, batch), func(t *testing.T) {
				s := open(t, time.Now)
				put(t, s, []data.Lake{testLake("a")}, nil)
				err := s.Import(t.Context(), func(tx Tx) error {
					for i := 0; i < len(test.rows); i += batch {
						if _, err := tx.PutObservations(t.Context(), test.rows[i:i+batch], ObservationColumns{}); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				p, ok, err := s.Pixels(t.Context(), "a", 20000, "LWQ")
				if _, _, stored := scan(t, s); err != nil || ok != (test.want != "") || string(p.Codes) != test.want {
					t.Errorf("the pixels of %v are %q (%t, %v), want %q", stored, p.Codes, ok, err, test.want)
				}
			})
		}
	}
}
