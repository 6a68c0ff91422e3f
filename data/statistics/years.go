package statistics

import (
	"slices"
	"time"

	"limnomap/data"
)

const (
	// A year has statistics with that many values, in that many months.
	yearValues = 8
	yearMonths = 5
	// holdDays is how many days a value counts for, unless a newer one comes: so long it is shown as new (see snapshot.OldAfter).
	holdDays = 14
	// bloomThreshold is the factor of the median of a year above which the bloom season is: Siegel, Doney and Yoder: The North Atlantic spring phytoplankton
	// bloom and Sverdrup's critical depth hypothesis. Science 296 (2002), page 730: "when phytoplankton concentrations first rise 5 % above the annual median".
	bloomThreshold = 1.05
	// bloomGap is how many days without a value end a bloom season.
	bloomGap = 45
)

// A Year is what is known of a lake in one year.
type Year struct {
	Year, Values int
	// Weeks are how many ISO weeks have a newest value of each level, 0 to 3, and Days how many days are of one, each value for at most 14 days.
	Weeks, Days       [data.MaxLevel + 1]int
	Mean, Median, Max float64
	MaxDate           data.Date
	Trophic           data.Trophic // of the mean
	// Onset and End are the first and the last day of the bloom season: the values around the highest one that are more than 5 % above the median.
	Onset, End data.Date
}

// Length returns the days of the bloom season.
func (y *Year) Length() int { return int(y.End-y.Onset) + 1 }

// YearsOf returns the years with at least 8 values in 5 months, in ascending order. No day after asOf counts.
func YearsOf(values []Value, profile *data.Profile, asOf data.Date) []Year {
	var years []Year
	for len(values) > 0 {
		year, n := yearOf(values[0].Date), 1
		for n < len(values) && yearOf(values[n].Date) == year {
			n++
		}
		if y, ok := newYear(year, values[:n], profile); ok {
			end := min(data.DateOf(time.Date(year+1, 1, 1, 0, 0, 0, 0, time.UTC)), asOf+1)
			if n < len(values) {
				end = min(end, values[n].Date)
			}
			y.count(values[:n], profile, end)
			years = append(years, y)
		}
		values = values[n:]
	}
	return years
}

func newYear(year int, values []Value, profile *data.Profile) (y Year, ok bool) {
	months := 0
	for i, v := range values {
		if i == 0 || monthOf(v.Date) != monthOf(values[i-1].Date) {
			months++
		}
	}
	if len(values) < yearValues || months < yearMonths {
		return y, false
	}
	y.Year, y.Values = year, len(values)
	sorted := slices.Sorted(slices.Values(chlorophylls(values)))
	y.Median = quantile(sorted, 0.5)
	sum, most := 0.0, 0
	for i, v := range values {
		sum += v.Chlorophyll
		if v.Chlorophyll > values[most].Chlorophyll {
			most = i
		}
	}
	y.Mean, y.Max, y.MaxDate = sum/float64(len(values)), values[most].Chlorophyll, values[most].Date
	y.Trophic = data.OECDClass(int64(data.HundredthsOf(sum)), int64(len(values)))
	y.setBloom(values, most)
	return y, true
}

// count counts weeks and days by level. The last value counts for days before end.
func (y *Year) count(values []Value, profile *data.Profile, end data.Date) {
	for i, v := range values {
		c, _ := data.ChlorophyllOf(v.Chlorophyll) // it is one
		level, next, newest := profile.Level(c), end, true
		if i+1 < len(values) {
			next = values[i+1].Date
			newest = next.Week() != v.Date.Week()
		}
		y.Days[level] += max(min(holdDays, int(next-v.Date)), 0)
		if newest {
			y.Weeks[level]++
		}
	}
}

// setBloom sets the season around the highest value.
func (y *Year) setBloom(values []Value, most int) {
	threshold := bloomThreshold * y.Median
	first, last := most, most
	for first > 0 && values[first-1].Chlorophyll > threshold && values[first].Date-values[first-1].Date <= bloomGap {
		first--
	}
	for last+1 < len(values) && values[last+1].Chlorophyll > threshold && values[last+1].Date-values[last].Date <= bloomGap {
		last++
	}
	y.Onset, y.End = values[first].Date, values[last].Date
}
