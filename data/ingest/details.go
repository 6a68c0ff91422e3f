package ingest

import (
	"fmt"
	"math"
	"strings"

	"limnomap/data"
)

// parseDetails reads the columns that only some files have.
func parseDetails(r *row, o *data.Observation) error {
	if r.has>>obsLower == 0 { // as in most files
		return nil
	}
	var err error
	if o.Source, err = r.line(obsSource); err != nil {
		return err
	}
	if o.Details.Method, err = r.line(obsMethod); err != nil {
		return err
	}
	if o.Details.Version, err = r.line(obsVersion); err != nil {
		return err
	}
	if err := parseUncertainty(r, o); err != nil {
		return err
	}
	if err := parseBelowLimit(r, o); err != nil {
		return err
	}
	if o.Details.ValidPixels, err = r.count(obsValidPixels); err != nil {
		return err
	}
	if o.Details.TotalPixels, err = r.count(obsTotalPixels); err != nil {
		return err
	}
	quality, err := r.text(obsQuality)
	if err == nil && quality != "" {
		o.Quality, err = data.ParseQuality(strings.ToLower(quality))
	}
	if err != nil {
		return err
	}
	if o.Details.Flags, err = r.flags(obsFlags); err != nil {
		return err
	}
	if o.Details.Secchi, err = r.hundredths(obsSecchi, r.columns[obsSecchi].in); err != nil {
		return err
	}
	o.Details.WaterTemperature, err = r.hundredths(obsTemperature, r.columns[obsTemperature].in)
	return err
}

// parseUncertainty reads chl_lower and chl_upper, or uncertainty, which is the distance of both from the value.
func parseUncertainty(r *row, o *data.Observation) error {
	d := &o.Details
	given := false
	for _, bound := range []struct {
		column int
		to     *data.Optional[data.Chlorophyll]
	}{{obsLower, &d.Lower}, {obsUpper, &d.Upper}} {
		f, ok, err := r.number(bound.column, r.columns[bound.column].in)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		given = true
		c, err := data.ChlorophyllOf(f)
		if err != nil {
			return err
		}
		*bound.to = data.Known(c)
	}
	f, ok, err := r.number(obsUncertainty, r.columns[obsUncertainty].in)
	if !ok || err != nil {
		return err
	}
	switch {
	case given:
		return fmt.Errorf("uncertainty and chl_lower or chl_upper: want either, and the other empty")
	case !o.Chlorophyll.Valid():
		return fmt.Errorf("uncertainty without chl: want a value of chl too")
	}
	c, err := data.ChlorophyllOf(f)
	if err != nil {
		return err
	}
	d.Lower = data.Known(max(o.Chlorophyll-c, 0))
	if !d.BelowLimit {
		d.Upper = data.Known(min(o.Chlorophyll+c, data.MaxChlorophyll))
	}
	return nil
}

// parseBelowLimit reads below_limit. A value with < before it is below its limit without that column too.
func parseBelowLimit(r *row, o *data.Observation) error {
	s, err := r.text(obsBelowLimit)
	if err != nil || s == "" {
		return err
	}
	switch strings.ToLower(s) {
	case "true", "1", "yes":
		if !o.Details.Upper.Known { // the value may be the limit, or half of it
			return r.bad(obsBelowLimit, s, "the limit too: chl as <15, or chl_upper with the limit and chl with half of it")
		}
		o.Details.BelowLimit = true
		return nil
	case "false", "0", "no":
		if o.Details.BelowLimit {
			return r.bad(obsBelowLimit, s, "true, since chl has a < before it")
		}
		return nil
	}
	return r.bad(obsBelowLimit, s, "true, false, or empty")
}

// count returns the number of pixels in column c.
func (r *row) count(c int) (n data.Optional[int32], err error) {
	in := r.columns[c].in
	f, ok, err := r.number(c, in)
	if !ok || err != nil {
		return n, err
	}
	if f != math.Trunc(f) {
		s, _ := r.text(c)
		return n, r.bad(c, s, in.String())
	}
	return data.Known(int32(f)), nil
}

// hundredths returns the number in column c, rounded to hundredths.
func (r *row) hundredths(c int, in span) (h data.Optional[data.Hundredths], err error) {
	f, ok, err := r.number(c, in)
	if !ok || err != nil {
		return h, err
	}
	return data.Known(data.HundredthsOf(f)), nil
}

// flags returns the flags in column c, separated by spaces, commas or semicolons.
func (r *row) flags(c int) (all data.Flags, err error) {
	s, err := r.text(c)
	if err != nil {
		return 0, err
	}
	for name := range strings.FieldsFuncSeq(strings.ToLower(s), func(r rune) bool { return strings.ContainsRune(" \t,;|", r) }) {
		f, err := data.ParseFlag(name)
		if err != nil {
			return 0, fmt.Errorf("flags: %w", err)
		}
		all |= data.FlagsOf(f)
	}
	return all, nil
}
