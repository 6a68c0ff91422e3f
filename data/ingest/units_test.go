package ingest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"limnomap/data"
	"limnomap/data/store/storetest"
)

// The names are of published tables, or of programs that make names of others, such as R.
func TestUnitInName(t *testing.T) {
	for _, test := range []struct {
		of     *dimension
		name   string
		factor float64 // 0 for a name without a unit, -1 for an error
	}{
		{chlorophyllUnits, "Chlorophyll a (mg/L)", 1000},
		{chlorophyllUnits, "chl_mg_l", 1000},
		{chlorophyllUnits, "chla.mg.L-1", 1000},
		{chlorophyllUnits, "Chlorophyll.a..mg.L.", 1000},
		{chlorophyllUnits, "Chlorophyll-a (mg L⁻¹)", 1000},
		{chlorophyllUnits, "chl in mg per litre", 1000},
		{chlorophyllUnits, "mg/l Chl", 1000},
		{chlorophyllUnits, "chl_mgl_mean", 1000},
		{chlorophyllUnits, "Chlorofil a [mg/dm3]", 1000},
		{chlorophyllUnits, "chl (g m-3)", 1000},
		{chlorophyllUnits, "chl_kg_m-3", 1e6},
		{chlorophyllUnits, "chl [ng/l]", 1e-3},
		{chlorophyllUnits, "chl [µg/l]", 1},
		{chlorophyllUnits, "chl [μg/l]", 1}, // U+03BC
		{chlorophyllUnits, "CHL_UG_L", 1},
		{chlorophyllUnits, "chl_a_ugl", 1},
		{chlorophyllUnits, "Chl mg m^-3", 1},
		{chlorophyllUnits, "chl mg/m³", 1},
		{chlorophyllUnits, "Chla µg dm-3", 1},
		{chlorophyllUnits, "chl, µg/l", 1},
		{chlorophyllUnits, "CHLA_PPB", 1},
		{chlorophyllUnits, "chl", 0},
		{chlorophyllUnits, "value", 0},
		{chlorophyllUnits, "chl_a", 0},
		{chlorophyllUnits, "Chl (surface)", 0},
		{chlorophyllUnits, "Chl a (filtered, 0-2 m)", 0},
		{chlorophyllUnits, "CHLA1", 0},
		{chlorophyllUnits, "Chlorophyll a (RFU)", -1},
		{chlorophyllUnits, "chl_rfu", -1},
		{chlorophyllUnits, "chl (%)", -1},
		{chlorophyllUnits, "chl (mg/m2)", -1},
		{chlorophyllUnits, "chl_mg_m2", -1},
		{chlorophyllUnits, "chl µg/cm²", -1},
		{chlorophyllUnits, "chl (µmol/l)", -1},
		{chlorophyllUnits, "chl_umol_l", -1},
		{chlorophyllUnits, "chl (mg/kg)", -1},
		{chlorophyllUnits, "chl (mg)", -1},
		{chlorophyllUnits, "log10_chl", -1},
		{chlorophyllUnits, "log10(chl [mg/m3])", -1},
		{cellUnits, "cells/l", 1e-3},
		{cellUnits, "Zellen/ml", 1},
		{cellUnits, "cyano_count_per_ml", 1},
		{cellUnits, "Cells per litre", 1e-3},
		{cellUnits, "count (#/100 mL)", 1e-2},
		{cellUnits, "cells_per_l", 1e-3},
		{cellUnits, "10^6 cells/l", -1},
		{cellUnits, "million cells per ml", -1},
		{cellUnits, "cells_x1000_ml", -1},
		{cellUnits, "biovolume (mm3/l)", -1},
		{cellUnits, "cyanobacteria [µg/l]", -1},
		{lengthUnits, "Sichttiefe [cm]", 0.01},
		{lengthUnits, "Secchi (ft)", 0.3048},
		{lengthUnits, "secchi_in_m", 1},
		{lengthUnits, "Depth in lake", 0},
		{lengthUnits, "Depth (in lake), mean", 0},
		{lengthUnits, "Depth (ft) of the sample", 0.3048},
		{temperatureUnits, "Temp (°F)", 5. / 9},
		{temperatureUnits, "temp_c", 1},
		{temperatureUnits, "Wassertemperatur", 0},
		{areaUnits, "Area (ha)", 0.01},
		{areaUnits, "Lake_area", 0},
		{areaUnits, "area_m2", 1e-6},
		{areaUnits, "shape area sqmi", 2.589988110336},
	} {
		_, unit, err := test.of.inName(test.name)
		factor := test.of.units[unitKey(unit)].factor
		if err != nil {
			factor = -1
		}
		if factor != test.factor {
			t.Errorf("the unit in %q is %q (%v) with an error of %v, want %v", test.name, unit, factor, err, test.factor)
		}
	}
}

