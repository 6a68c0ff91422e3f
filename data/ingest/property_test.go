package ingest

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/paulmach/orb"
	"golang.org/x/text/encoding/charmap"
	"pgregory.net/rapid"

	"limnomap/data"
)

// A dialect is a way to write the same table.
type dialect struct {
	separator rune
	comma     bool // decimal commas
	german    bool // German dates
	latin1    bool
	mark      bool
	crlf      bool
}

func drawDialect(rt *rapid.T) dialect {
	d := dialect{
		separator: rapid.SampledFrom([]rune(",;\t|")).Draw(rt, "separator"),
		german:    rapid.Bool().Draw(rt, "german dates"),
		latin1:    rapid.Bool().Draw(rt, "ISO-8859-1"),
		crlf:      rapid.Bool().Draw(rt, "CRLF"),
	}
	// With commas between fields and in numbers, some rows are ambiguous and are rejected.
	d.comma = d.separator != ',' && rapid.Bool().Draw(rt, "decimal commas")
	d.mark = !d.latin1 && rapid.Bool().Draw(rt, "byte-order mark")
	return d
}

func (d dialect) number(f float64, ok bool) string {
	if !ok {
		return ""
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if d.comma {
		s = strings.Replace(s, ".", ",", 1)
	}
	return s
}

func (d dialect) date(day data.Date) string {
	if d.german {
		return day.Time().Format("02.01.2006")
	}
	return day.String()
}

// table writes rows with the columns in a permuted order.
func (d dialect) table(rt *rapid.T, rows [][]string) string {
	columns := make([]int, len(rows[0]))
	for i := range columns {
		columns[i] = i
	}
	order := rapid.Permutation(columns).Draw(rt, "order of columns")
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Comma, w.UseCRLF = d.separator, d.crlf
	for _, row := range rows {
		turned := make([]string, len(row))
		for to, from := range order {
			turned[to] = row[from]
		}
		if err := w.Write(turned); err != nil {
			rt.Fatal(err)
		}
	}
	w.Flush()
	text := b.String()
	if d.latin1 {
		var err error
		if text, err = charmap.Windows1252.NewEncoder().String(text); err != nil {
			rt.Fatal(err)
		}
	}
	if d.mark {
		text = "\ufeff" + text
	}
	return text
}

func decimals(rt *rapid.T, name string, low, high, scale int) float64 {
	return float64(rapid.IntRange(low*scale, high*scale).Draw(rt, name)) / float64(scale)
}

// All dialects store the same values.
func TestEveryDialectMeansTheSame(t *testing.T) {
	s := newStore(t)
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		d := drawDialect(rt)
		lake := data.Lake{
			ID:         data.LakeID(fmt.Sprintf("run_%d", run)),
			ExternalID: rapid.StringMatching(`[A-Z]{2}[0-9]{1,4}`).Draw(rt, "external id"),
			// The first letter must not begin a text that means no value. The dash comes before all other characters that are not
			// ASCII: after an ß, its two bytes would also be a valid letter in UTF-8 (N'Ko).
			Name:    "L" + rapid.StringMatching(`–?[a-zäöüß",;|']{0,12}( [a-zÄÖÜ"]{1,5})?`).Draw(rt, "name"),
			Point:   orb.Point{decimals(rt, "lon", -180, 180, 1e6), decimals(rt, "lat", -90, 90, 1e6)},
			Region:  rapid.StringMatching(`([A-Z]{3})?`).Draw(rt, "region"),
			AreaKM2: decimals(rt, "area", 0, 1000, 100),
		}
		rows := [][]string{
			{"id", "external_id", "name", "lat", "lon", "region", "area_km2"},
			{string(lake.ID), lake.ExternalID, lake.Name, d.number(lake.Point.Lat(), true), d.number(lake.Point.Lon(), true),
				lake.Region, d.number(lake.AreaKM2, lake.AreaKM2 > 0)},
		}
		if r := mustImport(t, Lakes, s, nil, d.table(rt, rows)); r.Added != 1 {
			rt.Fatalf("lakes: %+v, want one added", r)
		}

		rows = [][]string{{"lake_id", "date", "chl", "data_type", "cell_density_cells_ml", "who_level"}}
		var want []data.Observation
		for i := range rapid.IntRange(1, 5).Draw(rt, "observations") {
			o := data.Observation{
				LakeID:      lake.ID,
				Date:        data.Date(20000 - 7*i),
				Type:        data.DataType(rapid.IntRange(0, 1).Draw(rt, "type")),
				Chlorophyll: data.Chlorophyll(rapid.IntRange(-1, int(data.MaxChlorophyll)).Draw(rt, "chl")),
				Level:       data.NoLevel,
				CellDensity: data.NoCellDensity,
			}
			if o.Chlorophyll.Valid() {
				o.Level = data.Level(rapid.IntRange(-1, 3).Draw(rt, "level"))
				o.CellDensity = float64(rapid.IntRange(-1, 1e6).Draw(rt, "density"))
			}
			want = append(want, o)
			rows = append(rows, []string{string(o.LakeID), d.date(o.Date), d.number(o.Chlorophyll.Float(), o.Chlorophyll.Valid()),
				o.Type.String(), d.number(o.CellDensity, o.CellDensity >= 0), d.number(float64(o.Level), o.Level >= 0)})
		}
		if r := mustImport(t, Observations, s, nil, d.table(rt, rows)); r.Added != len(want) {
			rt.Fatalf("observations: %+v, want %d added", r, len(want))
		}
		gotLake, got, err := s.History(t.Context(), lake.ID, data.Newest(len(want)))
		if err != nil || gotLake != lake || !slices.Equal(got, want) {
			rt.Fatalf("stored %+v, %+v, %v, want %+v, %+v", gotLake, got, err, lake, want)
		}
	})
}
