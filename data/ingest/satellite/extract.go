package satellite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/paulmach/orb"

	"limnomap/data"
	"limnomap/data/outline"
	"limnomap/data/pixels"
	"limnomap/data/raster/zonal"
)

// A Lake is what an extraction knows of a lake.
type Lake struct {
	ID      data.LakeID
	Point   orb.Point
	Outline outline.Outline // "" where unknown
	WaterID string          // see [data.Lake]
}

// LakeOf returns what an extraction needs of a lake, without the memory of the rest.
func LakeOf(l data.Lake) Lake {
	return Lake{ID: data.LakeID(strings.Clone(string(l.ID))), Point: l.Point, Outline: outline.Outline(strings.Clone(string(l.Outline))), WaterID: strings.Clone(l.WaterID)}
}

// LakesOf returns all lakes of a database, whose Scan it calls: see [snapshot.Source].
func LakesOf(ctx context.Context, scan func(context.Context, func(data.Lake) error, func(data.Observation) error) (data.Revision, error)) ([]Lake, error) {
	var lakes []Lake
	enough := errors.New("all lakes are read") // they are before the first observation
	_, err := scan(ctx, func(l data.Lake) error {
		lakes = append(lakes, LakeOf(l))
		return nil
	}, func(data.Observation) error { return enough })
	if err != nil && !errors.Is(err, enough) {
		return nil, err
	}
	return lakes, nil
}

// A Summary says what an extraction read and found.
type Summary struct {
	Product  Product
	Variable string
	// PeriodStart and Date are the first and the last day that the values are of. Of one day both are the same, and of a file whose first day is not known.
	PeriodStart, Date data.Date
	// Composite says how the values of the period became one.
	Composite data.Composite
	Source    string
	Version   string
	// PixelsFrom is the first date whose pixels are kept; absent if all are.
	PixelsFrom data.Optional[data.Date]
	// Columns are the columns of the rows that only some files have. Other columns are unknown, and not empty.
	Columns []string
	Lakes   int          // with a value
	Poor    int          // of these, with few of their pixels
	Gaps    [Reasons]int // lakes without a value, by Reason
	Scum    int          // lakes with floating cyanobacteria in some of their pixels
	Skipped int          // lakes without an outline that were left out, as the options say
	// OutOfRange is how many pixels of lakes have a number that the file, or the product, does not allow. They have no value.
	OutOfRange int64
	// Floored is how many pixels of lakes have a negative number, which is a value below what can be detected: 0.
	Floored int64
	Pixels  int64 // read
	Bytes   int64 // read of the file
}

// start returns the first day of the period, if it has several, but not more than an observation may have.
func (s *Summary) start() (first data.Optional[data.Date]) {
	if s.PeriodStart < s.Date && s.Date-s.PeriodStart <= data.MaxPeriod {
		first = data.Known(s.PeriodStart)
	}
	return first
}

// A Reason is why a lake has no value.
type Reason uint8

const (
	NoData        Reason = iota // no pixel has a value, because of clouds or since it was not observed
	TooFewPixels                // fewer pixels with a value than wanted
	Outside                     // the lake is outside of the raster
	NoPixelInside               // no pixel is inside of the lake
	TooLarge                    // the lake has more pixels than a mask may have
	MergedWaters                // the water near its point does not end within the largest size, as that of joined lakes or a sea
	Ice                         // most pixels have ice
	Reasons                     // how many there are
)

var reasonNames = [Reasons]string{
	NoData: "cloud or no data", TooFewPixels: "too few pixels", Outside: "outside the raster", NoPixelInside: "no pixel wholly inside",
	Ice: "ice", TooLarge: "too large for pixels of this size", MergedWaters: "water too large to be one lake",
}

func (r Reason) String() string { return reasonNames[r] }

