package api

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"limnomap/api/answer"
	"limnomap/data"
)

// params reads the parameters of one request, and gathers all that is wrong with them, so that a client learns of
// every mistake at once. It reads the raw query itself: url.Values silently leaves out a pair with a broken escape,
// and a filter that is left out answers with lakes that nobody asked for.
type params struct {
	query   string
	anyCase bool // names are found in capitals and small letters, as OGC's services want it
	errs    []answer.ParameterError
}

func paramsOf(r *http.Request) *params { return &params{query: r.URL.RawQuery} }

// refuse notes that the parameter is wrong, and how.
func (p *params) refuse(name, format string, args ...any) {
	p.errs = append(p.errs, answer.ParameterError{Parameter: name, Detail: fmt.Sprintf(format, args...)})
}

// err returns the problem that the parameters read so far make, or nil.
func (p *params) err() error {
	if len(p.errs) == 0 {
		return nil
	}
	names := make([]string, len(p.errs))
	for i, e := range p.errs {
		names[i] = e.Parameter
	}
	return &answer.Problem{
		Status: http.StatusBadRequest,
		Detail: "wrong parameter: " + strings.Join(names, ", "),
		Errors: p.errs,
	}
}

// maxEcho bounds what an error repeats of a value.
const maxEcho = 64

// echo returns value as an error shows it.
func echo(value string) string {
	if len(value) > maxEcho {
		return strconv.Quote(strings.ToValidUTF8(value[:maxEcho], "")) + "…"
	}
	return strconv.Quote(value)
}

// text returns the value of the named parameter, and whether there is one that can be read. The query is walked once
// for each name: it is short, and this way nothing is kept of parameters that nobody asks for.
func (p *params) text(name string) (value string, ok bool) {
	for rest := p.query; rest != ""; {
		var pair string
		pair, rest, _ = strings.Cut(rest, "&")
		key, raw, _ := strings.Cut(pair, "=")
		if key, err := url.QueryUnescape(key); err != nil || key != name && !(p.anyCase && strings.EqualFold(key, name)) {
			continue
		}
		if ok {
			p.refuse(name, "given more than once; give it once or not at all")
			return "", false
		}
		var err error
		if value, err = url.QueryUnescape(raw); err != nil {
			p.refuse(name, "%s has a broken percent escape", echo(raw))
			return "", false
		}
		ok = true
	}
	return value, ok
}

// float returns the value of the named parameter as a number from lowest to highest.
func (p *params) float(name string, lowest, highest float64) (value float64, ok bool) {
	s, ok := p.text(name)
	if !ok {
		return 0, false
	}
	// ParseFloat also takes hexadecimal numbers, underscores, NaN and infinities, which are no numbers here.
	if strings.Trim(s, "+-.0123456789eE") == "" {
		f, err := strconv.ParseFloat(s, 64)
		if err == nil && f >= lowest && f <= highest {
			return f, true
		}
	}
	p.refuse(name, "%s is not a number from %v to %v", echo(s), lowest, highest)
	return 0, false
}

// required returns the value of the named parameter, which must be given.
func (p *params) required(name string) (value string, ok bool) {
	before := len(p.errs)
	if value, ok = p.text(name); !ok && len(p.errs) == before {
		p.errs = append(p.errs, answer.ParameterError{Parameter: name, Detail: "not given; it is required", Missing: true})
	}
	return value, ok
}

// degrees returns the value of the named parameter, which must be given, as a number from -highest to highest.
func (p *params) degrees(name string, highest float64) float64 {
	if _, ok := p.required(name); !ok {
		return 0
	}
	value, _ := p.float(name, -highest, highest)
	return value
}

// integer returns the value of the named parameter as a whole number from lowest to highest, or otherwise.
func (p *params) integer(name string, lowest, highest, otherwise int) int {
	s, ok := p.text(name)
	if !ok {
		return otherwise
	}
	n, err := strconv.Atoi(s)
	if err == nil && s[0] != '+' && n >= lowest && n <= highest {
		return n
	}
	p.refuse(name, "%s is not a whole number from %d to %d", echo(s), lowest, highest)
	return otherwise
}

