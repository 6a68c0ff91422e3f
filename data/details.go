package data

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Quality is how reliable an observation is, as its source says.
type Quality uint8

const (
	QualityUnknown Quality = iota // the source says nothing
	Good                          // "good"
	Suspect                       // "suspect"
	Poor                          // "poor": never a current value
)

var qualityNames = [...]string{QualityUnknown: "", Good: "good", Suspect: "suspect", Poor: "poor"}

var parsedQualities = []Quality{Good, Suspect, Poor}

// ParseQuality reads good, suspect or poor.
func ParseQuality(s string) (Quality, error) {
	return parseName(s, "quality", parsedQualities...)
}

// QualityNames returns the names of all qualities.
func QualityNames() []string { return slices.Clone(qualityNames[Good:]) }

// String returns the name of q; empty for QualityUnknown.
func (q Quality) String() string { return qualityNames[q] }

// An Optional is a value that may be absent, which is not the same as zero. Its zero value is absent.
type Optional[T comparable] struct {
	Value T
	Known bool
}

// Known returns an Optional that has a value.
func Known[T comparable](v T) Optional[T] { return Optional[T]{v, true} }

// Hundredths is a number in hundredths of its unit.
type Hundredths int32

// HundredthsOf rounds f to hundredths, halves away from zero. f must be within ±20,000,000.
func HundredthsOf(f float64) Hundredths { return Hundredths(math.Round(f * 100)) }

// Float returns the number.
func (h Hundredths) Float() float64 { return float64(h) / 100 }

// AppendText appends the shortest decimal form, such as 1.5.
func (h Hundredths) AppendText(b []byte) ([]byte, error) {
	return strconv.AppendFloat(b, h.Float(), 'f', -1, 64), nil
}

// A Flag is a property of an observation, from a short list. New ones are added at the end.
type Flag uint8

const (
	Cloud        Flag = iota // "cloud": clouds or their shadow near the lake
	SunGlint                 // "sun_glint": the sun's reflection on the water
	Ice                      // "ice": ice or snow on the lake
	Land                     // "land": pixels that are partly land, or light from land
	Bottom                   // "bottom": the bottom of shallow water is visible
	Scum                     // "scum": scum was seen, which is level 3
	FewPixels                // "few_pixels": few pixels of the lake have a value
	OutOfRange               // "out_of_range": outside the range for which the method was tested
	HoldTime                 // "hold_time": the sample was stored for longer than the method allows
	Estimated                // "estimated": the laboratory's number is an estimate
	ScumPossible             // "scum_possible": a product of a satellite sees floating cyanobacteria, without a confirmation
	Biased                   // "biased": known to be too low or too high, since numbers of one end of the range are missing
	flags                    // how many there are
)

var flagNames = [flags]string{"cloud", "sun_glint", "ice", "land", "bottom", "scum", "few_pixels", "out_of_range", "hold_time", "estimated", "scum_possible", "biased"}

// ParseFlag reads what String returns.
func ParseFlag(s string) (Flag, error) {
	for f := range flags {
		if s == f.String() {
			return f, nil
		}
	}
	return 0, fmt.Errorf("flag %.40q is none of %s", s, strings.Join(flagNames[:], ", "))
}

func (f Flag) String() string { return flagNames[f] }

// Flags is a set of flags.
type Flags uint32

// FlagsOf returns the set of these flags.
func FlagsOf(all ...Flag) Flags {
	var s Flags
	for _, f := range all {
		s |= 1 << f
	}
	return s
}

// All returns the flags of the set in the order of their numbers.
func (s Flags) All() []Flag {
	var all []Flag
	for f := range flags {
		if s&(1<<f) != 0 {
			all = append(all, f)
		}
	}
	return all
}

// Names returns the names of the flags in the order of their numbers.
func (s Flags) Names() []string {
	var names []string
	for _, f := range s.All() {
		names = append(names, f.String())
	}
	return names
}

// A Composite says how the values of a period became one.
type Composite uint8

const (
	NoComposite      Composite = iota // "": of one moment, or not known
	MeanComposite                     // "mean"
	MaximumComposite                  // "maximum"
	MedianComposite                   // "median"
)

var compositeNames = [...]string{NoComposite: "", MeanComposite: "mean", MaximumComposite: "maximum", MedianComposite: "median"}

// ParseComposite reads mean, maximum or median.
func ParseComposite(s string) (Composite, error) {
	return parseName(s, "composite", MeanComposite, MaximumComposite, MedianComposite)
}

// String returns the name of c; empty for NoComposite.
func (c Composite) String() string { return compositeNames[c] }

