package demo

import (
	"math"

	"limnomap/data"
)

// Weekly anomalies of the logarithm of a lake's level: one part is shared by the lakes of a state, which have the same
// weather, one is the lake's own. An anomaly decays within about four weeks, the life of a plankton population.
const (
	anomalyPersistence = 0.75
	anomalySpread      = 0.45 // standard deviation; e^0.45 is a factor of 1.6
	anomalyShared      = 0.4  // share of the variance
)

// Clouds hide a lake in 15 of 100 passes in midsummer and in 38 of 100 in midwinter, for several weeks in a row and partly in
// a whole state at once. There are more cloudy days than that, but Sentinel-3 passes central Europe about daily, and a pass
// here is the best one of its week.
const (
	cloudPersistence = 0.35
	cloudShared      = 0.35  // share of the variance
	cloudSummer      = 1.05  // threshold in standard deviations at midsummer: 15 % lie above
	cloudWinter      = 0.3   // and at midwinter: 38 %
	midsummer        = 172.0 // day of the year
)

// Longer gaps (ice, haze, sunglint, a lake too narrow for the sensor's pixels) begin in a week with gapChance and last long
// enough to make the lake's value stale. Together with clouds, between two of 360 lakes and, in the darkest winters, some
// forty have no current value.
const (
	gapChance   = 0.005
	minGapWeeks = 6
	maxGapWeeks = 12
)

// Blooms raise the level four- to fifteenfold for two to four weeks of the warm season, more often in rich lakes.
const (
	bloomFirstDay   = 150
	bloomLastDay    = 285
	bloomChanceBase = 0.002 // per week at a mean of 1 µg/l
	bloomChanceRich = 0.006 // more for each factor of ten of the mean
	minBloomFactor  = 4.0
	maxBloomFactor  = 15.0
	minBloomWeeks   = 2
	maxBloomWeeks   = 4
)

// The range of simulated values, µg/l: from about the detection limit to a lake like pea soup.
const (
	minSimulated = 0.1
	maxSimulated = 400
)

// weather is what the lakes of one region have in common, by week since the first week of an edition.
type weather struct {
	anomaly, cloud []float64
}

// weatherOf returns the weather of a region for n weeks.
func weatherOf(region string, first data.Week, n int) weather {
	p := noiseOf(region)
	return weather{
		anomaly: p.red(first, n, anomalyStream, anomalyPersistence),
		cloud:   p.red(first, n, cloudStream, cloudPersistence),
	}
}

// satellite fills values with the lake's passes in the weeks from first on.
func (m *model) satellite(first data.Week, values []data.Chlorophyll, w weather) {
	anomaly := blend(w.anomaly, m.noise.red(first, len(values), anomalyStream, anomalyPersistence), anomalyShared)
	cloud := blend(w.cloud, m.noise.red(first, len(values), cloudStream, cloudPersistence), cloudShared)
	for i := range values {
		anomaly[i] *= anomalySpread
		week := first + data.Week(i)
		date := passDate(week)
		if cloud[i] > clearBelow(date) || m.inGap(week) {
			values[i] = data.NoChlorophyll
			continue
		}
		values[i] = rounded(m.level(date) + anomaly[i] + m.bloom(week))
	}
}

// blend adds two series of variance 1 to one of variance 1, in which shared has the given share.
func blend(shared, own []float64, share float64) []float64 {
	a, b := math.Sqrt(share), math.Sqrt(1-share)
	sum := make([]float64, len(own))
	for i := range sum {
		sum[i] = a*shared[i] + b*own[i]
	}
	return sum
}

// clearBelow returns the cloudiness, in standard deviations, below which the lake is visible on d.
func clearBelow(d data.Date) float64 {
	const daysPerYear = 365.25
	summer := (1 + math.Cos(2*math.Pi*(float64(d.Time().YearDay())-midsummer)/daysPerYear)) / 2
	return cloudWinter + (cloudSummer-cloudWinter)*summer
}

// inGap reports whether w is in one of the lake's longer gaps.
func (m *model) inGap(w data.Week) bool {
	for ago := range data.Week(maxGapWeeks) {
		if m.noise.uniform(w-ago, gapStream) < gapChance && int(ago) < m.length(w-ago, gapLengthStream, minGapWeeks, maxGapWeeks) {
			return true
		}
	}
	return false
}

// bloom returns the natural logarithm of the factor by which blooms raise the level in w, 0 without a bloom. A bloom starts
// with its full factor and decreases linearly on the logarithmic scale; if two overlap, the stronger one counts.
func (m *model) bloom(w data.Week) float64 {
	strongest := 0.0
	for ago := range data.Week(maxBloomWeeks) {
		began := w - ago
		day := passDate(began).Time().YearDay()
		chance := bloomChanceBase + bloomChanceRich*m.rich
		if day < bloomFirstDay || day > bloomLastDay || m.noise.uniform(began, bloomStream) >= chance {
			continue
		}
		size := math.Log(minBloomFactor) + math.Log(maxBloomFactor/minBloomFactor)*m.noise.uniform(began, bloomSizeStream)
		weeks := m.length(began, bloomLengthStream, minBloomWeeks, maxBloomWeeks)
		strongest = max(strongest, size*(1-float64(ago)/float64(weeks)))
	}
	return strongest
}

// length draws the number of weeks of an episode that began in w, from shortest to longest.
func (m *model) length(w data.Week, s stream, shortest, longest int) int {
	return shortest + int(m.noise.uniform(w, s)*float64(longest-shortest+1))
}

// rounded converts the natural logarithm of a level to a stored value.
func rounded(level float64) data.Chlorophyll {
	c, err := data.ChlorophyllOf(min(max(math.Exp(level), minSimulated), maxSimulated))
	if err != nil {
		panic(err) // not possible within the bounds above
	}
	return c
}
