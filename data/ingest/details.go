package ingest

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"limnomap/data"
)

// parseDetails reads the columns that only some files have.
func parseDetails(r *row, o *data.Observation) {
	if r.has>>obsLower == 0 { // as in most files
		return
	}
	o.Source, o.Details.Method, o.Details.Version = r.line(obsSource), r.line(obsMethod), r.line(obsVersion)
	parseUncertainty(r, o)
	parseBelowLimit(r, o)
	o.Details.ValidPixels, o.Details.TotalPixels = r.count(obsValidPixels), r.count(obsTotalPixels)
	if quality := r.text(obsQuality); quality != "" {
		var err error
		o.Quality, err = data.ParseQuality(strings.ToLower(quality))
		r.fail(err)
	}
	o.Details.Flags |= r.flags(obsFlags)
	o.Details.Secchi, o.Details.WaterTemperature = r.hundredths(obsSecchi), r.hundredths(obsTemperature)
	o.Details.Turbidity, o.Details.ScumPercent = r.hundredths(obsTurbidity), r.hundredths(obsScumPercent)
	o.Details.PeriodStart = r.optionalDate(obsPeriodStart)
	if composite := r.text(obsComposite); composite != "" {
		var err error
		o.Details.Composite, err = data.ParseComposite(strings.ToLower(composite))
		r.fail(err)
	}
}

// chlorophyll returns the number in column c.
func (r *row) chlorophyll(c int) (chl data.Chlorophyll, ok bool) {
	f, ok := r.number(c, r.columns[c].in)
	if !ok {
		return 0, false
	}
	chl, err := data.ChlorophyllOf(f)
	return chl, r.fail(err) == nil
}

// parseUncertainty reads chl_lower and chl_upper, or uncertainty, which is the distance of both from the value.
func parseUncertainty(r *row, o *data.Observation) {
	d := &o.Details
	lower, hasLower := r.chlorophyll(obsLower)
	if hasLower {
		d.Lower = data.Known(lower)
	}
	upper, hasUpper := r.chlorophyll(obsUpper)
	if hasUpper {
		d.Upper = data.Known(upper)
	}
	c, ok := r.chlorophyll(obsUncertainty)
	switch {
	case !ok:
		return
	case hasLower || hasUpper:
		r.fail(errors.New("uncertainty and chl_lower or chl_upper: want either, and the other empty"))
	case !o.Chlorophyll.Valid():
		r.fail(errors.New("uncertainty without chl: want a value of chl too"))
	}
	d.Lower = data.Known(max(o.Chlorophyll-c, 0))
	if !d.BelowLimit {
		d.Upper = data.Known(min(o.Chlorophyll+c, data.MaxChlorophyll))
	}
}

// parseBelowLimit reads below_limit. A value with < before it is below its limit without that column too.
func parseBelowLimit(r *row, o *data.Observation) {
	s := r.text(obsBelowLimit)
	switch strings.ToLower(s) {
	case "":
	case "true", "1", "yes":
		if !o.Details.Upper.Known { // the value may be the limit, or half of it
			r.bad(obsBelowLimit, s, "the limit too: chl as <15, or chl_upper with the limit and chl with half of it")
		}
		o.Details.BelowLimit = true
	case "false", "0", "no":
		if o.Details.BelowLimit {
			r.bad(obsBelowLimit, s, "true, since chl has a < before it")
		}
	default:
		r.bad(obsBelowLimit, s, "true, false, or empty")
	}
}

// count returns the number of pixels in column c.
func (r *row) count(c int) (n data.Optional[int32]) {
	in := r.columns[c].in
	f, ok := r.number(c, in)
	if ok && f != math.Trunc(f) {
		r.bad(c, r.text(c), in.String())
	} else if ok {
		n = data.Known(int32(f))
	}
	return n
}

// hundredths returns the number in column c, rounded to hundredths.
func (r *row) hundredths(c int) (h data.Optional[data.Hundredths]) {
	if f, ok := r.number(c, r.columns[c].in); ok {
		h = data.Known(data.HundredthsOf(f))
	}
	return h
}

// flags returns the flags in column c, separated by spaces, commas or semicolons.
func (r *row) flags(c int) (all data.Flags) {
	for name := range strings.FieldsFuncSeq(strings.ToLower(r.text(c)), func(r rune) bool { return strings.ContainsRune(" \t,;|", r) }) {
		f, err := data.ParseFlag(name)
		if err != nil {
			r.fail(fmt.Errorf("flags: %w", err))
			return 0
		}
		all |= data.FlagsOf(f)
	}
	return all
}
