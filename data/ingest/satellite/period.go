package satellite

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"limnomap/data"
)

// A period is the days that a value stands for, from first to last.
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

// An interval is what global attributes say about the period.
type interval struct {
	from       string // the names of the attributes
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

// periodAttributes are the names of global attributes with the begin and the end of a file's period: those of the Attribute Convention for Data
// Discovery 1.3, of SNAP and Sentinel-3, of STAC, and of NASA's HDF-EOS. A name alone is one time, such as that of ACOLITE and of Landsat.
var periodAttributes = [][2]string{
	{"time_coverage_start", "time_coverage_end"}, {"start_date", "stop_date"}, {"start_date", "end_date"}, {"start_time", "stop_time"},
	{"start_time", "end_time"}, {"start_datetime", "end_datetime"}, {"date_start", "date_end"}, {"period_start", "period_end"},
	{"sensing_start", "sensing_stop"}, {"rangebeginningdate", "rangeendingdate"},
	{"isodate", ""}, {"date_acquired", ""}, {"acquisition_date", ""}, {"sensing_time", ""}, {"datetime", ""},
}

// spanAttributes say how long the period of a file is. The others are of the whole series if a file is a part of one, so they are the last to be asked.
var spanAttributes = []string{"temporal_range", "time_coverage_duration", "time_coverage_resolution"}

// intervals returns what the global attributes say.
func (d *dating) intervals() (found []interval) {
	for _, names := range periodAttributes {
		start, _, hasStart := parseTimes(d.attributes(names[0]))
		var end time.Time
		hasEnd := false
		if names[1] != "" {
			_, end, hasEnd = parseTimes(d.attributes(names[1]))
		}
		i := interval{from: names[0] + ", " + names[1], start: start, end: end}
		switch {
		case hasStart && hasEnd && !end.Before(start):
		case hasStart && hasEnd: // nonsense
			continue
		case hasStart && !slices.ContainsFunc(periodAttributes, func(o [2]string) bool { return o[0] == names[0] && o[1] != "" && d.attributes(o[1]) != "" }):
			i.from, i.end = names[0], start
		case hasEnd && d.attributes(names[0]) == "":
			begin, _, _ := parseTimes(d.attributes(names[1]))
			i.from, i.start, i.end = names[1], begin, begin
		default:
			continue
		}
		if !slices.ContainsFunc(found, func(o interval) bool { return o.start.Equal(i.start) && o.end.Equal(i.end) }) {
			found = append(found, i)
		}
	}
	// The files of NASA before 2014 have numbers: "Period Start Year" and "Period Start Day", which is the day of the year.
	ordinal := func(which string) string {
		day := d.attributes("period_" + which + "_day")
		return d.attributes("period_"+which+"_year") + strings.Repeat("0", max(0, 3-len(day))) + day
	}
	start, _, hasStart := parseTimes(ordinal("start"))
	if _, end, ok := parseTimes(ordinal("end")); hasStart && ok && end.After(start) {
		found = append(found, interval{"period_start_day, period_end_day", start, end})
	}
	return found
}

// attributeSpan returns how long the period is by the global attributes. sure is false if they may be about the series of which the file is a part.
func (d *dating) attributeSpan() (s span, sure bool) {
	for i, name := range spanAttributes {
		if s := spanOf(strings.ToLower(strings.TrimSpace(d.attributes(name)))); s > 0 && s <= year {
			return s, i == 0
		}
	}
	return 0, false
}

// A label is one day that stands for a period: its first, its middle, its last or its only one.
type label struct {
	from string
	at   time.Time
	day  data.Date
}

var errNoDate = errors.New("no date, neither in the name nor in the file: want --date YYYY-MM-DD")

// period weighs what a file says about its period. The bounds of the time coordinate say all. Otherwise the name, the time coordinate and the
// global attributes must fit together.
func (d *dating) period() (period, error) {
	if d.bounds[1].After(d.bounds[0]) {
		return interval{start: d.bounds[0], end: d.bounds[1]}.days(), nil
	}
	name, hasName := readName(d.name)
	w := weighing{dating: d, intervals: d.intervals(), name: name, hasName: hasName}
	return w.weigh()
}

// A weighing has what a file says about its period.
type weighing struct {
	*dating
	name      nameReading
	hasName   bool
	intervals []interval
}

// contradiction returns an error that lists all readings.
func (w *weighing) contradiction() error {
	var said []string
	if w.hasName {
		s := "the name says " + w.name.String()
		if w.name.span > 1 && !w.name.whole {
			s += fmt.Sprintf(" and %d days", w.name.span)
		}
		said = append(said, s)
	}
	if !w.time.IsZero() {
		said = append(said, "the time coordinate "+w.time.Format(time.RFC3339))
	}
	for _, i := range w.intervals {
		text := i.from + " " + i.start.Format(time.RFC3339)
		if i.length() > 0 {
			text += " to " + i.end.Format(time.RFC3339)
		}
		said = append(said, text)
	}
	for _, name := range spanAttributes {
		if s := w.attributes(name); s != "" {
			said = append(said, fmt.Sprintf("%s %.40q", name, s))
		}
	}
	return fmt.Errorf("the date is not clear: %s: want --date YYYY-MM-DD", strings.Join(said, "; "))
}

func (w *weighing) weigh() (period, error) {
	// Of several intervals the shortest counts, if the others contain it: they are of a series.
	var all *interval
	var labels []label
	slices.SortStableFunc(w.intervals, func(a, b interval) int { return cmp.Compare(a.length(), b.length()) })
	for k, i := range w.intervals {
		if k > 0 && !i.days().around().contains(w.intervals[0].days()) {
			return period{}, w.contradiction()
		}
		switch {
		case i.length() == 0:
			labels = append(labels, label{i.from, i.start, data.DateOf(i.start)})
		case all == nil:
			all = &i
		}
	}
	if !w.time.IsZero() {
		labels = append(labels, label{"time", w.time, data.DateOf(w.time)})
	}
	length := w.name.span
	if s, sure := w.attributeSpan(); length == 0 {
		length = s
	} else if sure && (s == 1) != (length == 1) {
		return period{}, w.contradiction()
	}
	if w.hasName && w.name.whole {
		return w.weighWhole(labels, all)
	}
	if w.hasName {
		labels = append(labels, label{"name", w.name.first.Time(), w.name.first})
	}
	return w.weighLabels(labels, all, length)
}

// weighWhole returns the period that the name says, if the rest fits.
func (w *weighing) weighWhole(labels []label, all *interval) (period, error) {
	p := w.name.period
	for _, l := range labels {
		end := l.day == p.last+1 && l.at.Equal(l.day.Time()) // the end of the period
		if !p.contains(dayPeriod(l.day)) && !end {
			return p, w.contradiction()
		}
	}
	if all == nil {
		return p, nil
	}
	switch days := all.days(); {
	case p.days() >= 5 && all.length() <= passHours*time.Hour: // one pass
		return p, w.contradiction()
	case !days.around().contains(p) && !p.around().contains(days):
		return p, w.contradiction()
	}
	return p, nil
}

// weighLabels returns the period of a file whose name says at most one day.
func (w *weighing) weighLabels(labels []label, all *interval, length span) (period, error) {
	if len(labels) == 0 {
		switch {
		case all == nil:
			return period{}, errNoDate
		case all.length() <= passHours*time.Hour && length == 1:
			return dayPeriod(data.DateOf(all.start.Add(all.length() / 2))), nil
		case length > 0 && all.days().days() > longest(length):
			return period{}, w.contradiction()
		}
		return all.days(), nil
	}
	for k, l := range labels {
		if all != nil && l.at.Equal(all.end) {
			labels[k].day = all.days().last // midnight
		}
	}
	day := labels[0].day
	same, several := true, false
	for _, l := range labels {
		same = same && l.day == day
		several = several || l.from != labels[0].from
		if all != nil && !all.days().contains(dayPeriod(l.day)) {
			return period{}, w.contradiction()
		}
	}
	if !same {
		// They may be the begin and the middle of one period.
		if all == nil || length == 1 || all.length() <= passHours*time.Hour || all.days().days() > max(longest(length), longestPeriod) {
			return period{}, w.contradiction()
		}
		return all.days(), nil
	}
	if all == nil {
		switch {
		case length == month:
			return monthOf(day), nil
		case w.name.doubtful && !several, length > 1 && w.name.span == 0:
			return period{}, w.contradiction()
		}
		return dayPeriod(day), nil
	}
	p := all.days()
	edge := day == p.first || day == p.last
	middle := day - p.first - (p.last - day)
	switch {
	case all.length() <= passHours*time.Hour:
		return dayPeriod(day), nil
	case length == 1:
		return dayPeriod(day), nil
	case length > 0 && p.days() <= longest(length):
		return p, nil
	case length == month && p.contains(monthOf(day)):
		return monthOf(day), nil
	case length > 0:
		return p, w.contradiction()
	case p.days() > int(year)+1: // of a series
		return dayPeriod(day), nil
	case (several || p.days() > longestPeriod) && !edge:
		return dayPeriod(day), nil
	case !several && p.days() <= longestPeriod && (edge || -2 <= middle && middle <= 2):
		return p, nil
	}
	return p, w.contradiction()
}

// longest returns the most days of a period of that length, as attributes may say them.
func longest(s span) int {
	if s == month {
		return 33
	}
	return int(s) + 2
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

// timeForms are the forms of times in attributes, with what one has that has only this form: the Attribute Convention for Data Discovery 1.3 wants
// ISO 8601; OC-CCI writes 202201312359Z, SNAP 01-JUL-2025 09:30:00.000000, NASA's older files 2020194010001000, with milliseconds.
var timeForms = []struct {
	layout string
	unit   time.Duration // 0 means a month
}{
	{time.RFC3339, time.Second}, {"2006-01-02T15:04:05Z0700", time.Second}, {"2006-01-02T15:04:05", time.Second}, {"2006-01-02 15:04:05Z07:00", time.Second},
	{"2006-01-02 15:04:05 UTC", time.Second}, {"2006-01-02 15:04:05", time.Second}, {"2006-01-02T15:04Z07:00", time.Minute}, {"2006-01-02T15:04", time.Minute},
	{"2006-01-02 15:04", time.Minute}, {"20060102T150405Z", time.Second}, {"20060102T150405", time.Second}, {"20060102150405Z", time.Second}, {"20060102150405", time.Second},
	{"200601021504Z", time.Minute}, {"200601021504", time.Minute}, {"02-Jan-2006 15:04:05", time.Second}, {"2006002150405", time.Second},
	{"2006-002T15:04:05Z", time.Second}, {"2006-002T15:04:05", time.Second}, {"2006-002", 24 * time.Hour}, {"02-Jan-2006", 24 * time.Hour},
	{"2006-01-02Z", 24 * time.Hour}, {"2006-01-02", 24 * time.Hour}, {"2006/01/02", 24 * time.Hour}, {"20060102", 24 * time.Hour}, {"2006002", 24 * time.Hour},
	{"2006-01", 0}, {"200601", 0},
}

// parseTimes returns the begin and the end of what a text says: of a day it is midnight and the next midnight.
func parseTimes(s string) (begin, end time.Time, ok bool) {
	s = strings.TrimSpace(s)
	if len(s) == 16 && strings.Trim(s, "0123456789") == "" { // package time wants a full stop before milliseconds
		s = s[:13]
	}
	for _, form := range timeForms {
		t, err := time.Parse(form.layout, s)
		if err != nil {
			continue
		}
		t = t.UTC()
		switch form.unit {
		case time.Second:
			end = t
		case time.Minute:
			end = t // 23:59 is the last minute of a day, and 00:00 not the first of the next
		case 24 * time.Hour:
			end = t.Add(form.unit)
		default:
			end = t.AddDate(0, 1, 0)
		}
		return t, end, t.Year() >= firstYear && t.Year() <= 2100
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
