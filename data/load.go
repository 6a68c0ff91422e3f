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
	l.begin(len(l.lakes)) // lakes after the last observed one

	s := &Snapshot{
		Version:    l.hash.version(),
		Revision:   revision,
		Profile:    &profile,
		Lakes:      l.lakes,
		staleAfter: staleAfter,
		byExternal: orderByExternalID(l.lakes),
		series:     series{samples: l.samples, first: l.first},
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
	hash    versionHash
	lakes   []Lake
	samples []sample
	first   []int // of the lakes up to the one whose samples are coming in now
	newest  map[Week]Date
}

// lake takes the next lake.
func (l *loader) lake(lake Lake) error {
	if len(l.first) > 0 {
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

// observation takes the next observation. Of forecasts nothing is kept.
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
	if o.Type != Satellite {
		return nil
	}
	i := max(len(l.first)-1, 0) // the lake of the observation before
	for i < len(l.lakes) && l.lakes[i].ID < o.LakeID {
		i++
	}
	if i == len(l.lakes) || l.lakes[i].ID != o.LakeID {
		return fmt.Errorf("%w, or out of order: want ascending order of lake id", ErrNoLake)
	}
	l.begin(i)
	if n := len(l.samples); n > l.first[i] && o.Date <= l.samples[n-1].date {
		return fmt.Errorf("comes after %s: want each date once, in ascending order", l.samples[n-1].date)
	}
	l.samples = append(l.samples, sampleOf(o))
	l.hash.observation(i, o)
	w := o.Date.Week()
	if newest, ok := l.newest[w]; !ok || o.Date > newest {
		l.newest[w] = o.Date
	}
	return nil
}

// begin closes the samples of the lakes before lake i, and opens those of lake i.
func (l *loader) begin(i int) {
	for len(l.first) <= i {
		l.first = append(l.first, len(l.samples))
	}
}
