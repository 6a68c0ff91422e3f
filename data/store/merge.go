package store

import (
	"time"

	"limnomap/data"
)

// merge returns the observation that an import of in leaves in the place of the stored one with its key, and how that changes the stored one:
// Unchanged, Changed, LosesReport, OlderVersion or WorseThanStored. outranks reports whether in has precedence over the stored one, so that
// it counts even if the import had an observation with that key before. Both kinds of Store follow this one rule.
func merge(stored, in *data.Observation, keep ObservationColumns) (merged data.Observation, change Change, outranks bool) {
	merged = withKept(stored, in, keep)
	order, change := precedence(stored, in, &merged, keep)
	switch {
	case order < 0:
		return *stored, change, false
	case losesReport(stored, in, keep):
		return *stored, LosesReport, order > 0
	case merged == *stored:
		return merged, Unchanged, order > 0
	}
	return merged, Changed, order > 0
}

// withKept returns in with the columns of the stored observation that an import keeps.
func withKept(stored, in *data.Observation, keep ObservationColumns) data.Observation {
	m := asStored(*in)
	to, from := &m.Details, &stored.Details
	if keep.Chlorophyll {
		m.Chlorophyll, to.Lower, to.Upper, to.BelowLimit = stored.Chlorophyll, from.Lower, from.Upper, from.BelowLimit
	}
	keepIf(keep.Level, &m.Level, stored.Level)
	keepIf(keep.CellDensity, &m.CellDensity, stored.CellDensity)
	keepIf(keep.MeasuredAt, &m.MeasuredAt, stored.MeasuredAt)
	keepIf(keep.Pixels, &to.ValidPixels, from.ValidPixels)
	keepIf(keep.Pixels, &to.TotalPixels, from.TotalPixels)
	keepIf(keep.Method, &to.Method, from.Method)
	keepIf(keep.Secchi, &to.Secchi, from.Secchi)
	keepIf(keep.WaterTemperature, &to.WaterTemperature, from.WaterTemperature)
	keepIf(keep.Turbidity, &to.Turbidity, from.Turbidity)
	keepIf(keep.ScumPercent, &to.ScumPercent, from.ScumPercent)
	keepIf(keep.Period, &to.PeriodStart, from.PeriodStart)
	keepIf(keep.Composite, &to.Composite, from.Composite)
	sameValue := m.Chlorophyll == stored.Chlorophyll
	keepIf(keep.Quality && sameValue, &m.Quality, stored.Quality)
	keepIf(keep.Version && sameValue, &to.Version, from.Version)
	switch {
	case keep.Flags && sameValue:
		to.Flags = from.Flags
	case keep.Flags:
		to.Flags = from.Flags & data.FlagsOf(data.Scum)
	}
	return m
}

// keepIf sets to to what is stored, if an import keeps it.
func keepIf[T any](keep bool, to *T, stored T) {
	if keep {
		*to = stored
	}
}

// precedence compares a satellite's observation with the stored one, whose place merged would take: negative if the stored one stays, which
// refused says why, positive if in has precedence, and 0 if neither has. An import that keeps the quality of an unchanged value does not make
// it better, and one that keeps the value does not make it worse.
func precedence(stored, in, merged *data.Observation, keep ObservationColumns) (order int, refused Change) {
	order, by := data.CompareSatelliteRows(merged, stored)
	switch {
	case by == data.ByVersion:
		return order, OlderVersion
	case by == data.ByQuality && in.FromPixels() && !keep.Chlorophyll:
		return order, WorseThanStored
	}
	return 0, Unchanged
}

// losesReport reports whether in is a gap or a poor value, and the stored observation has a value with a level, a cell count or a flag of scum
// for which the import has no column.
func losesReport(stored, in *data.Observation, keep ObservationColumns) bool {
	gap := !in.Chlorophyll.Valid() && !keep.Chlorophyll
	poor := in.Quality == data.Poor && stored.Chlorophyll.Valid() && stored.Quality != data.Poor
	scum := stored.Chlorophyll.Valid() && stored.Details.Flags&data.FlagsOf(data.Scum) != 0
	return (gap || poor) &&
		(keep.Level && stored.Level != data.NoLevel || keep.CellDensity && stored.CellDensity != data.NoCellDensity || keep.Flags && scum)
}

// asStored returns an observation as it is read from the database, without what its table does not have.
func asStored(o data.Observation) data.Observation {
	if !o.Chlorophyll.Valid() {
		o.Chlorophyll = data.NoChlorophyll
	}
	if !(o.CellDensity >= 0) {
		o.CellDensity = data.NoCellDensity
	}
	o.MeasuredAt, o.Rank, o.Forecast, o.Pixels = storedTime(o.MeasuredAt), 0, data.ForecastBasis{}, nil
	return o
}

// storedTime returns a time as it is read from the database: in UTC to the second.
func storedTime(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return time.Unix(t.Unix(), 0).UTC()
}

// mergeLakes is merge for lakes: Unchanged, Changed or LeavesOutline.
func mergeLakes(stored, in *data.Lake, keep LakeColumns) (data.Lake, Change) {
	m := *in
	keepIf(keep.ExternalID, &m.ExternalID, stored.ExternalID)
	keepIf(keep.Region, &m.Region, stored.Region)
	keepIf(keep.AreaKM2, &m.AreaKM2, stored.AreaKM2)
	keepIf(keep.Outline, &m.Outline, stored.Outline)
	keepIf(keep.WaterID, &m.WaterID, stored.WaterID)
	switch {
	case m == *stored:
		return m, Unchanged
	case keep.Outline && m.Outline != "" && m.Point != stored.Point && !NearOutline(m.Outline.Bound(), m.Point):
		return *stored, LeavesOutline
	}
	return m, Changed
}

// mergeAdvisories is merge for official statements: Unchanged, Changed or OtherStatement. A statement that is issued again after it was
// withdrawn is in force again.
func mergeAdvisories(stored, in *data.Advisory, keep AdvisoryColumns) (data.Advisory, Change) {
	m := *in
	keepIf(keep.TextEN, &m.TextEN, stored.TextEN)
	keepIf(keep.TextDE, &m.TextDE, stored.TextDE)
	keepIf(keep.URL, &m.URL, stored.URL)
	m.Issued, m.ValidFrom, m.ValidUntil, m.Withdrawn = storedTime(m.Issued), storedTime(m.ValidFrom), storedTime(m.ValidUntil), storedTime(m.Withdrawn)
	if keep.Withdrawn {
		m.Withdrawn = stored.Withdrawn
		if m.Withdrawn.Before(m.Issued) {
			m.Withdrawn = time.Time{}
		}
	}
	switch {
	case m.LakeID != stored.LakeID || m.Issuer != stored.Issuer:
		return *stored, OtherStatement
	case m == *stored:
		return m, Unchanged
	}
	return m, Changed
}

// ofRepeated returns the Change of a lake or a statement whose key an earlier row of the import had: it is not written.
func ofRepeated(c Change) Change {
	if c == Changed {
		return Contradicts
	}
	return c
}
