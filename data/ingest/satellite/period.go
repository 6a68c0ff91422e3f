package satellite

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"time"

	"limnomap/data"
)

// A period has the first and the last day of a value.
type period struct{ first, last data.Date }

func dayPeriod(d data.Date) period { return period{d, d} }

// monthOf returns the month of a day.
func monthOf(d data.Date) period {
	first := d.MonthStart()
	return period{first, (first + 31).MonthStart() - 1}
}

func (p period) days() int              { return int(p.last-p.first) + 1 }
func (p period) contains(q period) bool { return p.first <= q.first && q.last <= p.last }

// around returns p with a day more at both ends: the last pass of a period may be after midnight.
func (p period) around() period { return period{p.first - 1, p.last + 1} }

func (p period) String() string {
	if p.first == p.last {
		return p.first.String()
	}
	return fmt.Sprintf("%s to %s", p.first, p.last)
}

const (
	// maxPeriod is the longest period in days of a value: a season, and some days. The mean of a year says nothing about the state of a lake.
	maxPeriod = 100
	// passHours is the longest time of one day of a satellite. A daily file of NASA begins at 01:00 and ends at 02:20 of the next day.
	passHours = 36
)

// A dating is what a file says about its period, besides its name.
type dating struct {
	name string // of the file
	// bounds are the begin and the end of the period, from the bounds of the time coordinate; zero without them.
	bounds [2]time.Time
	time   time.Time // of the time coordinate; zero without one
	// attributes are what global attributes say, by their names in small letters with _ for a space. Other attributes may be there too.
	attributes func(name string) string
}

// An interval is what global attributes say about the period. One without a length is a single time of it.
type interval struct {
	from       string // the name of the first attribute
	start, end time.Time
}

// days returns the days of i. An end at midnight is not in the period, unless there is no other day.
func (i interval) days() period {
	p := period{data.DateOf(i.start), data.DateOf(i.end)}
	if i.end.Equal(i.end.Truncate(24*time.Hour)) && p.first < p.last {
		p.last--
	}
	return p
}

func (i interval) length() time.Duration { return i.end.Sub(i.start) }
func (i interval) isPass() bool          { return i.length() <= passHours*time.Hour }

// periodAttributes are the names of global attributes with the begin of a file's period, and those of its end: those of the Attribute Convention for
// Data Discovery 1.3, of SNAP and Sentinel-3, of STAC, and of NASA's HDF-EOS. A name alone is one time, such as that of ACOLITE and of Landsat.
var periodAttributes = [][]string{
	{"time_coverage_start", "time_coverage_end"}, {"start_date", "stop_date", "end_date"}, {"start_time", "stop_time", "end_time"},
	{"start_datetime", "end_datetime"}, {"date_start", "date_end"}, {"period_start", "period_end"}, {"sensing_start", "sensing_stop"},
	{"rangebeginningdate", "rangeendingdate"}, {"isodate"}, {"date_acquired"}, {"acquisition_date"}, {"sensing_time"}, {"datetime"},
}

// spanAttributes say how long the period of a file is. The others than the first are of the whole series if a file is a part of one.
var spanAttributes = []string{"temporal_range", "time_coverage_duration", "time_coverage_resolution"}

// intervals returns what the global attributes say, the shortest first.
func (d *dating) intervals() (found []interval) {
	for _, names := range periodAttributes {
		start, _, ok := parseTimes(d.attributes(names[0]))
		i := interval{names[0], start, start}
		for _, name := range names[1:] {
			if _, end, hasEnd := parseTimes(d.attributes(name)); hasEnd {
				i.end = end
				break
			}
		}
		if ok && !i.end.Before(i.start) {
			found = append(found, i)
		}
	}
	slices.SortStableFunc(found, func(a, b interval) int { return cmp.Compare(a.length(), b.length()) })
	return found
}

var errNoDate = errors.New("no date, neither in the name nor in the file: want --date YYYY-MM-DD")

