package satellite

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// A formula leads from a digital number of a cyanobacteria index to the index: CI = 10^(slope · DN + intercept).
type formula struct{ slope, intercept float64 }

var (
	// cyanFormula is that of CyAN from version 5 on: 0 is below the limit of detection, 1 to 253 have a value, 254 is land, 255 has no data
	// (release notes of the CI data product of NASA, version 6, 2025; https://oceancolor.gsfc.nasa.gov/about/projects/cyan/).
	cyanFormula = formula{0.011714, -4.1870866}
	// indexFormula is that of CyAN version 1 and of NOAA: 250 to 255 are land, cloud and other pixels without a value.
	indexFormula = formula{3.0 / 250, -4.2}
)

// String is in the method of values. Values of two formulas must not be compared: those of one number differ by up to 13 %.
func (f formula) String() string {
	sign := "+"
	if f.intercept < 0 {
		sign = "-"
	}
	return fmt.Sprintf("CI = 10^(%.8g DN %s %.8g)", f.slope, sign, math.Abs(f.intercept))
}

// index returns the cyanobacteria index of a digital number.
func (f formula) index(dn float64) float64 { return math.Pow(10, f.slope*dn+f.intercept) }

// formulaText is a formula in a text: CI = 10^(DN * 0.011714 - 4.1870866), or 10**(3/250*DN - 4.2).
var formulaText = regexp.MustCompile(`(?i)10(?:\.0*)?\s*(?:\^|\*\*)\s*[([]\s*\(?\s*(?:DN\s*\*\s*(` + ratio + `)|(` + ratio + `)\s*\*?\s*DN)\s*\)?\s*([-+−])\s*(\d*\.?\d+)\s*[)\]]`)

// anyFormula is a text with a power of ten of a digital number in any form.
var anyFormula = regexp.MustCompile(`(?i)10(?:\.0*)?\s*(?:\^|\*\*)\s*[([].*DN\b`)

const ratio = `\(?\s*\d*\.?\d+\.?\s*(?:/\s*\d*\.?\d+\.?\s*)?\)?`

// formulaAttributes are the attributes of a file in which a formula may be written. Old files of NASA have the numbers of it: slope and intercept.
var formulaAttributes = []string{"scaling_equation", "formula", "equation", "conversion", "description", "comment", "long_name", "tifftag_imagedescription"}

// formulaOf returns the formula that the attributes of a file say, and otherwise the product's.
func formulaOf(text func(name string) string, byProduct formula) (formula, error) {
	var found []formula
	refused := func(from string) (formula, error) {
		return byProduct, fmt.Errorf("%.200s: this is no formula of a cyanobacteria index, want one such as 10^(DN * 0.012 - 4.2)", from)
	}
	for _, name := range formulaAttributes {
		if !anyFormula.MatchString(text(name)) {
			continue
		}
		m := formulaText.FindStringSubmatch(text(name))
		if m == nil {
			return refused(fmt.Sprintf("%s %q", name, text(name)))
		}
		f, ok := parseFormula(m[1]+m[2], strings.Replace(m[3], "−", "-", 1)+m[4])
		if found = append(found, f); !ok {
			return refused(fmt.Sprintf("%s %q", name, text(name)))
		}
	}
	if slope, intercept, base, scaling := text("slope"), text("intercept"), text("base"), text("scaling"); slope != "" || intercept != "" {
		f, ok := parseFormula(slope, intercept)
		ten, _ := parseRatio(cmp.Or(base, "10"))
		if found = append(found, f); !ok || ten != 10 || strings.EqualFold(scaling, "linear") {
			return refused(fmt.Sprintf("slope %.40q, intercept %.40q, base %.40q, scaling %.40q", slope, intercept, base, scaling))
		}
	}
	for _, other := range found {
		if math.Abs(other.index(250)/found[0].index(250)-1) > 1e-3 {
			return byProduct, fmt.Errorf("the file has two formulas of the index: %s and %s", found[0], other)
		}
	}
	return append(found, byProduct)[0], nil
}

// parseFormula reads a formula. Those of all products are around 10^(0.012 DN - 4): another one has other numbers, or is of another quantity.
func parseFormula(slope, intercept string) (f formula, ok bool) {
	a, ok := parseRatio(slope)
	b, ok2 := parseRatio(intercept)
	f = formula{a, b}
	return f, ok && ok2 && f.slope > 0 && f.index(1) > 1e-7 && f.index(250) < 10
}

