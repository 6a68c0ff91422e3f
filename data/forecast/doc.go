// Package forecast computes limnomap's own forecast of chlorophyll-a, one to four weeks ahead, from a lake's earlier values alone.
//
// A [Filter] takes the values of one lake in ascending order of date and knows what they say of its future. [Filter.Predict] returns a
// [Prediction], the distribution of the value of a later day. [Filter.Withheld] says when there should be none. Nothing is fitted: all
// constants are in this package.
//
// # Method
//
// The natural logarithm of chlorophyll-a is the sum of a level, a season of three harmonics of the year, a slow and a fast anomaly that
// fade away, and noise. A Kalman filter estimates these nine numbers from the values. Three settings run side by side: one for most
// lakes, one for lakes with little noise and one for noisy lakes that change slowly. The forecast is their mean, weighted by how well
// each has predicted this lake so far. Each setting also learns how far its errors are from what it expects, so that errors follow
// Student's t distribution, and a value that is far away counts less.
//
// The densities of Student's t that weight the settings are computed without the factors that depend on the degrees of freedom alone:
// they are the same for all settings.
//
// # Conventions
//
// Days are days since 1970-01-01. Concentrations are µg/l; latitudes are degrees, and south of the equator the season is shifted by half
// a year. A value of 0 is below detection: it counts as half of the smallest positive value before it, at least 0.1 µg/l. A year has
// 365.25 days, so values that are shifted by a multiple of 1461 days give the same forecasts, bit by bit.
//
// # Exactness
//
// The same values give the same bits on all processors. Functions such as the exponential are those of package exact, since those of
// package math differ between processors. Tests compare a digest of many forecasts, on arm64 by emulation too, and find products that a
// compiler might fuse with a sum.
//
// # Reference
//
// A test compares the forecasts with those of another implementation for 190 lakes of a public series. That file gives lakes ids made of
// their names: letters without accents and in lower case, and one underscore for each run of other characters. It has the lakes whose
// original name, in UTF-8, has an even CRC-32 (IEEE), but not the values without a name. Values are rounded to two decimals, as
// fmt.Sprintf("%.2f") does it, before they are used; they are taken in the order of dates. All 335,540 numbers of 67,108 forecasts are
// equal to all their printed digits. Lakes without known coordinates are in the north. The file's origins are the Mondays of the last
// three calendar years with values, before the last value. It has forecasts that [OutOfSeason] withholds.
//
// # Concurrency
//
// A Filter is for one goroutine. Different filters are independent.
package forecast
