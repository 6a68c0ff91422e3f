// Package colormap turns a chlorophyll-a value into a colour: for the tiles, for the API's color and for the legend.
//
// A [Map] is a logarithmic scale, because chlorophyll is log-distributed: [Steps] discrete colours between 1 and
// 100 µg/l, beyond which the end colours hold. No step straddles a limit of the classification ([Limits]), so a
// lake's colour never contradicts its class, in any map. In the default map the three classes are three families of
// colour that differ for colour-blind readers too; the others are well-known perceptual ramps over the same steps.
//
// Values are chlorophyll-a in µg/l, as stored: rounded to hundredths. Colours are straight-alpha [color.NRGBA] and
// opaque. What is no value (NaN, an infinity, a negative number) has no step and the colour [NoData]: a missing
// value never looks like a clean lake.
//
// Everything here is immutable and safe for concurrent use. Callers may test for [ErrUnknown] and [ErrLimits].
package colormap
