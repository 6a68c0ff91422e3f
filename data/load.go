package data

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
)

// defaultStaleAfter is four weekly passes, so that one cloudy week does not blank the map.
const defaultStaleAfter = 28

// SnapshotOptions are the optional parameters of [Load]. Nil means all defaults.
type SnapshotOptions struct {
	// Profile classifies the values. Nil means who2003.
	Profile *Profile
	// StaleAfter is how many days older than the newest observation a current value may be. Zero means 28.
	StaleAfter int
}

// Load reads all of src into a Snapshot. It trusts no source: a lake or an observation that fails its Check, comes
// twice or out of order, and an observation of an unknown lake end it with an error that names them. No
// part of such data is served, since a lake that is left out looks like a lake that is not there.
func Load(ctx context.Context, src Source, opts *SnapshotOptions) (*Snapshot, error) {
	if opts == nil {
		opts = &SnapshotOptions{}
	}
	profile, staleAfter := Profiles()[0], defaultStaleAfter
	if opts.Profile != nil {
		profile = *opts.Profile // a copy, which nobody can change under the snapshot
	}
	if opts.StaleAfter != 0 {
		staleAfter = opts.StaleAfter
	}
	if staleAfter < 0 {
		return nil, fmt.Errorf("snapshot: stale after %d days: want 1 or more, or 0 for %d", staleAfter, defaultStaleAfter)
	}

	l := loader{hash: newVersionHash(&profile, staleAfter), newest: make(map[Week]Date)}
	revision, err := src.Scan(ctx, l.lake, l.observation)
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	s := &Snapshot{
		Version:    l.hash.version(),
		Revision:   revision,
		Profile:    &profile,
		Lakes:      l.lakes,
		staleAfter: staleAfter,
		byExternal: orderByExternalID(l.lakes),
		satellite:  l.satellite,
		forecasts:  l.forecasts,
	}
	for _, w := range slices.Sorted(maps.Keys(l.newest)) {
		s.Weeks = append(s.Weeks, WeekCount{Week: w})
		s.asOf = append(s.asOf, l.newest[w])
	}
	s.countWeeks()
	if s.views, err = newViewCache(len(s.Lakes)); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	var newest Week
	if n := len(s.Weeks); n > 0 {
		newest = s.Weeks[n-1].Week
	}
	s.Current = s.build(newest)
	return s, nil
}

// A loader takes what [Source.Scan] passes and keeps it in the form of a Snapshot.
type loader struct {
	hash      versionHash
	lakes     []Lake
	satellite series
	forecasts series
	newest    map[Week]Date

	observed bool        // whether there was an observation
	last     Observation // the last one
	at       int         // its lake
}

// lake takes the next lake.
func (l *loader) lake(lake Lake) error {
	if l.observed {
		return fmt.Errorf("lake %.80q comes after the first observation", lake.ID)
	}
	if err := lake.Check(); err != nil {
		return fmt.Errorf("lake %.80q: %w", lake.ID, err)
	}
	if len(l.lakes) == math.MaxInt32 {
		return fmt.Errorf("lake %q: more than %d lakes", lake.ID, math.MaxInt32)
	}
	if lake.ExternalID == "" || lake.ExternalID == string(lake.ID) {
		lake.ExternalID = string(lake.ID) // if equal, one string in memory instead of two
	}
	if n := len(l.lakes); n > 0 {
		previous := l.lakes[n-1]
		if lake.ID <= previous.ID {
			return fmt.Errorf("lake %q comes after %q: want each once, in ascending order of id", lake.ID, previous.ID)
		}
		if lake.Region == previous.Region {
			lake.Region = previous.Region // the same: ids begin with the region, so most neighbours share it
		}
	}
	l.lakes = append(l.lakes, lake)
	l.hash.lake(lake)
	return nil
}

// observation takes the next observation.
func (l *loader) observation(o Observation) error {
	if err := l.take(o); err != nil {
		return fmt.Errorf("observation of lake %.80q on %s: %w", o.LakeID, o.Date, err)
	}
	return nil
}

func (l *loader) take(o Observation) error {
	if err := o.Check(); err != nil {
		return err
	}
	i := l.at
	for i < len(l.lakes) && l.lakes[i].ID < o.LakeID {
		i++
	}
	if i == len(l.lakes) || l.lakes[i].ID != o.LakeID {
		return fmt.Errorf("%w, or out of order: want ascending order of lake id", ErrNoLake)
	}
	if l.observed && i == l.at && (o.Date < l.last.Date || o.Date == l.last.Date && o.Type <= l.last.Type) {
		return fmt.Errorf("comes after %s (%s): want each date once for each data type, in ascending order, the satellite's first",
			l.last.Date, l.last.Type)
	}
	l.observed, l.last, l.at = true, o, i
	if o.Type == Forecast {
		l.forecasts.add(i, o)
		return nil
	}
	l.satellite.add(i, o)
	l.hash.observation(i, o)
	w := o.Date.Week()
	if newest, ok := l.newest[w]; !ok || o.Date > newest {
		l.newest[w] = o.Date
	}
	return nil
}
