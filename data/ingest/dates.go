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

// parseDate reads a date in another form. Its error is what is wanted instead.
func parseDate(s string, order dateOrder) (data.Date, error) {
	parts, marks := dateParts(s)
	if parts == nil {
		return 0, errors.New(wantDate)
	}
	day := func(order dateOrder) (data.Date, bool) {
		y, m, d := parts[0], parts[1], parts[2]
		switch order {
		case dayFirst:
			y, m, d = parts[2], parts[1], parts[0]
		case monthFirst:
			y, m, d = parts[2], parts[0], parts[1]
		}
		return dayOf(y, m, d)
	}
	if at := slices.IndexFunc(parts, func(p string) bool { return p[0] > '9' }); at >= 0 { // the month is a word
		d, ok := day(map[int]dateOrder{0: monthFirst, 1: dayFirst}[at])
		if !ok && at == 1 && len(parts[0]) == 4 {
			d, ok = day(yearFirst)
		}
		if !ok {
			return 0, errors.New(wantDate)
		}
		return d, nil
	}
	if len(parts[0]) == 4 {
		if d, ok := day(yearFirst); ok {
			return d, nil
		}
		return 0, errors.New(wantDate)
	}
	if order == "" && marks == "." {
		order = dayFirst // as in Europe, where a point is after the number of a day
	}
	if order != "" {
		d, ok := day(order)
		if !ok || order == yearFirst {
			return 0, fmt.Errorf("%s, with the year in four digits and in the order %s", wantDate, order)
		}
		return d, nil
	}
	first, asDay := day(dayFirst)
	second, asMonth := day(monthFirst)
	switch {
	case asDay && asMonth && first != second:
		return 0, fmt.Errorf("a date with one reading: this may be %s or %s; --date-order dmy or mdy says which", first, second)
	case asDay:
		return first, nil
	case asMonth:
		return second, nil
	}
	return 0, errors.New(wantDate)
}

// dateParts returns the three parts of a date, and the mark between them; nil if there are not three. A time after the date is left out.
func dateParts(s string) (parts []string, mark string) {
	s = cutTime(s)
	if len(s) == 8 && digits(s) == 8 {
		if year, _ := strconv.Atoi(s[:4]); year >= firstYear && year <= lastYear {
			return []string{s[:4], s[4:6], s[6:]}, ""
		}
		return []string{s[:2], s[2:4], s[4:]}, ""
	}
	for field := range strings.FieldsFuncSeq(s, func(c rune) bool { return strings.ContainsRune("./- ,", c) }) {
		if len(parts) == 3 {
			return nil, ""
		}
		if n := digits(field); n < len(field) && n > 0 || n > 4 || n == 3 {
			return nil, ""
		}
		parts = append(parts, field)
	}
	if len(parts) < 3 {
		return nil, ""
	}
	if i := strings.IndexAny(s, "./-"); i >= 0 {
		mark = s[i : i+1]
	}
	return parts, mark
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

// monthNames are the beginnings of the months' names in English and German that no other month has.
var monthNames = map[string]time.Month{"jan": 1, "feb": 2, "mar": 3, "mär": 3, "mrz": 3, "apr": 4, "may": 5, "mai": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9,
	"oct": 10, "okt": 10, "nov": 11, "dec": 12, "dez": 12}

// monthOf returns the month that a number or a name says.
func monthOf(s string) (time.Month, bool) {
	if n, err := strconv.Atoi(s); err == nil {
		return time.Month(n), n >= 1 && n <= 12 && len(s) <= 2
	}
	letters := []rune(strings.ToLower(s))
	if len(letters) < 3 {
		return 0, false
	}
	m, ok := monthNames[string(letters[:3])]
	if !ok || len(letters) == 3 {
		return m, ok
	}
	long := strings.ToLower(s)
	for _, name := range []string{m.String(), germanMonths[m-1], m.String()[:min(4, len(m.String()))]} {
		if long == strings.ToLower(name) {
			return m, true
		}
	}
	return 0, false
}

var germanMonths = [...]string{"Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"}
