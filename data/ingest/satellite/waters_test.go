package satellite

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"limnomap/data"
	"limnomap/data/ingest/satellite/satellitetest"
)

// The sites of a water have the values of the pixels near them, and the first one the pixels of all of it: that with the larger outline, which has the value of
// the pixels inside, or the one with the smaller id.
func TestSitesOfOneWater(t *testing.T) {
	w := newWaters(80, 200)
	const (
		clear, bloom = 8, 60
		step         = 1.0 / 448
	)
	for _, top := range []int{10, 110} {
		w.fill(10, top, 30, top+20, clear)
		w.fill(30, top, 50, top+20, bloom)
	}
	site := func(id, water string, x, y int) Lake {
		l := w.at(id, x, y)
		l.WaterID = water
		return l
	}
	outlined := squareLake(t, "z", 10+10*step-1e-5, 50-130*step-1e-5, 10+50*step+1e-5, 50-110*step+1e-5)
	bay := squareLake(t, "bay", 10+12*step-1e-5, 50-125*step-1e-5, 10+20*step+1e-5, 50-115*step+1e-5)
	outlined.WaterID, bay.WaterID = "with", "with"
	lakes := []Lake{site("b", "without", 48, 20), site("a", "without", 11, 20), site("alone", "other", 48, 20),
		site("y", "with", 48, 120), outlined, site("x", "with", 11, 120), bay, site("far", "with", 70, 190)}
	rows, summary := extractAll(t, w.file(), lakes, nil)
	for _, test := range []struct {
		id     data.LakeID
		value  float64
		pixels int // that are stored
		method string
	}{
		{"a", clear, 38 * 18, "of the water within 1500 m of the point, 1 pixel from the shore"},
		{"b", bloom, 0, "of the water within 1500 m of the point, 1 pixel from the shore"},
		{"alone", (clear + bloom) / 2, 38 * 18, methodGrown},
		{"z", (clear + bloom) / 2, 36 * 16, methodFull},
		{"bay", clear, 0, methodFull},
		{"x", clear, 0, "of the water within 1500 m of the point, 2 pixels from the shore"},
		{"y", bloom, 0, "of the water within 1500 m of the point, 2 pixels from the shore"},
	} {
		r := rows[test.id]
		stored := 0
		if r.Pixels != nil {
			m, err := r.Pixels.Unpack()
			if err != nil {
				t.Fatal(err)
			}
			stored = len(m.Codes)
			if _, _, code, ok := m.At(w.at("", 47, map[bool]int{true: 120, false: 20}[test.id == "z"]).Point); !ok || !near60(code.Value()) {
				t.Errorf("%s: a pixel in the bloom is %v, %t", test.id, code, ok)
			}
		}
		if !r.HasValue || r.Value != test.value || stored != test.pixels || !strings.Contains(r.Method, test.method) {
			t.Errorf("%s has %v (%t) of %d pixels %q, and %d pixels are stored, want %v, %d and %q", test.id, r.Value, r.HasValue, r.Inside, r.Method, stored, test.value, test.pixels, test.method)
		}
	}
	if _, ok := rows["far"]; ok || summary.Gaps[TooFewPixels] != 1 || summary.Lakes != 7 {
		t.Errorf("the summary is %+v: want a site without pixels of its water near it", summary)
	}
	// Below a raster that does not show the water, all of its sites are left out.
	for i := range lakes {
		lakes[i].Point[0]++
	}
	if _, summary := extractAll(t, w.file(), lakes[:2], nil); summary.Gaps[Outside] != 2 {
		t.Errorf("outside of the raster the summary is %+v", summary)
	}
}

// If clouds hide the site that has the pixels of all, the others have their own values, and no pixels of a part of the water are stored.
func TestSitesBesideClouds(t *testing.T) {
	w := newWaters(80, 200)
	w.fill(30, 10, 50, 30, 60)
	first, other := w.at("a", 11, 20), w.at("b", 48, 20)
	first.WaterID, other.WaterID = "water", "water"
	rows, summary := extractAll(t, w.file(), []Lake{first, other}, nil)
	if r := rows["b"]; len(rows) != 1 || r.Value != 60 || !strings.Contains(r.Method, methodGrown) || r.Pixels != nil || summary.Gaps[NoData] != 1 {
		t.Errorf("the rows are %+v, the summary is %+v, want the value of the site without clouds", rows, summary)
	}
}

// A site counts the gaps of its water, which a mask that grew does not have, by its share of the pixels.
func TestSitesCountGaps(t *testing.T) {
	w := newWaters(80, 40)
	w.fill(10, 10, 50, 30, 60)
	for y := 12; y < 28; y += 4 {
		for x := 12; x < 48; x += 4 {
			w.fill(x, y, x+2, y+2, land) // clouds of four pixels
		}
	}
	first, other := w.at("a", 11, 20), w.at("b", 48, 20)
	alone, _ := extractAll(t, w.file(), []Lake{first}, nil)
	of := alone["a"]
	first.WaterID, other.WaterID = "water", "water"
	rows, _ := extractAll(t, w.file(), []Lake{first, other}, nil)
	for _, id := range []data.LakeID{"a", "b"} {
		r := rows[id]
		share, want := float64(r.Valid)/float64(r.Inside), float64(of.Valid)/float64(of.Inside)
		if !r.HasValue || !strings.Contains(r.Method, methodNear) || want > 0.85 || math.Abs(share-want) > 0.02 {
			t.Errorf("%s has a value of %d of %d pixels, want a share of %.3f: %+v", id, r.Valid, r.Inside, want, r)
		}
	}
}

// A water across the antimeridian has sites on both sides: each has the value of the pixels near it, whatever the turn of the water's pixels.
func TestSitesAtTheAntimeridian(t *testing.T) {
	const width, height, step = 36_000, 100, 0.01
	f := satellitetest.TIFF{Width: width, Height: height, X0: -180, Y0: 0.5, Step: step, Unit: "mg m-3", NoData: strconv.Itoa(land)}
	f.Floats = slices.Repeat([]float32{land}, width*height)
	for y := 40; y < 60; y++ {
		for x := range 20 {
			f.Floats[y*width+x], f.Floats[y*width+width-20+x] = 60, 8
		}
	}
	file := fileOf(chlName, f.Encode())
	west, east := Lake{ID: "west", Point: orb.Point{179.9925, 0.0025}, WaterID: "water"}, Lake{ID: "east", Point: orb.Point{-179.9925, 0.0025}, WaterID: "water"}
	outlined := squareLake(t, "outlined", 179.8, -0.1, 180.2, 0.1)
	outlined.WaterID = "water"
	for _, first := range []data.LakeID{"outlined", "west", "east"} {
		lakes := []Lake{west, east}
		if first == "outlined" {
			lakes = append(lakes, outlined)
		} else { // the one with the smaller id is the first
			lakes[map[data.LakeID]int{"west": 0, "east": 1}[first]].ID = "a_" + first
		}
		rows, summary := extractAll(t, file, lakes, nil)
		if len(rows) != len(lakes) {
			t.Errorf("first %s: %d rows, and the summary is %+v", first, len(rows), summary)
		}
		for id, r := range rows {
			if want := map[bool]float64{true: 60, false: 8}[strings.HasSuffix(string(id), "east")]; id != "outlined" && (r.Value != want || !strings.Contains(r.Method, methodNear)) {
				t.Errorf("first %s: %s is %+v, want %v", first, id, r, want)
			}
		}
	}
}

func near60(chl float64, ok bool) bool { return ok && chl > 58 && chl < 62 }
