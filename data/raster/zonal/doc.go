// Package zonal says which pixels of a raster belong to a lake, and computes statistics of their values.
//
// A [Mask] is a set of pixels. [NewMask] makes one from polygons by a [Rule]: the pixels that lie wholly inside, or those whose centre
// does. [NewDisc] makes one around a point, and [Mask.Erode] takes its margin away, where pixels are mixed with the shore. A mask has no
// raster: [Mask.Windows] says which parts of a raster to read for it, and [Mask.Collect] picks the values of the mask out of them.
//
// [Grow] finds the water around points whose outlines are not known: it starts at the nearest pixel with a value and spreads over
// connected ones. It reads a [Raster] in as few calls as possible, since a file must be decompressed again for each.
//
// # Conventions
//
// All coordinates are pixels: x grows to the right and y downwards, and the pixel of column c and row r covers c <= x < c+1 and
// r <= y < r+1. Masks have unbounded columns and rows. A raster begins at (0, 0). In a raster that goes around the Earth, [Grid.Period]
// columns are one turn, and a lake that lies across its edge has two windows.
//
// # Limits
//
// Polygons may be hostile. A mask has at most [MaxPixels] pixels, coordinates must be finite and within ±2^26, and polygons whose edges
// cross more than 2^22 rows are refused, so that a mask takes at most a second and some 100 MB. Polygons and discs beyond a limit return
// [ErrTooLarge]. Grow takes at most some 64 MB for windows of any raster, beside the memory of the raster itself.
//
// Masks are immutable and safe for concurrent use.
package zonal
