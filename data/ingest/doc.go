// Package ingest reads files of lakes, observations and official statements, checks every row, and writes them to a store. It also
// exports the content of a store as files that it can read.
//
// The content of a file decides its format, not its name. A file that is compressed by gzip or zstd is expanded while it is
// read, unless it expands more than real data do; a file that is compressed twice is an error.
//
// # Tables
//
// A table is CSV (RFC 4180). Its first line names the columns, in any order and any case; unknown columns are ignored and
// named in the [Report]. Other properties of a table are detected:
//
//   - the separator, `,` `;` `|` or tab, is the one with which the first line has the most known names;
//   - the encoding is UTF-8 after a byte-order mark. Otherwise the first character that is not ASCII decides: UTF-8 if it is
//     valid UTF-8, otherwise one of the single-byte encodings, which the letters of the whole file tell: a file whose letters are not clear is
//     an error. A later row that contradicts this is rejected. A text that was damaged by a wrong encoding before is rejected too;
//   - the decimal mark of a number is a point or a comma, and the other one may separate thousands. A number such as 1.091 has
//     two readings. All other numbers of its column in the file decide, or a decimal comma in another column; the point is the decimal
//     mark in a file separated by commas. Otherwise the row is rejected. A file with such a number is read twice;
//   - a date is YYYY-MM-DD or dd.mm.yyyy, or in another form that has one reading, a time is RFC 3339, in UTC if it has no zone. A row is rejected if its date or time
//     is too far in the future for its type, or if a satellite's time of measurement is more than a week from its date;
//   - a unit in the name of a column or of a parameter, or in a column of its own, is converted, or an error if it is one of another quantity;
//   - of a long table, with a column of parameters, only the rows of chlorophyll-a count, and of samples at several depths those of the surface.
//
// Empty, `n.a.`, `NA` and `-` mean no value. `<15` is below a limit of detection: half the limit is stored, and the row is
// counted in the [Report].
//
// If a column is missing, stored rows keep their value in it. An empty field means no value and deletes a stored one. So a
// gap is rejected if it would delete a who_level or a cell count for which its file has no column: a gap cannot have them,
// and a reported scum must not be dropped silently.
//
// [Options] change how a file is read: Map sets the name of a column in the file, Set gives a missing column one value for
// all rows, MakeIDs makes ids from names if lakes have no others, and Decimal and Thousands say how numbers are written. A [TableFormat]
// says what the content of a file does not show.
//
// The European Environment Agency's list of bathing waters is recognized by its own column names. Lakes and rivers are
// imported, since a lake that a river runs through may be listed as a river; coastal and transitional waters are left out
// and counted. Of the rows of several seasons of a site the newest one counts. The list's quality classes are about bacteria and are ignored.
//
// # Water Quality Portal
//
// Stations and results of the Water Quality Portal (waterqualitydata.us) are recognized by their header, unless there is Map or Set. They
// become ordinary rows before they are imported. A row of results is one result; all of a station, a day and an organization, in all files of an import, make one observation, whatever their order.
// They are in memory until all files are read, so there may be a million such observations at most. Rows of other characteristics, of quality
// control, or not of a lake's surface are left out and counted by reason. What the files do not say about an observation keeps its stored value,
// also its chlorophyll. docs/importing.md has the rules.
//
// # GeoJSON
//
// A file of lakes that begins with a brace is a FeatureCollection (RFC 7946). One feature at a time is in memory. It has at most
// 32 MiB, 100 members and 1,000 properties, a text or number of it 11 MiB, and a lake 200,000 points in 2,000 rings. A feature is a row: its properties are the
// columns, with names in any case, and texts or numbers as values; its own id is used if it has no property of that name. A number that is an integer is read as one, however it is written:
// an id 12345.0 is 12345. Instead of lat and lon, a geometry may give the lake's point:
//
//   - a Point is the lake's point;
//   - a Polygon or MultiPolygon is the lake's outline (see [outline.Outline]). The lake's point is then the point of the largest
//     polygon that is farthest from the shore, which is in the water whatever the lake's form. Its area, if there is no
//     property area_km2, is that of the polygons on a sphere with the Earth's equatorial radius, with an error of at most 0.7 %.
//
// If there are lat and lon, they are used, unless they are more than 0.1 degrees outside the geometry, for example because they
// are swapped. The direction of rings does not matter. A reference system other than WGS 84, in the obsolete member "crs", is
// an error.
//
// A missing property is like a missing column and null is like an empty field, but for each feature separately. A polygon
// sets outline and area, "geometry": null deletes the outline, and a point or no geometry keeps the stored values, as a table
// does. A row that keeps the outline but moves the lake more than 0.1 degrees out of it is rejected.
//
// # Official statements
//
// A file of official statements that begins with a brace or a bracket is JSON: an object whose member "advisories" is an array, as the
// server answers, or only the array. One statement at a time is in memory. It, or another member, has at most 64 KiB, and 100 members,
// whose names are the columns; its texts may also be the members en and de of an object "text". As in GeoJSON, a missing member is like
// a missing column, and null like an empty field, but for each statement separately.
//
// A day is its midnight in UTC. As valid_until it includes the day, so it is the next midnight. The column valid_until is required,
// although it may be empty: a file with another name for it would make each statement valid for ever. A statement may be issued or
// withdrawn one day after the present time at the latest. If the column withdrawn is missing, a withdrawn statement stays withdrawn.
//
// # Swim Guide
//
// [SwimGuide] reads documents of Swim Guide's open data standard. They are no rows of columns, and their records are read before the
// transaction: the record that ends a warning may be in another file. The documents of one import have at most 128 MiB together. Of the
// records of a guid the one that was published or updated last counts. Another one of the same time is unchanged if it is equal and
// rejected if it differs.
//
// # Transactions
//
// All files of one call are one transaction, in which each key may occur once: a later row with the same key is unchanged if
// it is equal and rejected if it differs, since no one can know which of them is right. The store detects this; the import
// remembers the lines of the first 100,000 keys, to name the line of the first row. An import takes a billion rows at most,
// and hardly more memory for them than for a few. A file that is not a table, or has a row that does not end within 64 KiB,
// is an error: the import ends and nothing is written.
//
// # Exports
//
// [ExportLakes], [ExportObservations] and [ExportAdvisories] write files from which an import into an empty store makes exactly the same data.
// Only a table of lakes has no outlines.
package ingest
