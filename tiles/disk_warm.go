package tiles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

const (
	// roomInterval is how often keepNow looks whether a trim has made room.
	roomInterval = 20 * time.Millisecond
	// roomTimeout is how long it waits for that. A folder of a million entries is counted in a fraction of it.
	roomTimeout = 2 * time.Minute
)

// holds reports whether a tile of that sum is on disk and what it takes there, and marks it as used. It reads only what stands
// before the PNG: damage in that is found out when the tile is asked for.
func (d *disk) holds(sum Sum) (size int64, ok bool) {
	root := d.root.Load()
	if root == nil {
		return 0, false
	}
	name := entryName(sum)
	file, err := root.OpenFile(name, openToRead, 0)
	if err != nil {
		return 0, false
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	raw := make([]byte, maxHeader)
	n, err := io.ReadFull(file, raw)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, false
	}
	h, err := decodeHeader(raw[:n], sum)
	if err != nil || int64(h.size()) != info.Size() {
		return 0, false
	}
	d.touch(root, name, info)
	return onDisk(info.Size()), true
}

// putNow writes t before it returns, and returns what it takes on disk. Where the folder is full it waits for a trim.
func (d *disk) putNow(ctx context.Context, key Key, t Tile) (size int64, err error) {
	if len(t.PNG) > maxPNG {
		return 0, fmt.Errorf("its %d bytes are too many for the disk cache, which takes up to %d", len(t.PNG), maxPNG)
	}
	sum, entry := key.Sum(), encodeEntry(key, t.PNG)
	err = d.store(sum, entry)
	for tries := 0; errors.Is(err, errNoRoom) && tries < int(roomTimeout/roomInterval); tries++ {
		select {
		case <-time.After(roomInterval):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
		err = d.store(sum, entry)
	}
	return onDisk(int64(len(entry))), err
}