// observe imports a table of observations of the lake x, and returns the stored ones.
func observe(t *testing.T, opts Options, text string) ([]data.Observation, Report, error) {
	t.Helper()
	s := storetest.New(t)
	mustImport(t, Lakes, s, nil, aLake)
	r, err := Observations(t.Context(), s, files(text), &opts)
	_, observations := stored(t, s)
	return observations, r, err
}

func TestUnitsAreConverted(t *testing.T) {
	inSitu := Mapping{"data_type": "in_situ"}
	for _, test := range []struct {
		name string
		opts Options
		text string
		want data.Observation // its numbers; or
		err  string
	}{
		{"mapped", Options{Set: inSitu, Map: Mapping{"chl": "Chlorophyll a (mg/L)"}}, "lake_id,date,Chlorophyll a (mg/L)\nx,2025-07-01,0.064\n", data.Observation{Chlorophyll: 64_00}, ""},
		{"not mapped", Options{Set: inSitu}, "lake_id,date,chl_mg_l\nx,2025-07-01,0.064\n", data.Observation{Chlorophyll: 64_00}, ""},
		{"decimal comma", Options{Set: inSitu}, "lake_id;date;chl [mg/l]\nx;2025-07-01;0,0064\n", data.Observation{Chlorophyll: 6_40}, ""},
		{"limit", Options{Set: inSitu}, "lake_id;date;chl [mg/l]\nx;2025-07-01;<0,01\n", data.Observation{Chlorophyll: 5_00, Details: data.Details{BelowLimit: true, Upper: data.Known[data.Chlorophyll](10_00)}}, ""},
		{"largest", Options{Set: inSitu}, "lake_id,date,chl_mg_l\nx,2025-07-01,1.5\n", data.Observation{Chlorophyll: 1500_00}, ""},
		{"too large", Options{Set: inSitu}, "lake_id,date,chl_mg_l\nx,2025-07-01,1.6\n", data.Observation{}, `chl "1.6": want a number from 0 to 1.5 mg_l`},
		{"column of units", Options{Set: inSitu}, "lake_id,date,chl,unit\nx,2025-07-01,0.064,mg/L\n", data.Observation{Chlorophyll: 64_00}, ""},
		{"column of units, in another language", Options{Set: inSitu}, "lake_id,date,chl,Einheit\nx,2025-07-01,64,µg/l\n", data.Observation{Chlorophyll: 64_00}, ""},
		{"unit that is set", Options{Set: Mapping{"data_type": "in_situ", "unit": "mg/l"}}, "lake_id,date,chl\nx,2025-07-01,0.064\n", data.Observation{Chlorophyll: 64_00}, ""},
		{"unit of a gap", Options{Set: inSitu}, "lake_id,date,chl,unit\nx,2025-07-01,,°C\n", data.Observation{Chlorophyll: data.NoChlorophyll}, ""},
		{"another quantity", Options{Set: inSitu}, "lake_id,date,chl,unit\nx,2025-07-01,22.5,°C\n", data.Observation{}, `unit "°C": want a unit of chlorophyll: one of µg/l`},
		{"no unit", Options{Set: inSitu}, "lake_id,date,chl,unit\nx,2025-07-01,22.5,\n", data.Observation{}, "unit is missing"},
		{"two units", Options{Set: inSitu}, "lake_id,date,chl_mg_l,unit\nx,2025-07-01,0.064,µg/l\n", data.Observation{}, `unit "µg/l": want the unit "mg_l"`},
		{"twice the same unit", Options{Set: inSitu}, "lake_id,date,chl_mg_l,unit\nx,2025-07-01,0.064,mg/l\n", data.Observation{Chlorophyll: 64_00}, ""},
		{"two columns", Options{Set: inSitu}, "lake_id,date,chl_mg_l,chl_ug_l\nx,2025-07-01,0.064,64\n", data.Observation{}, `"chl_mg_l" and "chl_ug_l", which are both chl`},
		{"chl before one with a unit", Options{Set: inSitu}, "lake_id,date,chl_mg_l,chl\nx,2025-07-01,0.064,63\n", data.Observation{Chlorophyll: 63_00}, ""},
		{"unit of another quantity in the name", Options{Set: inSitu, Map: Mapping{"chl": "chl (RFU)"}}, "lake_id,date,chl (RFU)\nx,2025-07-01,0.064\n", data.Observation{}, `"chl (RFU)", which is chl, has the unit "rfu"`},
		{"range", Options{Set: inSitu}, "lake_id,date,chl_mg_l,chl_upper_mg_l,chl_lower\nx,2025-07-01,0.064,0.07,60\n", data.Observation{Chlorophyll: 64_00, Details: data.Details{Upper: data.Known[data.Chlorophyll](70_00), Lower: data.Known[data.Chlorophyll](60_00)}}, ""},
		{"cells, depth, temperature", Options{Set: inSitu}, "lake_id,date,chl,cell_density_cells_l,secchi_cm,water_temperature_f\nx,2025-07-01,1,20000000,150,68\n",
			data.Observation{Chlorophyll: 1_00, CellDensity: 20000, Details: data.Details{Secchi: data.Known[data.Hundredths](1_50), WaterTemperature: data.Known[data.Hundredths](20_00)}}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, r, err := observe(t, test.opts, test.text)
			if test.err != "" {
				if text := fmt.Sprint(r, err); len(got) > 0 || !strings.Contains(text, test.err) {
					t.Errorf("stored %v, %s, want nothing and %s", got, text, test.err)
				}
				return
			}
			if err != nil || len(got) != 1 {
				t.Fatalf("stored %v, %v, %v", got, r, err)
			}
			if test.want.CellDensity == 0 {
				test.want.CellDensity = data.NoCellDensity
			}
			if o := got[0]; o.Chlorophyll != test.want.Chlorophyll || math.Abs(o.CellDensity-test.want.CellDensity) > 1e-6 || o.Details != test.want.Details {
				t.Errorf("stored %+v, want the numbers of %+v", o, test.want)
			}
		})
	}
	// A unit holds for its row only.
	got, r, err := observe(t, Options{Set: inSitu}, "lake_id,date,chl,unit\nx,2025-07-01,0.064,mg/l\nx,2025-07-02,64,µg/l\nx,2025-07-03,64000,ng/l\nx,2025-07-04,0.064,mg/l\n")
	if err != nil || len(got) != 4 {
		t.Fatalf("stored %v, %v, %v", got, r, err)
	}
	for _, o := range got {
		if o.Chlorophyll != 64_00 {
			t.Errorf("stored %+v, want 64 µg/l", o)
		}
	}
}

