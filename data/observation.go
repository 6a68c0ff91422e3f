package data

import (
	"fmt"
	"math"
	"time"
)

// A DataType is the kind of source of an observation's value.
type DataType uint8

const (
	Satellite DataType = iota // "satellite": a satellite's pass
	Forecast                  // "ai_forecast": a statistical forecast, never a current value
)

// ParseDataType reads what String returns.
func ParseDataType(s string) (DataType, error) {
	for _, t := range []DataType{Satellite, Forecast} {
		if s == t.String() {
			return t, nil
		}
	}
	return 0, fmt.Errorf("data type %.80q is neither satellite nor ai_forecast", s)
}

func (t DataType) String() string {
	if t == Forecast {
		return "ai_forecast"
	}
	return "satellite"
}

// DataTypes is a set of data types. The empty set means all of them.
type DataTypes uint8

// TypesOf returns the set of types.
func TypesOf(types ...DataType) DataTypes {
	var s DataTypes
	for _, t := range types {
		s |= 1 << t
	}
	return s
}

// Has reports whether t is in s.
func (s DataTypes) Has(t DataType) bool { return s == 0 || s&(1<<t) != 0 }

// An Observation is the value of one lake on one date from one kind of source.
type Observation struct {
	LakeID      LakeID
	Date        Date
	Type        DataType
	Chlorophyll Chlorophyll // NoChlorophyll for a gap
	// Level is the WHO level that the source itself reports (3 if scum was seen), or NoLevel.
	Level Level
	// CellDensity is the cell count in cells/ml that the source itself reports, or NoCellDensity.
	CellDensity float64
	// MeasuredAt is the time of measurement, in UTC to the second. Zero means midnight of Date.
	MeasuredAt time.Time
}

// Taken returns the time of measurement: MeasuredAt, or midnight UTC of Date.
func (o Observation) Taken() time.Time {
	if o.MeasuredAt.IsZero() {
		return o.Date.Time()
	}
	return o.MeasuredAt
}

// maxTakenOffset bounds the seconds between MeasuredAt and Date, as a [Snapshot] stores them: 68 years.
const maxTakenOffset = math.MaxInt32

// takenOffset returns the seconds from midnight UTC of o.Date to the time of measurement.
func (o Observation) takenOffset() int64 { return o.Taken().Unix() - o.Date.Time().Unix() }

// Check returns an error that names the first column with an invalid value, the value, and the allowed values. A gap with
// its own level or cell count is invalid: a map of chlorophyll cannot show it, and a reported scum must not be dropped
// silently because an older, clean value is shown.
func (o Observation) Check() error {
	switch {
	case o.Date < minDate || o.Date > maxDate:
		return fmt.Errorf("date %s: want a day from %s to %s", o.Date, minDate, maxDate)
	case o.Type != Satellite && o.Type != Forecast:
		return fmt.Errorf("data_type %d: want satellite or ai_forecast", o.Type)
	case o.Chlorophyll < NoChlorophyll || o.Chlorophyll > MaxChlorophyll:
		return fmt.Errorf("chl %v: %w", float64(o.Chlorophyll)/100, ErrImplausible)
	case o.Level < NoLevel || o.Level > maxLevel:
		return fmt.Errorf("who_level %d: want 0 to %d, or none", o.Level, maxLevel)
	case !(o.CellDensity >= 0 || o.CellDensity == NoCellDensity) || math.IsInf(o.CellDensity, 1):
		return fmt.Errorf("cell_density_cells_ml %v: want a finite number, 0 or more, or none", o.CellDensity)
	case !o.Chlorophyll.Valid() && o.Level != NoLevel:
		return fmt.Errorf("who_level %d without chl: want a value of chl too", o.Level)
	case !o.Chlorophyll.Valid() && o.CellDensity != NoCellDensity:
		return fmt.Errorf("cell_density_cells_ml %v without chl: want a value of chl too", o.CellDensity)
	}
	if offset := o.takenOffset(); offset < -maxTakenOffset || offset > maxTakenOffset {
		return fmt.Errorf("measured_at %s: want a time within 68 years of the date %s",
			o.MeasuredAt.UTC().Format(time.RFC3339), o.Date)
	}
	return nil
}
