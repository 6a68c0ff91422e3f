package api

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/paulmach/orb"

	"limnomap/api/params"
	"limnomap/data"
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

// A box is a part of the globe between two latitudes and two longitudes, bounds included. If west is east of east, it
// crosses the antimeridian (RFC 7946, section 5.2).
type box struct {
	south, west, north, east float64
}

// boxOf returns the part of the globe between min_lat, max_lat, min_lon and max_lon.
func boxOf(p *params.Params) box {
	b, _ := boundsOf(p)
	return b
}

// boundsOf is like [boxOf], and also returns the names of the bounds that the query has.
func boundsOf(p *params.Params) (b box, given []string) {
	b = wholeWorld
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
			*bound.value = f
			given = append(given, bound.name)
		}
	}
	if b.south > b.north {
		p.Refuse("min_lat", "%v is greater than max_lat, %v; it must not be", b.south, b.north)
	}
	return b, given
}

// bboxOf returns the part of the globe that the parameter bbox names, as west,south,east,north in degrees, and whether it names one.
func bboxOf(p *params.Params) (b box, ok bool) {
	s, ok := p.Text("bbox")
	if !ok {
		return wholeWorld, false
	}
	bounds := [...]struct {
		value   *float64
		highest float64
	}{{&b.west, 180}, {&b.south, 90}, {&b.east, 180}, {&b.north, 90}}
	texts := strings.Split(s, ",")
	good := len(texts) == len(bounds)
	for i := 0; good && i < len(bounds); i++ {
		f, err := strconv.ParseFloat(texts[i], 64)
		good = err == nil && params.IsDecimal(texts[i]) && f >= -bounds[i].highest && f <= bounds[i].highest
		*bounds[i].value = f
	}
	switch {
	case !good:
		p.Refuse("bbox", "%s is not west,south,east,north: four numbers of degrees, -180 to 180 and -90 to 90", params.Quote(s))
	case b.south > b.north:
		p.Refuse("bbox", "south, %v, is greater than north, %v; it must not be", b.south, b.north)
	default:
		return b, true
	}
	return wholeWorld, false
}

// bboxOrBoxOf returns the part of the globe that bbox names, or that between min_lat, max_lat, min_lon and max_lon.
func bboxOrBoxOf(p *params.Params) box {
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

// includes reports whether all of bound, which does not cross the antimeridian, is in the box.
func (b box) includes(bound orb.Bound) bool {
	if bound.Min.Lat() < b.south || bound.Max.Lat() > b.north {
		return false
	}
	west, east := bound.Min.Lon(), bound.Max.Lon()
	if b.west > b.east {
		return west >= b.west || east <= b.east
	}
	return west >= b.west && east <= b.east
}

// wholeWorld is the box of the whole globe.
var wholeWorld = box{south: -90, west: -180, north: 90, east: 180}

// A riskFilter says which lakes an answer is about by their risk.
type riskFilter struct {
	risk  data.Risk // RiskUnknown: any
	stale bool      // also lakes whose last known value, which is stale, has that risk
}

// passes reports whether a lake in that state passes the filter.
func (f riskFilter) passes(s *data.State) bool {
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
