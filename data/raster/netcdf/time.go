package netcdf

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// maxTimes bounds the times of a variable.
const maxTimes = 1 << 19

// TimeDimension returns the index of the dimension whose coordinate variable has times, -1 if there is none.
func (v *Variable) TimeDimension() int {
	for k := range v.dimensions {
		if c := v.coordinate(k); c != nil && c.isTime() {
			return k
		}
	}
	return -1
}

// isTime reports whether the variable has times: a unit such as "days since 1970-01-01", or attributes that say so.
func (v *Variable) isTime() bool {
	return strings.Contains(v.Text("units"), " since ") || v.Text("standard_name") == "time" || v.Text("axis") == "T"
}

// Times returns the times of the time dimension, or the only one of a scalar time that the attribute "coordinates" names or that is the
// variable "time" of the file; nil without any. They are in UTC, exact to the microsecond. Calendars other than the standard one and the proleptic Gregorian are
// ErrUnsupported, as are months and years, whose length varies.
func (v *Variable) Times(ctx context.Context) ([]time.Time, error) {
	c := v.timeCoordinate()
	if c == nil {
		return nil, nil
	}
	times, err := c.times(ctx, c.Text("units"), c.Text("calendar"))
	if err != nil {
		return nil, fmt.Errorf("times of variable %s: %w", v.name, err)
	}
	return times, nil
}

// timeCoordinate returns the variable with the times of v: that of its time dimension, a scalar one that the attribute "coordinates" names, or the
// variable time of the file if it has one value. It returns nil if there is none.
func (v *Variable) timeCoordinate() *Variable {
	if k := v.TimeDimension(); k >= 0 {
		return v.coordinate(k)
	}
	for _, name := range strings.Fields(v.Text("coordinates")) {
		if c, ok := v.lookup(name); ok && len(c.dimensions) == 0 && c.isTime() {
			return c
		}
	}
	for _, d := range v.dimensions {
		if d.Name == "time" {
			return nil // it has no coordinate
		}
	}
	c, ok := v.lookup("time")
	if !ok || !strings.Contains(c.Text("units"), " since ") || len(c.dimensions) > 1 || len(c.dimensions) == 1 && c.dimensions[0].Len != 1 {
		return nil
	}
	return c
}

// times decodes a variable of times with a unit.
func (v *Variable) times(ctx context.Context, units, calendar string) ([]time.Time, error) {
	unit, start, err := parseTimeUnits(units, calendar)
	if err != nil {
		return nil, fmt.Errorf("variable %s: %w", v.name, err)
	}
	values, err := v.decodeAll(ctx, 2*maxTimes)
	if err != nil {
		return nil, err
	}
	times := make([]time.Time, len(values))
	for i, value := range values {
		seconds := value * unit
		if math.IsNaN(seconds) || math.Abs(seconds) > 1e12 {
			return nil, fmt.Errorf("variable %s: %w", v.name, damaged("time %d is %g", i, value))
		}
		whole := math.Floor(seconds)
		times[i] = start.Add(time.Duration(math.Round((seconds-whole)*1e6)) * time.Microsecond)
		times[i] = time.Unix(times[i].Unix()+int64(whole), int64(times[i].Nanosecond())).UTC()
	}
	return times, nil
}

// TimeBounds returns the begin and the end of each time of Times, by the variable that the attribute "bounds" or "climatology" of the time coordinate
// names (CF conventions 1.11, 7.1 and 7.4), or that has the usual name; nil if there is none.
func (v *Variable) TimeBounds(ctx context.Context) ([]time.Time, error) {
	c := v.timeCoordinate()
	if c == nil {
		return nil, nil
	}
	named := cmp.Or(c.Text("bounds"), c.Text("climatology"))
	b, found := c.lookup(cmp.Or(named, "time_bnds")) // a program may have dropped the attribute
	if !found && named == "" {
		b, found = c.lookup("time_bounds")
	}
	if !found {
		return nil, nil
	}
	if n := len(c.dimensions); len(b.dimensions) != n+1 || b.dimensions[n].Len != 2 || n > 0 && b.dimensions[0].Len != c.dimensions[0].Len {
		if named == "" {
			return nil, nil
		}
		return nil, fmt.Errorf("bounds of time %s: %w", b.name, unsupported("dimensions %v, want those of %s and 2", b.dimensions, c.name))
	}
	// Bounds have the unit of their variable, if they have none.
	times, err := b.times(ctx, cmp.Or(b.Text("units"), c.Text("units")), cmp.Or(b.Text("calendar"), c.Text("calendar")))
	if err != nil {
		return nil, fmt.Errorf("bounds of time: %w", err)
	}
	return times, nil
}

