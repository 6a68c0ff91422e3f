package api

import (
	"limnomap/api/record"
	"limnomap/data"
)

// forecastDetails are what an answer says about a forecast besides its median. What is not known is null, or empty in a table.
type forecastDetails struct {
	lower, upper      data.Chlorophyll // NoChlorophyll if not known
	chances           data.Optional[data.Chances]
	model             string // empty if not known
	issued, lastValue data.Optional[data.Date]
}

// forecastDetailsOf returns the details of an observation if it is a forecast. An imported one has its own bounds at most.
func forecastDetailsOf(o *data.Observation, profile *data.Profile) forecastDetails {
	d := newForecastDetails(o.Forecast.StoredForecast, profile)
	switch f := &o.Forecast; {
	case o.Type != data.Forecast:
	case f.Known():
		d.model, d.issued, d.lastValue = o.Source, data.Known(f.Issued), data.Known(f.BasedOn)
	default:
		d.lower, d.upper = chlorophyllOf(o.Details.Lower), chlorophyllOf(o.Details.Upper)
	}
	return d
}

// newForecastDetails returns what follows from a stored forecast, which may be unknown.
func newForecastDetails(f data.StoredForecast, profile *data.Profile) forecastDetails {
	d := forecastDetails{lower: data.NoChlorophyll, upper: data.NoChlorophyll}
	if f.Known() {
		d.lower, d.upper = f.Bounds()
		d.chances = data.Known(f.Chances(profile))
	}
	return d
}

// forecastColumns returns the columns of the details that of returns, without the model and the day of issue. A distribution has three where it is no object.
func forecastColumns[R any](of func(R) forecastDetails) record.Columns[R] {
	return record.Columns[R]{
		record.Chlorophyll("lower", func(r R) data.Chlorophyll { return of(r).lower }),
		record.Chlorophyll("upper", func(r R) data.Chlorophyll { return of(r).upper }),
		record.New("probabilities", "object", func(b []byte, f record.Format, r R) []byte {
			c := of(r).chances
			if !c.Known {
				return b
			}
			return record.Object(append(b, '{')).Number("low", c.Value.Low.Float()).Number("medium", c.Value.Medium.Float()).Number("high", c.Value.High.Float()).Close("}")
		}).OrNull(),
		record.Number("probability_low", func(r R) float64 { c := of(r).chances; return record.Known(c.Value.Low.Float(), c.Known) }).OrNull(),
		record.Number("probability_medium", func(r R) float64 { c := of(r).chances; return record.Known(c.Value.Medium.Float(), c.Known) }).OrNull(),
		record.Number("probability_high", func(r R) float64 { c := of(r).chances; return record.Known(c.Value.High.Float(), c.Known) }).OrNull(),
		record.Word("based_on", func(r R) string { return record.Day(of(r).lastValue) }).OrNull(),
	}
}

const (
	forecastMembers = "lower,upper,probabilities,model,issued_at,based_on"
	forecastCells   = "lower,upper,probability_low,probability_medium,probability_high,model,issued_at,based_on"
)

// addLakeForecast appends a member with what is known of a lake's forecast besides its values: why there is none, and the skill in the
// lake's region. It is null if there is no issue.
func addLakeForecast(b record.Object, f *issuedForecast, test data.ForecastTest, region string) record.Object {
	if f.issue == nil {
		return append(b.Name("forecast"), "null"...)
	}
	b = b.Open("forecast").Text("issued_at", f.issue.Issued.String()).Text("model", f.issue.Model).TextOrNull("withheld", f.Withheld.Code())
	b = b.TextOrNull("based_on", record.Day(data.Optional[data.Date]{Value: f.BasedOn, Known: f.hasValues}))
	return addSkill(b, &test, f.issue.Model, region).Close("}")
}

// addSkill appends a member with what a test says about a model in a region, or in all; null if it says nothing.
func addSkill(b record.Object, test *data.ForecastTest, model, region string) record.Object {
	s, ok := test.SkillOf(model, region)
	if !ok {
		return append(b.Name("skill"), "null"...)
	}
	b = b.Open("skill").TextOrNull("region", s.Region).TextOrNull("tested_at", record.Day(test.Date)).Array("weeks")
	for i := range s.Weeks {
		w := &s.Weeks[i]
		if w.Pairs == 0 {
			continue
		}
		b = b.Open("").Int("week", i+1).Decimals("closer_percent", 100*w.Closer(), 1).Decimals("rmse", w.RMSE, 4).Decimals("persistence", w.Persistence, 4)
		b = b.Decimals("coverage", w.Coverage, 4).Int("pairs", int(w.Pairs)).Int("lakes", int(w.Lakes)).Close("}")
	}
	return b.Close("]}")
}
