// The risk classes: which one the page shows for a lake, which ones pass the filter, and their limits in words.
import { isOld, referenceTime } from './calendar.js'
import { cleanText } from './linetext.js'
import { fill, number, words } from './words.js'

// People report scum; it never follows from chlorophyll (WHO 2003, chapter 8).
const highestByValue = 2

/**
 * Cleans the name of each lake and adds `old`: whether its value was old in the week of that date. Lakes with a value also get `display`, the
 * level, risk and colour of their symbol, and `reported`, whether the level was reported and does not follow from the
 * chlorophyll. If the two differ, the worse one is displayed: scum in clear water must not look clean, nor a bloom that
 * somebody reported as harmless.
 * @param {Lake[]} lakes @param {Legend} legend @param {string | null} date @returns {Lake[]}
 */
export function classifyLakes(lakes, { classes }, date) {
  const reference = referenceTime(date)
  return lakes.map((lake) => ({
    ...lake, name: cleanText(lake.name), old: lake.measured_at !== null && isOld(lake.measured_at, reference), ...(lake.chl === null ? {} : classify(lake, classes)),
  }))
}

/** @param {Lake} lake @param {LegendClass[]} classes */
function classify({ who_level: level, risk, color }, classes) {
  const byRisk = classes.find((c) => c.risk === risk)
  const byColour = classes.find(({ colors }) => colors.includes(color))
  const reported = level > highestByValue || (byColour !== undefined && byColour !== byRisk)
  if (byRisk && byColour?.level > byRisk.level) return { reported, display: { level: byColour.level, risk: byColour.risk, color } }
  // A colour of a lower risk, or one that is not in the legend, is replaced by the colour of the risk.
  return { reported, display: { level, risk, color: byRisk && byColour !== byRisk ? byRisk.color : color } }
}

/** Returns the class that the symbol of a lake shows; 'none' without a current value.
 * @param {Pick<Lake, 'chl' | 'display'>} lake @returns {RiskClass} */
export const riskClass = (lake) => (
  /** @type {RiskClass} */ (lake.chl !== null && ['low', 'medium', 'high'].includes(lake.display.risk) ? lake.display.risk : 'none')
)

/**
 * Returns a function that reports whether a lake passes the filter of the view, such as risk=high,none. An empty filter
 * passes all lakes.
 * @param {View} view @returns {(lake: Lake) => boolean}
 */
export function riskFilter(view) {
  const { risk } = view.get()
  const wanted = ['low', 'medium', 'high', 'none'].filter((name) => risk?.split(',').includes(name))
  return (lake) => !wanted[0] || wanted.includes(riskClass(lake))
}

/**
 * Returns the limits of a class in words. If no colour step begins at the limits, as in WHO 2021, a limit belongs to the class
 * below it.
 * @param {Pick<LegendClass, 'from' | 'to'>} range @param {Pick<Legend, 'classes' | 'steps'>} legend
 */
export function rangeText({ from, to }, { classes, steps }) {
  const above = steps.some((s) => s.from === classes.at(-1).from) ? '' : 'Above'
  const name = from === null ? 'first' : to === null ? 'last' : 'middle'
  return fill(words.legend[name + above], { from: number(from), to: number(to) })
}
