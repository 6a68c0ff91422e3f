package satellite

import (
	"math"
	"slices"
	"strings"
	"testing"

	"limnomap/data"
)

// cyanFile is the name of a tile of CyAN of seven days.
const cyanFile = "L20202012020207.L3m_7D_CYAN_CI_cyano_CYAN_CONUS_300m_5_2.tif"

func TestFormulaOf(t *testing.T) {
	type texts map[string]string
	const cyan, noaa = "CI = 10^(0.011714 DN - 4.1870866)", "CI = 10^(0.012 DN - 4.2)"
	for _, test := range []struct {
		attributes texts
		want       string // or a part of an error
	}{
		{nil, cyan}, {texts{"comment": "made by NASA"}, cyan}, {texts{"scaling_equation": "CI = 10^(DN * 0.011714 - 4.1870866)"}, cyan},
		{texts{"scaling_equation": "10**(3/250*DN - 4.2)"}, noaa}, {texts{"comment": "cells: 10^(3.0/250.0 * DN - 4.2) * 1E+8"}, noaa},
		{texts{"comment": "CI_cyano = 10^((DN*0.012)-4.2)"}, noaa}, {texts{"comment": "10^(sqrt(DN)-4.2)"}, "no formula"}, {texts{"comment": "DN of 10^6 cells"}, cyan},
		{texts{"slope": "0.012", "intercept": "-4.2"}, noaa}, {texts{"slope": "0.012", "intercept": "-4.2", "base": "10", "scaling": "logarithmic"}, noaa},
		{texts{"slope": "0.027631", "intercept": "-9.670857", "base": "2.718281828"}, `base "2.718281828"`},
		{texts{"slope": "0.012", "intercept": "-4.2", "scaling": "linear"}, "linear"}, {texts{"slope": "0.012"}, `intercept ""`},
		{texts{"slope": "0.012", "intercept": "-4.2", "comment": "10^(DN * 0.011714 - 4.1870866)"}, "two formulas"},
		{texts{"slope": "0.012", "intercept": "4.2"}, "no formula of a cyanobacteria index"},
		{texts{"slope": "-0.012", "intercept": "-4.2"}, "no formula of a cyanobacteria index"},
	} {
		f, err := formulaOf(func(name string) string { return test.attributes[name] }, cyanFormula)
		if got := f.String(); err == nil && got != test.want || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %q, %v, want %q", test.attributes, got, err, test.want)
		}
	}
}

// What a file states counts before its product, and the method names the formula.
func TestFormulaInMethod(t *testing.T) {
	for _, test := range []struct {
		product ProductID
		dn      byte
		items   map[string]string
		want    float64
		method  string
	}{
		{CyAN, 253, nil, 393, "CI = 10^(0.011714 DN - 4.1870866): median"},
		{CyAN, 253, map[string]string{"Slope": "0.012", "Intercept": "-4.2"}, 450.7, "CI = 10^(0.012 DN - 4.2): median"},
		{NOAACI, 249, nil, 403.2, "CI = 10^(0.012 DN - 4.2): median"},
	} {
		f := indexRaster(func(int) byte { return test.dn })
		f.Items = test.items
		rows, _ := extractAll(t, fileOf(cyanFile, f.Encode()), []Lake{blockLake(t, "a", 0, 0, 10, 10)}, &Options{Product: test.product})
		if r := rows["a"]; math.Abs(r.Value-test.want) > 0.01*test.want || !strings.HasPrefix(r.Method, test.method) {
			t.Errorf("%s %v: %v by %q, want %v by %q", test.product, test.items, r.Value, r.Method, test.want, test.method)
		}
	}
}

// The cells of the index are those of the same statistic of the pixels as the chlorophyll, which begins at a higher index. A number of 0 has none.
func TestCellsOfIndex(t *testing.T) {
	const cyan, noaa = cyanFile, "ts_2016.1007_1013.L4.LCHMP3.CIcyano.MAXIMUM_7day.tif"
	all := func(dn byte) func(int) byte { return func(int) byte { return dn } }
	half := func(low, high byte) func(int) byte { return func(i int) byte { return []byte{low, high}[i%2] } }
	for _, test := range []struct {
		name       string
		pixels     func(int) byte
		statistic  Statistic
		value      float64 // 0 if it is below the limit
		cells      float64
		level      data.Level
		supportsBy data.LevelBasis
	}{
		{cyan, all(120), Median, 7.8809, 165_422, 2, data.ByCells}, {cyan, all(130), Median, 11.2714, 216_637, 2, data.ByCells},
		{cyan, all(253), Median, 392.6731, 5_977_993, 2, data.ByChlorophyll}, {cyan, all(98), Median, 0, 91_387, 1, data.ByCells},
		{cyan, all(1), Median, 0, 6678, 0, data.ByChlorophyll}, {cyan, all(0), Median, 0, 0, 0, data.ByChlorophyll},
		{cyan, half(0, 1), Median, 0, 0, 0, data.ByChlorophyll},        // less than the least that is detected
		{cyan, half(0, 130), Median, 4.1007, 108_319, 2, data.ByCells}, // half of the index
		{cyan, half(0, 130), Mean, 4.2112, 109_988, 2, data.ByCells},   // of what is not detected half the least
		{cyan, half(0, 130), P90, 11.2714, 216_637, 2, data.ByCells}, {noaa, all(120), Median, 8.4342, 173_780, 2, data.ByCells},
		{noaa, all(249), Median, 403.2404, 6_137_620, 2, data.ByChlorophyll}, {noaa, all(0), Mean, 0, 0, 0, data.ByChlorophyll},
	} {
		// With an outline, and grown from a point.
		point := blockLake(t, "b", 0, 0, 10, 10)
		point.Outline = ""
		rows, summary := extractAll(t, fileOf(test.name, indexRaster(test.pixels).Encode()), []Lake{blockLake(t, "a", 0, 0, 10, 10), point},
			&Options{Shore: FixedShore(0), Statistic: test.statistic})
		if !slices.Equal(summary.Columns, []string{"cell_density_cells_ml"}) {
			t.Errorf("the columns are %q", summary.Columns)
		}
		for id, r := range rows {
			if (r.Limit > 0) != (test.value == 0) || test.value > 0 && math.Abs(r.Value/test.value-1) > 1e-4 || math.Abs(r.Cells-test.cells) > 1e-6*test.cells {
				t.Errorf("%s, %s: lake %s is %v below %v with %v cells/ml, want %v with %v", test.name, test.statistic, id, r.Value, r.Limit, r.Cells, test.value, test.cells)
			}
			o := r.Observation()
			level, density := data.Profiles()[0].Classify(o)
			want, by := test.cells, data.Index
			if test.cells == 0 {
				want, by = data.NoCellDensity, data.NoCells
			}
			if level != test.level || math.Abs(density-want) > 1e-6*math.Abs(want) || data.CellOriginOf(o.Type, o.CellDensity, density) != by || o.CellDensity != math.Round(o.CellDensity) ||
				data.Profiles()[0].Basis(level, o.Chlorophyll, o.CellDensity) != test.supportsBy || o.Details.BelowLimit != (test.value == 0) {
				t.Errorf("%s, %s: %+v has level %d and %v cells/ml", test.name, test.statistic, o, level, density)
			}
		}
	}
}

