package disk

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

	"limnomap/data/diskspace"
)

const (
	// touchInterval is the age at which a read renews the modification time of an entry. Trimming needs no finer order, and
	// a write for each read would wear the disk out (mtimeInterval in cmd/go/internal/cache).
	touchInterval = time.Hour
	// maxReads bounds the threads that a hanging disk (a lost network share) can block.
	maxReads = 64
	// readTimeout is when a disk counts as hanging: much longer than a busy disk takes, and short enough that the tile can
	// still be drawn in time.
	readTimeout = 2 * time.Second
	// closeTimeout is how long Close waits for the queued writes: a busy disk writes them in much less.
	closeTimeout = 5 * time.Second
	// maxWrites is how many entries may wait to be written: a few megabytes. More are dropped, since drawing a tile again is
	// cheaper than waiting.
	maxWrites = 256
)

// A Cache keeps entries in a folder: one file for each, in 256 sub-folders. Files are reached through an [os.Root], so no
// symbolic link leads out of the folder.
type Cache struct {
	dir     string
	budget  int64
	minFree int64 // as Options.MinFree
	now     func() time.Time
	spaceOf func(dir string) (free, total int64, ok bool)
	read    func(root *os.Root, name string, sum sum) (entry, fs.FileInfo, error)
	log     *slog.Logger
	metrics *Metrics

	reads                            *semaphore.Weighted
	reading, writing, trimming, room health
	opening                          sync.Mutex              // held while root is replaced
	root                             atomic.Pointer[os.Root] // nil until the folder could be opened
	writes                           chan queuedWrite
	wake                             chan struct{} // holds a value when maintain is to run now
	stop                             context.CancelFunc
	closing                          sync.Once
	running                          sync.WaitGroup // the writer and maintain

	mu      sync.Mutex // guards what follows: the result of the last count, and changes since
	bytes   int64
	entries int64
	written usage // since the last count began
	full    bool  // the disk had no room left for an entry since the last count began
}

type queuedWrite struct{ key, body []byte }

type usage struct{ bytes, entries int64 }

// Open returns the cache in dir, which is created if it does not exist. Two goroutines work for it until Close: one writes
// what Put queues, the other keeps the folder within its bounds. A folder that cannot be opened is no error but a fault
// like any later one.
func Open(dir string, opts *Options) (*Cache, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	c := newCache(dir, o, time.Now)
	c.start()
	return c, nil
}

func newCache(dir string, o Options, now func() time.Time) *Cache {
	m := o.Metrics
	c := &Cache{
		dir:      dir,
		budget:   o.Bytes,
		minFree:  o.MinFree,
		now:      now,
		spaceOf:  diskspace.Of,
		read:     readEntry,
		log:      o.Logger,
		metrics:  m,
		reads:    semaphore.NewWeighted(maxReads),
		reading:  health{gauge: m.readFailing},
		writing:  health{gauge: m.writeFailing},
		trimming: health{gauge: m.trimFailing},
		room:     health{gauge: m.spaceFailing},
		writes:   make(chan queuedWrite, maxWrites),
		wake:     make(chan struct{}, 1),
		// Until the folder is counted, assume that it is as full as allowed, so that writes in that time do not exceed the
		// budget.
		bytes: int64(highWater * float64(o.Bytes)),
	}
	m.enabled.Set(1)
	if err := c.reopen(nil); err != nil {
		c.writeFault(err)
	}
	return c
}

func (c *Cache) start() {
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	c.running.Go(func() {
		for w := range c.writes {
			c.write(w.key, w.body)
		}
	})
	c.running.Go(func() { c.maintain(ctx) })
}

// Close writes the queued entries, and ends the goroutines. Reads that a hanging disk blocks end when it answers. Put must
// not be called afterwards. The error is always nil; later calls do nothing.
func (c *Cache) Close() error {
	c.closing.Do(c.close)
	return nil
}

func (c *Cache) close() {
	c.stop()
	close(c.writes)
	ended := make(chan struct{})
	go func() { // ends with the others
		c.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(closeTimeout):
		c.log.Warn("tile cache on disk does not answer: queued writes are lost", "dir", c.dir)
		return
	}
	if root := c.root.Load(); root != nil {
		_ = root.Close() // only a handle for reading: nothing is lost
	}
}

// errHangs is the fault of a disk that does not answer a read in time.
var errHangs = fmt.Errorf("no answer within %v", readTimeout)

// Get returns the body of the entry whose key has that SHA-256, and the first half of the body's SHA-256. It reports false
// if the disk does not have the entry undamaged, or does not return it in time.
func (c *Cache) Get(ctx context.Context, sum [sumLen]byte) (body []byte, digest [DigestLen]byte, ok bool) {
	root := c.root.Load()
	if root == nil || !c.reading.allows(c.now()) {
		return nil, digest, false
	}
	ctx, cancel := context.WithTimeoutCause(ctx, readTimeout, errHangs)
	defer cancel()
	if c.reads.Acquire(ctx, 1) != nil {
		c.abandonRead(ctx)
		return nil, digest, false
	}
	type result struct {
		entry entry
		ok    bool
	}
	results := make(chan result, 1)
	go func() { // ends when the disk answers
		defer c.reads.Release(1)
		e, ok := c.fetch(root, sum)
		results <- result{e, ok}
	}()
	select {
	case r := <-results:
		return r.entry.body, r.entry.digest, r.ok
	case <-ctx.Done():
		c.abandonRead(ctx)
		return nil, digest, false
	}
}

