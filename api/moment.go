package api

import (
	"slices"
	"time"

	"limnomap/data"
)

// nowCurrent is the word by which clients of WMTS ask for the map of now (WMTS 1.0.0, table 8).
const nowCurrent = "current"

// wmtsNow are all values of time= that mean the map of now: the standard's words, and what clients send to which nobody
// named a week, QGIS among them, that leave the variable of the template as it is. An error would be an empty map to them,
// and look as if the lakes were clean.
var wmtsNow = []string{nowCurrent, "default", "", "{" + timeName + "}"}

// moment returns the ISO week that holds the moment which the named parameter gives, and whether it gives one: a day, or a
// time of RFC 3339, as clients of OGC services write days, whose day is that in UTC; or one of the words, which mean now.
func (p *params) moment(name string, snap *data.Snapshot, words ...string) (week data.Week, ok bool) {
	s, ok := p.text(name)
	if !ok || slices.Contains(words, s) {
		return 0, false
	}
	day := s
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		day = at.UTC().Format(time.DateOnly)
	}
	if week, ok = weekIn(snap, day); !ok {
		form := "a day as YYYY-MM-DD or a time as YYYY-MM-DDThh:mm:ssZ"
		if len(words) > 0 {
			form = words[0] + ", or " + form
		}
		p.refuseWeek(name, s, form, snap)
	}
	return week, ok
}

// wmtsWeek returns the week that time= names, as moment does.
func (p *params) wmtsWeek(snap *data.Snapshot) (week data.Week, ok bool) {
	return p.moment("time", snap, wmtsNow...)
}

// wmtsTime has the tile be of the week that its time= names, which is how clients of WMTS fill in the dimension Time. A tile
// has one week, so it may not stand beside date=.
func (a *askedTile) wmtsTime() {
	if _, given := a.params.text("time"); !given {
		return
	}
	if a.dated {
		a.params.refuse("time", "given beside date; give one of the two")
		return
	}
	if a.week, a.dated = a.params.wmtsWeek(a.published.snap); !a.dated {
		// Some clients keep the template for years, and v= with it. Were the map of now immutable at such an address, whoever
		// had it in a cache would be shown it as the map of now long after.
		a.version = ""
	}
}
