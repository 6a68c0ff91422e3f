package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/data/ingest/satellite/satellitetest"
)

// The sites of a water have the values of the pixels near them, and the pixels and shares of all of it; one in a bloom is told which shores were clearer.
func TestSitesFromFileToClient(t *testing.T) {
	const width, height, step = 60, 40, 1. / 360
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	at := func(column, row float64) string { return fmt.Sprintf("[%f,%f]", 10+step*column, 50-step*row) }
	site := func(id, name, kind, coordinates string) string {
		return fmt.Sprintf(`{"type":"Feature","properties":{"id":%q,"name":%q,"water_id":"DE_w1"},"geometry":{"type":%q,"coordinates":%s}}`, id, name, kind, coordinates)
	}
	shore := "[[" + at(4.95, 35.05) + "," + at(55.05, 35.05) + "," + at(55.05, 4.95) + "," + at(4.95, 4.95) + "," + at(4.95, 35.05) + "]]"
	lakes := `{"type":"FeatureCollection","features":[` + site("lake", "Großer See", "Polygon", shore) + "," + site("east", "Ostbad", "Point", at(54.5, 20.5)) + "," +
		site("west", "Westbad", "Point", at(5.5, 20.5)) + `,{"type":"Feature","properties":{"id":"other","name":"Anderer See"},"geometry":{"type":"Point","coordinates":[11,50]}}]}`
	limnomaptest.Run(t, "import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.geojson", lakes), "--db", db)
	args := []string{"import", "rasters", "--db", db, "--keep-pixels", "20y"}
	for _, date := range []string{"2026-03-10", "2026-04-07", "2026-05-05", "2026-06-02", "2026-06-09", "2026-06-16", "2026-06-23", "2026-06-30", "2026-07-07"} {
		f := satellitetest.TIFF{Width: width, Height: height, X0: 10, Y0: 50, Step: step, Unit: "mg m-3", NoData: "-9999"}
		for range height {
			for x := range width {
				v := float32(4)
				if x >= 32 {
					v = 80
				}
				f.Floats = append(f.Floats, v)
			}
		}
		args = append(args, limnomaptest.WriteFile(t, dir, "chl_"+date+".tif", string(f.Encode())))
	}
	limnomaptest.Run(t, args...)
	s := limnomaptest.Start(t, "--db", db, "--as-of", "2026-07-10")

	var status struct {
		Lakes []struct {
			ID, Water_id string
			Chl          *float64
			Share_high   float64
			N_inside     int
		}
	}
	for _, query := range []string{"", "?date=2026-06-17"} {
		limnomaptest.GetJSON(t, s.Base+"/api/v1/bathing-lakes/status"+query, &status)
		if len(status.Lakes) != 4 {
			t.Fatalf("%d lakes", len(status.Lakes))
		}
		for _, lake := range status.Lakes {
			value, known := map[string]float64{"east": 80, "west": 4, "lake": 4}[lake.ID]
			if known != (lake.Chl != nil) || known && (*lake.Chl != value || lake.Water_id != "DE_w1" || lake.Share_high < 0.4 || lake.Share_high > 0.48 || lake.N_inside != 46*26) || !known && lake.Water_id != "" {
				t.Errorf("the status%s is %+v, want %v and the shares of the whole lake", query, lake, value)
			}
		}
	}
	var pictures [][]byte
	for _, id := range []string{"lake", "east", "west"} {
		_, body := limnomaptest.Get(t, s.Base+"/api/v1/bathing-lakes/pixels/"+id+"?f=csv")
		if lines := bytes.Split(body, []byte("\r\n")); len(lines) != 46*26+2 || !bytes.HasPrefix(lines[1], []byte("lake,2026-07-07,")) {
			t.Errorf("%s: the table has %d lines: %.200s", id, len(lines), body)
		}
		resp, body := limnomaptest.Get(t, s.Base+"/api/v1/bathing-lakes/pixels/"+id+"?f=png")
		if resp.StatusCode != 200 {
			t.Fatalf("%s: the picture: %s: %.200s", id, resp.Status, body)
		}
		pictures = append(pictures, body)
		if _, body := limnomaptest.Get(t, s.Base+"/api/v1/bathing-lakes/statistics/"+id+".csv"); !bytes.Contains(body, []byte(id+",satellite,2026,9,")) || !bytes.Contains(body, []byte(",0.4565,")) {
			t.Errorf("%s: the statistics have no shares: %s", id, body)
		}
	}
	if !bytes.Equal(pictures[0], pictures[1]) || !bytes.Equal(pictures[0], pictures[2]) {
		t.Error("the pictures of the sites differ")
	}
	for id, want := range map[string]string{"east": `"water":{"water_id":"DE_w1","sites":3,"clearer":[{"id":"west","name":"Westbad","passes":5}]}}`,
		"west": `"water":{"water_id":"DE_w1","sites":3,"clearer":[]}}`, "lake": `"water":{"water_id":"DE_w1","sites":3,"clearer":[]}}`} {
		_, body := limnomaptest.Get(t, s.Base+"/api/v1/bathing-lakes/history/"+id)
		if !bytes.Contains(body, []byte(want)) || !bytes.Contains(body, []byte(`"share_high":0.4`)) {
			t.Errorf("the history of %s has no %s, or no shares: %s", id, want, body)
		}
	}
	if _, body := limnomaptest.Get(t, s.Base+"/api/v1/bathing-lakes/history/other"); bytes.Contains(body, []byte(`"water"`)) {
		t.Errorf("the history of a lake without other sites is %s", body)
	}
	for language, want := range map[string][2]string{"en": {"At this shore: the value above. In the whole lake:", "Clearer shores in the last passes of the satellite: "},
		"de": {"An diesem Ufer: der Wert oben. Im ganzen See:", "Klarere Ufer bei den letzten Überflügen des Satelliten: "}} {
		_, body := limnomaptest.Get(t, s.Base+"/lakes/east?lang="+language)
		if !bytes.Contains(body, []byte(want[0])) || !bytes.Contains(body, []byte(want[1])) || !bytes.Contains(body, []byte("Westbad")) {
			t.Errorf("the page in %s does not say %q: %s", language, want, body)
		}
	}
	if _, body := limnomaptest.Get(t, s.Base+"/lakes/west?lang=en"); !bytes.Contains(body, []byte("In the whole lake:")) || bytes.Contains(body, []byte("Clearer shores")) {
		t.Errorf("the page of the clear shore: %s", body)
	}
}
