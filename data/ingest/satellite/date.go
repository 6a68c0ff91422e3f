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
	// whole is true if these are all days of the values. Otherwise they are one day: the first, the middle or the last of the period, or the only one.
	whole bool
	// doubtful is true for the first of two days that may be a period, or a scene and its processing.
	doubtful bool
	span     span // how long the period is, if the name says it
}

// A nameForm is a form of days in names. With the template a match becomes digits in the layout: of a day, or of a day, its time, another day and
// its time, of which the times may be empty.
type nameForm struct {
	*regexp.Regexp
	layout, template string
}

const (
	isoDay  = `(\d{4})[-_.](\d{2})[-_.](\d{2})`
	isoTime = `(?:[-_ T](\d\d)[-_:.]?(\d\d)(?:[-_:.]?\d\d)?Z?)?`
	between = `(?:_to_|-to-|_-_|--|__| - |[-_])`
)

var (
	// dekadName is LWQ: c_gls_LWQ300_202509010000_GLOBE_OLCI_V2.1.1.nc. The date is the first day of ten, or of the rest of the month.
	dekadName = regexp.MustCompile(`(?i)^c_gl[a-z]*_LWQ[0-9a-z]*_(\d{8})(\d{4})?_`)
	// landsatName is a scene of Landsat, with the day of the scene and then that of its processing (USGS: Landsat Collection 2 product
	// identifier): LC08_L2SP_193023_20200708_20200912_02_T1.
	landsatName = regexp.MustCompile(`(?i)(?:^|[^A-Za-z0-9])L[COTEM]0[1-9]_(?:[^.]*?_)?(\d{8})[_-]\d{8}(?:\D|$)`)
	// binnedName is of products whose periods begin with the day in the name: Level 3 of NASA, and the Ocean Colour CCI.
	binnedName = regexp.MustCompile(`(?i)[._]L3[bm][._]|^ESACCI-OC-`)

	// periodForms have two days.
	periodForms = []nameForm{
		// NOAA: ts_2016.1007_1013.L4.LCHMP3.CIcyano.MAXIMUM_7day.tif, from 7 to 13 October.
		{regexp.MustCompile(`(?:^|\D)(\d{4})\.(\d{4})[_-](\d{4})(?:\D|$)`), "20060102", "$1$2||$3|"},
		// Days of the year, as CyAN and NASA's files before 2020 have them: L20202012020207.L3m_7D_CYAN_CI_cyano_CYAN_CONUS_300m_5_2.tif, from
		// day 201 to day 207 of 2020.
		{regexp.MustCompile(`(?:^|[._-])[A-Za-z]?(\d{7})_?(\d{7})(?:[._-]|$)`), "2006002", "$1||$2|"},
		// S3A_OLCI_EFRNT.2023050720230507.chlor_a-mean.smi.nc.
		{regexp.MustCompile(`(?:^|\D)(\d{8})(\d{8})(?:\D|$)`), "20060102", "$1||$2|"},
		// The Copernicus Browser: 2025-07-01-00-00_2025-07-07-23-59_Sentinel-2_L2A_Chl.tiff.
		{regexp.MustCompile(`(?i)(?:^|\D)` + isoDay + isoTime + between + isoDay + isoTime + `(?:\D|$)`), "20060102", "$1$2$3|$4$5|$6$7$8|$9$10"},
		// chl_20250701_20250707.tif, or with times.
		{regexp.MustCompile(`(?i)(?:^|\D)(\d{8})(?:T(\d{4})(?:\d\d)?Z?)?` + between + `(\d{8})(?:T(\d{4})(?:\d\d)?Z?)?(?:\D|$)`), "20060102", "$1|$2|$3|$4"},
	}
	// dayForms have one day.
	dayForms = []nameForm{
		// NOAA: ts_2018.0812.L3.LE3.CIcyano.tif.
		{regexp.MustCompile(`(?:^|\D)(\d{4})\.(\d{4})(?:\D|$)`), "20060102", "$1$2"},
		// ACOLITE: S2A_MSI_2021_04_01_11_06_52_T31UDS_L2W.nc.
		{regexp.MustCompile(`(?:^|\D)` + isoDay + `(?:\D|$)`), "20060102", "$1$2$3"},
		// A day of 8 digits, maybe with a time of 4 or 6 more: ESACCI-LAKES-L3S-LK_PRODUCTS-MERGED-20200801-fv2.1.0.nc.
		{regexp.MustCompile(`\d+`), "20060102", "$0"},
		// Days of the year: A2020194.L3m_DAY_CHL_chlor_a_4km.nc, or NOAA's sentinel-3a.2019200.0719.1543C.L3.LE3.v930seadasv7521_1_2.CIcyano.tif.
		{regexp.MustCompile(`(?:^|[._-])[A-Za-z]?(\d{7})(?:[._-]|$)`), "2006002", "$1"},
	}
)

// DateInName returns the last day that the name of a file says.
func DateInName(name string) (data.Date, bool) {
	r, ok := readName(name)
	return r.last, ok
}