var timeUnits = map[string]float64{
	"days": 86400, "day": 86400, "d": 86400,
	"hours": 3600, "hour": 3600, "hrs": 3600, "hr": 3600, "h": 3600,
	"minutes": 60, "minute": 60, "mins": 60, "min": 60,
	"seconds": 1, "second": 1, "secs": 1, "sec": 1, "s": 1,
	"milliseconds": 1e-3, "millisecond": 1e-3, "millisecs": 1e-3, "millisec": 1e-3, "msecs": 1e-3, "msec": 1e-3, "ms": 1e-3,
	"microseconds": 1e-6, "microsecond": 1e-6, "microsecs": 1e-6, "microsec": 1e-6, "us": 1e-6,
	"weeks": 7 * 86400, "week": 7 * 86400,
}

// parseTimeUnits parses a unit such as "days since 1970-01-01 00:00:00" into seconds for each step and the start.
func parseTimeUnits(text, calendar string) (unit float64, start time.Time, err error) {
	mixed := false // Julian before 15 October 1582
	switch strings.ToLower(strings.TrimSpace(calendar)) {
	case "", "standard", "gregorian":
		mixed = true
	case "proleptic_gregorian":
	default:
		return 0, start, unsupported("calendar %q, want standard, gregorian or proleptic_gregorian", calendar)
	}
	name, since, found := strings.Cut(strings.TrimSpace(text), " since ")
	if !found {
		return 0, start, damaged("unit of time %q, want one such as \"days since 1970-01-01\"", text)
	}
	name = strings.TrimSpace(name)
	unit, ok := timeUnits[strings.ToLower(name)]
	if !ok {
		return 0, start, unsupported("unit of time %q, want weeks, days, hours, minutes, seconds, milliseconds or microseconds", name)
	}
	start, ok = parseTime(strings.TrimSpace(since), mixed)
	if !ok {
		return 0, start, damaged("start of time %q, want one such as \"1970-01-01 00:00:00\"", since)
	}
	return unit, start, nil
}

// parseTime parses a date with an optional time of day and time zone, in which numbers may have fewer digits than in RFC 3339.
func parseTime(text string, mixed bool) (t time.Time, ok bool) {
	date, rest := text, ""
	if i := strings.IndexAny(text, "Tt "); i >= 0 {
		date, rest = text[:i], strings.TrimSpace(text[i+1:])
	}
	zone := time.Duration(0)
	for _, utc := range []string{"UTC", "GMT", "Z", "z"} {
		if before, found := strings.CutSuffix(rest, utc); found {
			rest = strings.TrimSpace(before)
			break
		}
	}
	if i := strings.IndexAny(rest, "+-"); i >= 0 {
		if zone, ok = parseZone(rest[i:]); !ok {
			return t, false
		}
		rest = strings.TrimSpace(rest[:i])
	}
	ymd := strings.Split(date, "-")
	if len(ymd) != 3 {
		return t, false
	}
	var n [3]int
	for i, word := range ymd {
		number, err := strconv.ParseUint(word, 10, 16)
		if err != nil {
			return t, false
		}
		n[i] = int(number)
	}
	year, month, day := n[0], n[1], n[2]
	if year > 9999 || month < 1 || month > 12 || day < 1 || day > 31 {
		return t, false
	}
	t = time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if mixed && (year < 1582 || year == 1582 && (month < 10 || month == 10 && day < 15)) {
		t = fromJulian(year, month, day)
	} else if t.Day() != day {
		return t, false // 30 February
	}
	clock, ok := parseClock(rest)
	return t.Add(clock).Add(-zone), ok
}

// parseClock parses "12", "12:30" or "12:30:15.5". No text is midnight.
func parseClock(text string) (time.Duration, bool) {
	if text == "" {
		return 0, true
	}
	words := strings.Split(text, ":")
	if len(words) > 3 {
		return 0, false
	}
	var sum time.Duration
	for i, word := range words {
		v, err := strconv.ParseFloat(word, 64)
		if err != nil || !(v >= 0 && v <= []float64{24, 59, 60.999999}[i]) || i < 2 && v != math.Trunc(v) {
			return 0, false
		}
		unit := []time.Duration{time.Hour, time.Minute, time.Second}[i]
		sum += time.Duration(math.Round(v*1e6)) * (unit / 1e6)
	}
	return sum, true
}

// parseZone parses "+1", "-06:00" or "+0530".
func parseZone(text string) (time.Duration, bool) {
	negative := text[0] == '-'
	text = text[1:]
	if len(text) == 4 && !strings.Contains(text, ":") {
		text = text[:2] + ":" + text[2:]
	}
	zone, ok := parseClock(text)
	if negative {
		zone = -zone
	}
	return zone, ok && text != ""
}

// fromJulian returns the day of a date of the Julian calendar.
func fromJulian(year, month, day int) time.Time {
	// Years begin in March, so that the leap day is the last.
	y, m := year, month-3
	if m < 0 {
		y, m = y-1, m+12
	}
	days := 365*y + int(math.Floor(float64(y)/4)) + (153*m+2)/5 + day - 1
	// Day 0 is 1 March of the year 0, which is 28 February of the proleptic Gregorian calendar.
	return time.Date(0, time.February, 28, 0, 0, 0, 0, time.UTC).AddDate(0, 0, days)
}
