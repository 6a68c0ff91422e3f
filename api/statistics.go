package api

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"

	"limnomap/api/params"
	"limnomap/api/record"
	"limnomap/api/route"
	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/data/statistics"
)

// maxStatisticsRows bounds the observations of a lake of which statistics are made, the newest ones: of three weekly sources for sixty years.
const maxStatisticsRows = 10_000

// The series of statistics, in the order in which they are answered.
var statisticsSeries = []struct {
	name string
	of   statistics.Series
}{{"together", statistics.Together}, {"satellite", statistics.OfSatellite}, {"in_situ", statistics.OfSamples}}

// rounded rounds µg/l to hundredths, as they are stored.
func rounded(f float64) float64 { return math.Round(100*f) / 100 }

// decimals rounds a number; infinity is null, as NaN.
func decimals(f float64, n int) float64 {
	if math.IsInf(f, 0) {
		return math.NaN()
	}
	power := math.Pow(10, float64(n))
	return math.Round(f*power) / power
}

// A statisticsYear is a year of a series.
type statisticsYear struct {
	*statistics.Year
	lake   *data.Lake
	series string
	shares *yearShares // nil without pixels
}

// yearShares are the means of the shares of the passes of a year that are in a series and whose pixels are kept.
type yearShares struct {
	passes    int
	high, p90 float64 // the part of the lake with a high risk, and the ninetieth percentile in µg/l
}

// sharesByYear returns those of a series of a lake: of its passes that maps show, without those of a source that is outranked in its week.
func sharesByYear(observations []data.Observation, series statistics.Series, shares map[passKey]*passShares) map[int]*yearShares {
	if len(shares) == 0 {
		return nil
	}
	shown := statistics.ShownOf(observations, series)
	best := make(map[data.Week]uint8) // ranks less 1, of which 255 is none
	for _, o := range shown {
		if rank, ok := best[o.Date.Week()]; o.Type == data.Satellite && (!ok || o.Rank-1 < rank) {
			best[o.Date.Week()] = o.Rank - 1
		}
	}
	years := make(map[int]*yearShares)
	for _, o := range shown {
		of := shares[passKey{o.Date, o.Source}]
		if of == nil || o.Type != data.Satellite || o.Rank-1 > best[o.Date.Week()] {
			continue
		}
		y := years[o.Date.Time().Year()]
		if y == nil {
			y = new(yearShares)
			years[o.Date.Time().Year()] = y
		}
		y.passes++
		y.high += of.Risks[data.RiskHigh].Float()
		y.p90 += of.P90.Float()
	}
	for _, y := range years {
		y.high /= float64(y.passes)
		y.p90 /= float64(y.passes)
	}
	return years
}

// levelColumns returns columns of a number of days or weeks of each risk.
func levelColumns[R any](prefix string, of func(R) *[data.MaxLevel + 1]int) (columns record.Columns[R]) {
	for _, risk := range []data.Risk{data.RiskLow, data.RiskMedium, data.RiskHigh} {
		columns = append(columns, record.Integer(prefix+risk.String(), func(y R) float64 {
			n := 0
			for level, count := range of(y) {
				if data.Level(level).Risk() == risk {
					n += count
				}
			}
			return float64(n)
		}))
	}
	return columns
}

