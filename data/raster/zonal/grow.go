package zonal

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"math"
	"slices"
)

// A Raster reads windows of values. NaN is a pixel without a value.
//
// Gather calls each for parts of the windows, which lie within the raster, one after the other: the parts of window i are disjoint and
// cover it, and values has the values of a part row by row. It must return an error of each, maybe wrapped. values belongs to it again
// after the call.
type Raster interface {
	Gather(ctx context.Context, windows []image.Rectangle, each func(i int, part image.Rectangle, values []float64) error) error
}

// Growth says how [Grow] finds water.
type Growth struct {
	// RadiusX and RadiusY are how far from a point the centre of the nearest pixel with a value may be: the radii of an ellipse, in pixels.
	// The pixel that contains the point always counts. Radii above 512 pixels count as 512.
	RadiusX, RadiusY float64

	// Radius returns the radii of point i, which differ where the size of pixels does. Nil means RadiusX and RadiusY.
	Radius func(i int) (x, y float64)

	// MaxPixels is the most pixels of one water, beyond which it is taken for several that are joined. Zero means 100,000, which are 9,000
	// km² in pixels of 300 m; at most 2^21.
	MaxPixels int

	// Edge is how many pixels to drop from the shore inwards.
	Edge int

	// MinPixels is how many pixels with a value must remain when the edge is dropped. Zero means 3.
	MinPixels int

	// Block is the size of the tiles or chunks that the raster is stored in, if known. Windows are read in their order.
	Block image.Point
}

const (
	maxRadius        = 512
	defaultMaxPixels = 100_000
	limitMaxPixels   = 1 << 21
	defaultMinPixels = 3
)

// A Reason says why Grow found no value.
type Reason int

const (
	// Found means that there are values.
	Found Reason = iota
	// OffRaster means that nothing of the rectangle around the ellipse is in the raster.
	OffRaster
	// NoWater means that no pixel within the radius has a value.
	NoWater
	// Merged means that the water is too large: it has more than Growth.MaxPixels, or extends too far.
	Merged
)

func (r Reason) String() string {
	switch r {
	case Found:
		return "found"
	case OffRaster:
		return "outside of the raster"
	case NoWater:
		return "no water within the radius"
	case Merged:
		return "merged with other water"
	}
	return fmt.Sprintf("Reason(%d)", int(r))
}

// Grown is the water that was found for a point.
type Grown struct {
	Reason Reason
	// Mask has the pixels with a value, without the edge that was dropped. In a raster with a period its columns may be some turns away from
	// the point. Nil unless Found.
	Mask *Mask
	// Values are those of the pixels of Mask, in its order. They may be changed, and are overwritten after the call of each returns.
	Values []float64
	// Gaps is the number of pixels without a value that belong to the same water, see [Grow].
	Gaps int
	// Water is the number of pixels with the edge and the gaps. For Merged it is 0.
	Water int
	// Dropped is how many pixels were dropped from the shore inwards. If it is less than Growth.Edge, less than Growth.MinPixels would have
	// remained: then Mask has the pixels that have most of their eight neighbours in the water, at least MinPixels if there are as many.
	Dropped int
}

// Grow finds the water around points whose outlines are not known, and calls each for every point, with its index, in any order.
//
// It starts at the nearest pixel with a value and goes where a square of 2 x 2 pixels of water can move: so it does not pass through
// water that is one pixel wide, such as most rivers, or across a bridge of one pixel into another lake. If the nearest pixel is part of
// such narrow water, wider water is taken that can be reached from there within the radius; if there is none, the narrow water itself,
// whose pixels share a side.
//
// Pixels without a value are the shore, with one exception: up to four of them, enclosed by pixels with a value, are a gap in the water.
// A gap neither splits the water nor has a shore. Larger clouds do both, since they look like land; a lake that a cloud splits has the
// value of the part at its point. The edge of the raster is a shore too.
//
// Grow reads windows around groups of points, and again larger ones where water reaches the border of a window, up to 4 million pixels.
// In memory it has about 8 bytes for each point and, beside what raster needs, up to 64 MiB of windows, mostly far less. It calls each from
// within Gather. Errors of raster and each are returned, maybe wrapped.
func Grow(ctx context.Context, g Grid, points []Point, opts Growth, raster Raster, each func(i int, grown Grown) error) error {
	gr, err := newGrower(g, points, opts, raster, each)
	if err != nil {
		return err
	}
	return gr.grow(ctx)
}

