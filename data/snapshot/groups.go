package snapshot

import (
	"cmp"
	"slices"

	"limnomap/data"
)

// A Grouping is the property by which lakes are grouped.
type Grouping string

const (
	ByRegion  Grouping = "region"
	ByRisk    Grouping = "risk"    // of the current value; lakes without a value form their own group
	ByTrophic Grouping = "trophic" // lakes of unknown status form their own group
)

// Groupings returns all groupings, the default first.
func Groupings() []Grouping { return []Grouping{ByRegion, ByRisk, ByTrophic} }

// A Group counts some lakes of a view. A lake without a current value counts in Lakes only, since its risk is that of an
// earlier time.
type Group struct {
	Name   string // "" for lakes whose region, risk or status is unknown
	Lakes  int
	Values []data.Chlorophyll     // the current ones, ascending
	Risks  [data.RiskHigh + 1]int // number of lakes with a value, by risk
	Closed int                    // number of lakes with an active closure, with or without a value
}

func (g *Group) add(s *State, advisory data.AdvisoryKind) {
	g.Lakes++
	if advisory == data.Closure {
		g.Closed++
	}
	if s.Chlorophyll.Valid() {
		g.Values = append(g.Values, s.Chlorophyll)
		g.Risks[s.Risk]++
	}
}

// Quantile returns the value in µg/l that percent (0 to 100) of the group's values do not exceed, interpolated between
// two values, and false if there are no values. It is definition 7 of Hyndman and Fan (Sample Quantiles in Statistical
// Packages, The American Statistician 50, 1996), the default of R and NumPy. It is computed in integers, which is exact
// to a hundredth of a hundredth.
func (g *Group) Quantile(percent int) (value float64, ok bool) {
	if len(g.Values) == 0 {
		return 0, false
	}
	rank := (len(g.Values) - 1) * percent
	i, rest := rank/100, int64(rank%100)
	sum := 100 * int64(g.Values[i])
	if rest > 0 {
		sum += rest * int64(g.Values[i+1]-g.Values[i])
	}
	return float64(sum) / 100_00, true
}

// Groups counts the view's lakes: all of them, and by group. There is a group for each risk or trophic status, even
// without lakes, in ascending order, or one for each region that lakes have, in the order of names. The group of lakes
// without a value, status or region is the last one.
func (v *View) Groups(by Grouping) (all Group, groups []Group) {
	indexOf, groups := closedGroups(by)
	for i := range v.States {
		s := &v.States[i]
		name := ""
		switch by {
		case ByRegion:
			name = v.Lakes[i].Region
		case ByRisk:
			if s.Chlorophyll.Valid() {
				name = s.Risk.String()
			}
		case ByTrophic:
			name = s.Trophic.String()
		}
		index, ok := indexOf[name]
		if !ok {
			index = len(groups)
			indexOf[name] = index
			groups = append(groups, Group{Name: name})
		}
		advisory := v.Advisories.Kind(i)
		groups[index].add(s, advisory)
		all.add(s, advisory)
	}
	if by == ByRegion {
		slices.SortFunc(groups, func(a, b Group) int {
			if a.Name == "" || b.Name == "" {
				return -cmp.Compare(a.Name, b.Name) // unknown is last
			}
			return cmp.Compare(a.Name, b.Name)
		})
	}
	slices.Sort(all.Values)
	for i := range groups {
		slices.Sort(groups[i].Values)
	}
	return all, groups
}

// closedGroups returns the groups that always exist, and the index of each by name.
func closedGroups(by Grouping) (indexOf map[string]int, groups []Group) {
	var names []string
	switch by {
	case ByRisk:
		for r := data.RiskLow; r <= data.RiskHigh; r++ {
			names = append(names, r.String())
		}
		names = append(names, "")
	case ByTrophic:
		for t := data.Ultraoligotrophic; t <= data.Hypertrophic; t++ {
			names = append(names, t.String())
		}
		names = append(names, data.TrophicUnknown.String())
	}
	indexOf = make(map[string]int)
	for i, name := range names {
		indexOf[name] = i
		groups = append(groups, Group{Name: name})
	}
	return indexOf, groups
}

// WeekCounts count the lakes that were measured in the week of a view itself, by [Snapshot.MeasuredWeek], and compare those that were also measured in the week before: a
// number of all current values changes too when a lake is not seen, or its value becomes too old. Open lakes have no active closure.
type WeekCounts struct {
	Measured         int // lakes whose current value is of the week
	OpenHigh         int // open lakes with a current value at high risk
	OpenHighMeasured int // those of them whose value is of the week
	Both             int // lakes that were measured in the week and in the week before; 0 if the week before is not in memory
	BothHigh         int // those of them at high risk in the week
	BothHighBefore   int // those of them at high risk in the week before
}

// WeekCounts returns those counts for one of the snapshot's views.
func (s *Snapshot) WeekCounts(v *View) (c WeekCounts) {
	before, week := s.WeekBefore(v), s.MeasuredWeek(v)
	for i := range v.States {
		now := &v.States[i]
		if !now.Chlorophyll.Valid() {
			continue
		}
		measured, high := now.Date.Week() == week, now.Risk == data.RiskHigh
		if measured {
			c.Measured++
		}
		if high && v.Advisories.Kind(i) != data.Closure {
			c.OpenHigh++
			if measured {
				c.OpenHighMeasured++
			}
		}
		if !measured {
			continue
		}
		if then, ok := before.State(i); ok {
			c.Both++
			if high {
				c.BothHigh++
			}
			if then.Risk == data.RiskHigh {
				c.BothHighBefore++
			}
		}
	}
	return c
}

// MeasuredWeek returns the week of one of the snapshot's views, or the newest one with an observation if that is earlier: the present week begins
// without any.
func (s *Snapshot) MeasuredWeek(v *View) data.Week {
	if n := len(s.Weeks); n > 0 {
		return min(v.Week, s.Weeks[n-1].Week)
	}
	return v.Week
}

// A WeekBefore is the week before that of a view.
type WeekBefore struct {
	snap *Snapshot
	week data.Week
	// Known reports whether the week is in memory.
	Known bool
}

// WeekBefore returns the week before the [Snapshot.MeasuredWeek] of one of the snapshot's views.
func (s *Snapshot) WeekBefore(v *View) WeekBefore {
	before := s.MeasuredWeek(v) - 1
	return WeekBefore{s, before, !v.Later && s.weekIndex(before) >= s.held}
}

// State returns the state of the i-th lake on the Sunday of the week, and whether the lake was measured in that week.
func (b WeekBefore) State(i int) (then State, measured bool) {
	if !b.Known {
		return State{}, false
	}
	then = b.snap.rule.state(b.snap.satellite.of(i), b.snap.inSitu.of(i), b.week.Sunday())
	return then, then.Chlorophyll.Valid() && then.Date.Week() == b.week
}
