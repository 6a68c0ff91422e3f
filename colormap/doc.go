// Package colormap turns a chlorophyll-a value into a colour: for the tiles, for the API's color and for the legend.
//
// A [Map] is a logarithmic scale, because chlorophyll is log-distributed: [Steps] discrete colours between 1 and
// 100 µg/l; beyond, the end colours apply. No step contains a limit of the classification ([Limits]) except as an end, so a
// lake's colour never contradicts its class, in any map. In the default map the three classes are three groups of
// colours that also differ for colour-blind readers; the others are well-known perceptual ramps over the same steps.
//
// Values are chlorophyll-a in µg/l, as stored: rounded to hundredths. Colours are straight-alpha [color.NRGBA] and
// opaque. NaN, infinities and negative numbers are not values: they have no step and the colour [NoData], so that a missing
// value never looks like a clean lake.
//
// Everything here is immutable and safe for concurrent use. Callers may test for [ErrUnknown] and [ErrLimits].
package colormap
