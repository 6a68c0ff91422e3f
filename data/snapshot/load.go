package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"golang.org/x/sync/singleflight"

	"limnomap/data"
)

const (
	// defaultStaleAfter is four weekly passes, so that one cloudy week does not blank the map.
	defaultStaleAfter = 28
	// defaultSamplePrefer is two weekly passes: a sample is more reliable than a pass, but not than what has changed since.
	defaultSamplePrefer = 14
	// defaultWeeks is two years of weekly passes.
	defaultWeeks      = 104
	defaultViewMemory = 256 << 20
	// defaultPatience is how long a person waits for a page. The read continues, for the next request.
	defaultPatience = 10 * time.Second
)

// Options are the optional parameters of [Load]. Nil means all defaults.
type Options struct {
	// Profile classifies the values. Nil means who2003.
	Profile *data.Profile
	// AsOf says from which day ages count. The zero value is the clock.
	AsOf AsOf
	// StaleAfter is how many days old a current value may be. Zero means 28.
	StaleAfter int
	// SamplePrefer is how many days older than the newest pass of a satellite a sample may be to be current instead. Nil means 14.
	SamplePrefer *int
	// Weeks is how many of the newest weeks with an observation are kept in memory; maps of older weeks are read from the
	// Source. Memory holds each lake's observations from one year before those weeks on, which the trophic status needs,
	// and its newest value before: 8 bytes each. Zero means 104.
	Weeks int
	// Oldest is a day of the oldest week that is served, if there are older ones. The newest week is served in any case. Nil
	// means no bound.
	Oldest *data.Date
	// ViewMemory bounds the memory of the views that are kept, except for the current one: half for the weeks in memory, half
	// for older ones. One view of each is kept at any size. Zero means 256 MiB.
	ViewMemory int64
	// Patience is how long [Snapshot.View] waits for the Source to answer for an older week. Zero means 10 seconds; if it
	// is negative, only the context limits the wait.
	Patience time.Duration
	// Present returns the present time, from which ages count and at which official statements are active. Nil means time.Now.
	Present func() data.Present
	// Background is called first in each goroutine that reads while requests are answered: the maps of an old week, or a snapshot
	// that replaces another one. It may give the goroutine a thread of low priority. Nil does nothing.
	Background func()
}

// withDefaults returns a copy of o with defaults for zero values, or an error for invalid ones.
func (o *Options) withDefaults() (Options, error) {
	var c Options
	if o != nil {
		c = *o
	}
	profile := data.Profiles()[0]
	if c.Profile != nil {
		profile = *c.Profile // a copy, which the caller cannot change later
	}
	c.Profile = &profile
	if c.StaleAfter < 0 {
		return c, fmt.Errorf("stale after %d days: want 1 or more, or 0 for %d", c.StaleAfter, defaultStaleAfter)
	}
	preferred := defaultSamplePrefer
	if c.SamplePrefer != nil {
		preferred = *c.SamplePrefer // a copy too
	}
	c.SamplePrefer = &preferred
	if preferred < 0 {
		return c, fmt.Errorf("samples preferred for %d days: want 0 or more", preferred)
	}
	if c.ViewMemory < 0 {
		return c, fmt.Errorf("%d bytes of views: want 1 or more, or 0 for %d", c.ViewMemory, defaultViewMemory)
	}
	if c.Weeks < 0 {
		return c, fmt.Errorf("%d weeks: want 1 or more, or 0 for %d", c.Weeks, defaultWeeks)
	}
	c.StaleAfter = cmp.Or(c.StaleAfter, defaultStaleAfter)
	c.Weeks = cmp.Or(c.Weeks, defaultWeeks)
	c.Patience = cmp.Or(c.Patience, defaultPatience)
	c.ViewMemory = cmp.Or(c.ViewMemory, defaultViewMemory)
	if c.Background == nil {
		c.Background = func() {}
	}
	if c.Present == nil {
		c.Present = data.ByClock(time.Now)
	}
	return c, nil
}

