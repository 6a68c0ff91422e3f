// Package tiles serves finished tiles: from memory, from disk, or drawn once for all who wait for it.
//
// A [Service] answers a [Request] for a tile of a view. It asks its [Renderer] for the fingerprint of what the tile
// shows and looks for a tile of that [Key] in three tiers: memory (the least recently used fall out under a byte
// budget), disk (survives a restart, heals itself where damaged), and at last a render, one at a time per key and
// shared by all who ask for it. A tile that shows nothing is the one blank tile of its scale, which touches no tier.
//
// A vector tile ([Service.Vector]) goes the same way, by a key of its own style.
//
// Because a key names what is shown and not when it was asked for, nothing is ever purged: new data make new keys
// only where pixels change, and old tiles fall out by age of use. Several Services, in one process or in many, may
// share one folder on disk.
//
// Misses do not slow hits. While more tiles wait than may be drawn at once, one processor draws none, and the others
// draw on threads of low priority; when the queue is full as well, further tiles are refused at once.
//
// A [Plot] draws a whole [Pyramid] of tiles ahead: onto the disk ([Plot.Warm]), or for whoever writes them elsewhere
// ([Plot.Draw]). It goes down the quadtree of tiles that are not blank, so that the blank ones cost nothing.
//
// Faults of the disk fail no request. They are logged when they begin and when they end, counted in a metric, and
// the Service goes on with memory alone until the disk works again. Where others need the disk's space, the cache gives
// way. A [Folder] shows what is in the cache to one who looks after it.
//
// A Service and the tiles that it returns are safe for concurrent use. A caller may test for [ErrOutOfRange],
// render.ErrUnknownStyle, colormap.ErrUnknown, [ErrBusy] and the errors of its own context; any other error is the
// renderer's. Of an [Entry] it may test for [ErrDamaged] and [ErrUnfinished], of warming for [ErrFull].
package tiles
