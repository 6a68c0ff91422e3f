package colormap

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Forecast names the maps of probabilities, see [NewForecast]. It is not one of the [IDs]: no one can choose it for values.
const Forecast ID = "forecast"

// A chance is a class of the map Forecast: the probability at which it begins, how many of the Steps it has, and their colour.
type chance struct {
	from  float64
	steps int
	color uint32
}

// fieldClasses are the indexes of the chances that begin the second and the third class of the heat field. Lakes of both have cores in tiles.
var fieldClasses = [...]int{2, 3}

// chances returns the classes of the map Forecast. Below one in ten is very unlikely, and from one in two on it is more likely than not
// (Mastrandrea et al., IPCC guidance note on uncertainties, 2010, table 1). From one in five on a bloom must not be overlooked; four in five is the
// opposite of that. Of values in [Steps] steps, those of a class are about equally wide.
//
// The colours are violet, found by simulated annealing: more is darker. They differ by a CIE76 of 13 or more from their neighbours, and of 15 or more from
// every colour of limno and from no data, to red-blind, green-blind and blue-blind readers too, who see other violets as the blue of low values. As opaque as
// the heat map at most, they differ by 25 or more from white and from a dark basemap, whose lightness the last one exceeds by 15: between that and the paler violets
// that look like low values there is room for steps of 6 to 8 only, so that the hue and the chroma change with them.
func chances() []chance {
	return []chance{{0, 3, 0xc081c6}, {0.1, 3, 0x9771ce}, {0.2, 11, 0x7d51e6}, {0.5, 9, 0x7d44bc}, {0.8, 6, 0x852191}}
}

// NewForecast returns the map of the probability that a value reaches Level1 of the limits, which the legend names. The map
// shows numbers of [OfProbability].
func NewForecast(limits Limits) *Map { return newForecast(limits, false) }

// NewHighForecast returns the map of the probability that a value reaches Level2. It differs from [NewForecast] only in its legend.
func NewHighForecast(limits Limits) *Map { return newForecast(limits, true) }

func newForecast(limits Limits, high bool) *Map {
	m := &Map{ID: Forecast, Title: "Forecast", Min: scaleMin, Max: scaleMax, limits: limits, high: high, bands: []int{0}}
	all, first := chances(), 0
	for c, class := range all {
		to := 1.0
		if c+1 < len(all) {
			to = all[c+1].from
		}
		if k := slices.Index(fieldClasses[:], c); k >= 0 {
			m.scale.first[k+1] = first
		}
		for k := range class.steps {
			p := class.from + (to-class.from)*float64(k)/float64(class.steps)
			m.scale.thresholds[first+k] = math.Round(perUnit*OfProbability(p)) / perUnit
			m.table[first+k] = hexes(class.color)[0]
		}
		first += class.steps
		m.bands = append(m.bands, first)
	}
	m.scale.first[classes], m.scale.thresholds[0] = first, 0
	return m
}

// OfProbability returns the number whose colour a map of [NewForecast] has for a probability from 0 to 1. Its logarithm is proportional to the
// probability: so the mean of logarithms that heat maps show is the mean of probabilities.
func OfProbability(p float64) float64 { return scaleMin * math.Pow(scaleMax/scaleMin, p) }

// probabilityOf is the inverse of OfProbability.
func probabilityOf(v float64) float64 { return math.Log(v/scaleMin) / math.Log(scaleMax/scaleMin) }

// A ForecastLegend describes the map of probabilities. It marshals to JSON (the body of legend.json?forecast=1).
type ForecastLegend struct {
	Colormap ID     `json:"colormap"`
	Title    string `json:"title"`
	Quantity string `json:"quantity"`
	Unit     string `json:"unit"`
	Scale    string `json:"scale"`
	// Min and Max are the ends of the scale in %.
	Min     float64 `json:"min"`
	Max     float64 `json:"max"`
	Profile string  `json:"profile,omitempty"`
	// Limit is the chlorophyll-a in µg/l whose probability is shown.
	Limit   float64         `json:"limit_ug_l"`
	Pattern string          `json:"pattern"`
	Steps   []LegendStep    `json:"steps"`
	Classes []ForecastClass `json:"classes"`
	NoData  LegendNoData    `json:"no_data"`
	Note    string          `json:"note"`
}

// A ForecastClass is a range of probabilities: From <= p < To, in %. The last one includes its end.
type ForecastClass struct {
	Label  string   `json:"label"`
	From   float64  `json:"from"`
	To     float64  `json:"to"`
	Color  string   `json:"color"`
	Colors []string `json:"colors"`
}

// forecastNote says what a forecast is worth.
const forecastNote = "A statistical forecast from each lake's earlier values, not a measurement. It knows no weather, and cannot tell whether cyanobacteria dominate."

// High reports whether the map shows the probability that a value reaches Level2.
func (m *Map) High() bool { return m.high }

// ForecastLegend returns the legend of a map of [NewForecast].
func (m *Map) ForecastLegend() ForecastLegend {
	reaches := "reaches"
	if m.limits.Above {
		reaches = "is above"
	}
	title, limit := "Forecast: chance of medium or high risk", m.limits.Level1
	if m.high {
		title, limit = "Forecast: chance of high risk", m.limits.Level2
	}
	l := ForecastLegend{
		Colormap: m.ID,
		Title:    title,
		Quantity: "probability that chlorophyll-a " + reaches + " " + strconv.FormatFloat(limit, 'f', -1, 64) + " µg/l",
		Unit:     "%",
		Scale:    "linear",
		Min:      0,
		Max:      100,
		Profile:  m.limits.Title,
		Limit:    limit,
		Pattern:  "hatched",
		Steps:    make([]LegendStep, Steps),
		NoData:   LegendNoData{Color: Hex(NoData()), Label: "withheld or no forecast"},
		Note:     forecastNote,
	}
	for i, c := range m.table {
		l.Steps[i].Color = Hex(c)
		if i > 0 {
			// The thresholds are rounded, so these are too, except where a class begins.
			percent := math.Round(1000*probabilityOf(m.Threshold(i))) / 10
			if c := slices.Index(m.bands, i); c > 0 {
				percent = 100 * chances()[c].from
			}
			l.Steps[i].From, l.Steps[i-1].To = &percent, &percent
		}
	}
	all := chances()
	for c, colors := range m.Bands() {
		class := ForecastClass{From: 100 * all[c].from, To: 100}
		if c+1 < len(all) {
			class.To = 100 * all[c+1].from
		}
		class.Label = fmt.Sprintf("%v to below %v %%", class.From, class.To)
		switch c {
		case 0:
			class.Label = fmt.Sprintf("below %v %%", class.To)
		case len(all) - 1:
			class.Label = fmt.Sprintf("%v %% or more", class.From)
		}
		for _, step := range colors {
			class.Colors = append(class.Colors, Hex(step))
		}
		class.Color = class.Colors[0]
		l.Classes = append(l.Classes, class)
	}
	return l
}
