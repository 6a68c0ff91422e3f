package pagetest

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/render/vector/mvttest"
)

// A surfaceCase is a lake, and what each surface must say about it.
type surfaceCase struct {
	id       string
	rows     []string // with the columns of surfaceColumns; the last ones may be left out
	advisory string   // the kind of an official statement that is active, or "expired"
	want     said
	by       string // measured_by
	chlLevel string // the level of the chlorophyll
	on       string // the day of measured_at, as rows have it
	cells    string // cell_density_cells_ml and cell_density_by
}

// surfaceColumns are those of the rows: the day as a week from this one on, or as days ago; the first day of the period as days before it.
const surfaceColumns = "date,chl,data_type,cell_density_cells_ml,who_level,quality,flags,period_start,composite,scum_percent,turbidity_ntu,secchi_m,water_temperature_c"

// surfaceDay returns the day of a row: "-2" is the Monday before the last one, "8d" is eight days ago.
func surfaceDay(t *testing.T, text string) time.Time {
	t.Helper()
	days, ago := strings.CutSuffix(text, "d")
	n, err := strconv.Atoi(days)
	if err != nil {
		t.Fatal(err)
	}
	if ago {
		return time.Now().UTC().Truncate(day).AddDate(0, 0, -n)
	}
	return dateOf(t, weekday(n))
}

// surfaceRow returns the cells of a row by their columns, with days in place of their numbers.
func surfaceRow(t *testing.T, row string) map[string]string {
	t.Helper()
	values := strings.Split(row, ",")
	cells := make(map[string]string)
	for i, column := range strings.Split(surfaceColumns, ",") {
		if i < len(values) {
			cells[column] = values[i]
		}
	}
	date := surfaceDay(t, cells["date"])
	cells["date"] = date.Format(time.DateOnly)
	if before := cells["period_start"]; before != "" {
		n, err := strconv.Atoi(before)
		if err != nil {
			t.Fatal(err)
		}
		cells["period_start"] = date.AddDate(0, 0, -n).Format(time.DateOnly)
	}
	return cells
}

// row returns the row of the state, empty without one.
func (c surfaceCase) row(t *testing.T) map[string]string {
	t.Helper()
	for _, text := range c.rows {
		if row := surfaceRow(t, text); strings.HasPrefix(text, c.on+",") && row["data_type"] == c.by && row["quality"] != "poor" {
			return row
		}
	}
	return map[string]string{}
}

// shown is what the lists say about a lake: also the age in days, the cells, whether the value is below a limit, and the period of the value.
type shown struct {
	said
	age, cells, cellsBy, below, start, composite string
}

func (c surfaceCase) shown(t *testing.T) shown {
	row := c.row(t)
	s := shown{said: c.want, below: "false"}
	s.cells, s.cellsBy, _ = strings.Cut(c.cells, " ")
	if c.on != "" {
		s.age = strconv.Itoa(int(time.Now().UTC().Truncate(day).Sub(surfaceDay(t, c.on)) / day))
	}
	if c.want.chl != "" {
		s.below = strconv.FormatBool(strings.HasPrefix(row["chl"], "<"))
		s.start, s.composite = row["period_start"], row["composite"]
	}
	return s
}

// withheld returns why limnomap's own forecast has no values of the lake; empty if it has.
func (c surfaceCase) withheld() string {
	switch {
	case len(c.rows) < 5:
		return "few_values"
	case c.want.stale == "true":
		return "old_value"
	}
	return ""
}

// told returns what the card and the page of the lake tell in English about the value and the latest observation.
func (c surfaceCase) told(t *testing.T) []string {
	var told []string
	s, row := c.shown(t), c.row(t)
	if s.below == "true" {
		told = append(told, "below detection")
	}
	if s.cellsBy == "index" {
		told = append(told, "The value is from an index of blue-green algae")
	}
	if by := c.levelBy(); by == "cells" {
		told = append(told, map[string]string{"index": "High risk (index of blue-green algae)", "counted": "High risk (cell count)"}[s.cellsBy])
		if c.want.risk == "medium" {
			told[len(told)-1] = strings.Replace(told[len(told)-1], "High", "Medium", 1)
		}
	}
	if start, composite := s.start, s.composite; start != "" && composite != "" {
		days := int(surfaceDay(t, c.on).Sub(dateOf(t, start))/day) + 1
		told = append(told, strings.Replace(fmt.Sprintf("%s of %d days", composite, days), "of 7 days", "of the week", 1))
	}
	for _, text := range c.rows {
		latest := surfaceRow(t, text)
		if latest["flags"] == "ice" {
			told = append(told, "the satellite saw ice, so there is no value")
		}
		if share := latest["scum_percent"]; share != "" {
			told = append(told, "Possible scum", share+" % of the pixels")
		}
	}
	for column, unit := range map[string]string{"secchi_m": " m", "water_temperature_c": " °C"} {
		if row[column] != "" {
			told = append(told, row[column]+unit)
		}
	}
	if turbidity := row["turbidity_ntu"]; turbidity != "" {
		told = append(told, strings.TrimSuffix(turbidity, ".34")+" NTU")
	}
	return told
}

