package data

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"limnomap/data/linetext"
	"limnomap/data/pixels"
)

// An Observation is the value of one lake on one date from one source.
type Observation struct {
	LakeID LakeID
	Date   Date
	Type   DataType
	// Source is the product or the laboratory, as people write it; empty if it has no name.
	Source      string
	Chlorophyll Chlorophyll // NoChlorophyll for a gap
	// Level is the WHO level that the source itself reports (3 if scum was seen), or NoLevel. The flag [Scum] reports level 3 too.
	Level Level
	// CellDensity is the cell count in cells/ml that the source itself reports, or NoCellDensity.
	CellDensity float64
	// MeasuredAt is the time of measurement, in UTC to the second. Zero means midnight of Date.
	MeasuredAt time.Time
	Quality    Quality
	// Rank is the place of the source in the [SourceOrder], from 1 on; 0 if it is not in it. A [snapshot.Source] sets it, and imports ignore it.
	Rank    uint8
	Details Details
	// Pixels are those of which an import of a satellite file has made the observation, nil where they are not kept. A [snapshot.Source] does not set it.
	Pixels *pixels.Packed
	// Forecast is known for limnomap's own forecasts. A [snapshot.Source] stores no such observation: they are in its Forecasts.
	Forecast ForecastBasis
}

// CompareInScan compares the places of two observations of one lake in the order of a [snapshot.Source]: by date, type and source.
func CompareInScan(a, b Observation) int {
	return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.Type, b.Type), strings.Compare(a.Source, b.Source))
}

// Usable reports whether o may be a current value, if it is not too old.
func (o *Observation) Usable() bool {
	return o.Type.Measured() && o.Chlorophyll.Valid() && o.Quality != Poor
}

// Digest returns a number that depends on what comparisons of an observation with others use; 0 if it is not [Observation.Usable]. The sum of those of a lake is
// the same in any order, and is another one if an observation is.
func (o *Observation) Digest() uint64 {
	if !o.Usable() {
		return 0
	}
	d := mixed(uint64(uint32(o.Date))<<32 | uint64(uint32(o.Chlorophyll)))
	d = mixed(d ^ uint64(o.Type) ^ uint64(uint8(o.ReportedLevel()))<<8 ^ uint64(o.Rank)<<16 ^ xxhash.Sum64String(o.Source))
	if o.CellDensity != NoCellDensity {
		d = mixed(d ^ math.Float64bits(o.CellDensity))
	}
	return d
}

// mixed returns a number whose bits depend on all bits of n: the last step of SplitMix64 (Steele and others: Fast splittable pseudorandom number generators.
// OOPSLA 2014).
func mixed(n uint64) uint64 {
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

// ReportedLevel returns the level that the source itself reports: with the flag [Scum] that of scum, whatever Level is. A gap with that flag has no
// level, like all gaps. No import stores one, but older ones did.
func (o *Observation) ReportedLevel() Level {
	if o.Chlorophyll.Valid() && o.Details.Flags&FlagsOf(Scum) != 0 {
		return MaxLevel
	}
	return o.Level
}

// Taken returns the time of measurement: MeasuredAt, or midnight UTC of Date.
func (o Observation) Taken() time.Time {
	if o.MeasuredAt.IsZero() {
		return o.Date.Time()
	}
	return o.MeasuredAt
}

// maxTakenOffset bounds the seconds between MeasuredAt and Date, as a [snapshot.Snapshot] stores them: 68 years.
const maxTakenOffset = math.MaxInt32

// TakenOffset returns the seconds from midnight UTC of o.Date to the time of measurement.
func (o Observation) TakenOffset() int64 { return o.Taken().Unix() - o.Date.Time().Unix() }

// Check returns an error that names the first column with an invalid value, the value, and the allowed values. A gap with
// its own level or cell count is invalid: a map of chlorophyll cannot show it, and a reported scum must not be dropped
// silently because an older, clean value is shown.
func (o Observation) Check() error {
	switch {
	case o.Date < MinDate || o.Date > MaxDate:
		return fmt.Errorf("date %s: want a day from %s to %s", o.Date, MinDate, MaxDate)
	case o.Type > InSitu:
		return fmt.Errorf("data_type %d: want satellite, in_situ or ai_forecast", o.Type)
	case o.Quality > Poor:
		return fmt.Errorf("quality %d: want good, suspect, poor or none", o.Quality)
	case o.Chlorophyll < NoChlorophyll || o.Chlorophyll > MaxChlorophyll:
		return fmt.Errorf("chl %v: %w", float64(o.Chlorophyll)/100, ErrImplausible)
	case o.Level < NoLevel || o.Level > MaxLevel:
		return fmt.Errorf("who_level %d: want 0 to %d, or none", o.Level, MaxLevel)
	case !(o.CellDensity >= 0 || o.CellDensity == NoCellDensity) || math.IsInf(o.CellDensity, 1):
		return fmt.Errorf("cell_density_cells_ml %v: want a finite number, 0 or more, or none", o.CellDensity)
	case !o.Chlorophyll.Valid() && o.Level != NoLevel:
		return fmt.Errorf("who_level %d without chl: want a value of chl too", o.Level)
	case !o.Chlorophyll.Valid() && o.CellDensity != NoCellDensity:
		return fmt.Errorf("cell_density_cells_ml %v without chl: want a value of chl too", o.CellDensity)
	}
	if offset := o.TakenOffset(); offset < -maxTakenOffset || offset > maxTakenOffset {
		return fmt.Errorf("measured_at %s: want a time within 68 years of the date %s",
			o.MeasuredAt.UTC().Format(time.RFC3339), o.Date)
	}
	if o.Source == "" && o.Details == (Details{}) { // as most observations
		return nil
	}
	if err := checkText("source", o.Source); err != nil {
		return err
	}
	return o.Details.check(o.Date, o.Chlorophyll)
}

// CheckImport is like Check, and also returns an error for a gap with the flag [Scum], which is invalid like one with its own level, and if
// a text could change how other text looks, or cannot be seen. Databases may have such rows from older imports.
func (o Observation) CheckImport() error {
	if err := o.Check(); err != nil {
		return err
	}
	if !o.Chlorophyll.Valid() && o.Details.Flags&FlagsOf(Scum) != 0 {
		return fmt.Errorf("flags %s without chl: want a value of chl too", Scum)
	}
	for _, text := range []lakeText{{"source", o.Source}, {"method", o.Details.Method}, {"version", o.Details.Version}} {
		if text.value == "" {
			continue
		}
		if err := linetext.Check(text.value); err != nil {
			return fmt.Errorf("%s %.80q: %w", text.column, text.value, err)
		}
	}
	return nil
}
