package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"limnomap/data"
)

// ErrUnavailable is returned for the map of an old week if the Source that has its observations does not answer:
// try again soon.
var ErrUnavailable = errors.New("the source of the data does not answer")

const (
	// The weeks of a block are read together: a year of them, if their views fit into the memory of a block. By default, that
	// is one week for 1.4 million lakes.
	maxBlockWeeks = 52
	// maxBlocks are kept in memory, since playing through old years crosses from one block into the next.
	maxBlocks = 2
	// readTimeout bounds the read of one block. At a million rows a second it is enough for a year of 1.4 million lakes.
	readTimeout = 5 * time.Minute
)

// A viewBlock holds the views of consecutive calendar weeks.
type viewBlock struct {
	first data.Week
	views []*View
}

// oldViews reads the views of weeks whose observations are not in memory. It reads one block at a time, so that many
// requests cost no more memory and database time than one.
type oldViews struct {
	source     Source
	ctx        context.Context // that the snapshot was loaded with
	patience   time.Duration   // how long a request waits for a block; no limit if negative
	weeks      data.Week       // per block
	background func()          // see Options

	mu      sync.Mutex   // guards the fields below
	blocks  []*viewBlock // in memory, the last used one at the end
	pending *blockRead   // the read in progress, or nil
}

// A blockRead is the read of one block.
type blockRead struct {
	first data.Week
	done  chan struct{} // closed when block and err are set
	block *viewBlock
	err   error
}

// newOldViews returns the old views, each of which takes that many bytes.
func newOldViews(ctx context.Context, src Source, o *Options, bytes int64) *oldViews {
	memory := o.ViewMemory / 4 // of a block: up to maxBlocks are kept, while another one may be read
	fit := memory / max(bytes, 1)
	return &oldViews{source: src, ctx: ctx, patience: o.Patience, background: o.Background, weeks: data.Week(min(max(fit, 1), maxBlockWeeks))}
}

// oldView returns the view of a week that is older than those in memory, but not older than the first one.
func (s *Snapshot) oldView(ctx context.Context, w data.Week) (*View, error) {
	first := s.old.first(w)
	b := s.old.cached(first)
	if b == nil && ctx.Err() == nil {
		waiting, cancel := s.old.waiting(ctx)
		defer cancel()
		var err error
		if b, err = s.block(waiting, first); err != nil && ctx.Err() == nil {
			return nil, fmt.Errorf("view of %s: %w: %w", w, ErrUnavailable, err)
		}
	}
	if b == nil {
		return nil, fmt.Errorf("view of %s: %w", w, ctx.Err())
	}
	return b.views[w-b.first], nil
}

// waiting returns a context that ends when a request has waited for the Source long enough.
func (p *oldViews) waiting(ctx context.Context) (context.Context, context.CancelFunc) {
	if p.patience > 0 {
		return context.WithTimeout(ctx, p.patience)
	}
	return context.WithCancel(ctx)
}

// AwaitSource returns when the map of week w can be read from the Source, or need not be: when no read of other weeks is in
// progress. The error is the cause of ctx's end. A caller that lets others take turns calls it before View, so that the time
// that View waits for the Source is not spent on what others asked for.
func (s *Snapshot) AwaitSource(ctx context.Context, w data.Week) error {
	for s.Old(w) && s.Held(w) == nil {
		r := s.old.inProgress()
		if r == nil || r.first == s.old.first(w) {
			return nil
		}
		select {
		case <-r.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// inProgress returns the read in progress, or nil.
func (p *oldViews) inProgress() *blockRead {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pending
}

// block returns the block that begins with week first. It starts to read it, or waits for a read in progress; while
// another block is being read, it waits for that one first.
func (s *Snapshot) block(ctx context.Context, first data.Week) (*viewBlock, error) {
	for {
		r := s.old.startOrJoin(s, first)
		select {
		case <-r.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if r.first == first {
			return r.block, r.err
		}
		if b := s.old.cached(first); b != nil {
			return b, nil
		}
	}
}

// first returns the first week of the block of w.
func (p *oldViews) first(w data.Week) data.Week {
	after := w % p.weeks
	if after < 0 { // weeks before 1970
		after += p.weeks
	}
	return w - after
}

// bytes returns the memory of the blocks that are kept.
func (p *oldViews) bytes() (n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.blocks {
		for _, v := range b.views {
			n += stateBytes*int64(len(v.States)) + passBytes*int64(cap(v.passes))
		}
	}
	return n
}

// cached returns the block if it is in memory, or nil.
func (p *oldViews) cached(first data.Week) *viewBlock {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.blocks, func(b *viewBlock) bool { return b.first == first })
	if i < 0 {
		return nil
	}
	b := p.blocks[i]
	p.blocks = append(slices.Delete(p.blocks, i, i+1), b)
	return b
}

// startOrJoin returns the read in progress. If there is none, it starts one of the block that begins with week first.
func (p *oldViews) startOrJoin(s *Snapshot, first data.Week) *blockRead {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pending == nil {
		p.pending = &blockRead{first: first, done: make(chan struct{})}
		go p.read(s, p.pending)
	}
	return p.pending
}

// read reads a block, and keeps it in memory if it is of the snapshot's revision. It continues when all waiting requests
// are gone, so that a slow source's work is not wasted. It ends with the source's answer, after readTimeout, or with the
// context that the snapshot was loaded with.
func (p *oldViews) read(s *Snapshot, r *blockRead) {
	p.background() // decoding rows and building maps is work; who waits for it has a turn, and cached tiles go first
	ctx, cancel := context.WithTimeout(p.ctx, readTimeout)
	defer cancel()
	var revision data.Revision
	r.block, revision, r.err = s.readBlock(ctx, r.first)

	p.mu.Lock()
	p.pending = nil
	if r.err == nil && revision.Equal(s.Revision) {
		p.blocks = append(p.blocks, r.block)
		if len(p.blocks) > maxBlocks {
			p.blocks = slices.Delete(p.blocks, 0, 1)
		}
	}
	p.mu.Unlock()
	close(r.done)
}
