package satellite

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// A formula leads from a digital number of a cyanobacteria index to the index: CI = base^(slope · DN + intercept).
type formula struct{ base, slope, intercept float64 }

var (
	// cyanFormula is that of CyAN from version 5 on: 0 is below the limit of detection, 1 to 253 have a value, 254 is land, 255 has no data
	// (release notes of the CI data product of NASA, version 6, 2025; https://oceancolor.gsfc.nasa.gov/about/projects/cyan/).
	cyanFormula = formula{10, 0.011714, -4.1870866}
	// indexFormula is that of CyAN version 1 and of NOAA: 250 to 255 are land, cloud and other pixels without a value.
	indexFormula = formula{10, 3.0 / 250, -4.2}
)

// String is in the method of values. Values of two formulas must not be compared: those of one number differ by up to 13 %.
func (f formula) String() string {
	sign, intercept := "+", f.intercept
	if intercept < 0 {
		sign, intercept = "-", -intercept
	}
	return fmt.Sprintf("CI = %s^(%s DN %s %s)", short(f.base), short(f.slope), sign, short(intercept))
}

// short formats a number with at most 8 digits.
func short(v float64) string { return strconv.FormatFloat(v, 'g', 8, 64) }

// index returns the cyanobacteria index of a digital number.
func (f formula) index(dn float64) float64 { return math.Pow(f.base, f.slope*dn+f.intercept) }

// formulaText is a formula in a text: CI = 10^(DN * 0.011714 - 4.1870866), or 10**(3/250*DN - 4.2).
var formulaText = regexp.MustCompile(`(?i)10(?:\.0*)?\s*(?:\^|\*\*)\s*[([]\s*\(?\s*(?:DN\s*\*\s*(` + ratio + `)|(` + ratio + `)\s*\*?\s*DN)\s*\)?\s*([-+−])\s*(\d*\.?\d+)\s*[)\]]`)

// anyFormula is a text with a power of ten of a digital number in any form.
var anyFormula = regexp.MustCompile(`(?i)10(?:\.0*)?\s*(?:\^|\*\*)\s*[([].*\bDN\b`)

const ratio = `\(?\s*\d*\.?\d+\.?\s*(?:/\s*\d*\.?\d+\.?\s*)?\)?`

// formulaAttributes are the attributes of a file in which a formula may be written. Old files of NASA have the numbers of it: slope, intercept and base.
var formulaAttributes = []string{"scaling_equation", "formula", "equation", "conversion", "description", "comment", "long_name", "tifftag_imagedescription"}

// formulaOf returns the formula that the attributes of a file say, and otherwise the product's.
func formulaOf(text func(name string) string, byProduct formula) (formula, error) {
	var found []formula
	for _, name := range formulaAttributes {
		m := formulaText.FindStringSubmatch(text(name))
		if m == nil && anyFormula.MatchString(text(name)) {
			return formula{}, fmt.Errorf("%s %.200q: the formula of the index cannot be read, want one such as 10^(DN * 0.012 - 4.2)", name, text(name))
		}
		if m == nil {
			continue
		}
		intercept, err := strconv.ParseFloat(m[4], 64)
		slope, ok := parseRatio(m[1] + m[2])
		if err != nil || !ok {
			return formula{}, fmt.Errorf("%s %.200q: the formula of the index cannot be read", name, text(name))
		}
		if m[3] != "+" {
			intercept = -intercept
		}
		found = append(found, formula{10, slope, intercept})
	}
	if slope, intercept := text("slope"), text("intercept"); slope != "" || intercept != "" {
		f := formula{base: 10}
		numbers := []struct {
			text string
			to   *float64
		}{{slope, &f.slope}, {intercept, &f.intercept}, {text("base"), &f.base}}
		for i, n := range numbers {
			v, ok := parseRatio(n.text)
			if !ok && (i < 2 || n.text != "") {
				return formula{}, fmt.Errorf("slope %.40q, intercept %.40q, base %.40q: want numbers, for CI = base^(slope DN + intercept)", slope, intercept, text("base"))
			}
			if ok {
				*n.to = v
			}
		}
		if scaling := strings.ToLower(text("scaling")); scaling == "linear" {
			return formula{}, fmt.Errorf("the index has a linear scale, slope %s and intercept %s: want a logarithmic one", slope, intercept)
		}
		found = append(found, f)
	}
	if len(found) == 0 {
		return byProduct, nil
	}
	f := found[0]
	for _, other := range found {
		if math.Abs(other.index(250)/f.index(250)-1) > 1e-3 {
			return f, fmt.Errorf("the file has two formulas of the index: %s and %s", f, other)
		}
	}
	// Those of other products are around 10^(0.012 DN - 4): another one has other numbers, or is of another quantity.
	if !(f.base > 1 && f.slope > 0 && f.index(1) > 1e-7 && f.index(250) < 10) {
		return f, fmt.Errorf("%s is no formula of a cyanobacteria index", f)
	}
	return f, nil
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

// setIndex sets the decoder of digital numbers, the limit of detection and the method. decode adds what the file says about missing numbers.
func (s *scene) setIndex(text func(name string) string, decode func(next decoder) decoder) error {
	f, last := indexFormula, 249.0
	if s.product.ID == CyAN {
		f, last = cyanFormula, 253
	}
	f, err := formulaOf(text, f)
	if err != nil {
		return err
	}
	s.value.decode, s.index, s.limit, s.method = decode(indexDecoder(f, last)), &f, indexLimit, f.String()
	s.columns = append(s.columns, cellColumn)
	return nil
}

// indexDecoder decodes digital numbers up to last to the index. Its statistic is taken over the pixels of a lake, so that the chlorophyll and the cells of the
// lake are of the same one.
func indexDecoder(f formula, last float64) decoder {
	return func(dn float64) (float64, pixelState) { return decodeDN(dn, last, f) }
}

const (
	landDN   = 254
	noDataDN = 255
)

func decodeDN(dn, last float64, f formula) (float64, pixelState) {
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
	switch upper := strings.ToUpper(base); {
	case strings.HasPrefix(upper, "S3A"), strings.HasPrefix(upper, "S3B"), strings.HasPrefix(upper, "S3M"):
		source += " " + upper[:3]
	case cyanMERIS.MatchString(upper):
		source += " MERIS"
	}
	return source, nil
}

var (
	cyanVersion     = regexp.MustCompile(`(?i)(?:CYAN|[._-])V(\d{1,2}(?:\.\d{1,2})?[A-Z]?)[._-]`)
	versionText     = regexp.MustCompile(`^\d{1,2}(?:\.\d{1,2}){0,2}[A-Z]?$`)
	versionInSource = regexp.MustCompile(`(?i)\bV(\d{1,2}(?:\.\d{1,2})?[A-Z]?)\b`)
	cyanMERIS       = regexp.MustCompile(`^M\d{7}|MERIS`)
)
