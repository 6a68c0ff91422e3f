package accuracy

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"limnomap/data"
)

// A By says what the matches of a group have in common, besides their product.
type By uint8

const (
	ByProduct By = iota // nothing else
	ByRegion
	ByClass // the risk that the satellite shows
	ByLake
)

var byNames = [...]string{ByProduct: "product", ByRegion: "region", ByClass: "class", ByLake: "lake"}

// AllBy returns the names of all groups, the default first.
func AllBy() []string { return byNames[:] }

// String returns the name of the group.
func (b By) String() string { return byNames[b] }

// A Group is what is known of the matches of a product, or of some of them.
type Group struct {
	Product string
	Of      string // the region, the class or the lake; empty for all
	Summary
	// IntervalBy says whose matches the interval is from: a lake or a region with too few has that of its region or product.
	IntervalBy By
}

// A Ledger is all matches of all lakes. It is immutable.
type Ledger struct {
	Days    int // apart at most
	matches []Match
	groups  [len(byNames)][]Group
	// Warnings compare the classes medium and high with the statements about all lakes.
	Warnings [2]Warnings
	warned   map[data.LakeID][2]Warnings
	// Forecasts compare those of each number of weeks ahead with what came, from one week on.
	Forecasts [data.ForecastWeeks]Forecasts
}

// A Builder receives observations and makes a Ledger.
type Builder struct {
	days      int
	profile   *data.Profile
	lake      []data.Observation // those of one lake
	matches   []Match
	warned    map[data.LakeID][2]Warnings
	forecasts [data.ForecastWeeks]Forecasts
}

// NewBuilder returns a Builder for matches that are at most that many days apart.
func NewBuilder(days int, profile *data.Profile) *Builder {
	return &Builder{days: days, profile: profile, warned: make(map[data.LakeID][2]Warnings)}
}

// Add adds the next observation. Those of a lake must follow each other.
func (b *Builder) Add(o data.Observation) error {
	if len(b.lake) > 0 && b.lake[0].LakeID != o.LakeID {
		b.endLake()
	}
	b.lake = append(b.lake, o)
	return nil
}

func (b *Builder) endLake() {
	b.matches = append(b.matches, MatchesOf(b.lake, b.days, b.profile)...)
	b.lake = b.lake[:0]
}

// AddStatements compares the passes of a lake with the statements about it: see [WarningsOf].
func (b *Builder) AddStatements(id data.LakeID, observations []data.Observation, statements []data.Advisory, asOf data.Date) {
	b.warned[id] = WarningsOf(observations, statements, b.profile, asOf)
}

// AddForecast compares a forecast of some weeks ahead, from 1 on, with the pass that came.
func (b *Builder) AddForecast(week int, forecast data.StoredForecast, came *data.Observation) {
	b.forecasts[week-1].Add(forecast, valueOf(came, b.profile), b.profile)
}

// Forecasts returns the comparisons of forecasts, by weeks ahead from one on.
func (b *Builder) Forecasts() [data.ForecastWeeks]Forecasts { return b.forecasts }

// Ledger returns the ledger of the observations. regionOf returns the region of a lake, and false for one that is not known.
func (b *Builder) Ledger(regionOf func(data.LakeID) (region string, known bool)) *Ledger {
	b.endLake()
	regions := make(map[data.LakeID]string)
	matches := slices.DeleteFunc(b.matches, func(m Match) bool {
		_, seen := regions[m.Lake]
		if seen {
			return false
		}
		region, known := regionOf(m.Lake)
		if known {
			regions[m.Lake] = region
		}
		return !known
	})
	slices.SortStableFunc(matches, func(a, b Match) int { return strings.Compare(string(a.Lake), string(b.Lake)) })
	l := &Ledger{Days: b.days, matches: slices.Clip(matches), Warnings: [2]Warnings{{Risk: data.RiskMedium}, {Risk: data.RiskHigh}}, warned: b.warned, Forecasts: b.forecasts}
	for _, id := range slices.Sorted(maps.Keys(b.warned)) {
		of := b.warned[id]
		for i := range l.Warnings {
			l.Warnings[i].Add(&of[i])
		}
	}
	for by := range l.groups {
		of := make(map[groupKey][]Match)
		for _, m := range matches {
			key := groupKey{product: m.Product}
			switch By(by) {
			case ByRegion:
				key.of = regions[m.Lake]
			case ByClass:
				key.of = m.Satellite.Risk.String()
			case ByLake:
				key.of = string(m.Lake)
			}
			of[key] = append(of[key], m)
		}
		for _, key := range slices.SortedFunc(maps.Keys(of), groupKey.compare) {
			l.groups[by] = append(l.groups[by], Group{Product: key.product, Of: key.of, Summary: Summarize(of[key]), IntervalBy: By(by)})
		}
	}
	l.lendIntervals(regions)
	return l
}

