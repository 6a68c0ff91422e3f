package demo

import (
	"math"

	"limnomap/data"
)

// Weekly anomalies of a lake's logarithm: a part shared by the lakes of a state, which have one weather, and a part of
// its own. The persistence lets an anomaly fade over about four weeks, the life of a plankton population.
const (
	anomalyPersistence = 0.75
	anomalySpread      = 0.45 // standard deviation; e^0.45 is a factor of 1.6
	anomalyShared      = 0.4  // share of the variance
)

// Clouds hide a lake in 15 passes of 100 in midsummer and in 38 of 100 in midwinter, in spells, in part over a whole
// state at once. Single overcast days would be more: Sentinel-3 sees central Europe about daily, and a week's pass here
// stands for the best of that week.
const (
	cloudPersistence = 0.35
	cloudShared      = 0.35  // share of the variance
	cloudSummer      = 1.05  // threshold in standard deviations at midsummer: 15 % lie above
	cloudWinter      = 0.3   // and at midwinter: 38 %
	midsummer        = 172.0 // day of the year
)

// Longer gaps (ice, haze, sunglint, a lake too near its shores for the sensor's pixels) begin in a week with gapChance
// and last long enough to make the lake's value stale. With the clouds they leave between two lakes of 360 and, in the
// darkest winters, some forty without a current value.
const (
	gapChance   = 0.005
	minGapWeeks = 6
	maxGapWeeks = 12
)

// Blooms multiply the level four- to fifteenfold for two to four weeks of the warm season, in rich lakes more often.
const (
	bloomFirstDay   = 150
	bloomLastDay    = 285
	bloomChanceBase = 0.002 // per week at a mean of 1 µg/l
	bloomChanceRich = 0.006 // more for each tenfold of it
	minBloomFactor  = 4.0
	maxBloomFactor  = 15.0
	minBloomWeeks   = 2
	maxBloomWeeks   = 4
)

// What the simulation may say, µg/l: from about the detection limit to a lake like pea soup.
const (
	minSimulated = 0.1
	maxSimulated = 400
)

// A weather is what the lakes of one region have in common, by week from the first one of an edition.
type weather struct {
	anomaly, cloud []float64
}

// weatherOf returns the weather of a region for n weeks.
func weatherOf(region string, first data.Week, n int) weather {
	p := placeOf(region)
	return weather{
		anomaly: p.red(first, n, anomalyStream, anomalyPersistence),
		cloud:   p.red(first, n, cloudStream, cloudPersistence),
	}
}

// satellite fills values with what the satellite sees of the lake in the weeks from first on.
func (m *model) satellite(first data.Week, values []data.Chlorophyll, w weather) (anomaly []float64) {
	anomaly = blend(w.anomaly, m.place.red(first, len(values), anomalyStream, anomalyPersistence), anomalyShared)
	cloud := blend(w.cloud, m.place.red(first, len(values), cloudStream, cloudPersistence), cloudShared)
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
	return anomaly
}

// forecast fills values with the forecast for the weeks after those that satellite filled: the season, and the anomaly
// of the last clear pass, damped as the persistence of anomalies has it. A forecast knows of no clouds and no blooms.
func (m *model) forecast(first data.Week, seen []data.Chlorophyll, anomaly []float64, values []data.Chlorophyll) {
	last := len(seen) - 1
	for last >= 0 && !seen[last].Valid() {
		last--
	}
	for i := range values {
		week := first + data.Week(len(seen)+i)
		l := m.level(passDate(week))
		if last >= 0 {
			l += anomaly[last] * math.Pow(anomalyPersistence, float64(len(seen)+i-last))
		}
		values[i] = rounded(l)
	}
}

// blend adds two series of variance 1 to one of variance 1 in which the first has the given share.
func blend(shared, own []float64, share float64) []float64 {
	a, b := math.Sqrt(share), math.Sqrt(1-share)
	sum := make([]float64, len(own))
	for i := range sum {
		sum[i] = a*shared[i] + b*own[i]
	}
	return sum
}

// clearBelow returns how cloudy a week may be, in standard deviations, for the lake to be seen on d.
func clearBelow(d data.Date) float64 {
	const daysPerYear = 365.25
	summer := (1 + math.Cos(2*math.Pi*(float64(d.Time().YearDay())-midsummer)/daysPerYear)) / 2
	return cloudWinter + (cloudSummer-cloudWinter)*summer
}

// inGap reports whether w lies in one of the lake's longer gaps.
func (m *model) inGap(w data.Week) bool {
	for ago := range data.Week(maxGapWeeks) {
		if m.place.uniform(w-ago, gapStream) < gapChance && int(ago) < m.length(w-ago, gapLengthStream, minGapWeeks, maxGapWeeks) {
			return true
		}
	}
	return false
}

// bloom returns the natural logarithm of the factor by which blooms raise the level in w: 0 without any. A bloom is
// full at once and fades evenly on the logarithmic scale; where two overlap, the stronger one shows.
func (m *model) bloom(w data.Week) float64 {
	strongest := 0.0
	for ago := range data.Week(maxBloomWeeks) {
		began := w - ago
		day := passDate(began).Time().YearDay()
		chance := bloomChanceBase + bloomChanceRich*m.rich
		if day < bloomFirstDay || day > bloomLastDay || m.place.uniform(began, bloomStream) >= chance {
			continue
		}
		size := math.Log(minBloomFactor) + math.Log(maxBloomFactor/minBloomFactor)*m.place.uniform(began, bloomSizeStream)
		weeks := m.length(began, bloomLengthStream, minBloomWeeks, maxBloomWeeks)
		strongest = max(strongest, size*(1-float64(ago)/float64(weeks)))
	}
	return strongest
}

// length draws how many weeks an episode lasts that began in w, from shortest to longest.
func (m *model) length(w data.Week, s stream, shortest, longest int) int {
	return shortest + int(m.place.uniform(w, s)*float64(longest-shortest+1))
}

// rounded returns the stored form of a level given by its natural logarithm.
func rounded(level float64) data.Chlorophyll {
	c, err := data.ChlorophyllOf(min(max(math.Exp(level), minSimulated), maxSimulated))
	if err != nil {
		panic(err) // the bounds above are plausible by definition
	}
	return c
}
