// The history of one lake, from the server or from the store of the service worker, and its entries in words.
import { weekNumber } from './calendar.js'
import { concentration, date, words } from './words.js'

/** The limits of a request: two years of weeks, and the maximum of the API. */
export const [twoYears, maxEntries] = [104, 5200]

/** Returns the address of a lake's history. @param {string} id */
export const historyURL = (id) => `api/v1/bathing-lakes/history/${encodeURIComponent(id)}`

/**
 * Loads the newest entries of a lake, oldest first, with the day of the `newest` measurement. `complete` is false if the lake
 * may have older entries; `keptAt` is set if the answer comes from the store of the service worker.
 * @param {string} id @param {number} limit @param {AbortSignal} signal
 */
export async function loadHistory(id, limit, signal) {
  const answer = await fetch(`${historyURL(id)}?limit=${limit}`, { signal, cache: 'no-cache' })
  if (!answer.ok) throw answer
  const { history } = await answer.json()
  return { ...parseHistory(history), complete: history.length < limit, keptAt: answer.headers.get('X-Kept-At') }
}

/**
 * Returns entries of the API, newest first, as entries of the page, oldest first. A forecast of a day that has been measured
 * is left out.
 * @param {Pick<Entry, 'date' | 'chl' | 'who_level' | 'data_type'>[]} history
 */
export function parseHistory(history) {
  /** @type {Entry[]} */
  const all = history.map((e) => ({ ...e, forecast: e.data_type !== 'satellite', time: Date.parse(e.date), week: weekNumber(e.date) })).reverse()
  const measured = all.filter((e) => e.chl !== null && !e.forecast).map((e) => e.date)
  const days = new Set(measured)
  return { entries: all.filter((e) => !e.forecast || !days.has(e.date)), newest: measured.at(-1) }
}

/** Returns an entry in one line: its value and its risk, and whether it is a forecast.
 * @param {Entry} e @param {Legend} legend */
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

/** Reports whether the reported level is worse than the level of the value. @param {Entry} e @param {Legend} legend */
export const isReported = (e, legend) => e.who_level !== null && e.who_level > levelByValue(e, legend)

/** Reports whether a value lies outside the axis. It is drawn at the end of the axis.
 * @param {Entry} e @param {Legend} legend */
export const isOffScale = ({ chl }, { min, max }) => chl !== null && (chl < min || chl > max)