// Extract reads a file and calls each with the row of every lake that the raster shows, also those without a value, in an order that follows the
// raster. A row is only valid during the call. An error of each ends Extract and is returned as it is.
//
// The time of most files is that of decoding the blocks in which they are compressed: each block that a lake touches is decoded once,
// whatever the number of lakes. Memory does not depend on the size of the raster.
//
// Errors do not name the file.
func Extract(ctx context.Context, file File, lakes []Lake, opts *Options, each func(*Row) error) (Summary, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return Summary{}, err
	}
	counted := &countingReader{r: file.ReaderAt}
	file.ReaderAt = counted
	s, err := openScene(ctx, file, &o)
	if err != nil {
		return Summary{}, err
	}
	defer s.close()
	x := &extraction{scene: s, opts: &o, lakes: lakes, each: each}
	x.summary = Summary{Product: s.product, Variable: s.variable, PeriodStart: s.period.first, Date: s.period.last, Composite: s.composite, Source: s.source, Version: s.version,
		Columns: s.columns}
	if o.PixelDays > 0 {
		from := data.DateOf(o.Now()) - data.Date(o.PixelDays)
		x.summary.PixelsFrom = data.Known(from)
		o.WithoutPixels = o.WithoutPixels || x.summary.Date < from
	}
	err = x.run(ctx)
	x.summary.Bytes = counted.n.Load()
	if err != nil {
		return x.summary, err
	}
	o.Progress(1)
	return x.summary, nil
}

// A countingReader counts the bytes that are read.
type countingReader struct {
	r io.ReaderAt
	n atomic.Int64
}

func (c *countingReader) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.r.ReadAt(p, at)
	c.n.Add(int64(n))
	return n, err
}

// An extraction is one call of Extract.
type extraction struct {
	*scene
	opts    *Options
	lakes   []Lake
	each    func(*Row) error
	summary Summary

	batch  batch
	passed int // lakes that are done
	packer *pixels.Packer

	sites  map[int][]int // by the first site of a water: those that have the values of its pixels near them, which may be itself
	joined map[int]bool  // the other sites of waters
	alone  []int         // sites of waters that the raster does not show: each is extracted as a lake of its own
}

