package satellite

import (
	"strings"
	"testing"
)

func TestReadName(t *testing.T) {
	for _, test := range []struct{ name, want string }{
		{"c_gls_LWQ300_202509010000_GLOBE_OLCI_V2.1.1.nc", "2025-09-01 to 2025-09-10"}, {"c_gls_LWQ300_202509110000_GLOBE_OLCI_V2.1.1.nc", "2025-09-11 to 2025-09-20"},
		{"c_gls_LWQ300_202509210000_GLOBE_OLCI_V2.1.1.nc", "2025-09-21 to 2025-09-30"}, {"c_gls_LWQ300_202402210000_GLOBE_OLCI_V2.1.1.nc", "2024-02-21 to 2024-02-29"},
		{"c_gls_LWQ300_202509050000_GLOBE_OLCI_V2.1.1.nc", "2025-09-05"}, // begins no dekad
		{"c_gls_LWQ100_201912210000_GLOBE_MSI_V1.2.0.nc", "2019-12-21 to 2019-12-31"}, {"ESACCI-LAKES-L3S-LK_PRODUCTS-MERGED-20200801-fv2.1.0.nc", "a day: 2020-08-01"},

		// NASA, before 2020 and since.
		{"AQUA_MODIS.20200712.L3m.DAY.CHL.chlor_a.4km.nc", "2020-07-12"}, {"AQUA_MODIS.20200701_20200731.L3m.MO.CHL.chlor_a.4km.nc", "2020-07-01 to 2020-07-31"},
		{"AQUA_MODIS.20200704_20200711.L3m.8D.CHL.chlor_a.9km.nc", "2020-07-04 to 2020-07-11"},
		{"SNPP_VIIRS.20200602_20200703.L3m.R32.CHL.chlor_a.9km.nc", "2020-06-02 to 2020-07-03"}, {"PACE_OCI.20240601T101112.L2.OC_BGC.V2_0.NRT.nc", "a day: 2024-06-01"},
		{"A2020194.L3m_DAY_CHL_chlor_a_4km.nc", "2020-07-12"}, {"A20201532020182.L3m_MO_CHL_chlor_a_4km.nc", "2020-06-01 to 2020-06-30"},
		{"A20201852020192.L3m_8D_CHL_chlor_a_9km.nc", "2020-07-03 to 2020-07-10"}, {"S3A_OLCI_EFRNT.2023050720230507.chlor_a-mean.smi.nc", "2023-05-07"},
		{"MOD09.A2021186.h18v03.006.2021188041234.tif", "a day: 2021-07-05"},

		// Ocean Colour CCI.
		{"ESACCI-OC-L3S-CHLOR_A-MERGED-1M_MONTHLY_4km_GEO_PML_OCx-202201-fv6.0.nc", "2022-01-01 to 2022-01-31"},
		{"ESACCI-OC-L3S-CHLOR_A-MERGED-8D_DAILY_4km_GEO_PML_OCx-20220101-fv6.0.nc", "2022-01-01 to 2022-01-08"},
		{"ESACCI-OC-L3S-CHLOR_A-MERGED-8D_DAILY_4km_GEO_PML_OCx-20221227-fv6.0.nc", "2022-12-27 to 2022-12-31"}, // the last of a year
		{"ESACCI-OC-L3S-CHLOR_A-MERGED-8D_DAILY_4km_GEO_PML_OCx-20220101-20220108-fv6.0.nc", "2022-01-01 to 2022-01-08"},
		{"ESACCI-OC-L3S-CHLOR_A-MERGED-5D_DAILY_4km_GEO_PML_OCx-20220101-fv6.0.nc", "2022-01-01 to 2022-01-05"},
		{"ESACCI-OC-L3S-CHLOR_A-MERGED-1D_DAILY_4km_GEO_PML_OCx-20220105-fv6.0.nc", "2022-01-05"},

		// CyAN: weeks begin on a Sunday.
		{"L20202012020207.L3m_7D_CYAN_CI_cyano_CYAN_CONUS_300m_5_2.tif", "2020-07-19 to 2020-07-25"},
		{"L20161292016135.L3m_7D_CYAN_CI_cyano_CYAN_CONUS_300m.tif", "2016-05-08 to 2016-05-14"},
		{"L20221602022166.L3m_7D_CYANV6T_CI_cyano_CYAN_CONUS_300m.tif", "2022-06-09 to 2022-06-15"},
		{"M20120922012098.L3m_7D_CYAN_CI_cyano_CYAN_CONUS_300m_5_3.tif", "2012-04-01 to 2012-04-07"},
		{"L20203602021001.L3m_7D_CYAN_CI_cyano_CYAN_CONUS_300m.tif", "2020-12-25 to 2021-01-01"},
		{"L2016129.L3m_7D_CYAN_CI_cyano_CYAN_CONUS_300m.tif", "2016-05-08 to 2016-05-14"},
		{"L20161222016152.L3m_MO_CYAN_CI_cyano_CYAN_CONUS_300m.tif", "2016-05-01 to 2016-05-31"}, {"L2020366.L3m_DAY_CYAN_CI_cyano_CYAN_CONUS_300m_5_2.tif", "2020-12-31"},
		{"L2021366.L3m_DAY_CYAN_CI_cyano_CYAN_CONUS_300m_5_2.tif", "nothing"}, // 2021 has 365 days
		{"S3A_OLCI_EFRNT.20160424.L3m.7D.CYAN.CI_cyano.CYAN_CONUS.300m.tif", "2016-04-24 to 2016-04-30"},
		{"S3B_OLCI_EFRNT.20160430.L3m.7D.CYAN.CI_cyano.CYAN_CONUS.300m_1_1.tif", "2016-04-24 to 2016-04-30"}, // named for its last day
		{"S3A_OLCI_EFRNT.20160424_20160430.L3m.7D.CYAN.CI_cyano.CYAN_CONUS.300m.tif", "2016-04-24 to 2016-04-30"},
		{"S3A_OLCI_EFRNT.20160401.L3m.MO.CYAN.CI_cyano.CYAN_CONUS.300m.tif", "2016-04-01 to 2016-04-30"},
		{"S3A_OLCI_EFRNT.20260801.L3m.DAY.CYAN.CI_cyano.CYAN_CONUS.300m_1_1.tif", "2026-08-01"},

		// NOAA.
		{"ts_2018.0812_0818.tif", "2018-08-12 to 2018-08-18"}, {"ts_2016.1007_1013.L4.LCHMP3.CIcyano.MAXIMUM_7day.tif", "2016-10-07 to 2016-10-13"},
		{"sentinel-3.2018.0812_0818.L4.LE3.CIcyano.tif", "2018-08-12 to 2018-08-18"}, {"ts_2018.1228_0103.L4.LE3.CIcyano.MAXIMUM_7day.tif", "2018-12-28 to 2019-01-03"},
		{"ts_2018.0812.L3.LE3.CIcyano.tif", "a day: 2018-08-12"},
		{"ts_2018.0812_1818.tif", "a day: 2018-08-12"}, // no month has the number 18
		{"sentinel-3a.2019200.0719.1543C.L3.LE3.v930seadasv7521_1_2.CIcyano.tif", "a day: 2019-07-19"},

		// Landsat: the day of the scene, then that of its processing.
		{"LC08_L2SP_193023_20200708_20200912_02_T1_chl.tif", "2020-07-08"}, {"LC09_L1TP_193023_20220708_20220721_02_T1.tif", "2022-07-08"},
		{"chl_LC08_L1TP_193023_20200708_20200710_01_RT.tif", "2020-07-08"}, {"L8_OLI_2020_07_08_10_02_30_193023_L2W.nc", "a day: 2020-07-08"},

		// Sentinel: the begin and the end of a scene, and its processing.
		{"S3A_OL_2_WFR____20250701T093000_20250701T093300_20250702T181255_0179_127_307_2160_MAR_O_NT_003.nc", "a day: 2025-07-01"},
		{"S3A_OL_2_WFR____20250701T093000_20250701T093300_x.nc", "a day: 2025-07-01"},
		{"S3A_SY_2_V10____20250701T000000_20250711T000000_20250712T034529_EUROPE.nc", "2025-07-01 to 2025-07-10"},
		{"S2A_MSIL2A_20250701T103031_N0511_R108_T32TPT_20250702T005301.tif", "a day: 2025-07-01"}, {"S2A_MSI_2021_04_01_11_06_52_T31UDS_L2W.nc", "a day: 2021-04-01"},
		{"scene_20250701T093000_20250715T181255.tif", "a day: 2025-07-01"},

		// The Copernicus Browser, and own names.
		{"2025-07-01-00-00_2025-07-07-23-59_Sentinel-2_L2A_Chl.tiff", "2025-07-01 to 2025-07-07"},
		{"2025-07-07-00-00_2025-07-07-23-59_Sentinel-2_L2A_Chl.tiff", "2025-07-07"},
		{"2025-07-01-00:00_2025-08-31-23:59_Sentinel-3_OLCI_Chl.tiff", "2025-07-01 to 2025-08-31"}, {"chl_2025-07-01_2025-07-07.tif", "2025-07-01 to 2025-07-07"},
		{"chl_2025-07-01_to_2025-07-07.tif", "2025-07-01 to 2025-07-07"}, {"chl_20250701_20250707.tif", "2025-07-01 to 2025-07-07"},
		{"chl_20250701-20250707.tif", "2025-07-01 to 2025-07-07"}, {"L3m_20210701-20210731__GLOB_4_AV-MOD_CHL1_MO_00.nc", "2021-07-01 to 2021-07-31"},
		{"chl_2025-07-01.tif", "a day: 2025-07-01"}, {"chl_20250701_20250701.tif", "2025-07-01"}, {"20250701.tif", "a day: 2025-07-01"},
		{"chl_20250701_20250901.tif", "a day, maybe: 2025-07-01"}, // a period, or a scene and its processing
		{"chl_20250707_20250701.tif", "a day: 2025-07-07"}, {"chl_daily_20250701.tif", "2025-07-01"}, {"chl_monthly_2022-01-15.tif", "2022-01-01 to 2022-01-31"},
		{"chl_202202.nc", "2022-02-01 to 2022-02-28"}, {"chl_2022-02.nc", "2022-02-01 to 2022-02-28"}, {"chl_202202_202203.nc", "nothing"},
		{"chl_7d_2025-07-07.tif", "a day: 2025-07-07"}, // its first or its last
		{"tile_12345678_20250701.tif", "a day: 2025-07-01"}, {"chl.tif", "nothing"}, {"tile_99999999.tif", "nothing"}, {"tile_123456.tif", "nothing"},
	} {
		got := "nothing"
		if r, ok := readName(test.name); ok {
			got = r.String()
			switch {
			case r.doubtful:
				got = "a day, maybe: " + got
			case !r.whole:
				got = "a day: " + got
			}
		}
		if last, ok := DateInName("folder_20250101/./" + test.name); ok != (got != "nothing") || !strings.HasSuffix(test.want, last.String()) && ok {
			t.Errorf("DateInName(%q) = %s, %v", test.name, last, ok)
		}
		if got != test.want {
			t.Errorf("readName(%q) = %q, want %q", test.name, got, test.want)
		}
	}
}

// Any name gives days in their order, or none.
func FuzzReadName(f *testing.F) {
	for _, name := range []string{"chl_20250701_20250707.tif", "ts_2018.1228_0103.tif", "LC08_L2SP_193023_20200708_20200912_02_T1.tif", "2025-07-01-00-00_2025-07-07-23-59_S2.tif", "A20201532020182.L3m_MO_CHL.nc",
		"chl_2022-02.nc", "S3A_OLCI_EFRNT.20160424.L3m.7D.CYAN.CI_cyano.CYAN_CONUS.300m.tif"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		r, ok := readName(name)
		if ok && (r.first > r.last || r.first.Time().Year() < firstYear || r.last.Time().Year() > 2102 || !r.whole && r.first != r.last) {
			t.Errorf("readName(%q) = %+v", name, r)
		}
	})
}
