// Package ingest reads the files that lakes and observations come in, checks every row, and writes them to a store; and
// writes what a store holds as files that it reads.
//
// A file is known by what it holds, whatever its name. One that is compressed by gzip or zstd is expanded as it is read, as
// long as it does not grow beyond what real data do; one that is compressed twice is an error.
//
// # Tables
//
// A file is a table in CSV (RFC 4180) whose first line names the columns, in any order, in any case; columns that are
// not known are ignored, and named in the [Report]. What may differ from file to file is found out from the file itself:
//
//   - the separator, `,` `;` `|` or tab, is the one that makes the header line hold the most known names;
//   - the characters are UTF-8 after a byte-order mark; without one the first character beyond ASCII decides: UTF-8 if
//     it is one in UTF-8, else ISO-8859-1 (as Windows-1252, its superset). A row that then contradicts is rejected;
//   - a number's decimal sign is a point or a comma. In a file separated by commas a quoted 1,234 could as well be
//     1234: where both are possible values the row is rejected rather than guessed at;
//   - a date is YYYY-MM-DD or dd.mm.yyyy, a time is RFC 3339, in UTC if it names no zone. One further ahead of today than
//     an observation of its type can be is rejected, and so is a satellite's time of measurement more than a week from
//     its date.
//
// Empty, `n.a.`, `NA` and `-` are no value. `<15` is below a limit of detection: half the limit, counted in the
// [Report].
//
// A column that a file lacks says nothing: rows that are stored already keep what they have there. An empty field says
// that there is no value, and takes it away. So a gap is rejected where it would take away a who_level or a cell count
// that its file has no column for: a gap cannot bear them, and scum that was seen must not vanish unsaid.
//
// [Options] make more of a file: Map says what it calls a column, Set gives a column that it lacks one value, and MakeIDs
// makes ids of names where lakes have no others.
//
// The European Environment Agency's list of bathing waters is known by its own names for columns. Of its categories, lakes
// and rivers are imported, since many a lake that a river runs through is listed as one; coastal and transitional waters
// are left out and counted. Its classes of quality are bacterial, and are read as nothing.
//
// # GeoJSON
//
// A file of lakes that begins with a brace is a FeatureCollection (RFC 7946). It is read feature by feature, each of 32
// MiB at most. A feature is a row: its properties are the columns, known by name in any case, texts or numbers; its own
// id stands in for a property of that name. A number that is an integer is read as one, however it is written: an id
// 12345.0 is 12345. In the place of lat and lon a geometry may give the lake's place:
//
//   - a Point is the place;
//   - a Polygon or MultiPolygon is the lake's outline (see [data.Outline]). Its place is the point of the largest polygon
//     that is farthest from the shore, which lies in the water however the lake is bent, and its area, without a
//     property area_km2, that of the polygons on a sphere of the earth's equatorial radius, at most 0.7 % off.
//
// A lat and a lon that are there stand, unless they lie more than 0.1 degrees outside the geometry, as swapped ones do.
// Winding does not matter. A reference system other than WGS 84, in the member "crs" of old, is refused.
//
// What a property says by not being there, or by being null, is what a column says by not being there, or a field by
// being empty, here for each feature by itself. A polygon sets outline and area, "geometry": null takes the outline
// away, and a point, or no geometry, leaves what is stored, as a table does. A row that leaves the outline but moves the
// lake more than 0.1 degrees out of it is rejected.
//
// # Transactions
//
// All files of one call are one transaction, in which each key may come once: a later row with the same key is
// unchanged if it is equal and rejected if it differs, since nobody could tell which of them is right. That is for the
// store to tell; an import remembers where the first 100,000 keys came, to name the line. It takes a billion rows at most,
// and hardly more memory for them than for a few. A file that is no table at all, or has a row that does not end within
// 64 KiB, is an error and ends the import with nothing written.
//
// # Exports
//
// [ExportLakes] and [ExportObservations] write what an import into an empty store makes the same data of, to the last bit.
// Only a table of lakes has no place for their outlines.
package ingest
