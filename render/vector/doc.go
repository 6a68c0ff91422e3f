// Package vector writes the lakes of one view into a vector tile: a pure function from a [Layer], its view and a tile to
// the bytes of a Mapbox Vector Tile (version 2.1 of the specification), compressed with gzip.
//
// # Concepts
//
// An [Index] is the lakes of a snapshot in spatial order, for all of its weeks. A [Layer] adds which of them are shown
// from which zoom on in one week. An [Encoder] knows the colours. A [render.Fingerprint] tells whether two layers give the
// same tile without writing it.
//
// # The tile
//
// A tile has one layer, [LayerName], with a point for each lake, in ascending order of id. Its properties are those of the
// GeoJSON and three more: id, name, chl, who_level, color, risk, trophic, measured_at. The format has no null, so what is
// not known is absent: a lake without a current value has no chl and no who_level, its color is the no-data grey and its
// trophic "unknown", and risk and measured_at are those of the last known value; only a lake that never had one lacks
// these too. Absent never means low. Features bear no number of their own, since ids are text.
//
// A tile is [Extent] units wide. Beyond each edge it holds the lakes of another [Buffer] units, so that a symbol across
// the edge is drawn whole; they are in the neighbouring tile, too, across the antimeridian as well. A lake is in a tile
// once at most. The map ends at 85.0511° north and south, as that of package render does.
//
// # Many lakes
//
// A tile holds [MaxFeatures] lakes at most. Where there are more, those of the largest area are kept, of several of one
// area those of higher risk (with those whose risk was never known before those of low risk), and then those whose ids
// come first. A lake is shown in a zoom if it is among the kept of all the zoom's tiles that it lies in, buffers
// included. So neighbours agree about it, and since what lies in a tile lies in the one above it, a lake that is shown in
// one zoom is shown in all larger ones.
//
// # Exactness
//
// Places are whole units of the same world coordinates that package render draws on. A tile's bytes follow from the
// lakes and their states alone, and not from the clock or the number of processors.
//
// All types are safe for concurrent use. The package starts no goroutine.
package vector
