package table

import (
	"cmp"
	"slices"
	"sync"

	"limnomap/api/words"
	"limnomap/data"
	"limnomap/data/index"
	"limnomap/data/snapshot"
)

// AllClasses selects no class.
const AllClasses = words.Classes

// Lakes are the lakes of a snapshot in the orders of the table, in at most 12 bytes per lake; in each order the lakes of one class
// are together. They are sorted for the first request, which takes some tenths of a second for a million lakes.
type Lakes struct {
	snap  *snapshot.Snapshot
	names *index.NameIndex

	sorted  sync.Once
	byName  []int32            // by class, then by folded name
	byValue []int32            // by class, then the worst first, then by folded name
	ends    [words.Classes]int // of the classes, in both
	high    []int32            // closed lakes and those of high risk, by folded name
}

// NewLakes returns the lakes of a snapshot, which names finds by their names.
func NewLakes(snap *snapshot.Snapshot, names *index.NameIndex) *Lakes {
	return &Lakes{snap: snap, names: names}
}

// class returns the class of the i-th lake.
func (l *Lakes) class(i int32) words.Class { return words.ClassOf(l.snap.Current, int(i)) }

// sort makes the orders.
func (l *Lakes) sort() {
	l.sorted.Do(func() {
		names := l.names.ByName()
		of := make([]words.Class, len(names))
		var counts [words.Classes]int
		for i := range of {
			of[i] = l.class(int32(i))
			counts[of[i]]++
		}
		var next [words.Classes]int
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
			if counts[words.Closed] > 0 && c <= words.HighRisk {
				l.high = append(l.high, lake)
			}
		}
		if counts[words.Closed] == 0 {
			l.high = l.byName[:l.ends[words.HighRisk]]
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

// goodness returns a number that is smaller for lakes with a worse value; for lakes without a value, which come after them, with a worse
// last risk. It orders the lakes of one class.
func goodness(state *snapshot.State) uint32 {
	if state.Chlorophyll.Valid() {
		return uint32(data.MaxChlorophyll - state.Chlorophyll)
	}
	return uint32(data.MaxChlorophyll) + 1 + uint32(data.RiskHigh-state.Risk)
}

// find returns the lakes that q asks for. It reports more if the name matches more lakes than it looked at.
func (l *Lakes) find(q Query) (lakes []int32, more bool) {
	if q.Name != "" {
		return l.findNamed(q)
	}
	l.sort()
	start, end := 0, len(l.byName)
	if q.Class < words.Classes {
		if end = l.ends[q.Class]; q.Class > words.HighRisk {
			start = l.ends[q.Class-1]
		}
	}
	switch {
	case q.ByValue:
		return l.byValue[start:end], false
	case q.Class == words.Classes:
		return l.names.ByName(), false
	case q.Class == words.HighRisk:
		return l.high, false
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
		c := l.class(int32(lake))
		if q.Class == words.Classes || c == q.Class || c == words.Closed && q.Class == words.HighRisk {
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
