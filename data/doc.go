// Package data holds lakes, their measurements, and the immutable [Snapshot] that the rest of the program serves.
//
// # Concepts
//
// A [Lake] is a point on the map. An [Observation] is the value of a lake on one date from one source: a satellite pass (a
// gap where clouds hid the lake), a sample, or a forecast. An [Advisory] is an official statement about a lake, such as a
// closure. They come from a [Source]: a database or the embedded demo. If the source knows a lake's shore, the lake has an
// [Outline], simplified for each zoom.
//
// [Load] reads the lakes and observations of a Source into a Snapshot, which keeps the observations of the newest weeks.
// A [View] is the map of one week: [Snapshot.Current] of the newest week, [Snapshot.View] of any week. It holds one
// [State] for each lake, from the lake's current observation, which the rule in current.go selects. A view
// also has the [ActiveAdvisories]; [Snapshot.At] returns the snapshot of another moment. [Snapshot.History] returns one lake's
// observations, including forecasts. A [Watcher] loads a new snapshot whenever the Source has changed.
//
// A [Profile] gives an observation its guidance [Level], the worst that it supports, and the level is a [Risk] for bathers. The
// [Trophic] status depends on a whole year.
//
// # Conventions
//
// A missing value is not a low value. Gaps are [NoChlorophyll], [NoLevel] and [NoCellDensity], which are negative; zero
// is a measured value. A lake without a current value keeps the risk of its last known value. The risk is [RiskUnknown]
// only if the lake never had a value.
//
// Chlorophyll is in hundredths of µg/l, rounded once, so that a printed value never contradicts its class. Cell
// densities are in cells/ml. Points are longitude, then latitude, in degrees (WGS 84). Days are in UTC, weeks are ISO
// 8601. Ages count from the newest observation in the data, not from the clock: an archive does not become stale, and
// the same data give the same [Snapshot.Version] on any day and machine.
//
// # Concurrency
//
// Snapshots and views are shared and immutable: any number of goroutines may read them, and no one may write to their
// slices. The package starts one goroutine, which reads the maps of old weeks; it ends with the Source's answer, or with
// the context that the snapshot was loaded with. A Source must be safe for concurrent use: a Watcher and Load scan it
// from one goroutine at a time, while views of old weeks may read its past.
//
// # Errors
//
// [ErrNoLake], [ErrImplausible] and [ErrUnavailable] may be tested for with errors.Is. All other errors are messages for
// people: they say what was read, why it is invalid, and which values are allowed.
package data
