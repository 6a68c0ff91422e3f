package disk

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

const (
	// roomInterval is how often a Fill looks whether a trim has made room.
	roomInterval = 20 * time.Millisecond
	// roomTimeout is how long it waits for room. A folder of a million entries is counted in a fraction of that.
	roomTimeout = 2 * time.Minute
)

// ErrFull is returned by a Fill when the cache has no room for more: a later entry would push out an earlier one.
var ErrFull = errors.New("the disk cache is full")

// A Fill writes entries to a cache ahead of use. Each is written when Put returns, and none is dropped.
type Fill struct {
	cache *Cache
	bytes atomic.Int64
}

// NewFill returns a Fill for c, which must be open.
func NewFill(c *Cache) *Fill { return &Fill{cache: c} }

// Bytes returns the disk space of all entries that Put has written and Has has found.
func (f *Fill) Bytes() int64 { return f.bytes.Load() }

// Room returns how many bytes may be filled now: the size that a trim leaves. With more, the next trim would remove
// entries that were just written.
func (c *Cache) Room() int64 { return Room(c.limit()) }

// Room returns how many bytes may be filled in a cache of that budget, if its disk has enough space.
func Room(budget int64) int64 { return max(int64(lowWater*float64(budget)), 0) }

// take counts an entry of this Fill, or returns ErrFull.
func (f *Fill) take(size int64) error {
	if f.bytes.Add(size) > f.cache.Room() {
		f.bytes.Add(-size)
		return ErrFull
	}
	return nil
}

// Has reports whether the cache holds the entry of that sum, and marks it as used. It reads only the header: Get finds
// damage in the body. ErrFull if keeping the entry would push out earlier ones.
func (f *Fill) Has(sum [sumLen]byte) (bool, error) {
	c := f.cache
	root := c.root.Load()
	if root == nil {
		return false, nil
	}
	name := entryName(sum)
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false, nil
	}
	if _, err := (file{shard: root, name: name, sum: sum, info: info}).readKey(); err != nil {
		return false, nil
	}
	// Not only after touchInterval: otherwise an entry of an earlier Fill would be older than entries that a server has
	// used since, and be removed to make room for the rest.
	now := c.now()
	_ = root.Chtimes(name, now, now) // as in touch
	return true, f.take(onDisk(info.Size()))
}

// Put writes an entry before it returns. If the folder is full it waits for a trim. ErrFull if it would push out earlier
// entries of this Fill.
func (f *Fill) Put(ctx context.Context, key, body []byte) error {
	if !fits(key, body) {
		return fmt.Errorf("its %d bytes are too many for the disk cache, which takes up to %d", len(body), maxBody)
	}
	if err := f.take(EntrySize(key, body)); err != nil {
		return err
	}
	err := f.cache.store(key, body)
	for tries := 0; errors.Is(err, errNoRoom) && tries < int(roomTimeout/roomInterval); tries++ {
		select {
		case <-time.After(roomInterval):
		case <-ctx.Done():
			return ctx.Err()
		}
		err = f.cache.store(key, body)
	}
	return err
}