// checkTold checks that a text about a lake has what it must tell, and calls nothing a count, an index or ice that is not.
func checkTold(t *testing.T, where string, c surfaceCase, shown string) {
	t.Helper()
	told := c.told(t)
	for _, want := range told {
		if !strings.Contains(shown, want) {
			t.Errorf("%s: %s does not tell %q: %q", where, c.id, want, shown)
		}
	}
	for _, word := range []string{"below detection", "index of blue-green algae", "ell count", "saw ice", "Possible scum"} {
		if strings.Contains(shown, word) && !strings.Contains(strings.Join(told, "; "), word) {
			t.Errorf("%s: %s tells %q: %q", where, c.id, word, shown)
		}
	}
}

func dateOf(t *testing.T, text string) time.Time {
	t.Helper()
	date, err := time.Parse(time.DateOnly, text)
	if err != nil {
		t.Fatal(err)
	}
	return date
}

// weekly returns rows of a value each week, one year and more long.
func weekly(last int) (rows []string) {
	for week := last - 60; week <= last; week++ {
		rows = append(rows, fmt.Sprintf("%d,12,satellite", week))
	}
	return rows
}

// said is what a surface says about a lake. What is not known is empty.
type said struct{ chl, level, risk, stale, advisory string }

// class returns the class that a person sees: closed, high, medium, low, or none.
func (s said) class() string {
	switch {
	case s.advisory == "closure":
		return "closed"
	case s.chl == "":
		return "none"
	}
	return s.risk
}

// levelBy returns what supports the level.
func (c surfaceCase) levelBy() string {
	switch c.want.level {
	case "":
		return ""
	case c.chlLevel:
		return "chlorophyll"
	case "3":
		return "report"
	}
	return "cells"
}

