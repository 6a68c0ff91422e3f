package ingest

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// A dimension is what the numbers of a column measure, with the units that they may be in.
type dimension struct {
	name  string                // for error messages
	unit  string                // that of the column
	shown string                // the usual ones, for error messages
	units map[string]unitFactor // by what unitKey returns
	// foreign are the words of other quantities, which must not be taken for a unit of this one, or for its name.
	foreign []string
}

// A unitFactor converts a unit: value * factor + offset.
type unitFactor struct{ factor, offset float64 }

// The dimensions of columns. Factors of feet, acres and degrees Fahrenheit are those of NIST Special Publication 811, appendix B.
var (
	chlorophyllUnits = &dimension{name: "chlorophyll", unit: "µg/l", shown: "µg/l, ug/l, mg/m3, ppb, ng/ml, mg/l, ng/l",
		units: map[string]unitFactor{"ugl": {1, 0}, "mgm3": {1, 0}, "ppb": {1, 0}, "ngml": {1, 0}, "ug100ml": {10, 0}, "mg100ml": {1e4, 0},
			"mgl": {1000, 0}, "ppm": {1000, 0}, "ugml": {1000, 0}, "gm3": {1000, 0}, "ugcm3": {1000, 0}, "gl": {1e6, 0}, "mgml": {1e6, 0}, "kgm3": {1e6, 0}, "ngl": {1e-3, 0}, "ugm3": {1e-3, 0}},
		foreign: []string{"log", "log10", "ln", "lg", "rfu", "afu", "fnu", "ntu", "percent", "volt", "volts", "mv", "relative", "index", "sqrt", "x1000", "thousand", "tausend", "tsd", "logchl", "lnchl", "log10chl", "logchla", "lnchla", "log10chla"}}
	cellUnits = &dimension{name: "cell counts", unit: "cells/ml", shown: "cells/ml, cells/100ml, cells/l",
		units:   map[string]unitFactor{"cellsml": {1, 0}, "ml": {1, 0}, "cellscm3": {1, 0}, "cellsl": {1e-3, 0}, "l": {1e-3, 0}, "cells100ml": {1e-2, 0}, "100ml": {1e-2, 0}, "cellsm3": {1e-6, 0}},
		foreign: []string{"rfu", "percent", "colonies", "filaments", "biovolume", "1000", "x1000", "10", "103", "106", "x10", "mio", "million", "millions", "thousand", "tsd", "1e3", "1e6", "kcells", "log", "log10", "ln", "lg"}}
	lengthUnits = &dimension{name: "depths", unit: "m", shown: "m, cm, mm, ft, in",
		units: map[string]unitFactor{"m": {1, 0}, "meter": {1, 0}, "meters": {1, 0}, "metre": {1, 0}, "metres": {1, 0}, "dm": {0.1, 0}, "cm": {0.01, 0}, "mm": {0.001, 0},
			"ft": {0.3048, 0}, "feet": {0.3048, 0}, "foot": {0.3048, 0}, "in": {0.0254, 0}, "inch": {0.0254, 0}, "inches": {0.0254, 0}}}
	temperatureUnits = &dimension{name: "temperatures", unit: "°C", shown: "°C, deg C, deg F, K",
		units: map[string]unitFactor{"c": {1, 0}, "degc": {1, 0}, "°c": {1, 0}, "celsius": {1, 0}, "degcelsius": {1, 0}, "k": {1, -273.15}, "kelvin": {1, -273.15},
			"f": {5. / 9, -160. / 9}, "degf": {5. / 9, -160. / 9}, "°f": {5. / 9, -160. / 9}, "fahrenheit": {5. / 9, -160. / 9}, "degfahrenheit": {5. / 9, -160. / 9}}}
	areaUnits = &dimension{name: "areas", unit: "km²", shown: "km2, ha, m2, acres, mi2",
		units: map[string]unitFactor{"km2": {1, 0}, "sqkm": {1, 0}, "qkm": {1, 0}, "ha": {0.01, 0}, "hectare": {0.01, 0}, "hectares": {0.01, 0}, "m2": {1e-6, 0}, "sqm": {1e-6, 0}, "qm": {1e-6, 0},
			"acre": {0.0040468564224, 0}, "acres": {0.0040468564224, 0}, "mi2": {2.589988110336, 0}, "sqmi": {2.589988110336, 0}}}
)

