package satellite

import (
	"fmt"
	"math"
	"testing"

	"github.com/paulmach/orb"

	"limnomap/data/diskspace"
	"limnomap/data/pixels"
)

// pixelFile shows a lake of 10 x 10 pixels with a cloud in its first row, clean water in its second, and values that rise to the east below.
func pixelFile(name string, add float64) File {
	const cloud = -9999
	f := chlRaster(30, 30, func(x, y int) float64 {
		switch y {
		case 0:
			return cloud
		case 1:
			return -0.5
		}
		return add + float64(x) + float64(y)/10
	})
	return fileOf(name, f.Encode())
}

// valueAt returns what the pixels of a row show at a pixel of chlRaster.
func valueAt(t *testing.T, p *pixels.Packed, x, y int) string {
	t.Helper()
	m, err := p.Unpack()
	if err != nil {
		t.Fatal(err)
	}
	_, _, code, ok := m.At(orb.Point{10 + (float64(x)+0.5)*step, 50 - (float64(y)+0.5)*step})
	if !ok {
		return "outside"
	}
	chl, ok := code.Value()
	if !ok {
		return fmt.Sprintf("code %d", code)
	}
	return fmt.Sprintf("%.1f", chl)
}

// The pixels of a row are those of the file of which its value was made, also after the rows were moved to a file.
func TestPixelsOfRows(t *testing.T) {
	lakes := []Lake{blockLake(t, "b", 12, 0, 22, 10), blockLake(t, "a", 0, 0, 10, 10), {ID: "grown", Point: orb.Point{10.255, 49.855}}, blockLake(t, "cloud", 23, 0, 28, 1)}
	near := func(got string, want float64) bool {
		var f float64
		_, err := fmt.Sscan(got, &f)
		return err == nil && math.Abs(f-want) <= want*0.0101+0.05
	}
	temp, err := diskspace.CreateTemp("limnomap-test-*")
	if err != nil {
		t.Fatal(err)
	}
	defer temp.Close()
	var files []*Values
	end := int64(0)
	for i, name := range []string{"chl_2025-07-01.tif", "chl_2025-07-08.tif", "tile2_chl_2025-07-01.tif"} {
		v, err := Collect(t.Context(), pixelFile(name, float64(10*i)), lakes, &Options{Shore: FixedShore(0)})
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			if end, err = v.MoveTo(temp, end); err != nil {
				t.Fatal(err)
			}
		}
		files = append(files, v)
	}
	if _, err := KeepBest(t.Context(), files); err != nil {
		t.Fatal(err)
	}
	rows := map[string]*pixels.Packed{}
	for i, v := range files {
		for o, err := range v.Observations() {
			if err != nil {
				t.Fatal(err)
			}
			rows[fmt.Sprint(o.LakeID, i)] = o.Pixels
		}
	}
	for _, test := range []struct {
		row  string
		x, y int
		want float64
	}{{"a1", 3, 5, 13.5}, {"a2", 3, 5, 23.5}, {"b1", 15, 9, 25.9}, {"b2", 15, 9, 35.9}, {"a1", 0, 2, 10.2}, {"grown1", 25, 14, 36.4}, {"a1", 9, 1, 0}} {
		if rows[test.row] == nil {
			t.Errorf("%s has no pixels", test.row)
		} else if got := valueAt(t, rows[test.row], test.x, test.y); !near(got, test.want) {
			t.Errorf("%s: pixel %d, %d is %s, want %.1f", test.row, test.x, test.y, got, test.want)
		}
	}
	if rows["a1"] != nil {
		if got := valueAt(t, rows["a1"], 4, 0); got != fmt.Sprintf("code %d", pixels.NoData) {
			t.Errorf("a pixel with a cloud is %s", got)
		}
		if got := valueAt(t, rows["a1"], 10, 5); got != "outside" {
			t.Errorf("a pixel beside the lake is %s", got)
		}
		if string(rows["a1"].Mask) != string(rows["a2"].Mask) {
			t.Error("the masks of two dates differ")
		}
	}
	if p, ok := rows["cloud1"]; p != nil || !ok {
		t.Errorf("a lake below a cloud has a row (%t) with the pixels %v, want none", ok, p)
	}
	if _, ok := rows["a0"]; ok {
		t.Error("the worse row of two files counts")
	}
	for o, err := range func() *Values {
		v, err := Collect(t.Context(), pixelFile(chlName, 0), lakes, &Options{WithoutPixels: true})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}().Observations() {
		if err != nil || o.Pixels != nil {
			t.Errorf("%s has pixels, or %v", o.LakeID, err)
		}
	}
}