// limits are constants that tests make smaller.
type limits struct {
	cell    int // columns and rows of the squares by which points are grouped
	margin  int // pixels that are read around points beyond their radius
	windows int // in one call of Gather
	area    int // pixels of larger windows in one call of Gather
	large   int // pixels of windows that wait for others, which may answer their points
	window  int // pixels of one window
	stored  int // bytes of incomplete windows in memory
}

var defaultLimits = limits{cell: 256, margin: 32, windows: 16_384, area: 1 << 27, large: 1 << 20, window: 1 << 22, stored: 20 << 20}

// halo is how many pixels around water must be known: a square that touches it is 1 away, and a gap that is part of that extends up to 5
// further, of which the fifth shows that it is too large.
const halo = 8

const indexBits = 26 // of the index of a point in grower.order

type grower struct {
	Growth
	grid   Grid
	points []Point
	raster Raster
	each   func(i int, grown Grown) error
	limits limits

	order  []uint64 // the points by block and cell, with the cell above indexBits
	larger []*job   // to be read with larger windows
	known  []known  // large waters, the latest last
	stored int      // bytes of the values of all jobs
	open   []*job   // those whose windows are incomplete, the latest last

	canvas canvas
	values []float64
}

func newGrower(g Grid, points []Point, opts Growth, raster Raster, each func(i int, grown Grown) error) (*grower, error) {
	if g.Width < 0 || g.Height < 0 || g.Period < 0 || max(g.Width, g.Height, g.Period) > maxCoordinate {
		return nil, fmt.Errorf("raster of %d x %d pixels with a period of %d: want numbers from 0 to %d", g.Width, g.Height, g.Period, maxCoordinate)
	}
	if len(points) > 1<<indexBits {
		return nil, fmt.Errorf("%d points: want at most %d", len(points), 1<<indexBits)
	}
	if opts.Edge < 0 || opts.MinPixels < 0 || opts.MaxPixels < 0 || opts.MaxPixels > limitMaxPixels {
		return nil, fmt.Errorf("growth with edge %d, at least %d pixels and at most %d: want no negative numbers, and at most %d pixels",
			opts.Edge, opts.MinPixels, opts.MaxPixels, limitMaxPixels)
	}
	opts.MaxPixels = cmp.Or(opts.MaxPixels, defaultMaxPixels)
	opts.MinPixels = cmp.Or(opts.MinPixels, defaultMinPixels)
	gr := &grower{Growth: opts, grid: g, points: points, raster: raster, each: each, limits: defaultLimits}
	return gr, nil
}

// radius returns the radii of point i, at most maxRadius.
func (gr *grower) radius(i int) (rx, ry float64, err error) {
	rx, ry = gr.RadiusX, gr.RadiusY
	if gr.Radius != nil {
		rx, ry = gr.Radius(i)
	}
	if !(rx >= 0 && ry >= 0) { // also NaN
		return 0, 0, fmt.Errorf("point %d: radii of %g and %g pixels: want no negative numbers", i, rx, ry)
	}
	return min(rx, maxRadius), min(ry, maxRadius), nil
}

// point returns point i in the first turn of the raster.
func (gr *grower) point(i int) Point {
	p := gr.points[i]
	if gr.grid.Period > 0 {
		p[0] -= math.Floor(p[0]/float64(gr.grid.Period)) * float64(gr.grid.Period)
	}
	return p
}

// reach returns the pixels that may have their centre within the radius of point i, and the one that contains it.
func (gr *grower) reach(i int) (image.Rectangle, error) {
	rx, ry, err := gr.radius(i)
	if err != nil {
		return image.Rectangle{}, err
	}
	p := gr.point(i)
	if !(math.Abs(p[0]) <= maxCoordinate && math.Abs(p[1]) <= maxCoordinate) {
		return image.Rectangle{}, nil
	}
	at := image.Pt(int(math.Floor(p[0])), int(math.Floor(p[1])))
	r := image.Rect(int(math.Ceil(p[0]-rx-0.5)), int(math.Ceil(p[1]-ry-0.5)), int(math.Floor(p[0]+rx-0.5))+1, int(math.Floor(p[1]+ry-0.5))+1)
	return r.Union(image.Rectangle{at, at.Add(image.Pt(1, 1))}), nil
}

