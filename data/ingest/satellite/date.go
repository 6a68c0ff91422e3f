package satellite

import (
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"limnomap/data"
)

// A nameReading is what the name of a file says about the days of its values.
type nameReading struct {
	period
	// whole is true if these are all days of the values. Otherwise they are one day, which may stand for more: the first, the middle or the last.
	whole bool
	// doubtful is true for the first of two days that may be a period, or a scene and its processing.
	doubtful bool
	span     span // how long the period is, if the name says it
}

// The forms of dates in the names of files.
var (
	// dekadName is LWQ: c_gls_LWQ300_202509010000_GLOBE_OLCI_V2.1.1.nc. The date is the first day of ten, or of the rest of the month.
	dekadName = regexp.MustCompile(`(?i)^c_gl[a-z]*_LWQ[0-9a-z]*_(\d{8})(\d{4})?_`)
	// landsatName is a scene of Landsat, with the day of the scene and then that of its processing (USGS: Landsat Collection 2 product
	// identifier): LC08_L2SP_193023_20200708_20200912_02_T1. landsatScene is its older identifier, with a day of the year: LC81930232020190LGN00.
	landsatName  = regexp.MustCompile(`(?i)(?:^|[^A-Za-z0-9])L[COTEM]0[1-9]_(?:[^.]*?_)?(\d{8})[_-]\d{8}(?:\D|$)`)
	landsatScene = regexp.MustCompile(`(?i)(?:^|[^A-Za-z0-9])L[COTEM][1-9]\d{6}(\d{7})[A-Z]{3}\d\d`)
	// noaaPeriod is NOAA: ts_2016.1007_1013.L4.LCHMP3.CIcyano.MAXIMUM_7day.tif, from 7 to 13 October. noaaDay has one day.
	noaaPeriod = regexp.MustCompile(`(?:^|\D)(\d{4})\.(\d{4})[_-](\d{4})(?:\D|$)`)
	noaaDay    = regexp.MustCompile(`(?:^|\D)(\d{4})\.(\d{4})(?:\D|$)`)
	// ordinalPeriod is a first and a last day with the day of the year, as CyAN and NASA's files before 2020 have it:
	// L20202012020207.L3m_7D_CYAN_CI_cyano_CYAN_CONUS_300m_5_2.tif, from day 201 to day 207 of 2020.
	ordinalPeriod = regexp.MustCompile(`(?:^|[._-])[A-Za-z]?(\d{7})_?(\d{7})(?:[._-]|$)`)
	// ordinalDay has one: A2020194.L3m_DAY_CHL_chlor_a_4km.nc, or NOAA's sentinel-3a.2019200.0719.1543C.L3.LE3.v930seadasv7521_1_2.CIcyano.tif.
	ordinalDay = regexp.MustCompile(`(?:^[A-Za-z]|\.[A-Za-z]?)(\d{7})(?:\.|_|$)`)
	// ordinalAnywhere is the last to be tried, since 7 digits may be something else.
	ordinalAnywhere = regexp.MustCompile(`(?:^|[._-])[A-Za-z]?(\d{7})(?:[._-]|$)`)
	// isoPeriod is two days in three parts, maybe with times, such as an export of the Copernicus Browser:
	// 2025-07-01-00-00_2025-07-07-23-59_Sentinel-2_L2A_Chl.tiff.
	isoPeriod = regexp.MustCompile(`(?i)(?:^|\D)` + isoDay + isoTime + between + isoDay + isoTime + `(?:\D|$)`)
	// compactPeriod is two days of 8 digits: chl_20250701_20250707.tif, or with times. joinedPeriod has nothing between:
	// S3A_OLCI_EFRNT.2023050720230507.chlor_a-mean.smi.nc.
	compactPeriod = regexp.MustCompile(`(?i)(?:^|\D)(\d{8})(?:T(\d{4})(?:\d\d)?Z?)?` + between + `(\d{8})(?:T(\d{4})(?:\d\d)?Z?)?(?:\D|$)`)
	joinedPeriod  = regexp.MustCompile(`(?:^|\D)(\d{8})(\d{8})(?:\D|$)`)
	// partsName is a day in three parts, as ACOLITE writes it: S2A_MSI_2021_04_01_11_06_52_T31UDS_L2W.nc.
	partsName = regexp.MustCompile(`(?:^|\D)` + isoDay + `(?:\D|$)`)
	// Others have a day of 8 digits, maybe with a time of 4 or 6 more, such as ESACCI-LAKES-L3S-LK_PRODUCTS-MERGED-20200801-fv2.1.0.nc and
	// S3A_OL_2_WFR____20250701T093000_.
	digits = regexp.MustCompile(`\d+`)
	// monthName is a month: ESACCI-OC-L3S-CHLOR_A-MERGED-1M_MONTHLY_4km_GEO_PML_OCx-202201-fv6.0.nc, or chl_2022-01.tif.
	monthName = regexp.MustCompile(`(?:^|[^0-9.])(\d{4})-?(\d{2})(?:[^0-9]|$)`)
	// binnedName is of products whose periods begin with the day in the name: Level 3 of NASA, and the Ocean Colour CCI.
	binnedName = regexp.MustCompile(`(?i)[._]L3[bm][._]|^ESACCI-OC-`)
)