// abandonRead records the fault of a read that took too long, unless the caller has left.
func (c *Cache) abandonRead(ctx context.Context) {
	if err := context.Cause(ctx); errors.Is(err, errHangs) {
		c.readFault(err)
	}
}

// fetch reads the entry of that sum, and records whether the disk works. A damaged entry is removed, so that a new one can
// be written.
func (c *Cache) fetch(root *os.Root, sum sum) (entry, bool) {
	name := entryName(sum)
	e, info, err := c.read(root, name, sum)
	switch {
	case err == nil:
		c.touch(root, name, info)
	case errors.Is(err, ErrDamaged):
		c.metrics.damaged.Inc()
		// A folder with that name may hold files that are not ours: that it cannot be removed is not a fault of the disk.
		if err := c.remove(root, name, info.Size()); err != nil && !info.IsDir() {
			c.writeFault(err)
		}
	case isNameTaken(err):
		c.metrics.damaged.Inc()
		return entry{}, false
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, os.ErrClosed): // os.ErrClosed: the folder has just been reopened
		return entry{}, false
	default:
		c.readFault(err)
		return entry{}, false
	}
	if c.reading.worked() {
		c.log.Info("tile cache on disk can be read again", "dir", c.dir)
	}
	return e, err == nil
}

func (c *Cache) readFault(err error) {
	c.metrics.readFaults.Inc()
	if c.reading.failed(c.now()) {
		c.log.Warn("tile cache on disk cannot be read: tiles are drawn instead", "error", err)
	}
}

// touch marks an entry as used, also one whose time a wrong clock set in the future. An error only affects the order of the
// next trim, and a folder that cannot be written is noticed when writing.
func (c *Cache) touch(root *os.Root, name string, info fs.FileInfo) {
	now := c.now()
	if age := now.Sub(info.ModTime()); age > touchInterval || age < -touchInterval {
		_ = root.Chtimes(name, now, now)
	}
}

// remove removes one file and subtracts it from the count. A file that is gone already is no error: another process that
// shares the folder removed it first, and the next count corrects the numbers.
func (c *Cache) remove(root *os.Root, name string, size int64) error {
	err := root.Remove(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, os.ErrClosed) {
		return nil
	}
	if err == nil {
		c.mu.Lock()
		c.setCount(c.bytes-onDisk(size), c.entries-1)
		c.mu.Unlock()
	}
	return err
}

// Put queues an entry to be written, or drops it if the queue is full: no caller waits for the disk. The bytes must not be
// changed afterwards.
func (c *Cache) Put(key, body []byte) {
	select {
	case c.writes <- queuedWrite{key, body}:
	default:
		c.metrics.dropped.Inc()
	}
}

// write writes an entry unless it is too large, the disk fails, or there is no room.
func (c *Cache) write(key, body []byte) {
	if !fits(key, body) || !c.writing.allows(c.now()) || c.store(key, body) != nil {
		c.metrics.dropped.Inc()
	}
}

// errNoRoom is returned for an entry that would exceed the budget or the bound on free space.
var errNoRoom = errors.New("no room for another tile on disk")

// store writes an entry now, and records whether the disk works. Several goroutines may store at once.
func (c *Cache) store(key, body []byte) error {
	raw := encodeEntry(key, body)
	size := onDisk(int64(len(raw)))
	limit := c.limit()
	if c.used()+size > limit {
		c.maintainNow()
		return errNoRoom
	}
	if err := c.storeEntry(sumOf(key), raw); err != nil {
		if !isNameTaken(err) {
			c.writeFault(err)
		}
		return err
	}
	if c.writing.worked() {
		c.log.Info("tile cache on disk can be written again", "dir", c.dir)
	}
	c.mu.Lock()
	c.written.bytes += size
	c.written.entries++
	c.setCount(c.bytes+size, c.entries+1)
	c.mu.Unlock()
	if c.trimDue(limit) {
		c.maintainNow()
	}
	return nil
}

func (c *Cache) storeEntry(sum sum, raw []byte) error {
	root := c.root.Load()
	if root != nil {
		if err := writeEntry(root, sum, raw); err == nil || isFull(err) || isNameTaken(err) {
			return err
		}
	}
	// Someone may have removed or replaced the whole folder: opening it again repairs that at once.
	if err := c.reopen(root); err != nil {
		return err
	}
	return writeEntry(c.root.Load(), sum, raw)
}

// reopen creates the folder and opens it, unless another goroutine has done so since old was the root, and makes a count
// due.
func (c *Cache) reopen(old *os.Root) error {
	c.opening.Lock()
	defer c.opening.Unlock()
	if c.root.Load() != old {
		return nil
	}
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return err
	}
	makeShards(root)
	c.root.Store(root)
	if old != nil {
		_ = old.Close() // operations that use it finish; later reads miss
	}
	c.requireCount()
	return nil
}

func (c *Cache) writeFault(err error) {
	c.metrics.writeFaults.Inc()
	if c.writing.failed(c.now()) {
		c.log.Warn("tile cache on disk cannot be written: tiles are kept in memory only", "error", err)
	}
	if isFull(err) { // also when the free space does not show it: no more files, or a quota
		c.mu.Lock()
		c.full = true
		c.mu.Unlock()
		c.maintainNow()
	}
}

// used returns how many bytes the folder holds, as far as this process knows.
func (c *Cache) used() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

// setCount sets what the folder holds, as far as this process knows. c.mu must be held.
func (c *Cache) setCount(bytes, entries int64) {
	c.bytes, c.entries = max(bytes, 0), max(entries, 0)
	c.metrics.bytes.Set(float64(c.bytes))
	c.metrics.entries.Set(float64(c.entries))
}
