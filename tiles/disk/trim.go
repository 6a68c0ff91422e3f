package disk

import (
	"context"
	"errors"
	"os"
	"time"
)

const (
	// A trim begins when the cache holds highWater of its limit, and ends at lowWater: far enough apart that the next trim
	// is not due soon, and early enough that writes need not stop during the trim.
	highWater = 0.95
	lowWater  = 0.85
	// countAfter is the share of the budget that is written before the folder is counted again. If several processes share
	// a folder, each of them misses at most that much of the others' writes.
	countAfter = 0.1
	// maxRemoveFaults is after how many files that cannot be removed a trim gives up: some may be protected, but not all.
	maxRemoveFaults = 64
)

// trimDue reports whether the folder should be trimmed. After a failed trim it is false for a while, since otherwise each
// write would try again.
func (c *Cache) trimDue(limit int64) bool {
	if !c.trimming.allows(c.now()) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.full || float64(c.written.bytes) > countAfter*float64(c.budget) || c.bytes > 0 && float64(c.bytes) > highWater*float64(limit)
}

// requireCount makes the next trim due, whatever was written.
func (c *Cache) requireCount() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written.bytes = max(c.written.bytes, c.budget)
}

// trim counts what the folder holds, removes abandoned temporary files, and if the rest is too much, the entries that were
// not used for the longest time. Reads and writes continue meanwhile.
func (c *Cache) trim(ctx context.Context) {
	root := c.root.Load()
	if root == nil {
		return
	}
	now := c.now()
	c.mu.Lock()
	full := c.full
	c.written, c.full = usage{}, false
	c.mu.Unlock()
	used := new(ages)
	found, err := countFiles(ctx, root, now, used)
	if err != nil {
		c.requireCount()
		c.trimFailed(err)
		return
	}
	c.mu.Lock()
	// Writes since the count began may be in it or not. Until the next count they may count twice, which is the safe error.
	c.setCount(found.bytes+c.written.bytes, found.entries+c.written.entries)
	c.mu.Unlock()
	limit := c.limit()
	if full {
		limit = min(limit, found.bytes)
	}
	if float64(found.bytes) > highWater*float64(limit) {
		excess := found.bytes - max(int64(lowWater*float64(limit)), 0)
		if err := c.evict(ctx, root, now, used, excess); err != nil {
			c.trimFailed(err)
			return
		}
	}
	if c.trimming.worked() {
		c.log.Info("tile cache on disk can be trimmed again", "dir", c.dir)
	}
}

// countFiles counts the entries in root, and adds their bytes to used by age.
func countFiles(ctx context.Context, root *os.Root, now time.Time, used *ages) (found usage, err error) {
	err = walkFiles(ctx, root, func(f file) error {
		if f.info.ModTime().Sub(now) > touchInterval {
			// Written while the clock was wrong: unchanged, the entry would count as just used until that time comes.
			_ = f.shard.Chtimes(f.name, now, now) // on error the next count tries again
		}
		if f.abandoned(now) {
			_ = f.shard.Remove(f.name) // likewise
		}
		if !f.temp {
			size := onDisk(f.info.Size())
			found.bytes += size
			found.entries++
			used[ageOf(now, f.info.ModTime())] += size
		}
		return nil
	})
	return found, err
}

// evict removes the least recently used entries, at least that many bytes.
func (c *Cache) evict(ctx context.Context, root *os.Root, now time.Time, used *ages, excess int64) error {
	limit, within := used.cutoff(excess)
	var faults []error
	err := walkFiles(ctx, root, func(f file) error {
		age := ageOf(now, f.info.ModTime())
		if f.temp || age < limit || age == limit && within <= 0 {
			return nil
		}
		if err := c.remove(f.shard, f.name, f.info.Size()); err != nil {
			if faults = append(faults, err); len(faults) == maxRemoveFaults {
				return err
			}
			return nil
		}
		c.metrics.evictions.Inc()
		if age == limit {
			within -= onDisk(f.info.Size())
		}
		return nil
	})
	if err == nil && len(faults) > 0 {
		err = faults[0] // the others are probably similar
	}
	return err
}

// trimFailed records a trim that did not finish. A trim that Close interrupted is no fault: the next start repeats it.
func (c *Cache) trimFailed(err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	c.metrics.trimFaults.Inc()
	if c.trimming.failed(c.now()) {
		c.log.Warn("tile cache on disk cannot be trimmed", "error", err)
	}
}

// ages counts bytes by minutes since their last use, up to 45 days. With it a trim needs the memory of one array, where a
// sorted list of a large folder's files would take gigabytes. touchInterval makes a finer order meaningless.
type ages [1 << 16]int64

func ageOf(now, used time.Time) int {
	return int(min(max(now.Sub(used)/time.Minute, 0), time.Duration(len(ages{})-1)))
}

// cutoff returns the age from which entries must be removed so that at least excess bytes are gone, and how many bytes of
// exactly that age must be removed.
func (a *ages) cutoff(excess int64) (age int, within int64) {
	for age = len(a) - 1; age > 0 && excess > a[age]; age-- {
		excess -= a[age]
	}
	return age, excess
}
