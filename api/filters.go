package api

import (
	"fmt"
	"strings"

	"limnomap/api/params"
	"limnomap/data"
	"limnomap/data/snapshot"
)

// periodOf returns the days between the parameters from and to, both included. A missing one is no bound.
func periodOf(p *params.Params) data.Period {
	all := data.AllTime()
	period := data.Period{First: dayOf(p, "from", all.First), Last: dayOf(p, "to", all.Last)}
	if period.First > period.Last {
		p.Refuse("from", "%s is after to, %s; it must not be", period.First, period.Last)
	}
	return period
}

// dayOf returns the value of a parameter that is a day, or byDefault.
func dayOf(p *params.Params, name string, byDefault data.Date) data.Date {
	return params.Parsed(p, name, byDefault, data.ParseDate, "is not a day as YYYY-MM-DD")
}

// mistakeInDataType says what a wrong data_type is not.
var mistakeInDataType = fmt.Sprintf("is none of %s, %s, %s", data.Satellite, data.InSitu, data.Forecast)

// dataTypesOf returns the value of the parameter data_type, or the set of all types.
func dataTypesOf(p *params.Params) data.DataTypes {
	parse := func(s string) (data.DataTypes, error) {
		t, err := data.ParseDataType(s)
		return data.TypesOf(t), err
	}
	return params.Parsed(p, "data_type", data.TypesOf(), parse, mistakeInDataType)
}

// boxOf returns the part of the globe between min_lat, max_lat, min_lon and max_lon.
func boxOf(p *params.Params) data.Box {
	b, _ := boundsOf(p)
	return b
}

// boundsOf is like [boxOf], and also returns the names of the bounds that the query has.
func boundsOf(p *params.Params) (b data.Box, given []string) {
	b = data.WholeWorld()
	for _, bound := range []struct {
		name    string
		value   *float64
		highest float64
	}{
		{"min_lat", &b.South, 90},
		{"max_lat", &b.North, 90},
		{"min_lon", &b.West, 180},
		{"max_lon", &b.East, 180},
	} {
		if f, ok := p.Float(bound.name, -bound.highest, bound.highest); ok {
			*bound.value = f
			given = append(given, bound.name)
		}
	}
	if b.South > b.North {
		p.Refuse("min_lat", "%v is greater than max_lat, %v; it must not be", b.South, b.North)
	}
	return b, given
}

// bboxOf returns the part of the globe that the parameter bbox names, as west,south,east,north in degrees, and whether it names one.
func bboxOf(p *params.Params) (b data.Box, ok bool) {
	s, ok := p.Text("bbox")
	if !ok {
		return data.WholeWorld(), false
	}
	b, err := data.ParseBox(s)
	if err != nil {
		p.Refuse("bbox", "%s %v", params.Quote(s), err)
		return data.WholeWorld(), false
	}
	return b, true
}

// bboxOrBoxOf returns the part of the globe that bbox names, or that between min_lat, max_lat, min_lon and max_lon.
func bboxOrBoxOf(p *params.Params) data.Box {
	b, given := boundsOf(p)
	bbox, ok := bboxOf(p)
	if !ok {
		return b
	}
	if len(given) > 0 {
		p.Refuse("bbox", "given together with %s; give either bbox or min_lat, max_lat, min_lon and max_lon", strings.Join(given, ", "))
	}
	return bbox
}

// A riskFilter says which lakes an answer is about by their risk.
type riskFilter struct {
	risk  data.Risk // RiskUnknown: any
	stale bool      // also lakes whose last known value, which is stale, has that risk
}

// passes reports whether a lake in that state passes the filter.
func (f riskFilter) passes(s *snapshot.State) bool {
	return f.risk == data.RiskUnknown || s.Risk == f.risk && (f.stale || !s.Stale())
}

// riskFilterOf returns the filter of the parameters risk and include_stale.
func riskFilterOf(p *params.Params) riskFilter {
	return riskFilter{risk: riskOf(p), stale: params.OneOf(p, "include_stale", []string{"false", "true"}) == "true"}
}

// riskOf returns the value of the parameter risk, or RiskUnknown if there is none.
func riskOf(p *params.Params) data.Risk {
	return params.Parsed(p, "risk", data.RiskUnknown, data.ParseRisk, "is none of low, medium, high")
}