func surfaceCases() []surfaceCase {
	return []surfaceCase{
		{"low", []string{"0,3,satellite,,,"}, "", said{"3", "0", "low", "false", ""}, "satellite", "0", "0", "6000 derived"},
		{"medium", []string{"0,10,satellite,,,"}, "", said{"10", "1", "medium", "false", ""}, "satellite", "1", "0", "20000 derived"},
		{"high", []string{"0,60,satellite,,,"}, "", said{"60", "2", "high", "false", ""}, "satellite", "2", "0", "120000 derived"},
		{"many_cells", []string{"0,5,satellite,150000,,"}, "", said{"5", "2", "high", "false", ""}, "satellite", "0", "0", "150000 index"},
		{"some_cells", []string{"0,5,satellite,20000,,"}, "", said{"5", "1", "medium", "false", ""}, "satellite", "0", "0", "20000 index"},
		{"few_cells", []string{"0,60,satellite,100,,"}, "", said{"60", "2", "high", "false", ""}, "satellite", "2", "0", "100 index"},
		{"scum", []string{"0,5,satellite,,3,"}, "", said{"5", "3", "high", "false", ""}, "satellite", "0", "0", "10000 derived"},
		{"scum_flag", []string{"0,5,in_situ,,,good,scum"}, "", said{"5", "3", "high", "false", ""}, "in_situ", "0", "0", "10000 derived"},
		{"said_harmless", []string{"0,60,satellite,,0,"}, "", said{"60", "2", "high", "false", ""}, "satellite", "2", "0", "120000 derived"},
		{"sample", []string{"0,3,satellite,,,", "-1,60,in_situ,,,good"}, "", said{"60", "2", "high", "false", ""}, "in_situ", "2", "-1", "120000 derived"},
		{"sample_cells", []string{"0,3,satellite,,,", "0,4,in_situ,100000,,"}, "", said{"4", "2", "high", "false", ""}, "in_situ", "0", "0", "100000 counted"},
		{"old_sample", []string{"0,3,satellite,,,", "-3,60,in_situ,,,"}, "", said{"3", "0", "low", "false", ""}, "satellite", "0", "0", "6000 derived"},
		{"poor", []string{"-1,3,satellite,,,", "0,80,satellite,,,poor", "0,90,in_situ,,,poor"}, "", said{"3", "0", "low", "false", ""}, "satellite", "0", "-1", "6000 derived"},
		{"only_poor", []string{"0,80,satellite,,3,poor"}, "", said{stale: "false"}, "", "", "", ""},
		{"forecast", []string{"1,80,ai_forecast,,,"}, "", said{stale: "false"}, "", "", "", ""},
		{"below_limit", []string{"0,<15,in_situ,,,"}, "", said{"7.5", "0", "low", "false", ""}, "in_situ", "0", "0", ""},
		{"stale", []string{"-8,60,satellite,,,"}, "", said{"", "", "high", "true", ""}, "satellite", "", "-8", ""},
		{"stale_cells", []string{"-8,5,in_situ,150000,,"}, "", said{"", "", "high", "true", ""}, "in_situ", "", "-8", ""},
		{"never", nil, "", said{stale: "false"}, "", "", "", ""},
		{"closed_low", []string{"0,3,satellite,,,"}, "closure", said{"3", "0", "low", "false", "closure"}, "satellite", "0", "0", "6000 derived"},
		{"closed_high", []string{"0,60,satellite,,,"}, "closure", said{"60", "2", "high", "false", "closure"}, "satellite", "2", "0", "120000 derived"},
		{"closed_never", nil, "closure", said{stale: "false", advisory: "closure"}, "", "", "", ""},
		{"closed_stale", []string{"-8,5,satellite,,,"}, "closure", said{"", "", "low", "true", "closure"}, "satellite", "", "-8", ""},
		{"warned", []string{"0,3,satellite,,,"}, "warning", said{"3", "0", "low", "false", "warning"}, "satellite", "0", "0", "6000 derived"},
		{"noted", []string{"0,3,satellite,,,"}, "info", said{"3", "0", "low", "false", "info"}, "satellite", "0", "0", "6000 derived"},
		{"closed_once", []string{"0,3,satellite,,,"}, "expired", said{"3", "0", "low", "false", ""}, "satellite", "0", "0", "6000 derived"},
		{"eight_days", []string{"8d,60,satellite"}, "", said{"60", "2", "high", "false", ""}, "satellite", "2", "8d", "120000 derived"},
		{"fifteen_days", []string{"15d,60,satellite"}, "", said{"60", "2", "high", "false", ""}, "satellite", "2", "15d", "120000 derived"},
		{"over_a_year", []string{"400d,60,satellite"}, "", said{"", "", "high", "true", ""}, "satellite", "", "400d", ""},
		{"week", []string{"0,12,satellite,,,,,6,maximum"}, "", said{"12", "1", "medium", "false", ""}, "satellite", "1", "0", "24000 derived"},
		{"ten_days", []string{"-1,12,satellite,,,,,9,mean"}, "", said{"12", "1", "medium", "false", ""}, "satellite", "1", "-1", "24000 derived"},
		{"year", []string{"0,12,satellite,,,,,366"}, "", said{"12", "1", "medium", "false", ""}, "satellite", "1", "0", "24000 derived"},
		{"index_week", []string{"0,7.88,satellite,165422,,,,6,maximum"}, "", said{"7.88", "2", "high", "false", ""}, "satellite", "0", "0", "165422 index"},
		{"below_index", []string{"0,<3,satellite,91387,,,,6,maximum"}, "", said{"1.5", "1", "medium", "false", ""}, "satellite", "0", "0", "91387 index"},
		{"below_count", []string{"0,<3,in_situ,500"}, "", said{"1.5", "0", "low", "false", ""}, "in_situ", "0", "0", "500 counted"},
		{"ice", []string{"0,,satellite,,,,ice"}, "", said{stale: "false"}, "", "", "", ""},
		{"ice_after", []string{"-1,3,satellite", "0,,satellite,,,,ice"}, "", said{"3", "0", "low", "false", ""}, "satellite", "0", "-1", "6000 derived"},
		{"ice_stale", []string{"-8,60,satellite,,,,,6,maximum", "0,,satellite,,,,ice"}, "", said{"", "", "high", "true", ""}, "satellite", "", "-8", ""},
		{"seen", []string{"0,3,satellite,,,,scum_possible,,,4.5,12.34,1.2,21.5"}, "", said{"3", "0", "low", "false", ""}, "satellite", "0", "0", "6000 derived"},
		{"seen_gap", []string{"-1,3,satellite,,,,,,,,8", "0,,satellite,,,,scum_possible,,,30"}, "", said{"3", "0", "low", "false", ""}, "satellite", "0", "-1", "6000 derived"},
		{"foreseen", weekly(0), "", said{"12", "1", "medium", "false", ""}, "satellite", "1", "0", "24000 derived"},
		{"unforeseen", weekly(-7), "", said{"", "", "medium", "true", ""}, "satellite", "", "-7", ""},
	}
}

// point returns where the i-th case lies: alone in its tiles.
func (surfaceCase) point(i int) orb.Point {
	return orb.Point{6 + 1.5*float64(i%5), 48 + 1.2*float64(i/5)}
}

// surfaceZoom is that of the tiles in which each lake is alone.
const surfaceZoom = 12

var surfaceDatabase database

