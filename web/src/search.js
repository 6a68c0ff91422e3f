// The server's search: it knows the regions and ids of the lakes, and the lakes that the page has not loaded.
import { isOld, reference } from './age.js'
import { withShown } from './shown.js'

const pause = 250 // ms without a key before the server is asked
/** How many lakes the server is asked for at most. */
export const mostFound = 500
const mostTries = 3
const longestWait = 30 // seconds, whatever Retry-After asks for

/**
 * Returns a function that asks the server for a text, once no other follows at once. `answered` is called with the lakes,
 * the best first, or with null where there is no answer; one that is too busy is asked again a little later.
 */
export function createSearch({ view, legend }, answered) {
  let waiting
  let asked = new AbortController()
  const read = async (text, tries) => {
    const { signal } = asked = new AbortController()
    const { date } = view.get()
    const query = new URLSearchParams({ q: text, limit: mostFound, ...(date && { date }) })
    try {
      const answer = await fetch(`api/v1/bathing-lakes/search?${query}`, { signal })
      const lakes = answer.ok ? withShown((await answer.json()).lakes, legend) : null
      if (signal.aborted) return
      for (const lake of lakes ?? []) lake.old = lake.measured_at !== null && isOld(lake.measured_at, reference(date))
      answered(lakes)
      if (![429, 503].includes(answer.status) || tries === mostTries) return
      const seconds = Math.min(longestWait, Math.max(1, Number(answer.headers.get('Retry-After')) || 5))
      waiting = setTimeout(() => read(text, tries + 1), seconds * 1000)
    } catch {
      if (!signal.aborted) answered(null)
    }
  }
  return (text) => {
    clearTimeout(waiting)
    asked.abort()
    if (text) waiting = setTimeout(() => read(text, 1), pause)
  }
}
