package satellite

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// units are what one unit of a mass concentration is in µg/l, by its name as plainUnit has it. One mg/m³ is one µg/l.
var units = map[string]float64{
	"mgm-3": 1, "mg/m3": 1, "milligramm-3": 1, "milligrammeter-3": 1, "milligrams/m3": 1,
	"ug/l": 1, "ugl-1": 1, "microgram/l": 1, "micrograms/l": 1, "ppb": 1,
	"mg/l": 1000, "mgl-1": 1000, "gm-3": 1000, "g/m3": 1000, "ng/l": 0.001, "kgm-3": 1e6,
}

// plainUnit returns a unit in small letters of ASCII, without spaces and signs of powers and products.
func plainUnit(text string) string {
	return unitSigns.Replace(strings.ToLower(strings.Join(strings.Fields(text), "")))
}

var unitSigns = strings.NewReplacer("^", "", ".", "", "*", "", "µ", "u", "μ", "u", "⁻", "-", "³", "3", "¹", "1", "°", "", "_", "")

// A unit is what the numbers of a variable or a band mean.
type unit struct {
	perUnit float64 // of its linear unit, in µg/l
	known   bool    // whether perUnit is
	base    float64 // of a logarithm: the value is base to the power of the number; 0 for a number that is the value
}

// logUnit is the unit of a logarithm: lg(re mg.m-3) of Sentinel-3 and UDUNITS, log10(mg m-3), ln(re 1 mg m-3), log10 mg/m3.
var logUnit = regexp.MustCompile(`(?i)^\s*(lg|log_?10|log_?e|log|ln|lb|log_?2|db)(?:\s*[([]\s*(?:re\b:?\s*)?(.*?)\s*[)\]]|\s+(?:of\s+)?(.*?))?\s*$`)

// anyLog is a unit with a logarithm in any form.
var anyLog = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:log|lg|ln|lb|db)(?:$|[^a-z])|log_?(?:10|e|2)`)

// logBases are the bases of the logarithms that have one meaning. log without a base is the natural one for some programs and the decimal one for others.
var logBases = map[string]float64{"lg": 10, "log10": 10, "ln": math.E, "loge": math.E, "lb": 2, "log2": 2}

const wantLog = "want the unit lg(re mg m-3) or ln(re mg m-3), or a file with the values themselves"

// unitOf returns what a unit means.
func unitOf(text string) (u unit, err error) {
	of := text
	if m := logUnit.FindStringSubmatch(text); m != nil {
		of = strings.TrimPrefix(m[2]+m[3], "1 ")
		u.base = logBases[plainUnit(m[1])]
	}
	if u.base == 0 && anyLog.MatchString(text) {
		return u, fmt.Errorf("unit %.80q: the logarithm has several meanings, or its form is not known: %s", text, wantLog)
	}
	u.perUnit, u.known = units[plainUnit(of)]
	return u, nil
}

var (
	// logName is a name of a variable or a band with logarithms, and logTitle what such a name begins with if it has several words.
	logName  = regexp.MustCompile(`(?i)(?:^|[^a-z])log_?10|[a-z]log10|(?:^|_)(?:log|lg|ln|log_?e)(?:_|$)|logarithm`)
	logTitle = regexp.MustCompile(`(?i)^\s*(?:(?:natural|common|decimal|base.10) )?(?:log|lg|ln)\b`)
)

// scalings returns what attributes say about logarithms: scaling is of NASA, log10_scaled of SNAP.
func scalings(text func(name string) string) []string {
	names := []string{text("scaling")}
	if strings.EqualFold(strings.TrimSpace(text("log10_scaled")), "true") {
		names = append(names, "log10_scaled")
	}
	return names
}

// unitOfValues returns the unit of a variable or a band. One whose names say logarithms, and its unit does not, is refused: a value of
// 1.7 instead of 50 looks like clean water. The option Scale is for rasters of any program, and for others whose unit is not known.
func unitOfValues(p Product, text string, names []string, opts *Options) (unit, error) {
	u, err := unitOf(text)
	if err != nil {
		return u, err
	}
	for _, name := range names {
		if u.base == 0 && (logName.MatchString(name) || logTitle.MatchString(name)) {
			return u, fmt.Errorf("%.80q has the name of logarithms and the unit %.80q: %s", name, text, wantLog)
		}
	}
	if opts.Scale > 0 && (p.ID == OwnRaster || !u.known) {
		u.perUnit, u.known = opts.Scale, true
	}
	if !u.known {
		return u, fmt.Errorf("unit %.80q: want mg m-3, µg/l or another one of chlorophyll, or --scale with what one unit is in µg/l, such as --scale 1", text)
	}
	return u, nil
}

// value returns a number in µg/l.
func (u unit) value(number float64) float64 {
	if u.base != 0 {
		number = math.Pow(u.base, number)
	}
	return number * u.perUnit
}

// isPercent reports whether a unit is a hundredth part.
func isPercent(unit string) bool {
	return slices.Contains([]string{"%", "percent", "percentage"}, plainUnit(unit))
}
