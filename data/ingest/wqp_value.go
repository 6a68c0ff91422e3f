package ingest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"limnomap/data"
)

// parseRemarks reads how reliable the result is, as its source says. An unknown status or qualifier is ignored.
func (w *wqpResult) parseRemarks(r *row) error {
	status, err := r.lower(wqpStatus)
	if err != nil {
		return err
	}
	switch {
	case slices.Contains(wqpGoodStatus, status):
		w.quality = data.Good
	case slices.Contains(wqpSuspectStatus, status):
		w.quality = data.Suspect
	case slices.Contains(wqpPoorStatus, status):
		w.quality = data.Poor
	}
	kind, err := r.lower(wqpValueType)
	if err != nil {
		return err
	}
	if kind == "estimated" {
		w.flags |= data.FlagsOf(data.Estimated)
	}
	codes, err := r.lower(wqpQualifier)
	if err != nil {
		return err
	}
	for code := range strings.FieldsFuncSeq(codes, func(c rune) bool { return strings.ContainsRune(" ,;|[]\"", c) }) {
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
	return w.parseCondition(r)
}

// parseCondition reads the detection condition, which decides over the qualifiers.
func (w *wqpResult) parseCondition(r *row) error {
	s, err := r.text(wqpCondition)
	if err != nil || s == "" {
		return err
	}
	c := strings.TrimPrefix(strings.ToLower(s), "*")
	has := func(prefix string) bool { return strings.HasPrefix(c, prefix) }
	switch {
	case slices.Contains(wqpBelowConditions, c), slices.ContainsFunc(wqpBelowPrefixes, has):
		w.below, w.above = true, false
	case slices.Contains(wqpAboveConditions, c):
		w.below, w.above = false, true
	case slices.Contains(wqpNoValue, c):
		return leftOut(fmt.Sprintf("no value: %.60q", s))
	case slices.Contains(wqpEstimatedWith, c):
		w.flags |= data.FlagsOf(data.Estimated)
	default:
		return r.bad(wqpCondition, s, "a detection condition of WQX, such as Not Detected")
	}
	return nil
}

// parseValue reads the value, or the limit that it is below or above.
func (w *wqpResult) parseValue(r *row) error {
	s, err := r.text(wqpValue)
	if err != nil {
		return err
	}
	switch {
	case strings.EqualFold(s, "ND"):
		s, w.below, w.above = "", true, false
	case strings.HasPrefix(s, "<"):
		s, w.below, w.above = strings.TrimSpace(s[1:]), true, false
	case strings.HasPrefix(s, ">"):
		s, w.below, w.above = strings.TrimSpace(s[1:]), false, true
	}
	if w.below && (w.quantity == wqpSecchi || w.quantity == wqpTemperature) {
		return leftOut("below a limit: " + w.quantity.name)
	}
	given := s != ""
	if given {
		if w.value, err = w.quantity.convert(r, wqpValue, wqpUnit, s); err != nil {
			return err
		}
	}
	switch {
	case w.below:
		limit, err := w.limit(r)
		if err != nil {
			return err
		}
		if limit > 0 {
			w.value = limit
		}
		if !given && limit == 0 || w.value == 0 {
			return leftOut("not detected, and no limit is given")
		}
		return nil
	case w.above && !given:
		if w.value, err = w.limit(r); err != nil {
			return err
		}
		given = w.value > 0
	}
	if !given {
		return leftOut("no value")
	}
	if w.above {
		w.flags |= data.FlagsOf(data.OutOfRange)
	}
	return nil
}

// limit returns the highest limit that the value is below, half of which never looks cleaner than the lake is; or the highest upper limit
// if it is above; 0 if there is none.
func (w *wqpResult) limit(r *row) (float64, error) {
	highest := 0.0
	for _, limit := range []struct{ kind, value, unit int }{{wqpLimitTypeA, wqpLimitA, wqpLimitUnitA}, {wqpLimitTypeB, wqpLimitB, wqpLimitUnitB}} {
		kind, err := r.lower(limit.kind)
		if err != nil {
			return 0, err
		}
		s, err := r.text(limit.value)
		if err != nil {
			return 0, err
		}
		upper := strings.Contains(kind, "upper")
		if s == "" || upper != w.above || slices.ContainsFunc(wqpNotLimits, func(part string) bool { return strings.Contains(kind, part) }) {
			continue
		}
		if unit, err := r.text(limit.unit); err == nil && unit == "" {
			limit.unit = wqpUnit
		}
		f, err := w.quantity.convert(r, limit.value, limit.unit, s)
		if err != nil {
			return 0, err
		}
		highest = max(highest, f)
	}
	return highest, nil
}

// convert returns the number s of column c, whose unit is in another column, in the unit of q.
func (q *wqpQuantity) convert(r *row, c, unitColumn int, s string) (float64, error) {
	unit, err := r.text(unitColumn)
	if err != nil {
		return 0, err
	}
	u, ok := q.units[strings.ToLower(strings.ReplaceAll(unit, " ", ""))]
	switch {
	case !ok && q.otherUnits && unit != "":
		return 0, leftOut(fmt.Sprintf("no %s: in %.40q", q.name, unit))
	case !ok:
		known := slices.Sorted(maps.Keys(q.units))
		return 0, r.bad(unitColumn, unit, "a unit of "+q.name+": one of "+strings.Join(known, ", "))
	}
	in := span{(q.in.min - u.offset) / u.factor, (q.in.max - u.offset) / u.factor, " " + unit}
	if r.marks == nil && strings.Contains(s, ",") { // in the United States it separates thousands, elsewhere decimals
		return 0, r.bad(c, s, in.String()+", without a comma; --thousands or --decimal says what it means")
	}
	number, err := r.parseNumber(c, s, in)
	if err != nil {
		return 0, err
	}
	return min(max(number*u.factor+u.offset, q.in.min), q.in.max), nil // rounding must not leave the range
}