func startSurfaces(t *testing.T) string {
	t.Helper()
	lakes, obs := "id,name,lat,lon,region\n", "lake_id,"+surfaceColumns+"\n"
	moment := func(days int) string { return time.Now().UTC().AddDate(0, 0, days).Format(time.RFC3339) }
	statements := "id,lake_id,kind,cause,issuer,issued,valid_from,valid_until\n"
	for i, c := range surfaceCases() {
		p := c.point(i)
		lakes += fmt.Sprintf("%s,See %s,%v,%v,R%d\n", c.id, c.id, p.Lat(), p.Lon(), i%3)
		for _, row := range c.rows {
			cells := surfaceRow(t, row)
			obs += c.id
			for column := range strings.SplitSeq(surfaceColumns, ",") {
				obs += "," + cells[column]
			}
			obs += "\n"
		}
		switch c.advisory {
		case "":
		case "expired":
			statements += fmt.Sprintf("s-%s,%s,closure,cyanobacteria,Amt,%s,%s,%s\n", c.id, c.id, moment(-9), moment(-9), moment(-1))
		default:
			statements += fmt.Sprintf("s-%s,%s,%s,bacteria,Amt,%s,%s,\n", c.id, c.id, c.advisory, moment(-9), moment(-9))
		}
	}
	db := surfaceDatabase.importedOnce(t, lakes, obs)
	surfaceDatabase.statements.Do(func() {
		limnomaptest.Run(t, "import", "advisories", "--db", db, limnomaptest.WriteFile(t, filepath.Dir(db), "statements.csv", statements))
		limnomaptest.Run(t, "forecast", "--force", "--db", db)
		limnomaptest.Run(t, "export", "observations", filepath.Join(filepath.Dir(db), "export.csv"), "--db", db)
	})
	return startServer(t, "--db", db)
}

// Every answer of the server says the same about each lake: no one has a better class than another, and a closure is in all of them.
// TestPagesAgree looks at the pages.
func TestSurfacesAgree(t *testing.T) {
	t.Parallel()
	base := startSurfaces(t)
	cases := surfaceCases()
	const api = "/api/v1/bathing-lakes/"
	records, lines := recordsOf(t, base+api+"status", "lakes"), linesOf(t, base+api+"status.csv")
	for name, got := range map[string]map[string]shown{
		"status":           saidBy(records),
		"status as CSV":    saidBy(lines),
		"near":             saidBy(recordsOf(t, base+api+"near?lat=50&lon=9&radius_km=2000&limit=1000", "lakes")),
		"search":           saidBy(recordsOf(t, base+api+"search?q=see&limit=1000", "lakes")),
		"GeoJSON":          saidBy(featuresOf(t, base+api+"geojson")),
		"vector tiles":     saidBy(tileFeatures(t, base)),
		"status this week": saidBy(recordsOf(t, base+api+"status?date="+weekday(0), "lakes")),
	} {
		if len(got) != len(cases) {
			t.Errorf("%s has %d lakes, want %d", name, len(got), len(cases))
		}
		for _, c := range cases {
			want := c.shown(t)
			switch name {
			case "GeoJSON": // it has neither the risk nor the cells and the period
				want.risk, want.cells, want.start, want.composite = "", "", "", ""
			case "vector tiles": // they have neither the cells nor the period
				want.cells, want.start, want.composite = "", "", ""
				if want.below == "false" {
					want.below = ""
				}
			case "status this week": // it counts to the week's Sunday
				want.age = got[c.id].age
			}
			if got[c.id] != want {
				t.Errorf("%s says about %s %+v, want %+v", name, c.id, got[c.id], want)
			}
		}
	}
	for i, c := range cases {
		record := recordOf(records, c.id)
		if text(record["measured_by"]) != c.by || text(record["chl_level"]) != c.chlLevel {
			t.Errorf("%s is measured by %v at chl_level %v, want %s, %s", c.id, record["measured_by"], record["chl_level"], c.by, c.chlLevel)
		}
		for name, record := range map[string]map[string]any{"status": record, "status as CSV": recordOf(lines, c.id)} {
			if got := text(record["level_by"]); got != c.levelBy() {
				t.Errorf("%s says that the level of %s is by %q, want %q", name, c.id, got, c.levelBy())
			}
		}
		t.Run("history of "+c.id, func(t *testing.T) { checkHistoryOf(t, base, c, record) })
		t.Run("legend of "+c.id, func(t *testing.T) { checkLegendOf(t, base, c, record) })
		verdict, _, _ := strings.Cut(string(body(t, base+"/lakes/"+c.id+"?lang=en")), "</section>")
		checkTold(t, "page of a lake", c, verdict)
		t.Run("forecast of "+c.id, func(t *testing.T) { checkForecastOf(t, base, c, c.point(i)) })
		t.Run("filters of "+c.id, func(t *testing.T) { checkFiltersOf(t, base, c) })
		for _, style := range []string{"dots", "lakes"} {
			t.Run(style+" of "+c.id, func(t *testing.T) { checkMarkOf(t, base, style, c, c.point(i), text(record["color"])) })
		}
	}
	t.Run("stats", func(t *testing.T) { checkStatsOf(t, base) })
	t.Run("CAP", func(t *testing.T) { checkFeedOf(t, base) })
}

