// The server's search: it knows the regions and ids of the lakes, and the lakes that the page has not loaded.
import { isOld, reference } from './age.js'
import { withShown } from './shown.js'

const pause = 250 // ms without a key before the server is asked
const most = 500 // lakes that it is asked for
const tries = 3
const longestWait = 30 // seconds, whatever Retry-After asks for

/**
 * Returns a function that asks the server for a text, once no other follows at once. `answered` is called with the lakes,
 * the best first, or with null where there is no answer; one that is too busy is asked again a little later.
 */
export function createSearch({ view, legend }, answered) {
  let waiting
  let asked
  const read = async (text, left) => {
    const { signal } = asked = new AbortController()
    const { date } = view.get()
    let lakes = null
    try {
      const answer = await fetch(`api/v1/bathing-lakes/search?${new URLSearchParams({ q: text, limit: most, ...(date && { date }) })}`, { signal })
      if (answer.ok) lakes = withShown((await answer.json()).lakes, legend)
      else if (left > 1 && [429, 503].includes(answer.status) && !signal.aborted) {
        const seconds = Math.min(longestWait, Math.max(1, Number(answer.headers.get('Retry-After')) || 5))
        waiting = setTimeout(read, seconds * 1000, text, left - 1)
      }
    } catch { // offline, or aborted
    }
    if (signal.aborted) return
    for (const lake of lakes ?? []) lake.old = lake.measured_at !== null && isOld(lake.measured_at, reference(date))
    answered(lakes)
  }
  return (text) => {
    clearTimeout(waiting)
    asked?.abort()
    if (text) waiting = setTimeout(read, pause, text, tries)
  }
}
