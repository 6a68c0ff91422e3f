package tiles

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// touchInterval is how stale an entry's modification time may get before a read renews it. Trimming needs no
	// finer order, and a write for each read would wear the disk out (mtimeInterval in cmd/go/internal/cache).
	touchInterval = time.Hour
	// maxReads bounds the threads that a hanging disk (a lost network share) can hold.
	maxReads = 64
	// readPatience is how long a read may take before the disk counts as hanging: far longer than a busy one takes, and
	// short of Options.RenderTimeout, so that the tile is still drawn in time.
	readPatience = 2 * time.Second
	// closePatience is how long close waits for a disk to take what is still to be written: a busy one takes maxWrites
	// in far less, and whoever ends a server does not wait for a dead one.
	closePatience = 5 * time.Second
	// maxWrites is how many tiles may wait to be written, a few megabytes. More are dropped: they are in memory, and
	// drawing one again is cheaper than waiting.
	maxWrites = 256
)

// A disk is the tier of tiles in a folder: one file for each, in 256 sub-folders. The folder is the only index, so
// that several processes may share it. Files are reached through an [os.Root], which no symbolic link leads out of.
type disk struct {
	dir     string
	budget  int64
	minFree int64 // as Options.MinFree
	now     func() time.Time
	spaceOf func(dir string) (free, total int64, ok bool)
	read    func(root *os.Root, name string, sum Sum) (Tile, fs.FileInfo, error)
	log     *slog.Logger
	metrics *metrics

	reads                               *semaphore.Weighted
	readable, writable, walkable, roomy health
	opening                             sync.Mutex              // held while root is replaced
	root                                atomic.Pointer[os.Root] // nil until the folder could be opened
	writes                              chan diskWrite
	due                                 chan struct{} // holds a value when tend is to look now
	stop                                context.CancelFunc
	running                             sync.WaitGroup // one writes, one tends

	mu      sync.Mutex // guards what follows: what the last count found and what was done since
	bytes   int64
	entries int64
	fresh   diskCount // written since the last count began
	full    bool      // the disk had no room left for an entry since then
}

type diskWrite struct {
	key  Key
	tile Tile
}

type diskCount struct{ bytes, entries int64 }

// newDisk opens the folder; whoever calls it starts it. A folder that cannot be opened is a fault like any later one.
func newDisk(dir string, budget, minFree int64, now func() time.Time, log *slog.Logger, m *metrics) *disk {
	d := &disk{
		dir:     dir,
		budget:  budget,
		minFree: minFree,
		now:     now,
		spaceOf: spaceOf,
		read:    readEntry,
		log:     log,
		metrics: m,
		reads:   semaphore.NewWeighted(maxReads),
		writes:  make(chan diskWrite, maxWrites),
		due:     make(chan struct{}, 1),
		// Until the folder is counted it is believed to be as full as one may be, so that what is written meanwhile does
		// not take it past the budget.
		bytes: int64(highWater * float64(budget)),
	}
	d.readable.gauge, d.writable.gauge = m.readFailing, m.writeFailing
	d.walkable.gauge, d.roomy.gauge = m.trimFailing, m.spaceFailing
	if err := d.reopen(nil); err != nil {
		d.writeFault(err)
	}
	return d
}

// start starts the two goroutines of the disk: one writes what put brings, the other keeps the folder within its bounds.
// close ends both.
func (d *disk) start() {
	ctx, stop := context.WithCancel(context.Background())
	d.stop = stop
	d.running.Go(func() {
		for w := range d.writes {
			d.write(w.key, w.tile)
		}
	})
	d.running.Go(func() { d.tend(ctx) })
}

// close writes what still waits, and ends the goroutines. Those that a hanging disk holds end when it answers.
func (d *disk) close() {
	d.stop()
	close(d.writes)
	ended := make(chan struct{})
	go func() { // ends with the others
		d.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(closePatience):
		d.log.Warn("tile cache on disk does not answer; what was still to be written is left", "dir", d.dir)
		return
	}
	if root := d.root.Load(); root != nil {
		_ = root.Close() // only read through; nothing is lost
	}
}

// errHangs is the fault of a disk that does not answer a read in time.
var errHangs = fmt.Errorf("no answer within %v", readPatience)

// get returns the tile of that sum, if the disk has it whole and gives it in time. Everything else is a miss.
func (d *disk) get(ctx context.Context, sum Sum) (Tile, bool) {
	root := d.root.Load()
	if root == nil || !d.readable.allows(d.now()) {
		return Tile{}, false
	}
	ctx, cancel := context.WithTimeoutCause(ctx, readPatience, errHangs)
	defer cancel()
	if d.reads.Acquire(ctx, 1) != nil {
		d.abandonRead(ctx)
		return Tile{}, false
	}
	type answer struct {
		tile Tile
		ok   bool
	}
	answers := make(chan answer, 1)
	go func() { // ends when the disk answers
		defer d.reads.Release(1)
		t, ok := d.fetch(root, sum)
		answers <- answer{t, ok}
	}()
	select {
	case a := <-answers:
		return a.tile, a.ok
	case <-ctx.Done():
		d.abandonRead(ctx)
		return Tile{}, false
	}
}

// abandonRead notes that a read was not waited for any longer, which is a fault of the disk unless the caller has left.
func (d *disk) abandonRead(ctx context.Context) {
	if err := context.Cause(ctx); errors.Is(err, errHangs) {
		d.readFault(err)
	}
}

