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
		factor float64 // 0 for names without a unit, -1 for an error
		names  []string
	}{
		{chlorophyllUnits, 1000, []string{"Chlorophyll a (mg/L)", "chl_mg_l", "chla.mg.L-1", "Chlorophyll.a..mg.L.", "Chlorophyll-a (mg L⁻¹)", "chl in mg per litre", "mg/l Chl", "chl_mgl_mean", "Chlorofil a [mg/dm3]", "chl (g m-3)", "Хлорофилл а, мг/л", "Chlorophyll [Milligramm pro Liter]", "Clorofila (mg/litro)", "chl [mg/L as chl]"}},
		{chlorophyllUnits, 1e6, []string{"chl_kg_m-3"}},
		{chlorophyllUnits, 1e-3, []string{"chl [ng/l]"}},
		{chlorophyllUnits, 1, []string{"chl [µg/l]", "chl [\u03bcg/l]", "CHL_UG_L", "chl_a_ugl", "Chl mg m^-3", "chl mg/m³", "Chla µg dm-3", "chl, µg/l", "CHLA_PPB", "Хлорофилл а (мкг/л)", "chl a, 10 m (µg/l)", "chl 0-10 m [µg/l]", "Chl 0-10 µg/l", "Chl.0.10..µg.l.", "Chl-a 10 µg/l", "Chl ISO 10260-1992 µg/l", "max 10 µg/l"}},
		{chlorophyllUnits, 1e4, []string{"chl (mg/100 ml)"}},
		{chlorophyllUnits, 0, []string{"chl", "value", "chl_a", "Chl (surface)", "Chl a (filtered, 0-2 m)", "CHLA1"}},
		{chlorophyllUnits, -1, []string{"Chlorophyll a (RFU)", "chl_rfu", "chl (%)", "chl (mg/m2)", "chl_mg_m2", "chl µg/cm²", "chl (µmol/l)", "chl_umol_l", "chl (mg/kg)", "chl (mg)", "log10_chl", "log10(chl [mg/m3])", "chl [10^-3 mg/l]", "chl [x 10 µg/l]", "chl (x10 µg/l)",
			"chl [1000 mg/l]", "chl [10 µg/l]", "chl x 100 µg/l", "chl × 10 µg/l", "chl 10-3 mg/l", "chl 10^6 µg/l", "chl (mg/hl)", "chl (gamma/l)", "chl [1/l]", "chl ‰", "ug/cm2 chl", "chl [relative units]", "logchl", "chl_x1000"}},
		{cellUnits, 1e-3, []string{"cells/l", "Cells per litre", "cells_per_l"}},
		{cellUnits, 1, []string{"Zellen/ml", "cyano_count_per_ml"}},
		{cellUnits, 1e-2, []string{"count (#/100 mL)"}},
		{cellUnits, -1, []string{"10^6 cells/l", "million cells per ml", "cells_x1000_ml", "biovolume (mm3/l)", "cyanobacteria [µg/l]"}},
		{lengthUnits, 0.01, []string{"Sichttiefe [cm]"}},
		{lengthUnits, 0.3048, []string{"Secchi (ft)", "Depth (ft) of the sample"}},
		{lengthUnits, 1, []string{"secchi_in_m"}},
		{lengthUnits, 0, []string{"Depth in lake", "Depth (in lake), mean"}},
		{temperatureUnits, 5. / 9, []string{"Temp (°F)"}},
		{temperatureUnits, 1, []string{"temp_c"}},
		{temperatureUnits, 0, []string{"Wassertemperatur"}},
		{areaUnits, 0.01, []string{"Area (ha)"}},
		{areaUnits, 0, []string{"Lake_area"}},
		{areaUnits, 1e-6, []string{"area_m2"}},
		{areaUnits, 2.589988110336, []string{"shape area sqmi"}},
	} {
		for _, name := range test.names {
			_, unit, err := test.of.inName(name)
			factor := test.of.units[unitKey(unit)].factor
			if err != nil {
				factor = -1
			}
			if factor != test.factor {
				t.Errorf("the unit in %q is %q (%v) with an error of %v, want %v", name, unit, factor, err, test.factor)
			}
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

// refused is observe for a table of which nothing must be stored, for a reason, or which must be imported if the reason is empty.
func refused(t *testing.T, opts Options, text, want string) (observations []data.Observation, r Report, isRefused bool) {
	t.Helper()
	observations, r, err := observe(t, opts, text)
	switch report := fmt.Sprint(r, err); {
	case want != "" && (len(observations) > 0 || !strings.Contains(report, want)):
		t.Errorf("stored %v, %s, want nothing and %s", observations, report, want)
	case want == "" && (err != nil || r.Rejected > 0):
		t.Fatalf("%s, want it stored", report)
	}
	return observations, r, want != ""
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
			got, r, isRefused := refused(t, test.opts, test.text, test.err)
			if isRefused {
				return
			}
			if len(got) != 1 {
				t.Fatalf("stored %v, %v", got, r)
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
