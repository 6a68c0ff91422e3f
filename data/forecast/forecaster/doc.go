// Package forecaster makes limnomap's own forecasts of all lakes of a database, and tests what they would have been worth in past years.
//
// [Run] makes the forecasts of one day of issue. It reads each value once, and once more for a test, computes on all processors, and writes the result in one
// transaction at the end: until then nothing is changed. Lakes whose values are those of the last run of the same day are not computed
// again. What it writes depends on the values alone, not on the clock, the order of imports or the number of processors.
//
// Before it writes forecasts, Run tests the model with the past years of up to 2,000 lakes, unless it was tested less than four weeks
// before. Forecasts that are not worth showing are not written. Those of a lake or of a region where the last value was better are withheld:
// of the lake that follows from its values, of the region from the last test, which the database keeps.
//
// [Backtest] tests it with the past years of all lakes.
package forecaster
