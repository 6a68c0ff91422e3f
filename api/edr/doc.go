// Package edr answers queries of OGC API - Environmental Data Retrieval 1.1 (OGC 19-086r6) with series of records or with pixels, as CoverageJSON (OGC 21-069r2),
// GeoJSON or CSV.
//
// A [Collection] says what its records are and which of their columns are parameters. [Collection.Parse] reads a [Query] from a request; the
// caller finds the lakes that it asks for, and [Collection.Answer] writes what it visits of them. One answer is of at most [MaxLakes] lakes and
// [MaxRecords] records: its memory is that of its bytes, and of the records of one lake. A query for more is refused with what is allowed.
//
// A Collection is safe for concurrent use.
package edr