// fetch reads the tile of that sum, and notes what that says of the disk. What is damaged is removed, so that the tile
// drawn next takes its place.
func (d *disk) fetch(root *os.Root, sum Sum) (Tile, bool) {
	name := entryName(sum)
	t, info, err := d.read(root, name, sum)
	switch {
	case err == nil:
		d.touch(root, name, info)
	case errors.Is(err, ErrDamaged):
		d.metrics.damaged.Inc()
		// A folder may hold things that are not ours, and is none of the disk's faults.
		if err := d.remove(root, name, info.Size()); err != nil && !info.IsDir() {
			d.writeFault(err)
		}
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, os.ErrClosed): // os.ErrClosed: it has just been reopened
		return Tile{}, false
	default:
		d.readFault(err)
		return Tile{}, false
	}
	if d.readable.worked() {
		d.log.Info("tile cache on disk can be read again", "dir", d.dir)
	}
	return t, err == nil
}

func (d *disk) readFault(err error) {
	d.metrics.readFaults.Inc()
	if d.readable.failed(d.now()) {
		d.log.Warn("tile cache on disk cannot be read; tiles are drawn instead", "error", err)
	}
}

// touch marks an entry as used, also one whose time a wrong clock set in the future. A failure costs only some order in
// the next trim, and a folder that cannot be written is noticed by writing.
func (d *disk) touch(root *os.Root, name string, info fs.FileInfo) {
	now := d.now()
	if age := now.Sub(info.ModTime()); age > touchInterval || age < -touchInterval {
		_ = root.Chtimes(name, now, now)
	}
}

// remove removes one file and takes it off the count. That it is gone already is no error: another process of the same
// folder was quicker, and the next count finds out.
func (d *disk) remove(root *os.Root, name string, size int64) error {
	err := root.Remove(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, os.ErrClosed) {
		return nil
	}
	if err == nil {
		d.mu.Lock()
		d.setCount(d.bytes-onDisk(size), d.entries-1)
		d.mu.Unlock()
	}
	return err
}

// put has t written soon, or drops it if too much waits to be written: no answer waits for the disk. It must not be
// called after close.
func (d *disk) put(key Key, t Tile) {
	select {
	case d.writes <- diskWrite{key, t}:
	default:
		d.metrics.dropped.Inc()
	}
}

// write stores t, unless the disk is failing or there is no room.
func (d *disk) write(key Key, t Tile) {
	if len(t.Bytes) > maxPNG || !d.writable.allows(d.now()) || d.store(key, t) != nil {
		d.metrics.dropped.Inc()
	}
}

// errNoRoom is returned for an entry that the budget or the disk's free space has no room for.
var errNoRoom = errors.New("no room for another tile on disk")

// store writes t now, and notes what that says of the disk. Several goroutines may store at once.
func (d *disk) store(key Key, t Tile) error {
	entry := encodeEntry(key, t.Bytes)
	size := onDisk(int64(len(entry)))
	limit := d.limit()
	if d.held()+size > limit {
		d.nudge()
		return errNoRoom
	}
	if err := d.storeEntry(key.Sum(), entry); err != nil {
		if !errors.Is(err, errFolderInPlace) {
			d.writeFault(err)
		}
		return err
	}
	if d.writable.worked() {
		d.log.Info("tile cache on disk can be written again", "dir", d.dir)
	}
	d.mu.Lock()
	d.fresh.bytes += size
	d.fresh.entries++
	d.setCount(d.bytes+size, d.entries+1)
	d.mu.Unlock()
	if d.overdue(limit) {
		d.nudge()
	}
	return nil
}

func (d *disk) storeEntry(sum Sum, entry []byte) error {
	root := d.root.Load()
	if root != nil {
		if err := writeEntry(root, sum, entry); err == nil || isFull(err) || errors.Is(err, errFolderInPlace) {
			return err
		}
	}
	// Somebody may have removed or replaced the whole folder: that heals at once.
	if err := d.reopen(root); err != nil {
		return err
	}
	return writeEntry(d.root.Load(), sum, entry)
}

// reopen makes the folder and opens it, unless another has done so since old was the root, and has what is in it counted
// at the next occasion.
func (d *disk) reopen(old *os.Root) error {
	d.opening.Lock()
	defer d.opening.Unlock()
	if d.root.Load() != old {
		return nil
	}
	if err := os.MkdirAll(d.dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(d.dir)
	if err != nil {
		return err
	}
	d.root.Store(root)
	if old != nil {
		_ = old.Close() // what is under way through it finishes; later reads miss
	}
	d.countAnew()
	return nil
}

func (d *disk) writeFault(err error) {
	d.metrics.writeFaults.Inc()
	if d.writable.failed(d.now()) {
		d.log.Warn("tile cache on disk cannot be written; tiles are kept in memory only", "error", err)
	}
	if isFull(err) { // of files or by a quota, which the free space does not show
		d.mu.Lock()
		d.full = true
		d.mu.Unlock()
		d.nudge()
	}
}

// held returns how many bytes the folder is believed to hold.
func (d *disk) held() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.bytes
}

// setCount sets what the folder is believed to hold. d.mu must be held.
func (d *disk) setCount(bytes, entries int64) {
	d.bytes, d.entries = max(bytes, 0), max(entries, 0)
	d.metrics.diskBytes.Set(float64(d.bytes))
	d.metrics.diskEntries.Set(float64(d.entries))
}
