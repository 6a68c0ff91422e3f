// The history of one lake, as the server tells it or as it was kept for when there is no connection.
import { weekOf } from './calendar.js'

/** How many entries are two years of weeks, and all that the server gives at most. */
export const [twoYears, all] = [104, 5200]

/** The address of a lake's history, for the page and for its readers. */
export const address = (id) => `api/v1/bathing-lakes/history/${encodeURIComponent(id)}`

/**
 * Loads the newest entries of a lake, and gives them oldest first, with the day of the `newest` measurement, and with `keptAt` where
 * they come from the store of the service worker. A forecast of a day that has been measured since has nothing more to say.
 */
export async function loadHistory(id, limit, signal) {
  const answer = await fetch(`${address(id)}?limit=${limit}`, { signal, cache: 'no-cache' })
  if (!answer.ok) throw answer
  const { history } = await answer.json()
  const read = history.map((e) => ({ ...e, forecast: e.data_type !== 'satellite', time: Date.parse(e.date), week: weekOf(e.date) })).reverse()
  const measured = read.filter((e) => e.chl !== null && !e.forecast).map((e) => e.date)
  const said = new Set(measured)
  const entries = read.filter((e) => !e.forecast || !said.has(e.date))
  return { entries, newest: measured.at(-1), whole: read.length < limit, keptAt: answer.headers.get('X-Kept-At') }
}
