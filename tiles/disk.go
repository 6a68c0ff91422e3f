package tiles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// touchInterval is how stale an entry's modification time may get before a read renews it. Trimming needs no
	// finer order, and a write for each read would wear the disk out (mtimeInterval in cmd/go/internal/cache).
	touchInterval = time.Hour
	// blockSize is what a file occupies at least on the usual file systems: the budget is one of disk, not of bytes.
	blockSize = 4096
	// maxReads bounds the threads that a hanging disk (a lost network share) can hold.
	maxReads = 64
	// maxWrites is how many tiles may wait to be written, a few megabytes. More are dropped: they are in memory, and
	// drawing one again is cheaper than waiting.
	maxWrites = 256

	tempSuffix = ".tmp"
)

// A disk is the tier of tiles in a folder: one file for each, in 256 sub-folders. The folder is the only index, so
// that several processes may share it. Files are reached through an [os.Root], which no symbolic link leads out of.
type disk struct {
	dir     string
	budget  int64
	now     func() time.Time
	log     *slog.Logger
	metrics *metrics

	reads                        *semaphore.Weighted
	readable, writable, walkable health
	root                         atomic.Pointer[os.Root] // nil until the folder could be opened; replaced by the writer alone
	writes                       chan diskWrite
	stopping                     chan struct{} // closed by close: a walk over the folder gives up
	ended                        chan struct{} // closed when the writer has ended

	mu      sync.Mutex // guards what follows: what the last walk counted and what was done since
	bytes   int64
	entries int64
	written int64 // bytes since the last walk
}

type diskWrite struct {
	key  Sum
	tile Tile
}

// newDisk opens the folder; whoever calls it starts run. A folder that cannot be opened is a fault like any later one.
func newDisk(dir string, budget int64, now func() time.Time, log *slog.Logger, m *metrics) *disk {
	d := &disk{
		dir:      dir,
		budget:   budget,
		now:      now,
		log:      log,
		metrics:  m,
		reads:    semaphore.NewWeighted(maxReads),
		writes:   make(chan diskWrite, maxWrites),
		stopping: make(chan struct{}),
		ended:    make(chan struct{}),
	}
	if err := d.reopen(); err != nil {
		d.writeFault(err)
	}
	return d
}

// path returns where the entry of key lies within the root.
func (d *disk) path(key Sum) string { return filepath.Join(key.shard(), key.String()) }

func onDisk(size int64) int64 { return (size + blockSize - 1) / blockSize * blockSize }

// get returns the tile of that key, if the disk has it whole. Everything else is a miss, and what is damaged is
// removed so that the tile drawn next takes its place.
func (d *disk) get(ctx context.Context, key Sum) (Tile, bool) {
	root := d.root.Load()
	if root == nil || !d.readable.allows(d.now()) || d.reads.Acquire(ctx, 1) != nil {
		return Tile{}, false
	}
	defer d.reads.Release(1)
	t, info, err := d.read(root, key)
	switch {
	case err == nil:
		d.touch(root, key, info)
	case errors.Is(err, errDamaged):
		d.metrics.damaged.Inc()
		d.remove(root, d.path(key), info.Size())
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, os.ErrClosed): // os.ErrClosed: the writer has just reopened it
		return Tile{}, false
	default:
		d.metrics.readFaults.Inc()
		if d.readable.failed(d.now()) {
			d.log.Warn("tile cache on disk cannot be read; tiles are drawn instead", "error", err)
		}
		return Tile{}, false
	}
	if d.readable.worked() {
		d.log.Info("tile cache on disk can be read again", "dir", d.dir)
	}
	return t, err == nil
}

// read looks before it opens: to open a pipe would block, and a symbolic link is none of ours.
func (d *disk) read(root *os.Root, key Sum) (Tile, fs.FileInfo, error) {
	info, err := root.Lstat(d.path(key))
	if err != nil {
		return Tile{}, nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > int64(maxEntry) {
		return Tile{}, info, errDamaged
	}
	file, err := root.Open(d.path(key))
	if err != nil {
		return Tile{}, nil, err
	}
	defer file.Close()
	raw := make([]byte, info.Size())
	if _, err := io.ReadFull(file, raw); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errDamaged // cut short since we looked
		}
		return Tile{}, info, err
	}
	t, err := decodeEntry(raw, key)
	return t, info, err
}

// touch marks an entry as used. A failure costs only some order in the next trim, and a folder that cannot be
// written is noticed by the writer.
func (d *disk) touch(root *os.Root, key Sum, info fs.FileInfo) {
	now := d.now()
	if now.Sub(info.ModTime()) > touchInterval {
		_ = root.Chtimes(d.path(key), now, now)
	}
}

