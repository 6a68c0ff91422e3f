// Package statistics says what is known of a lake from all its values: its season, its years, and its trend.
//
// All of it is computed from chlorophyll-a in µg/l, one value for each day: see [Value]. What has too few values has none: a year, a part of the season
// and a trend each have their own least number, which their documents give.
package statistics
