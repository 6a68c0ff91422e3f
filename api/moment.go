package api

import (
	"slices"
	"time"

	"limnomap/data"
)

// The words by which clients of WMTS ask for the map of now (WMTS 1.0.0, section 7.1.1.3, and table 8).
const (
	nowCurrent = "current"
	nowDefault = "default"
)

// moment returns the ISO week that holds the moment which the named parameter gives, and whether it gives one: a day, or a
// time of RFC 3339, as clients of OGC services write days, whose day is that in UTC; or one of the words, which mean now.
func (p *params) moment(name string, snap *data.Snapshot, words ...string) (week data.Week, ok bool) {
	s, ok := p.text(name)
	if !ok || slices.Contains(words, s) {
		return 0, false
	}
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return p.weekOf(name, at.UTC().Format(time.DateOnly), snap)
	}
	return p.weekOf(name, s, snap)
}

// wmtsTime returns the week that time= of a tile names, which is how clients of WMTS fill in the dimension Time. A tile
// has one week, so it may not stand beside date=.
func (a *askedTile) wmtsTime() {
	week, ok := a.params.moment("time", a.published.snap, nowCurrent, nowDefault)
	switch {
	case !ok:
	case a.dated:
		a.params.refuse("time", "given beside date; give one of the two")
	default:
		a.week, a.dated = week, true
	}
}
