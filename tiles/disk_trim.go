package tiles

import (
	"context"
	"errors"
	"os"
	"time"
)

const (
	// The shares of what the cache may hold at which a trim begins, and down to which it goes: so far apart that the
	// next one is not due soon, and the first so far from the whole that writing need not stop meanwhile.
	highWater = 0.95
	lowWater  = 0.85
	// countAfter is the share of the budget that is written before the folder is counted anew: with several processes
	// in one folder, each overlooks at most so much of the others' writing.
	countAfter = 0.1
	// maxRemoveFaults is after how many files that cannot be removed a trim gives up: some may be protected, but not all.
	maxRemoveFaults = 64
)

// overdue reports whether the folder should be trimmed. One that could not be is left alone for a while: it would
// otherwise be tried, and complained of, at every write.
func (d *disk) overdue(limit int64) bool {
	if !d.walkable.allows(d.now()) {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.full || float64(d.fresh.bytes) > countAfter*float64(d.budget) || d.bytes > 0 && float64(d.bytes) > highWater*float64(limit)
}

// countAnew makes the next trim due, whatever was written.
func (d *disk) countAnew() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fresh.bytes = max(d.fresh.bytes, d.budget)
}

// trim counts what the folder holds, removes what crashed runs left half written, and if that is too much the least
// recently used. Others read and write meanwhile.
func (d *disk) trim(ctx context.Context) {
	root := d.root.Load()
	if root == nil {
		return
	}
	now := d.now()
	d.mu.Lock()
	full := d.full
	d.fresh, d.full = diskCount{}, false
	d.mu.Unlock()
	used := new(ages)
	found, err := countFiles(ctx, root, now, used)
	if err != nil {
		d.countAnew()
		d.trimFailed(err)
		return
	}
	d.mu.Lock()
	// What was written since the count began may be in it or not. That it counts twice errs on the safe side, until the
	// next count.
	d.setCount(found.bytes+d.fresh.bytes, found.entries+d.fresh.entries)
	d.mu.Unlock()
	limit := d.limit()
	if full {
		limit = min(limit, found.bytes)
	}
	if float64(found.bytes) > highWater*float64(limit) {
		excess := found.bytes - max(int64(lowWater*float64(limit)), 0)
		if err := d.evict(ctx, root, now, used, excess); err != nil {
			d.trimFailed(err)
			return
		}
	}
	if d.walkable.worked() {
		d.log.Info("tile cache on disk can be trimmed again", "dir", d.dir)
	}
}

// countFiles counts the entries in root, by their age too.
func countFiles(ctx context.Context, root *os.Root, now time.Time, used *ages) (found diskCount, err error) {
	err = walkFiles(ctx, root, func(f file) error {
		if f.info.ModTime().Sub(now) > touchInterval {
			// Written while the clock was wrong. Left as it is, it would count as just used until that time comes.
			_ = f.shard.Chtimes(f.name, now, now) // the next count tries again
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

// evict removes the least recently used entries until at least so many bytes are gone.
func (d *disk) evict(ctx context.Context, root *os.Root, now time.Time, used *ages, excess int64) error {
	limit, within := used.cutoff(excess)
	var faults []error
	err := walkFiles(ctx, root, func(f file) error {
		age := ageOf(now, f.info.ModTime())
		if f.temp || age < limit || age == limit && within <= 0 {
			return nil
		}
		if err := d.remove(f.shard, f.name, f.info.Size()); err != nil {
			if faults = append(faults, err); len(faults) == maxRemoveFaults {
				return err
			}
			return nil
		}
		d.metrics.diskEvictions.Inc()
		if age == limit {
			within -= onDisk(f.info.Size())
		}
		return nil
	})
	if err == nil && len(faults) > 0 {
		err = faults[0] // of many, which are likely alike
	}
	return err
}

// trimFailed notes a trim that could not be finished. What one that the end of the Service ended did not do is done at
// the next start.
func (d *disk) trimFailed(err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	d.metrics.trimFaults.Inc()
	if d.walkable.failed(d.now()) {
		d.log.Warn("tile cache on disk cannot be trimmed", "error", err)
	}
}

// ages counts bytes by minutes since their last use, up to 45 days. With it a trim takes the memory of one array
// where a sorted list of a large folder's files would take gigabytes, and its order is as fine as touchInterval
// gives it meaning.
type ages [1 << 16]int64

func ageOf(now, used time.Time) int {
	return int(min(max(now.Sub(used)/time.Minute, 0), time.Duration(len(ages{})-1)))
}

// cutoff returns the age from which on entries must go so that at least excess bytes go, and how many bytes of
// exactly that age must.
func (a *ages) cutoff(excess int64) (age int, within int64) {
	for age = len(a) - 1; age > 0 && excess > a[age]; age-- {
		excess -= a[age]
	}
	return age, excess
}
