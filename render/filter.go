package render

import (
	"fmt"
	"slices"
	"strings"

	"limnomap/data"
	"limnomap/data/snapshot"
)

// A Filter is a set of classes of lakes that a tile shows. The zero Filter shows all lakes.
type Filter uint8

// The classes are those of the page: that of the level, which is the worst of chlorophyll, cell count and report. A closed lake is also
// of the class high, so that no filter for the worst lakes hides it.
const (
	ShowClosed Filter = 1 << iota // closed by an official statement
	ShowHigh
	ShowMedium
	ShowLow
	ShowNone // without a current value
	showAll  = ShowClosed | ShowHigh | ShowMedium | ShowLow | ShowNone
)

// filterNames are the names of the classes, by bit.
var filterNames = [...]string{"closed", "high", "medium", "low", "none"}

// FilterNames returns the names of the classes.
func FilterNames() []string { return slices.Clone(filterNames[:]) }

// ParseFilter reads names of classes with commas between them, in any order. All classes are no filter.
func ParseFilter(s string) (f Filter, err error) {
	for name := range strings.SplitSeq(s, ",") {
		bit := slices.Index(filterNames[:], name)
		if bit < 0 {
			return 0, fmt.Errorf("class %.40q is none of %s", name, strings.Join(filterNames[:], ", "))
		}
		f |= 1 << bit
	}
	if f == showAll {
		return 0, nil
	}
	return f, nil
}

// filterClasses returns the classes of a lake with that mark and value.
func (v *logTable) filterClasses(m snapshot.Mark, c data.Chlorophyll) (f Filter) {
	switch m {
	case snapshot.Closed:
		return ShowClosed | ShowHigh
	case snapshot.WorseHigh:
		f = ShowHigh
	case snapshot.WorseMedium:
		f = ShowMedium
	}
	switch {
	case !c.Valid():
		f |= ShowNone
	case f == 0:
		f = ShowLow >> v.classes.of(c)
	}
	return f
}

// shows reports whether f shows the lake of a site, whose value is v.
func (l *Layer) shows(f Filter, site int, v *value) bool {
	return f == 0 || f&l.logs.filterClasses(l.mark(site), v.Chlorophyll) != 0
}
