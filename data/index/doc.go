// Package index finds lakes by point and by name, without a scan of all lakes.
//
// A [PointIndex] is a k-d tree of unit vectors, 16 bytes for each lake; with unit vectors neither the poles nor the
// antimeridian need special cases. A [NameIndex] is one text with the folded names and ids of all lakes, about 60 bytes for
// each. It is searched from beginning to end, which takes milliseconds for a million lakes and finds parts of words too. It
// also knows the regions, each once, and in four bytes for each lake the region of the lake. All words of a search must match, and a typing
// error is forgiven where nothing matches well.
//
// Both identify lakes by their index in the slice that they were made from, keep no part of that slice, are immutable, and
// are safe for concurrent use.
package index
