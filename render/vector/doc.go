// Package vector writes vector tiles of lakes: a pure function from a [Layer], its view and a tile to the bytes of a Mapbox
// Vector Tile (version 2.1 of the specification), compressed with gzip.
//
// # Concepts
//
// An [Index] is the lakes of a snapshot in spatial order, for all of its weeks. A [Layer] adds the smallest zoom at which each
// lake is shown in one week. An [Encoder] has the colours. A [render.Fingerprint] identifies what a tile shows: layers with
// equal fingerprints give the same tile. All types are safe for concurrent use. The package starts no goroutine.
//
// # The tile
//
// A tile has one layer, [LayerName], with a point for each lake, in ascending order of id. Its properties are those of the
// GeoJSON without age_days, and four more: advisory, chl, color, id, measured_at, measured_by, name, risk, stale, trophic, who_level. The
// format has no null, so unknown properties are absent: a lake without a current value has no chl and no who_level, its color is the
// grey of no data and its trophic "unknown", and risk, measured_at and measured_by are those of the last known value; then stale is
// true. Only a lake that never had a value lacks these too. Absent never means low. The advisory is the kind of the gravest active
// official statement, such as "closure", or empty. Features have no numeric id, because ids are text.
//
// A tile is [Extent] units wide. It also has the lakes within [Buffer] units of its edges, so that a symbol at the edge is
// drawn completely; they are in the neighbouring tile, too, also across the antimeridian. A lake is in a tile at most once.
// The map ends at 85.0511° north and south, as in package render.
//
// # Many lakes
//
// A tile has at most [MaxFeatures] lakes. Where there are more, those with a closure are kept first, then those with the largest area;
// with equal areas, those of higher risk (where a risk that was never known counts as more than low); then those with the smallest ids. A lake is
// shown at a zoom if it is kept in all tiles of the zoom that contain it, buffers included. So neighbours show the same, and
// because a tile contains everything that is in the tiles within it, a lake that is shown at one zoom is shown at all larger
// ones.
//
// # Exactness
//
// Positions are integers of the same world coordinates as in package render. The bytes of a tile depend only on the lakes
// and their states.
package vector
