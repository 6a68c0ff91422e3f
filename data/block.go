package data

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// errMoving is returned if the source changes faster than it is read.
var errMoving = errors.New("it has changed while it was read")

// noDate is older than any.
const noDate = minDate - 1

// readBlock makes the views of the block that begins with week first from what the source has now, and returns the
// revision that they are of. If that is no longer the snapshot's, they are the truth of a later moment, as of the
// observations of that moment, about the lakes that the snapshot knows.
func (s *Snapshot) readBlock(ctx context.Context, first Week) (*block, Revision, error) {
	asOf := make([]Date, min(s.past.weeks, s.Weeks[s.held].Week-first))
	for i := range asOf {
		asOf[i] = noDate
		if k := s.weekIndex(first + Week(i)); k >= 0 {
			asOf[i] = s.asOf[k]
		}
	}
	const tries = 3
	for range tries {
		r := newBlockReader(s, first, asOf)
		revision, err := s.past.source.Past(ctx, r.period(), r.observation)
		if err != nil {
			return nil, Revision{}, err
		}
		fault := r.finish()
		if revision.Equal(s.Revision) && fault != nil {
			return nil, Revision{}, fmt.Errorf("its past is not that of its scan: %w", fault)
		}
		if !errors.Is(fault, errMoving) { // lakes that the snapshot does not know are not on its maps
			for _, v := range r.block.views {
				v.Later = !revision.Equal(s.Revision)
			}
			return &r.block, revision, nil
		}
		asOf = r.newest
	}
	return nil, Revision{}, errMoving
}

// A blockReader makes a block of what [Source.Past] passes, one lake's samples in memory at a time.
type blockReader struct {
	snapshot *Snapshot
	block    block
	asOf     []Date // of the block's weeks, ascending; noDate before the first observation
	newest   []Date // what asOf should be by what was passed

	at      int // the lake at hand
	samples shelf
	last    Date // the date of its last sample
	strange error
}

func newBlockReader(s *Snapshot, first Week, asOf []Date) *blockReader {
	r := &blockReader{snapshot: s, block: block{first: first}, asOf: asOf, newest: make([]Date, len(asOf))}
	for i := range asOf {
		r.newest[i] = noDate
		v := &View{Week: first + Week(i), Lakes: s.Lakes}
		if i > 0 && asOf[i] == asOf[i-1] {
			v.States = r.block.views[i-1].States // a week without an observation looks like the one before
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

// period returns the days whose observations the block's maps hang on, beside the last value before them.
func (r *blockReader) period() Period {
	begin := r.block.first.Monday()
	for _, d := range r.asOf {
		if d != noDate {
			begin = min(begin, d)
			break
		}
	}
	last := r.block.first + Week(len(r.asOf)-1)
	return Period{First: max(begin-(trophicDays-1), minDate), Last: last.Sunday()}
}

func (r *blockReader) observation(o Observation) error {
	if err := r.take(o); err != nil {
		return fmt.Errorf("past of lake %.80q on %s: %w", o.LakeID, o.Date, err)
	}
	return nil
}

func (r *blockReader) take(o Observation) error {
	if err := o.Check(); err != nil {
		return err
	}
	if o.Type != Satellite {
		return errors.New("want observations of satellites only")
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
	case len(r.samples.samples) > 0 && o.Date <= r.last:
		return fmt.Errorf("comes after %s: want each date once, in ascending order", r.last)
	}
	if k := max(int64(o.Date.Week())-int64(r.block.first), 0); k < int64(len(r.newest)) {
		r.newest[k] = max(r.newest[k], o.Date)
	}
	if i == len(lakes) || lakes[i].ID != o.LakeID {
		r.strange = fmt.Errorf("lake %.80q: %w", o.LakeID, ErrNoLake)
		return nil
	}
	r.samples.add(0, o)
	r.last = o.Date
	return nil
}

// endLake puts the lake at hand on the maps.
func (r *blockReader) endLake() {
	of := r.samples.of(0)
	if len(of.samples) == 0 {
		return
	}
	for i, v := range r.block.views {
		if r.asOf[i] != noDate && (i == 0 || r.asOf[i] != r.asOf[i-1]) {
			v.States[r.at] = r.snapshot.state(of, r.asOf[i])
		}
	}
	r.samples = shelf{samples: r.samples.samples[:0], remarks: r.samples.remarks[:0], first: r.samples.first[:0]}
}

// finish closes the last lake. The error is errMoving if the maps are as of other days than those of the newest
// observations that were passed, or tells of a lake that the snapshot does not know.
func (r *blockReader) finish() error {
	r.endLake()
	for i := 1; i < len(r.newest); i++ {
		r.newest[i] = max(r.newest[i], r.newest[i-1])
	}
	if !slices.Equal(r.newest, r.asOf) {
		return errMoving
	}
	for _, v := range r.block.views {
		for k := range v.States {
			if v.States[k].Chlorophyll.Valid() {
				v.WithData++
			}
		}
	}
	return r.strange
}
