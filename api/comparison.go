package api

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"

	"limnomap/data"
	"limnomap/data/accuracy"
	"limnomap/data/snapshot"
)

// Comparisons returns what the map is compared with; a data.Source does.
type Comparisons interface {
	// NearSamples passes on the samples of all lakes and the passes at most that many days before or after them, those of a lake one after the other.
	NearSamples(ctx context.Context, days int, observation func(data.Observation) error) (data.Revision, error)
}

// changedShare says that the histories of lakes are read one by one if at most one of that many lakes with samples has changed.
const changedShare = 8

// A comparison compares the map of a snapshot.
type comparison struct {
	*accuracy.Builder
	snap      *snapshot.Snapshot
	before    *accuracy.Ledger // nil if there is none that helps
	historian Historian
	days      int
}

// CompareMap compares the lakes of a snapshot with samples that are at most that many days apart from a pass, and with official statements, and forecasts with the
// passes that came. Without comparisons there are no samples. What is as it was in an earlier ledger, which may be nil, is taken over from it: that is quicker, and
// the ledger is the same.
func CompareMap(ctx context.Context, before *accuracy.Ledger, snap *snapshot.Snapshot, comparisons Comparisons, historian Historian, forecasts Issues, days int) (*accuracy.Ledger, error) {
	if !before.Comparable(days, snap.Profile) {
		before = nil
	}
	c := comparison{accuracy.NewBuilder(days, snap.Profile), snap, before, historian, days}
	known, err := c.addMatches(ctx, comparisons)
	if err != nil {
		return nil, err
	}
	if err := c.addStatements(ctx); err != nil {
		return nil, err
	}
	if err := c.addForecasts(ctx, forecasts); err != nil {
		return nil, err
	}
	return c.Ledger(func(id data.LakeID) (string, bool) {
		lake, ok := snap.Lake(id)
		if !ok {
			return "", false
		}
		return lake.Region, true
	}, func(id data.LakeID) data.Optional[uint64] {
		i, ok := snap.Index(id)
		if !ok || !known {
			return data.Optional[uint64]{}
		}
		return data.Known(snap.Digest(i))
	}), nil
}

// addMatches adds the lakes with samples. It reports whether their observations are known to be those of the snapshot, if it has read those of all lakes.
func (c *comparison) addMatches(ctx context.Context, comparisons Comparisons) (known bool, err error) {
	if comparisons == nil {
		return false, nil
	}
	if c.before != nil {
		var kept, changed []int
		for i := range c.snap.Lakes {
			switch {
			case !c.snap.Sampled(i):
			case c.before.Has(c.snap.Lakes[i].ID, c.snap.Digest(i)):
				kept = append(kept, i)
			default:
				changed = append(changed, i)
			}
		}
		if changedShare*len(changed) <= len(kept)+len(changed) {
			for _, i := range kept {
				c.Keep(c.before, c.snap.Lakes[i].ID)
			}
			for _, i := range changed {
				observations, digest, err := c.history(ctx, i)
				if err != nil {
					return false, err
				}
				c.AddLake(c.snap.Lakes[i].ID, observations, digest)
			}
			return false, nil
		}
	}
	last := c.snap.AsOf.Last()
	revision, err := comparisons.NearSamples(ctx, c.days, func(o data.Observation) error {
		if o.Date > last {
			return nil
		}
		if err := o.Check(); err != nil {
			return fmt.Errorf("lake %.80q on %s: %w", o.LakeID, o.Date, err)
		}
		return c.Add(o)
	})
	return revision.Number == c.snap.Revision.Number, err
}

// history returns all measurements of the i-th lake, and their digest if they are those of the snapshot: the source may have later ones.
func (c *comparison) history(ctx context.Context, i int) (observations []data.Observation, digest data.Optional[uint64], err error) {
	q := allOf(c.snap, data.TypesOf(data.Satellite, data.InSitu))
	q.Limit = math.MaxInt
	observations, whole := c.snap.History(i, q)
	if !whole {
		var lake data.Lake
		if lake, observations, err = c.historian.History(ctx, c.snap.Lakes[i].ID, q); err == nil {
			err = checkHistory(lake, observations)
		}
		if errors.Is(err, data.ErrNoLake) { // it has been deleted meanwhile
			return nil, digest, nil
		}
		if err != nil {
			return nil, digest, err
		}
	}
	for k := range observations {
		digest.Value += observations[k].Digest()
	}
	digest.Known = digest.Value == c.snap.Digest(i)
	return observations, digest, nil
}

// addStatements adds the lakes with official statements.
func (c *comparison) addStatements(ctx context.Context) error {
	asOf := min(c.snap.AsOf.Last(), c.snap.Current.AsOf)
	statements, lakes := c.snap.Advisories.All()
	for i := 0; i < len(statements); {
		lake, first := lakes[i], i
		for i < len(statements) && lakes[i] == lake {
			i++
		}
		of := statements[first:i]
		if !slices.ContainsFunc(of, func(a data.Advisory) bool { return accuracy.Tells(&a) }) {
			continue
		}
		id := c.snap.Lakes[lake].ID
		if c.before != nil {
			s, ok := c.before.StatedOf(id)
			if ok && s.Digest == data.Known(c.snap.Digest(int(lake))) && s.AsOf == asOf && slices.Equal(s.Statements, of) {
				c.AddStatements(id, s)
				continue
			}
		}
		observations, digest, err := c.history(ctx, int(lake))
		if err != nil {
			return err
		}
		c.AddStatements(id, accuracy.Stated{Digest: digest, Statements: slices.Clone(of), AsOf: asOf, Warnings: accuracy.WarningsOf(observations, of, c.snap.Profile, asOf)})
	}
	return nil
}