// remove removes one file and takes it off the count. It reports whether the file is gone.
func (d *disk) remove(root *os.Root, name string, size int64) bool {
	err := root.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return true // another process of the same folder was quicker; the next walk counts anew
	}
	if err != nil {
		if !errors.Is(err, os.ErrClosed) { // else the writer has just reopened the folder
			d.writeFault(err)
		}
		return false
	}
	d.count(-onDisk(size), -1)
	return true
}

// put has t written soon, or drops it if too much waits to be written: no answer waits for the disk. It must not be
// called after close.
func (d *disk) put(key Sum, t Tile) {
	select {
	case d.writes <- diskWrite{key, t}:
	default:
		d.metrics.dropped.Inc()
	}
}

// run writes what put brings, and trims. It is the only goroutine that writes, and close ends it.
func (d *disk) run() {
	defer close(d.ended)
	d.trim()
	for w := range d.writes {
		if d.write(w.key, w.tile) && d.overdue() {
			d.trim()
		}
	}
	if root := d.root.Load(); root != nil {
		_ = root.Close() // only read through; nothing is lost
	}
}

// close writes what still waits, and ends the writer.
func (d *disk) close() {
	close(d.stopping)
	close(d.writes)
	<-d.ended
}

// write stores t, unless the disk is failing, and reports whether it did.
func (d *disk) write(key Sum, t Tile) bool {
	if !d.writable.allows(d.now()) || len(t.PNG) > maxPNG {
		d.metrics.dropped.Inc()
		return false
	}
	err := d.store(key, t)
	if err != nil { // somebody may have removed or replaced the whole folder: that heals at once
		if err = d.reopen(); err == nil {
			err = d.store(key, t)
		}
	}
	if err != nil {
		d.metrics.dropped.Inc()
		d.writeFault(err)
		return false
	}
	if d.writable.worked() {
		d.log.Info("tile cache on disk can be written again", "dir", d.dir)
	}
	size := onDisk(int64(headerLen + len(t.PNG)))
	d.count(size, 1)
	d.mu.Lock()
	d.written += size
	d.mu.Unlock()
	return true
}

// store writes a file of its own and renames it, so that no reader sees half an entry. It does not wait for the disk
// to have it (fsync): a power cut may leave a torn entry, which the digest finds, and a cache may forget.
func (d *disk) store(key Sum, t Tile) error {
	root := d.root.Load()
	if root == nil {
		return fs.ErrNotExist
	}
	// Exclusive creation under a random name is safe beside other processes and other machines.
	temp := fmt.Sprintf("%s.%016x%s", d.path(key), rand.Uint64(), tempSuffix)
	file, err := create(root, temp)
	if errors.Is(err, fs.ErrNotExist) {
		if err := root.Mkdir(key.shard(), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		file, err = create(root, temp)
	}
	if err != nil {
		return err
	}
	_, err = file.Write(append(appendHeader(make([]byte, 0, headerLen+len(t.PNG)), key, t.PNG), t.PNG...))
	err = errors.Join(err, file.Close())
	if err == nil {
		err = root.Rename(temp, d.path(key))
	}
	if err != nil {
		_ = root.Remove(temp) // the first error tells more; a later walk removes it otherwise
	}
	return err
}

func create(root *os.Root, name string) (*os.File, error) {
	return root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}

// reopen makes the folder and opens it, and has what is in it counted at the next occasion.
func (d *disk) reopen() error {
	if err := os.MkdirAll(d.dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(d.dir)
	if err != nil {
		return err
	}
	if old := d.root.Swap(root); old != nil {
		_ = old.Close() // reads under way finish; later ones miss
	}
	d.mu.Lock()
	d.written = d.budget
	d.mu.Unlock()
	return nil
}

func (d *disk) writeFault(err error) {
	d.metrics.writeFaults.Inc()
	if d.writable.failed(d.now()) {
		d.log.Warn("tile cache on disk cannot be written; tiles are kept in memory only", "error", err)
	}
}

func (d *disk) count(bytes, entries int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.setCount(d.bytes+bytes, d.entries+entries)
}

// setCount sets what the folder is believed to hold. d.mu must be held.
func (d *disk) setCount(bytes, entries int64) {
	d.bytes, d.entries = max(bytes, 0), max(entries, 0)
	d.metrics.diskBytes.Set(float64(d.bytes))
	d.metrics.diskEntries.Set(float64(d.entries))
}

// isTemp reports whether a file of that name is one that store leaves when the process is killed.
func isTemp(name string) bool {
	name, ok := strings.CutSuffix(name, tempSuffix)
	sum, _, dotted := strings.Cut(name, ".")
	_, ours := parseSum(sum)
	return ok && dotted && ours
}
