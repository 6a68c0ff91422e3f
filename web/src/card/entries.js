// The history of one lake, from the server or from the store of the service worker, and its entries in words.
import { weekNumber } from '../calendar.js'
import { worse } from '../classify.js'
import { concentration, date, fill, number, words } from '../words.js'

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
 * Returns entries of the API, newest first, as entries of the page, oldest first, those of one day in the order satellite, sample. A forecast
 * of a day that has been measured is left out, unless the value is poor.
 * @param {Omit<Entry, 'forecast' | 'sample' | 'time' | 'week'>[]} history
 */
export function parseHistory(history) {
  /** @type {Entry[]} */
  const all = history.map((e) => ({ ...e, forecast: e.data_type === 'ai_forecast', sample: e.data_type === 'in_situ', time: Date.parse(e.date), week: weekNumber(e.date) }))
    .reverse().sort((a, b) => a.time - b.time || Number(a.sample) - Number(b.sample))
  const measured = all.filter((e) => e.chl !== null && !e.forecast).map((e) => e.date)
  const days = new Set(all.filter((e) => e.chl !== null && !e.forecast && e.quality !== 'poor').map((e) => e.date))
  return { entries: all.filter((e) => !e.forecast || !days.has(e.date)), newest: measured.at(-1) }
}

/**
 * Returns the entry of the value that a lake has on its card: the newest one with that value, up to the week of `until`. Its day may be another
 * than that of `measured_at`, and several laboratories may have sampled on one day.
 * @param {Lake} lake @param {Entry[]} entries @param {string | null} until null for the newest week
 */
export function entryOf({ chl, who_level: level, measured_by: by }, entries, until) {
  const last = until === null ? Infinity : weekNumber(until)
  return chl === null ? undefined
    : entries.findLast((e) => e.week <= last && e.data_type === by && e.chl === chl && e.who_level === level && e.quality !== 'poor')
}

/** Returns the value of an entry in words; if it is below the limit of its method, that limit. @param {Entry} e */
export const valueText = (e) => (e.below_limit ? `< ${concentration(e.chl_upper ?? e.chl)}` : concentration(e.chl))

/** Returns the lower end of the uncertainty of an entry. Below the limit of its method a value may be zero. @param {Entry} e */
export const lowerEnd = (e) => e.chl_lower ?? (e.below_limit ? 0 : undefined)

/** Reports whether the uncertainty of an entry is known. @param {Entry} e */
export const hasRange = (e) => e.chl !== null && lowerEnd(e) < e.chl_upper

/** Returns an entry in one line: its value and its risk, and what kind of value it is.
 * @param {Entry} e @param {Legend} legend */
export function describeEntry(e, legend) {
  const { chart, risk, lake } = words
  return `${date(e.time)}: ${[
    e.chl === null ? chart.noValue : valueText(e),
    hasRange(e) && !e.below_limit && fill(chart.range, { from: number(e.chl_lower), to: number(e.chl_upper) }),
    risk[riskOf(e, legend)],
    lake[worse(e)],
    e.sample && chart.sampleEntry,
    e.forecast && chart.forecastEntry,
    chart.quality[e.quality],
    isOffScale(e, legend) && chart.offScaleEntry,
  ].filter(Boolean).join(', ')}`
}

// riskOf returns the risk of the level of an entry. The legend has no class of its own for the highest level.
const riskOf = ({ who_level: level }, { classes }) => (level === null ? '' : (classes.find((c) => c.level === level) ?? classes.at(-1)).risk)

/** Reports whether a value lies outside the axis. It is drawn at the end of the axis.
 * @param {Entry} e @param {Legend} legend */
export const isOffScale = ({ chl }, { min, max }) => chl !== null && (chl < min || chl > max)
