package satellite

import (
	"fmt"
	"math"
	"strconv"

	"limnomap/data"
	"limnomap/data/pixels"
	"limnomap/data/raster/zonal"
)

// A Row is what a raster says about a lake.
type Row struct {
	Lake data.LakeID
	Date data.Date
	// PeriodStart is the first day of the period whose last day is Date; absent for a value of one day.
	PeriodStart data.Optional[data.Date]
	Composite   data.Composite
	Source      string
	// Version orders the files of one source and date: a later one replaces an earlier one.
	Version string
	Method  string
	// HasValue is false for a gap. Then of the values below only Inside, Valid, Flags, Scum, Quantities and Pixels are known.
	HasValue bool
	Reason   Reason  // of a gap
	Value    float64 // chlorophyll in µg/l
	// Limit is the limit of detection in µg/l if the value is below it, otherwise 0.
	Limit float64
	// Cells is the density in cells/ml that the index of the product says; 0 for a product without one, and for an index that is not detected.
	Cells float64
	// Uncertainty is in µg/l; negative where unknown.
	Uncertainty float64
	P10, P90    float64 // percentiles of the pixels in µg/l
	Inside      int     // pixels of the lake
	Valid       int     // of these, with a value
	Quality     data.Quality
	Flags       data.Flags
	// Scum is how many of Inside have floating cyanobacteria.
	Scum int
	// Quantities are the medians of other quantities of the file, also for a gap, in the order of quantities.
	Quantities [numQuantities]data.Optional[data.Hundredths]
	// Pixels are those of the lake, also for a gap; nil if they are not kept.
	Pixels *pixels.Packed

	index int // of the lake
}

// Observation returns the row as it is stored: of a value below the limit of detection half the limit, as imports of tables do.
func (r *Row) Observation() data.Observation {
	o := data.Observation{LakeID: r.Lake, Date: r.Date, Type: data.Satellite, Source: r.Source, Chlorophyll: data.NoChlorophyll, Level: data.NoLevel,
		CellDensity: data.NoCellDensity, Quality: r.Quality, Pixels: r.Pixels}
	d := &o.Details
	d.ValidPixels, d.TotalPixels = data.Known(int32(r.Valid)), data.Known(int32(r.Inside))
	d.Flags, d.Method, d.Version = r.Flags, r.Method, r.Version
	d.PeriodStart, d.Composite = r.PeriodStart, r.Composite
	d.Secchi, d.WaterTemperature, d.Turbidity = r.Quantities[secchi], r.Quantities[temperature], r.Quantities[turbidity]
	d.ScumPercent = r.scumPercent()
	if r.HasValue && r.Cells > 0 {
		o.CellDensity = r.Cells
	}
	switch {
	case !r.HasValue:
	case r.Limit > 0:
		limit := fourDecimals(r.Limit)
		o.Chlorophyll = hundredths(limit / 2)
		d.BelowLimit, d.Upper = true, data.Known(max(hundredths(limit), o.Chlorophyll))
	default:
		o.Chlorophyll = hundredths(fourDecimals(r.Value))
		if r.Uncertainty >= 0 {
			u := hundredths(fourDecimals(r.Uncertainty))
			d.Lower, d.Upper = data.Known(max(o.Chlorophyll-u, 0)), data.Known(min(o.Chlorophyll+u, data.MaxChlorophyll))
		}
	}
	return o
}

// scumPercent returns the share of the pixels with floating cyanobacteria, absent if there are none.
func (r *Row) scumPercent() (percent data.Optional[data.Hundredths]) {
	if r.Scum > 0 {
		percent = data.Known(data.HundredthsOf(100 * float64(r.Scum) / float64(r.Inside)))
	}
	return percent
}

// hundredths returns a number of a row, which is from 0 to 1500 µg/l, as it is stored. Any other number would be a gap.
func hundredths(f float64) data.Chlorophyll {
	c, _ := data.ChlorophyllOf(f)
	return c
}

// fourDecimals rounds µg/l to what a [Table] shows. The stored hundredths are rounded from there: so both are the same value.
func fourDecimals(f float64) float64 {
	f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'f', 4, 64), 64) // exact, also for a half of the last decimal
	return f
}

// of returns how many pixels from the shore are left out of a mask.
func (s Shore) of(mask *zonal.Mask) int {
	if s.fixed {
		return s.pixels
	}
	for n := autoShorePixels; n > 0; n-- {
		if mask.Erode(n).Count() >= autoShoreRest {
			return n
		}
	}
	return 0
}

// gapOf returns why a lake has no value.
func (x *extraction) gapOf(p *pending) (reason Reason, gap bool) {
	valid := len(p.values)
	few := valid < x.opts.MinPixels || float64(valid) < x.opts.MinShare.Value*float64(p.inside)
	switch {
	case few && 2*p.iced > p.inside:
		return Ice, true
	case valid == 0:
		return NoData, true
	case few:
		return TooFewPixels, true
	}
	return 0, false
}