func body(t *testing.T, url string) []byte {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("GET %s = %s, %v", url, answer.Status, err)
	}
	return content
}

func recordsOf(t *testing.T, url, member string) []map[string]any {
	t.Helper()
	var all map[string]json.RawMessage
	if err := json.Unmarshal(body(t, url), &all); err != nil {
		t.Fatal(err)
	}
	var records []map[string]any
	if err := json.Unmarshal(all[member], &records); err != nil {
		t.Fatal(err)
	}
	return records
}

func featuresOf(t *testing.T, url string) []map[string]any {
	t.Helper()
	var records []map[string]any
	for _, f := range recordsOf(t, url, "features") {
		records = append(records, f["properties"].(map[string]any))
	}
	return records
}

// tileFeatures returns the properties of all lakes in the vector tile of the world, and the age that follows from the day of the value.
func tileFeatures(t *testing.T, base string) []map[string]any {
	t.Helper()
	var records []map[string]any
	for _, f := range mvttest.Features(t, body(t, base+"/api/v1/tiles/0/0/0.mvt"), "lakes", 4096) {
		if at := text(f.Properties["measured_at"]); at != "" {
			measured, err := time.Parse(time.RFC3339, at)
			if err != nil {
				t.Fatal(err)
			}
			f.Properties["age_days"] = int(time.Now().UTC().Truncate(day).Sub(measured) / day)
		}
		records = append(records, f.Properties)
	}
	return records
}

// text returns a value of JSON as text; null and what is missing are empty.
func text(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case map[string]any: // an official statement
		return text(v["kind"])
	}
	return fmt.Sprint(value)
}

func saidBy(records []map[string]any) map[string]shown {
	all := make(map[string]shown)
	for _, r := range records {
		all[text(r["id"])] = shown{
			said{text(r["chl"]), text(r["who_level"]), text(r["risk"]), text(r["stale"]), text(r["advisory"])}, text(r["age_days"]),
			text(r["cell_density_cells_ml"]), text(r["cell_density_by"]), text(r["below_limit"]), text(r["period_start"]), text(r["composite"]),
		}
	}
	return all
}

// linesOf returns the lines of a table as records.
func linesOf(t *testing.T, url string) []map[string]any {
	t.Helper()
	return tableOf(t, body(t, url))
}

func tableOf(t *testing.T, content []byte) []map[string]any {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var records []map[string]any
	for _, row := range rows[1:] {
		record := make(map[string]any)
		for i, column := range rows[0] {
			record[column] = row[i]
		}
		records = append(records, record)
	}
	return records
}

// recordOf returns the record of a lake, which must exist.
func recordOf(records []map[string]any, id string) map[string]any {
	return records[slices.IndexFunc(records, func(r map[string]any) bool { return r["id"] == id })]
}

// checkHistoryOf checks that the entry on which the state is based has the same class, cells and period, and that every row has its entry, also in
// the table and in an export.
func checkHistoryOf(t *testing.T, base string, c surfaceCase, record map[string]any) {
	url := base + "/api/v1/bathing-lakes/history/" + c.id
	entries, table := recordsOf(t, url, "history"), linesOf(t, url+".csv")
	if len(table) != len(entries) {
		t.Fatalf("the history as CSV has %d lines, want %d", len(table), len(entries))
	}
	exported := slices.DeleteFunc(surfaceExport(t), func(r map[string]any) bool { return r["lake_id"] != c.id })
	for _, text := range c.rows {
		row := surfaceRow(t, text)
		for name, records := range map[string][]map[string]any{"history": entries, "history as CSV": table, "export": exported} {
			checkRow(t, name, row, records)
		}
	}
	if c.by == "" {
		return
	}
	date, _, _ := strings.Cut(text(record["measured_at"]), "T")
	i := slices.IndexFunc(entries, func(e map[string]any) bool {
		return e["date"] == date && e["data_type"] == c.by && e["quality"] != "poor"
	})
	if i < 0 {
		t.Fatalf("%v has no entry of %s by %s", entries, date, c.by)
	}
	level := text(entries[i]["who_level"])
	if want := map[string]string{"low": "0", "medium": "1", "high": "23"}[c.want.risk]; !strings.Contains(want, level) || c.want.level != "" && level != c.want.level {
		t.Errorf("its entry has level %s, want %s of %+v", level, want, c.want)
	}
	want := c.shown(t)
	for name, entry := range map[string]map[string]any{"entry": entries[i], "line": table[i]} {
		if entry["date"] != date || text(entry["who_level"]) != level {
			t.Errorf("its %s is %q, want level %s", name, entry, level)
		}
		if got := text(entry["cell_density_cells_ml"]) + " " + text(entry["cell_density_by"]); c.want.level != "" && strings.TrimSpace(got) != c.cells {
			t.Errorf("its %s has the cells %s, want %s", name, got, c.cells)
		}
		if got, below := text(entry["below_limit"]), want.below; c.want.level != "" && got != strings.TrimPrefix(below, "false") {
			t.Errorf("its %s is below a limit: %q, want %s", name, got, below)
		}
		if got, by := text(entry["level_by"]), strings.TrimPrefix(c.levelBy(), "chlorophyll"); c.want.level != "" && got != by {
			t.Errorf("its %s says that the level is by %q, want %q", name, got, by)
		}
	}
}