// Details are what only some sources say about an observation. The zero value says nothing.
type Details struct {
	Lower, Upper Optional[Chlorophyll] // the range in which the value probably lies, as the source defines it
	// BelowLimit is true if the source only knows that the value is below a limit of detection. Then the value is half of that
	// limit, and Upper is the limit.
	BelowLimit  bool
	ValidPixels Optional[int32] // how many pixels of the lake have a value
	TotalPixels Optional[int32] // how many pixels the lake has
	Flags       Flags
	Method      string // of measurement, as people write it
	// Version is the version of the product's file, its processing included. Of one product and date the newest one counts:
	// see [CompareVersions].
	Version          string
	Secchi           Optional[Hundredths] // depth in metres at which a Secchi disk vanishes
	WaterTemperature Optional[Hundredths] // °C
	Turbidity        Optional[Hundredths] // in NTU
	// ScumPercent is the share of the lake's pixels with floating cyanobacteria in percent: see [ScumPossible].
	ScumPercent Optional[Hundredths]
	// PeriodStart is the first day of the period of the value. The date is its last day.
	PeriodStart Optional[Date]
	Composite   Composite
}

// The ranges of the details.
const (
	// MaxSecchi is above the greatest depth known, 80 m in the Weddell Sea in 1986 (Gieskes and others: Limnology and
	// Oceanography 32, 1987, page 1141); the clearest lakes have 44 m.
	MaxSecchi Hundredths = 100_00
	// The water of a lake is at least about as cold as its freezing point; some salt lakes freeze below 0 °C. The hottest are springs.
	MinWaterTemperature Hundredths = -10_00
	MaxWaterTemperature Hundredths = 100_00
	// MaxTurbidity is above that of all water: liquid mud has some 10,000 NTU.
	MaxTurbidity Hundredths = 10_000_00
	MaxPercent   Hundredths = 100_00
	// MaxPixels is more than any lake has: the Caspian Sea has 3.7e9 at 10 m, which no product uses for it.
	MaxPixels = math.MaxInt32
	// MaxPeriod is the most days that a period begins before its date: a year.
	MaxPeriod = 366
	// MaxVersionRunes is enough for a version, a time of processing and a number of observations.
	MaxVersionRunes = 64
)

// check returns an error that names the first column with an invalid value. The value of the observation is chl, and its
// date is the end of its period.
func (d *Details) check(date Date, chl Chlorophyll) error {
	if !chl.Valid() && (d.Lower.Known || d.Upper.Known || d.BelowLimit) {
		return fmt.Errorf("chl_lower, chl_upper or below_limit without chl: want a value of chl too")
	}
	for _, bound := range []struct {
		column   string
		value    Optional[Chlorophyll]
		min, max Chlorophyll
	}{{"chl_lower", d.Lower, 0, chl}, {"chl_upper", d.Upper, chl, MaxChlorophyll}} {
		if v := bound.value; v.Known && (v.Value < bound.min || v.Value > bound.max) {
			return fmt.Errorf("%s %v: want a number from %v to %v, since chl is %v", bound.column, v.Value.Float(), bound.min.Float(), bound.max.Float(), chl)
		}
	}
	if d.BelowLimit && !d.Upper.Known {
		return fmt.Errorf("below_limit without chl_upper: want the limit as chl_upper")
	}
	if v := d.ValidPixels; v.Known && v.Value < 0 {
		return fmt.Errorf("n_valid %d: want 0 or more", v.Value)
	}
	if v := d.TotalPixels; v.Known && v.Value < 0 {
		return fmt.Errorf("n_total %d: want 0 or more", v.Value)
	}
	if d.ValidPixels.Known && d.TotalPixels.Known && d.ValidPixels.Value > d.TotalPixels.Value {
		return fmt.Errorf("n_valid %d: want at most n_total, %d", d.ValidPixels.Value, d.TotalPixels.Value)
	}
	if d.Flags >= 1<<flags {
		return fmt.Errorf("flags %b: want only known ones", d.Flags)
	}
	if err := checkText("method", d.Method); err != nil {
		return err
	}
	if err := checkTextOf("version", d.Version, MaxVersionRunes); err != nil {
		return err
	}
	if v := d.Secchi; v.Known && (v.Value < 0 || v.Value > MaxSecchi) {
		return fmt.Errorf("secchi_m %v: want a number from 0 to %v m", v.Value.Float(), MaxSecchi.Float())
	}
	if v := d.WaterTemperature; v.Known && (v.Value < MinWaterTemperature || v.Value > MaxWaterTemperature) {
		return fmt.Errorf("water_temperature_c %v: want a number from %v to %v °C", v.Value.Float(), MinWaterTemperature.Float(), MaxWaterTemperature.Float())
	}
	if v := d.Turbidity; v.Known && (v.Value < 0 || v.Value > MaxTurbidity) {
		return fmt.Errorf("turbidity_ntu %v: want a number from 0 to %v NTU", v.Value.Float(), MaxTurbidity.Float())
	}
	if v := d.ScumPercent; v.Known && (v.Value < 0 || v.Value > MaxPercent) {
		return fmt.Errorf("scum_percent %v: want a number from 0 to %v", v.Value.Float(), MaxPercent.Float())
	}
	if v := d.PeriodStart; v.Known && (v.Value > date || v.Value < max(date-MaxPeriod, MinDate)) {
		return fmt.Errorf("period_start %s: want a day from %s to the date, %s", v.Value, max(date-MaxPeriod, MinDate), date)
	}
	if d.Composite > MedianComposite {
		return fmt.Errorf("composite %d: want mean, maximum, median or none", d.Composite)
	}
	return nil
}