var (
	sharesOfYear = record.Columns[statisticsYear]{
		record.Number("share_high", func(y statisticsYear) float64 {
			if y.shares == nil {
				return math.NaN()
			}
			return math.Round(1e4*y.shares.high) / 1e4
		}),
		record.Number("p90", func(y statisticsYear) float64 {
			if y.shares == nil {
				return math.NaN()
			}
			return rounded(y.shares.p90)
		}),
	}.Optional()
	bandColumns = record.Columns[*statistics.BandPoint]{
		record.Integer("day", func(p *statistics.BandPoint) float64 { return float64(p.Day) }),
		record.Number("p10", func(p *statistics.BandPoint) float64 { return rounded(p.P10) }),
		record.Number("p25", func(p *statistics.BandPoint) float64 { return rounded(p.P25) }),
		record.Number("p50", func(p *statistics.BandPoint) float64 { return rounded(p.P50) }),
		record.Number("p75", func(p *statistics.BandPoint) float64 { return rounded(p.P75) }),
		record.Number("p90", func(p *statistics.BandPoint) float64 { return rounded(p.P90) }),
		record.Integer("values", func(p *statistics.BandPoint) float64 { return float64(p.Values) }),
		record.Integer("years", func(p *statistics.BandPoint) float64 { return float64(p.Years) }),
	}
	plainYearColumns = slices.Concat(
		record.Columns[statisticsYear]{
			record.Integer("year", func(y statisticsYear) float64 { return float64(y.Year.Year) }),
			record.Integer("values", func(y statisticsYear) float64 { return float64(y.Values) }),
			record.Number("mean", func(y statisticsYear) float64 { return rounded(y.Mean) }),
			record.Number("median", func(y statisticsYear) float64 { return rounded(y.Median) }),
			record.Number("max", func(y statisticsYear) float64 { return rounded(y.Max) }),
			record.Word("max_date", func(y statisticsYear) string { return y.MaxDate.String() }),
			record.Word("trophic", func(y statisticsYear) string { return y.Trophic.String() }),
		},
		levelColumns("weeks_", func(y statisticsYear) *[data.MaxLevel + 1]int { return &y.Weeks }),
		levelColumns("days_", func(y statisticsYear) *[data.MaxLevel + 1]int { return &y.Days }),
		record.Columns[statisticsYear]{
			record.Word("bloom_onset", func(y statisticsYear) string { return y.Onset.String() }),
			record.Word("bloom_end", func(y statisticsYear) string { return y.End.String() }),
			record.Integer("bloom_days", func(y statisticsYear) float64 { return float64(y.Length()) }),
		})
	yearColumns = slices.Concat(plainYearColumns, sharesOfYear)
	yearCells   = slices.Concat(record.Columns[statisticsYear]{
		record.Word("lake_id", func(y statisticsYear) string { return string(y.lake.ID) }),
		record.Word("series", func(y statisticsYear) string { return y.series }),
	}, yearColumns)
	trendColumns = record.Columns[*statistics.Trend]{
		record.Number("slope", func(t *statistics.Trend) float64 { return math.Round(1e4*t.Slope) / 1e4 }),
		record.Number("p", func(t *statistics.Trend) float64 { return math.Round(1e4*t.P) / 1e4 }),
		record.Bool("significant", func(t *statistics.Trend) bool { return t.Significant() }),
		record.Integer("first", func(t *statistics.Trend) float64 { return float64(t.First) }),
		record.Integer("last", func(t *statistics.Trend) float64 { return float64(t.Last) }),
		record.Integer("years", func(t *statistics.Trend) float64 { return float64(t.Years) }),
	}
	placeColumns = record.Columns[*statisticsPlace]{
		record.Word("date", func(p *statisticsPlace) string { return p.value.Date.String() }),
		record.Number("chl", func(p *statisticsPlace) float64 { return rounded(p.value.Chlorophyll) }),
		record.Number("percentile", func(p *statisticsPlace) float64 { return math.Round(10*p.Percent) / 10 }),
		record.Integer("years", func(p *statisticsPlace) float64 { return float64(p.Years) }),
		record.Integer("years_lower", func(p *statisticsPlace) float64 { return float64(p.Lower) }),
		record.Integer("years_higher", func(p *statisticsPlace) float64 { return float64(p.Higher) }),
	}
)

// A statisticsPlace is where the newest value of a series stands.
type statisticsPlace struct {
	statistics.Place
	value statistics.Value
}

// statistics answers with the seasons, years and trend of a lake.
func (h *lakeHandlers) statistics(w http.ResponseWriter, r *http.Request, p *published) error {
	return h.statisticsJSON(w, r, p, data.LakeID(route.Values(r)[0]))
}