// checkRow checks that records have an entry of a row with what it says, and no value of a gap.
func checkRow(t *testing.T, name string, row map[string]string, records []map[string]any) {
	t.Helper()
	i := slices.IndexFunc(records, func(r map[string]any) bool {
		return r["date"] == row["date"] && r["data_type"] == row["data_type"] && text(r["quality"]) == row["quality"]
	})
	if i < 0 {
		t.Errorf("the %s lacks %v", name, row)
		return
	}
	for _, column := range []string{"flags", "period_start", "composite", "scum_percent", "turbidity_ntu", "secchi_m", "water_temperature_c"} {
		if got := strings.Trim(text(records[i][column]), "[]"); got != row[column] {
			t.Errorf("the %s says that %s is %q, want %q of %v", name, column, got, row[column], row)
		}
	}
	for _, column := range []string{"chl", "who_level", "cell_density_cells_ml", "cell_density_by"} {
		if got := text(records[i][column]); row["chl"] == "" && got != "" {
			t.Errorf("the %s says that %s of a gap is %s", name, column, got)
		}
	}
}

// surfaceExport returns what is exported of the observations.
func surfaceExport(t *testing.T) []map[string]any {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(filepath.Dir(surfaceDatabase.path), "export.csv"))
	if err != nil {
		t.Fatal(err)
	}
	return tableOf(t, content)
}

// mostGrey is by how much the channels of the grey of no data differ at most; those of forecasts differ by more.
const mostGrey = 24

// checkForecastOf checks that limnomap's own forecast of the lake is in the list and in tiles, or that the list says why it is withheld and
// tiles have the lake in grey.
func checkForecastOf(t *testing.T, base string, c surfaceCase, p orb.Point) {
	const api = "/api/v1/bathing-lakes/"
	why := c.withheld()
	var history struct{ Forecast struct{ Withheld string } }
	limnomaptest.GetJSON(t, base+api+"history/"+c.id, &history)
	records := map[string]map[string]any{
		"list":    recordOf(recordsOf(t, base+api+"forecast?week=1", "lakes"), c.id),
		"CSV":     recordOf(linesOf(t, base+api+"forecast.csv?week=1"), c.id),
		"GeoJSON": recordOf(featuresOf(t, base+api+"forecast.geojson?week=1"), c.id),
		"history": {"withheld": history.Forecast.Withheld},
	}
	for name, r := range records {
		if got := text(r["withheld"]); got != why || name != "history" && (text(r["chl"]) == "") != (why != "") {
			t.Errorf("the forecast in %s is withheld for %q with the value %v, want %q", name, got, r["chl"], why)
		}
	}
	at := maptile.Fraction(p, surfaceZoom)
	tile := maptile.At(p, surfaceZoom)
	x, y := int(256*(at.X()-float64(tile.X))), int(256*(at.Y()-float64(tile.Y)))
	picture := tilePicture(t, fmt.Sprintf("%s/api/v1/tiles/%d/%d/%d.png?forecast=1", base, tile.Z, tile.X, tile.Y))
	seen, drawn := false, false // the map of a forecast is hatched: a single pixel may be between two lines
	for d := range 16 {
		c := color.NRGBAModel.Convert(picture.At(min(max(x+d-8, 0), 255), y)).(color.NRGBA)
		seen = seen || c.A > 0
		drawn = drawn || c.A > 0 && max(c.R, c.G, c.B)-min(c.R, c.G, c.B) > mostGrey
	}
	if drawn != (why == "") || !seen {
		t.Errorf("a tile draws the forecast: %v, and shows the lake: %v; withheld for %q", drawn, seen, why)
	}
}

// checkLegendOf checks that the colour of the value is in the class of the value's level.
func checkLegendOf(t *testing.T, base string, c surfaceCase, record map[string]any) {
	for _, class := range recordsOf(t, base+"/api/v1/legend.json", "classes") {
		has := slices.ContainsFunc(class["colors"].([]any), func(col any) bool { return col == record["color"] })
		if has != (text(class["level"]) == c.chlLevel) {
			t.Errorf("the class of level %v has the colour %v: %v, want the class of level %s", class["level"], record["color"], has, c.chlLevel)
		}
	}
}

