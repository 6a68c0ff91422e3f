package api

import (
	"slices"
	"sync"

	"limnomap/data"
)

// A class is what a table says of a lake in one word: its risk, or that it has no current value, whatever its risk was.
type class uint8

const (
	highRisk class = iota // the worst first
	mediumRisk
	lowRisk
	noValue
	classes // how many there are
)

// classNames are the classes in addresses and templates.
var classNames = [classes]string{highRisk: "high", mediumRisk: "medium", lowRisk: "low", noValue: "none"}

// classOf returns the class of a lake in that state. Where a level was reported that differs from what its chlorophyll
// tells, the worse of the two counts, as on the page.
func classOf(state *data.State, profile *data.Profile) class {
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

// orders are the lakes of a snapshot in the orders of the table, in 8 bytes a lake: in each list those of one class
// stand together. They are made when the table is first asked for, in some tenths of a second for a million lakes.
type orders struct {
	made    sync.Once
	byName  []int32      // within a class by folded name
	byValue []int32      // within a class the worst first, then by folded name
	ends    [classes]int // of the classes, in both
}

// make makes the orders of the current lakes of snap, of which names is the order of folded names.
func (o *orders) make(snap *data.Snapshot, names []int32) {
	o.made.Do(func() {
		view := snap.Current
		of := make([]class, len(view.States))
		var counts [classes]int
		for i := range view.States {
			of[i] = classOf(&view.States[i], snap.Profile)
			counts[of[i]]++
		}
		var next [classes]int
		end := 0
		for c, n := range counts {
			next[c] = end
			end += n
			o.ends[c] = end
		}
		o.byName = make([]int32, len(names))
		for _, lake := range names {
			c := of[lake]
			o.byName[next[c]] = lake
			next[c]++
		}
		o.byValue = sortedByValue(view, o.byName, o.ends)
	})
}

// sortedByValue returns the lakes of byName, each class sorted.
func sortedByValue(view *data.View, byName []int32, ends [classes]int) []int32 {
	keys := make([]uint64, len(byName)) // how good the value is, above the place by name
	for place, lake := range byName {
		keys[place] = uint64(goodness(&view.States[lake]))<<32 | uint64(place)
	}
	sorted := make([]int32, len(byName))
	start := 0
	for _, end := range ends {
		slices.Sort(keys[start:end])
		for i := start; i < end; i++ {
			sorted[i] = byName[uint32(keys[i])]
		}
		start = end
	}
	return sorted
}

// goodness returns a number that is the less, the worse a lake's value is among those of its class; of lakes without one,
// the worse its risk was.
func goodness(state *data.State) uint32 {
	if state.Chlorophyll.Valid() {
		return uint32(data.MaxChlorophyll - state.Chlorophyll)
	}
	return uint32(data.RiskHigh - state.Risk)
}

// of returns the lakes of class c, by value or by name.
func (o *orders) of(c class, byValue bool) []int32 {
	start := 0
	if c > 0 {
		start = o.ends[c-1]
	}
	if byValue {
		return o.byValue[start:o.ends[c]]
	}
	return o.byName[start:o.ends[c]]
}
