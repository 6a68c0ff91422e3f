// Package accuracy says how often the map was right: it compares the passes of satellites with samples of the same lake, and classes with official
// statements.
//
// A [Match] is a pass and the sample nearest to it in time. A [Ledger] holds all of them, and has a [Summary] of each product, region, class and lake. Only
// values that may be current count (see [data.Observation.Usable]), so none of poor quality does.
//
// Differences are those of natural logarithms, satellite minus sample: a bias of 0.69 is a product that shows twice what samples have.
package accuracy
