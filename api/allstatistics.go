package api

import (
	"cmp"
	"context"
	"maps"
	"math"
	"net/http"
	"slices"

	"limnomap/api/answer"
	"limnomap/api/params"
	"limnomap/api/record"
	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/data/statistics"
)

const (
	// yearsCost is how many times as long the years of a lake take as an item of another list.
	yearsCost = 16
	// maxYearTables is how many tables of years are kept, and maxYearBytes the largest size of one: that of some 10,000 lakes with three years.
	maxYearTables, maxYearBytes = 4, 4 << 20
)

// heldYears returns the years of the i-th lake that are in memory from their first day on, of satellites and samples together.
func heldYears(snap *snapshot.Snapshot, i int) []statistics.Year {
	measured, since := snap.Measured(i)
	years := statistics.YearsOf(statistics.ValuesOf(measured, statistics.Together), snap.Profile, snap.AsOf.Last())
	return slices.DeleteFunc(years, func(y statistics.Year) bool {
		return y.Year < since.Time().Year() || y.Year == since.Time().Year() && since.Time().YearDay() > 1
	})
}

// A regionYear sums up the years of the lakes of a region.
type regionYear struct {
	region        string
	year          int
	values        int
	means         []float64 // of lakes
	max           float64
	weeks, days   [data.MaxLevel + 1]int
	sum           float64 // of means
	medianOfMeans float64
}

func (y *regionYear) add(of *statistics.Year) {
	y.values += of.Values
	y.means = append(y.means, of.Mean)
	y.sum, y.max = y.sum+of.Mean, max(y.max, of.Max)
	for level := range y.weeks {
		y.weeks[level] += of.Weeks[level]
		y.days[level] += of.Days[level]
	}
}

// regionYears returns the years of regions, in the order of regions and years. The error is that of ctx.
func regionYears(ctx context.Context, snap *snapshot.Snapshot, lakes []int32) ([]*regionYear, error) {
	type key struct {
		region string
		year   int
	}
	all := make(map[key]*regionYear)
	for _, i := range lakes {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		region := snap.Lakes[i].Region
		for _, y := range heldYears(snap, int(i)) {
			k := key{region, y.Year}
			if all[k] == nil {
				all[k] = &regionYear{region: region, year: y.Year}
			}
			all[k].add(&y)
		}
	}
	for _, y := range all {
		slices.Sort(y.means)
		n := len(y.means)
		y.medianOfMeans = (y.means[(n-1)/2] + y.means[n/2]) / 2
	}
	return slices.SortedFunc(maps.Values(all), func(a, b *regionYear) int {
		return cmp.Or(cmp.Compare(a.region, b.region), a.year-b.year)
	}), nil
}

var regionYearCells = slices.Concat(record.Columns[*regionYear]{
	record.Text("region", func(y *regionYear) string { return y.region }),
	record.Integer("year", func(y *regionYear) float64 { return float64(y.year) }),
	record.Integer("lakes", func(y *regionYear) float64 { return float64(len(y.means)) }),
	record.Integer("values", func(y *regionYear) float64 { return float64(y.values) }),
	record.Number("mean", func(y *regionYear) float64 { return rounded(y.sum / float64(len(y.means))) }),
	record.Number("median", func(y *regionYear) float64 { return rounded(y.medianOfMeans) }),
	record.Number("max", func(y *regionYear) float64 { return rounded(y.max) }),
},
	levelColumns("weeks_", func(y *regionYear) *[data.MaxLevel + 1]int { return &y.weeks }),
	levelColumns("days_", func(y *regionYear) *[data.MaxLevel + 1]int { return &y.days }))

var allYearCells = slices.Concat(record.Columns[statisticsYear]{
	record.Word("lake_id", func(y statisticsYear) string { return string(y.lake.ID) }),
	record.Text("name", func(y statisticsYear) string { return y.lake.Name }),
	record.Text("region", func(y statisticsYear) string { return y.lake.Region }),
}, plainYearColumns) // how much of each lake was affected is read from the database, which would take too long for all

// A yearsKey names a table of years that is kept.
type yearsKey struct {
	by     string
	region regionFilter
	year   int // 0 for all
}

// allStatisticsCSV answers with the years of all lakes, or of those of a region, as a table; or with those of regions.
func (h *lakeHandlers) allStatisticsCSV(w http.ResponseWriter, r *http.Request, p *published) error {
	query := params.Of(r)
	by := params.OneOf(&query, "by", []string{"lake", "region"})
	region, lakes := p.lakesOf(&query)
	key := yearsKey{by, region, query.Integer("year", 1, math.MaxInt16, 0)}
	if err := query.Err(); err != nil {
		return err
	}
	nameFile(w, map[string]string{"lake": "statistics", "region": "statistics-regions"}[by])
	if content, ok := p.years.Get(key); ok {
		return h.sender.SendBytes(w, r, csvKind, content)
	}
	if by == "lake" && !h.sender.HoldsList(len(lakes)) {
		return h.sender.SendList(w, r, csvKind, yearsCost*len(lakes), func() answer.List {
			return answer.List{
				Head:   allYearCells.Header(),
				Append: func(b []byte, n int) []byte { return appendYears(b, p.snap, int(lakes[n]), key.year) },
				Len:    len(lakes),
				Memory: int64(4 * cap(lakes)),
			}
		})
	}
	tableOf := lakeYearsTable
	if by == "region" {
		tableOf = regionYearsTable
	}
	var content []byte
	err := h.sender.InTurn(r, yearsCost*len(lakes), func() (err error) {
		content, err = tableOf(r.Context(), p.snap, lakes, key.year)
		return err
	})
	if err != nil {
		return err
	}
	if len(lakes) > 0 && len(content) <= maxYearBytes { // names that no region has must not replace others
		p.years.Add(key, content)
	}
	return h.sender.SendBytes(w, r, csvKind, content)
}

// lakeYearsTable returns the years of lakes, of one year or all. The error is that of ctx.
func lakeYearsTable(ctx context.Context, snap *snapshot.Snapshot, lakes []int32, year int) ([]byte, error) {
	content := allYearCells.Header()
	for _, i := range lakes {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		content = appendYears(content, snap, int(i), year)
	}
	return content, nil
}

func appendYears(b []byte, snap *snapshot.Snapshot, lake, year int) []byte {
	years := heldYears(snap, lake)
	for i := range years {
		if year == 0 || years[i].Year == year {
			b = allYearCells.AppendLine(b, statisticsYear{Year: &years[i], lake: &snap.Lakes[lake]})
		}
	}
	return b
}

// regionYearsTable is lakeYearsTable with the years of the lakes' regions.
func regionYearsTable(ctx context.Context, snap *snapshot.Snapshot, lakes []int32, year int) ([]byte, error) {
	all, err := regionYears(ctx, snap, lakes)
	content := regionYearCells.Header()
	for _, y := range all {
		if year == 0 || y.year == year {
			content = regionYearCells.AppendLine(content, y)
		}
	}
	return content, err
}
