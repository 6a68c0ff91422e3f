package colormap

import (
	"fmt"
	"image/color"
	"math"
	"strconv"
)

// Forecast names the maps of probabilities, see [NewForecast]. It is not one of the [IDs]: no one can choose it for values.
const Forecast ID = "forecast"

// The probabilities at which the classes of the map Forecast begin after the first one. Lakes of the upper two have cores in tiles: from
// one in five on a bloom must not be overlooked, and from one in two on it is more likely than not (Mastrandrea et al., IPCC guidance note on
// uncertainties, 2010, table 1).
const (
	chance1 = 0.2
	chance2 = 0.5
)

// forecastRamp is violet, from pale to dark. More is darker. Its blue is so strong that it differs from every colour of limno by a CIE76 of
// 15 or more to red-blind, green-blind and blue-blind readers too, who see other violets as the blue of low values. The last one is bright
// enough for dark basemaps.
func forecastRamp() ramp {
	return ramp{Forecast, "Forecast", [][]color.NRGBA{hexes(0xc8a8ff, 0x8f4dff, 0x5c0fd8, 0x3c00a0)}}
}

// NewForecast returns the map of the probability that a value reaches Level1 of the limits, which the legend names. The map
// shows numbers of [OfProbability].
func NewForecast(limits Limits) *Map { return newForecast(limits, false) }

// NewHighForecast returns the map of the probability that a value reaches Level2. It differs from [NewForecast] only in its legend.
func NewHighForecast(limits Limits) *Map { return newForecast(limits, true) }

func newForecast(limits Limits, high bool) *Map {
	round := func(p float64) float64 { return math.Round(perUnit*OfProbability(p)) / perUnit }
	s, err := newScale(Limits{Level1: round(chance1), Level2: round(chance2)})
	if err != nil {
		panic(err) // the limits are constants
	}
	r := forecastRamp()
	return &Map{ID: r.id, Title: r.title, Min: scaleMin, Max: scaleMax, limits: limits, high: high, scale: s, table: r.table(s)}
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
			// The thresholds are rounded, so these are too.
			percent := math.Round(1000*probabilityOf(m.Threshold(i))) / 10
			l.Steps[i].From, l.Steps[i-1].To = &percent, &percent
		}
	}
	edges := [classes + 1]float64{0, 100 * chance1, 100 * chance2, 100}
	for c := range classes {
		class := ForecastClass{Label: fmt.Sprintf("%v to below %v %%", edges[c], edges[c+1]), From: edges[c], To: edges[c+1]}
		switch c {
		case 0:
			class.Label = fmt.Sprintf("below %v %%", edges[1])
		case classes - 1:
			class.Label = fmt.Sprintf("%v %% or more", edges[c])
		}
		for _, step := range m.table[m.scale.first[c]:m.scale.first[c+1]] {
			class.Colors = append(class.Colors, Hex(step))
		}
		class.Color = class.Colors[len(class.Colors)/2]
		l.Classes = append(l.Classes, class)
	}
	return l
}
