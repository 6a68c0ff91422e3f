// The server's search: it knows the regions and ids of the lakes, and the lakes that the page has not loaded.
import { withShown } from './shown.js'

const pause = 250 // ms without a key before the server is asked
const most = 500 // lakes that it is asked for
const tries = 3
const patience = 5000 // ms between them

/**
 * Returns a function that asks the server for a text, once no other follows at once. `answered` is called with the lakes,
 * the best first, or with null where no answer came: the server is too busy or out of reach, and asked again.
 */
export function createSearch({ view, legend }, answered) {
  let waiting
  let asked
  const read = async (text, left) => {
    const { signal } = asked = new AbortController()
    const { date } = view.get()
    const query = new URLSearchParams({ q: text, limit: most, ...(date && { date }) })
    // It fails also where it was aborted.
    const lakes = await fetch(`api/v1/bathing-lakes/search?${query}`, { signal })
      .then(async (answer) => (answer.ok ? withShown((await answer.json()).lakes, legend, date) : null)).catch(() => null)
    if (signal.aborted) return
    if (!lakes && left > 1) waiting = setTimeout(read, patience, text, left - 1)
    answered(lakes)
  }
  return (text) => {
    clearTimeout(waiting)
    asked?.abort()
    if (text) waiting = setTimeout(read, pause, text, tries)
  }
}
