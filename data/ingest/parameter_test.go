package ingest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestLongTables(t *testing.T) {
	mapped := Options{Map: Mapping{"chl": "value"}, Set: Mapping{"data_type": "in_situ"}}
	with := func(names ...string) Options {
		o := mapped
		o.Table.Parameters = names
		return o
	}
	for _, test := range []struct {
		name, text string
		opts       Options
		chl        []int // hundredths of µg/l, the newest first
		leftOut    int
		err        string
	}{
		{"temperature", "lake_id,date,parameter,value,unit\nx,2025-07-02,Wassertemperatur,22.5,°C\nx,2025-07-03,Chlorophyll a,8.1,µg/l\nx,2025-07-04,Gesamtphosphor,0.031,mg/l\n", mapped, []int{810}, 2, ""},
		{"without units", "lake_id,date,parameter,value\nx,2025-07-02,Temp,22.5\nx,2025-07-03,CHL-A,8.1\n", mapped, []int{810}, 1, ""},
		{"German", "lake_id;date;Messgröße;value;Einheit\nx;2025-07-02;Chlorid;22,5;mg/l\nx;2025-07-03;Chlorophyll-a;0,0081;mg/l\n", mapped, []int{810}, 1, ""},
		{"Polish", "lake_id;date;Parametr;value\nx;2025-07-02;Azot ogólny;22,5\nx;2025-07-03;Chlorofil a;8,1\n", mapped, []int{810}, 1, ""},
		{"Finnish", "lake_id;date;parameter;value\nx;2025-07-03;a-Klorofylli;8,1\nx;2025-07-04;Lämpötila;18\n", mapped, []int{810}, 1, ""},
		{"Waterbase", "lake_id,date,observedPropertyDeterminandLabel,value,resultUom\nx,2025-07-03,Chlorophyll a,8.1,ug/L\nx,2025-07-03,Secchi depth,3,m\n", mapped, []int{810}, 1, ""},
		{"unit in the name of the parameter", "lake_id,date,parameter,value\nx,2025-07-03,Chlorophyll a (mg/l),0.0081\nx,2025-07-03,Temperature (°C),20\n", mapped, []int{810}, 1, ""},
		{"units of parameters differ", "lake_id,date,parameter,value\nx,2025-07-03,Chlorophyll a (mg/l),0.0081\nx,2025-07-04,Chlorophyll a,9\n", mapped, []int{900, 810}, 0, ""},
		{"mapped column", "lake_id,date,what,value\nx,2025-07-02,Temp,22.5\nx,2025-07-03,Chl a,8.1\n", Options{Map: Mapping{"chl": "value", "parameter": "what"}, Set: mapped.Set}, []int{810}, 1, ""},
		{"all of chlorophyll", "lake_id,date,parameter,chl,data_type\nx,2025-07-03,chlorophyll a,8.1,in_situ\n", Options{}, []int{810}, 0, ""},
		{"two names", "lake_id,date,parameter,value\nx,2025-07-03,Chlorophyll a,8.1\nx,2025-07-04,\"Chlorophyll a, corrected for pheophytin\",7\n", mapped, nil, 0, `want one name of chlorophyll-a in the file, which also has "Chlorophyll a"`},
		{"one of two names", "lake_id,date,parameter,value\nx,2025-07-03,Chlorophyll a,8.1\nx,2025-07-04,\"Chlorophyll a, corrected for pheophytin\",7\n", with("chlorophyll a, corrected for pheophytin"), []int{700}, 1, ""},
		{"both names", "lake_id,date,parameter,value\nx,2025-07-03,Chlorophyll a,8.1\nx,2025-07-04,Chlorophyll,7\n", with("Chlorophyll a", "Chlorophyll"), []int{700, 810}, 0, ""},
		{"another pigment", "lake_id,date,parameter,value\nx,2025-07-03,Chlorophyll a,8.1\nx,2025-07-04,Chlorophyll b,7\n", mapped, nil, 0, `parameter "Chlorophyll b": want a name of chlorophyll-a that is known, or`},
		{"another method", "lake_id,date,parameter,value\nx,2025-07-04,Chlorophyll a (RFU),7\n", mapped, nil, 0, `parameter "Chlorophyll a (RFU)"`},
		{"a code", "lake_id,date,parameter,value\nx,2025-07-03,1213,8.1\nx,2025-07-04,1214,7\n", mapped, nil, 0, `no row is of a parameter that is known as chlorophyll-a: the file has "1213", "1214"; name those that are with --parameter`},
		{"a named code", "lake_id,date,parameter,value\nx,2025-07-03,1213,8.1\nx,2025-07-04,1214,7\n", with("1213"), []int{810}, 1, ""},
		{"a name that is not there", "lake_id,date,parameter,value\nx,2025-07-03,1213,8.1\n", with("1215"), nil, 0, `no row is of the parameter that --parameter names: the file has "1213"`},
		{"no parameter", "lake_id,date,parameter,value\nx,2025-07-03,,8.1\n", mapped, nil, 0, "parameter is missing"},
		{"no column", "lake_id,date,value\nx,2025-07-03,8.1\n", with("1215"), nil, 0, "lacks a column with the names of parameters, which --parameter needs: --map parameter=NAME"},
		{"an empty name", "lake_id,date,value\nx,2025-07-03,8.1\n", with(" "), nil, 0, `parameter " ": want its name`},
		{"of the portal, mapped", "MonitoringLocationIdentifier,ActivityStartDate,CharacteristicName,ResultMeasureValue,ResultMeasure/MeasureUnitCode\nx,2025-07-03,Phosphorus,31,ug/l\nx,2025-07-04,Chlorophyll a,8.1,ug/l\n",
			Options{Map: Mapping{"lake_id": "MonitoringLocationIdentifier", "date": "ActivityStartDate", "chl": "ResultMeasureValue"}, Set: mapped.Set}, []int{810}, 1, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, r, isRefused := refused(t, test.opts, test.text, test.err)
			var chl []int
			for _, o := range got {
				chl = append(chl, int(o.Chlorophyll))
			}
			if !slices.Equal(chl, test.chl) || !isRefused && r.LeftOut != test.leftOut {
				t.Errorf("stored %v, %v, want %v", got, r, test.chl)
			}
		})
	}
}

// All parameters of a file that is read twice, and of very many different ones, are left out in bounded memory.
func TestManyParameters(t *testing.T) {
	var b strings.Builder
	b.WriteString("lake_id;date;parameter;chl;data_type\nx;2025-07-03;Chlorophyll a;1.091,5;in_situ\n")
	for i := range 3 * maxParameters {
		fmt.Fprintf(&b, "x;2025-07-03;taxon %d;1.091;in_situ\n", i)
	}
	got, r, err := observe(t, Options{}, b.String())
	if err != nil || len(got) != 1 || r.LeftOut != 3*maxParameters || len(r.LeftOutReasons) != maxShownColumns+1 {
		t.Errorf("stored %v, %d left out for %d reasons, %v", got, r.LeftOut, len(r.LeftOutReasons), err)
	}
}