// oneOf returns the value of the named parameter, which must be one of allowed, or the first of them.
func oneOf[T ~string](p *params, name string, allowed []T) T {
	s, ok := p.text(name)
	if !ok {
		return allowed[0]
	}
	for _, a := range allowed {
		if s == string(a) {
			return a
		}
	}
	names := make([]string, len(allowed))
	for i, a := range allowed {
		names[i] = string(a)
	}
	p.refuse(name, "%s is none of %s", echo(s), strings.Join(names, ", "))
	return allowed[0]
}

// week returns the ISO week that holds the day given as date, and whether one was given. It must be one of those from
// the first week with an observation to the last.
func (p *params) week(snap *data.Snapshot) (week data.Week, ok bool) {
	s, ok := p.text("date")
	if !ok {
		return 0, false
	}
	if week, ok = weekIn(snap, s); !ok {
		p.refuseWeek("date", s, "a day as YYYY-MM-DD", snap)
	}
	return week, ok
}

// weekIn returns the ISO week that holds that day, and whether it is one of those from the first with an observation to the
// last.
func weekIn(snap *data.Snapshot, day string) (week data.Week, ok bool) {
	date, err := data.ParseDate(day)
	if err != nil || len(snap.Weeks) == 0 {
		return 0, false
	}
	week = date.Week()
	return week, week >= snap.Weeks[0].Week && week <= snap.Weeks[len(snap.Weeks)-1].Week
}

// refuseWeek notes that s, the named parameter, is not of that form, or names none of the weeks there are.
func (p *params) refuseWeek(name, s, form string, snap *data.Snapshot) {
	if len(snap.Weeks) == 0 {
		p.refuse(name, "there is no week with an observation; leave the parameter out")
		return
	}
	first, last := snap.Weeks[0].Week, snap.Weeks[len(snap.Weeks)-1].Week
	p.refuse(name, "%s is not %s from %s to %s", echo(s), form, first.Monday(), last.Sunday())
}

// period returns the days that from and to name, both included: all of them where neither is given.
func (p *params) period() data.Period {
	period := data.AllTime()
	for _, bound := range []struct {
		name string
		day  *data.Date
	}{{"from", &period.First}, {"to", &period.Last}} {
		s, ok := p.text(bound.name)
		if !ok {
			continue
		}
		date, err := data.ParseDate(s)
		if err != nil {
			p.refuse(bound.name, "%s is not a day as YYYY-MM-DD", echo(s))
			continue
		}
		*bound.day = date
	}
	if period.First > period.Last {
		p.refuse("from", "%s is after to, %s; it must not be", period.First, period.Last)
	}
	return period
}

// dataTypes returns the value of the parameter data_type, or the set of all types.
func (p *params) dataTypes() data.DataTypes {
	s, ok := p.text("data_type")
	if !ok {
		return data.TypesOf()
	}
	t, err := data.ParseDataType(s)
	if err != nil {
		p.refuse("data_type", "%s is none of %s, %s", echo(s), data.Satellite, data.Forecast)
	}
	return data.TypesOf(t)
}

// A box is a part of the globe between two latitudes and two longitudes, bounds included. If west is east of east, it
// crosses the antimeridian (RFC 7946, section 5.2).
type box struct {
	south, west, north, east float64
}

// box returns the part of the globe that min_lat, max_lat, min_lon and max_lon name, and whether they name any.
func (p *params) box() (box, bool) {
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
		if f, ok := p.float(bound.name, -bound.highest, bound.highest); ok {
			*bound.value, given = f, true
		}
	}
	if b.south > b.north {
		p.refuse("min_lat", "%v is greater than max_lat, %v; it must not be", b.south, b.north)
	}
	return b, given
}

// contains reports whether the box holds the place.
func (b box) contains(lon, lat float64) bool {
	if lat < b.south || lat > b.north {
		return false
	}
	if b.west > b.east {
		return lon >= b.west || lon <= b.east
	}
	return lon >= b.west && lon <= b.east
}

// wholeWorld is the box that leaves nothing out.
var wholeWorld = box{south: -90, west: -180, north: 90, east: 180}

// risk returns the value of the parameter risk, or RiskUnknown if there is none.
func (p *params) risk() data.Risk {
	s, ok := p.text("risk")
	if !ok {
		return data.RiskUnknown
	}
	risk, err := data.ParseRisk(s)
	if err != nil {
		p.refuse("risk", "%s is none of low, medium, high", echo(s))
	}
	return risk
}
