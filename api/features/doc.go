// Package features serves records as features by OGC API - Features 1.0 (OGC 17-069r4), with coordinate systems (OGC 18-058r1) and filters
// (OGC 19-079r2).
//
// A [Collection] has records of one kind in the order of their keys. [New] makes one from a [Source], which walks through the records; it
// selects those that a request asks for, and writes them as GeoJSON, CSV or a table in HTML. A page ends after the limit of the request, or
// where it has cost as much as a page may, and says with which key the next one begins: each record is visited once, whatever is
// imported meanwhile.
//
// A Collection is safe for concurrent use.
package features
