// The history of one lake, as the server tells it or as it was kept for when there is no connection.

/** A day in ms. */
export const dayMs = 86_400_000

/** How many entries are two years of weeks, and all that the server gives at most. */
export const [twoYears, all] = [104, 5200]

/** The address of a lake's history, for the page and for its readers. */
export const address = (id) => `api/v1/bathing-lakes/history/${encodeURIComponent(id)}`

/**
 * Loads the newest entries of a lake, and gives them oldest first, with `keptAt` where they come from the store of the
 * service worker. A forecast of a day that has been measured since has nothing more to say.
 */
export async function loadHistory(id, limit, signal) {
  const answer = await fetch(`${address(id)}?limit=${limit}`, { signal })
  if (!answer.ok) throw answer
  const { history } = await answer.json()
  const read = history.map((e) => ({ ...e, forecast: e.data_type !== 'satellite', time: Date.parse(e.date), week: weekOf(e.date) })).reverse()
  const measured = new Set(read.map((e) => e.chl !== null && !e.forecast && e.date))
  const entries = read.filter((e) => !e.forecast || !measured.has(e.date))
  return { entries, whole: read.length < limit, keptAt: answer.headers.get('X-Kept-At') }
}

/** Counts ISO weeks, so that neighbours differ by one. The day that all is counted from was a Thursday. */
export const weekOf = (date) => Math.floor((Date.parse(date) / dayMs + 3) / 7)

/** When a counted week begins, in ms. */
export const startOf = (week) => (week * 7 - 3) * dayMs
