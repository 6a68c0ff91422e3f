package tiles

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	// A trim goes down to this share of the budget, so that it is not due again at the next write.
	trimTo = 0.9
	// walkAfter is the share of the budget that is written before the folder is counted anew: with several processes
	// in one folder, each overlooks at most so much of the others' writing.
	walkAfter = 0.1
	// tempAge is how old a temporary file is before nobody can still be writing it.
	tempAge = 10 * time.Minute
	// listBatch is how many names are read from a folder at a time, however many it holds.
	listBatch = 256
)

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

// overdue reports whether the folder should be walked again. One that could not be walked is left alone for a while:
// over budget it would otherwise be tried, and complained of, at every write.
func (d *disk) overdue() bool {
	if !d.walkable.allows(d.now()) {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.bytes > d.budget || d.written > int64(walkAfter*float64(d.budget))
}

// trim counts what the folder holds, removes what crashed runs left half written, and if the budget is exceeded the
// least recently used.
func (d *disk) trim() {
	root := d.root.Load()
	if root == nil {
		return
	}
	now := d.now()
	used := new(ages)
	var bytes, entries int64
	err := d.walk(root, func(name string, info fs.FileInfo) {
		if isTemp(info.Name()) {
			if now.Sub(info.ModTime()) > tempAge {
				_ = root.Remove(name) // the next walk tries again
			}
			return
		}
		size := onDisk(info.Size())
		bytes += size
		entries++
		used[ageOf(now, info.ModTime())] += size
	})
	if err != nil {
		d.walkFailed(err)
		return
	}
	d.mu.Lock()
	d.written = 0
	d.setCount(bytes, entries)
	d.mu.Unlock()
	if d.walkable.worked() {
		d.log.Info("tile cache on disk can be trimmed again", "dir", d.dir)
	}
	if bytes <= d.budget {
		return
	}
	limit, within := used.cutoff(bytes - int64(trimTo*float64(d.budget)))
	err = d.walk(root, func(name string, info fs.FileInfo) {
		age := ageOf(now, info.ModTime())
		if isTemp(info.Name()) || age < limit || age == limit && within <= 0 {
			return
		}
		if d.remove(root, name, info.Size()) {
			d.metrics.diskEvictions.Inc()
			if age == limit {
				within -= onDisk(info.Size())
			}
		}
	})
	if err != nil {
		d.walkFailed(err)
	}
}

// errStopping ends a walk when the service closes. What was not done is done at the next start.
var errStopping = errors.New("the service is closing")

// walkFailed notes a walk that could not be finished.
func (d *disk) walkFailed(err error) {
	if errors.Is(err, errStopping) {
		return
	}
	d.metrics.readFaults.Inc()
	if d.walkable.failed(d.now()) {
		d.log.Warn("tile cache on disk cannot be trimmed", "error", err)
	}
}

// walk calls visit for each regular file that bears a name of ours, and for nothing else: whoever points the cache at
// a folder with other things in it loses none of them.
func (d *disk) walk(root *os.Root, visit func(name string, info fs.FileInfo)) error {
	for i := range 256 {
		if err := d.walkShard(root, fmt.Sprintf("%02x", i), visit); err != nil {
			return err
		}
	}
	return nil
}

func (d *disk) walkShard(root *os.Root, shard string, visit func(name string, info fs.FileInfo)) error {
	if info, err := root.Lstat(shard); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil
	}
	dir, err := root.Open(shard)
	if err != nil {
		return err
	}
	defer dir.Close()
	for {
		select {
		case <-d.stopping:
			return errStopping
		default:
		}
		batch, err := dir.ReadDir(listBatch)
		for _, e := range batch {
			sum, ok := parseSum(e.Name())
			if !(ok && sum.shard() == shard || isTemp(e.Name())) {
				continue
			}
			// Not e.Info(): that looks along the whole path, which the root does not guard.
			name := filepath.Join(shard, e.Name())
			if info, err := root.Lstat(name); err == nil && info.Mode().IsRegular() {
				visit(name, info)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
