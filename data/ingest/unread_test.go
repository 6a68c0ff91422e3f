package ingest

import (
	"strings"
	"testing"
)

// A column that is not known but says what the values are refuses the file, with the option that makes it known.
func TestUnreadColumns(t *testing.T) {
	mapped := Options{Map: Mapping{"chl": "value"}, Set: Mapping{"data_type": "in_situ"}}
	plain := Options{Set: mapped.Set}
	set := func(name, value string) Options {
		return Options{Map: mapped.Map, Set: Mapping{"data_type": "in_situ", name: value}}
	}
	const stoff = "lake_id;date;Stoff;value\nx;2025-07-02;Wassertemperatur;22,5\nx;2025-07-03;Chlorophyll a;8,1\n"
	const code = "lake_id,date,determinandCode,value\nx,2025-07-02,CAS_14265-44-2,22.5\nx,2025-07-03,EEA_3164-01-0,8.1\n"
	const kleiner = "lake_id;date;value;Kleiner\nx;2025-07-02;0,5;\nx;2025-07-03;0,5;<\n"
	const dim = "lake_id;date;value;Dim.\nx;2025-07-02;0,5;mg/l\n"
	for _, test := range []struct {
		name, text string
		opts       Options
		want       string // a part of the error, or nothing
	}{
		{"names of parameters", stoff, mapped, `the column "Stoff", whose name is not known, has "Chlorophyll a" and "Wassertemperatur": want --map parameter=Stoff`},
		{"mapped", stoff, Options{Map: Mapping{"chl": "value", "parameter": "Stoff"}, Set: mapped.Set}, ""},
		{"codes", code, mapped, "want --map parameter=determinandCode"},
		{"not of the values", stoff, set("parameter", "chl"), ""},
		{"all of chlorophyll", strings.Replace(stoff, "Wassertemperatur", "chl-a", 1), mapped, ""},
		{"none of chlorophyll", strings.Replace(stoff, "Chlorophyll a", "Sichttiefe", 1), mapped, ""},
		{"with units", "lake_id,date,what,value\nx,2025-07-02,Temperature (°C),22.5\nx,2025-07-03,Chlorophyll a (mg/l),0.008\n", mapped, "want --map parameter=what"},
		{"a limit", kleiner, mapped, `line 3: the column "Kleiner", whose name is not known, has "<": want --map sign=Kleiner`},
		{"a mapped limit", kleiner, Options{Map: Mapping{"chl": "value", "sign": "Kleiner"}, Set: mapped.Set}, ""},
		{"a limit of something else", kleiner, set("sign", "="), ""},
		{"a limit of a named column", "lake_id;date;chl;tp;tp_sign;tp_unit\nx;2025-07-02;5;0,01;<;mg/l\n", plain, ""},
		{"a limit of the value", "lake_id;date;chl;chl_sign\nx;2025-07-02;5;<\n", plain, "want --map sign=chl_sign"},
		{"a unit", dim, mapped, `line 2: the column "Dim.", whose name is not known, has the unit "mg/l": want --map unit=Dim.`},
		{"another unit", strings.Replace(dim, "mg/l", "RFU", 1), mapped, `has the unit "RFU"`},
		{"the same unit", strings.Replace(dim, "mg/l", "µg/l", 1), mapped, ""},
		{"a unit that is set", dim, set("unit", "µg/l"), ""},
		{"a parameter beside its code", "lake_id,date,Stoff,Stoffname,value\nx,2025-07-02,1,Wassertemperatur,22.5\nx,2025-07-03,2,Chlorophyll a,8\n", mapped, "want --map parameter=Stoffname"},
		{"a parameter and gaps", "lake_id,date,Stoff,value\nx,2025-07-02,NA,3\nx,2025-07-03,Chlorophyll a,8\nx,2025-07-04,-,8\n", mapped, ""},
		{"a parameter in another encoding", "lake_id,date,Показник,value\nx,2025-07-02,Температура,22.5\nx,2025-07-03,Хлорофилл а,8\n", mapped, "want --map parameter=Показник"},
		{"limits of other values", "lake_id,date,chl_value,tp_value,tp_sign,tp_unit\nx,2025-07-02,5,0.01,<,mg/l\n", Options{Map: Mapping{"chl": "chl_value"}, Set: mapped.Set}, ""},
		{"the bottom was seen", "lake_id,date,chl,secchi_m,secchi_sign\nx,2025-07-02,5,2.5,>\n", plain, ""},
		{"a limit beside a flag", "lake_id,date,chl_value,chl_flag,chl_sign\nx,2025-07-02,5,A,<\n", Options{Map: Mapping{"chl": "chl_value"}, Set: mapped.Set}, "want --map sign=chl_sign"},
		{"a code after the value", "lake_id,date,value,station\nx,2025-07-02,5,T-1\nx,2025-07-03,5,G 3\nx,2025-07-04,5,T 100\n", mapped, ""},
		{"Windows-1252", strings.ReplaceAll(strings.Replace(dim, "mg/l", "µg/l", 1), "µ", "\xb5"), mapped, ""},
		{"mg/m³ in Windows-1252", strings.Replace(dim, "mg/l", "mg/m\xb3", 1), mapped, ""},
		{"a unit elsewhere", "lake_id;date;value;note;tp;dim\nx;2025-07-02;5;;3;mg/l\n", mapped, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			refused(t, test.opts, test.text, test.want)
		})
	}
	// Many different texts are no names of parameters.
	var many strings.Builder
	many.WriteString("lake_id,date,value,note\n")
	for i := range maxParameters + 2 {
		many.WriteString("x,2025-07-02,5," + strings.Repeat("a", i%90) + string(rune('a'+i/90)) + "\n")
	}
	many.WriteString("x,2025-07-02,5,chl\n")
	refused(t, mapped, many.String(), "")
}
