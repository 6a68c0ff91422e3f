// Package archive writes tiles into one file or folder that is served without a server of ours: PMTiles version 3,
// MBTiles 1.3, or a folder of z/x/y.png.
//
// [Create] begins an archive, whose kind its name tells. The [Writer] takes the tiles in the order of their [ID],
// each at most once, and Close gives the archive its name. Until then everything lies under a temporary name beside
// it, so that whoever opens the archive finds the old one or the whole new one. Abort, or an error, leaves nothing.
// A process that is killed leaves a hidden file or folder whose name ends in ".tmp", which may be removed.
//
// A tile that was not added is absent: readers show nothing there. The same tiles and metadata give the same bytes,
// whatever the clock and the machine, as long as the program is the same.
//
// Tiles are XYZ, rows counted from the north; MBTiles counts them from the south, which is this package's business.
// Files keep tiles of equal content once. For that a writer remembers each distinct tile by a hash: two million hold
// about 160 MB of memory as PMTiles, whose directory is among it, and 110 MB as MBTiles. A folder holds nothing.
//
// A Writer is for one goroutine at a time; several Writers, even of one path, do not disturb each other, and the last
// one closed stays.
package archive
