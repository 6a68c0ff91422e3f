package tiles

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/paulmach/orb/maptile"
)

// ErrFull is returned when the disk cache cannot hold what is to be warmed.
var ErrFull = errors.New("the disk cache is full")

// LeastOnDisk is what the smallest tile takes in the disk cache, in bytes.
const LeastOnDisk = blockSize

// Warmed counts what warming has done.
type Warmed struct {
	Drawn int64 // tiles drawn and written
	Found int64 // tiles that were there already
	Bytes int64 // that all of them take on disk
}

// Warm puts the tiles of p that have a lake in reach on disk, where they are not there already, and calls done after each, in
// the order of Draw. Each is written before it is counted: none is dropped, as Service.Tile drops what the disk is too slow
// for, and the first that cannot be written ends it. So does ErrFull, once the tiles and what was warmed before, in bytes on
// disk, are more than [Service.WarmRoom].
func (p *Plot) Warm(ctx context.Context, before int64, done func()) (Warmed, error) {
	s := p.service
	if s.disk == nil {
		return Warmed{}, errors.New("warming needs option Dir, the folder of the disk cache")
	}
	var drawn, found, bytes atomic.Int64
	take := func(size int64) error {
		if before+bytes.Add(size) > s.WarmRoom() {
			bytes.Add(-size)
			return ErrFull
		}
		return nil
	}
	err := inOrder(ctx, s.options.Renders, p.tiles(), func(t maptile.Tile) (struct{}, error) {
		wasThere, err := p.warm(ctx, t, take)
		switch {
		case err != nil:
			return struct{}{}, fmt.Errorf("tile %d/%d/%d: %w", t.Z, t.X, t.Y, err)
		case wasThere:
			found.Add(1)
		default:
			drawn.Add(1)
		}
		return struct{}{}, nil
	}, func(maptile.Tile, struct{}) error {
		done()
		return nil
	})
	return Warmed{Drawn: drawn.Load(), Found: found.Load(), Bytes: bytes.Load()}, err
}

// WarmRoom returns how many bytes of tiles, as they take on disk, may be warmed now: as many as a trim leaves there. With
// more, the next trim would remove tiles that were warmed. Without a disk cache it is what one of [Options.DiskBytes] would
// leave if its disk had space enough.
func (s *Service) WarmRoom() int64 {
	limit := s.options.DiskBytes
	if s.disk != nil {
		limit = s.disk.limit()
	}
	return max(int64(lowWater*float64(limit)), 0)
}

// warm makes sure that a tile is on disk, after it has asked take for what it takes there.
func (p *Plot) warm(ctx context.Context, t maptile.Tile, take func(size int64) error) (wasThere bool, err error) {
	s, spec := p.service, p.spec(t)
	fp, _, err := s.fingerprint(p.layer, spec)
	if err != nil {
		return false, err
	}
	key := p.key(t, fp)
	if size, ok := s.disk.holds(key.Sum()); ok {
		return true, take(size)
	}
	png, err := s.render(p.layer, spec)
	if err != nil {
		return false, err
	}
	if err := take(entrySize(key, png)); err != nil {
		return false, err
	}
	return false, s.disk.putNow(ctx, key, newTile(png))
}
