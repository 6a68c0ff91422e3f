package tiles

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"limnomap/data"
	"limnomap/data/pixels"
	"limnomap/data/snapshot"
	"limnomap/render"
	"limnomap/tiles/admission"
)

// ErrPixels is in the error for a tile that shows the pixels of lakes while these cannot be read: it must not be drawn without them, since clients may keep it
// for as long as the data are the same.
var ErrPixels = errors.New("the pixels of lakes cannot be read")

// Pixels reads the pixels of lakes; *store.Store does. It must be safe for concurrent use.
type Pixels interface {
	// PixelsOf returns for each value the pixels of which a satellite's observation with it was made; the zero value for one without.
	PixelsOf(ctx context.Context, values []data.LakeValue) ([]pixels.Packed, error)
}

const (
	// pixelShare is the part of Options.MemoryBytes that decoded pixels have.
	pixelShare = 8
	// pixelOverhead is what an entry costs besides its pixels.
	pixelOverhead = 300
)

// A pixelKey names what is decoded. It has the state of all pixels: when any change, those of all lakes are read again.
type pixelKey struct {
	state data.PixelState
	value data.LakeValue
}

// pixelCache holds decoded pixels, and which lakes have none, so that neighbouring tiles do not read them again.
type pixelCache struct {
	budget int64

	mu    sync.Mutex // guards what follows
	lru   *simplelru.LRU[pixelKey, *render.LakePixels]
	bytes int64
}

func newPixelCache(budget int64) *pixelCache {
	c := &pixelCache{budget: budget}
	var err error
	if c.lru, err = simplelru.NewLRU(math.MaxInt, func(_ pixelKey, p *render.LakePixels) { c.bytes -= pixelBytes(p) }); err != nil {
		panic(err) // only for a size that is not positive; put bounds the bytes
	}
	return c
}

// pixelBytes returns how much memory an entry takes; p is nil for a lake without pixels.
func pixelBytes(p *render.LakePixels) int64 {
	if p == nil {
		return pixelOverhead
	}
	return pixelOverhead + p.Bytes()
}

func (c *pixelCache) get(k pixelKey) (p *render.LakePixels, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lru.Get(k)
}

func (c *pixelCache) put(k pixelKey, p *render.LakePixels) {
	bytes := pixelBytes(p)
	if bytes > c.budget {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lru.Contains(k) { // another tile has read them, too
		return
	}
	c.lru.Add(k, p)
	for c.bytes += bytes; c.bytes > c.budget; {
		c.lru.RemoveOldest()
	}
}

// showsPixels reports whether a tile of v may show pixels of lakes.
func (s *Service) showsPixels(v *snapshot.Values, spec render.Spec) bool {
	return s.options.Pixels != nil && v.Pixels.Count > 0 && !v.Chances() && render.ShowsPixels(spec.Style, spec.Tile.Z)
}

// tilePixels are the pixels of the lakes of a tile, of which some are still to be decoded.
type tilePixels struct {
	client  admission.Client // for whom they are read
	state   data.PixelState
	decoded map[int]*render.LakePixels // by the indexes of the lakes
	lakes   []int                      // whose pixels were read
	values  []data.LakeValue           // of lakes
	packed  []pixels.Packed            // of lakes
	hold    *admission.Hold            // of what was read and is decoded; nil without Options.Memory
}

// bytes returns the memory of what was read.
func (p *tilePixels) bytes() (n int64) {
	for i := range p.packed {
		n += int64(len(p.packed[i].Grid) + len(p.packed[i].Mask) + len(p.packed[i].Codes))
	}
	return n
}

// release gives back the memory.
func (p *tilePixels) release() {
	if p.hold != nil {
		p.hold.Release()
	}
}

// pixelsIn finds the pixels of the lakes of a part that are decoded.
func (s *Service) pixelsIn(layer *render.Layer, v *snapshot.Values, spec render.Spec, part render.Part, client admission.Client) (p *tilePixels, err error) {
	defer s.recoverTo(&err, "looking for lakes with pixels")
	p = &tilePixels{client: client, state: v.Pixels, decoded: make(map[int]*render.LakePixels)}
	for _, lake := range s.renderer.PixelLakes(layer, spec, part) {
		value, ok := v.Measured(lake)
		if !ok {
			continue
		}
		found, ok := s.pixels.get(pixelKey{p.state, value})
		switch {
		case !ok:
			p.lakes, p.values = append(p.lakes, lake), append(p.values, value)
		case found != nil:
			p.decoded[lake] = found
		}
	}
	return p, nil
}

// read reads the pixels that were not found.
func (s *Service) readPixels(ctx context.Context, p *tilePixels) (err error) {
	if len(p.values) == 0 {
		return nil
	}
	ctx, span := s.begin(ctx, "tile pixels")
	defer func() { end(span, err) }()
	p.packed, err = s.options.Pixels.PixelsOf(ctx, p.values)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, admission.ErrBusy):
		return busy(err)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w: %w", ErrPixels, err)
}

// withPixels decodes what was read, and returns layer with the pixels of a tile.
func (s *Service) withPixels(layer *render.Layer, v *snapshot.Values, p *tilePixels) (with *render.Layer, err error) {
	defer s.recoverTo(&err, "decoding pixels")
	held := p.bytes()
	for i, lake := range p.lakes {
		var decoded *render.LakePixels
		if packed := p.packed[i]; packed.Grid != "" {
			// Damaged pixels are those of one lake: it is drawn in the colour of its value, as one without pixels.
			if decoded, err = render.NewLakePixels(packed, v.Lakes[lake].Point); err != nil {
				s.options.Logger.Error("pixels of a lake are damaged", "lake", p.values[i].Lake, "date", p.values[i].Date, "error", err)
				decoded = nil
			}
		}
		if decoded != nil {
			p.decoded[lake] = decoded
			held += decoded.Bytes()
			if p.hold != nil {
				if p.hold.Resize(held) != nil {
					return nil, refusal{p.client}
				}
			}
		}
		s.pixels.put(pixelKey{p.state, p.values[i]}, decoded)
	}
	return s.renderer.WithPixels(layer, p.decoded), nil
}

// layerWithPixels returns layer with the pixels of a tile, for a plot, which takes no turns.
func (s *Service) layerWithPixels(ctx context.Context, layer *render.Layer, v *snapshot.Values, spec render.Spec) (*render.Layer, error) {
	if !s.showsPixels(v, spec) {
		return layer, nil
	}
	p, err := s.pixelsIn(layer, v, spec, render.Part{}, admission.Client{})
	if err == nil {
		err = s.readPixels(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	return s.withPixels(layer, v, p)
}
