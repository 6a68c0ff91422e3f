// The history of one lake, from the server or from the store of the service worker.
import { weekNumber } from './calendar.js'

/** @import {Entry} from './types' */

/** The limits of a request: two years of weeks, and the maximum of the API. */
export const [twoYears, maxEntries] = [104, 5200]

/**
 * Returns the address of a lake's history.
 * @param {string} id
 */
export const historyURL = (id) => `api/v1/bathing-lakes/history/${encodeURIComponent(id)}`

/**
 * Loads the newest entries of a lake, oldest first, with the day of the `newest` measurement. `complete` is false if the lake
 * may have older entries; `keptAt` is set if the answer comes from the store of the service worker.
 * @param {string} id
 * @param {number} limit
 * @param {AbortSignal} signal
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
