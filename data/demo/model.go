package demo

import (
	"math"

	"limnomap/data"
)

// A model is how the simulation sees one lake.
type model struct {
	lake   data.Lake
	place  place
	region int     // index into regionsOf's list
	mean   float64 // arithmetic mean of the undisturbed lake over a year, µg/l
	rich   float64 // decimal logarithm of mean, the lake's trophic level
	offset float64 // what the logarithm of a week's level adds to the season so that the year's mean is mean
}

// The trophic level of a lake that the list leaves open is log-normal. Its median falls with area, since large lakes
// are deep as a rule and deep ones clear, and is lower in the uplands and at the Alps than in the northern lowland,
// where glacial lakes are shallow and their catchments farmed (the picture that the states' reports under the Water
// Framework Directive give; the numbers are round).
const (
	lowlandMedian = 18.0 // µg/l at 1 km²
	uplandMedian  = 8.0
	areaExponent  = -0.15
	meanSpread    = 0.6 // standard deviation of the logarithm
	minMean       = 1.5
	maxMean       = 60
)

// models returns the models of lakes, in their order.
func models(lakes []listedLake) []model {
	list := make([]model, len(lakes))
	regions := map[string]int{}
	for i, l := range lakes {
		if _, known := regions[l.Region]; !known {
			regions[l.Region] = len(regions)
		}
		m := model{lake: l.Lake, place: placeOf(string(l.ID)), region: regions[l.Region], mean: l.mean}
		if m.mean == 0 {
			m.mean = drawMean(m)
		}
		m.rich = math.Log10(m.mean)
		m.offset = m.seasonOffset()
		list[i] = m
	}
	return list
}

func drawMean(m model) float64 {
	median := uplandMedian
	if lowland(m.lake.Region) {
		median = lowlandMedian
	}
	mean := median * math.Pow(m.lake.AreaKM2, areaExponent) * math.Exp(meanSpread*m.place.normal(0, meanStream))
	return min(max(mean, minMean), maxMean)
}

// lowland reports whether a state's lakes lie in the northern lowland for the greater part.
func lowland(region string) bool {
	switch region {
	case "Berlin", "Brandenburg", "Bremen", "Hamburg", "Mecklenburg-Vorpommern", "Niedersachsen", "Sachsen-Anhalt",
		"Schleswig-Holstein":
		return true
	}
	return false
}

// The year of a lake's plankton after the PEG model (Sommer et al. 1986, 2012): a spring peak of diatoms, the clear
// water of early summer, and a late-summer peak, of cyanobacteria in rich lakes. Days are days of the year.
const (
	springPeak   = 105.0
	springSpread = 22.0
	summerPeak   = 232.0
	summerSpread = 38.0
)

// season returns the natural logarithm of the level on a day of the year relative to midwinter. In clear lakes the
// spring peak is the larger of two small ones; in rich lakes the late summer stands out.
func (m *model) season(day int) float64 {
	spring := bell((float64(day) - springPeak) / springSpread)
	summer := bell((float64(day) - summerPeak) / summerSpread)
	return 0.55*spring + (0.25+0.35*m.rich)*summer
}

func bell(x float64) float64 { return math.Exp(-x * x / 2) }

// seasonOffset returns the offset that belongs to the model's mean and trophic level.
func (m *model) seasonOffset() float64 {
	return math.Log(m.mean) - math.Log(m.meanOfSeason()) - anomalySpread*anomalySpread/2
}

func (m *model) meanOfSeason() float64 {
	const days = 365
	sum := 0.0
	for day := 1; day <= days; day++ {
		sum += math.Exp(m.season(day))
	}
	return sum / days
}

// level returns the natural logarithm of what the lake holds on a date when nothing disturbs it, µg/l.
func (m *model) level(d data.Date) float64 { return m.offset + m.season(d.Time().YearDay()) }
