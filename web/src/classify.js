// The risk classes: which one the page shows for a lake, which ones pass the filter, and their limits in words. The server classifies;
// the page shows what it says, in the colours of the legend.
import { ageInDays, isOld, referenceTime } from './calendar.js'
import { cleanText } from './linetext.js'
import { fill, number, words } from './words.js'

/** Reports whether a statement of the newest week is still valid. Those of the week of a date are as the server says.
 * @param {Pick<Advisory, 'valid_until'>} advisory @param {string | null} date */
export const isActive = ({ valid_until: end }, date) => date !== null || !(Date.parse(end) <= Date.now())

/**
 * Cleans the name of each lake, removes a statement that is over, and adds `old` and `fresh`: whether its value was old, or of the last seven days, in the week of that date; and `closed` and `warned`: whether an
 * authority closed the lake or warns. Lakes with a value also get `display`, the level, risk and colour of their symbol, and `worse`: what made the
 * level worse than that of the chlorophyll value: 'counted' cells, an 'index' or a 'report'; otherwise empty.
 * @param {Lake[]} lakes @param {Legend} legend @param {string | null} date @returns {Lake[]}
 */
export function classifyLakes(lakes, legend, date) {
  const reference = referenceTime(date)
  return lakes.map((lake) => {
    const advisory = lake.advisory && isActive(lake.advisory, date) ? lake.advisory : null
    return {
      ...lake,
      advisory,
      name: cleanText(lake.name),
      old: lake.measured_at !== null && isOld(lake.measured_at, reference),
      fresh: lake.chl !== null && ageInDays(lake.measured_at, reference) <= 7,
      closed: advisory?.kind === 'closure',
      warned: advisory?.kind === 'warning',
      ...(lake.chl === null ? {} : classify(lake, legend)),
    }
  })
}

/** Returns what made the level of a record worse than that of its chlorophyll value; empty if it is not worse. A history says so only then.
 * @param {{ level_by?: Lake['level_by'], cell_density_by?: any }} record never derived if the level is by cells @returns {Lake['worse']} */
export const worse = ({ level_by: by, cell_density_by: origin = 'counted' }) => (by === 'cells' ? origin : by === 'report' ? by : '')

/** @param {Lake} lake @param {Legend} legend */
function classify(lake, { classes, steps }) {
  const { chl, who_level: level, risk } = lake
  const { color } = steps.findLast(({ from }) => from <= chl) // the first step is from null, which counts as 0
  const byRisk = classes.find((c) => c.risk === risk)
  return {
    worse: worse(lake),
    // The colour of the value if it is one of the risk's; else the value looks cleaner than the lake is.
    display: { level, risk, color: !byRisk || byRisk.colors.includes(color) ? color : byRisk.color },
  }
}

/** Returns the class that the symbol of a lake shows. What an authority closed is 'closed', whatever its value; else a lake without a current
 * value is 'none'.
 * @param {Pick<Lake, 'chl' | 'display' | 'closed'>} lake @returns {RiskClass} */
export const riskClass = (lake) => (
  lake.closed ? 'closed' : /** @type {RiskClass} */ (lake.chl !== null && ['low', 'medium', 'high'].includes(lake.display.risk) ? lake.display.risk : 'none')
)

// inClass reports whether an entry of the filter shows a lake. That for a high risk shows closed lakes too, so that no filter for the worst lakes hides them.
const inClass = (lake, name) => riskClass(lake) === name || (lake.closed && name === 'high')

/** Returns the known classes of a filter such as high,none in one order. @param {string | null} risk */
export const riskClasses = (risk) => ['closed', 'high', 'medium', 'low', 'none'].filter((name) => risk?.split(',').includes(name))

/** Returns a function that reports whether a lake passes the filters of the view. Empty filters pass all lakes. That of the last seven days passes
 * closed lakes too.
 * @param {View} view @returns {(lake: Lake) => boolean} */
export function riskFilter(view) {
  const { risk, seen } = view.get()
  const wanted = riskClasses(risk)
  return (lake) => (!seen || lake.fresh || lake.closed) && (!wanted[0] || wanted.some((name) => inClass(lake, name)))
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
