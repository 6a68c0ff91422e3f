package tiles

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync/atomic"

	"github.com/paulmach/orb/maptile"

	"limnomap/data/inorder"
)

// A Store keeps every tile that is put into it, or returns an error; *disk.Fill does. It must be safe for concurrent use.
type Store interface {
	// Has reports whether the tile whose key has that SHA-256 is there.
	Has(sum [sha256.Size]byte) (bool, error)
	Put(ctx context.Context, key, body []byte) error
}

// Warmed counts the tiles of a warming.
type Warmed struct {
	Drawn int64 // drawn and put into the store
	Found int64 // there already
}

// Warm puts the tiles of p that have a lake in reach into the store, unless they are there, and calls done after each, in the
// order of Draw. It ends with the first error of the store, the renderer or ctx.
func (p *Plot) Warm(ctx context.Context, store Store, done func()) (Warmed, error) {
	var drawn, found atomic.Int64
	err := inorder.Run(ctx, p.service.options.Renders, tilesAhead, p.tiles(), func(t maptile.Tile) (struct{}, error) {
		wasThere, err := p.warm(ctx, store, t)
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
	return Warmed{Drawn: drawn.Load(), Found: found.Load()}, err
}

// warm makes sure that a tile is in the store.
func (p *Plot) warm(ctx context.Context, store Store, t maptile.Tile) (wasThere bool, err error) {
	s, spec := p.service, p.spec(t)
	layer, err := s.layerWithPixels(ctx, p.layer, p.values, spec)
	if err != nil {
		return false, err
	}
	fp, _, err := s.fingerprint(layer, spec)
	if err != nil {
		return false, err
	}
	key := s.key(spec, fp)
	if wasThere, err = store.Has(key.Sum()); wasThere || err != nil {
		return wasThere, err
	}
	png, err := s.render(layer, spec)
	if err != nil {
		return false, err
	}
	return false, store.Put(ctx, key.Encode(), png)
}
