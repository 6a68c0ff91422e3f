package satellite

import (
	"testing"

	"limnomap/data"
)

func TestDateInName(t *testing.T) {
	for _, test := range []struct{ name, want string }{
		{"c_gls_LWQ300_202509010000_GLOBE_OLCI_V2.1.1.nc", "2025-09-10"},
		{"c_gls_LWQ300_202509110000_GLOBE_OLCI_V2.1.1.nc", "2025-09-20"},
		{"c_gls_LWQ300_202509210000_GLOBE_OLCI_V2.1.1.nc", "2025-09-30"},
		{"c_gls_LWQ300_202402210000_GLOBE_OLCI_V2.1.1.nc", "2024-02-29"},
		{"c_gls_LWQ100_201912210000_GLOBE_MSI_V1.2.0.nc", "2019-12-31"},
		{"ESACCI-LAKES-L3S-LK_PRODUCTS-MERGED-20200801-fv2.1.0.nc", "2020-08-01"},
		{"L20202012020207.L3m_7D_CYAN_CI_cyano_CYAN_CONUS_300m_5_2.tif", "2020-07-25"},
		{"L2020366.L3m_DAY_CYAN_CI_cyano_CYAN_CONUS_300m_5_2.tif", "2020-12-31"},
		{"L2021366.L3m_DAY_CYAN_CI_cyano_CYAN_CONUS_300m_5_2.tif", ""}, // 2021 has 365 days
		{"sentinel-3a.2019200.0719.1543C.L3.LE3.v930seadasv7521_1_2.CIcyano.tif", "2019-07-19"},
		{"S2A_MSI_2021_04_01_11_06_52_T31UDS_L2W.nc", "2021-04-01"},
		{"S3A_OL_2_WFR____20250701T093000_20250701T093300_x.nc", "2025-07-01"},
		{"chl_2025-07-01.tif", "2025-07-01"},
		{"20250701.tif", "2025-07-01"},
		{"chl_20250701_20250707.tif", "2025-07-07"},
		{"S2A_MSIL2A_20250701T103031_N0511_R108_T32TPT_20250702T005301.tif", "2025-07-01"},
		{"chl_20250701_20250901.tif", "2025-07-01"}, // too long for one value
		{"chl.tif", ""},
		{"tile_99999999.tif", ""},
		{"tile_12345678_20250701.tif", "2025-07-01"},
	} {
		want := ""
		if got, ok := DateInName(test.name); ok {
			want = got.String()
		}
		if want != test.want {
			t.Errorf("DateInName(%q) = %q, want %q", test.name, want, test.want)
		}
	}
}

// The CyAN weeks run from Sunday to Saturday.
func TestWeekOfCyANEndsOnSaturday(t *testing.T) {
	d, _ := DateInName("L20202012020207.L3m_7D_CYAN_CI_cyano_CYAN_CONUS_300m_5_2.tif")
	if got := d.Time().Weekday().String(); got != "Saturday" {
		t.Errorf("the date of a week is a %s, want a Saturday", got)
	}
}

func TestLastOfDekad(t *testing.T) {
	day, _ := data.ParseDate("2025-09-05")
	if got := lastOfDekad(day); got != day {
		t.Errorf("lastOfDekad(%s) = %s: want a day that begins no dekad unchanged", day, got)
	}
}
