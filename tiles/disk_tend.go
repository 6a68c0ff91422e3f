package tiles

import (
	"context"
	"os"
	"time"
)

const (
	// tendInterval is how often the disk is looked at while nothing is written. Another program that fills it at
	// 100 MB/s takes a default floor's worth in that time.
	tendInterval = 10 * time.Second
	// defaultMinFree is the free space that is left on a disk unless that is more than a share of it, as on a small
	// one that is there for the cache alone.
	defaultMinFree = 1 << 30
	minFreeShare   = 20 // a twentieth, which ext4 reserves for root by default
)

// tend looks after the folder until ctx ends: that it is the one that its name says, that its files are counted, and that
// they are trimmed when they are too many.
func (d *disk) tend(ctx context.Context) {
	tick := time.NewTicker(tendInterval)
	defer tick.Stop()
	for {
		d.checkFolder()
		d.checkSpace()
		if d.overdue(d.limit()) {
			d.trim(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-d.due:
		case <-tick.C:
		}
	}
}

// nudge has tend look now.
func (d *disk) nudge() {
	select {
	case d.due <- struct{}{}:
	default: // it will
	}
}

// checkFolder reopens a folder that was removed, or moved away and replaced. A disk that only answers hits would not
// notice, and go on in the one that is gone.
func (d *disk) checkFolder() {
	root := d.root.Load()
	if root != nil {
		opened, err := root.Stat(".")
		named, namedErr := os.Stat(d.dir)
		if err == nil && namedErr == nil && os.SameFile(opened, named) {
			return
		}
	}
	if !d.writable.allows(d.now()) {
		return
	}
	if err := d.reopen(root); err != nil {
		d.writeFault(err)
	}
}

// checkSpace notes whether the disk is short of free space.
func (d *disk) checkSpace() {
	free, floor, ok := d.space()
	switch {
	case ok && free < floor:
		if d.roomy.failed(d.now()) {
			d.log.Warn("little space is free on the disk of the tile cache; the cache makes room", "dir", d.dir, "free", free, "min_free", floor)
		}
	case d.roomy.worked():
		d.log.Info("enough space is free on the disk of the tile cache again", "dir", d.dir, "free", free, "min_free", floor)
	}
}

// space returns how much of the disk is free and how much must be. ok is false if there is no such bound.
func (d *disk) space() (free, floor int64, ok bool) {
	if d.minFree < 0 {
		return 0, 0, false
	}
	free, total, ok := d.spaceOf(d.dir)
	if d.minFree > 0 {
		return free, d.minFree, ok
	}
	return free, min(defaultMinFree, total/minFreeShare), ok
}

// limit returns how many bytes the folder may hold now: the budget, or less where the disk is short of free space.
// It may be negative.
func (d *disk) limit() int64 {
	free, floor, ok := d.space()
	if !ok {
		return d.budget
	}
	return min(d.budget, d.held()+free-floor)
}
