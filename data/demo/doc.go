// Package demo is the data that limnomap shows without a database: real German lakes with simulated values.
//
// The lakes are real. Their names, federal states, points (meant to be on the lake's own open water) and areas are general
// knowledge, written by hand in lakes.csv, and approximate: good for a map, not for navigation. A test compares two thirds
// of the points with official bathing sites of the same name. The last column, mean_chl, is a rough idea of how green a
// well-known lake is; where it is empty, the simulation draws one.
//
// The lakes whose shores GSHHG has, most of the large ones, have outlines: the folder gshhg has the data, its licence and the program
// that selects it. GSHHG's lakes are digitized from maps of a small scale: of the 60 shores that could be compared with an official
// bathing site of the lake's name, half are within 60 m of it, and all within 600 m. All other lakes have no outline and are drawn as
// discs of their areas: an outline is never made up. Large lakes that GSHHG does not divide are not divided here either.
//
// All values are simulated. None of them is from a satellite or a laboratory, and no bather may rely on them.
// [Notice] says so, and must be shown wherever a person could mistake them for measurements.
//
// The simulation depends on the lake's id and the ISO week only. It is computed from hashes, not from a random generator
// with a state. So the value of a lake in a week is the same in every process and does not change when a new week begins:
// only the window of three years moves. The forecasts are those that limnomap makes of the passes, by the same model as of real values.
//
// A pass is on Monday at 10:30 UTC. So the present ISO week is included after that time, and measured values are never in
// the future.
//
// A [World] is for trying limnomap at scale: up to two million lakes in clusters over the lake districts of the world,
// written as CSV files for the importers. These lakes are simulated too. Values are from the same model, with the seasons of
// a lake's hemisphere and a level that depends on its position.
//
// A [Source] is safe for concurrent use. It returns [data.ErrNoLake], errors of callbacks, and errors of its context.
package demo