// Load reads all of src into a Snapshot. It does not trust the source: a lake or an observation that fails its Check,
// comes twice or out of order, and an observation of an unknown lake are an error that names them. Then no part of the
// data is served, since a lake that is left out looks like a lake that does not exist.
//
// During the load, memory holds at most twice the readings that Weeks weeks and one year have for the lakes read so far,
// however many older ones there are. The snapshot continues to read from src, for the maps of older weeks, until ctx
// ends: ctx must live as long as the snapshot is used.
func Load(ctx context.Context, src Source, opts *Options) (*Snapshot, error) {
	return loadAfter(ctx, nil, src, opts)
}

// loadAfter is Load for a snapshot that replaces another one, which may be nil. The lakes that are as before are held in memory once, and
// if all are, both snapshots have the same slice of them.
func loadAfter(ctx context.Context, before *Snapshot, src Source, opts *Options) (*Snapshot, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	rule := currentRule{profile: o.Profile, staleAfter: o.StaleAfter, samplePrefer: *o.SamplePrefer}
	l := loader{
		hash:  newVersionHash(&rule),
		until: o.AsOf.Last(),
		weeks: weekCounter{rule: &rule, keep: o.Weeks},
	}
	if before != nil {
		l.before = before.Lakes
	}
	revision, err := src.Scan(ctx, l.lake, l.observation)
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	// If what follows is of a later revision, the next load follows at once; until then it is true.
	pixels, err := src.PixelState(ctx)
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	l.hash.pixels(pixels)
	advisories, stated, err := readAdvisories(ctx, src)
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	l.finish()

	s := &Snapshot{
		Revision:     revision,
		StatementsOf: stated.Number,
		Profile:      o.Profile,
		Lakes:        l.lakes,
		Pixels:       pixels,
		AsOf:         o.AsOf,
		rule:         rule,
		oldest:       o.Oldest,
		values:       l.hash,
		byExternal:   l.byExternalID(before),
		waters:       watersOf(l.lakes),
		satellite:    l.satellite,
		inSitu:       l.inSitu,
		forecasts:    l.forecasts,
		dropped:      l.dropped,
		digests:      l.digests,
		since:        l.weeks.since(),
	}
	if err := s.readNewestForecasts(ctx, src); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	s.weeks, s.days = l.weeks.weeks()
	s.held = len(s.weeks) - len(l.weeks.recent)
	if err := s.setCaches(ctx, src, &o); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	s.setAdvisories(advisories)
	p := o.Present()
	newest := data.DateOf(p.Now)
	if n := len(s.days); n > 0 {
		newest = s.days[n-1]
	}
	s.sources = l.sources.since(newest)
	s.setDay(o.AsOf.on(p.Now, newest))
	if err := s.readPasses(ctx, src, s.Current); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	s.setActive(p)
	return s, nil
}

// setCaches empties the views that are held besides the current one. They are made again, or read from src, when they are asked for.
func (s *Snapshot) setCaches(ctx context.Context, src Source, o *Options) (err error) {
	s.flight = new(singleflight.Group)
	s.old = newOldViews(ctx, src, o, s.ViewBytes())
	if s.views, err = newViewCache(s.ViewBytes(), o.ViewMemory/2); err == nil {
		s.lazyValues, err = newLazyValues()
	}
	return err
}

// A loader receives what [Source.Scan] passes and builds the parts of a Snapshot.
type loader struct {
	hash      versionHash
	until     data.Date // later observations are left out
	weeks     weekCounter
	lakes     []data.Lake // a part of before, as long as they are the same
	before    []data.Lake // those of the snapshot that is replaced
	beforeAt  int         // in before: the first lake that does not come before the last one of lakes
	satellite series
	inSitu    series
	forecasts series
	sources   sourceDates
	order     weekOrder
	dropped   []bool   // by lake: whether some of its readings were removed; nil if none were
	digests   []uint64 // by lake: see [Snapshot.Digest]

	observed bool             // whether an observation was passed
	last     data.Observation // the last one
	at       int              // its lake

	trimmed data.Date // the first day kept when all lakes were trimmed last
	trimAt  int       // number of readings above which all lakes are trimmed again
}

// lake adds the next lake.
func (l *loader) lake(lake data.Lake) error {
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
	l.hash.lake(lake)
	l.add(lake)
	return nil
}

