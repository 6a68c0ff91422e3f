// Package archive writes tiles into one file or folder that any web server can serve: PMTiles version 3, MBTiles 1.3, or a
// folder of z/x/y.png.
//
// [Create] begins an archive; the name selects its format. The [Writer] takes the tiles in the order of hilbert.ID, each at
// most once, and Close gives the archive its name. Until then it has a temporary name in the same folder, so a reader finds
// either the old archive or the complete new one. Abort or an error removes it. A process that is killed leaves a hidden file
// or folder whose name ends in ".tmp". The next Create of the same archive removes it.
//
// A tile that was not added is missing from the archive: readers show nothing there. The same tiles and metadata give the
// same bytes, at any time and on any machine, as long as the program is the same.
//
// Tiles are XYZ, with rows counted from the north; MBTiles counts them from the south, and this package converts them. PMTiles
// and MBTiles store tiles with equal content once. For that a Writer remembers a hash of each distinct tile: for two million
// tiles about 160 MB of memory for PMTiles, including its directory, and 110 MB for MBTiles.
//
// One goroutine at a time may use a Writer. Several Writers work independently, even with one path: the archive of the last
// one that is closed remains.
package archive
