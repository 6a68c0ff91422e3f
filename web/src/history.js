// The history of one lake, as the server tells it or as it was kept for when there is no connection.

const week = 604_800_000 // ms

/** How many entries are two years of weeks, and all that the server gives at most. */
export const twoYears = 104
export const all = 5200

/**
 * Loads the newest entries of a lake, and gives them oldest first, with `keptAt` where they come from the store of the
 * service worker. A forecast of a day that has been measured since has nothing more to say.
 */
export async function loadHistory(id, limit, signal) {
  const url = `${address(id)}?limit=${limit}`
  const answer = await fetch(url, { signal })
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`)
  const { history } = await answer.json()
  const forecast = (e) => e.data_type !== 'satellite'
  const measured = new Set(history.filter((e) => e.chl !== null && !forecast(e)).map((e) => e.date))
  const entries = history.filter((e) => !forecast(e) || !measured.has(e.date)).reverse()
    .map((e) => ({ ...e, forecast: forecast(e), time: Date.parse(e.date), week: weekOf(e.date) }))
  return { entries, whole: history.length < limit, keptAt: answer.headers.get('X-Kept-At') }
}

/** The address of a lake's history, for the page and for its readers. */
export const address = (id) => `api/v1/bathing-lakes/history/${encodeURIComponent(id)}`

/** Counts ISO weeks, so that neighbours differ by one. The day that all is counted from was a Thursday. */
export const weekOf = (date) => Math.floor((Date.parse(date) / 86_400_000 + 3) / 7)

/** When a counted week begins, in ms. */
export const startOf = (n) => n * week - 3 * 86_400_000
