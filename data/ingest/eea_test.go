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
