package params

import (
	"slices"
	"time"

	"limnomap/data"
	"limnomap/data/snapshot"
)

// Week returns the ISO week that holds the day given as date, and whether one was given. It must be a week that the snapshot
// serves.
func (p *Params) Week(snap *snapshot.Snapshot) (week data.Week, ok bool) {
	s, ok := p.Text("date")
	if !ok {
		return 0, false
	}
	if week, ok = weekIn(snap, s); !ok {
		p.refuseWeek("date", s, "a day as YYYY-MM-DD", snap)
	}
	return week, ok
}

// WeekOfTime returns the ISO week that the named parameter gives as clients of OGC do, and whether it gives one: by a day, or
// by a time of RFC 3339, of which the day in UTC counts. Each of the words means the current map, which is no week.
func (p *Params) WeekOfTime(name string, snap *snapshot.Snapshot, words ...string) (week data.Week, ok bool) {
	s, ok := p.Text(name)
	if !ok || slices.Contains(words, s) {
		return 0, false
	}
	day := s
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		day = t.UTC().Format(time.DateOnly)
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

// weekIn returns the ISO week that holds that day, and whether the snapshot serves it.
func weekIn(snap *snapshot.Snapshot, day string) (week data.Week, ok bool) {
	date, err := data.ParseDate(day)
	if err != nil {
		return 0, false
	}
	return date.Week(), snap.Serves(date.Week())
}

// refuseWeek notes that s does not have that form, or is in none of the weeks of the snapshot.
func (p *Params) refuseWeek(name, s, form string, snap *snapshot.Snapshot) {
	if len(snap.Weeks) == 0 {
		p.Refuse(name, "there is no week with an observation; leave the parameter out")
		return
	}
	p.Refuse(name, "%s is not %s %s", Quote(s), form, snap.ServedDays())
}