type groupKey struct{ of, product string }

func (k groupKey) compare(other groupKey) int {
	return cmp.Or(strings.Compare(k.of, other.of), strings.Compare(k.product, other.product))
}

// lendIntervals gives lakes and regions without an interval that of their region or product.
func (l *Ledger) lendIntervals(regions map[data.LakeID]string) {
	for by, groups := range l.groups {
		for i := range groups {
			g := &groups[i]
			lenders := []*Group{l.group(ByProduct, "", g.Product)}
			switch By(by) {
			case ByLake:
				lenders = slices.Insert(lenders, 0, l.group(ByRegion, regions[data.LakeID(g.Of)], g.Product))
			case ByProduct, ByClass: // the interval of all values is not that of the high ones
				continue
			}
			for _, lender := range lenders {
				if !g.Interval.Known && lender.Interval.Known {
					g.Interval, g.IntervalBy = lender.Interval, lender.IntervalBy
				}
			}
		}
	}
}

// group returns a group, or nil.
func (l *Ledger) group(by By, of, product string) *Group {
	groups := l.groups[by]
	i, ok := slices.BinarySearchFunc(groups, groupKey{of, product}, func(g Group, key groupKey) int { return groupKey{g.Of, g.Product}.compare(key) })
	if !ok {
		return nil
	}
	return &groups[i]
}

// Groups returns all groups of one kind, in the order of what they are of, then of the product. The slice must not be changed.
func (l *Ledger) Groups(by By) []Group { return l.groups[by] }

// Len returns the number of matches.
func (l *Ledger) Len() int { return len(l.matches) }

// Lake returns the matches of a lake in the order of samples, and its groups: one for each product. The slices must not be changed.
func (l *Ledger) Lake(id data.LakeID) (matches []Match, groups []Group) {
	byID := func(m Match, id data.LakeID) int { return strings.Compare(string(m.Lake), string(id)) }
	first, _ := slices.BinarySearchFunc(l.matches, id, byID)
	last := first
	for last < len(l.matches) && l.matches[last].Lake == id {
		last++
	}
	from, _ := slices.BinarySearchFunc(l.groups[ByLake], string(id), func(g Group, of string) int { return strings.Compare(g.Of, of) })
	to := from
	for to < len(l.groups[ByLake]) && l.groups[ByLake][to].Of == string(id) {
		to++
	}
	return l.matches[first:last], l.groups[ByLake][from:to]
}

// WarningsOf returns what is known of the statements about a lake; false if there are none.
func (l *Ledger) WarningsOf(id data.LakeID) (w [2]Warnings, ok bool) {
	w, ok = l.warned[id]
	return w, ok
}

// FirstOf returns the summary of the first match of each sample, all products together.
func FirstOf(matches []Match) Summary {
	return Summarize(slices.DeleteFunc(slices.Clone(matches), func(m Match) bool { return !m.First }))
}

// Biases returns how many lakes have a bias in the values of a product.
func (l *Ledger) Biases(product string) (lakes int) {
	for i := range l.groups[ByLake] {
		if g := &l.groups[ByLake][i]; g.Product == product && g.Biased {
			lakes++
		}
	}
	return lakes
}