// readName returns what the name of a file says about its days.
func readName(name string) (nameReading, bool) {
	name = path.Base(name)
	if m := dekadName.FindStringSubmatch(name); m != nil {
		first, ok := parseDay("20060102", m[1])
		return nameReading{period: period{first, lastOfDekad(first)}, whole: true}, ok
	}
	if m := landsatName.FindStringSubmatch(name); m != nil {
		day, ok := parseDay("20060102", m[1])
		return nameReading{period: dayPeriod(day), whole: true, span: 1}, ok
	}
	length := spanOf(name)
	for _, form := range periodForms {
		if m := form.FindStringSubmatchIndex(name); m != nil {
			days := strings.Split(string(form.ExpandString(nil, form.template, name, m)), "|")
			if r, ok := pairOf(form.layout, days[0], days[1], days[2], days[3]); ok {
				r.span = length
				return r, true
			}
		}
	}
	day, ok := dayInName(name)
	if !ok {
		return monthInName(name)
	}
	r := nameReading{period: dayPeriod(day), span: length, whole: true}
	switch {
	case length == 1:
	case length == month:
		r.period = monthOf(day)
	case length == 7 && cyanName.MatchString(name):
		// The weeks of CyAN run from Sunday to Saturday.
		sunday := day - data.Date(day.Time().Weekday())
		r.period = period{sunday, sunday + 6}
	case length > 1 && length < year && binnedName.MatchString(name):
		// They begin on 1 January again, so that the last period of a year is shorter.
		newYear := data.DateOf(time.Date(day.Time().Year()+1, 1, 1, 0, 0, 0, 0, time.UTC))
		r.period = period{day, min(day+data.Date(length)-1, newYear-1)}
	default:
		r.whole = false
	}
	return r, true
}

// longestPeriod is the longest period in days that two days in a name are taken for: a month. More may be a scene and its processing.
const longestPeriod = 31

// pairOf returns what two days with times, which may be empty, mean. The second may have no year.
func pairOf(layout, from, fromTime, to, toTime string) (nameReading, bool) {
	shortTo := len(to) == 4
	if shortTo {
		to = from[:4] + to
	}
	first, ok := parseDay(layout, from)
	last, ok2 := parseDay(layout, to)
	if !ok || !ok2 {
		return nameReading{}, false
	}
	if shortTo && last < first { // the week of New Year
		last = data.DateOf(last.Time().AddDate(1, 0, 0))
	}
	label := nameReading{period: dayPeriod(first)}
	midnight := strings.Trim(toTime, "0") == ""
	switch days := last - first; {
	case days < 0:
		return label, true
	case fromTime != "" && strings.Trim(fromTime, "0") == "" && (midnight || toTime >= "2359"):
		if midnight && toTime != "" && days > 0 {
			last-- // the end is not in the period
		}
	case fromTime != "" && days == 1: // a scene over midnight
	case fromTime != "" || toTime != "": // a scene, or its time and that of its processing
		return label, true
	case days > longestPeriod:
		label.doubtful = true
		return label, true
	}
	return nameReading{period: period{first, last}, whole: true}, true
}

// dayInName returns the first day that a name says.
func dayInName(name string) (data.Date, bool) {
	for _, form := range dayForms {
		for _, m := range form.FindAllStringSubmatchIndex(name, -1) {
			s := string(form.ExpandString(nil, form.template, name, m))
			if n := len(s); n == 12 || n == 14 {
				s = s[:8]
			}
			if d, ok := parseDay(form.layout, s); ok {
				return d, true
			}
		}
	}
	return 0, false
}

// monthInName returns the month that a name says, if it says one: ESACCI-OC-L3S-CHLOR_A-MERGED-1M_MONTHLY_4km_GEO_PML_OCx-202201-fv6.0.nc, or chl_2022-01.tif.
func monthInName(name string) (found nameReading, ok bool) {
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return r != '-' && (r < '0' || r > '9') }) {
		word = strings.Trim(word, "-")
		if len(word) == 7 && word[4] == '-' {
			word = word[:4] + word[5:]
		}
		if first, isMonth := parseDay("200601", word); isMonth {
			of := nameReading{period: monthOf(first), whole: true, span: month}
			if ok && found != of {
				return nameReading{}, false
			}
			found, ok = of, true
		}
	}
	return found, ok
}

// A span is how many days the values of a file are of: about 30 for [month], more for a season or a year. 0 is unknown.
type span int

const (
	month span = 30
	year  span = 365
)

var (
	spanWords = map[string]span{"day": 1, "daily": 1, "dly": 1, "1d": 1, "p1d": 1, "pt24h": 1, "1day": 1, "week": 7, "weekly": 7, "p1w": 7, "1w": 7,
		"dekad": 10, "dekadal": 10, "month": month, "monthly": month, "p1m": month, "season": 92, "seasonal": 92, "p3m": 92,
		"year": year, "yearly": year, "annual": year, "p1y": year}
	// daysWord is a number of days, such as 8D or 8-day. 2d and 3d are dimensions.
	daysWord = regexp.MustCompile(`(?i)(?:^|[._-])p?([5-9]|[1-9]\d)-?d(?:ays?)?(?:[._-]|$)`)
	// nasaMonth is the month of Level 3 of NASA (OB.DAAC: file naming convention).
	nasaMonth = regexp.MustCompile(`[._-]L3[bm][._]MO[._]`)
)

// spanOf returns how long a period is by a name or an attribute: the longest that it says.
func spanOf(text string) (longest span) {
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune("._- ", r) }) {
		longest = max(longest, spanWords[word])
	}
	if m := daysWord.FindStringSubmatch(strings.TrimSpace(text)); m != nil {
		n, _ := strconv.Atoi(m[1]) // two digits
		longest = max(longest, span(n))
	}
	if nasaMonth.MatchString(text) {
		longest = month
	}
	return longest
}

// firstYear is the year of the first satellite that measured the colour of water, with the Coastal Zone Color Scanner.
const firstYear = 1978

// parseDay parses a day by a layout of package time. Digits that are no day, such as those of a tile, are none.
func parseDay(layout, s string) (data.Date, bool) {
	t, err := time.Parse(layout, s)
	return data.DateOf(t), err == nil && t.Year() >= firstYear && t.Year() <= 2100
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
