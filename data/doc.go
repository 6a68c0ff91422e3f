// Package data says what a lake, an observation, an official statement and a class are, and checks them.
//
// # Concepts
//
// A [Lake] is a point on the map. An [Observation] is the value of a lake on one date from one source: a satellite pass (a
// gap where clouds hid the lake), a sample, or a forecast. An [Advisory] is an official statement about a lake, such as a
// closure. If the shore of a lake is known, the lake has an [outline.Outline], simplified for each zoom. An [Event] is a change of what is
// published about a lake.
//
// A [Profile] gives an observation its guidance [Level], the worst that it supports, and the level is a [Risk] for bathers. The
// [Trophic] status depends on a whole year.
//
// # Conventions
//
// A missing value is not a low value. Gaps are [NoChlorophyll], [NoLevel] and [NoCellDensity], which are negative; zero
// is a measured value.
//
// Chlorophyll is in hundredths of µg/l, rounded once, so that a printed value never contradicts its class. Cell
// densities are in cells/ml. Points are longitude, then latitude, in degrees (WGS 84). Days are in UTC, weeks are ISO 8601.
//
// # Errors
//
// [ErrNoLake], [ErrNoForecast] and [ErrImplausible] may be tested for with errors.Is. All other errors are messages for
// people: they say what was read, why it is invalid, and which values are allowed.
package data
