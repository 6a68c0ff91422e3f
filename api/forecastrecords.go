package api

import (
	"strconv"

	"limnomap/data"
)

// The columns of a forecast in tables. A distribution has three.
const (
	forecastCSVColumns = "lower,upper,probability_low,probability_medium,probability_high,model,issued_at,based_on"
	noForecastCells    = ",,,,,,,"
)

// forecastDetails are what an answer says about a forecast besides its median. What is not known is null, or empty in a table.
type forecastDetails struct {
	lower, upper      data.Chlorophyll // NoChlorophyll if not known
	chances           data.Optional[data.Chances]
	model             string // empty if not known
	issued, lastValue data.Optional[data.Date]
}

// forecastDetailsOf returns the details of an observation that is a forecast. An imported one has its own bounds at most.
func forecastDetailsOf(o *data.Observation, profile *data.Profile) forecastDetails {
	if f := &o.Forecast; f.Known() {
		d := newForecastDetails(f.StoredForecast, profile)
		d.model, d.issued, d.lastValue = o.Source, data.Known(f.Issued), data.Known(f.BasedOn)
		return d
	}
	d := newForecastDetails(data.StoredForecast{}, profile)
	if o.Details.Lower.Known {
		d.lower = o.Details.Lower.Value
	}
	if o.Details.Upper.Known {
		d.upper = o.Details.Upper.Value
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

// appendMembers appends the members of a JSON object.
func (d *forecastDetails) appendMembers(b []byte) []byte {
	b = append(b, `"lower":`...)
	b = appendChlorophyll(b, d.lower)
	b = append(b, `,"upper":`...)
	b = appendChlorophyll(b, d.upper)
	b = append(b, `,"probabilities":`...)
	if c := d.chances.Value; d.chances.Known {
		b = append(b, `{"low":`...)
		b = appendFloat(b, c.Low.Float())
		b = append(b, `,"medium":`...)
		b = appendFloat(b, c.Medium.Float())
		b = append(b, `,"high":`...)
		b = appendFloat(b, c.High.Float())
		b = append(b, '}')
	} else {
		b = append(b, "null"...)
	}
	return d.appendOrigin(append(b, ','))
}

// appendOrigin appends the members about how the forecast was made.
func (d *forecastDetails) appendOrigin(b []byte) []byte {
	b = append(b, `"model":`...)
	b = appendTextOrNull(b, d.model)
	b = append(b, `,"issued_at":`...)
	b = appendDateOrNull(b, d.issued)
	b = append(b, `,"based_on":`...)
	return appendDateOrNull(b, d.lastValue)
}

// appendFlat appends the members of appendMembers, each probability as one of its own.
func (d *forecastDetails) appendFlat(b []byte) []byte {
	b = append(b, `"lower":`...)
	b = appendChlorophyll(b, d.lower)
	b = append(b, `,"upper":`...)
	b = appendChlorophyll(b, d.upper)
	c := d.chances.Value
	for _, p := range []struct {
		name   string
		chance data.TenThousandths
	}{{"probability_low", c.Low}, {"probability_medium", c.Medium}, {"probability_high", c.High}} {
		b = append(b, `,"`...)
		b = append(b, p.name...)
		b = append(b, `":`...)
		if d.chances.Known {
			b = appendFloat(b, p.chance.Float())
		} else {
			b = append(b, "null"...)
		}
	}
	return d.appendOrigin(append(b, ','))
}

// appendCells appends the cells of forecastCSVColumns.
func (d *forecastDetails) appendCells(b []byte) []byte {
	if d.lower.Valid() {
		b = appendChlorophyll(b, d.lower)
	}
	b = append(b, ',')
	if d.upper.Valid() {
		b = appendChlorophyll(b, d.upper)
	}
	for _, chance := range [...]data.TenThousandths{d.chances.Value.Low, d.chances.Value.Medium, d.chances.Value.High} {
		b = append(b, ',')
		if d.chances.Known {
			b = appendFloat(b, chance.Float())
		}
	}
	b = appendCell(append(b, ','), d.model)
	for _, day := range [...]data.Optional[data.Date]{d.issued, d.lastValue} {
		b = append(b, ',')
		if day.Known {
			b = append(b, day.Value.String()...)
		}
	}
	return b
}

// appendLakeForecast appends what is known of a lake's forecast besides its values: why there is none, and the skill in the lake's region.
// It is null if there is no issue.
func appendLakeForecast(b []byte, f *issuedForecast, test data.ForecastTest, region string) []byte {
	if f.issue == nil {
		return append(b, "null"...)
	}
	b = append(b, `{"issued_at":`...)
	b = appendString(b, f.issue.Issued.String())
	b = append(b, `,"model":`...)
	b = appendString(b, f.issue.Model)
	b = append(b, `,"withheld":`...)
	b = appendTextOrNull(b, f.Withheld.Code())
	b = append(b, `,"based_on":`...)
	b = appendDateOrNull(b, data.Optional[data.Date]{Value: f.BasedOn, Known: f.hasValues})
	b = append(b, `,"skill":`...)
	b = appendSkill(b, &test, f.issue.Model, region)
	return append(b, '}')
}

// appendSkill appends what a test says about a model in a region, or in all; null if it says nothing.
func appendSkill(b []byte, test *data.ForecastTest, model, region string) []byte {
	s, ok := test.SkillOf(model, region)
	if !ok {
		return append(b, "null"...)
	}
	b = append(b, `{"region":`...)
	b = appendTextOrNull(b, s.Region)
	b = append(b, `,"tested_at":`...)
	b = appendDateOrNull(b, test.Date)
	b = append(b, `,"weeks":[`...)
	first := true
	for i := range s.Weeks {
		w := &s.Weeks[i]
		if w.Pairs == 0 {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(b, `{"week":`...)
		b = strconv.AppendInt(b, int64(i+1), 10)
		b = append(b, `,"closer_percent":`...)
		b = appendDecimals(b, 100*w.Closer(), 1)
		b = append(b, `,"rmse":`...)
		b = appendDecimals(b, w.RMSE, 4)
		b = append(b, `,"persistence":`...)
		b = appendDecimals(b, w.Persistence, 4)
		b = append(b, `,"coverage":`...)
		b = appendDecimals(b, w.Coverage, 4)
		b = append(b, `,"pairs":`...)
		b = strconv.AppendInt(b, w.Pairs, 10)
		b = append(b, `,"lakes":`...)
		b = strconv.AppendInt(b, w.Lakes, 10)
		b = append(b, '}')
	}
	return append(b, "]}"...)
}

// appendDecimals appends a finite number with that many decimals.
func appendDecimals(b []byte, f float64, n int) []byte { return strconv.AppendFloat(b, f, 'f', n, 64) }

// appendTextOrNull appends s, or null if it is empty.
func appendTextOrNull(b []byte, s string) []byte {
	if s == "" {
		return append(b, "null"...)
	}
	return appendString(b, s)
}

// appendDateOrNull appends a day, or null if it is absent.
func appendDateOrNull(b []byte, d data.Optional[data.Date]) []byte {
	if !d.Known {
		return append(b, "null"...)
	}
	return appendString(b, d.Value.String())
}
