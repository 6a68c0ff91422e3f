package satellite

import "testing"

func TestOfSource(t *testing.T) {
	for _, test := range []struct {
		source string
		want   ProductID
	}{
		{"Copernicus LWQ300", LWQ},
		{"Copernicus LWQ100", LWQ},
		{"Copernicus LWQ", LWQ},
		{"ESA Lakes CCI", LakesCCI},
		{"EPA CyAN V6", CyAN},
		{"EPA CyAN V1", CyANv1},
		{"EPA CyANide", ""},
		{"NOAA CI", NOAACI},
		{"NOAA CIRCLE", ""},
		{"Landeslabor", ""},
		{"", ""},
	} {
		got, ok := OfSource(test.source)
		if got.ID != test.want || ok != (test.want != "") {
			t.Errorf("OfSource(%q) = %q, %v, want %q", test.source, got.ID, ok, test.want)
		}
	}
}

func TestProductOf(t *testing.T) {
	for _, p := range Products() {
		if got, err := ProductOf(p.ID); err != nil || got != p {
			t.Errorf("ProductOf(%q) = %v, %v", p.ID, got, err)
		}
	}
	if _, err := ProductOf("modis"); err == nil || err.Error() != `product "modis": want one of lwq, lakes-cci, cyan, cyan-v1, noaa-ci, chl` {
		t.Errorf("an unknown product gives %v", err)
	}
}
