package lakepage

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"limnomap/api/words"
	"limnomap/data"
	"limnomap/data/linetext"
)

// The coordinates of the chart: its size, and the edges of the plot area. Beside it are the numbers of the axis and the names of the
// classes.
const (
	chartWidth, chartHeight = 360, 200
	left, right             = 34.0, 300.0
	top, bottom             = 8.0, 176.0
)

const (
	minSpan     = 56 // days of the time axis
	maxMonths   = 5  // named below the axis
	labelHeight = 10
)

// monthSteps are the distances of named months: the first with which there are at most maxMonths.
var monthSteps = []int{1, 3, 6, 12, 24}

// A chart is the history of a lake: chlorophyll over time on a logarithmic axis, above the bands of the risk classes, as on the map.
type chart struct {
	Width, Height int
	Title, Text   string
	Bands         []band
	Ticks         []tick

	Usual   string // path of the usual values through the year
	Line    string // path that joins the values of satellites in consecutive weeks
	Dots    string // path of their points
	Squares string // path of samples
	Worse   string // path of signs: the risk was worse than the value
}

// A band is a class of risk.
type band struct{ Color, Path, Name, X, Y string }

// A tick is a limit of a class or a month, with its label.
type tick struct{ Path, Class, Name, X, Y string }

// newChart draws the history, or returns nil if it has no value.
func (m *Maker) newChart(l *Lake, today data.Date, w *words.Page[ownWords]) *chart {
	var oldest, newest *data.Observation
	n := 0
	low, high := data.MaxChlorophyll, data.Chlorophyll(0)
	for i := range l.History {
		o := &l.History[i]
		if !counts(o) {
			continue
		}
		if newest == nil {
			newest = o
		}
		oldest = o
		low, high = min(low, o.Chlorophyll), max(high, o.Chlorophyll)
		n++
	}
	if n == 0 {
		return nil
	}
	last := max(today, newest.Date)
	s := scales{
		first: float64(min(oldest.Date, last-minSpan)), last: float64(last),
		min: m.legend.Min, max: max(m.legend.Max, niceAbove(high.Float())),
	}
	c := &chart{
		Width: chartWidth, Height: chartHeight,
		Title: words.Fill(w.Own.ChartTitle, "lake", linetext.Isolate(words.NameOf(&l.Snapshot.Lakes[l.Index]))),
		Text: words.Fill(w.Own.ChartText, "n", w.Plural(w.Own.Values, n), "first", w.Day(oldest.Date), "last", w.Day(newest.Date),
			"low", w.Value(low, l.Snapshot.Profile), "high", w.Value(high, l.Snapshot.Profile)),
	}
	m.addClasses(c, &s, w)
	c.addMonths(&s, w)
	c.addUsual(l.Known.Band, &s)
	c.addValues(l, &s)
	return c
}

// niceAbove returns the next 1, 2 or 5 times a power of ten.
func niceAbove(value float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(max(value, 1))))
	for _, factor := range []float64{1, 2, 5} {
		if nice := factor * power; value <= nice {
			return nice
		}
	}
	return 10 * power
}

// scales turn days and values into coordinates.
type scales struct{ first, last, min, max float64 }

func (s *scales) x(day data.Date) float64 {
	return left + 4 + (float64(day)-s.first)/(s.last-s.first)*(right-left-8)
}

// y returns the height of a value. What is below the axis is at its end.
func (s *scales) y(value float64) float64 {
	share := math.Log(max(value, s.min)/s.min) / math.Log(s.max/s.min)
	return bottom - min(share, 1)*(bottom-top)
}

// addClasses draws the bands of the classes and the limits between them.
func (m *Maker) addClasses(c *chart, s *scales, w *words.Page[ownWords]) {
	addTick := func(value float64) {
		y := s.y(value)
		c.Ticks = append(c.Ticks, tick{
			Path: "M" + coordinates(left, y) + "H" + coordinate(right), Class: "tick",
			Name: w.Number(strconv.FormatFloat(value, 'f', -1, 64)), X: coordinate(left - 4), Y: coordinate(y + 4),
		})
	}
	addTick(s.min)
	highest := bottom
	for _, class := range m.legend.Classes {
		from, to := s.min, s.max
		if class.From != nil {
			from = *class.From
		}
		if class.To != nil {
			to = *class.To
			addTick(to)
			highest = s.y(to)
		}
		y1, y2 := s.y(to), s.y(from)
		c.Bands = append(c.Bands, band{
			Color: class.Color,
			Path:  fmt.Sprintf("M%s H%s V%s H%s z", coordinates(left, y1), coordinate(right), coordinate(y2), coordinate(left)),
			Name:  w.RiskShort[class.Risk], X: coordinate(right + 5), Y: coordinate((y1+y2)/2 + 4),
		})
	}
	if highest-top > labelHeight {
		addTick(s.max)
	}
}

// addMonths names months below the axis; January has the name of its year.
func (c *chart) addMonths(s *scales, w *words.Page[ownWords]) {
	months := func(day float64) int {
		t := data.Date(day).Time()
		return t.Year()*12 + int(t.Month()) - 1
	}
	from, to := months(s.first), months(s.last)
	step := monthSteps[len(monthSteps)-1]
	for _, fits := range monthSteps {
		if (to-from)/fits <= maxMonths {
			step = fits
			break
		}
	}
	for month := (from/step + 1) * step; month <= to; month += step {
		year, of := month/12, month%12
		x := s.x(data.DateOf(time.Date(year, time.Month(of+1), 1, 0, 0, 0, 0, time.UTC)))
		name := strconv.Itoa(year)
		if of > 0 {
			name = w.Format.MonthsShort[of]
		}
		c.Ticks = append(c.Ticks, tick{
			Path: "M" + coordinates(x, bottom) + "v4", Class: "month", Name: name, X: coordinate(x), Y: coordinate(bottom + 16),
		})
	}
}

// addValues draws the values. The line has a gap where a week has no value.
func (c *chart) addValues(l *Lake, s *scales) {
	var line, dots, squares, worse []byte
	var before data.Week
	joins := false
	for i := len(l.History) - 1; i >= 0; i-- { // the oldest first
		o := &l.History[i]
		if !counts(o) {
			joins = joins && o.Type == data.InSitu // a gap of a satellite
			continue
		}
		at := coordinates(s.x(o.Date), s.y(o.Chlorophyll.Float()))
		if o.Type == data.InSitu {
			squares = append(squares, "M"+at+"m-3-3h6v6h-6z"...)
		} else {
			if joins && o.Date.Week()-before <= 1 {
				line = append(line, "L"+at...)
			} else {
				line = append(line, "M"+at...)
			}
			joins, before = true, o.Date.Week()
			dots = append(dots, "M"+at+"h0"...)
		}
		level, _ := l.Snapshot.Profile.Classify(*o)
		if basis := l.Snapshot.Profile.Basis(level, o.Chlorophyll, o.CellDensity); basis == data.ByCells || basis == data.ByReport {
			worse = append(worse, "M"+at+"m0-14l5 5l-5 5l-5-5z"...)
		}
	}
	c.Line, c.Dots, c.Squares, c.Worse = string(line), string(dots), string(squares), string(worse)
}

// coordinate returns a number as paths have it.
func coordinate(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

func coordinates(x, y float64) string { return coordinate(x) + " " + coordinate(y) }
