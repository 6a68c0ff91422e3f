// Package demo is the data that limnomap shows when it is given none: real German lakes with simulated values.
//
// What is real in it: the lakes. Their names, federal states, places (a point meant to lie on the lake's own open water) and
// areas are general knowledge, written down by hand in lakes.csv, and approximate: good for a map, not for navigation.
// A test holds two thirds of the places against official bathing sites of the same name. The last column, mean_chl, is
// a rough idea of how green a well-known lake is; where it is empty, the simulation draws one.
//
// What is simulated: every value. No satellite, laboratory or forecast stands behind any of them, and none may guide
// a bather. [Notice] says so and is to be shown wherever a person could mistake them for measurements.
//
// The simulation is a function of the lake's id and the ISO week alone, computed from hashes rather than drawn from a
// stream. The value of a lake in a week is therefore the same in every process and stays what it was when a new week
// begins: only the window of three years moves on, and with it the four weeks of forecast ahead.
//
// A pass is on Monday at 10:30 UTC, so the current ISO week is present once that moment has passed, and nothing that
// counts as measured ever lies in the future.
//
// A [World] is for trying limnomap at scale: up to two million lakes in clusters over the lake districts of the world,
// written as the CSV files that importers take. Of these the lakes, too, are simulated. Values are those of the same
// model, with the seasons of a lake's hemisphere and a level that hangs on its place.
//
// A [Source] is safe for concurrent use. The errors it returns are [data.ErrNoLake], those of the callbacks it is
// given, and those of its context.
package demo
