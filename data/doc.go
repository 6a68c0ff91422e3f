// Package data holds lakes, what satellites measured of them, and the immutable [Snapshot] that the rest of the
// program serves.
//
// # Concepts
//
// A [Lake] is one place on the map. An [Observation] is what is known of it on one date from one kind of source: a
// satellite's pass, which is a gap where clouds hid the lake, or a forecast. A [Source] is where both come from, a
// store or the embedded demo. Where the source knows a lake's shore, the lake has an [Outline], simplified for each zoom.
//
// [Load] reads the lakes and the observations of a Source into a Snapshot, and keeps those of the newest weeks. Its
// views are the map as it stood: [Snapshot.Current] in the newest week, [Snapshot.View] in any. A view holds one
// [State] for each lake, made from the lake's newest value that is not stale. [Snapshot.History] is one lake's past,
// forecasts included. A [Watcher] loads a new snapshot whenever the Source has changed.
//
// A [Profile] turns a concentration of chlorophyll-a into a guidance [Level], which means a [Risk] to a bather. The
// [Trophic] status is a matter of a whole year.
//
// # Conventions
//
// A missing value is not a low one. Gaps are [NoChlorophyll], [NoLevel] and [NoCellDensity], all of them negative,
// and zero is a measured value. A lake without a current value keeps the risk of its last known one, and is
// [RiskUnknown] only if it never had any.
//
// Chlorophyll is in hundredths of µg/l, rounded once, so that a printed value never contradicts its class. Cell
// densities are in cells/ml. Points are longitude, then latitude, in degrees (WGS 84). Days and weeks are those of
// UTC and ISO 8601. Ages count from the newest observation in the data, never from the clock: an archive does not
// grow stale, and the same data give the same [Snapshot.Version] on any day and machine.
//
// # Concurrency
//
// Snapshots, views and what they hold are shared and never change: read them from any number of goroutines, and write
// to none of their slices. The one goroutine that the package starts reads the maps of old weeks; it ends with the
// Source's answer, or with the context that the snapshot was loaded under. A Source must be safe for whoever calls it;
// a Watcher and Load scan it from one goroutine at a time, and views of old weeks may ask for its past meanwhile.
//
// # Errors
//
// [ErrNoLake], [ErrImplausible] and [ErrAway] may be tested for with errors.Is. All other errors are for people: they name what
// was read, what is wrong with it and what is allowed.
package data
