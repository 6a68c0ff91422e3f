package ingest

import (
	"slices"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"limnomap/data"
	"limnomap/data/store/storetest"
)

// The EEA's list with its columns, categories and quality class, which is about bacteria, not about algae.
func TestEEAList(t *testing.T) {
	const list = "bathingWaterIdentifier,bathingWaterName,countryCode,bwWaterCategory,longitude,latitude,qualityStatus,chl\n" +
		"DEBE_PR_0020,MÜGGELSEE,DE,Lake,13.65,52.44,Excellent,\n" +
		"DEBE_PR_0001,HAVEL,DE,riverBathingWater,13.1,52.5,Poor,\n" +
		"FRP01000001,PLAGE,FR,Coastal,-2,48.6,Excellent,\n" +
		"FRP01000002,ESTUAIRE,FR,transitionalBathingWater,-2,48.6,,\n" +
		"CHX1,ZÜRICHSEE,CH,,8.5,47.3,,\n"
	s := storetest.New(t)
	r := mustImport(t, Lakes, s, nil, list)
	if r.Read != 5 || r.Added != 3 || r.LeftOut != 2 || r.Rejected != 0 || !slices.Equal(r.Ignored, []string{"qualityStatus", "chl"}) {
		t.Errorf("report = %+v, want 3 of 5 added, 2 left out", r)
	}
	if want := "2 rows left out: coastal and transitional waters"; !strings.Contains(r.String(), want) {
		t.Errorf("report %q lacks %q", r, want)
	}
	lakes, observations := stored(t, s)
	muggelsee := data.Lake{ID: "DEBE_PR_0020", ExternalID: "DEBE_PR_0020", Name: "MÜGGELSEE", Point: orb.Point{13.65, 52.44}, Region: "DE"}
	if len(lakes) != 3 || lakes[2] != muggelsee || len(observations) != 0 {
		t.Errorf("stored %+v and %v, want %+v last and no observation", lakes, observations, muggelsee)
	}
	if r := mustImport(t, Lakes, s, nil, strings.Replace(list, ",Lake,", ",Puddle,", 1)); r.Rejected != 1 || r.LeftOut != 0 ||
		!strings.Contains(r.Bad[0].Reason, `bwWaterCategory "Puddle": want Lake, River, Coastal or Transitional`) {
		t.Errorf("an unknown category: %+v, want it rejected", r)
	}
	// As GeoJSON, from the EEA's map service.
	r = mustImport(t, Lakes, storetest.New(t), nil, features(
		featureOf(`"bathingWaterIdentifier":"a","bathingWaterName":"A","bwWaterCategory":"Lake"`, `{"type":"Point","coordinates":[10,50]}`),
		featureOf(`"bathingWaterIdentifier":"b","bathingWaterName":"B","bwWaterCategory":"Coastal"`, `{"type":"Point","coordinates":[10,50]}`)))
	if r.Added != 1 || r.LeftOut != 1 {
		t.Errorf("GeoJSON: %+v, want one added and one left out", r)
	}
}