func checkFiltersOf(t *testing.T, base string, c surfaceCase) {
	for _, risk := range []string{"low", "medium", "high"} {
		for _, stale := range []string{"false", "true"} {
			got := saidBy(recordsOf(t, base+"/api/v1/bathing-lakes/status?risk="+risk+"&include_stale="+stale, "lakes"))
			want := c.want.risk == risk && (c.want.stale == "false" || stale == "true")
			if _, found := got[c.id]; found != want {
				t.Errorf("risk=%s with include_stale=%s finds it: %v, want %v", risk, stale, found, want)
			}
		}
	}
}

// checkMarkOf checks the sign of a lake in a picture: a white ring within a dark one where its level is worse than its colour, a white bar on
// black where it is closed.
func checkMarkOf(t *testing.T, base, style string, c surfaceCase, p orb.Point, colour string) {
	const zoom, radius = surfaceZoom, 6 // of the coloured disc in pixels
	tile := maptile.At(p, zoom)
	at := maptile.Fraction(p, zoom)
	x, y := int(256*(at.X()-float64(tile.X))), int(256*(at.Y()-float64(tile.Y)))
	picture := func(dx, dy int) color.NRGBA {
		u, v := x+dx, y+dy
		img := tilePicture(t, fmt.Sprintf("%s/api/v1/tiles/%d/%d/%d.png?style=%s", base, zoom, int(tile.X)+floorDiv(u, 256), int(tile.Y)+floorDiv(v, 256), style))
		return color.NRGBAModel.Convert(img.At((u%256+256)%256, (v%256+256)%256)).(color.NRGBA)
	}
	white := color.NRGBA{255, 255, 255, 255}
	middle := picture(0, 0)
	closed := middle == white && picture(0, -5) == (color.NRGBA{0x26, 0x32, 0x38, 255})
	// A marker's white rim is its outermost line; the white ring of a sign lies within a dark one. At a corner of the sign the lines are
	// narrower than a pixel.
	worse := false
	for _, way := range [][2]int{{0, -1}, {0, 1}, {-1, 0}, {1, 0}} {
		ring := false
		for d := 2; d < radius+10 && !closed; d++ {
			c := picture(d*way[0], d*way[1])
			ring = ring || c.A == 0xff && min(c.R, c.G, c.B) > 0x90
			worse = worse || ring && c.A > 0xc0 && max(c.R, c.G, c.B) < 0x60
		}
	}
	if want := c.want.advisory == "closure"; closed != want {
		t.Errorf("closed: %v, want %v (the middle is %v)", closed, want, middle)
	}
	if want := c.want.class() != "closed" && c.want.level > c.chlLevel; worse != want {
		t.Errorf("worse than its colour: %v, want %v", worse, want)
	}
	if shown := fmt.Sprintf("#%02x%02x%02x", middle.R, middle.G, middle.B); !closed && c.want.chl != "" && shown != colour {
		t.Errorf("its colour is %s, want %s", shown, colour)
	}
}

func floorDiv(a, b int) int {
	if a < 0 {
		return (a - b + 1) / b
	}
	return a / b
}

