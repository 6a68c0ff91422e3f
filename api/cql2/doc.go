// Package cql2 reads filters in the Common Query Language of OGC (CQL2, OGC 21-065r2), as text and as JSON.
//
// [ParseText] and [ParseJSON] return a [Filter] for records whose [Properties] they are told; [Filter.Matches] says whether a record
// passes. A property that is null makes a comparison unknown, as in SQL, and a record passes only where the filter is true.
//
// What is supported: the comparisons = <> < > <= >= and LIKE, BETWEEN, IN, IS NULL; AND, OR, NOT; S_INTERSECTS with a point, a box or
// polygons; and the functions of time T_AFTER, T_BEFORE, T_DISJOINT, T_DURING, T_EQUALS, T_INTERSECTS. Everything else is an error that
// names what is allowed.
//
// Filters come from outside: their length, depth and number of parts are bounded, and [Filter.Cost] tells how many parts one record is
// compared with. A Filter is immutable and safe for concurrent use.
package cql2

// Bounds of a filter.
const (
	maxBytes  = 16 << 10
	maxDepth  = 32
	maxParts  = 500  // comparisons and conditions
	maxItems  = 1000 // of a list after IN
	maxPoints = 1000 // of an area
)
