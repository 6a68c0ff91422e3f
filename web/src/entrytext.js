// Describes one entry of a lake's history.
import { concentration, date, words } from './words.js'

/** @import {Entry, Legend} from './types' */

/**
 * Returns an entry in one line: its value and its risk, and whether it is a forecast.
 * @param {Entry} e
 * @param {Legend} legend
 */
export const describeEntry = (e, legend) => `${date(e.time)}: ${[
  e.chl === null ? words.chart.noValue : concentration(e.chl),
  words.risk[riskOf(e, legend)],
  isReported(e, legend) && words.lake.reported,
  e.forecast && words.chart.forecastEntry,
  isOffScale(e, legend) && words.chart.offScaleEntry,
].filter(Boolean).join(', ')}`

// riskOf returns the worse of the risk of the value and the reported risk.
function riskOf(e, legend) {
  const level = Math.max(levelByValue(e, legend), e.who_level ?? -1)
  return level < 0 ? '' : (legend.classes.find((c) => c.level === level) ?? legend.classes.at(-1)).risk
}

// levelByValue returns the level of a value. Where a colour step begins at a limit, the limit belongs to the class above it.
function levelByValue({ chl }, { classes, steps }) {
  const reaches = ({ from }) => from === null || chl > from || (chl === from && steps.some((s) => s.from === from))
  return chl === null ? -1 : classes.findLast(reaches).level
}

/**
 * Reports whether the reported level is worse than the level of the value.
 * @param {Entry} e
 * @param {Legend} legend
 */
export const isReported = (e, legend) => e.who_level !== null && e.who_level > levelByValue(e, legend)

/**
 * Reports whether a value lies outside the axis. It is drawn at the end of the axis.
 * @param {Entry} e
 * @param {Legend} legend
 */
export const isOffScale = ({ chl }, { min, max }) => chl !== null && (chl < min || chl > max)