// The lists of 2021 and of 2025, with other names of columns, and with a row for each season in the latter.
func TestEEASeasons(t *testing.T) {
	const header = "countryCode,bathingWaterIdentifier,groupIdentifier,bathingWaterName,bathingWaterType,geographicalConstraint,lon,lat,bwProfile,season,quality\n"
	rows := []string{
		"IT,ITX1,,STRAND,coastalBathingWater,FALSE,12.56,44.06,,2024,1 - Excellent\n",
		"IT,ITX1,,STRAND,coastalBathingWater,FALSE,12.56,44.06,,2025,1 - Excellent\n",
		"IT,ITX2,,SEE,lakeBathingWater,FALSE,10.7001,45.6001,,2023,2 - Good\n",
		"IT,ITX2,,NEUER SEE,lakeBathingWater,FALSE,10.7003,45.6001,,2025,1 - Excellent\n",
		"IT,ITX2,,SEE,lakeBathingWater,FALSE,10.7002,45.6001,,2024,2 - Good\n",
		"IT,ITX3,,NUR 2019,lakeBathingWater,FALSE,10.8,45.6,,2019,2 - Good\n",
		"IT,ITX4,,FLUSS,riverBathingWater,FALSE,10.9,45.6,,2025,2 - Good\n",
	}
	for _, reversed := range []bool{false, true} {
		if reversed {
			slices.Reverse(rows)
		}
		s := storetest.New(t)
		// Also if the rows are in two files.
		r := mustImport(t, Lakes, s, nil, header+strings.Join(rows[:4], ""), header+strings.Join(rows[4:], ""))
		lakes, _ := stored(t, s)
		if r.Added != 3 || r.LeftOut != 4 || len(lakes) != 3 || lakes[0].Name != "NEUER SEE" || lakes[0].Point.Lon() != 10.7003 || lakes[0].Region != "IT" {
			t.Errorf("stored %v, %v, want three lakes, and that of the newest season", lakes, r)
		}
		if again := mustImport(t, Lakes, s, nil, header+strings.Join(rows, "")); again.Unchanged != 3 || again.LeftOut != 4 {
			t.Errorf("again: %v", again)
		}
	}
	if r := mustImport(t, Lakes, storetest.New(t), nil, header+rows[0]); !r.Written && r.Rejected > 0 {
		t.Errorf("a coast: %v", r)
	}
	season := func(year, name string) string {
		return featureOf(`"bathingWaterIdentifier":"a","bathingWaterName":"`+name+`","bathingWaterType":"lakeBathingWater","season":`+year, pointGeometry)
	}
	if r := mustImport(t, Lakes, storetest.New(t), nil, features(season("2025", "Neu"), season("2024", "Alt"))); r.Added != 1 || r.LeftOut != 1 {
		t.Errorf("GeoJSON: %v", r)
	}
	// Two rows of one season that differ are a contradiction.
	if r := mustImport(t, Lakes, storetest.New(t), nil, header+"IT,ITX2,,A,lakeBathingWater,,10,45,,2025,\nIT,ITX2,,B,lakeBathingWater,,10,45,,2025,\n"); r.Rejected != 1 {
		t.Errorf("two rows of one season: %v", r)
	}
	// Another column season is no year.
	if r := mustImport(t, Lakes, storetest.New(t), nil, "id,name,lat,lon,season\na,A,50,10,summer\nb,B,50,10,\n"); r.Added != 2 {
		t.Errorf("seasons that are no years: %v", r)
	}
	const list2021 = "countryCode,bathingWaterIdentifier,groupIdentifier,nameText,specialisedZoneType,geographicalConstraint,lon,lat,bwProfileUrl,quality2021\n" +
		"DE,DEBE_PR_0020,,MÜGGELSEE,lakeBathingWater,FALSE,13.65,52.44,,1 - Excellent\nDE,DEX,,STRAND,coastalBathingWater,FALSE,13.65,54.44,,1 - Excellent\n"
	s := storetest.New(t)
	r := mustImport(t, Lakes, s, nil, list2021)
	if lakes, _ := stored(t, s); r.Added != 1 || r.LeftOut != 1 || lakes[0].Name != "MÜGGELSEE" {
		t.Errorf("2021: %v, %v", r, lakes)
	}
	// The names of columns to map may have capital letters.
	if r := mustImport(t, Lakes, storetest.New(t), &Options{Map: Mapping{"bwWaterCategory": "Art"}, Set: Mapping{"Region": "X"}}, "id,name,lat,lon,art\na,A,50,10,Coastal\nb,B,50,10,Lake\n"); r.Added != 1 || r.LeftOut != 1 {
		t.Errorf("a mapped category: %v", r)
	}
	parsed, err := ParseMapping("bwWaterCategory=Art,Location_Type=Typ")
	if err != nil {
		t.Fatal(err)
	}
	if r := mustImport(t, Lakes, storetest.New(t), &Options{Map: parsed}, "id,name,lat,lon,art,typ\na,A,50,10,Coastal,Lake\nb,B,50,10,Lake,Lake\n"); r.Added != 1 || r.LeftOut != 1 {
		t.Errorf("a parsed mapping: %v", r)
	}
}

