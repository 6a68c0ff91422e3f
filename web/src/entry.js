// What is said of one entry of a lake's history.
import { concentration, date, words } from './words.js'

/** An entry in one line: its value and its risk, and that nobody has measured a forecast. */
export const inWords = (e, legend) => `${date(e.time)}: ${[
  e.chl === null ? words.chart.none : concentration(e.chl),
  words.risk[riskOf(e, legend)],
  isReported(e, legend) && words.lake.reported,
  e.forecast && words.chart.forecastOf,
  isBeyond(e, legend) && words.chart.beyondOf,
].filter(Boolean).join(', ')}`

// riskOf is the risk of its value or as it was reported, whichever is worse.
function riskOf(e, legend) {
  const level = Math.max(levelByValue(e, legend), e.who_level ?? -1)
  return level < 0 ? '' : (legend.classes.find((c) => c.level === level) ?? legend.classes.at(-1)).risk
}

// levelByValue knows by the colours whether a limit belongs to the class above it.
function levelByValue({ chl }, { classes, steps }) {
  const reaches = ({ from }) => from === null || chl > from || (chl === from && steps.some((s) => s.from === from))
  return chl === null ? -1 : classes.findLast(reaches).level
}

/** Reports whether somebody at the lake reported worse than its value tells. */
export const isReported = (e, legend) => e.who_level !== null && e.who_level > levelByValue(e, legend)

/** Reports whether a value lies beyond the axis, at whose end it stands then. */
export const isBeyond = ({ chl }, { min, max }) => chl !== null && (chl < min || chl > max)
