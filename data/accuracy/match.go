package accuracy

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"limnomap/data"
)

// leastChlorophyll is the value in µg/l below which the logarithm of a value is not taken: values below detection are often stored as 0.
const leastChlorophyll = 0.1

// A Value is a measurement of a lake.
type Value struct {
	Date        data.Date
	Chlorophyll data.Chlorophyll
	Risk        data.Risk // by its level
}

func (v *Value) log() float64 { return math.Log(max(v.Chlorophyll.Float(), leastChlorophyll)) }

// A Match is a pass of a product and a sample of the same lake.
type Match struct {
	Lake              data.LakeID
	Product           string // the source of the pass
	Satellite, Sample Value
	// First marks one match of each sample: that of the nearest pass of all products.
	First bool
}

// Difference returns the difference of the logarithms. It is above 0 if the satellite shows more than the sample has.
func (m *Match) Difference() float64 { return m.Satellite.log() - m.Sample.log() }

// Apart returns how many days are between the pass and the sample.
func (m *Match) Apart() int {
	d := int(m.Satellite.Date) - int(m.Sample.Date)
	return max(d, -d)
}

// MatchesOf returns the matches of one lake from its observations in any order: for each day with a sample and each product the nearest pass that is at most that
// many days before or after it, of equally near ones the earlier. Of several samples of one day the highest counts. Matches are in the order of samples,
// the first match of each is that of the nearest pass; of equally near ones that of the best source (see [data.SourceOrder]).
func MatchesOf(observations []data.Observation, days int, profile *data.Profile) []Match {
	var passes, samples []*data.Observation
	for i := range observations {
		switch o := &observations[i]; {
		case !o.Usable():
		case o.Type == data.InSitu:
			samples = append(samples, o)
		default:
			passes = append(passes, o)
		}
	}
	if len(samples) == 0 || len(passes) == 0 {
		return nil
	}
	slices.SortStableFunc(samples, func(a, b *data.Observation) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(b.Chlorophyll, a.Chlorophyll), cmp.Compare(profile.LevelOf(b), profile.LevelOf(a)))
	})
	samples = slices.CompactFunc(samples, func(a, b *data.Observation) bool { return a.Date == b.Date })
	slices.SortStableFunc(passes, func(a, b *data.Observation) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), strings.Compare(a.Source, b.Source))
	})
	var matches []Match
	for _, s := range samples {
		first := len(matches)
		from, _ := slices.BinarySearchFunc(passes, s.Date-data.Date(days), func(o *data.Observation, d data.Date) int { return cmp.Compare(o.Date, d) })
		var near []*data.Observation
		for _, pass := range passes[from:] {
			if pass.Date > s.Date+data.Date(days) {
				break
			}
			near = append(near, pass)
		}
		apart := func(o *data.Observation) int { return max(int(o.Date-s.Date), int(s.Date-o.Date)) }
		slices.SortStableFunc(near, func(a, b *data.Observation) int {
			return cmp.Or(cmp.Compare(apart(a), apart(b)), cmp.Compare(rankOf(a), rankOf(b)), cmp.Compare(a.Date, b.Date))
		})
		for _, pass := range near {
			if slices.ContainsFunc(matches[first:], func(m Match) bool { return m.Product == pass.Source }) {
				continue
			}
			matches = append(matches, Match{Lake: s.LakeID, Product: pass.Source, Satellite: valueOf(pass, profile), Sample: valueOf(s, profile), First: len(matches) == first})
		}
	}
	return matches
}

// rankOf returns the place of an observation's source, which is the last without one.
func rankOf(o *data.Observation) int {
	if o.Rank == 0 {
		return math.MaxUint8 + 1
	}
	return int(o.Rank)
}

func valueOf(o *data.Observation, profile *data.Profile) Value {
	return Value{o.Date, o.Chlorophyll, profile.LevelOf(o).Risk()}
}
