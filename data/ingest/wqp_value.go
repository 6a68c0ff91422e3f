package ingest

import (
	"fmt"
	"slices"
	"strings"

	"limnomap/data"
)

// parseRemarks reads how reliable the result is, as its source says. An unknown status or qualifier is ignored.
func (w *wqpResult) parseRemarks(r *row) {
	switch status := r.lower(wqpStatus); {
	case slices.Contains(wqpGoodStatus, status):
		w.quality = data.Good
	case slices.Contains(wqpSuspectStatus, status):
		w.quality = data.Suspect
	case slices.Contains(wqpPoorStatus, status):
		w.quality = data.Poor
	}
	if r.lower(wqpValueType) == "estimated" {
		w.flags |= data.FlagsOf(data.Estimated)
	}
	for code := range strings.FieldsFuncSeq(r.lower(wqpQualifier), func(c rune) bool { return strings.ContainsRune(" ,;|[]\"", c) }) {
		switch {
		case slices.Contains(wqpEstimatedCodes, code):
			w.flags |= data.FlagsOf(data.Estimated)
		case slices.Contains(wqpHoldTimeCodes, code):
			w.flags |= data.FlagsOf(data.HoldTime)
		case slices.Contains(wqpBelowCodes, code):
			w.below = true
		case slices.Contains(wqpAboveCodes, code):
			w.above = true
		case slices.Contains(wqpRejectedCodes, code):
			w.quality = data.Poor
		}
	}
	w.parseCondition(r)
}

// parseCondition reads the detection condition, which decides over the qualifiers.
func (w *wqpResult) parseCondition(r *row) {
	s := r.text(wqpCondition)
	if s == "" {
		return
	}
	c := strings.TrimPrefix(strings.ToLower(s), "*")
	has := func(prefix string) bool { return strings.HasPrefix(c, prefix) }
	switch {
	case slices.Contains(wqpBelowConditions, c), slices.ContainsFunc(wqpBelowPrefixes, has):
		w.below, w.above = true, false
	case slices.Contains(wqpAboveConditions, c):
		w.below, w.above = false, true
	case slices.Contains(wqpNoValue, c):
		r.fail(leftOut(fmt.Sprintf("no value: %.60q", s)))
	case slices.Contains(wqpEstimatedWith, c):
		w.flags |= data.FlagsOf(data.Estimated)
	default:
		r.bad(wqpCondition, s, "a detection condition of WQX, such as Not Detected")
	}
}

// parseValue reads the value, or the limit that it is below or above.
func (w *wqpResult) parseValue(r *row) {
	s := r.text(wqpValue)
	switch {
	case strings.EqualFold(s, "ND"):
		s, w.below, w.above = "", true, false
	case strings.HasPrefix(s, "<"):
		s, w.below, w.above = strings.TrimSpace(s[1:]), true, false
	case strings.HasPrefix(s, ">"):
		s, w.below, w.above = strings.TrimSpace(s[1:]), false, true
	}
	if w.below && (w.quantity == wqpSecchi || w.quantity == wqpTemperature) {
		r.fail(leftOut("below a limit: " + w.quantity.name))
		return
	}
	given := s != ""
	if given {
		w.value = w.quantity.convert(r, wqpValue, wqpUnit, s)
	}
	switch {
	case w.below:
		limit := w.limit(r)
		if limit > 0 {
			w.value = limit
		}
		if !given && limit == 0 || w.value == 0 {
			r.fail(leftOut("not detected, and no limit is given"))
		}
		return
	case w.above && !given:
		w.value = w.limit(r)
		given = w.value > 0
	}
	if !given {
		r.fail(leftOut("no value"))
	}
	if w.above {
		w.flags |= data.FlagsOf(data.OutOfRange)
	}
}

// limit returns the highest limit that the value is below, half of which never looks cleaner than the lake is; or the highest upper limit
// if it is above; 0 if there is none.
func (w *wqpResult) limit(r *row) float64 {
	highest := 0.0
	for _, limit := range []struct{ kind, value, unit int }{{wqpLimitTypeA, wqpLimitA, wqpLimitUnitA}, {wqpLimitTypeB, wqpLimitB, wqpLimitUnitB}} {
		kind, s := r.lower(limit.kind), r.text(limit.value)
		upper := strings.Contains(kind, "upper")
		if s == "" || upper != w.above || slices.ContainsFunc(wqpNotLimits, func(part string) bool { return strings.Contains(kind, part) }) {
			continue
		}
		if r.text(limit.unit) == "" {
			limit.unit = wqpUnit
		}
		highest = max(highest, w.quantity.convert(r, limit.value, limit.unit, s))
	}
	return highest
}

// convert returns the number s of column c, whose unit is in another column, in the unit of q.
func (q *wqpQuantity) convert(r *row, c, unitColumn int, s string) float64 {
	unit := r.text(unitColumn)
	u, ok := r.unitOf(q.dimension, unit)
	switch {
	case !ok && q.otherUnits && unit != "":
		r.fail(leftOut(fmt.Sprintf("no %s: in %.40q", q.name, unit)))
		return 0
	case !ok:
		r.bad(unitColumn, unit, "a unit of "+q.name+": one of "+q.shown)
		return 0
	}
	in := span{(q.in.min - u.offset) / u.factor, (q.in.max - u.offset) / u.factor, " " + unit}
	if r.marks == nil && strings.Contains(s, ",") { // in the United States it separates thousands, elsewhere decimals
		r.bad(c, s, in.String()+", without a comma; --thousands or --decimal says what it means")
		return 0
	}
	number, err := r.parseNumber(c, s, in)
	if err != nil {
		return 0
	}
	return min(max(number*u.factor+u.offset, q.in.min), q.in.max) // rounding must not leave the range
}
