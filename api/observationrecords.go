package api

import (
	"math"
	"slices"
	"strings"

	"limnomap/api/record"
	"limnomap/data"
)

// An observationRecord is an entry of a history.
type observationRecord struct {
	*data.Observation
	lake     *data.Lake
	level    data.Level
	density  float64
	basis    data.LevelBasis
	forecast forecastDetails // of no forecast, if it is none
	shares   *passShares     // nil without pixels
}

// newObservationRecord returns the i-th entry of a history.
func newObservationRecord(h *lakeHistory, i int, profile *data.Profile) *observationRecord {
	r := observationRecordOf(h, i, profile)
	return &r
}

// observationRecordOf is newObservationRecord for those that have a place in memory.
func observationRecordOf(h *lakeHistory, i int, profile *data.Profile) observationRecord {
	o := &h.observations[i]
	r := observationRecord{Observation: o, lake: &h.lake}
	r.level, r.density = profile.Classify(*o)
	r.basis = profile.Basis(r.level, o.Chlorophyll, o.CellDensity)
	r.forecast = forecastDetailsOf(o, profile)
	if o.Type == data.Satellite {
		r.shares = h.shares[passKey{o.Date, o.Source}]
	}
	return r
}

var (
	observationColumns = record.Columns[*observationRecord]{
		record.Word("lake_id", func(r *observationRecord) string { return string(r.lake.ID) }),
		record.Word("date", func(r *observationRecord) string { return r.Date.String() }),
		record.Chlorophyll("chl", func(r *observationRecord) data.Chlorophyll { return r.Chlorophyll }),
		record.Level("who_level", func(r *observationRecord) data.Level { return r.level }),
		record.Number("cell_density_cells_ml", func(r *observationRecord) float64 { return densityOf(r.density) }).OrNull(),
		record.Word("data_type", func(r *observationRecord) string { return r.Type.String() }),
	}
	cellOrigin = record.Columns[*observationRecord]{
		record.Word("cell_density_by", func(r *observationRecord) string { return data.CellOriginOf(r.Type, r.CellDensity, r.density).String() }).OrNull(),
	}
	// measuredColumns are such members too, at the end of tables: a program may know the columns by their places.
	measuredColumns = record.Columns[*observationRecord]{
		record.Word("period_start", func(r *observationRecord) string { return record.Day(r.Details.PeriodStart) }),
		record.Word("composite", func(r *observationRecord) string { return r.Details.Composite.String() }),
		record.Number("turbidity_ntu", func(r *observationRecord) float64 { return hundredthsOf(r.Details.Turbidity) }),
		record.Number("scum_percent", func(r *observationRecord) float64 { return hundredthsOf(r.Details.ScumPercent) }),
	}.Optional()
	// laterColumns are these, and those of pixels, which only histories have.
	laterColumns = slices.Concat(measuredColumns, shareColumns(func(r *observationRecord) *data.PixelShares { return r.shares.of() }), record.Columns[*observationRecord]{
		record.Integer("pixel_m", func(r *observationRecord) float64 {
			if r.shares == nil || r.shares.metres == 0 {
				return math.NaN()
			}
			return float64(r.shares.metres)
		}),
	}).Optional()
	// detailColumns are members that only few entries have.
	detailColumns = record.Columns[*observationRecord]{
		record.Chlorophyll("chl_lower", func(r *observationRecord) data.Chlorophyll { return chlorophyllOf(r.Details.Lower) }),
		record.Chlorophyll("chl_upper", func(r *observationRecord) data.Chlorophyll { return chlorophyllOf(r.Details.Upper) }),
		record.New("below_limit", "boolean", func(b []byte, f record.Format, r *observationRecord) []byte {
			if !r.Details.BelowLimit {
				return b
			}
			return append(b, "true"...)
		}),
		record.Integer("n_valid", func(r *observationRecord) float64 {
			return record.Known(r.Details.ValidPixels.Value, r.Details.ValidPixels.Known)
		}),
		record.Integer("n_total", func(r *observationRecord) float64 {
			return record.Known(r.Details.TotalPixels.Value, r.Details.TotalPixels.Known)
		}),
		record.Word("quality", func(r *observationRecord) string { return r.Quality.String() }),
		record.New("flags", "array", appendFlags),
		record.Text("source", func(r *observationRecord) string { return r.Source }),
		record.Text("method", func(r *observationRecord) string { return r.Details.Method }),
		record.Text("version", func(r *observationRecord) string { return r.Details.Version }),
		record.Number("secchi_m", func(r *observationRecord) float64 { return hundredthsOf(r.Details.Secchi) }),
		record.Number("water_temperature_c", func(r *observationRecord) float64 { return hundredthsOf(r.Details.WaterTemperature) }),
		record.Word("level_by", func(r *observationRecord) string {
			if r.basis <= data.ByChlorophyll { // what else would be expected
				return ""
			}
			return r.basis.String()
		}),
	}.Optional()
)

// The columns of an entry of a history, in JSON without the lake, and in tables.
var (
	observationMembers = slices.Concat(observationColumns[1:], cellOrigin, detailColumns, laterColumns)
	predictionColumns  = append(forecastColumns(func(r *observationRecord) forecastDetails { return r.forecast }),
		record.Text("model", func(r *observationRecord) string { return r.forecast.model }).OrNull(),
		record.Word("issued_at", func(r *observationRecord) string { return record.Day(r.forecast.issued) }).OrNull(),
	)
	predictionMembers = slices.Concat(observationMembers, predictionColumns.Pick(forecastMembers)) // of forecasts
	observationCells  = slices.Concat(observationColumns, detailColumns, predictionColumns.Pick(forecastCells), cellOrigin, laterColumns)
)

// appendObject appends the entry as an object, with the members of a forecast if it is one.
func (r *observationRecord) appendObject(b []byte) []byte {
	if r.Type == data.Forecast {
		return predictionMembers.AppendObject(b, record.Member, r)
	}
	return observationMembers.AppendObject(b, record.Member, r)
}

// chlorophyllOf returns a value, NoChlorophyll if it is absent.
func chlorophyllOf(c data.Optional[data.Chlorophyll]) data.Chlorophyll {
	if !c.Known {
		return data.NoChlorophyll
	}
	return c.Value
}

// hundredthsOf returns a number, NaN if it is absent.
func hundredthsOf(h data.Optional[data.Hundredths]) float64 {
	return record.Known(h.Value.Float(), h.Known)
}

// appendFlags appends flags as an array, and in a table separated by spaces.
func appendFlags(b []byte, f record.Format, r *observationRecord) []byte {
	names := r.Details.Flags.Names()
	switch {
	case len(names) == 0:
		return b
	case f == record.Cell:
		return append(b, strings.Join(names, " ")...)
	}
	b = append(b, `["`...)
	return append(append(b, strings.Join(names, `","`)...), `"]`...)
}
