// Package swimguide reads and writes the open data standard for recreational water quality of Swim Drink Fish, who run Swim Guide, in its
// version 1.0.1 (https://github.com/swimdrinkfish/opendata).
//
// A document is JSON, a list of at least one [Record]. A record is the result of one water sample: where and when it was taken, of
// which substance, and whether an advisory was issued because of it. The standard has no record without a sample, so an
// official statement without a sample cannot be written; and chlorophyll is not among its substances.
//
// [Read] and [Record.Append] demand what the JSON schema of the standard demands; null counts as absent. [Advisories] makes official statements
// from records.
package swimguide
