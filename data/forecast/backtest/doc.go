// Package backtest measures what forecasts of package forecast would have been worth in past years, beside three simple methods.
//
// [Pairs] repeats the forecasts of one lake for every Monday of its last calendar years, and finds the value that came. [Scores] adds up
// what the pairs of many lakes say: the [Row] of a [Method] for each week ahead, and how reliable its probabilities were. A [Past] makes the
// forecasts of one lake and says whether its last value was the better forecast before.
//
// # Methods
//
// All methods forecast a normal distribution of the natural logarithm of chlorophyll-a. [Model] is package forecast. It knows the values
// up to the day of origin. The others are:
//
//   - [Persistence]: the last value.
//   - [Climatology]: the mean of earlier values around the same day of the year, with weights that fall off as a normal distribution of
//     20 days, and with the mean of the lake as two more values.
//   - [AR1]: climatology, plus the last value's difference from it, which fades away with the time that fitted this lake best.
//
// Climatology, times and standard deviations are those of the values before the years of the back-test. A lake with fewer than 20 such
// values has the climatology of the values up to the origin, a time of 30 days, and standard deviations of 0.70 for AR1 and
// 0.85 for the other two.
//
// # Pairs
//
// Origins are Mondays. Targets are one to four weeks later. The truth is the value that is nearest to the target and at most 3 days away
// from it, the earlier one of two. There is no pair without a truth, or where forecasts are withheld. Values below 0.1 µg/l count as 0.1.
//
// # Comparison with the reference
//
// A test compares the scores with those of another implementation, for 86 lakes of a public series that it scores: those with at least 75
// values, of which at least 10 lie in the last three calendar years, and with values in at least five years before. For each week ahead,
// the numbers of pairs and lakes are equal, and so are all scores of the model, but for 0.0001 of some AUC: probabilities are counted to
// four decimals here. Root mean square errors of persistence are equal too, those of climatology differ by at most 0.0001 and those of
// AR(1) by at most 0.0015. How the reference finds the bounds of these three is not known; here their widths differ by up to 3 %, and
// shares between them by up to 0.012. The reference's rows of all weeks are not averages of all pairs and are not compared.
//
// # Exactness
//
// Results are the same bits on all processors if lakes are added in the same order.
package backtest