const (
	isoDay  = `(\d{4})[-_.](\d{2})[-_.](\d{2})`
	isoTime = `(?:[-_ T](\d\d)[-_:.]?(\d\d)(?:[-_:.]?\d\d)?Z?)?`
	between = `(?:_to_|-to-|_-_|--|__| - |[-_])`
)

// DateInName returns the last day that the name of a file says.
func DateInName(name string) (data.Date, bool) {
	r, ok := readName(name)
	return r.last, ok
}

// readName returns what the name of a file says about its days.
func readName(name string) (nameReading, bool) {
	name = path.Base(name)
	if last, ok := dekadInName(name); ok {
		first, _ := parseDay("20060102", dekadName.FindStringSubmatch(name)[1])
		return nameReading{period: period{first, last}, whole: true}, true
	}
	for _, form := range []struct {
		*regexp.Regexp
		layout string
	}{{landsatName, "20060102"}, {landsatScene, "2006002"}} {
		if m := form.FindStringSubmatch(name); m != nil {
			if d, ok := parseDay(form.layout, m[1]); ok {
				return nameReading{period: dayPeriod(d), whole: true, span: 1}, true
			}
		}
	}
	length := spanInName(name)
	if r, ok := periodInName(name); ok {
		r.span = length
		return r, true
	}
	day, ok := dayInName(name)
	if !ok {
		return monthInName(name)
	}
	r := nameReading{period: dayPeriod(day), span: length}
	switch {
	case length == 1:
		r.whole = true
	case length == month:
		r.period, r.whole = monthOf(day), true
	case length == 7 && cyanName.MatchString(name):
		// The weeks of CyAN run from Sunday to Saturday.
		sunday := day - data.Date(day.Time().Weekday())
		r.period, r.whole = period{sunday, sunday + 6}, true
	case length > 1 && length < year && binnedName.MatchString(name):
		// They begin on 1 January again, so that the last period of a year is shorter.
		newYear := data.DateOf(time.Date(day.Time().Year()+1, 1, 1, 0, 0, 0, 0, time.UTC))
		r.period, r.whole = period{day, min(day+data.Date(length)-1, newYear-1)}, true
	}
	return r, true
}

// longestPeriod is the longest period in days that two days in a name are taken for: a month. More may be a scene and its processing.
const longestPeriod = 31

// periodInName returns the first and the last day that a name says.
func periodInName(name string) (nameReading, bool) {
	if m := noaaPeriod.FindStringSubmatch(name); m != nil {
		first, ok := parseDay("20060102", m[1]+m[2])
		last, ok2 := parseDay("20060102", m[1]+m[3])
		if ok && last < first { // the week of New Year
			next, _ := strconv.Atoi(m[1])
			last, ok2 = parseDay("20060102", strconv.Itoa(next+1)+m[3])
		}
		if ok && ok2 && last-first < longestPeriod {
			return nameReading{period: period{first, last}, whole: true}, true
		}
	}
	for _, form := range []struct {
		*regexp.Regexp
		layout string
	}{{ordinalPeriod, "2006002"}, {joinedPeriod, "20060102"}} {
		if m := form.FindStringSubmatch(name); m != nil {
			first, ok := parseDay(form.layout, m[1])
			last, ok2 := parseDay(form.layout, m[2])
			if ok && ok2 && first <= last {
				return nameReading{period: period{first, last}, whole: true}, true
			}
		}
	}
	if m := isoPeriod.FindStringSubmatch(name); m != nil {
		if r, ok := pairInName(m[1]+m[2]+m[3], m[4]+m[5], m[6]+m[7]+m[8], m[9]+m[10]); ok {
			return r, true
		}
	}
	if m := compactPeriod.FindStringSubmatch(name); m != nil {
		return pairInName(m[1], m[2], m[3], m[4])
	}
	return nameReading{}, false
}

// pairInName returns what two days with times, which may be empty, mean.
func pairInName(from, fromTime, to, toTime string) (nameReading, bool) {
	first, ok := parseDay("20060102", from)
	last, ok2 := parseDay("20060102", to)
	if !ok || !ok2 {
		return nameReading{}, false
	}
	label := nameReading{period: dayPeriod(first)}
	wholeDays := strings.Trim(fromTime, "0") == "" && (toTime >= "2359" || strings.Trim(toTime, "0") == "")
	switch days := last - first; {
	case days < 0:
		return label, true
	case fromTime != "" && wholeDays: // the end at midnight is not in the period
		if toTime != "" && toTime < "2359" && days > 0 {
			last--
		}
		return nameReading{period: period{first, last}, whole: true}, true
	case fromTime != "" && days <= 1: // the begin and the end of a scene
		return nameReading{period: period{first, last}, whole: days == 1}, true
	case fromTime != "" || toTime != "": // the time of a scene, then that of its processing
		return label, true
	case days > longestPeriod:
		label.doubtful = true
		return label, true
	}
	return nameReading{period: period{first, last}, whole: last > first}, true
}

