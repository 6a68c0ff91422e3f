package data

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// ErrAway is returned for the map of an old week while the Source that has it does not answer, or is changing under
// the snapshot's hands: try again soon.
var ErrAway = errors.New("the source of the data does not answer")

const (
	// The weeks of a block are read at once: a year of them, as long as their views take no more than maxBlockBytes. Of
	// 1.4 million lakes it is one.
	maxBlockWeeks = 52
	maxBlockBytes = 64 << 20
	// maxBlocks are held: whoever plays through old years comes from one block into the next.
	maxBlocks = 2
	// readTimeout ends the reading of a block. At a million rows a second it is enough for 1.4 million lakes' year.
	readTimeout = 5 * time.Minute
)

// A block is the views of some calendar weeks in a row.
type block struct {
	first Week
	views []*View
}

// A past reads the maps of weeks of which too little is held in memory. One block is read at a time, so that asking for
// many weeks at once costs the room and the store's time of one.
type past struct {
	source   Source
	ctx      context.Context // under which the snapshot was loaded
	patience time.Duration   // with which a block is waited for; negative without bound
	weeks    Week            // in a block

	mu      sync.Mutex // guards what follows
	blocks  []*block   // that are held, the one used last at the end
	reading *reading   // nil while none is
}

// A reading is a block that is being read.
type reading struct {
	first Week
	done  chan struct{} // closed once block and err are set
	block *block
	err   error
}

func newPast(ctx context.Context, src Source, patience time.Duration, lakes int) *past {
	fit := maxBlockBytes / (stateBytes * max(lakes, 1))
	return &past{source: src, ctx: ctx, patience: patience, weeks: Week(min(max(fit, 1), maxBlockWeeks))}
}

// pastView returns the map of a week that is older than those held in memory, and not older than the first one.
func (s *Snapshot) pastView(ctx context.Context, w Week) (*View, error) {
	first := Week(floorDiv(int64(w), int64(s.past.weeks))) * s.past.weeks
	b := s.past.held(first)
	if b == nil && ctx.Err() == nil {
		waiting := ctx
		if s.past.patience > 0 {
			var cancel context.CancelFunc
			waiting, cancel = context.WithTimeout(ctx, s.past.patience)
			defer cancel()
		}
		var err error
		if b, err = s.block(waiting, first); err != nil && ctx.Err() == nil {
			return nil, fmt.Errorf("view of %s: %w: %w", w, ErrAway, err)
		}
	}
	if b == nil {
		return nil, fmt.Errorf("view of %s: %w", w, ctx.Err())
	}
	return b.views[w-b.first], nil
}

// block has the block that begins with week first read, or waits for who does already. While another one is being
// read it waits for that first.
func (s *Snapshot) block(ctx context.Context, first Week) (*block, error) {
	for {
		r := s.past.join(s, first)
		select {
		case <-r.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if r.first == first {
			return r.block, r.err
		}
		if b := s.past.held(first); b != nil {
			return b, nil
		}
	}
}

// held returns the block if it is held.
func (p *past) held(first Week) *block {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.blocks, func(b *block) bool { return b.first == first })
	if i < 0 {
		return nil
	}
	b := p.blocks[i]
	p.blocks = append(slices.Delete(p.blocks, i, i+1), b)
	return b
}

// join returns what is being read now, which is that block if nothing was.
func (p *past) join(s *Snapshot, first Week) *reading {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reading == nil {
		p.reading = &reading{first: first, done: make(chan struct{})}
		go p.read(s, p.reading)
	}
	return p.reading
}

// read reads a block, and keeps it if it is of the snapshot's revision. It goes on when all who waited have left, so
// that a slow source is not asked in vain; it ends with the source's answer, after readTimeout, or with the context
// that the snapshot was loaded under.
func (p *past) read(s *Snapshot, r *reading) {
	ctx, cancel := context.WithTimeout(p.ctx, readTimeout)
	defer cancel()
	var revision Revision
	r.block, revision, r.err = s.readBlock(ctx, r.first)

	p.mu.Lock()
	p.reading = nil
	if r.err == nil && revision.Equal(s.Revision) {
		p.blocks = append(p.blocks, r.block)
		if len(p.blocks) > maxBlocks {
			p.blocks = slices.Delete(p.blocks, 0, 1)
		}
	}
	p.mu.Unlock()
	close(r.done)
}
