package table

import (
	"cmp"
	"slices"
	"sync"

	"limnomap/data"
	"limnomap/data/index"
)

// A Class is what the table says about a lake in one word: its risk, or that it has no current value, whatever its last risk.
type Class uint8

const (
	highRisk Class = iota // the worst first
	mediumRisk
	lowRisk
	noValue
	classes // how many there are

	// AllClasses selects no class.
	AllClasses = classes
)

// ClassNames are the classes in addresses and templates.
var ClassNames = [classes]string{highRisk: "high", mediumRisk: "medium", lowRisk: "low", noValue: "none"}

// classOf returns the class of a lake. If a level was reported that differs from the level of the chlorophyll value, the worse
// of the two counts, as on the map.
func classOf(state *data.State, profile *data.Profile) Class {
	if !state.Chlorophyll.Valid() {
		return noValue
	}
	switch max(state.Risk, profile.Level(state.Chlorophyll).Risk()) {
	case data.RiskHigh:
		return highRisk
	case data.RiskMedium:
		return mediumRisk
	}
	return lowRisk
}

// Lakes are the lakes of a snapshot in the orders of the table, in 8 bytes per lake; in each order the lakes of one class are
// together. They are sorted for the first request, which takes some tenths of a second for a million lakes.
type Lakes struct {
	snap  *data.Snapshot
	names *index.NameIndex

	sorted  sync.Once
	byName  []int32      // by class, then by folded name
	byValue []int32      // by class, then the worst first, then by folded name
	ends    [classes]int // of the classes, in both
}

// NewLakes returns the lakes of a snapshot, which names finds by their names.
func NewLakes(snap *data.Snapshot, names *index.NameIndex) *Lakes {
	return &Lakes{snap: snap, names: names}
}

// class returns the class of the i-th lake.
func (l *Lakes) class(i int32) Class { return classOf(&l.snap.Current.States[i], l.snap.Profile) }

// sort makes the orders.
func (l *Lakes) sort() {
	l.sorted.Do(func() {
		names := l.names.ByName()
		of := make([]Class, len(names))
		var counts [classes]int
		for i := range of {
			of[i] = l.class(int32(i))
			counts[of[i]]++
		}
		var next [classes]int
		end := 0
		for c, n := range counts {
			next[c] = end
			end += n
			l.ends[c] = end
		}
		l.byName = make([]int32, len(names))
		for _, lake := range names {
			c := of[lake]
			l.byName[next[c]] = lake
			next[c]++
		}
		l.byValue = l.sortedByValue()
	})
}

// sortedByValue returns the lakes of byName, each class sorted by value.
func (l *Lakes) sortedByValue() []int32 {
	keys := make([]uint64, len(l.byName)) // goodness in the upper half, position by name in the lower
	for position, lake := range l.byName {
		keys[position] = uint64(goodness(&l.snap.Current.States[lake]))<<32 | uint64(position)
	}
	sorted := make([]int32, len(l.byName))
	start := 0
	for _, end := range l.ends {
		slices.Sort(keys[start:end])
		for i := start; i < end; i++ {
			sorted[i] = l.byName[uint32(keys[i])]
		}
		start = end
	}
	return sorted
}

// goodness returns a number that is smaller for lakes with a worse value; for lakes without a value, with a worse last risk.
// It orders the lakes of one class.
func goodness(state *data.State) uint32 {
	if state.Chlorophyll.Valid() {
		return uint32(data.MaxChlorophyll - state.Chlorophyll)
	}
	return uint32(data.RiskHigh - state.Risk)
}

// find returns the lakes that q asks for. It reports more if the name matches more lakes than it looked at.
func (l *Lakes) find(q Query) (lakes []int32, more bool) {
	if q.Name != "" {
		return l.findNamed(q)
	}
	l.sort()
	start, end := 0, len(l.byName)
	if q.Class < classes {
		if end = l.ends[q.Class]; q.Class > 0 {
			start = l.ends[q.Class-1]
		}
	}
	switch {
	case q.ByValue:
		return l.byValue[start:end], false
	case q.Class == classes:
		return l.names.ByName(), false
	}
	return l.byName[start:end], false
}

// findNamed returns the lakes that q names, the best match first or the worst value.
func (l *Lakes) findNamed(q Query) (lakes []int32, more bool) {
	if !index.Searchable(q.Name) {
		return nil, false
	}
	found := l.names.Find(q.Name, maxMatches+1)
	if more = len(found) > maxMatches; more {
		found = found[:maxMatches]
	}
	for _, lake := range found {
		if q.Class == classes || l.class(int32(lake)) == q.Class {
			lakes = append(lakes, int32(lake))
		}
	}
	if q.ByValue {
		key := func(lake int32) uint64 {
			return uint64(l.class(lake))<<32 | uint64(goodness(&l.snap.Current.States[lake]))
		}
		slices.SortStableFunc(lakes, func(a, b int32) int { return cmp.Compare(key(a), key(b)) })
	}
	return lakes, more
}