// unitWords are the words of units of concentrations, in any order: a text of only these is a unit, also if it is not one of the dimension.
var unitWords = strings.Fields("kg g mg ug ng pg t mol mmol umol nmol cells l ml m m2 m3 cm cm2 cm3 mm3 um3 ml1 l1 cl dl hl 100 100ml 1 2 3")

// unitAmounts are those of unitWords that are an amount, with which a unit begins.
var unitAmounts = strings.Fields("kg g mg ug ng pg t mol mmol umol nmol cells mm3 um3")

// unitSpellings replaces characters, and unitNames words, by the usual ones.
var (
	unitSpellings = strings.NewReplacer("µ", "u", "μ", "u", "³", "3", "²", "2", "⁻¹", " ", "⁻", "", "−", "-", "¹", "", "º", "°", "dm^-3", "l", "dm-3", "l", "dm^3", "l", "dm3", "l", "^-", "", "^", "", "%", " percent ", "#", " cells ")
	unitNames     = map[string]string{"per": "", "1": "", "l1": "l", "liter": "l", "litre": "l", "liters": "l", "litres": "l", "ltr": "l", "lt": "l",
		"milliliter": "ml", "millilitre": "ml", "cc": "ml", "ml1": "ml", "cell": "cells", "zellen": "cells", "celler": "cells", "cellules": "cells", "cel": "cells", "céls": "cells", "cél": "cells",
		"л": "l", "ℓ": "l", "дм3": "l", "мл": "ml", "м3": "m3", "litro": "l", "litros": "l", "litri": "l", "мг": "mg", "мкг": "ug", "mkg": "ug", "нг": "ng", "pro": "", "je": "", "par": "", "por": "",
		"mikrogramm": "ug", "microgramm": "ug", "milligramm": "mg", "milligrammes": "mg", "microgrammes": "ug", "miligramos": "mg", "microgramos": "ug", "milligrammi": "mg", "microgrammi": "ug", "microg": "ug", "mgr": "mg", "mcg": "ug", "microgram": "ug", "micrograms": "ug", "milligram": "mg", "milligrams": "mg", "degree": "deg", "degrees": "deg", "grad": "deg"}
)

// unitParts returns the words of a unit, or of a name, in small letters and in one spelling.
func unitParts(s string) []string {
	words := strings.FieldsFunc(unitSpellings.Replace(strings.ToLower(s)), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '°' })
	for i, word := range words {
		if name, ok := unitNames[word]; ok {
			words[i] = name
		}
	}
	return words
}

// unitKey returns a unit in one notation: µg/L, ug l-1 and µg_per_litre are all ugl.
func unitKey(s string) string {
	key := strings.Join(unitParts(s), "")
	for _, end := range []string{"l1", "litre", "liter"} {
		if rest, ok := strings.CutSuffix(key, end); ok && rest != "" {
			return rest + "l"
		}
	}
	return key
}

// isUnit reports whether s looks like a unit of any quantity.
func isUnit(s string) bool {
	words := unitParts(s)
	return len(words) > 0 && slices.Contains(unitAmounts, words[0]) && !slices.ContainsFunc(words, func(word string) bool { return word != "" && !slices.Contains(unitWords, word) })
}

// nameParts are the parts of a name between separators.
var nameParts = regexp.MustCompile(`[^ _.,;:/()\[\]{}^-]+`)