// parseRatio reads a number or a quotient of two, such as 3/250.
func parseRatio(s string) (float64, bool) {
	above, below, isRatio := strings.Cut(strings.Trim(strings.TrimSpace(s), "()"), "/")
	v, err := strconv.ParseFloat(strings.TrimSpace(above), 64)
	if isRatio && err == nil {
		var by float64
		by, err = strconv.ParseFloat(strings.TrimSpace(below), 64)
		v /= by
	}
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// setIndex sets the decoder of digital numbers, the formula and the method. decode adds what the file says about missing numbers.
func (s *scene) setIndex(text func(name string) string, decode func(next decoder) decoder) error {
	f, last := indexFormula, 249.0
	if s.product.ID == CyAN {
		f, last = cyanFormula, 253
	}
	f, err := formulaOf(text, f)
	s.value.decode, s.index, s.method = decode(indexDecoder(f, last)), &f, f.String()
	s.columns = append(s.columns, cellColumn)
	return err
}

const (
	landDN   = 254
	noDataDN = 255
)

// indexDecoder decodes digital numbers up to last to the index. Its statistic is taken over the pixels of a lake, so that the chlorophyll and the cells of the
// lake are of the same one.
func indexDecoder(f formula, last float64) decoder {
	return func(dn float64) (float64, pixelState) {
		switch {
		case math.IsNaN(dn): // hidden by a mask
			return 0, noData
		case dn == 0:
			return 0, belowLimit
		case dn >= 1 && dn <= last && dn == math.Trunc(dn):
			return f.index(dn), hasValue
		case dn == landDN:
			return 0, landPixel
		case dn > last && dn <= noDataDN:
			return 0, noData
		}
		return math.NaN(), outOfRange
	}
}

// Chlorophyll from the cyanobacteria index: chl = 6620 · CI − 3.07 (Seegers and others: Remote Sensing of Environment 266, 2021,
// 112685).
const (
	chlPerCI     = 6620
	chlIntercept = 3.07
)

// indexLimit is the limit of detection of chlorophyll from an index, in µg/l: the intercept of the formula, below which its result is
// negative for an index that was detected. It cannot tell such a value from none, and a value of 0.02 would be a false precision.
const indexLimit = chlIntercept

// chlorophyllOfCI returns 0 for an index whose chlorophyll is below indexLimit.
func chlorophyllOfCI(ci float64) float64 {
	chl := chlPerCI*ci - chlIntercept
	if chl < indexLimit {
		return 0
	}
	return chl
}

// cellsPerCI makes cells/ml of the index: cells = 1e8 · CI (Wynne and others: Limnology and Oceanography 55, 2010, page 2025; EPA's CyAN uses it for all its
// products).
const cellsPerCI = 1e8

// least returns the index of the digital number 1: one below it is not detected.
func (f formula) least() float64 { return f.index(1) }

// cells returns the cells/ml of an index, without decimals; 0 if it is not detected.
func (f formula) cells(ci float64) float64 {
	if ci < f.least() {
		return 0
	}
	return math.Round(cellsPerCI * ci)
}

// cyanSource returns the source of a file of CyAN, with the version and the satellite that its name tells, or the version that it has in its metadata:
// the values of different ones must not be compared. The versions of one week are CYAN and CYANV6T in names. Files of one satellite are named for it, and
// not those of both, in which the higher value counts.
func cyanSource(p Product, base, version string, opts *Options) (string, error) {
	if m := cyanVersion.FindStringSubmatch(base); m != nil {
		version = m[1]
	}
	source := p.Source
	if version = strings.TrimSuffix(strings.TrimPrefix(strings.ToUpper(strings.TrimSpace(version)), "V"), ".0"); versionText.MatchString(version) {
		source += " V" + version
		if given := versionInSource.FindStringSubmatch(opts.Source); given != nil && !strings.EqualFold(given[1], version) && !strings.EqualFold(given[1], version+".0") {
			return "", fmt.Errorf("source %.80q: the file is of version %s", opts.Source, version)
		}
	}
	if m := cyanSatellite.FindStringSubmatch(strings.ToUpper(base)); m != nil {
		source += " " + cmp.Or(m[1], "MERIS")
	}
	return source, nil
}

var (
	cyanVersion     = regexp.MustCompile(`(?i)(?:CYAN|[._-])V(\d{1,2}(?:\.\d{1,2})?[A-Z]?)[._-]`)
	versionText     = regexp.MustCompile(`^\d{1,2}(?:\.\d{1,2}){0,2}[A-Z]?$`)
	versionInSource = regexp.MustCompile(`(?i)\bV(\d{1,2}(?:\.\d{1,2})?[A-Z]?)\b`)
	cyanSatellite   = regexp.MustCompile(`^(S3[ABM])|^M\d{7}|MERIS`)
)
