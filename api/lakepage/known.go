package lakepage

import (
	"math"
	"slices"
	"strconv"

	"limnomap/api/words"
	"limnomap/data"
	"limnomap/data/statistics"
)

// Known is what is known of a lake from all its values. The zero Known has nothing.
type Known struct {
	Band   []statistics.BandPoint
	Newest statistics.Value
	Place  data.Optional[statistics.Place] // of the newest value
	Years  []statistics.Year
	Trend  data.Optional[statistics.Trend]
}

// KnownOf returns what is known from the observations of a lake, up to the day asOf.
func KnownOf(observations []data.Observation, profile *data.Profile, asOf data.Date) (k Known) {
	values := statistics.ValuesOf(observations, statistics.Together)
	if len(values) == 0 {
		return k
	}
	k.Band, k.Newest, k.Years = statistics.Band(values), values[len(values)-1], statistics.YearsOf(values, profile, asOf)
	k.Place.Value, k.Place.Known = statistics.PlaceOf(values, k.Newest)
	k.Trend.Value, k.Trend.Known = statistics.TrendOf(values)
	return k
}

// texts returns what the page says about it: where the current value stands, and the trend if there is one.
func (k *Known) texts(current bool, w *words.Page[ownWords]) (texts []string) {
	if p := k.Place.Value; k.Place.Known && current {
		text, n := w.Own.HigherThan, p.Lower
		if p.Higher > p.Lower {
			text, n = w.Own.LowerThan, p.Higher
		}
		texts = append(texts, words.Fill(text, "date", w.Day(k.Newest.Date), "n", w.Count(n), "years", w.Count(p.Years)))
	}
	if t := k.Trend.Value; k.Trend.Known && t.Significant() && t.Slope != 0 {
		text := w.Own.Rose
		if t.Slope < 0 {
			text = w.Own.Fell
		}
		texts = append(texts, words.Fill(text, "first", strconv.Itoa(t.First), "last", strconv.Itoa(t.Last), "slope", w.Number(strconv.FormatFloat(math.Abs(t.Slope), 'g', 2, 64))))
	}
	return texts
}

// The coordinates of the bars of years.
const (
	barsHeight         = 96
	barsTop, barsFloor = 14.0, 78.0
	maxBars            = 10
	barStep            = 32.0
)

// bars show the weeks of years with many algae.
type bars struct {
	Width, Height int
	Text          string // the same in words
	Years         []bar
}

// A bar is a year: the weeks with medium risk, and above them those with high risk.
type bar struct{ X, Year, Count, CountY, Medium, High string }

// barY returns the height of a number of weeks.
func barY(weeks int) float64 { return barsFloor - (barsFloor-barsTop)*float64(weeks)/53 }

// newBars draws the newest years, or returns nil without any.
func newBars(years []statistics.Year, w *words.Page[ownWords]) *bars {
	years = years[max(0, len(years)-maxBars):]
	if len(years) == 0 {
		return nil
	}
	b := &bars{Width: int(barStep) * len(years), Height: barsHeight}
	for i, y := range years {
		var weeks [data.RiskHigh + 1]int
		for level, n := range y.Weeks {
			weeks[data.Level(level).Risk()] += n
		}
		many := weeks[data.RiskMedium] + weeks[data.RiskHigh]
		left := float64(i) * barStep
		rectangle := func(from, to int) string {
			if from == to {
				return ""
			}
			return "M" + coordinates(left+5, barY(from)) + "H" + coordinate(left+barStep-5) + "V" + coordinate(barY(to)) + "H" + coordinate(left+5) + "z"
		}
		b.Years = append(b.Years, bar{
			X: coordinate(left + barStep/2), Year: strconv.Itoa(y.Year), Count: strconv.Itoa(many),
			CountY: coordinate(barY(many) - 3),
			Medium: rectangle(0, weeks[data.RiskMedium]), High: rectangle(weeks[data.RiskMedium], many),
		})
		if i > 0 {
			b.Text += "; "
		}
		b.Text += words.Fill(w.Own.BloomYear, "year", strconv.Itoa(y.Year), "n", w.Count(many), "weeks", w.Count(weeks[data.RiskLow]+many))
	}
	return b
}

// addUsual draws what is usual at each time of the year behind the values: between which values four of five are.
func (c *chart) addUsual(points []statistics.BandPoint, s *scales) {
	if len(points) == 0 {
		return
	}
	var upper, lower []string
	end := func() {
		if len(upper) > 1 {
			slices.Reverse(lower)
			c.Usual += "M"
			for i, at := range slices.Concat(upper, lower) {
				if i > 0 {
					c.Usual += "L"
				}
				c.Usual += at
			}
			c.Usual += "z"
		}
		upper, lower = nil, nil
	}
	var before data.Date
	for year := data.Date(s.first).Time().Year(); year <= data.Date(s.last).Time().Year(); year++ {
		for i := range points {
			p := &points[i]
			date := p.In(year)
			if float64(date) < s.first || float64(date) > s.last {
				continue
			}
			if date-before > statistics.MaxBandStep {
				end()
			}
			before = date
			upper, lower = append(upper, coordinates(s.x(date), s.y(p.P90))), append(lower, coordinates(s.x(date), s.y(p.P10)))
		}
	}
	end()
}