// statisticsJSON answers with those of the lake with that id.
func (h *lakeHandlers) statisticsJSON(w http.ResponseWriter, r *http.Request, p *published, id data.LakeID) error {
	observations, shares, err := h.allValues(r, p, id)
	if err != nil {
		return err
	}
	i, _ := p.snap.Index(id)
	lake := &p.snap.Lakes[i]
	content := record.Object("{").Text("lake_id", string(id)).Text("name", lake.Name).TextOrNull("region", lake.Region)
	for _, series := range statisticsSeries {
		values := statistics.ValuesOf(observations, series.of)
		if len(values) == 0 {
			content = append(content.Name(series.name), "null"...)
			continue
		}
		newest := values[len(values)-1]
		content = content.Open(series.name).Int("values", len(values)).Text("first", values[0].Date.String()).Text("last", newest.Date.String())
		content = content.Name("newest")
		if place, ok := statistics.PlaceOf(values, newest); ok {
			content = placeColumns.AppendObject(content, record.Member, &statisticsPlace{place, newest})
		} else {
			content = append(content, "null"...)
		}
		content = content.Name("trend")
		if trend, ok := statistics.TrendOf(values); ok {
			content = trendColumns.AppendObject(content, record.Member, &trend)
		} else {
			content = append(content, "null"...)
		}
		content = appendAll(content.Array("years"), yearsOf(i, series.name, values, sharesByYear(observations, series.of, shares), p), yearColumns)
		content = appendAll(content.Close("]").Array("band"), pointers(statistics.Band(values)), bandColumns).Close("]}")
	}
	return h.sender.SendBytes(w, r, jsonKind, content.Close("}\n"))
}

// appendAll appends records to an array.
func appendAll[R any](content record.Object, all []R, columns record.Columns[R]) record.Object {
	for i, r := range all {
		if i > 0 {
			content = append(content, ',')
		}
		content = columns.AppendObject(content, record.Member, r)
	}
	return content
}

func pointers[T any](all []T) []*T {
	p := make([]*T, len(all))
	for i := range all {
		p[i] = &all[i]
	}
	return p
}

func yearsOf(lake int, series string, values []statistics.Value, shares map[int]*yearShares, p *published) (all []statisticsYear) {
	years := statistics.YearsOf(values, p.snap.Profile, p.snap.AsOf.Last())
	for i := range years {
		all = append(all, statisticsYear{&years[i], &p.snap.Lakes[lake], series, shares[years[i].Year]})
	}
	return all
}

// statisticsCSV answers with the years of a lake as a table. A lake whose id ends in .csv has its statistics as JSON at that address, see historyCSV.
func (h *lakeHandlers) statisticsCSV(w http.ResponseWriter, r *http.Request, p *published) error {
	id := data.LakeID(route.Values(r)[0])
	if _, ok := p.snap.Index(id + ".csv"); ok {
		return h.statisticsJSON(w, r, p, id+".csv")
	}
	observations, shares, err := h.allValues(r, p, id)
	if err != nil {
		return err
	}
	i, _ := p.snap.Index(id)
	nameFile(w, "statistics-"+string(id))
	content := yearCells.Header()
	for _, series := range statisticsSeries {
		years := sharesByYear(observations, series.of, shares)
		for _, y := range yearsOf(i, series.name, statistics.ValuesOf(observations, series.of), years, p) {
			content = yearCells.AppendLine(content, y)
		}
	}
	return h.sender.SendBytes(w, r, csvKind, content)
}

// allValues returns the measurements of a lake up to the day that the data are as of, of all years that the store has, and the shares of those whose pixels
// are kept.
func (h *lakeHandlers) allValues(r *http.Request, p *published, id data.LakeID) (all []data.Observation, shares map[passKey]*passShares, err error) {
	query := params.Of(r)
	if err := query.Err(); err != nil {
		return nil, nil, err
	}
	i, ok := p.snap.Index(id)
	if !ok {
		return nil, nil, data.ErrNoLake
	}
	if all, err = h.valuesOf(r, p, i); err == nil && p.snap.Pixels.Count > 0 {
		err = h.askStore(r, errStore, func(ctx context.Context) error {
			shares = h.sharesOf(ctx, r, p.snap, i, all)
			return nil
		})
	}
	return all, shares, err
}

// valuesOf returns those of the i-th lake.
func (h *lakeHandlers) valuesOf(r *http.Request, p *published, i int) ([]data.Observation, error) {
	q := allOf(p.snap, data.TypesOf(data.Satellite, data.InSitu))
	observations, whole := p.snap.History(i, q)
	if !whole {
		var err error
		id := p.snap.Lakes[i].ID
		if _, observations, err = h.readHistory(r, id, q); err != nil {
			return nil, fmt.Errorf("history of %s: %w", id, err)
		}
	}
	return observations, nil
}

// allOf selects all observations of types up to the day that the data are as of.
func allOf(snap *snapshot.Snapshot, types data.DataTypes) data.HistoryQuery {
	return data.HistoryQuery{Limit: maxStatisticsRows, Period: data.Period{First: data.MinDate, Last: snap.AsOf.Last()}, Types: types}
}
