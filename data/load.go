package data

import (
	"context"
	"fmt"
	"math"
	"time"
)

const (
	// defaultStaleAfter is four weekly passes, so that one cloudy week does not blank the map.
	defaultStaleAfter = 28
	// defaultWeeks is two years of weekly passes.
	defaultWeeks = 104
	// defaultPatience is as long as a person waits for a page. The reading goes on, for the next who asks.
	defaultPatience = 10 * time.Second
)

// SnapshotOptions are the optional parameters of [Load]. Nil means all defaults.
type SnapshotOptions struct {
	// Profile classifies the values. Nil means who2003.
	Profile *Profile
	// StaleAfter is how many days older than the newest observation a current value may be. Zero means 28.
	StaleAfter int
	// Weeks is how many of the newest weeks with an observation have their maps made from memory; those of older ones are
	// read from the Source. What is held is each lake's observations from the year before those weeks on, which the
	// trophic status needs, and its newest value before: 8 bytes each. Zero means 104.
	Weeks int
	// Patience is how long [Snapshot.View] waits for the Source to tell of an older week. Zero means 10 seconds; with a
	// negative one it waits for as long as its context allows.
	Patience time.Duration
}

// withDefaults returns a copy of o with defaults for what is zero, or an error for what cannot be.
func (o *SnapshotOptions) withDefaults() (SnapshotOptions, error) {
	var c SnapshotOptions
	if o != nil {
		c = *o
	}
	profile := Profiles()[0]
	if c.Profile != nil {
		profile = *c.Profile // a copy, which nobody can change under the snapshot
	}
	c.Profile = &profile
	if c.StaleAfter < 0 {
		return c, fmt.Errorf("stale after %d days: want 1 or more, or 0 for %d", c.StaleAfter, defaultStaleAfter)
	}
	if c.Weeks < 0 {
		return c, fmt.Errorf("%d weeks: want 1 or more, or 0 for %d", c.Weeks, defaultWeeks)
	}
	if c.StaleAfter == 0 {
		c.StaleAfter = defaultStaleAfter
	}
	if c.Weeks == 0 {
		c.Weeks = defaultWeeks
	}
	if c.Patience == 0 {
		c.Patience = defaultPatience
	}
	return c, nil
}

// Load reads all of src into a Snapshot. It trusts no source: a lake or an observation that fails its Check, comes
// twice or out of order, and an observation of an unknown lake end it with an error that names them. No
// part of such data is served, since a lake that is left out looks like a lake that is not there.
//
// While it reads it holds at most twice the samples of the lakes read so far that Weeks weeks and a year hold,
// however many older ones there are. The snapshot goes on to read from src, for the maps of older weeks, until ctx
// ends: it must live as long as the snapshot is in use.
func Load(ctx context.Context, src Source, opts *SnapshotOptions) (*Snapshot, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	l := loader{
		hash:  newVersionHash(o.Profile, o.StaleAfter),
		weeks: weekCounter{staleAfter: o.StaleAfter, keep: o.Weeks},
	}
	revision, err := src.Scan(ctx, l.lake, l.observation)
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	l.finish()

	s := &Snapshot{
		Version:    l.hash.version(),
		Revision:   revision,
		Profile:    o.Profile,
		Lakes:      l.lakes,
		staleAfter: o.StaleAfter,
		byExternal: orderByExternalID(l.lakes),
		satellite:  l.satellite,
		forecasts:  l.forecasts,
		dropped:    l.dropped,
		since:      l.weeks.since(),
	}
	s.Weeks, s.asOf = l.weeks.weeks()
	s.held = len(s.Weeks) - len(l.weeks.recent)
	s.past = newPast(ctx, src, o.Patience, len(s.Lakes))
	if s.views, err = newViewCache(len(s.Lakes)); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	if s.shown, err = newShown(); err != nil {
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
	weeks     weekCounter
	lakes     []Lake
	satellite series
	forecasts series
	dropped   []bool // by lake: whether some of its samples were not kept; nil as long as all were

	observed bool        // whether there was an observation
	last     Observation // the last one
	at       int         // its lake

	trimmed Date // the day from which on samples were kept when all lakes were trimmed last
	trimAt  int  // how many samples there may be before they are trimmed again
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
	if i != l.at {
		l.endLake()
	}
	l.observed, l.last, l.at = true, o, i
	if o.Type == Forecast {
		l.forecasts.add(i, o)
		return nil
	}
	l.satellite.add(i, o)
	l.hash.observation(i, o)
	l.weeks.observe(o)
	return nil
}

// endLake closes the lake at hand, and drops what the maps of the newest weeks seen so far do not need. How new weeks
// are is only known at the end: as newer ones come up, less is needed of the lakes before.
func (l *loader) endLake() {
	l.weeks.endLake()
	since := l.weeks.since()
	if l.satellite.size+l.forecasts.size <= l.trimAt || since == l.trimmed {
		l.trim(l.at, since)
		return
	}
	l.trim(0, since)
	const few = 1 << 16 // are not worth going through again
	l.trimmed, l.trimAt = since, 2*max(l.satellite.size+l.forecasts.size, few)
}

// finish closes the last lake, and leaves what the newest weeks need.
func (l *loader) finish() {
	l.weeks.endLake()
	l.trim(0, l.weeks.since())
	l.satellite.clip()
	l.forecasts.clip()
}

// trim drops what is older than since, and of satellite values all but the newest one, in all lakes from lake i on.
func (l *loader) trim(i int, since Date) {
	if since == minDate {
		return
	}
	dropped := func(lake int) {
		if l.dropped == nil {
			l.dropped = make([]bool, len(l.lakes))
		}
		l.dropped[lake] = true
	}
	l.satellite.trim(i, cut{since, true, dropped})
	l.forecasts.trim(i, cut{since, false, dropped})
}