func tilePicture(t *testing.T, url string) image.Image {
	t.Helper()
	img, err := png.Decode(strings.NewReader(string(body(t, url))))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func checkStatsOf(t *testing.T, base string) {
	var stats struct {
		All struct {
			Total   int `json:"total_lakes"`
			Without int `json:"lakes_without_data"`
			Closed  int
			Risk    map[string]int
		}
	}
	limnomaptest.GetJSON(t, base+"/api/v1/bathing-lakes/stats?by=risk", &stats)
	want := map[string]int{"low": 0, "medium": 0, "high": 0}
	closed, without := 0, 0
	for _, c := range surfaceCases() {
		if c.want.chl == "" {
			without++
		} else {
			want[c.want.risk]++
		}
		if c.want.advisory == "closure" {
			closed++
		}
	}
	if a := stats.All; fmt.Sprint(a.Risk) != fmt.Sprint(want) || a.Closed != closed || a.Without != without || a.Total != len(surfaceCases()) {
		t.Errorf("the counts are %+v, want %v, %d closed, %d without a value", a, want, closed, without)
	}
}

// checkFeedOf checks that there are messages about the official statements, and only these.
func checkFeedOf(t *testing.T, base string) {
	var feed struct {
		Entries []struct {
			Title string `xml:"title"`
			Link  struct {
				Href string `xml:"href,attr"`
			} `xml:"link"`
		} `xml:"entry"`
	}
	if err := xml.Unmarshal(body(t, base+"/api/v1/advisories.cap"), &feed); err != nil {
		t.Fatal(err)
	}
	for _, c := range surfaceCases() {
		n := 0
		for _, e := range feed.Entries {
			if strings.HasSuffix(e.Link.Href, "/s-"+c.id+".cap") {
				n++
				var message struct {
					Info []struct {
						Event string `xml:"event"`
					} `xml:"info"`
				}
				if err := xml.Unmarshal(body(t, e.Link.Href), &message); err != nil || len(message.Info) == 0 {
					t.Errorf("the message about %s is %+v, %v", c.id, message, err)
				}
			}
		}
		if want := c.advisory != ""; (n == 1) != want { // one that has expired is listed for some days more
			t.Errorf("%d messages about %s, want one: %v", n, c.id, want)
		}
	}
}

// The closed lakes have many algae, no value, and few algae next to another lake; one was closed only in the past.
const statementLakes = `id,name,lat,lon,region
zu_gruen,Grünsee,52.4000,13.6000,Berlin
zu_leer,Wolkensee,51.5000,12.0000,Sachsen
zu_klar,Klarsee,48.5000,9.0000,Bayern
neben,Nebensee,48.5030,9.0000,Bayern
zell,Zellsee,50.5000,11.0000,Thüringen
warn,Warnsee,49.5000,10.0000,Bayern
saison,Saisonsee,53.1000,13.0000,Brandenburg
einst,Einstsee,52.9000,14.1000,Brandenburg
`

var (
	statementDatabase database
	day               = 24 * time.Hour
	closedUntil       = time.Now().UTC().Add(30 * day).Truncate(day)
)

// startStatements serves lakes with official statements, and one with samples, whose cell count is worse than its colour.
func startStatements(t *testing.T) string {
	t.Helper()
	obs := "lake_id,date,chl,data_type,cell_density_cells_ml,chl_lower,chl_upper,quality,secchi_m,water_temperature_c\n"
	for week := -12; week <= 0; week++ {
		for _, lake := range []string{"zu_klar", "neben", "warn", "saison", "einst", "zell"} {
			quality := ""
			if lake == "zell" && week == -4 {
				quality = "poor"
			}
			obs += fmt.Sprintf("%s,%s,3,satellite,,2,4.5,%s,,\n", lake, weekday(week), quality)
		}
		obs += fmt.Sprintf("zu_gruen,%s,80,satellite,,,,,,\n", weekday(week))
	}
	obs += fmt.Sprintf("zell,%s,5,in_situ,150000,4,6.5,good,1.2,21.5\n", weekday(0))
	obs += fmt.Sprintf("zell,%s,<15,in_situ,,,,,2.5,19\n", weekday(-5))
	obs += fmt.Sprintf("zell,%s,40,in_situ,,,,poor,,\n", weekday(-8))
	obs += fmt.Sprintf("zell,%s,6,ai_forecast,,,,,,\n", weekday(1))
	db := statementDatabase.importedOnce(t, statementLakes, obs)
	statementDatabase.statements.Do(func() {
		moment := func(d time.Duration) string { return time.Now().UTC().Add(d).Format(time.RFC3339) }
		rows := "id,lake_id,kind,cause,issuer,text_en,text_de,url,issued,valid_from,valid_until,withdrawn\n"
		for _, row := range [][]string{
			{"a1", "zu_gruen", "closure", "cyanobacteria", "Gesundheitsamt Berlin", "The whole beach is closed.", "Der ganze Strand ist gesperrt.", "https://example.org/beach?a=1&b=2", moment(-day), moment(-day), closedUntil.Format(time.RFC3339), ""},
			{"a2", "zu_gruen", "season", "other", "Stadt Berlin", "The season has begun.", "Die Saison hat begonnen.", "", moment(-day), moment(-day), "", ""},
			{"a3", "zu_leer", "closure", "bacteria", "Landkreis Wittenberg", "", "Badeverbot wegen Bakterien.", "", moment(-day), moment(-day), "", ""},
			{"a4", "zu_klar", "closure", "other", "Stadt Tübingen", "Building works.", "", "", moment(-day), moment(-day), "", ""},
			{"a5", "warn", "warning", "cyanobacteria", "Stadt Nürnberg", "", "", "", moment(-day), moment(-day), "", ""},
			{"a6", "saison", "season", "other", "Land Brandenburg", "", "", "", moment(-day), moment(-day), "", ""},
			{"a7", "einst", "closure", "cyanobacteria", "Amt Uckermark", "It was closed.", "Er war gesperrt.", "", weekday(-5), weekday(-5), weekday(-3), ""},
		} {
			rows += strings.Join(row, ",") + "\n"
		}
		limnomaptest.Run(t, "import", "advisories", "--db", db, limnomaptest.WriteFile(t, filepath.Dir(db), "advisories.csv", rows))
	})
	return startServer(t, "--db", db)
}