// period weighs what a file says about its period. The bounds of the time coordinate say all. Otherwise the name, the time coordinate and the
// global attributes must fit together.
func (d *dating) period() (period, error) {
	if d.bounds[1].After(d.bounds[0]) {
		return interval{start: d.bounds[0], end: d.bounds[1]}.days(), nil
	}
	name, hasName := readName(d.name)
	found := d.intervals()
	unclear := func() (period, error) { return period{}, d.unclear(name, hasName, found) }
	var all *interval      // the shortest with a length: longer ones that contain it are of a series
	var labels []time.Time // each is the first, the middle, the last or the only day of the period
	for k := range found {
		switch {
		case !found[k].days().around().contains(found[0].days()):
			return unclear()
		case found[k].length() == 0:
			labels = append(labels, found[k].start)
		case all == nil:
			all = &found[k]
		}
	}
	if !d.time.IsZero() {
		labels = append(labels, d.time)
	}
	length := name.span
	for i, attribute := range spanAttributes {
		s := spanOf(d.attributes(attribute))
		if i == 0 && s > 0 && length > 0 && (s == 1) != (length == 1) {
			return unclear()
		}
		length = cmp.Or(length, s)
	}
	// 1. The name says all days, and the rest fits.
	p := name.period
	if name.whole {
		for _, l := range labels {
			if !p.contains(dayPeriod(data.DateOf(l))) && !l.Equal((p.last + 1).Time()) {
				return unclear()
			}
		}
		if all != nil && (p.days() >= 5 && all.isPass() || !all.days().around().contains(p) && !p.around().contains(all.days())) {
			return unclear()
		}
		return p, nil
	}
	if hasName {
		labels = append(labels, p.first.Time())
	}
	day, same := labelled(labels, all)
	// 2. One day, or no more than attributes.
	switch {
	case all == nil && len(labels) == 0:
		return p, errNoDate
	case all == nil && (!same || name.doubtful && len(labels) == 1 || length > 1 && length != month):
		return unclear()
	case all == nil && length == month:
		return monthOf(day), nil
	case all == nil:
		return dayPeriod(day), nil
	}
	p = all.days()
	fits := int(length)+2 >= p.days() // a day more at both ends
	switch {
	case len(labels) == 0 && length == 1 && all.isPass():
		return dayPeriod(data.DateOf(all.start.Add(all.length() / 2))), nil
	case len(labels) == 0 && length > 0 && !fits:
		return unclear()
	case len(labels) == 0:
		return p, nil
	}
	// 3. One day in the days of the attributes, which are those of the values or of a series.
	edge, middle := day == p.first || day == p.last, day-p.first-(p.last-day)
	short := len(labels) == 1 && p.days() <= longestPeriod
	switch {
	case !same || !p.contains(dayPeriod(day)):
		return unclear()
	case all.isPass() || length == 1:
		return dayPeriod(day), nil
	case length > 0 && fits:
		return p, nil
	case length == month && p.contains(monthOf(day)):
		return monthOf(day), nil
	case length > 0:
		return unclear()
	case p.days() > int(year)+1, !edge && !short:
		return dayPeriod(day), nil
	case short && (edge || -2 <= middle && middle <= 2):
		return p, nil
	}
	return unclear()
}

// labelled returns the day that labels say. The midnight at which an interval ends is of its last day.
func labelled(labels []time.Time, all *interval) (day data.Date, same bool) {
	for k, l := range labels {
		of := data.DateOf(l)
		if all != nil && l.Equal(all.end) {
			of = all.days().last
		}
		if k > 0 && of != day {
			return day, false
		}
		day = of
	}
	return day, true
}

