package api

import (
	"limnomap/api/params"
	"limnomap/data"
)

// periodOf returns the days between the parameters from and to, both included. A missing one is no bound.
func periodOf(p *params.Params) data.Period {
	period := data.AllTime()
	for _, bound := range []struct {
		name string
		day  *data.Date
	}{{"from", &period.First}, {"to", &period.Last}} {
		s, ok := p.Text(bound.name)
		if !ok {
			continue
		}
		date, err := data.ParseDate(s)
		if err != nil {
			p.Refuse(bound.name, "%s is not a day as YYYY-MM-DD", params.Quote(s))
			continue
		}
		*bound.day = date
	}
	if period.First > period.Last {
		p.Refuse("from", "%s is after to, %s; it must not be", period.First, period.Last)
	}
	return period
}

// dataTypesOf returns the value of the parameter data_type, or the set of all types.
func dataTypesOf(p *params.Params) data.DataTypes {
	s, ok := p.Text("data_type")
	if !ok {
		return data.TypesOf()
	}
	t, err := data.ParseDataType(s)
	if err != nil {
		p.Refuse("data_type", "%s is none of %s, %s", params.Quote(s), data.Satellite, data.Forecast)
	}
	return data.TypesOf(t)
}

// A box is a part of the globe between two latitudes and two longitudes, bounds included. If west is east of east, it
// crosses the antimeridian (RFC 7946, section 5.2).
type box struct {
	south, west, north, east float64
}

// boxOf returns the part of the globe between min_lat, max_lat, min_lon and max_lon, and whether any is given.
func boxOf(p *params.Params) (box, bool) {
	b := wholeWorld
	given := false
	for _, bound := range []struct {
		name    string
		value   *float64
		highest float64
	}{
		{"min_lat", &b.south, 90},
		{"max_lat", &b.north, 90},
		{"min_lon", &b.west, 180},
		{"max_lon", &b.east, 180},
	} {
		if f, ok := p.Float(bound.name, -bound.highest, bound.highest); ok {
			*bound.value, given = f, true
		}
	}
	if b.south > b.north {
		p.Refuse("min_lat", "%v is greater than max_lat, %v; it must not be", b.south, b.north)
	}
	return b, given
}

// contains reports whether a point is in the box.
func (b box) contains(lon, lat float64) bool {
	if lat < b.south || lat > b.north {
		return false
	}
	if b.west > b.east {
		return lon >= b.west || lon <= b.east
	}
	return lon >= b.west && lon <= b.east
}

// wholeWorld is the box of the whole globe.
var wholeWorld = box{south: -90, west: -180, north: 90, east: 180}

// riskOf returns the value of the parameter risk, or RiskUnknown if there is none.
func riskOf(p *params.Params) data.Risk {
	s, ok := p.Text("risk")
	if !ok {
		return data.RiskUnknown
	}
	risk, err := data.ParseRisk(s)
	if err != nil {
		p.Refuse("risk", "%s is none of low, medium, high", params.Quote(s))
	}
	return risk
}