// inName returns the name of a column without the unit in it, and the unit; "" if it has none. It is an error if the name has a unit that is not one of d.
func (d *dimension) inName(name string) (base, unit string, err error) {
	parts := nameParts.FindAllStringIndex(name, -1)
	for from := range parts {
		for to := len(parts); to > from; to-- {
			start, end := parts[from][0], parts[to-1][1]
			text := name[start:end]
			// A unit is most often at the end or in brackets. Elsewhere m and c are none.
			usual := to == len(parts) && from > 0 || start > 0 && end < len(name) && strings.Contains("() [] {}", name[start-1:start]+name[end:end+1])
			key := unitKey(text)
			if _, known := d.units[key]; known && (usual || len(key) > 2) {
				if from > 0 && isPower(name, parts[from-1], start) {
					return "", "", d.notUnit(name[parts[from-1][0]:end])
				}
				base = strings.Trim(name[:start], " ([{") + strings.TrimLeft(name[end:], " )]}")
				return base, text, d.checkName(base)
			}
			if (usual || strings.Contains(text, "/")) && isUnit(text) {
				return "", "", d.notUnit(text)
			}
		}
	}
	if strings.ContainsAny(name, "%‰µμ°³²⁻") || perVolume(name) {
		return "", "", d.notUnit(name)
	}
	return name, "", d.checkName(name)
}

// isPower reports whether the part of a name before a unit, in the same brackets, is a factor, as in 10^-3 mg/l, [10 µg/l] and x 10 µg/l. In Chl 0-10 µg/l
// it is a depth, and in ISO 10260-1992 a standard.
func isPower(name string, part []int, start int) bool {
	if strings.ContainsAny(name[part[1]:start], "()[]{},;/_") {
		return false
	}
	before, text := strings.ToLower(name[:part[0]]), strings.ToLower(name[part[0]:part[1]])
	switch {
	case text == "x" || text == "×" || strings.HasPrefix(text, "x10"):
		return true
	case text == "10" || text == "100" || text == "1000":
		return factorBefore.MatchString(before)
	default:
		return len(text) == 1 && strings.Trim(text, "0123456789") == "" && powerBefore.MatchString(before)
	}
}

// What is before a factor, and before an exponent.
var (
	factorBefore = regexp.MustCompile(`([(\[{]|(^|[^\pL])[x×]) *$`)
	powerBefore  = regexp.MustCompile(`(^|[^0-9])10(\^-?|-)$`)
)

// perVolume reports whether brackets in a name have an amount of something per volume or area: it is a unit, also if its amount is not known.
func perVolume(name string) bool {
	for _, m := range inBrackets.FindAllStringSubmatch(name, -1) {
		amount, per, ok := strings.Cut(m[1], "/")
		if per = unitKey(per); ok && strings.TrimSpace(amount) != "" && slices.Contains(strings.Fields("l ml cl dl hl m2 m3 cm2 cm3 mm3"), per) {
			return true
		}
	}
	return false
}

var inBrackets = regexp.MustCompile(`[(\[{]([^()\[\]{}]*)[)\]}]`)

// checkName returns an error if a word of a name is that of another quantity.
func (d *dimension) checkName(name string) error {
	for _, word := range unitParts(name) {
		if slices.Contains(d.foreign, word) {
			return d.notUnit(word)
		}
	}
	return nil
}

func (d *dimension) notUnit(s string) error {
	return fmt.Errorf("has the unit %.40q: want one of %s: %s", s, d.name, d.shown)
}

// plainName returns the name of a column in small letters, without separators.
func plainName(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return strings.ContainsRune(" _.-,()", c) }), "")
}

// calledWithUnit reports whether a field of a header is a name of the column with a unit, as chl_mg_l.
func (c column) calledWithUnit(header string) bool {
	if c.of == nil || c.mapped != "" {
		return false
	}
	base, unit, err := c.of.inName(strings.TrimSpace(header))
	return err == nil && unit != "" && slices.Contains(c.bases, plainName(base))
}

