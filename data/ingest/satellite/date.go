package satellite

import (
	"regexp"
	"strconv"
	"time"

	"limnomap/data"
)

// The forms of dates in the names of files.
var (
	// dekadName is LWQ: c_gls_LWQ300_202509010000_GLOBE_OLCI_V2.1.1.nc. The date is the first day of ten, or of the rest of the month.
	dekadName = regexp.MustCompile(`(?i)^c_gl[a-z]*_LWQ[0-9a-z]*_(\d{8})(\d{4})?_`)
	// ordinalName is CyAN: L20202012020207.L3m_7D_CYAN_CI_cyano_CYAN_CONUS_300m_5_2.tif, from day 201 to day 207 of 2020. A daily file has
	// one day. NOAA's sentinel-3a.2019200.0719.1543C.L3.LE3.v930seadasv7521_1_2.CIcyano.tif has the day after a full stop.
	ordinalName = regexp.MustCompile(`(?:^[A-Za-z]|\.)(\d{7})(\d{7})?(?:\.|_|$)`)
	// partsName is a day in three parts, as ACOLITE writes it: S2A_MSI_2021_04_01_11_06_52_T31UDS_L2W.nc.
	partsName = regexp.MustCompile(`(?:^|\D)(\d{4})[-_.](\d{2})[-_.](\d{2})(?:\D|$)`)
	// periodName is a first and a last day: chl_20250701_20250707.tif. A day with a time is of something else, such as the processing.
	periodName = regexp.MustCompile(`(?:^|\D)(\d{8})[-_](\d{8})(?:[^\dT]|$)`)
	// Others have a day of 8 digits, maybe with a time of 4 or 6 more, such as ESACCI-LAKES-L3S-LK_PRODUCTS-MERGED-20200801-fv2.1.0.nc and
	// S3A_OL_2_WFR____20250701T093000_.
	digits = regexp.MustCompile(`\d+`)
)

// DateInName returns the last day that the name of a file says.
func DateInName(name string) (data.Date, bool) {
	if last, ok := dekadInName(name); ok {
		return last, true
	}
	if m := ordinalName.FindStringSubmatch(name); m != nil {
		day := m[1]
		if m[2] != "" {
			day = m[2]
		}
		if d, ok := parseDay("2006002", day); ok {
			return d, true
		}
	}
	if m := partsName.FindStringSubmatch(name); m != nil {
		if d, ok := parseDay("20060102", m[1]+m[2]+m[3]); ok {
			return d, true
		}
	}
	if m := periodName.FindStringSubmatch(name); m != nil {
		first, ok := parseDay("20060102", m[1])
		last, ok2 := parseDay("20060102", m[2])
		if ok && ok2 && first <= last && last-first <= longestPeriod {
			return last, true
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
	return 0, false
}

// longestPeriod is the longest period in days that is taken for one of a name: a month.
const longestPeriod = 31

// dekadInName returns the last day of the ten days that the name of a file of LWQ says.
func dekadInName(name string) (data.Date, bool) {
	m := dekadName.FindStringSubmatch(name)
	if m == nil {
		return 0, false
	}
	first, ok := parseDay("20060102", m[1])
	return lastOfDekad(first), ok
}

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
	t := first.Time()
	switch t.Day() {
	case 1, 11:
		return first + 9
	case 21:
		return data.DateOf(time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, time.UTC))
	}
	return first
}