// finish makes the row of a lake and passes it on.
func (x *extraction) finish(p *pending) error {
	x.passed++
	row := Row{index: p.lake, Lake: x.lakes[p.lake].ID, Date: x.period.last, PeriodStart: x.summary.start(), Composite: x.summary.Composite, Source: x.source, Version: x.version, Method: x.methodOf(p),
		Inside: p.inside, Valid: len(p.values), Uncertainty: -1, Scum: p.scum, Pixels: x.pack(p)}
	for k, pixels := range p.quantities {
		if len(pixels) >= x.opts.MinPixels {
			row.Quantities[k] = quantities[k].stored(pixels)
		}
	}
	if p.scum > 0 {
		row.Flags |= data.FlagsOf(data.ScumPossible)
		x.summary.Scum++
	}
	if reason, gap := x.gapOf(p); gap {
		x.summary.Gaps[reason]++
		if row.Reason = reason; reason == Ice {
			row.Flags |= data.FlagsOf(data.Ice)
		}
		return x.each(&row)
	}
	x.summary.Lakes++
	row.HasValue = true
	least, limit := 0.0, 0.0 // values of pixels and of lakes from which they are above the limit of detection
	if x.index != nil {
		least, limit = x.index.least(), indexLimit
	}
	row.Value = x.opts.Statistic.of(p.values, least)
	if p.biased(row.Value) {
		row.Flags |= data.FlagsOf(data.Biased)
	}
	most := data.MaxChlorophyll.Float()
	row.P10, row.P90 = zonal.Quantile(p.values, 0.1), zonal.Quantile(p.values, 0.9)
	if x.index != nil {
		row.Cells = x.index.cells(row.Value)
		row.Value, row.P10, row.P90 = chlorophyllOfCI(row.Value), chlorophyllOfCI(row.P10), chlorophyllOfCI(row.P90)
	}
	row.P10, row.P90 = min(row.P10, most), min(row.P90, most)
	switch {
	case row.Value < limit:
		row.Limit = limit
	case hundredths(fourDecimals(min(row.Value, most))) == 0: // clean water, whose value no sensor can tell from none
		row.Limit = leastLimit
	}
	if len(p.uncertainties) > 0 && row.Limit == 0 {
		row.Uncertainty = zonal.Median(p.uncertainties)
		if x.relative {
			row.Uncertainty *= row.Value
		}
		if row.Uncertainty = min(row.Uncertainty, most); !(row.Uncertainty >= 0) {
			row.Uncertainty = -1
		}
	}
	strange := p.shareOf(len(p.outOfRange))
	if row.Value > most || strange > strangeShare {
		row.Value = min(row.Value, most)
		row.Flags |= data.FlagsOf(data.OutOfRange)
	}
	if p.observed > 0 {
		row.Version = observationsVersion(x.version, p.observations/float64(p.observed))
	}
	few := float64(row.Valid) < poorShare*float64(row.Inside)
	if few || p.inside < fewPixels {
		row.Flags |= data.FlagsOf(data.FewPixels)
	}
	switch {
	case few || strange > poorShare:
		row.Quality = data.Poor
		x.summary.Poor++
	case p.cut, x.lakes[p.lake].Outline == "" && !p.near && x.opts.WithoutOutline.disc > 0: // a disc has pixels of land and of other waters
		row.Quality = data.Suspect
	}
	return x.each(&row)
}

// biased reports whether a value is too low or too high, since numbers that water can have are out of range, by far more of them above it than below it, or
// the other way round.
func (p *pending) biased(value float64) bool {
	above := 0
	for _, v := range p.outOfRange {
		switch {
		case v > value:
			above++
		case v < value:
			above--
		}
	}
	return p.shareOf(max(above, -above)) > strangeShare
}

// shareOf returns the share of n pixels in those with a number.
func (p *pending) shareOf(n int) float64 {
	return float64(n) / float64(len(p.outOfRange)+len(p.values))
}

// leastLimit is the limit of detection in µg/l of a value that is 0 or rounded to 0: half of it is the least that is stored.
const leastLimit = 0.02

const (
	// strangeShare is the share of pixels with numbers out of range above which a value has the flag out_of_range, and biased if they are at one end: in a
	// bloom, the highest values are those that are missing. Above poorShare it is poor.
	strangeShare = 0.05
	// cutShare is the share of a lake outside of the raster above which its value is suspect.
	cutShare = 0.1
)

// fewPixels is the number of pixels below which a value has the flag few_pixels: it is then the value of the water near the shore.
const fewPixels = 10

// of returns one value of many. Values of 0 are below the limit of detection.
func (s Statistic) of(values []float64, limit float64) float64 {
	switch s {
	case Mean:
		sum := 0.0
		for _, v := range values {
			if v < limit {
				v = limit / 2
			}
			sum += v
		}
		return sum / float64(len(values))
	case P90:
		return zonal.Quantile(values, 0.9)
	}
	return zonal.Median(values)
}

// observationsVersion returns the version of a value of a product that only says how many observations its pixels have. Their mean hardly depends on
// which pixels of the lake are taken.
func observationsVersion(version string, mean float64) string {
	s := fmt.Sprintf("%s %s observations", version, strconv.FormatFloat(math.Min(mean, 1e9), 'f', 0, 64))
	if version == "" {
		s = s[1:]
	}
	if len(s) > maxVersion {
		return version
	}
	return s
}

// The words of a method. The page knows them and has plainer ones, in each of its languages: see its words card.methods.
const (
	methodFull   = "wholly inside the outline"
	methodCentre = "with their centre inside the outline"
	methodGrown  = "connected to the one nearest to the point"
	methodNear   = "of the water within 1500 m of the point"
)

// methodOf describes how the value of a lake was made: "median of pixels wholly inside the outline, 2 pixels from the shore".
func (x *extraction) methodOf(p *pending) string {
	s := x.opts.Statistic.String() + " of pixels " + p.method
	if x.method != "" {
		s = x.method + ": " + s
	}
	switch {
	case p.shore == 1:
		s += ", 1 pixel from the shore"
	case p.shore > 1:
		s += fmt.Sprintf(", %d pixels from the shore", p.shore)
	}
	return s
}