// Of several files of one source and date the cells count where the chlorophyll does not tell, whatever their order.
func TestBestCells(t *testing.T) {
	for _, order := range [][]byte{{20, 90}, {90, 20}, {0, 20, 90}, {90, 0}} {
		var files []*Values
		for _, dn := range order {
			v, err := Collect(t.Context(), fileOf(cyanFile, indexRaster(func(int) byte { return dn }).Encode()), []Lake{blockLake(t, "a", 0, 0, 10, 10)}, nil)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, v)
		}
		if _, err := KeepBest(t.Context(), files); err != nil {
			t.Fatal(err)
		}
		var got []float64
		for _, v := range files {
			for r := range v.Rows() {
				got = append(got, r.Cells)
			}
		}
		if want := cyanFormula.cells(cyanFormula.index(90)); !slices.Equal(got, []float64{want}) {
			t.Errorf("of %v the cells that count are %v, want %v", order, got, want)
		}
	}
}

func TestSourceOfCyAN(t *testing.T) {
	const tile, v6t = "L20161292016135.L3m_7D_CYAN_CI_cyano_CYAN_CONUS_300m.tif", "L20221602022166.L3m_7D_CYANV6T_CI_cyano_CYAN_CONUS_300m.tif"
	for _, test := range []struct{ name, version, option, want string }{
		{tile, "", "", "EPA CyAN"}, {cyanFile, "", "", "EPA CyAN"}, // 5_2 is a tile
		{tile, "6.0", "", "EPA CyAN V6"}, {tile, "nonsense", "", "EPA CyAN"}, {v6t, "", "", "EPA CyAN V6T"}, {v6t, "6T", "", "EPA CyAN V6T"},
		{"L20221602022166.L3m_7D_CYANAK_CI_cyano_CYAN_AK_300m.tif", "6.0", "", "EPA CyAN V6"},
		{"M20120922012098.L3m_7D_CYAN_CI_cyano_CYAN_CONUS_300m_5_3.tif", "", "", "EPA CyAN MERIS"},
		{"S3A_OLCI_EFRNT.20160424.L3m.7D.CYAN.CI_cyano.CYAN_CONUS.300m.tif", "", "", "EPA CyAN S3A"},
		{"S3B_OLCI_EFRNT.20240424.L3m.7D.CYANV6T.CI_cyano.CYAN_CONUS.300m.tif", "", "", "EPA CyAN V6T S3B"},
		{"S3B_OLCI_EFRNT.20240424_20240430.L3m.7D.CYAN.V5.CI_cyano.CYAN_CONUS.300m.tif", "", "", "EPA CyAN V5 S3B"},
		{tile, "", "EPA CyAN V5", "EPA CyAN V5"}, {tile, "6.0", "EPA CyAN V6", "EPA CyAN V6"}, {tile, "6.0", "EPA CyAN V6.0 tiles", "EPA CyAN V6.0 tiles"},
		{v6t, "", "EPA CyAN V6", "the file is of version 6T"}, {tile, "6.0", "EPA CyAN V5", "the file is of version 6"},
		// NOAA's names.
		{"ts_2016.1007_1013.L4.LCHMP3.CIcyano.MAXIMUM_7day.tif", "", "", "NOAA CI"}, {"sentinel-3.2018.0812_0818.L4.LE3.CIcyano.tif", "", "", "NOAA CI"},
	} {
		f := indexRaster(func(int) byte { return 130 })
		if test.version != "" {
			f.Items = map[string]string{"OBPG_version": test.version}
		}
		got, s := valueOf(t, fileOf(test.name, f.Encode()), Options{Source: test.option})
		if s.Source != "" {
			got = s.Source
		}
		of, ok := OfSource(got)
		if !strings.HasSuffix(got, test.want) || s.Source != "" && (!ok || of.ID != s.Product.ID || s.PeriodStart != s.Date-6) {
			t.Errorf("%s, version %q, --source %q: %q of %+v, want %q", test.name, test.version, test.option, got, s, test.want)
		}
	}
}
