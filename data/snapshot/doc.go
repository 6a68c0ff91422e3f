// Package snapshot holds in memory what is served: the immutable [Snapshot] of all lakes and their observations.
//
// # Concepts
//
// [Load] reads the lakes and observations of a [Source], a database or the embedded demo, into a Snapshot, which keeps the
// observations of the newest weeks.
// A [View] is the map of one week: [Snapshot.Current] of the present day, [Snapshot.View] of any week. It holds one
// [State] for each lake, from the lake's current observation, which the rule in current.go selects. A view
// also has the [ActiveAdvisories]; [Snapshot.At] returns the snapshot of another moment. [Snapshot.History] returns one lake's
// observations, including forecasts. A [Watcher] loads a new snapshot whenever the Source has changed.
//
// # Conventions
//
// A lake without a current value keeps the risk of its last known value. The risk is [data.RiskUnknown] only if the lake never
// had a value. Ages count from the present day in UTC, which [AsOf] may replace for an archive. The map of an earlier week
// counts from its Sunday. The same data give the same [Snapshot.Version] on any machine on the same day.
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
// [data.ErrNoLake] and [ErrUnavailable] may be tested for with errors.Is. All other errors are messages for
// people: they say what was read, why it is invalid, and which values are allowed.
package snapshot
