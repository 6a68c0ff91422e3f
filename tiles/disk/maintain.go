package disk

import (
	"context"
	"os"
	"time"
)

const (
	// maintainInterval is how often the disk is checked while nothing is written. Another program that fills it at 100 MB/s
	// uses up the default for MinFree in that time.
	maintainInterval = 10 * time.Second
	// defaultMinFree is the default for Options.MinFree, on disks where it is less than a share of the disk. A smaller disk
	// may be there for the cache only.
	defaultMinFree = 1 << 30
	minFreeShare   = 20 // a twentieth, which ext4 reserves for root by default
)

// maintain looks after the folder until ctx ends: it opens it again if it was replaced, and counts and trims its files.
func (c *Cache) maintain(ctx context.Context) {
	tick := time.NewTicker(maintainInterval)
	defer tick.Stop()
	for {
		c.checkFolder()
		c.checkSpace()
		if c.trimDue(c.limit()) {
			c.trim(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
		case <-tick.C:
		}
	}
}

// maintainNow makes maintain run without waiting for its interval.
func (c *Cache) maintainNow() {
	select {
	case c.wake <- struct{}{}:
	default: // it will run anyway
	}
}

// checkFolder reopens a folder that was removed or replaced. Reads alone would not notice, and would continue to use the
// old folder.
func (c *Cache) checkFolder() {
	root := c.root.Load()
	if root != nil {
		opened, err := root.Stat(".")
		named, namedErr := os.Stat(c.dir)
		if err == nil && namedErr == nil && os.SameFile(opened, named) {
			return
		}
	}
	if !c.writing.allows(c.now()) {
		return
	}
	if err := c.reopen(root); err != nil {
		c.writeFault(err)
	}
}

// checkSpace records whether the disk has enough free space.
func (c *Cache) checkSpace() {
	free, minFree, ok := c.space()
	switch {
	case ok && free < minFree:
		if c.room.failed(c.now()) {
			c.log.Warn("little free space on the disk of the tile cache: the cache shrinks", "dir", c.dir, "free", free, "min_free", minFree)
		}
	case c.room.worked():
		c.log.Info("enough free space on the disk of the tile cache again", "dir", c.dir, "free", free, "min_free", minFree)
	}
}

// space returns how many bytes of the disk are free and how many must be. It reports false if there is no such bound.
func (c *Cache) space() (free, minFree int64, ok bool) {
	if c.minFree < 0 {
		return 0, 0, false
	}
	free, total, ok := c.spaceOf(c.dir)
	if c.minFree > 0 {
		return free, c.minFree, ok
	}
	return free, min(defaultMinFree, total/minFreeShare), ok
}

// limit returns how many bytes the folder may hold now: the budget, or less if the disk is short of free space. It may be
// negative.
func (c *Cache) limit() int64 {
	free, minFree, ok := c.space()
	if !ok {
		return c.budget
	}
	return min(c.budget, c.used()+free-minFree)
}
