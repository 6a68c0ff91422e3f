package api

import (
	"slices"
	"strconv"

	"limnomap/api/record"
	"limnomap/data"
	"limnomap/data/accuracy"
)

// An accuracyGroup is a group of one kind.
type accuracyGroup struct {
	*accuracy.Group
	by accuracy.By
}

// is returns what the group is of, if it is of that kind.
func (g accuracyGroup) is(by accuracy.By) string {
	if g.by == by {
		return g.Of
	}
	return ""
}

// same, low and high are those of the agreement.
func (g accuracyGroup) same() float64 { n, _, _ := g.Agreement(); return float64(n) }
func (g accuracyGroup) low() float64  { _, n, _ := g.Agreement(); return float64(n) }
func (g accuracyGroup) high() float64 { _, _, n := g.Agreement(); return float64(n) }

var accuracyColumns = record.Columns[accuracyGroup]{
	record.Text("product", func(g accuracyGroup) string { return g.Product }).OrNull(),
	record.Text("region", func(g accuracyGroup) string { return g.is(accuracy.ByRegion) }).OrNull(),
	record.Word("class", func(g accuracyGroup) string { return g.is(accuracy.ByClass) }).OrNull(),
	record.Word("lake_id", func(g accuracyGroup) string { return g.is(accuracy.ByLake) }).OrNull(),
	record.Integer("match_ups", func(g accuracyGroup) float64 { return float64(g.Matches) }),
	record.Integer("lakes", func(g accuracyGroup) float64 { return float64(g.Lakes) }),
	record.Number("bias", func(g accuracyGroup) float64 { return decimals(g.Bias, 4) }),
	record.Number("factor", func(g accuracyGroup) float64 { return decimals(g.Factor(), 3) }),
	record.Number("spread", func(g accuracyGroup) float64 { return decimals(g.Spread, 4) }).OrNull(),
	record.Bool("biased", func(g accuracyGroup) bool { return g.Biased }),
	record.Number("within_factor_2", func(g accuracyGroup) float64 { return decimals(float64(g.Within)/float64(g.Matches), 4) }),
	record.Integer("same_class", accuracyGroup.same),
	record.Integer("shown_lower", accuracyGroup.low),
	record.Integer("shown_higher", accuracyGroup.high),
	record.New("classes", "array", func(b []byte, _ record.Format, g accuracyGroup) []byte {
		for i, n := range slices.Concat(g.Classes[0][:], g.Classes[1][:], g.Classes[2][:]) {
			b = append(b, "[,"[min(i, 1)])
			b = strconv.AppendInt(b, int64(n), 10)
		}
		return append(b, ']')
	}),
	record.Number("interval_lower", func(g accuracyGroup) float64 {
		return record.Known(decimals(g.Interval.Value.Lower, 3), g.Interval.Known)
	}).OrNull(),
	record.Number("interval_upper", func(g accuracyGroup) float64 {
		return record.Known(decimals(g.Interval.Value.Upper, 3), g.Interval.Known)
	}).OrNull(),
	record.Word("interval_by", func(g accuracyGroup) string {
		if !g.Interval.Known {
			return ""
		}
		return g.IntervalBy.String()
	}).OrNull(),
}

var matchColumns = record.Columns[*accuracy.Match]{
	record.Text("product", func(m *accuracy.Match) string { return m.Product }).OrNull(),
	record.Word("satellite_date", func(m *accuracy.Match) string { return m.Satellite.Date.String() }),
	record.Chlorophyll("satellite_chl", func(m *accuracy.Match) data.Chlorophyll { return m.Satellite.Chlorophyll }),
	record.Word("satellite_risk", func(m *accuracy.Match) string { return m.Satellite.Risk.String() }),
	record.Word("sample_date", func(m *accuracy.Match) string { return m.Sample.Date.String() }),
	record.Chlorophyll("sample_chl", func(m *accuracy.Match) data.Chlorophyll { return m.Sample.Chlorophyll }),
	record.Word("sample_risk", func(m *accuracy.Match) string { return m.Sample.Risk.String() }),
	record.Number("difference", func(m *accuracy.Match) float64 { return decimals(m.Difference(), 4) }),
	record.Bool("nearest", func(m *accuracy.Match) bool { return m.First }),
}

var warningColumns = record.Columns[*accuracy.Warnings]{
	record.Word("class", func(w *accuracy.Warnings) string { return w.Risk.String() }),
	record.Integer("hits", func(w *accuracy.Warnings) float64 { return float64(w.Hits) }),
	record.Integer("misses", func(w *accuracy.Warnings) float64 { return float64(w.Misses) }),
	record.Integer("unseen", func(w *accuracy.Warnings) float64 { return float64(w.Unseen) }),
	record.Integer("false_alarms", func(w *accuracy.Warnings) float64 { return float64(w.FalseAlarms) }),
	record.Number("median_lead_days", func(w *accuracy.Warnings) float64 { return record.Known(w.MedianLead()) }).OrNull(),
}

// A forecastAccuracy compares the forecasts of a number of weeks ahead with what came.
type forecastAccuracy struct {
	*accuracy.Forecasts
	week int
}

var forecastAccuracyColumns = record.Columns[forecastAccuracy]{
	record.Integer("week", func(f forecastAccuracy) float64 { return float64(f.week) }),
	record.Integer("forecasts", func(f forecastAccuracy) float64 { return float64(f.Count) }),
	record.Number("factor", func(f forecastAccuracy) float64 { return decimals(f.Factor(), 3) }),
	record.Number("rmse", func(f forecastAccuracy) float64 { return decimals(f.RMSE(), 4) }),
	record.Number("within_factor_2", func(f forecastAccuracy) float64 { return decimals(float64(f.Within)/float64(f.Count), 4) }),
	record.Number("within_bounds", func(f forecastAccuracy) float64 { return decimals(float64(f.Covered)/float64(f.Count), 4) }),
	record.Integer("same_class", func(f forecastAccuracy) float64 { n, _, _ := f.Agreement(); return float64(n) }),
	record.Integer("shown_lower", func(f forecastAccuracy) float64 { _, n, _ := f.Agreement(); return float64(n) }),
	record.Integer("shown_higher", func(f forecastAccuracy) float64 { _, _, n := f.Agreement(); return float64(n) }),
}