// unclear returns an error that lists all readings.
func (d *dating) unclear(name nameReading, hasName bool, found []interval) error {
	var said []string
	if hasName {
		said = append(said, "the name says "+name.String())
		if name.span > 1 && !name.whole {
			said[0] += fmt.Sprintf(" and %d days", name.span)
		}
	}
	if !d.time.IsZero() {
		said = append(said, "the time coordinate "+d.time.Format(time.RFC3339))
	}
	for _, i := range found {
		text := i.from + " " + i.start.Format(time.RFC3339)
		if i.length() > 0 {
			text += " to " + i.end.Format(time.RFC3339)
		}
		said = append(said, text)
	}
	for _, attribute := range spanAttributes {
		if s := d.attributes(attribute); s != "" {
			said = append(said, fmt.Sprintf("%s %.40q", attribute, s))
		}
	}
	return fmt.Errorf("the date is not clear: %s: want --date YYYY-MM-DD", strings.Join(said, "; "))
}

// periodOfFile returns the period of a file, of which the last day is the date of its values.
func periodOfFile(d dating, opts *Options) (period, error) {
	p, err := d.period()
	switch {
	case opts.Date.Known && (err != nil || p.last != opts.Date.Value):
		p = dayPeriod(opts.Date.Value)
	case err != nil:
		return p, err
	case p.days() > maxPeriod && !opts.Date.Known:
		return p, fmt.Errorf("the values are of %d days, %s: want at most %d, or --date YYYY-MM-DD", p.days(), p, maxPeriod)
	}
	if today := data.DateOf(opts.Now().UTC()); p.last > today+1 {
		return p, fmt.Errorf("date %s: want a day until tomorrow, %s", p.last, today+1)
	}
	return p, nil
}

// timeForms are the forms of times in attributes, without a T between the day and the time, and without Z or UTC at the end: the Attribute Convention
// for Data Discovery 1.3 wants ISO 8601; OC-CCI writes 202201312359Z, SNAP 01-JUL-2025 09:30:00.000000. One of a whole day or month has an end.
var timeForms = []struct {
	layout       string
	months, days int // that it takes
}{
	{"2006-01-02 15:04:05", 0, 0}, {"2006-01-02 15:04:05Z07:00", 0, 0}, {"2006-01-02 15:04:05Z0700", 0, 0}, {"2006-01-02 15:04", 0, 0}, {"20060102 150405", 0, 0},
	{"20060102150405", 0, 0}, {"200601021504", 0, 0}, {"02-Jan-2006 15:04:05", 0, 0}, {"2006-002 15:04:05", 0, 0},
	{"2006-01-02", 0, 1}, {"2006/01/02", 0, 1}, {"20060102", 0, 1}, {"02-Jan-2006", 0, 1}, {"2006-002", 0, 1}, {"2006-01", 1, 0}, {"200601", 1, 0},
}

var timeMark = regexp.MustCompile(`(\d)T(\d)|(?: UTC|Z)$`)

// parseTimes returns the begin and the end of what a text says: of a day it is midnight and the next midnight. 23:59 is the last minute of a day,
// and 00:00 not the first of the next.
func parseTimes(s string) (begin, end time.Time, ok bool) {
	s = strings.TrimSpace(timeMark.ReplaceAllString(strings.TrimSpace(s), "$1 $2"))
	for _, form := range timeForms {
		if t, err := time.Parse(form.layout, s); err == nil {
			t = t.UTC()
			return t, t.AddDate(0, form.months, form.days), t.Year() >= firstYear && t.Year() <= 2100
		}
	}
	return begin, end, false
}

// attributesOf returns a function that finds global attributes by their names in small letters, with _ for a space. GDAL calls a global attribute
// of a NetCDF file NC_GLOBAL#name.
func attributesOf(names iter.Seq[string], text func(name string) string) func(name string) string {
	known := make(map[string]string)
	for name := range names {
		known[strings.TrimPrefix(strings.ReplaceAll(strings.ToLower(name), " ", "_"), "nc_global#")] = name
	}
	return func(as string) string {
		if name, ok := known[as]; ok {
			return text(name)
		}
		return ""
	}
}
