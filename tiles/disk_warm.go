package tiles

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// roomInterval is how often keepNow looks whether a trim has made room.
	roomInterval = 20 * time.Millisecond
	// roomTimeout is how long it waits for that. A folder of a million entries is counted in a fraction of it.
	roomTimeout = 2 * time.Minute
)

// holds reports whether a tile of that sum is on disk and what it takes there, and marks it as used. It reads only what stands
// before the bytes of the tile: damage in that is found out when the tile is asked for.
func (d *disk) holds(sum Sum) (size int64, ok bool) {
	root := d.root.Load()
	if root == nil {
		return 0, false
	}
	name := entryName(sum)
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	if _, err := (file{shard: root, name: name, sum: sum, info: info}).readKey(); err != nil {
		return 0, false
	}
	// Not only after touchInterval: what was warmed a while ago would else be older than what was asked of a server since,
	// and fall out to make room for the rest.
	now := d.now()
	_ = root.Chtimes(name, now, now) // as in touch
	return onDisk(info.Size()), true
}

// putNow writes t before it returns. Where the folder is full it waits for a trim.
func (d *disk) putNow(ctx context.Context, key Key, t Tile) error {
	if len(t.Bytes) > maxPNG {
		return fmt.Errorf("its %d bytes are too many for the disk cache, which takes up to %d", len(t.Bytes), maxPNG)
	}
	err := d.store(key, t)
	for tries := 0; errors.Is(err, errNoRoom) && tries < int(roomTimeout/roomInterval); tries++ {
		select {
		case <-time.After(roomInterval):
		case <-ctx.Done():
			return ctx.Err()
		}
		err = d.store(key, t)
	}
	return err
}

// entrySize returns what the entry of a tile takes on disk.
func entrySize(key Key, png []byte) int64 {
	return onDisk(int64(header{key: key.appendTo(nil), png: len(png)}.size()))
}