func TestAreaUnits(t *testing.T) {
	for _, text := range []string{
		"id,name,lat,lon,area_ha\na,A,50,10,1250\n",
		"id,name,lat,lon,Area (m²)\na,A,50,10,12500000\n",
		features(featureOf(`"id":"a","name":"A","Lake_area_ha":1250`, pointGeometry)),
	} {
		s := storetest.New(t)
		mustImport(t, Lakes, s, nil, text)
		if lakes, _ := stored(t, s); len(lakes) != 1 || math.Abs(lakes[0].AreaKM2-12.5) > 1e-9 {
			t.Errorf("of %.60q: stored %+v, want 12.5 km²", text, lakes)
		}
	}
}

func FuzzUnitInName(f *testing.F) {
	for _, name := range []string{"Chlorophyll a (mg/L)", "chl_mg_m^-3", "([{", "µ%", "10^6 cells/l", "m⁻³", "\xff_l"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		for _, d := range []*dimension{chlorophyllUnits, cellUnits, lengthUnits, temperatureUnits, areaUnits} {
			if _, unit, err := d.inName(name); err == nil && unit != "" && d.units[unitKey(unit)].factor == 0 {
				t.Errorf("%q has the unit %q of %s, which has no factor", name, unit, d.name)
			}
		}
	})
}
