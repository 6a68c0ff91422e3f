package ingest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"limnomap/data"
)

// A dateOrder is the order of day, month and year in dates such as 7/9/2018; "" if it is not given.
type dateOrder string

const (
	dayFirst   dateOrder = "dmy"
	monthFirst dateOrder = "mdy"
	yearFirst  dateOrder = "ymd"
)

var dateOrders = []dateOrder{dayFirst, monthFirst, yearFirst}

// The years that a date may be in; checkLead has a stricter limit for the future. Chlorophyll has been measured from space
// since 1978, and in lakes for decades longer.
const (
	firstYear = 1900
	lastYear  = 2100
	wantDate  = "a day from 1900 to 2100 as YYYY-MM-DD or dd.mm.yyyy, or such as 1 Jul 2026"
)

// date returns the day in column c. A time after it is not used.
func (r *row) date(c int) data.Date {
	s := r.required(c, wantDate)
	if r.err != nil {
		return 0
	}
	if len(s) == len(time.DateOnly) && s[4] == '-' { // as in most files
		if t, err := time.Parse(time.DateOnly, s); err == nil && t.Year() >= firstYear && t.Year() <= lastYear {
			return data.DateOf(t)
		}
	}
	d, err := parseDate(s, r.format.dates)
	if err != nil {
		r.bad(c, s, err.Error())
	}
	return d
}

// parseDate reads a date in another form. Its error says which dates are allowed.
func parseDate(s string, order dateOrder) (data.Date, error) {
	s = cutTime(s)
	parts := dateParts(s)
	if parts == nil {
		return 0, errors.New(wantDate)
	}
	orders := []dateOrder{dayFirst, monthFirst}
	switch month := slices.IndexFunc(parts, func(p string) bool { return p[0] > '9' }); { // a month that is a word
	case digits(parts[0]) == 4:
		orders, order = []dateOrder{yearFirst}, ""
	case month == 0:
		orders, order = []dateOrder{monthFirst}, ""
	case month > 0, order == "" && strings.Contains(s, "."): // as in Europe, where a point is after the number of a day
		orders, order = []dateOrder{dayFirst}, ""
	case order != "":
		orders = []dateOrder{order}
	}
	var found []data.Date
	for _, o := range orders {
		y, m, d := parts[2], parts[1], parts[0]
		switch o {
		case monthFirst:
			m, d = d, m
		case yearFirst:
			y, d = d, y
		}
		if day, ok := dayOf(y, m, d); ok && !slices.Contains(found, day) {
			found = append(found, day)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return 0, fmt.Errorf("a date with one reading: this may be %s or %s; --date-order dmy or mdy says which", found[0], found[1])
	case order != "":
		return 0, fmt.Errorf("%s, with the year in four digits and in the order %s", wantDate, order)
	}
	return 0, errors.New(wantDate)
}

// dateParts returns the three parts of a date; nil if there are not three.
func dateParts(s string) []string {
	if len(s) == 8 && digits(s) == 8 {
		if year, _ := strconv.Atoi(s[:4]); year >= firstYear && year <= lastYear {
			return []string{s[:4], s[4:6], s[6:]}
		}
		return []string{s[:2], s[2:4], s[4:]}
	}
	parts := strings.FieldsFunc(s, func(c rune) bool { return strings.ContainsRune("./- ,", c) })
	if len(parts) != 3 || slices.ContainsFunc(parts, func(p string) bool { n := digits(p); return n < len(p) && n > 0 || n > 4 || n == 3 }) {
		return nil
	}
	return parts
}

// cutTime returns a date without the time of day after it.
func cutTime(s string) string {
	i := strings.IndexByte(s, ':')
	if i < 0 {
		if date, hour, ok := strings.Cut(s, "T"); ok && digits(date) > 0 && digits(hour) > 0 { // 20250705T1030
			return date
		}
		return s
	}
	if i = strings.LastIndexAny(s[:i], "T "); i < 0 || strings.Trim(s[i:], "0123456789:.,+- TZUCGMAPamp") != "" {
		return s
	}
	return strings.TrimSpace(s[:i])
}

// dayOf returns a day, if there is one.
func dayOf(year, month, day string) (data.Date, bool) {
	y, err := strconv.Atoi(year)
	if err != nil || len(year) != 4 || y < firstYear || y > lastYear || len(day) > 2 {
		return 0, false
	}
	d, err := strconv.Atoi(day)
	m, ok := monthOf(month)
	if err != nil || !ok {
		return 0, false
	}
	t := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	return data.DateOf(t), t.Month() == m && t.Day() == d
}

// months are the names of months in English and German, and their abbreviations.
var months = [...]string{"jan january januar", "feb february februar", "mar march mär mrz märz", "apr april", "may mai", "jun june juni", "jul july juli", "aug august",
	"sep sept september", "oct october okt oktober", "nov november", "dec december dez dezember"}

// monthOf returns the month that a number or a name says.
func monthOf(s string) (time.Month, bool) {
	if n, err := strconv.Atoi(s); err == nil {
		return time.Month(n), n >= 1 && n <= 12 && len(s) <= 2
	}
	s = strings.ToLower(s)
	i := slices.IndexFunc(months[:], func(names string) bool { return slices.Contains(strings.Fields(names), s) })
	return time.Month(i + 1), i >= 0
}