// setUnitOf makes the numbers of a column those of the unit in its name in the file.
func (c *column) setUnitOf(header string) error {
	c.inUnit = ""
	c.setUnit(unitFactor{1, 0}, "")
	if c.of == nil || sameColumn(header, c.name) || slices.ContainsFunc(c.aliases, func(name string) bool { return sameColumn(header, name) }) {
		return nil
	}
	_, unit, err := c.of.inName(strings.TrimSpace(header))
	if err != nil || unit == "" {
		return err
	}
	c.inUnit = unit
	c.setUnit(c.of.units[unitKey(unit)], unit)
	return nil
}

// setUnit makes the numbers of a column those of a unit.
func (c *column) setUnit(u unitFactor, unit string) {
	if c.factor.factor == 0 {
		c.own = c.in
	}
	if u == (unitFactor{1, 0}) {
		c.factor, c.in = unitFactor{}, c.own
		return
	}
	_, rest, _ := strings.Cut(c.own.rest, c.of.unit)
	c.factor, c.in = u, span{(c.own.min - u.offset) / u.factor, (c.own.max - u.offset) / u.factor, " " + unit + rest}
}

// fromUnit returns a number of the column in the column's own unit. Rounding does not leave its range.
func (c *column) fromUnit(f float64) float64 {
	if c.factor.factor == 0 {
		return f
	}
	return min(max(f*c.factor.factor+c.factor.offset, c.own.min), c.own.max)
}

// unitColumns are other names of the column unit.
var unitColumns = []string{"units", "chl_unit", "chlorophyll_unit", "Einheit", "Maßeinheit", "unité", "unite", "unidad", "unidade", "unità", "jednostka", "jednotka", "enhet", "enhed", "eenheid", "yksikkö", "uom", "unit_of_measure", "unit_name", "value_unit", "result_unit", "resultUom", "measure_unit",
	"Result_MeasureUnit", "ResultMeasure/MeasureUnitCode", "ResultMeasure.MeasureUnitCode"}

// setUnits makes the chlorophyll of a row that of its unit: that in the column unit, or in the name of its parameter.
func (r *row) setUnits(ofParameter string) {
	unit := cmp.Or(r.text(obsUnit), ofParameter)
	if r.err != nil || r.has.lacks(obsUnit) && r.has.lacks(obsParameter) {
		return
	}
	u, ok := unitFactor{1, 0}, true
	if unit != "" {
		u, ok = r.unitOf(chlorophyllUnits, unit)
	}
	switch gap := r.text(obsChl) == ""; {
	case !ok && gap:
		return
	case !ok:
		r.bad(obsUnit, unit, "a unit of chlorophyll: one of "+chlorophyllUnits.shown)
		return
	case unit == "" && !gap && !r.has.lacks(obsUnit) && r.columns[obsChl].inUnit == "":
		r.fail(fmt.Errorf("unit is missing: want one of %s", chlorophyllUnits.shown))
		return
	}
	for _, named := range []string{ofParameter, r.columns[obsChl].inUnit} {
		if own, _ := r.unitOf(chlorophyllUnits, named); named != "" && unit != "" && own != u {
			r.bad(obsUnit, unit, fmt.Sprintf("the unit %.40q, which the name of the column or of the parameter has", named))
			return
		}
	}
	for _, at := range []int{obsChl, obsLower, obsUpper, obsUncertainty} {
		if c := &r.columns[at]; c.inUnit == "" && cmp.Or(c.factor, unitFactor{1, 0}) != u {
			c.setUnit(u, unit)
		}
	}
}

// A unitText is a unit as a file writes it.
type unitText struct {
	of   *dimension
	text string
}

// maxKnownUnits bounds how many different units of a file are remembered.
const maxKnownUnits = 1000

// unitOf returns the factor of a unit, which a file writes in many rows.
func (n *notation) unitOf(d *dimension, unit string) (u unitFactor, ok bool) {
	u, ok = n.units[unitText{d, unit}]
	if !ok {
		u = d.units[unitKey(unit)]
		if n.units == nil {
			n.units = make(map[unitText]unitFactor)
		}
		if len(n.units) < maxKnownUnits {
			n.units[unitText{d, strings.Clone(unit)}] = u
		}
	}
	return u, u.factor != 0
}
