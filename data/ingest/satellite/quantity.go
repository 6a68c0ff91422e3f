package satellite

import (
	"math"

	"limnomap/data"
	"limnomap/data/raster/zonal"
)

// scumColumn is the column of the share of pixels with floating cyanobacteria.
const scumColumn = "scum_percent"

// The indexes of quantities.
const (
	secchi = iota
	temperature
	turbidity
	numQuantities
)

// A quantity is another one than chlorophyll that a file may have.
type quantity struct {
	column   string
	names    []string // of variables, the best first
	units    map[string]linear
	min, max data.Hundredths
	// valid is an expression for the pixels that count, if the file has its variables; empty if all do.
	valid string
}

// A linear converts numbers of a unit: factor · number + offset.
type linear struct{ factor, offset float64 }

// zeroCelsius is 0 °C in kelvin.
const zeroCelsius = 273.15

// quantities are the other quantities of Copernicus LWQ and ESA Lakes CCI. Their units are as plainUnit has them.
var quantities = [numQuantities]quantity{
	secchi: {column: "secchi_m", names: []string{"secchi_depth_mean", "secchi_mean", "secchi_depth", "zsd_mean", "zsd"}, min: 0, max: data.MaxSecchi,
		units: map[string]linear{"m": {1, 0}, "meter": {1, 0}, "metre": {1, 0}, "meters": {1, 0}, "metres": {1, 0}, "cm": {0.01, 0}}},
	temperature: {column: "water_temperature_c", names: []string{"lake_surface_water_temperature", "lswt_mean", "lswt"},
		min: data.MinWaterTemperature, max: data.MaxWaterTemperature,
		units: map[string]linear{"k": {1, -zeroCelsius}, "kelvin": {1, -zeroCelsius}, "degreekelvin": {1, -zeroCelsius}, "degreeskelvin": {1, -zeroCelsius},
			"c": {1, 0}, "celsius": {1, 0}, "degc": {1, 0}, "degreec": {1, 0}, "degreesc": {1, 0}, "degreecelsius": {1, 0}, "degreescelsius": {1, 0}},
		// The product user guide of Lakes_cci advises levels 4 and 5, of 1 to 5.
		valid: "lswt_quality_level >= 4"},
	// Files of LWQ may lack the unit of turbidity, which is NTU in its product user manual. One FNU is taken for one NTU.
	turbidity: {column: "turbidity_ntu", names: []string{"turbidity_blended_mean", "turbidity_mean", "turbidity"}, min: 0, max: data.MaxTurbidity,
		units: map[string]linear{"ntu": {1, 0}, "fnu": {1, 0}, "": {1, 0}, "1": {1, 0}}},
}

// stored returns the median of pixels as it is stored, absent if its column cannot have it.
func (q *quantity) stored(pixels []float64) (h data.Optional[data.Hundredths]) {
	if m := zonal.Median(pixels); m >= q.min.Float() && m <= q.max.Float() {
		h = data.Known(data.HundredthsOf(m))
	}
	return h
}

// addQuantities adds the layers of the other quantities. One that cannot be read, or whose unit is not known, is left out: the chlorophyll does not need it.
func (s *scene) addQuantities(p *netcdfPixels) {
	if s.product.ID != LWQ && s.product.ID != LakesCCI {
		return
	}
	for k := range quantities {
		q := &quantities[k]
		for _, name := range q.names {
			l := p.layer(name, func(text string) (linear, bool) {
				to, ok := q.units[plainUnit(text)]
				return to, ok
			}, math.Inf(-1))
			if l == nil {
				continue
			}
			if q.valid != "" {
				if hide, err := newValidity(q.valid, false, nil, p.operand); err == nil {
					l.gather = hide.over(l.gather)
				}
			}
			s.columns, s.quantities[k] = append(s.columns, q.column), l
			break
		}
	}
}

// leastScum is the probability of floating cyanobacteria from which a pixel counts: the variable of LWQ is one from 0 to 1.
const leastScum = 0.5

// addScum adds the layer of floating cyanobacteria of LWQ: of the variable with this name, and otherwise of the flag.
func (s *scene) addScum(p *netcdfPixels) {
	if s.product.ID != LWQ {
		return
	}
	const name = "floating_cyanobacteria"
	least := leastScum
	o, err := p.operand(name)
	if err != nil {
		o, err = p.operand("quality_flags." + name)
	} else if v, _ := p.variable(name); isPercent(v.Text("units")) {
		least *= 100
	}
	if err == nil {
		s.columns, s.scum = append(s.columns, scumColumn), o.layer(least)
	}
}