// addForecasts compares the newest issues of the forecast with the passes that came, as far as the snapshot has them in memory.
func (c *comparison) addForecasts(ctx context.Context, forecasts Issues) error {
	issues, err := forecasts.ForecastIssues(ctx)
	if err != nil {
		return err
	}
	came := make(map[data.Date]uint64) // issues of different weeks are for the same days
	for _, issue := range comparedIssues(issues, c.snap) {
		read, err := c.addIssue(ctx, forecasts, issue, came)
		if err == nil && read != issue { // it has been replaced meanwhile
			_, err = c.addIssue(ctx, forecasts, read, came)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addIssue compares an issue, and returns the one that is stored for its date. If that is another one, it adds nothing. The digests of passes by day are
// kept in came for further issues.
func (c *comparison) addIssue(ctx context.Context, forecasts Issues, issue data.ForecastIssue, came map[data.Date]uint64) (data.ForecastIssue, error) {
	compared := accuracy.Issue{Of: issue}
	for k := range issue.Weeks {
		day := issue.Target(k + 1)
		if _, ok := came[day]; !ok {
			came[day] = c.came(day)
		}
		compared.Came[k] = came[day]
	}
	kept, ok := c.before.Issue(issue)
	if ok && kept.Came == compared.Came {
		c.AddIssue(kept)
		return issue, nil
	}
	var weeks []int // that are compared: of the others nothing has changed
	for k := range issue.Weeks {
		if ok && kept.Came[k] == compared.Came[k] {
			compared.Forecasts[k] = kept.Forecasts[k]
		} else {
			weeks = append(weeks, k+1)
		}
	}
	read, _, err := forecasts.Forecasts(ctx, data.Known(issue.Issued), func(f data.LakeForecast) error {
		addForecast(&compared, c.snap, &issue, &f, c.days, weeks)
		return nil
	})
	switch {
	case errors.Is(err, data.ErrNoForecast): // it has been removed meanwhile
		return issue, nil
	case err == nil && read == issue:
		c.AddIssue(compared)
	}
	return read, err
}

// came returns a number that changes with the passes with which forecasts for a day are compared.
func (c *comparison) came(day data.Date) (digest uint64) {
	for i := range c.snap.Lakes {
		if came, ok := cameNear(c.snap, i, day, c.days); ok {
			digest += came.Digest() * (xxhash.Sum64String(string(c.snap.Lakes[i].ID)) | 1)
		}
	}
	return digest
}

// cameNear returns the pass with which a forecast for a day is compared; false if the day has not come, or no pass has.
func cameNear(snap *snapshot.Snapshot, lake int, target data.Date, days int) (came data.Observation, ok bool) {
	if target > snap.Current.AsOf {
		return came, false
	}
	came, ok = snap.PassNear(lake, target, days)
	return came, ok && came.Date <= snap.Current.AsOf
}

// comparedIssues returns the newest issues of which a week is over.
func comparedIssues(issues []data.ForecastIssue, snap *snapshot.Snapshot) (compared []data.ForecastIssue) {
	for _, issue := range issues {
		if issue.Target(1) <= snap.Current.AsOf && len(compared) < accuracy.ForecastIssues {
			compared = append(compared, issue)
		}
	}
	return compared
}

// addForecast compares the forecasts of a lake of some weeks ahead, from 1 on.
func addForecast(to *accuracy.Issue, snap *snapshot.Snapshot, issue *data.ForecastIssue, f *data.LakeForecast, days int, weeks []int) {
	lake, ok := snap.Index(f.LakeID)
	if !ok {
		return
	}
	for _, week := range weeks {
		if !f.Weeks[week-1].Known() {
			continue
		}
		if came, ok := cameNear(snap, lake, issue.Target(week), days); ok {
			to.Add(week, f.Weeks[week-1], &came, snap.Profile)
		}
	}
}

// CompareForecasts compares the newest issues of the forecast of one lake with the passes that came. The ledger has only the sums of all lakes, since those of a
// million would take as much memory as their values.
func CompareForecasts(ctx context.Context, snap *snapshot.Snapshot, id data.LakeID, forecasts Issues, days int) (compared [data.ForecastWeeks]accuracy.Forecasts, err error) {
	issues, err := forecasts.ForecastIssues(ctx)
	if err != nil {
		return compared, err
	}
	var all accuracy.Issue
	weeks := make([]int, data.ForecastWeeks)
	for k := range weeks {
		weeks[k] = k + 1
	}
	for _, issue := range comparedIssues(issues, snap) {
		switch _, f, err := forecasts.LakeForecast(ctx, id, issue.Issued); {
		case err == nil:
			f.LakeID = id
			addForecast(&all, snap, &issue, &f, days, weeks[:issue.Weeks])
		case !errors.Is(err, data.ErrNoForecast): // it has none, or the issue has been replaced meanwhile
			return compared, err
		}
	}
	return all.Forecasts, nil
}
