package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

func TestCreditsOf(t *testing.T) {
	const (
		copernicus = "European Union's Copernicus Land Monitoring Service information"
		cyan       = "Cyanobacteria Assessment Network (CyAN) of US EPA, NASA, NOAA and USGS"
		noaa       = "NOAA National Centers for Coastal Ocean Science"
	)
	for _, test := range []struct {
		name    string
		sources []string
		want    []string
	}{
		{"none", nil, nil},
		{"no product", []string{"", "ACOLITE", "chlorophyll raster", "Landeslabor"}, nil},
		{"in the order of the products", []string{"NOAA CI", "EPA CyAN V6", "Copernicus LWQ300"}, []string{copernicus, cyan, noaa}},
		{"one line for several sources and products", []string{"Copernicus LWQ100", "Copernicus LWQ300", "EPA CyAN V1", "EPA CyAN V5"}, []string{copernicus, cyan}},
	} {
		var got []string
		for _, credit := range creditsOf(test.sources) {
			got = append(got, credit.Text)
			if credit.URL == "" {
				t.Errorf("%s: %s has no address", test.name, credit.Text)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// An exported map names the providers of its data, each once.
func TestExportAttributionNamesProviders(t *testing.T) {
	db := filepath.Join(t.TempDir(), "lakes.db")
	mustRun(t, "import", "lakes", "--db", db, limnomaptest.WriteFile(t, t.TempDir(), "rows.csv", "id,name,lat,lon,region\na,Asee,52.5,13.4,Berlin\n"))
	mustRun(t, "import", "observations", "--db", db, limnomaptest.WriteFile(t, t.TempDir(), "rows.csv", "lake_id,date,chl,data_type,source\na,2026-06-01,20,satellite,EPA CyAN V6\na,2026-06-01,22,satellite,Copernicus LWQ300\na,2026-06-02,21,in_situ,Labor\n"))
	const copernicus, cyan = "European Union's Copernicus Land Monitoring Service information", "Cyanobacteria Assessment Network (CyAN) of US EPA, NASA, NOAA and USGS"
	for attribution, want := range map[string]string{
		"":                           copernicus + " | " + cyan,
		"Lake Office":                "Lake Office | " + copernicus + " | " + cyan,
		"With data of " + copernicus: "With data of " + copernicus + " | " + cyan,
	} {
		content, err := os.ReadFile(filepath.Join(exportTo(t, db, "map/", "--attribution", attribution), "tiles.json"))
		mustDo(t, err)
		var meta struct{ Attribution string }
		if err := json.Unmarshal(content, &meta); err != nil || meta.Attribution != want {
			t.Errorf("with --attribution %q an archive has the attribution %q, want %q: %v", attribution, meta.Attribution, want, err)
		}
	}
}
