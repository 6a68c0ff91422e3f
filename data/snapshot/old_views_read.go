package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"limnomap/data"
)

// errChanged is returned if the source changes faster than it can be read.
var errChanged = errors.New("it changed while it was read")

// noDate is before every date.
const noDate = data.MinDate - 1

// readBlock reads the views of the block that begins with week first, and returns the source's present revision, which
// they show. If it is later than the snapshot's, the views are as of that revision's observations, of the snapshot's lakes.
func (s *Snapshot) readBlock(ctx context.Context, first data.Week) (*viewBlock, data.Revision, error) {
	asOf := make([]data.Date, min(s.old.weeks, s.weeks[s.held].Week-first))
	for i := range asOf {
		asOf[i] = noDate
		if k := s.weekIndex(first + data.Week(i)); k >= 0 {
			asOf[i] = s.asOf[k]
		}
	}
	const tries = 3
	for range tries {
		r := newBlockReader(s, first, asOf)
		revision, err := s.old.source.Past(ctx, r.period(), r.observation)
		if err != nil {
			return nil, data.Revision{}, err
		}
		err = r.finish()
		if revision.Equal(s.Revision) && err != nil {
			return nil, data.Revision{}, fmt.Errorf("its past differs from its scan: %w", err)
		}
		if !errors.Is(err, errChanged) { // lakes that the snapshot does not know are left out of its maps
			for _, v := range r.block.views {
				v.Later = !revision.Equal(s.Revision)
			}
			return &r.block, revision, nil
		}
		asOf = r.newest
	}
	return nil, data.Revision{}, errChanged
}

// A blockReader makes a viewBlock from what [Source.Past] passes. It holds one lake's readings at a time.
type blockReader struct {
	snapshot *Snapshot
	block    viewBlock
	asOf     []data.Date // of the block's weeks, ascending; noDate for weeks before the first observation
	newest   []data.Date // what asOf must be, according to the observations passed so far

	at          int              // index of the current lake
	passes      readingGroup     // of the current lake
	samples     readingGroup     // of the current lake
	order       weekOrder        // of passes
	last        data.Observation // of the current lake, if there is one
	unknownLake error            // set if an observation is of a lake that the snapshot does not know
}

func newBlockReader(s *Snapshot, first data.Week, asOf []data.Date) *blockReader {
	r := &blockReader{snapshot: s, block: viewBlock{first: first}, asOf: asOf, newest: make([]data.Date, len(asOf))}
	for i := range asOf {
		r.newest[i] = noDate
		v := &View{Week: first + data.Week(i), Lakes: s.Lakes, Profile: s.Profile, Advisories: s.advisoriesIn(first + data.Week(i))}
		if i > 0 && asOf[i] == asOf[i-1] {
			v.States = r.block.views[i-1].States // a week without an observation shows the same as the week before
		} else {
			v.States = unknownStates(len(s.Lakes))
		}
		if asOf[i] != noDate {
			v.AsOf = asOf[i]
		}
		r.block.views = append(r.block.views, v)
	}
	return r
}

// period returns the days whose observations the block's maps need, in addition to the last value before them.
func (r *blockReader) period() data.Period {
	begin := r.block.first.Monday()
	for _, d := range r.asOf {
		if d != noDate {
			begin = min(begin, d)
			break
		}
	}
	last := r.block.first + data.Week(len(r.asOf)-1)
	first := (begin - (trophicDays - 1)).Week().Monday() // whole weeks, so that the best source of each is known
	return data.Period{First: max(first, data.MinDate), Last: last.Sunday()}
}

func (r *blockReader) observation(o data.Observation) error {
	if err := r.take(o); err != nil {
		return fmt.Errorf("past of lake %.80q on %s: %w", o.LakeID, o.Date, err)
	}
	return nil
}

func (r *blockReader) take(o data.Observation) error {
	if err := o.Check(); err != nil {
		return err
	}
	if !o.Type.Measured() {
		return errors.New("want measurements only")
	}
	lakes := r.snapshot.Lakes
	i := r.at
	for i < len(lakes) && lakes[i].ID < o.LakeID {
		i++
	}
	if i != r.at {
		r.endLake()
		r.at = i
	}
	switch {
	case i > 0 && o.LakeID <= lakes[i-1].ID:
		return errors.New("out of order: want ascending order of lake id")
	case len(r.passes.readings)+len(r.samples.readings) > 0 && data.CompareInScan(o, r.last) <= 0:
		return fmt.Errorf("comes after %s (%s, source %.80q): want each date once for each data type and source, in ascending order, the satellite's first",
			r.last.Date, r.last.Type, r.last.Source)
	}
	if k := max(int64(o.Date.Week())-int64(r.block.first), 0); k < int64(len(r.newest)) {
		r.newest[k] = max(r.newest[k], o.Date)
	}
	if i == len(lakes) || lakes[i].ID != o.LakeID {
		r.unknownLake = fmt.Errorf("lake %.80q: %w", o.LakeID, data.ErrNoLake)
		return nil
	}
	if o.Type == data.InSitu {
		r.samples.add(0, o)
	} else {
		outranked, outranks := r.order.add(i, &o)
		if outranks {
			r.passes.outrank(0, o.Date.Week().Monday())
		}
		r.passes.add(0, o)
		if outranked {
			r.passes.outrankLast()
		}
	}
	r.last = o
	return nil
}

// endLake puts the current lake on the maps.
func (r *blockReader) endLake() {
	passes, samples := r.passes.of(0), r.samples.of(0)
	if len(passes.readings)+len(samples.readings) == 0 {
		return
	}
	for i, v := range r.block.views {
		if r.asOf[i] != noDate && (i == 0 || r.asOf[i] != r.asOf[i-1]) {
			v.States[r.at] = r.snapshot.rule.state(passes, samples, r.asOf[i])
		}
	}
	r.passes.clear()
	r.samples.clear()
}

// finish ends the last lake. The error is errChanged if the newest observations passed are not those that asOf expects,
// or names a lake that the snapshot does not know.
func (r *blockReader) finish() error {
	r.endLake()
	for i := 1; i < len(r.newest); i++ {
		r.newest[i] = max(r.newest[i], r.newest[i-1])
	}
	if !slices.Equal(r.newest, r.asOf) {
		return errChanged
	}
	for _, v := range r.block.views {
		for k := range v.States {
			if v.States[k].Chlorophyll.Valid() {
				v.WithData++
			}
		}
	}
	return r.unknownLake
}