// run extracts the lakes with an outline, then those without.
func (x *extraction) run(ctx context.Context) error {
	x.joinSites()
	var outlined, points []int
	for i, lake := range x.lakes {
		if lake.Outline != "" {
			outlined = append(outlined, i)
		} else if !x.joined[i] {
			points = append(points, i)
		}
	}
	if err := x.outlines(ctx, outlined); err != nil {
		return err
	}
	x.batch = batch{}
	for points = append(points, x.alone...); len(points) > 0; points = x.alone {
		x.alone = nil
		var err error
		switch w := x.opts.WithoutOutline; {
		case w.skip:
			x.summary.Skipped += len(points)
		case w.disc > 0:
			err = x.discs(ctx, points)
		default:
			err = x.grow(ctx, points)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// maskGroup is how many masks are made at once, on all processors.
const maskGroup = 256

// outlines extracts lakes with an outline. Those of neighbouring pixels are in one batch.
func (x *extraction) outlines(ctx context.Context, indexes []int) error {
	x.sortByRow(indexes, func(i int) orb.Point { return x.lakes[i].Outline.Bound().Center() })
	rule, method := zonal.Full, methodFull
	if x.opts.Inside == Centre {
		rule, method = zonal.Centre, methodCentre
	}
	workers := min(cmp.Or(x.opts.Workers, runtime.GOMAXPROCS(0)), maskGroup)
	outliners := make([]outliner, workers)
	for w := range outliners {
		outliners[w] = outliner{grid: &x.grid, rule: rule}
	}
	for group := range slices.Chunk(indexes, maskGroup) {
		masks := make([]*zonal.Mask, len(group))
		errs := make([]error, len(group))
		inParallel(workers, len(group), func(w, k int) { masks[k], errs[k] = outliners[w].mask(x.lakes[group[k]].Outline) })
		for k, i := range group {
			if err := x.addMask(ctx, i, masks[k], errs[k], method); err != nil {
				return err
			}
		}
	}
	return x.flush(ctx)
}

// discs extracts lakes without an outline from the pixels around their point.
func (x *extraction) discs(ctx context.Context, indexes []int) error {
	x.sortByRow(indexes, func(i int) orb.Point { return x.lakes[i].Point })
	method := fmt.Sprintf("in a disc with a radius of %v m", x.opts.WithoutOutline.disc)
	for _, i := range indexes {
		var mask *zonal.Mask
		var maskErr error
		p := x.lakes[i].Point
		center, ok := x.grid.PixelOf(p, x.grid.TurnOf(p[0]))
		rx, ry, ok2 := x.grid.Radii(p, x.opts.WithoutOutline.disc)
		if ok && ok2 && x.grid.Touches(zonal.Point{center[0] - rx, center[1] - ry}, zonal.Point{center[0] + rx, center[1] + ry}) {
			mask, maskErr = zonal.NewDisc(center, rx, ry)
		}
		if err := x.addMask(ctx, i, mask, maskErr, method); err != nil {
			return err
		}
	}
	return x.flush(ctx)
}

// sortByRow sorts lakes so that those whose pixels are in the same blocks of the file are near each other.
func (x *extraction) sortByRow(indexes []int, at func(int) orb.Point) {
	// The height and width of the cells by which they are sorted; blocks of files are larger, or have the whole width.
	const cell = 512
	type place struct {
		index, row, column int
	}
	places := make([]place, len(indexes))
	for k, i := range indexes {
		p := at(i)
		pixel, _ := x.grid.PixelOf(p, x.grid.TurnOf(p[0]))
		places[k] = place{i, int(pixel[1]) / cell, int(pixel[0]) / cell}
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Or(a.row-b.row, a.column-b.column) })
	for k, p := range places {
		indexes[k] = p.index
	}
}

// reject counts a lake that the raster does not show. The sites that would have the values of its pixels have those of their own: the sky may be clear there.
func (x *extraction) reject(i int, reason Reason) {
	x.leaveOut(reason)
	for _, site := range x.sites[i] {
		if site != i {
			x.alone = append(x.alone, site)
		}
	}
	delete(x.sites, i)
}

func (x *extraction) leaveOut(reason Reason) {
	x.summary.Gaps[reason]++
	x.passed++
}

// addMask adds a lake to the batch, whose mask may have failed. One lake with too many pixels must not make the file useless for all others.
func (x *extraction) addMask(ctx context.Context, i int, mask *zonal.Mask, err error, method string) error {
	switch {
	case errors.Is(err, zonal.ErrTooLarge):
		x.reject(i, TooLarge)
		return nil
	case err != nil:
		return fmt.Errorf("lake %s: %w", x.lakes[i].ID, err)
	}
	return x.add(ctx, i, mask, method)
}

// add adds a lake to the batch. A nil mask is outside of the raster.
func (x *extraction) add(ctx context.Context, i int, mask *zonal.Mask, method string) error {
	if mask == nil {
		x.reject(i, Outside)
		return nil
	}
	all := mask.Count()
	outside := mask.Outside(x.grid.Grid)
	switch {
	case all > 0 && 2*outside >= all, all == 0 && !x.pointInside(i):
		x.reject(i, Outside)
		return nil
	case all == 0:
		x.reject(i, NoPixelInside)
		return nil
	case all < x.opts.MinPixels:
		x.reject(i, TooFewPixels)
		return nil
	}
	shore := 0
	if x.lakes[i].Outline != "" || x.opts.Shore.fixed { // the edge of a disc is no shore
		shore = x.opts.Shore.of(mask)
	}
	if shore > 0 {
		mask = mask.Erode(shore)
	}
	if mask.Count() == 0 {
		x.reject(i, NoPixelInside)
		return nil
	}
	return x.batchWater(ctx, pending{lake: i, mask: mask, inside: mask.Count(), method: method, shore: shore, cut: float64(outside) > cutShare*float64(all)})
}

// pointInside reports whether the point of a lake is in the raster.
func (x *extraction) pointInside(i int) bool {
	p := x.lakes[i].Point
	pixel, ok := x.grid.PixelOf(p, x.grid.TurnOf(p[0]))
	return ok && x.grid.Inside(pixel)
}
