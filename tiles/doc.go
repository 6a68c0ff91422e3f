// Package tiles serves finished tiles: from memory, from disk, or drawn once for all who wait for it.
//
// # One tile
//
// A [Service] answers a [Request] for a tile of a view in these steps, which tile.go has in this order. It checks the
// request; gets the layer of the view from its [Renderer]; and takes the fingerprint of what the tile shows. A tile with no
// lake in reach is the shared blank tile of its scale. Otherwise the [Key] is looked up in memory. All callers who miss there
// share one flight, which looks on the [Disk], waits for its turn, draws the tile, and keeps it in memory and on disk. A
// vector tile ([Service.Vector]) takes the same steps with a key of its own style.
//
// A tile in memory costs two look-ups if its layer and its fingerprint are known:
//   - [Service.Prepare] makes the layer of a view before the view is published. Those of other weeks are made at the first request.
//   - A layer remembers the fingerprints of the tiles that were asked for last.
//
// What is missing may take a walk over millions of lakes. So all callers share one flight, which waits for its turn first, and does all
// steps in that turn. For example, the first tile of last week's map waits for a turn, then makes the layer, the fingerprint and the tile.
//
// A key names what is shown and not when it was asked for, so no tile ever has to be purged: new data make new keys only
// where pixels change, and the least recently used tiles are dropped when a tier is full. Several Services, in one process
// or in many, may share one Disk.
//
// # Many tiles
//
// A [Plot] draws a whole [Pyramid] of tiles before anyone asks for them: into a [Store] ([Plot.Warm]), or for an archive
// ([Plot.Draw]). It walks the quadtree and skips blank subtrees.
//
// # Concurrency
//
// A Service and the tiles that it returns are safe for concurrent use. A flight has a timeout of its own; it
// ends early when all its callers have left and its turn has not come. The caller that begins it does its work, and is answered at its
// end even if it has left. While more tiles wait than are drawn at once, one
// processor draws none and the others draw on threads of low priority, so that hits stay fast. Turns are shared fairly by the
// clients ([Options].Client). When too many wait, the client with the most of them is refused.
//
// # Errors
//
// Callers may test errors for [ErrOutOfRange], render.ErrUnknownStyle, colormap.ErrUnknown, [ErrBusy], the errors of their
// own context, and those of a Store; any other error is the renderer's. A fault of the disk fails no request.
package tiles
