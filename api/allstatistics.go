package api

import (
	"cmp"
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

// maxStatisticsLakes bounds the lakes of a table of statistics: they take some seconds.
const maxStatisticsLakes = 100_000

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

// regionYears returns the years of regions, in the order of regions and years.
func regionYears(snap *snapshot.Snapshot, lakes []int32) []*regionYear {
	type key struct {
		region string
		year   int
	}
	all := make(map[key]*regionYear)
	for _, i := range lakes {
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
	})
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

// allStatisticsCSV answers with the years of all lakes, or of those of a region, as a table; or with those of regions.
func (h *lakeHandlers) allStatisticsCSV(w http.ResponseWriter, r *http.Request, p *published) error {
	query := params.Of(r)
	by := params.OneOf(&query, "by", []string{"lake", "region"})
	region, ofRegion := query.Text("region")
	year := query.Integer("year", 1, math.MaxInt16, 0)
	var lakes []int32
	for i := range p.snap.Lakes {
		if !ofRegion || p.snap.Lakes[i].Region == region {
			lakes = append(lakes, int32(i))
		}
	}
	if len(lakes) > maxStatisticsLakes {
		query.Refuse("region", "there are %d lakes; want a region with at most %d", len(lakes), maxStatisticsLakes)
	}
	if err := query.Err(); err != nil {
		return err
	}
	if by == "region" {
		var all []*regionYear
		err := h.sender.InTurn(r, yearsCost*len(lakes), func() error {
			all = regionYears(p.snap, lakes)
			return nil
		})
		if err != nil {
			return err
		}
		content := regionYearCells.Header()
		for _, y := range all {
			if year == 0 || y.year == year {
				content = regionYearCells.AppendLine(content, y)
			}
		}
		nameFile(w, "statistics-regions")
		return h.sender.SendBytes(w, r, csvKind, content)
	}
	nameFile(w, "statistics")
	return h.sender.SendList(w, r, csvKind, yearsCost*len(lakes), func() answer.List {
		return answer.List{
			Head: allYearCells.Header(),
			Append: func(b []byte, n int) []byte {
				years := heldYears(p.snap, int(lakes[n]))
				for i := range years {
					if year == 0 || years[i].Year == year {
						b = allYearCells.AppendLine(b, statisticsYear{Year: &years[i], lake: &p.snap.Lakes[lakes[n]]})
					}
				}
				return b
			},
			Len:    len(lakes),
			Memory: int64(4 * cap(lakes)),
		}
	})
}

// yearsCost is how many times as long the years of a lake take as an item of another list.
const yearsCost = 16