// dayInName returns the first day that a name says.
func dayInName(name string) (data.Date, bool) {
	for _, form := range []struct {
		*regexp.Regexp
		layout string
	}{{ordinalDay, "2006002"}, {noaaDay, "20060102"}, {partsName, "20060102"}} {
		if m := form.FindStringSubmatch(name); m != nil {
			if d, ok := parseDay(form.layout, strings.Join(m[1:], "")); ok {
				return d, true
			}
		}
	}
	for _, run := range digits.FindAllString(name, -1) {
		switch len(run) {
		case 8, 12, 14:
			if d, ok := parseDay("20060102", run[:8]); ok {
				return d, true
			}
		}
	}
	if m := ordinalAnywhere.FindStringSubmatch(name); m != nil {
		return parseDay("2006002", m[1])
	}
	return 0, false
}

// monthInName returns the month that a name says, if it says one.
func monthInName(name string) (nameReading, bool) {
	var found nameReading
	for rest := name; ; {
		at := monthName.FindStringSubmatchIndex(rest)
		if at == nil {
			return found, found.whole
		}
		if first, ok := parseDay("20060102", rest[at[2]:at[3]]+rest[at[4]:at[5]]+"01"); ok {
			of := nameReading{period: monthOf(first), whole: true, span: month}
			if found.whole && found != of {
				return nameReading{}, false
			}
			found = of
		}
		rest = rest[at[5]:]
	}
}

// dekadInName returns the last day of the ten days that the name of a file of LWQ says.
func dekadInName(name string) (data.Date, bool) {
	m := dekadName.FindStringSubmatch(name)
	if m == nil {
		return 0, false
	}
	first, ok := parseDay("20060102", m[1])
	return lastOfDekad(first), ok
}

// A span is how many days the values of a file are of: about 30 for [month], more for a season or a year. 0 is unknown.
type span int

const (
	month span = 30
	year  span = 365
)

// nasaSpan has the words of Level 3 of NASA (OB.DAAC: file naming convention).
var nasaSpan = regexp.MustCompile(`[._-]L3[bm][._](MO|YR|R32|SN[A-Z]{2})[._]`)

// spanInName returns how long a period is, as its name says: the longest that it says.
func spanInName(name string) (longest span) {
	if m := nasaSpan.FindStringSubmatch(name); m != nil {
		switch {
		case m[1] == "MO":
			return month
		case m[1] == "R32":
			return 32
		case m[1] == "YR":
			return year
		}
		return 92
	}
	for _, word := range strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '.' || r == '_' || r == '-' }) {
		longest = max(longest, spanOf(word))
	}
	// The number may be a word of its own: 8-day.
	if m := splitSpan.FindStringSubmatch(name); m != nil {
		longest = max(longest, spanOf(m[1]+"d"))
	}
	return longest
}

var splitSpan = regexp.MustCompile(`(?i)(?:^|[._-])(\d{1,2})-days?(?:[._-]|$)`)

// spanOf returns how long a period is by a word such as daily, 8d or p1m.
func spanOf(word string) span {
	switch word {
	case "day", "daily", "dly", "1d", "p1d", "pt24h", "1day":
		return 1
	case "week", "weekly", "p1w", "1w":
		return 7
	case "dekad", "dekadal":
		return 10
	case "month", "monthly", "p1m":
		return month
	case "season", "seasonal", "p3m":
		return 92
	case "year", "yearly", "annual", "p1y":
		return year
	}
	if m := daysWord.FindStringSubmatch(word); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n >= 5 { // 2d and 3d are dimensions
			return span(n)
		}
	}
	return 0
}

var daysWord = regexp.MustCompile(`^p?(\d{1,2})-?d(?:ays?)?$`)

// firstYear is the year of the first satellite that measured the colour of water, with the Coastal Zone Color Scanner.
const firstYear = 1978

// parseDay parses a day by a layout of package time. Digits that are no day, such as those of a tile, are none.
func parseDay(layout, s string) (data.Date, bool) {
	if year, err := strconv.Atoi(s[:4]); err != nil || year < firstYear || year > 2100 {
		return 0, false
	}
	t, err := time.Parse(layout, s)
	return data.DateOf(t), err == nil
}

// lastOfDekad returns the last day of the ten days that begin with first. Dekads begin on days 1, 11 and 21 of a month; the third lasts to the
// end of the month. Any other day is returned unchanged.
func lastOfDekad(first data.Date) data.Date {
	switch first.Time().Day() {
	case 1, 11:
		return first + 9
	case 21:
		return monthOf(first).last
	}
	return first
}
