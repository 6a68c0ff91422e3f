package ingest

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"strings"

	"limnomap/data"
	"limnomap/data/store"
)

const (
	// leastGuarded is from how many lakes with values on an import is compared with them. With fewer, one pass over some lakes changes a
	// large share.
	leastGuarded = 20
	// maxGuarded bounds the lakes of an import that are compared; of more, a random sample of at least half as many stands for all.
	maxGuarded = 8192
	// guardedAge is how much older than the new value a value of a lake may be to be compared: as old as a current value is by default.
	guardedAge = 28
)

// ErrSuspicious is the error of an import that a guarded store refuses.
var ErrSuspicious = errors.New("the import is not plausible, and nothing was written")

// Guarded returns a store that refuses an import of observations that would change the class (WHO 2003) of the newest value of more
// than maxShare of the lakes with values, or set that of more than half of them to one value. It compares nothing with fewer than
// 20 lakes with values.
func Guarded(s Store, maxShare float64) Store { return guardedStore{s, maxShare} }

type guardedStore struct {
	Store
	maxShare float64
}

func (g guardedStore) Import(ctx context.Context, fn func(store.Tx) error) error {
	return g.Store.Import(ctx, func(tx store.Tx) error {
		profile, err := data.ProfileByID("who2003")
		if err != nil {
			return err
		}
		guarded := &guardedTx{Tx: tx, profile: profile, seed: maphash.MakeSeed(), most: math.MaxUint64, lakes: make(map[data.LakeID]*newestValues)}
		if err := fn(guarded); err != nil && !errors.Is(err, errDryRun) {
			return err
		} else if refused := guarded.check(ctx, g.maxShare); refused != nil {
			return refused
		} else {
			return err
		}
	})
}

// newestValues are the newest measured values of a lake; an observation of no day has none.
type newestValues struct {
	before, after data.Optional[data.Observation]
}

// A guardedTx compares the newest values of the lakes of an import before and after it.
type guardedTx struct {
	store.Tx
	profile *data.Profile
	seed    maphash.Seed
	most    uint64 // the largest hash of the ids of lakes in the sample
	lakes   map[data.LakeID]*newestValues
}

func (t *guardedTx) PutObservations(ctx context.Context, observations []data.Observation, keep store.ObservationColumns) ([]store.Change, error) {
	if err := t.add(ctx, observations); err != nil {
		return nil, err
	}
	changes, err := t.Tx.PutObservations(ctx, observations, keep)
	if err != nil || keep.Chlorophyll {
		return changes, err
	}
	for i := range observations {
		o := &observations[i]
		lake, sampled := t.lakes[o.LakeID]
		if !sampled || !o.Type.Measured() || !o.Chlorophyll.Valid() || changes[i] != store.Added && changes[i] != store.Changed ||
			lake.before.Known && o.Date < lake.before.Value.Date || lake.after.Known && o.Date < lake.after.Value.Date {
			continue
		}
		lake.after = data.Known(*o)
		lake.after.Value.LakeID, lake.after.Value.Source, lake.after.Value.Details = "", "", data.Details{Flags: o.Details.Flags, BelowLimit: o.Details.BelowLimit} // without memory of the row
		lake.after.Value.Pixels = nil
	}
	return changes, nil
}

// add adds the lakes of observations to the sample, with their newest values.
func (t *guardedTx) add(ctx context.Context, observations []data.Observation) error {
	for i := range observations {
		id := observations[i].LakeID
		if _, sampled := t.lakes[id]; sampled || maphash.String(t.seed, string(id)) > t.most {
			continue
		}
		newest, err := t.NewestValue(ctx, id)
		if err != nil {
			return err
		}
		t.lakes[data.LakeID(strings.Clone(string(id)))] = &newestValues{before: newest}
		for len(t.lakes) > maxGuarded {
			t.most /= 2
			maps.DeleteFunc(t.lakes, func(id data.LakeID, _ *newestValues) bool { return maphash.String(t.seed, string(id)) > t.most })
		}
	}
	return nil
}

// check returns an error if the import is refused.
func (t *guardedTx) check(ctx context.Context, maxShare float64) error {
	changed, compared, most, measured, known, fresh := 0, 0, 0, 0, 0, 0
	value, lakesOf := data.Chlorophyll(0), make(map[data.Chlorophyll]int)
	for _, lake := range t.lakes {
		before, after := &lake.before.Value, &lake.after.Value
		if lake.before.Known {
			known++
		}
		if !lake.after.Known {
			continue
		}
		if measured++; !lake.before.Known {
			fresh++
		}
		if !after.Details.BelowLimit { // a clean pass has half of the limit for most lakes
			if lakesOf[after.Chlorophyll]++; lakesOf[after.Chlorophyll] > most {
				value, most = after.Chlorophyll, lakesOf[after.Chlorophyll]
			}
		}
		if lake.before.Known && after.Date-before.Date <= guardedAge {
			compared++
			if t.level(before) != t.level(after) {
				changed++
			}
		}
	}
	if float64(changed) <= maxShare*float64(compared) && 2*most <= measured {
		return nil // then these are not too many of all lakes either, which need not be counted
	}
	now, err := t.LakesWithValues(ctx)
	ofAll := func(lakes int) float64 { return math.Round(float64(lakes) * (math.MaxUint64 / float64(t.most))) }
	// Before the import. PostgreSQL does not count values of a new year yet.
	all := max(float64(now)-ofAll(fresh), ofAll(known))
	if err != nil || all < leastGuarded {
		return err
	}
	const advice = "check units, columns and decimal marks; --force imports it"
	if n := ofAll(changed); n > maxShare*all {
		return fmt.Errorf("%w: it would change the class of the newest value of %.0f of %.0f lakes with values, %.0f %%, more than --max-class-changes %.0f %%: %s",
			ErrSuspicious, n, all, 100*n/all, 100*maxShare, advice)
	}
	if n := ofAll(most); 2*n > all {
		return fmt.Errorf("%w: it would set the newest value of %.0f lakes to %v µg/l, more than half of the %.0f lakes with values: %s",
			ErrSuspicious, n, value.Float(), all, advice)
	}
	return nil
}

func (t *guardedTx) level(o *data.Observation) data.Level {
	level, _ := t.profile.Classify(*o)
	return level
}