// add appends a lake.
func (l *loader) add(lake data.Lake) {
	for l.beforeAt < len(l.before) && l.before[l.beforeAt].ID < lake.ID {
		l.beforeAt++
	}
	n := len(l.lakes)
	if l.beforeAt < len(l.before) && l.before[l.beforeAt] == lake {
		lake = l.before[l.beforeAt] // its texts are in memory already
		if l.beforeAt == n && l.sharesLakes() {
			l.lakes = l.before[: n+1 : n+1] // without capacity: what is appended goes to a copy
			return
		}
	}
	l.lakes = append(l.lakes, lake)
}

// sharesLakes reports whether the lakes so far are the first ones of before.
func (l *loader) sharesLakes() bool {
	return len(l.lakes) == 0 || len(l.before) > 0 && &l.lakes[0] == &l.before[0]
}

// byExternalID returns the result of [Snapshot.ByExternalID].
func (l *loader) byExternalID(before *Snapshot) []int32 {
	if len(l.lakes) == len(l.before) && l.sharesLakes() && before != nil {
		return before.byExternal
	}
	return orderByExternalID(l.lakes)
}

// observation adds the next observation.
func (l *loader) observation(o data.Observation) error {
	if err := l.take(o); err != nil {
		return fmt.Errorf("observation of lake %.80q on %s: %w", o.LakeID, o.Date, err)
	}
	return nil
}

func (l *loader) take(o data.Observation) error {
	if err := o.Check(); err != nil {
		return err
	}
	i := l.at
	for i < len(l.lakes) && l.lakes[i].ID < o.LakeID {
		i++
	}
	if i == len(l.lakes) || l.lakes[i].ID != o.LakeID {
		return fmt.Errorf("%w, or out of order: want ascending order of lake id", data.ErrNoLake)
	}
	if l.observed && i == l.at && data.CompareInScan(o, l.last) <= 0 {
		return fmt.Errorf("comes after %s (%s, source %.80q): want each date once for each data type and source, in ascending order, the satellite's first",
			l.last.Date, l.last.Type, l.last.Source)
	}
	if i != l.at {
		l.endLake()
	}
	l.observed, l.last, l.at = true, o, i
	if o.Date > l.until {
		return nil
	}
	counts, outranks := o.Usable(), false
	switch o.Type {
	case data.Forecast:
		l.forecasts.add(i, o)
		return nil
	case data.InSitu:
		l.inSitu.add(i, o)
	default:
		var outranked bool
		outranked, outranks = l.order.add(i, &o)
		if outranks {
			l.satellite.outrank(i, o.Date.Week().Monday())
		}
		l.satellite.add(i, o)
		if outranked {
			counts = false
			l.satellite.outrankLast()
		}
		l.sources.observe(&o)
	}
	if l.digests == nil {
		l.digests = make([]uint64, len(l.lakes)) // all are known before the first observation
	}
	l.digests[i] += o.Digest()
	l.hash.observation(i, o)
	l.weeks.observe(&o, counts, outranks)
	return nil
}

// endLake ends the current lake, and removes readings that the maps of the newest weeks so far do not need. The newest
// weeks are known only at the end: as later ones come up, fewer readings of earlier lakes are needed.
func (l *loader) endLake() {
	l.weeks.endLake()
	since := l.weeks.since()
	if l.size() <= l.trimAt || since == l.trimmed {
		l.trim(l.at, since)
		return
	}
	l.trim(0, since)
	const few = 1 << 16 // readings are not worth another trim
	l.trimmed, l.trimAt = since, 2*max(l.size(), few)
}

// size returns the number of readings in memory.
func (l *loader) size() int { return l.satellite.size + l.inSitu.size + l.forecasts.size }

// finish ends the last lake, and keeps only what the newest weeks need.
func (l *loader) finish() {
	l.weeks.endLake()
	l.trim(0, l.weeks.since())
	l.satellite.clip()
	l.inSitu.clip()
	l.forecasts.clip()
}

// trim removes readings before since, except the newest usable value of each type that was measured, of all lakes from lake i on.
func (l *loader) trim(i int, since data.Date) {
	if since == data.MinDate {
		return
	}
	dropped := func(lake int) {
		if l.dropped == nil {
			l.dropped = make([]bool, len(l.lakes))
		}
		l.dropped[lake] = true
	}
	l.satellite.trim(i, cut{since, true, dropped})
	l.inSitu.trim(i, cut{since, true, dropped})
	l.forecasts.trim(i, cut{since, false, dropped})
}