// NA is a word where words are: a code of a country or a region. --null says otherwise.
func TestNAIsAWord(t *testing.T) {
	for _, text := range []string{
		"id,name,lat,lon,region\na,NA,-22,17,NA\n",
		"id,name,lat,lon,region\na,\"NA\",-22,17,\"NA\"\n",
		features(featureOf(`"id":"a","name":"NA","region":"NA"`, `{"type":"Point","coordinates":[17,-22]}`)),
	} {
		s := storetest.New(t)
		mustImport(t, Lakes, s, nil, text)
		if lakes, _ := stored(t, s); len(lakes) != 1 || lakes[0].Name != "NA" || lakes[0].Region != "NA" {
			t.Errorf("of %.50q: stored %v", text, lakes)
		}
	}
	s := storetest.New(t)
	mustImport(t, Lakes, s, &Options{Table: TableFormat{Null: []string{"NA"}}}, "id,name,lat,lon,region\na,A,-22,17,NA\n")
	if lakes, _ := stored(t, s); len(lakes) != 1 || lakes[0].Region != "" {
		t.Errorf("with NA as a word for no value: stored %v", lakes)
	}
	mustImport(t, Observations, s, nil, "lake_id,date,chl,data_type,source,method,version,quality\na,2025-07-01,3,in_situ,NA,NA,NA,NA\n")
	if _, o := stored(t, s); len(o) != 1 || o[0].Source != "NA" || o[0].Details.Method != "NA" || o[0].Details.Version != "NA" || o[0].Quality != 0 {
		t.Errorf("stored %+v", o)
	}
}

func TestNamelessLakes(t *testing.T) {
	for _, text := range []string{
		"id,name,lat,lon\n8704,,50,10\n35,Demo,50,11\n",
		"id,name,lat,lon\n8704,-,50,10\n35,Demo,50,11\n",
		features(featureOf(`"id":8704,"name":""`, pointGeometry), featureOf(`"id":35,"name":"Demo"`, pointGeometry)),
		features(featureOf(`"id":8704,"name":null`, pointGeometry), featureOf(`"id":35,"name":"Demo"`, pointGeometry)),
		features(featureOf(`"id":8704,"natural":"water"`, pointGeometry), featureOf(`"id":35,"name":"Demo"`, pointGeometry)), // as of OpenStreetMap
	} {
		s := storetest.New(t)
		r := mustImport(t, Lakes, s, nil, text)
		if lakes, _ := stored(t, s); r.Added != 2 || len(lakes) != 2 || lakes[0].Name != "Demo" || lakes[1].Name != "8704" {
			t.Errorf("of %.50q: stored %v, %v", text, lakes, r)
		}
	}
	// If no lake has a name, a column most likely has another one.
	for _, text := range []string{"id,bezeichnung,lat,lon\n8704,X,50,10\n", features(featureOf(`"id":8704,"bezeichnung":"X"`, pointGeometry))} {
		if r, err := Lakes(t.Context(), storetest.New(t), files(text), nil); err == nil || !strings.Contains(err.Error(), "name") || !strings.Contains(err.Error(), `"bezeichnung"`) {
			t.Errorf("%v, %v, want the name missing", r, err)
		}
	}
}

func TestNullWords(t *testing.T) {
	got, r, err := observe(t, Options{Table: TableFormat{Null: []string{"-9999", "ND", "kein Wert"}}}, "lake_id,date,chl,data_type,who_level\nx,2025-07-01,-9999,satellite,\nx,2025-07-02,kein Wert,satellite,\nx,2025-07-03,7,satellite,ND\nx,2025-07-04,NA,satellite,\n")
	if err != nil || len(got) != 4 || got[1].Chlorophyll != 7_00 || got[1].Level != data.NoLevel || got[0].Chlorophyll.Valid() || got[2].Chlorophyll.Valid() || got[3].Chlorophyll.Valid() {
		t.Errorf("stored %v, %v, %v", got, r, err)
	}
	if err := (TableFormat{Null: []string{" "}}).Check(); err == nil {
		t.Error("an empty word is allowed")
	}
	s := storetest.New(t)
	if r := mustImport(t, Lakes, s, &Options{Table: TableFormat{Null: []string{"-9999"}}}, features(featureOf(`"id":"a","name":"A","area_km2":-9999`, pointGeometry))); r.Added != 1 {
		t.Errorf("GeoJSON: %v", r)
	}
}
