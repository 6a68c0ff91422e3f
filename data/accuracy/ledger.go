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
	profile data.Profile
	lakes   []lakeMatches // ascending by id
	groups  [len(byNames)][]Group
	// Warnings compare the classes medium and high with the statements about all lakes.
	Warnings [2]Warnings
	stated   map[data.LakeID]Stated
	issues   []Issue
	// Forecasts compare those of each number of weeks ahead with what came, from one week on.
	Forecasts [data.ForecastWeeks]Forecasts
}

// lakeMatches are the matches of a lake with samples.
type lakeMatches struct {
	id      data.LakeID
	digest  data.Optional[uint64] // of the observations that they are of
	matches []Match               // shared by the ledgers between which the lake does not change
}

func (l lakeMatches) compare(id data.LakeID) int { return strings.Compare(string(l.id), string(id)) }

// at returns the index in lakes of a lake.
func (l *Ledger) at(id data.LakeID) (int, bool) {
	return slices.BinarySearchFunc(l.lakes, id, lakeMatches.compare)
}

// Comparable reports whether a ledger has matches of that many days and classes of that profile. It may be nil.
func (l *Ledger) Comparable(days int, profile *data.Profile) bool {
	return l != nil && l.Days == days && l.profile == *profile
}

// Has reports whether the ledger has the matches of the observations of a lake with that sum of [data.Observation.Digest].
func (l *Ledger) Has(id data.LakeID, digest uint64) bool {
	i, ok := l.at(id)
	return ok && l.lakes[i].digest == data.Known(digest)
}

// A Stated compares the passes of a lake with statements about it.
type Stated struct {
	Digest     data.Optional[uint64] // of the observations, if they are known to be those
	Statements []data.Advisory
	AsOf       data.Date
	Warnings   [2]Warnings
}

// StatedOf returns that of a lake; false if there are no statements about it.
func (l *Ledger) StatedOf(id data.LakeID) (s Stated, ok bool) {
	s, ok = l.stated[id]
	return s, ok
}

// A Builder receives observations and makes a Ledger.
type Builder struct {
	days    int
	profile *data.Profile
	lake    []data.Observation // those of one lake
	lakes   []lakeMatches
	stated  map[data.LakeID]Stated
	issues  []Issue
}

// NewBuilder returns a Builder for matches that are at most that many days apart.
func NewBuilder(days int, profile *data.Profile) *Builder {
	return &Builder{days: days, profile: profile, stated: make(map[data.LakeID]Stated)}
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
	if len(b.lake) > 0 {
		b.AddLake(b.lake[0].LakeID, b.lake, data.Optional[uint64]{})
	}
	b.lake = b.lake[:0]
}

// AddLake adds all observations of a lake, instead of Add, with their digest if it is known: see [Ledger.Has].
func (b *Builder) AddLake(id data.LakeID, observations []data.Observation, digest data.Optional[uint64]) {
	b.lakes = append(b.lakes, lakeMatches{id, digest, slices.Clone(MatchesOf(observations, b.days, b.profile))})
}

// Keep adds the lake of an earlier ledger, which must have it.
func (b *Builder) Keep(l *Ledger, id data.LakeID) {
	i, _ := l.at(id)
	b.lakes = append(b.lakes, l.lakes[i])
}

// AddStatements adds a comparison with statements.
func (b *Builder) AddStatements(id data.LakeID, s Stated) { b.stated[id] = s }

// AddIssue adds a compared issue of the forecast.
func (b *Builder) AddIssue(i Issue) { b.issues = append(b.issues, i) }

// Ledger returns the ledger of the observations. regionOf returns the region of a lake, and false for one that is not known. digestOf returns the digest of the
// observations of a lake that were added one by one, if it is known; it may be nil.
func (b *Builder) Ledger(regionOf func(data.LakeID) (region string, known bool), digestOf func(data.LakeID) data.Optional[uint64]) *Ledger {
	b.endLake()
	regions := make(map[data.LakeID]string)
	lakes := slices.DeleteFunc(b.lakes, func(l lakeMatches) bool {
		region, known := regionOf(l.id)
		if known {
			regions[l.id] = region
		}
		return !known
	})
	slices.SortFunc(lakes, func(a, b lakeMatches) int { return a.compare(b.id) })
	for i := range lakes {
		if l := &lakes[i]; digestOf != nil && !l.digest.Known {
			l.digest = digestOf(l.id)
		}
	}
	l := &Ledger{Days: b.days, profile: *b.profile, lakes: slices.Clip(lakes), Warnings: [2]Warnings{{Risk: data.RiskMedium}, {Risk: data.RiskHigh}}, stated: b.stated, issues: b.issues}
	for _, id := range slices.Sorted(maps.Keys(b.stated)) {
		of := b.stated[id].Warnings
		for i := range l.Warnings {
			l.Warnings[i].Add(&of[i])
		}
	}
	for i := range l.issues {
		for week := range l.Forecasts {
			l.Forecasts[week].add(&l.issues[i].Forecasts[week])
		}
	}
	var groups [len(byNames)]map[groupKey]*sums
	for by := range groups {
		groups[by] = make(map[groupKey]*sums)
	}
	for i := range lakes {
		for k := range lakes[i].matches {
			m := &lakes[i].matches[k]
			difference := m.Difference()
			for by, of := range [len(byNames)]string{ByRegion: regions[m.Lake], ByClass: m.Satellite.Risk.String(), ByLake: string(m.Lake)} {
				key := groupKey{of, m.Product}
				if groups[by][key] == nil {
					groups[by][key] = new(sums)
				}
				groups[by][key].add(m, difference)
			}
		}
	}
	for by, of := range groups {
		for _, key := range slices.SortedFunc(maps.Keys(of), groupKey.compare) {
			l.groups[by] = append(l.groups[by], Group{Product: key.product, Of: key.of, Summary: of[key].summary(), IntervalBy: By(by)})
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
func (l *Ledger) Len() (n int) {
	for i := range l.lakes {
		n += len(l.lakes[i].matches)
	}
	return n
}

// Lake returns the matches of a lake in the order of samples, and its groups: one for each product. The slices must not be changed.
func (l *Ledger) Lake(id data.LakeID) (matches []Match, groups []Group) {
	if i, ok := l.at(id); ok {
		matches = l.lakes[i].matches
	}
	from, _ := slices.BinarySearchFunc(l.groups[ByLake], string(id), func(g Group, of string) int { return strings.Compare(g.Of, of) })
	to := from
	for to < len(l.groups[ByLake]) && l.groups[ByLake][to].Of == string(id) {
		to++
	}
	return matches, l.groups[ByLake][from:to]
}

// WarningsOf returns what is known of the statements about a lake; false if there are none.
func (l *Ledger) WarningsOf(id data.LakeID) (w [2]Warnings, ok bool) {
	s, ok := l.stated[id]
	return s.Warnings, ok
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
