package ingest

import (
	"slices"
	"strings"

	"limnomap/data"
)

// signColumns are other names of the column sign, which says whether a value is below or above a limit.
var signColumns = []string{"qualifier", "value_qualifier", "result_qualifier", "qualifier_code", "remark_code", "censor", "censored", "censoring", "censor_code", "cens", "less_than", "lt", "comparator", "operator", "relation", "vorzeichen", "signe", "segno", "signo", "below_loq", "below_lod", "below_detection", "detection_flag",
	"resultQualityObservedValueBelowLOQ", "MeasureQualifierCode", "Result_MeasureQualifierCode"}

// The words of the column sign, in small letters, in addition to the qualifiers of the Water Quality Portal. Words such as true are those of a column censored.
var (
	belowSigns = append([]string{"<", "<=", "≤", "lt", "le", "below", "bdl", "lod", "loq", "<lod", "<loq", "<dl", "<ld", "<lq", "<bg", "<ng", "cens", "censored", "left", "true", "t", "1", "yes", "y", "ja"}, wqpBelowCodes...)
	aboveSigns = append([]string{">", ">=", "≥", "gt", "ge", "above", "right"}, wqpAboveCodes...)
	plainSigns = []string{"=", "==", "eq", "nc", "none", "uncensored", "not censored", "false", "0", "no", "n", "nein"}
)

// parseSign reads the column sign. A value below a limit is replaced by half of it.
func parseSign(r *row, chl *float64, known bool, o *data.Observation) {
	s := r.lower(obsSign)
	if s == "" || r.err != nil {
		return
	}
	below, above := false, false
	read := func(word string) bool {
		switch {
		case slices.Contains(plainSigns, word):
		case slices.Contains(belowSigns, word):
			below = true
		case slices.Contains(aboveSigns, word):
			above = true
		case slices.Contains(wqpEstimatedCodes, word):
			r.addFlag(o, data.Estimated)
		case slices.Contains(wqpHoldTimeCodes, word):
			r.addFlag(o, data.HoldTime)
		case slices.Contains(wqpRejectedCodes, word):
			o.Quality, r.has = data.Poor, r.has.with(obsQuality)
		default:
			return false
		}
		return true
	}
	if !read(s) {
		for word := range strings.FieldsFuncSeq(s, func(c rune) bool { return strings.ContainsRune(" ,;|[]\"", c) }) {
			if !read(word) {
				r.bad(obsSign, r.text(obsSign), "< for a value below a limit, > for one above, or = or empty for others")
				return
			}
		}
	}
	switch {
	case below && above:
		r.bad(obsSign, r.text(obsSign), "< or >, and not both")
	case below && !known:
		r.fail(leftOut("not detected, and no limit is given"))
	case below && *chl == 0:
		r.bad(obsChl, r.text(obsChl), "a limit above 0, since "+r.columns[obsSign].name+" is "+s)
	case below && r.censored == 0:
		*chl /= 2
		r.censored++
	case above && known:
		r.addFlag(o, data.OutOfRange)
		if lower, err := data.ChlorophyllOf(*chl); r.fail(err) == nil {
			o.Details.Lower = data.Known(lower)
		}
	}
}

// addFlag adds a flag that a row gives in another column than flags.
func (r *row) addFlag(o *data.Observation, f data.Flag) {
	o.Details.Flags |= data.FlagsOf(f)
	r.has = r.has.with(obsFlags)
}
