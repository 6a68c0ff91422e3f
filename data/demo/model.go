package demo

import (
	"math"

	"limnomap/data"
)

// A model simulates one lake.
type model struct {
	lake   data.Lake
	noise  noise
	region int     // index into regionsOf's list
	mean   float64 // arithmetic mean of the undisturbed lake over a year, µg/l
	rich   float64 // decimal logarithm of mean, the lake's trophic level
	offset float64 // added to the season in the logarithm of a week's level, so that the year's mean is mean
}

// If the list has no trophic level for a lake, it is log-normal. Its median decreases with area, since large lakes are usually
// deep and deep lakes clear. It is lower in the uplands and the Alps than in the northern lowland, where glacial lakes are
// shallow and their catchments farmed (as in the states' reports under the Water Framework Directive, in round numbers).
const (
	lowlandMedian = 18.0 // µg/l at 1 km²
	uplandMedian  = 8.0
	areaExponent  = -0.15
	meanSpread    = 0.6 // standard deviation of the logarithm
	minMean       = 1.5
	maxMean       = 60
)

// models returns the models of lakes in the same order.
func models(lakes []listedLake) []model {
	list := make([]model, len(lakes))
	regions := map[string]int{}
	for i, l := range lakes {
		if _, known := regions[l.Region]; !known {
			regions[l.Region] = len(regions)
		}
		m := model{lake: l.Lake, noise: noiseOf(string(l.ID)), region: regions[l.Region], mean: l.mean}
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
	mean := median * math.Pow(m.lake.AreaKM2, areaExponent) * math.Exp(meanSpread*m.noise.normal(0, meanStream))
	return min(max(mean, minMean), maxMean)
}

// lowland reports whether most lakes of a state are in the northern lowland.
func lowland(region string) bool {
	switch region {
	case "Berlin", "Brandenburg", "Bremen", "Hamburg", "Mecklenburg-Vorpommern", "Niedersachsen", "Sachsen-Anhalt",
		"Schleswig-Holstein":
		return true
	}
	return false
}

// The year of a lake's plankton by the PEG model (Sommer et al. 1986, 2012): a spring peak of diatoms, clear water in early
// summer, and a peak in late summer, of cyanobacteria in rich lakes. Days are days of the year.
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

// seasonOffset returns the offset for the model's mean and trophic level.
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

// level returns the natural logarithm of the lake's undisturbed chlorophyll on a date, in µg/l.
func (m *model) level(d data.Date) float64 { return m.offset + m.season(d.Time().YearDay()) }
