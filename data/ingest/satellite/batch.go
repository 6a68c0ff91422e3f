package satellite

import (
	"context"
	"fmt"
	"image"
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"limnomap/data/pixels"
	"limnomap/data/raster/zonal"
)

const (
	// batchPixels bounds the pixels of the lakes whose values are in memory at once; the largest lake may have more.
	batchPixels = 2 << 20
	batchLakes  = 20_000
)

// A pending lake waits for its values, or for the values of other layers.
type pending struct {
	lake   int // index
	mask   *zonal.Mask
	inside int // pixels, for the share of those with a value
	method string
	shore  int
	cut    bool // a part of the lake is outside of the raster

	gathered bool      // values are complete
	values   []float64 // µg/l, or the index, of the pixels with a value; 0 for those below the limit of detection

	outOfRange []float64 // as values, of the pixels whose number is not allowed
	iced       int       // pixels with ice, if few have a value
	scum       int       // pixels with floating cyanobacteria

	quantities [numQuantities][]float64 // of the pixels that have them

	codes []pixels.Code // of the pixels of mask, or of water, if they are kept

	near        bool        // a site that has the value of the pixels near it
	water       *zonal.Mask // of the first site of a water, if it is near: all pixels of the water, which have a value
	waterValues []float64   // of them

	uncertainties []float64
	observations  float64 // of all pixels together
	observed      int     // pixels whose observations are known
}

// A batch is the lakes whose pixels are read together.
type batch struct {
	lakes  []pending
	pixels int
}

// batchLakes adds lakes to the batch, which is read when it is full.
func (x *extraction) batchLakes(ctx context.Context, lakes ...pending) error {
	for _, p := range lakes {
		x.batch.lakes = append(x.batch.lakes, p)
		x.batch.pixels += p.mask.Count()
		if p.water != nil {
			x.batch.pixels += p.water.Count()
		}
	}
	if x.batch.pixels < batchPixels && len(x.batch.lakes) < batchLakes {
		return nil
	}
	return x.flush(ctx)
}

// flush reads the layers for the lakes of the batch and passes their rows on.
func (x *extraction) flush(ctx context.Context) error {
	lakes := x.batch.lakes
	if len(lakes) == 0 {
		return nil
	}
	for i := range lakes {
		p := &lakes[i]
		if mask := x.kept(p); mask != nil {
			p.codes = make([]pixels.Code, mask.Count())
			if values := p.values; p.gathered {
				if p.water != nil {
					values = p.waterValues
				}
				for i, chl := range values { // in the order of the mask
					p.codes[i] = x.codeOf(chl, hasValue)
				}
			}
		}
	}
	if err := x.gather(ctx, &x.value, lakes, func(p *pending) bool { return !p.gathered }, func(p *pending, at int, chl float64, state pixelState) {
		if p.codes != nil {
			p.codes[at] = x.codeOf(chl, state)
		}
		switch {
		case state.usable():
			p.values = append(p.values, x.counted(chl))
		case state == outOfRange:
			p.outOfRange = append(p.outOfRange, chl)
			x.summary.OutOfRange++
		}
	}); err != nil {
		return err
	}
	all := func(*pending) bool { return true }
	isGap := func(p *pending) bool { _, gap := x.gapOf(p); return gap }
	hasNoGap := func(p *pending) bool { return !isGap(p) }
	type other struct {
		*layer // nil if the file has none
		of     func(p *pending) bool
		add    func(p *pending, at int, value float64)
	}
	others := []other{
		{x.ice, isGap, func(p *pending, at int, _ float64) {
			p.iced++
			if p.codes != nil && p.water == nil && p.codes[at] == pixels.NoData {
				p.codes[at] = pixels.Ice
			}
		}},
		{x.uncertainty, hasNoGap, func(p *pending, _ int, u float64) { p.uncertainties = append(p.uncertainties, u) }},
		{x.observations, hasNoGap, func(p *pending, _ int, n float64) { p.observations, p.observed = p.observations+n, p.observed+1 }},
		{x.scum, all, func(p *pending, _ int, _ float64) { p.scum++ }},
	}
	for k, l := range x.scene.quantities {
		others = append(others, other{l, all, func(p *pending, _ int, value float64) { p.quantities[k] = append(p.quantities[k], value) }})
	}
	for _, o := range others {
		if o.layer == nil {
			continue
		}
		if err := x.gather(ctx, o.layer, lakes, o.of, func(p *pending, at int, value float64, state pixelState) {
			if state.usable() {
				o.add(p, at, value)
			}
		}); err != nil {
			return err
		}
	}
	for i := range lakes {
		if err := x.finish(&lakes[i]); err != nil {
			return err
		}
	}
	clear(lakes)
	x.batch = batch{lakes: lakes[:0]}
	return ctx.Err()
}

// counted counts a value if it is that of a floored pixel.
func (x *extraction) counted(chl float64) float64 {
	if chl == 0 && math.Signbit(chl) {
		x.summary.Floored++
		return 0
	}
	return chl
}

// gather decodes the pixels of lakes in a layer, and passes them on one by one, with their index in the mask.
func (x *extraction) gather(ctx context.Context, l *layer, lakes []pending, take func(*pending) bool,
	pixel func(p *pending, at int, value float64, state pixelState)) error {
	var windows []image.Rectangle
	var parts []zonal.Window
	var owners []int
	total := 0
	for i := range lakes {
		if !take(&lakes[i]) {
			continue
		}
		for _, w := range lakes[i].mask.Windows(x.grid.Grid) {
			windows, parts, owners = append(windows, w.Rect), append(parts, w), append(owners, i)
			total += w.Rect.Dx() * w.Rect.Dy()
		}
	}
	done := 0
	return l.gather(ctx, windows, func(i int, part image.Rectangle, values []float64) error {
		p := &lakes[owners[i]]
		p.mask.Collect(parts[i], part, values, func(at, _, _ int, raw float64) {
			value, state := l.decode(raw)
			pixel(p, at, value, state)
		})
		x.summary.Pixels += int64(len(values))
		if l == &x.value {
			done += len(values)
			x.opts.Progress((float64(x.passed) + float64(len(lakes))*float64(done)/float64(total)) / float64(len(x.lakes)))
		}
		return nil
	})
}

// inParallel calls do for 0 to n-1 on that many goroutines, and waits for all.
func inParallel(workers, n int, do func(worker, i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	var panicked atomic.Pointer[error]
	for w := range workers {
		all.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					err := fmt.Errorf("%v\n\n%s", p, debug.Stack())
					panicked.Store(&err)
				}
			}()
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				do(w, int(i))
			}
		})
	}
	all.Wait()
	if err := panicked.Load(); err != nil {
		panic(*err)
	}
}