func (gr *grower) grow(ctx context.Context) error {
	if gr.grid.Period > 0 { // so that a window has few turns
		gr.limits.cell = max(1, min(gr.limits.cell, gr.grid.Period))
		gr.limits.margin = min(gr.limits.margin, gr.grid.Period)
	}
	if err := gr.sort(); err != nil {
		return err
	}
	var jobs []*job
	for start := 0; start < len(gr.order); {
		end := start + 1
		for end < len(gr.order) && gr.order[end]>>indexBits == gr.order[start]>>indexBits {
			end++
		}
		j := &job{members: gr.order[start:end]}
		for _, m := range j.members {
			reach, err := gr.reach(member(m))
			if err != nil {
				return err
			}
			j.window = j.window.Union(reach)
		}
		j.window = j.window.Inset(-gr.limits.margin)
		jobs = append(jobs, j)
		start = end
		if len(jobs) >= gr.limits.windows || start == len(gr.order) {
			if err := gr.run(ctx, jobs); err != nil {
				return err
			}
			jobs = jobs[:0]
			if err := gr.runLarger(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// member returns the index of a point of grower.order.
func member(m uint64) int { return int(m & (1<<indexBits - 1)) }

// sort fills order with the points that have a part of the raster within their radius, and answers the others.
func (gr *grower) sort() error {
	cell := gr.limits.cell
	// Blocks are rounded down to a multiple of cells.
	perBlock := image.Pt(max(1, gr.Block.X/cell), max(1, gr.Block.Y/cell))
	columns := max(gr.grid.Width, gr.grid.Period)/cell + 1
	blocks := uint64((columns-1)/perBlock.X + 1)
	gr.order = make([]uint64, 0, len(gr.points))
	for i := range gr.points {
		reach, err := gr.reach(i)
		if err != nil {
			return err
		}
		if len(gr.grid.windows(reach)) == 0 {
			if err := gr.each(i, Grown{Reason: OffRaster}); err != nil {
				return err
			}
			continue
		}
		p := gr.point(i)
		x := max(0, min(int(p[0]), gr.grid.Width-1, columns*cell-1)) / cell
		if gr.grid.Period > 0 {
			x = max(0, min(int(p[0]), columns*cell-1)) / cell
		}
		y := max(0, min(int(p[1]), gr.grid.Height-1)) / cell
		key := uint64(y/perBlock.Y)*blocks + uint64(x/perBlock.X)
		key = key*uint64(perBlock.Y) + uint64(y%perBlock.Y)
		key = key*uint64(perBlock.X) + uint64(x%perBlock.X)
		gr.order = append(gr.order, key<<indexBits|uint64(i))
	}
	slices.Sort(gr.order)
	return nil
}

// A job is a window to read, for some points.
type job struct {
	window  image.Rectangle // in unbounded columns
	members []uint64        // the points, as in grower.order
	start   *start          // of the water, if it is known
	missing int             // pixels that Gather has not passed yet
	pixels  pixels
	state   jobState
}

type jobState uint8

const (
	waiting jobState = iota
	reading          // some of its pixels were read
	evicted          // its pixels were given up: it must be read again
	done
)

// run reads the windows of jobs and finishes these. When their pixels take too much memory, it gives up those of the latest, which it reads
// again in another call of Gather. The earliest is never given up, so that each call finishes one at least.
func (gr *grower) run(ctx context.Context, jobs []*job) error {
	for len(jobs) > 0 {
		if err := gr.gather(ctx, jobs); err != nil {
			return err
		}
		var again []*job
		for _, j := range jobs {
			if j.state == evicted {
				j.state = waiting
				again = append(again, j)
			}
		}
		jobs = again
	}
	return nil
}

// gather calls Gather once for jobs, and finishes each when its window is complete.
func (gr *grower) gather(ctx context.Context, jobs []*job) error {
	type owner struct{ job, turn int }
	var windows []image.Rectangle
	var owners []owner
	for k, j := range jobs {
		j.missing = 0
		for _, w := range gr.grid.windows(j.window) {
			windows = append(windows, w.Rect)
			owners = append(owners, owner{k, w.Turn})
			j.missing += w.Rect.Dx() * w.Rect.Dy()
		}
	}
	if err := gr.raster.Gather(ctx, windows, func(i int, part image.Rectangle, values []float64) error {
		j := jobs[owners[i].job]
		if part.Empty() || j.state == evicted || j.state == done {
			return nil
		}
		if !part.In(windows[i]) || len(values) < part.Dx()*part.Dy() {
			return fmt.Errorf("raster: part %v with %d values for the window %v", part, len(values), windows[i])
		}
		if j.state == waiting {
			j.state = reading
			gr.open = append(gr.open, j)
		}
		gr.stored -= j.pixels.size()
		j.pixels.add(part, owners[i].turn, values)
		gr.stored += j.pixels.size()
		if j.missing -= part.Dx() * part.Dy(); j.missing > 0 {
			return gr.evict()
		}
		return gr.finish(ctx, j)
	}); err != nil {
		return err
	}
	for _, j := range jobs {
		if j.state != evicted && j.state != done {
			return fmt.Errorf("raster: %d pixels of the window %v were not read", j.missing, j.window)
		}
	}
	return nil
}

// evict gives up the latest windows when all take too much memory, down to three quarters of what they may take. A single one may take twice
// as much: beyond, its points are at water that is too large.
func (gr *grower) evict() error {
	if gr.stored <= gr.limits.stored {
		return nil
	}
	for len(gr.open) > 1 && gr.stored > gr.limits.stored/4*3 {
		gr.close(gr.open[len(gr.open)-1], evicted)
	}
	if gr.stored <= 2*gr.limits.stored {
		return nil
	}
	j := gr.open[0]
	gr.close(j, done)
	return gr.answer(j.members, &Grown{Reason: Merged})
}

// close gives the memory of a job back that is being read.
func (gr *grower) close(j *job, state jobState) {
	j.state = state
	gr.stored -= j.pixels.size()
	j.pixels = pixels{}
	k := slices.Index(gr.open, j)
	gr.open = slices.Delete(gr.open, k, k+1)
}

// finish answers the points of a job whose window was read, or puts those into larger whose water reaches beyond it.
func (gr *grower) finish(ctx context.Context, j *job) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j.pixels.sort()
	gr.canvas.paint(j.window, &j.pixels)
	if j.start != nil {
		f := gr.canvas.fill(*j.start, gr.MaxPixels)
		f.members = j.members
		if err := gr.conclude(j, f); err != nil {
			return err
		}
		gr.close(j, done)
		return nil
	}
	var fills []*fill
	for _, m := range j.members {
		i := member(m)
		rx, ry, err := gr.radius(i)
		if err != nil {
			return err
		}
		s, ok := gr.canvas.find(gr.point(i), rx, ry)
		if !ok {
			if err := gr.each(i, Grown{Reason: NoWater}); err != nil {
				return err
			}
			continue
		}
		label := gr.canvas.label(s)
		if label == 0 {
			if len(fills) == maxLabel {
				if err := gr.concludeAll(j, fills); err != nil {
					return err
				}
				fills = fills[:0]
				gr.canvas.clearLabels()
			}
			f := gr.canvas.fill(s, gr.MaxPixels)
			fills = append(fills, f)
			label = len(fills)
		}
		f := fills[label-1]
		f.members = append(f.members, m)
	}
	if err := gr.concludeAll(j, fills); err != nil {
		return err
	}
	gr.close(j, done)
	return nil
}

func (gr *grower) concludeAll(j *job, fills []*fill) error {
	for _, f := range fills {
		if err := gr.conclude(j, f); err != nil {
			return err
		}
	}
	return nil
}

// conclude answers the points of a fill, or puts them into larger.
func (gr *grower) conclude(j *job, f *fill) error {
	period := gr.grid.Period
	if f.capped || f.mask.count > gr.MaxPixels || period > 0 && f.mask.bounds.Dx()+2*halo > period {
		grown := &Grown{Reason: Merged}
		gr.remember(j, f, grown)
		return gr.answer(f.members, grown)
	}
	// The sides of the window that the water comes near, and beyond which the raster goes on.
	near := f.mask.bounds.Inset(-halo)
	window := near
	size := f.mask.bounds.Size()
	growX, growY := max(size.X, gr.limits.margin), max(size.Y, gr.limits.margin)
	if near.Min.X < j.window.Min.X && (period > 0 || j.window.Min.X > 0) {
		window.Min.X -= growX
	}
	if near.Max.X > j.window.Max.X && (period > 0 || j.window.Max.X < gr.grid.Width) {
		window.Max.X += growX
	}
	if near.Min.Y < j.window.Min.Y && j.window.Min.Y > 0 {
		window.Min.Y -= growY
	}
	if near.Max.Y > j.window.Max.Y && j.window.Max.Y < gr.grid.Height {
		window.Max.Y += growY
	}
	if window == near {
		grown := gr.result(j, f)
		gr.remember(j, f, grown)
		return gr.answer(f.members, grown)
	}
	if grown := gr.recall(f.start); grown != nil {
		return gr.answer(f.members, grown)
	}
	if !gr.fits(window) {
		return gr.answer(f.members, &Grown{Reason: Merged})
	}
	s := f.start // a pointer into f would keep its mask
	gr.larger = append(gr.larger, &job{window: window, members: slices.Clone(f.members), start: &s})
	return nil
}

// fits reports whether the part of a window that is in the raster has not too many pixels.
func (gr *grower) fits(window image.Rectangle) bool {
	n := 0
	for _, w := range gr.grid.windows(window) {
		n += w.Rect.Dx() * w.Rect.Dy()
	}
	return n <= gr.limits.window
}

// runLarger runs the jobs in larger, and those that come from them.
func (gr *grower) runLarger(ctx context.Context) error {
	for len(gr.larger) > 0 {
		round := gr.larger
		gr.larger = nil
		for len(round) > 0 {
			var jobs, later []*job
			area := 0
			for _, j := range round {
				if grown := gr.recall(*j.start); grown != nil {
					if err := gr.answer(j.members, grown); err != nil {
						return err
					}
					continue
				}
				size := j.window.Dx() * j.window.Dy()
				if len(jobs) > 0 && area+size > gr.limits.area || len(jobs) >= gr.limits.windows || gr.repeats(j, jobs) {
					later = append(later, j)
					continue
				}
				area += size
				jobs = append(jobs, j)
			}
			if err := gr.run(ctx, jobs); err != nil {
				return err
			}
			round = later
		}
	}
	return nil
}

// repeats reports whether a large window would be read again if j ran together with jobs, and its water may be that of one of them.
func (gr *grower) repeats(j *job, jobs []*job) bool {
	if j.window.Dx()*j.window.Dy() < gr.limits.large {
		return false
	}
	return slices.ContainsFunc(jobs, func(other *job) bool { return j.start.at.In(other.window) })
}

// answer calls each for points of the same water.
func (gr *grower) answer(members []uint64, grown *Grown) error {
	for _, m := range members {
		own := *grown
		if grown.Values != nil {
			gr.values = append(gr.values[:0], grown.Values...)
			own.Values = gr.values
		}
		if err := gr.each(member(m), own); err != nil {
			return err
		}
	}
	return nil
}

// result drops the edge of a complete fill, and looks up the values of the rest.
func (gr *grower) result(j *job, f *fill) *Grown {
	kept := f.mask
	values := j.pixels.of(kept)
	grown := &Grown{Water: kept.count}
	for grown.Dropped < gr.Edge {
		smaller := kept.erode()
		inner := j.pixels.of(smaller)
		if inner.count < gr.MinPixels {
			kept = kept.mostNeighbours(values, gr.MinPixels)
			values = j.pixels.of(kept)
			break
		}
		kept, values = smaller, inner
		grown.Dropped++
	}
	grown.Mask = values
	grown.Gaps = kept.count - values.count
	grown.Values = j.pixels.valuesOf(values)
	return grown
}

// A known water is one that was too large for the first window of a point.
type known struct {
	mask  *Mask
	grown *Grown
}

const (
	maxKnown       = 64
	maxKnownValues = 1 << 19
)

// remember keeps the result of a large water, because other points may be at the same one.
func (gr *grower) remember(j *job, f *fill, grown *Grown) {
	if f.start.narrow || j.start == nil && grown.Reason == Found || len(grown.Values) > maxKnownValues {
		return
	}
	gr.known = append(gr.known, known{f.mask, grown})
	total := 0
	for i := len(gr.known) - 1; i >= 0; i-- {
		if total += len(gr.known[i].grown.Values); total > maxKnownValues || len(gr.known)-i > maxKnown {
			gr.known = slices.Delete(gr.known, 0, i+1)
			break
		}
	}
}

// recall returns the result for a start in known water, or nil.
func (gr *grower) recall(s start) *Grown {
	if s.narrow {
		return nil
	}
	for _, k := range slices.Backward(gr.known) {
		for turn := -1; turn <= 1; turn++ {
			x := s.at.X + turn*gr.grid.Period
			if k.mask.Has(x, s.at.Y) && k.mask.Has(x+1, s.at.Y) && k.mask.Has(x, s.at.Y+1) && k.mask.Has(x+1, s.at.Y+1) {
				return k.grown
			}
			if gr.grid.Period == 0 {
				break
			}
		}
	}
	return nil
}
