// The server's search: it knows the regions and ids of the lakes, and the lakes that the page has not loaded.
import { withShown } from './shown.js'

const pause = 250 // ms without a key before the server is asked
const tries = 3
const patience = 5000 // ms between them

/** Lakes that the server is asked for. */
export const most = 500

/**
 * Returns a function that asks the server for a text, in the week of the lakes that are loaded, once no other follows at
 * once. `answered` is called with the lakes, or with null where no answer came: the server is too busy or out of reach,
 * and asked again.
 */
export function createSearch({ status, legend }, answered) {
  let waiting
  let asked
  const read = async (text, left) => {
    const { signal } = asked = new AbortController()
    const { date } = status.get()
    const query = new URLSearchParams({ q: text, limit: most, ...(date && { date }) })
    let lakes = null
    try {
      const answer = await fetch(`api/v1/bathing-lakes/search?${query}`, { signal })
      if (answer.ok) lakes = withShown((await answer.json()).lakes, legend, date)
    } catch { /* out of reach, or aborted */ }
    if (signal.aborted) return
    if (!lakes && left) waiting = setTimeout(read, patience, text, left - 1)
    answered(lakes)
  }
  return (text) => {
    clearTimeout(waiting)
    asked?.abort()
    if (text) waiting = setTimeout(read, pause, text, tries - 1)
  }
}
