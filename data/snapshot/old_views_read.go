package snapshot

import (
	"context"
	"errors"
	"fmt"

	"limnomap/data"
)

// noDate is before every date.
const noDate = data.MinDate - 1

// readBlock reads the views of the block that begins with week first, and returns the source's present revision, which
// they show. If it is later than the snapshot's, the views are of that revision's observations, of the snapshot's lakes.
func (s *Snapshot) readBlock(ctx context.Context, first data.Week) (*viewBlock, data.Revision, error) {
	r := newBlockReader(s, first)
	revision, err := s.old.source.Past(ctx, r.period(), r.observation)
	if err != nil {
		return nil, data.Revision{}, err
	}
	later := !revision.Equal(s.Revision)
	if err := r.finish(); err != nil && !later { // lakes of a later revision are left out
		return nil, data.Revision{}, fmt.Errorf("its past differs from its scan: %w", err)
	}
	if err := s.readPasses(ctx, s.old.source, r.block.views...); err != nil {
		return nil, data.Revision{}, err
	}
	for _, v := range r.block.views {
		v.Later = later
	}
	return &r.block, revision, nil
}

// A blockReader makes a viewBlock from what [Source.Past] passes. It holds one lake's readings at a time.
type blockReader struct {
	snapshot *Snapshot
	block    viewBlock

	at          int              // index of the current lake
	passes      readingGroup     // of the current lake
	samples     readingGroup     // of the current lake
	order       weekOrder        // of passes
	last        data.Observation // of the current lake, if there is one
	unknownLake error            // set if an observation is of a lake that the snapshot does not know
}

func newBlockReader(s *Snapshot, first data.Week) *blockReader {
	r := &blockReader{snapshot: s, block: viewBlock{first: first}}
	for w := first; w < first+min(s.old.weeks, s.weeks[s.held].Week-first); w++ {
		r.block.views = append(r.block.views, &View{Week: w, AsOf: w.Sunday(), Lakes: s.Lakes, States: unknownStates(len(s.Lakes)), Profile: s.Profile,
			Pixels: s.Pixels, waters: s.waters, Advisories: s.advisoriesIn(w)})
	}
	return r
}

// period returns the days whose observations the block's maps need, in addition to the last value before them.
func (r *blockReader) period() data.Period {
	views := r.block.views
	first := (views[0].AsOf - (trophicDays - 1)).Week().Monday() // whole weeks, so that the best source of each is known
	return data.Period{First: max(first, data.MinDate), Last: views[len(views)-1].AsOf}
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
	for _, v := range r.block.views {
		v.States[r.at] = r.snapshot.rule.state(passes, samples, v.AsOf)
	}
	r.passes.clear()
	r.samples.clear()
}

// finish ends the last lake. The error names a lake that the snapshot does not know.
func (r *blockReader) finish() error {
	r.endLake()
	for _, v := range r.block.views {
		for k := range v.States {
			if v.States[k].Chlorophyll.Valid() {
				v.WithData++
			}
		}
	}
	return r.unknownLake
}
